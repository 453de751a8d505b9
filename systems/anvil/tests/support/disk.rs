//! A disk in memory that can lose its power, or fail, at any call.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use voxtick_anvil::files::{Access, Files, StoredFile};

/// A small generator of numbers, the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A change to a file that has not been made durable.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLength(usize),
}

#[derive(Debug, Clone, Default)]
struct FileState {
    durable: Vec<u8>,
    pending: Vec<Change>,
    current: Vec<u8>,
}

/// A change to the folder that has not been made durable.
#[derive(Debug, Clone)]
enum FolderChange {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

type Names = BTreeMap<PathBuf, usize>;

#[derive(Debug, Clone, Default)]
struct State {
    files: Vec<FileState>,
    names: Names,
    durable_names: Names,
    folder_pending: Vec<FolderChange>,
}

/// What the disk holds at one moment.
pub(crate) type Image = BTreeMap<PathBuf, Vec<u8>>;

/// What happens to calls.
#[derive(Debug)]
struct Faults {
    random: Random,
    /// Of 1,000 calls that change something, how many fail.
    failing: u64,
    /// Whether images of the disk are kept as a cut at each call would leave it.
    imaging: bool,
    images: Vec<Image>,
    calls: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Disk(Arc<(Mutex<State>, Mutex<Faults>)>);

impl Disk {
    pub(crate) fn new(seed: u64) -> Disk {
        Disk::holding(Image::new(), seed)
    }

    /// A disk after a restart: all that it holds is durable.
    pub(crate) fn holding(image: Image, seed: u64) -> Disk {
        let mut state = State::default();
        for (path, bytes) in image {
            state.names.insert(path, state.files.len());
            state.files.push(FileState { durable: bytes.clone(), pending: Vec::new(), current: bytes });
        }
        state.durable_names = state.names.clone();
        let faults =
            Faults { random: Random(seed), failing: 0, imaging: false, images: Vec::new(), calls: 0 };
        Disk(Arc::new((Mutex::new(state), Mutex::new(faults))))
    }

    /// Lets this many of 1,000 calls fail from now on.
    pub(crate) fn fail(&self, per_thousand: u64) {
        self.faults().failing = per_thousand;
    }

    /// Keeps images of what a cut at each call from now on would leave.
    pub(crate) fn keep_images(&self) {
        self.faults().imaging = true;
    }

    /// The images kept since the last call.
    pub(crate) fn take_images(&self) -> Vec<Image> {
        std::mem::take(&mut self.faults().images)
    }

    /// What the disk holds if everything gets through.
    pub(crate) fn image(&self) -> Image {
        let state = self.state();
        state.names.iter().map(|(path, file)| (path.clone(), state.files[*file].current.clone())).collect()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.0.lock().expect("no panic before")
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.0.1.lock().expect("no panic before")
    }

    /// Counts a call that changes something, keeps images of cuts within it, and decides whether it fails. A write
    /// that fails may have written a part.
    fn call(&self, file: Option<usize>, change: Option<&Change>) -> io::Result<()> {
        let mut faults = self.faults();
        faults.calls += 1;
        if faults.imaging {
            let state = self.state();
            let killed = state.killed(file, change, &mut faults.random);
            let unpowered = state.unpowered(file, change, &mut faults.random);
            faults.images.extend([killed, unpowered]);
        }
        let failing = faults.failing;
        if faults.random.below(1000) >= failing {
            return Ok(());
        }
        if let (Some(file), Some(change)) = (file, change) {
            let part = change.torn(&mut faults.random);
            let mut state = self.state();
            part.apply(&mut state.files[file].current);
            state.files[file].pending.push(part);
        }
        Err(io::Error::other("the disk failed"))
    }
}

impl State {
    /// The program is killed within a call: what the system was told before gets through.
    fn killed(&self, file: Option<usize>, change: Option<&Change>, random: &mut Random) -> Image {
        let mut image = Image::new();
        for (path, index) in &self.names {
            let mut bytes = self.files[*index].current.clone();
            if let Some(change) = change.filter(|_| Some(*index) == file) {
                change.torn(random).apply(&mut bytes);
            }
            image.insert(path.clone(), bytes);
        }
        image
    }

    /// The power fails within a call: any of the changes that were not made durable may be lost or torn.
    fn unpowered(&self, file: Option<usize>, change: Option<&Change>, random: &mut Random) -> Image {
        let mut names = self.durable_names.clone();
        // A folder's changes get through in their order.
        let through = random.below(self.folder_pending.len() as u64 + 1) as usize;
        for change in &self.folder_pending[..through] {
            change.apply(&mut names);
        }
        let mut image = Image::new();
        for (path, index) in names {
            let state = &self.files[index];
            let mut bytes = state.durable.clone();
            for change in state.pending.iter().chain(change.filter(|_| Some(index) == file)) {
                match random.below(3) {
                    0 => {}
                    1 => change.torn(random).apply(&mut bytes),
                    _ => change.apply(&mut bytes),
                }
            }
            image.insert(path, bytes);
        }
        image
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::SetLength(length) => bytes.resize(*length, 0),
            Change::Write { offset, bytes: new } => {
                if bytes.len() < offset + new.len() {
                    bytes.resize(offset + new.len(), 0);
                }
                bytes[*offset..offset + new.len()].copy_from_slice(new);
            }
        }
    }

    /// A part of the change. Four aligned bytes are never torn.
    fn torn(&self, random: &mut Random) -> Change {
        match self {
            Change::Write { offset, bytes } if bytes.len() > 4 => {
                let length = random.below(bytes.len() as u64) as usize;
                Change::Write { offset: *offset, bytes: bytes[..length].to_vec() }
            }
            Change::Write { offset, .. } if random.below(2) == 0 => {
                Change::Write { offset: *offset, bytes: Vec::new() }
            }
            whole => whole.clone(),
        }
    }
}

impl FolderChange {
    fn apply(&self, names: &mut Names) {
        match self {
            FolderChange::Create(path, file) => drop(names.insert(path.clone(), *file)),
            FolderChange::Remove(path) => drop(names.remove(path)),
            FolderChange::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

impl Files for Disk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn StoredFile>> {
        let known = self.state().names.get(path).copied();
        let file = match known {
            Some(file) => file,
            None if access == Access::Read => return Err(io::ErrorKind::NotFound.into()),
            None => {
                self.call(None, None)?;
                let mut state = self.state();
                let file = state.files.len();
                state.files.push(FileState::default());
                let change = FolderChange::Create(path.to_path_buf(), file);
                change.apply(&mut state.names);
                state.folder_pending.push(change);
                file
            }
        };
        Ok(Box::new(DiskFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(None, None)?;
        let mut state = self.state();
        let change = FolderChange::Rename(from.to_path_buf(), to.to_path_buf());
        change.apply(&mut state.names);
        state.folder_pending.push(change);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(None, None)?;
        let mut state = self.state();
        let change = FolderChange::Remove(path.to_path_buf());
        change.apply(&mut state.names);
        state.folder_pending.push(change);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state().names.contains_key(path))
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        self.call(None, None)?;
        let mut state = self.state();
        state.durable_names = state.names.clone();
        state.folder_pending.clear();
        Ok(())
    }
}

#[derive(Debug)]
struct DiskFile {
    disk: Disk,
    file: usize,
}

impl DiskFile {
    fn change(&self, change: Change) -> io::Result<()> {
        self.disk.call(Some(self.file), Some(&change))?;
        let mut state = self.disk.state();
        change.apply(&mut state.files[self.file].current);
        state.files[self.file].pending.push(change);
        Ok(())
    }
}

impl StoredFile for DiskFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.state().files[self.file].current.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.disk.state();
        let bytes = state.files[self.file].current.get(offset as usize..).unwrap_or_default();
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.change(Change::Write { offset: offset as usize, bytes: bytes.to_vec() })
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.change(Change::SetLength(length as usize))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(Some(self.file), None)?;
        let mut state = self.disk.state();
        let file = &mut state.files[self.file];
        file.durable = file.current.clone();
        file.pending.clear();
        Ok(())
    }
}
