//! Saves are written region by region: few files are opened, and the disk is waited for once a region, not once a chunk.

#[path = "support/saving.rs"]
#[expect(dead_code, reason = "no chunk is taken out of the world here")]
mod saving;

use saving::save_all;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use voxtick_anvil::StoragePlugin;
use voxtick_anvil::files::{Access, Files, OsFiles, StoredFile};
use voxtick_anvil::region::{RegionFolder, RegionOptions};
use voxtick_engine::Simulation;
use voxtick_worlds::{BlockStates, Chunk, ChunkPos, Dimension, World, WorldsPlugin};

/// What was asked of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Calls {
    opened: usize,
    synced: usize,
}

/// The operating system's files, with a count of what is asked of each.
#[derive(Debug, Clone, Default)]
struct Counted(Arc<Mutex<BTreeMap<PathBuf, Calls>>>);

impl Counted {
    fn calls(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Calls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls since the last time, of the files with any.
    fn take(&self) -> Vec<Calls> {
        std::mem::take(&mut *self.calls()).into_values().collect()
    }

    fn counted(&self, path: &Path, file: Box<dyn StoredFile>) -> Box<dyn StoredFile> {
        self.calls().entry(path.to_path_buf()).or_default().opened += 1;
        Box::new(CountedFile { file, path: path.to_path_buf(), counted: self.clone() })
    }
}

impl Files for Counted {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn StoredFile>> {
        Ok(self.counted(path, OsFiles.open(path, access)?))
    }

    fn open_alone(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        Ok(self.counted(path, OsFiles.open_alone(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsFiles.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsFiles.remove(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        OsFiles.exists(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        OsFiles.sync_folder(path)
    }
}

#[derive(Debug)]
struct CountedFile {
    file: Box<dyn StoredFile>,
    path: PathBuf,
    counted: Counted,
}

impl StoredFile for CountedFile {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.counted.calls().entry(self.path.clone()).or_default().synced += 1;
        self.file.sync()
    }
}

/// So many chunks in each of three regions, none of which any file has.
fn positions(chunks: i32) -> impl Iterator<Item = ChunkPos> {
    (0..3).flat_map(move |region| (0..chunks).map(move |n| ChunkPos::new(region * 32 + n % 8, n / 8)))
}

fn simulation(folder: &Path, counted: &Counted) -> Simulation {
    let files = Arc::new(counted.clone());
    let options = RegionOptions { access: Access::Write, files, ..RegionOptions::default() };
    let mut world = World::new(Dimension::overworld(), BlockStates::load());
    for position in positions(24) {
        world.insert_chunk(Chunk::empty(position, world.dimension()));
    }
    Simulation::builder()
        .threads(1)
        .plugin(WorldsPlugin::new(world))
        .plugin(StoragePlugin::new(RegionFolder::new(folder, options)).autosave(None))
        .build()
        .expect("the simulation builds")
}

/// Marks chunks as modified in a way that their records show.
fn change(simulation: &mut Simulation, positions: impl Iterator<Item = ChunkPos>, mark: u8) {
    let world = &mut *simulation.world_mut().resource_mut::<World>();
    for position in positions {
        let chunk = world.chunk_mut(position).expect("it is loaded");
        chunk.attachments.insert("test:mark".to_owned(), vec![mark].into());
        chunk.modified = true;
    }
}

/// The payloads, then the header, which points at them.
const FLUSH: usize = 2;

#[test]
fn all_saves_wait_for_the_disk_once_a_region_however_many_chunks_there_are() {
    let (folder, counted) = (tempfile::tempdir().expect("a folder"), Counted::default());
    let mut simulation = simulation(folder.path(), &counted);
    assert!(save_all(&mut simulation).is_empty());
    let calls = counted.take();
    assert_eq!(calls, [Calls { opened: 1, synced: calls[0].synced }; 3], "each file is opened once");
    for (mark, chunks) in [(1, 1), (2, 24)] {
        change(&mut simulation, positions(chunks), mark);
        assert!(save_all(&mut simulation).is_empty());
        assert_eq!(counted.take(), [Calls { opened: 0, synced: FLUSH }; 3], "{chunks} chunks a region");
    }
}
