//! What follows the writing of records: the header, what is free now, and what the disk has to hold before.

use super::entry::Location;
use super::file::Region;
use super::name::external_file_name;
use super::write::{Durability, WriteChunkError, Writer, lock};
use super::{HEADER, SECTOR, chunk_of};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use voxtick_worlds::ChunkPos;

/// Why a region could not be flushed. What was not made durable stays to be flushed again.
#[derive(Debug, thiserror::Error)]
#[error("{}: {waiting} chunks are not durable yet: {source}", path.display())]
pub struct FlushError {
    /// The file.
    pub path: PathBuf,
    /// Chunks written and not durable.
    pub waiting: usize,
    /// What the file system said.
    pub source: io::Error,
}

impl Region {
    /// Makes everything that was written durable, in two waits for the disk.
    ///
    /// # Errors
    /// [`FlushError`]; a later flush tries again.
    pub fn flush(&self) -> Result<(), FlushError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let mut writer = lock(writer);
        self.flush_writer(&mut writer).map_err(|source| FlushError {
            path: self.path.clone(),
            waiting: writer.waiting.len(),
            source,
        })
    }

    /// What may be done at once where nothing waits for a flush.
    pub(super) fn settle(&self, chunk: ChunkPos, writer: &mut Writer) -> Result<(), WriteChunkError> {
        if writer.durability == Durability::PerFlush {
            return Ok(());
        }
        self.remove_externals(writer).map_err(|source| WriteChunkError::Io {
            path: self.path.with_file_name(external_file_name(chunk)),
            chunk,
            source,
        })
    }

    fn flush_writer(&self, writer: &mut Writer) -> io::Result<()> {
        if !writer.waiting.is_empty() {
            self.file.sync()?;
            for entry in &writer.waiting {
                let location = self.entries[*entry].load().location;
                writer.maybe_on_disk.insert((*entry, location.0));
                let timestamp = self.timestamps[*entry].load(Ordering::Relaxed);
                self.write_entry(*entry, location, timestamp, false)?;
            }
            self.file.sync()?;
            for entry in std::mem::take(&mut writer.waiting) {
                writer.on_disk[entry] = self.entries[entry].load().location;
            }
            writer.maybe_on_disk.clear();
            for location in std::mem::take(&mut writer.retired) {
                self.free(writer, location);
            }
        }
        self.remove_externals(writer)?;
        self.shrink(writer)
    }

    /// Cuts off free sectors at the end of the file.
    fn shrink(&self, writer: &mut Writer) -> io::Result<()> {
        if !writer.freed {
            return Ok(());
        }
        let end = u64::from(writer.sectors.end()) * SECTOR as u64;
        if end < self.length() {
            self.file.set_length(end)?;
            self.length.store(end, Ordering::Release);
        }
        writer.freed = false;
        Ok(())
    }

    pub(super) fn write_entry(
        &self,
        entry: usize,
        location: Location,
        timestamp: u32,
        sync: bool,
    ) -> io::Result<()> {
        // Four aligned bytes at a time: no disk tears those.
        self.file.write_at(&location.0.to_be_bytes(), entry as u64 * 4)?;
        self.file.write_at(&timestamp.to_be_bytes(), (SECTOR + entry * 4) as u64)?;
        if sync { self.file.sync() } else { Ok(()) }
    }

    /// Frees a record's sectors, but none that another entry claims too.
    pub(super) fn free(&self, writer: &mut Writer, location: Location) {
        writer.sectors.free(location.offset(), location.sectors());
        writer.freed |= location != Location::ABSENT;
        for entry in self.entries.iter() {
            let other = entry.load().location;
            if other.offset() < location.end() && location.offset() < other.end() {
                writer.sectors.take(other.offset(), other.sectors());
            }
        }
        writer.sectors.take(0, (HEADER / SECTOR) as u32);
    }

    /// Removes the files of chunks that are back in the region or gone.
    fn remove_externals(&self, writer: &mut Writer) -> io::Result<()> {
        let mut removed = false;
        while let Some(entry) = writer.removals.first().copied() {
            let path = self.path.with_file_name(external_file_name(chunk_of(self.position(), entry)));
            if self.files.exists(&path)? {
                self.files.remove(&path)?;
                removed = true;
            }
            writer.removals.remove(&entry);
        }
        if removed && writer.durability != Durability::Never {
            self.sync_folder()?;
        }
        Ok(())
    }

    pub(super) fn sync_folder(&self) -> io::Result<()> {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => self.files.sync_folder(folder),
            _ => self.files.sync_folder(std::path::Path::new(".")),
        }
    }
}

impl Drop for Region {
    /// Flushes as well as it goes. Call [`Region::flush`] before to learn whether it went well.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
