//! A folder in memory, for what is read and written a great many times.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use voxtick_anvil::files::{Access, Files, StoredFile};

/// A file system of one folder in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder(Arc<Mutex<BTreeMap<PathBuf, Memory>>>);

impl Folder {
    pub(super) fn holding(name: &str, bytes: &[u8]) -> Folder {
        let file = Memory(Arc::new(Mutex::new(bytes.to_vec())));
        Folder(Arc::new(Mutex::new(BTreeMap::from([(PathBuf::from(name), file)]))))
    }

    fn names(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Memory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Folder {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn StoredFile>> {
        let mut names = self.names();
        let file = match access {
            Access::Read => names.get(path).ok_or(io::ErrorKind::NotFound)?,
            Access::Write => names.entry(path.to_path_buf()).or_default(),
        };
        Ok(Box::new(file.clone()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names();
        let file = names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        names.insert(to.to_path_buf(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.names().remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.names().contains_key(path))
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

/// More than any region of these tests needs. An entry may lie 64 GiB into a file.
const MEMORY_LIMIT: u64 = 4 << 20;

impl Memory {
    fn with<T>(&self, use_bytes: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        use_bytes(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StoredFile for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.with(|bytes| bytes.len() as u64))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with(|bytes| {
            let there = bytes.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
            let length = there.len().min(buffer.len());
            buffer[..length].copy_from_slice(&there[..length]);
            Ok(length)
        })
    }

    fn write_at(&self, written: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + written.len() as u64;
        if end > MEMORY_LIMIT {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.with(|bytes| {
            let (start, end) = (offset as usize, end as usize);
            bytes.resize(bytes.len().max(end), 0);
            bytes[start..end].copy_from_slice(written);
        });
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        if length > MEMORY_LIMIT {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.with(|bytes| bytes.resize(length as usize, 0));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
