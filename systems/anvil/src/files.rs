//! The few things that region storage asks of a file system.
//!
//! All reading and writing goes through [`Files`], so that tests can put a file system below a region that fails,
//! shortens or stops at any chosen call.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Whether a file is opened for writing too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An existing file, for reading only.
    Read,
    /// For reading and writing; created if it does not exist.
    Write,
}

/// A file system, or what stands for one.
pub trait Files: Send + Sync + fmt::Debug {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of the file system.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn StoredFile>>;

    /// Opens a file for reading and writing, which nobody else may do before the result is dropped, in this process or
    /// another. Created if it does not exist.
    ///
    /// The lock is advisory: it keeps out those who ask. A file system that no two writers can reach may leave it at
    /// opening.
    ///
    /// # Errors
    /// Those of the file system, and [`io::ErrorKind::ResourceBusy`] where another has it.
    fn open_alone(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        self.open(path, Access::Write)
    }

    /// Gives a file another name at once, replacing the file that has it.
    ///
    /// # Errors
    /// Those of the file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the file system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file with this name.
    ///
    /// # Errors
    /// Those of the file system.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Makes renames and removals within a folder durable.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// An open file that is read and written at given places, by any number of threads.
pub trait StoredFile: Send + Sync + fmt::Debug {
    /// How many bytes it has.
    ///
    /// # Errors
    /// Those of the file system.
    fn length(&self) -> io::Result<u64>;

    /// Reads at `offset` until `buffer` is full or the file ends; returns how many bytes were read.
    ///
    /// # Errors
    /// Those of the file system.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`, growing the file as needed.
    ///
    /// # Errors
    /// Those of the file system; an unknown part of the bytes may be written then.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts or grows the file.
    ///
    /// # Errors
    /// Those of the file system.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Returns once all that was written will outlast a loss of power.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync(&self) -> io::Result<()>;
}

/// The operating system's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFiles;

impl Files for OsFiles {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn StoredFile>> {
        Ok(Box::new(OsFile(open(path, access)?)))
    }

    /// On Windows, others cannot even read what is locked.
    fn open_alone(&self, path: &Path) -> io::Result<Box<dyn StoredFile>> {
        loop {
            let file = open(path, Access::Write)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
                // Some file systems of other machines have no locks.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Between opening and locking, another may have put a new file in its place: what is written to the old
            // one would be lost.
            if is_named(&file, path)? {
                return Ok(Box::new(OsFile(file)));
            }
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Other systems cannot open a folder as a file, and make renames durable themselves.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    if access == Access::Write {
        options.write(true).create(true).truncate(false);
    }
    options.open(path)
}

/// Whether a path still leads to a file that was opened by it.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Other systems put no file in the place of one that is open.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[derive(Debug)]
struct OsFile(File);

impl Drop for OsFile {
    /// Gives a lock up by name. Closing the file alone would not, while a child process that is just being started still
    /// has a copy of it.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl StoredFile for OsFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match read_some(&self.0, &mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match write_some(&self.0, &bytes[written..], offset + written as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_some(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(windows)]
fn write_some(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A region that was opened again right after it was closed was now and then said to be another's: a program that
    /// starts other programs has copies of its files for a moment, and the lock was only given up with the last of them.
    #[test]
    fn a_lock_goes_with_its_holder_although_a_copy_of_the_file_is_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("r.0.0.mca");
        let file = open(&path, Access::Write).expect("a file");
        file.try_lock().expect("nobody has it");
        let _copy = file.try_clone().expect("a copy, as a child process has it");
        assert!(OsFiles.open_alone(&path).is_err(), "it is locked");
        drop(OsFile(file));
        assert!(OsFiles.open_alone(&path).is_ok());
    }
}
