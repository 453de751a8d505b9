//! A Linear file that is read and written chunk by chunk.
//!
//! The whole region is in memory, each chunk packed with LZ4; a flush writes it to a new file and puts that in the place
//! of the old one. So readers need no disk, writes cost a copy, and a crash leaves the old file or the new one.

use super::{LinearChunk, LinearError, LinearRegion, TOTAL_LIMIT};
use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater, Packer};
use crate::files::{Access, Files, StoredFile};
use crate::region::{
    Durability, ENTRIES, FlushError, OpenRegionError, Overwrite, ReadChunkError, RegionOptions, RegionStore,
    SetAsideError, StoredChunk, WriteChunkError, check_content, chunk_of, entry_of, region_of_path,
    write_durably,
};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use voxtick_worlds::{ChunkPos, RegionPos};

/// How chunks are kept in memory: about a tenth of their size, and quicker to inflate than to read from a disk.
const KEPT: Compression = Compression::Lz4;

/// A region file of the Linear format.
///
/// Opening reads and inflates all of it; each [`RegionStore::flush`] after a change packs and writes all of it,
/// however little has changed: flush seldom. With [`Durability::Each`] every write does.
///
/// Version 1 is read and becomes version 2 with the first flush.
#[derive(Debug)]
pub struct LinearFile {
    path: PathBuf,
    position: RegionPos,
    files: Arc<dyn Files>,
    durability: Durability,
    level: i32,
    length: AtomicU64,
    chunks: RwLock<Chunks>,
    /// The file, kept open for its lock; absent where it is only read. Held during a flush.
    file: Option<Mutex<Box<dyn StoredFile>>>,
}

#[derive(Debug)]
struct Chunks {
    entries: Vec<Option<Arc<Kept>>>,
    /// Entries that the file does not hold as they are here.
    changed: BTreeSet<usize>,
}

/// A chunk in memory.
#[derive(Debug)]
struct Kept {
    /// Packed with [`KEPT`].
    payload: Vec<u8>,
    timestamp: u64,
    /// Whether its content is known to be whole.
    sound: AtomicBool,
}

impl LinearFile {
    /// Opens a Linear file; a file of 0 bytes is a region without chunks. For writing, it is created if it does not
    /// exist, and locked as an Anvil file is.
    ///
    /// # Errors
    /// [`OpenRegionError::Linear`] where it is damaged; damage in one of its streams concerns all of it, so that nothing
    /// is taken for absent and nothing is written over.
    pub fn open(path: impl AsRef<Path>, options: RegionOptions) -> Result<LinearFile, OpenRegionError> {
        let path = path.as_ref();
        let position = options.position.map_or_else(|| region_of_path(path), Ok)?;
        let file = options.open_file(path)?;
        let io = |source| OpenRegionError::io(path, source);
        let damaged = |source| OpenRegionError::Linear { path: path.to_path_buf(), source };
        let length = file.length().map_err(io)?;
        if length > TOTAL_LIMIT as u64 {
            return Err(damaged(LinearError::TooLarge { length }));
        }
        let mut bytes = vec![0; length as usize];
        let read = file.read_at(&mut bytes, 0).map_err(io)?;
        bytes.truncate(read);
        let entries = if bytes.is_empty() {
            vec![None; ENTRIES]
        } else {
            let region = LinearRegion::read(&bytes, &Limits::default()).map_err(damaged)?;
            if let Some(found) = region.position.filter(|found| *found != position) {
                return Err(damaged(LinearError::Elsewhere { found }));
            }
            keep_all(region)
        };
        Ok(LinearFile {
            path: path.to_path_buf(),
            position,
            files: options.files,
            durability: options.durability,
            level: options.linear_level,
            length: AtomicU64::new(length),
            chunks: RwLock::new(Chunks { entries, changed: BTreeSet::new() }),
            file: (options.access == Access::Write).then(|| Mutex::new(file)),
        })
    }

    fn put(&self, chunk: ChunkPos, kept: Option<Kept>) -> Result<(), WriteChunkError> {
        let entry = entry_of(chunk);
        {
            let mut chunks = self.state_mut();
            if kept.is_none() && chunks.entries[entry].is_none() {
                return Ok(());
            }
            chunks.entries[entry] = kept.map(Arc::new);
            chunks.changed.insert(entry);
        }
        if self.durability == Durability::Each {
            self.flush().map_err(|error| WriteChunkError::Io {
                path: error.path,
                chunk,
                source: error.source,
            })?;
        }
        Ok(())
    }

    /// Refuses what may not be written over.
    fn check(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        let path = || self.path.clone();
        if chunk.region() != self.position {
            return Err(WriteChunkError::Read(ReadChunkError::OtherRegion { path: path(), chunk }));
        }
        if self.file.is_none() {
            return Err(WriteChunkError::ReadOnly { path: path(), chunk });
        }
        let Some(kept) = self.state().entries[entry_of(chunk)].clone() else { return Ok(()) };
        if overwrite == Overwrite::Damaged || kept.sound.load(Ordering::Relaxed) {
            return Ok(());
        }
        check_content(KEPT, &kept.payload, &Limits::default()).map_err(|cause| WriteChunkError::Content {
            path: path(),
            chunk,
            cause,
        })
    }

    /// Packs and writes all of it, beside the old file first.
    fn write_file(&self, file: &mut Box<dyn StoredFile>, entries: &[Option<Arc<Kept>>]) -> io::Result<()> {
        let mut region = LinearRegion::new(self.position);
        let mut inflater = Inflater::new();
        for (entry, kept) in entries.iter().enumerate() {
            let Some(kept) = kept else { continue };
            let mut nbt = Vec::new();
            kept.inflate(&mut inflater, &mut nbt).map_err(io::Error::other)?;
            let chunk = LinearChunk { nbt, timestamp: kept.timestamp };
            region.set_chunk(chunk_of(self.position, entry), Some(chunk));
        }
        let bytes = region.write(LinearRegion::DEFAULT_GRID, self.level).map_err(io::Error::other)?;
        let new_path = self.path.with_extension("linear.new");
        let new = self.files.open_alone(&new_path)?;
        new.set_length(0)?;
        new.write_at(&bytes, 0)?;
        if self.durability != Durability::Never {
            new.sync()?;
        }
        self.files.rename(&new_path, &self.path)?;
        // From here on the new file is the region, locked already.
        *file = new;
        self.length.store(bytes.len() as u64, Ordering::Release);
        if self.durability != Durability::Never {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            self.files.sync_folder(folder.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }

    fn state(&self) -> RwLockReadGuard<'_, Chunks> {
        self.chunks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, Chunks> {
        self.chunks.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegionStore for LinearFile {
    fn position(&self) -> RegionPos {
        self.position
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    fn chunks(&self) -> Vec<ChunkPos> {
        let chunks = self.state();
        let present = (0..ENTRIES).filter(|entry| chunks.entries[*entry].is_some());
        present.map(|entry| chunk_of(self.position, entry)).collect()
    }

    fn read(&self, chunk: ChunkPos, stored: &mut StoredChunk, _: &Limits) -> Result<bool, ReadChunkError> {
        if chunk.region() != self.position {
            return Err(ReadChunkError::OtherRegion { path: self.path.clone(), chunk });
        }
        // The lock is held for as long as it takes to share a pointer.
        let Some(kept) = self.state().entries[entry_of(chunk)].clone() else { return Ok(false) };
        stored.set(KEPT, &kept.payload, u32::try_from(kept.timestamp).unwrap_or(u32::MAX));
        Ok(true)
    }

    fn write(
        &self,
        chunk: ChunkPos,
        compression: Compression,
        payload: &[u8],
        timestamp: u32,
        overwrite: Overwrite,
    ) -> Result<(), WriteChunkError> {
        self.check(chunk, overwrite)?;
        // What cannot be inflated would keep the whole region from being written.
        let mut nbt = Vec::new();
        Inflater::new().inflate(compression, payload, Limits::default().inflated, &mut nbt).map_err(
            |cause| WriteChunkError::Content { path: self.path.clone(), chunk, cause: cause.to_string() },
        )?;
        let payload = if compression == KEPT { payload.to_vec() } else { pack(&mut Packer::new(), &nbt) };
        self.put(chunk, Some(Kept { payload, timestamp: timestamp.into(), sound: true.into() }))
    }

    fn delete(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        self.check(chunk, overwrite)?;
        self.put(chunk, None)
    }

    /// The copy is the chunk's NBT, `c.X.Z.nbt`, or its payload packed with LZ4 where that cannot be inflated.
    fn set_aside(&self, chunk: ChunkPos, folder: &Path) -> Result<Vec<PathBuf>, SetAsideError> {
        let Some(kept) = self.state().entries[entry_of(chunk)].clone() else { return Ok(Vec::new()) };
        let mut nbt = Vec::new();
        let (bytes, ending) = match kept.inflate(&mut Inflater::new(), &mut nbt) {
            Ok(()) => (&nbt, "nbt"),
            Err(_) => (&kept.payload, "lz4"),
        };
        let copy = folder.join(format!("c.{}.{}.{ending}", chunk.x, chunk.z));
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| SetAsideError::Io { chunk, path, source }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        write_durably(self.files.as_ref(), &copy, bytes).map_err(failed(&copy))?;
        self.delete(chunk, Overwrite::Damaged)?;
        Ok(vec![copy])
    }

    fn flush(&self) -> Result<(), FlushError> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file: MutexGuard<'_, _> = file.lock().unwrap_or_else(PoisonError::into_inner);
        let (entries, changed) = {
            let mut chunks = self.state_mut();
            if chunks.changed.is_empty() {
                return Ok(());
            }
            (chunks.entries.clone(), std::mem::take(&mut chunks.changed))
        };
        self.write_file(&mut file, &entries).map_err(|source| {
            let mut chunks = self.state_mut();
            chunks.changed.extend(changed);
            FlushError { path: self.path.clone(), waiting: chunks.changed.len(), source }
        })
    }

    fn mark_sound(&self, chunk: ChunkPos) {
        if chunk.region() == self.position
            && let Some(kept) = &self.state().entries[entry_of(chunk)]
        {
            kept.sound.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for LinearFile {
    /// Flushes as well as it goes. Flush before to learn whether it went well.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

impl Kept {
    fn inflate(&self, inflater: &mut Inflater, nbt: &mut Vec<u8>) -> Result<(), InflateError> {
        inflater.inflate(KEPT, &self.payload, Limits::default().inflated, nbt).map(|_| ())
    }
}

fn keep_all(region: LinearRegion) -> Vec<Option<Arc<Kept>>> {
    let mut packer = Packer::new();
    let mut keep = |chunk: LinearChunk| {
        let payload = pack(&mut packer, &chunk.nbt);
        Arc::new(Kept { payload, timestamp: chunk.timestamp, sound: false.into() })
    };
    region.into_entries().into_iter().map(|chunk| chunk.map(&mut keep)).collect()
}

fn pack(packer: &mut Packer, nbt: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    packer.pack(KEPT, nbt, &mut payload);
    payload
}
