//! A Linear file that is read and written chunk by chunk.
//!
//! The whole region is in memory, each chunk packed with LZ4; a flush writes it to a new file and puts that in the place
//! of the old one. So readers need no disk, writes cost a copy, and a crash leaves the old file or the new one. Buckets in
//! which nothing has changed are copied from the old file, not packed again.

use super::buckets::{self, Bucket, DamagedBucket, Places};
use super::{LinearChunk, LinearError, LinearRegion, TOTAL_LIMIT};
use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater, Packer};
use crate::files::{Access, Files, StoredFile};
use crate::region::{
    Damage, Durability, ENTRIES, FlushError, OpenRegionError, Overwrite, ReadChunkError, RegionOptions,
    RegionStore, SetAsideError, StoredChunk, WriteChunkError, check_content, chunk_of, entry_of,
    region_of_path, write_durably,
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
/// Opening reads and inflates all of it; each [`RegionStore::flush`] after a change packs the buckets in which something
/// has changed, 16 chunks each unless the file says otherwise, and writes all of it, as the format wants: flush seldom.
/// With [`Durability::Each`] every write does.
///
/// A bucket that is damaged makes the chunks in it damaged and no others. It is kept as it is; nothing is written into it,
/// by no choice of [`Overwrite`], since that would lose all of it: set one of its chunks aside first, which takes them all
/// out.
///
/// Version 1 is read and becomes version 2 with the first flush.
#[derive(Debug)]
pub struct LinearFile {
    path: PathBuf,
    position: RegionPos,
    files: Arc<dyn Files>,
    durability: Durability,
    level: i32,
    limits: Limits,
    length: AtomicU64,
    chunks: RwLock<Chunks>,
    /// Absent where it is only read. Held during a flush.
    file: Option<Mutex<OpenFile>>,
    /// What writers need for as long as they write one chunk.
    contexts: Mutex<Vec<Context>>,
}

/// The file on the disk.
#[derive(Debug)]
struct OpenFile {
    /// Kept open for its lock, and for what is copied from it.
    file: Box<dyn StoredFile>,
    places: Option<Places>,
}

#[derive(Debug, Default)]
struct Context {
    inflater: Inflater,
    packer: Packer,
    nbt: Vec<u8>,
}

#[derive(Debug)]
struct Chunks {
    entries: Vec<Option<Arc<Kept>>>,
    damaged: Vec<Arc<DamagedBucket>>,
    /// Entries that the file does not hold as they are here.
    changed: BTreeSet<usize>,
}

impl Chunks {
    fn damaged(&self, entry: usize) -> Option<&Arc<DamagedBucket>> {
        self.damaged.iter().find(|damaged| damaged.entries.contains(&entry))
    }
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
    /// [`OpenRegionError::Linear`] where it is damaged as a whole, so that nothing is taken for absent and nothing is
    /// written over.
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
        let (mut region, mut places) = (LinearRegion::new(position), None);
        if !bytes.is_empty() {
            (region, places) = LinearRegion::read_with_places(&bytes, &options.limits).map_err(damaged)?;
        }
        if let Some(found) = region.position.filter(|found| *found != position) {
            return Err(damaged(LinearError::Elsewhere { found }));
        }
        let damaged = region.damaged.into_iter().map(Arc::new).collect();
        let chunks = Chunks { entries: keep_all(region.chunks), damaged, changed: BTreeSet::new() };
        Ok(LinearFile {
            path: path.to_path_buf(),
            position,
            files: options.files,
            durability: options.durability,
            level: options.linear_level,
            limits: options.limits,
            length: AtomicU64::new(length),
            chunks: RwLock::new(chunks),
            file: (options.access == Access::Write).then(|| Mutex::new(OpenFile { file, places })),
            contexts: Mutex::default(),
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
        let entry = entry_of(chunk);
        let kept = {
            let chunks = self.state();
            // A chunk that the bucket does not have would be lost with it as well.
            let grid_holds = |damaged: &&Arc<DamagedBucket>| {
                buckets::entries_of(damaged.number, damaged.grid).any(|other| other == entry)
            };
            if let Some(damaged) = chunks.damaged.iter().find(grid_holds) {
                return Err(WriteChunkError::Damaged(self.damage(chunk, damaged)));
            }
            chunks.entries[entry].clone()
        };
        let Some(kept) = kept else { return Ok(()) };
        if overwrite == Overwrite::Damaged || kept.sound.load(Ordering::Relaxed) {
            return Ok(());
        }
        check_content(KEPT, &kept.payload, &self.limits).map_err(|cause| self.content(chunk, cause))
    }

    fn content(&self, chunk: ChunkPos, cause: String) -> WriteChunkError {
        WriteChunkError::Content { path: self.path.clone(), chunk, cause }
    }

    fn damage(&self, chunk: ChunkPos, damaged: &DamagedBucket) -> ReadChunkError {
        ReadChunkError::Damaged {
            path: self.path.clone(),
            chunk,
            damage: Damage::LinearBucket { cause: damaged.cause.clone() },
        }
    }

    /// Writes all of it beside the old file and puts it in its place.
    fn write_file(
        &self,
        old: &mut OpenFile,
        entries: &[Option<Arc<Kept>>],
        damaged: &[Arc<DamagedBucket>],
        changed: &BTreeSet<usize>,
    ) -> io::Result<()> {
        let grid = old.places.as_ref().map_or(LinearRegion::DEFAULT_GRID, |places| places.grid);
        let mut packed = Vec::with_capacity(buckets::bucket_count(grid));
        for number in 0..buckets::bucket_count(grid) {
            let is_changed = buckets::entries_of(number, grid).any(|entry| changed.contains(&entry));
            let copied = match damaged.iter().find(|damaged| damaged.number == number) {
                Some(damaged) => Some(damaged.bucket.clone()),
                None if is_changed => None,
                None => old.places.as_ref().and_then(|places| {
                    let read = |bytes: &mut [u8], offset| {
                        old.file.read_at(bytes, offset).is_ok_and(|read| read == bytes.len())
                    };
                    places.read(number, read)
                }),
            };
            packed.push(match copied {
                Some(bucket) => bucket,
                None => self.pack_bucket(number, grid, entries)?,
            });
        }
        let newest = entries.iter().flatten().map(|kept| kept.timestamp).max().unwrap_or(0);
        let sound = (0..ENTRIES).filter(|entry| entries[*entry].is_some());
        let present = sound.chain(damaged.iter().flat_map(|damaged| damaged.named.iter().copied()));
        let (bytes, places) = buckets::assemble(self.position, newest, present, grid, &packed);
        let new_path = self.path.with_extension("linear.new");
        let new = self.files.open_alone(&new_path)?;
        new.set_length(0)?;
        new.write_at(&bytes, 0)?;
        if self.durability != Durability::Never {
            new.sync()?;
        }
        self.files.rename(&new_path, &self.path)?;
        // From here on the new file is the region, locked already.
        *old = OpenFile { file: new, places: Some(places) };
        self.length.store(bytes.len() as u64, Ordering::Release);
        if self.durability != Durability::Never {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            self.files.sync_folder(folder.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }

    fn pack_bucket(&self, number: usize, grid: u8, entries: &[Option<Arc<Kept>>]) -> io::Result<Bucket> {
        self.with_context(|context| {
            let mut plain = Vec::new();
            for entry in buckets::entries_of(number, grid) {
                let Some(kept) = &entries[entry] else {
                    buckets::append(&mut plain, None);
                    continue;
                };
                kept.inflate(&self.limits, context).map_err(io::Error::other)?;
                buckets::append(&mut plain, Some((&context.nbt, kept.timestamp)));
            }
            Bucket::seal(number, &plain, self.level).map_err(io::Error::other)
        })
    }

    fn with_context<T>(&self, job: impl FnOnce(&mut Context) -> T) -> T {
        let contexts = || self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut context = contexts().pop().unwrap_or_default();
        let outcome = job(&mut context);
        contexts().push(context);
        outcome
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
        let present =
            (0..ENTRIES).filter(|entry| chunks.entries[*entry].is_some() || chunks.damaged(*entry).is_some());
        present.map(|entry| chunk_of(self.position, entry)).collect()
    }

    fn read(&self, chunk: ChunkPos, stored: &mut StoredChunk, _: &Limits) -> Result<bool, ReadChunkError> {
        if chunk.region() != self.position {
            return Err(ReadChunkError::OtherRegion { path: self.path.clone(), chunk });
        }
        // The lock is held for as long as it takes to share a pointer.
        let (kept, damaged) = {
            let (chunks, entry) = (self.state(), entry_of(chunk));
            (chunks.entries[entry].clone(), chunks.damaged(entry).cloned())
        };
        if let Some(damaged) = damaged {
            return Err(self.damage(chunk, &damaged));
        }
        let Some(kept) = kept else { return Ok(false) };
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
        let payload = self.with_context(|context| {
            context
                .inflater
                .inflate(compression, payload, self.limits.inflated, &mut context.nbt)
                .map_err(|cause| self.content(chunk, cause.to_string()))?;
            let mut packed = Vec::new();
            match compression {
                KEPT => packed.extend_from_slice(payload),
                _ => context.packer.pack(KEPT, &context.nbt, &mut packed),
            }
            Ok(packed)
        })?;
        self.put(chunk, Some(Kept { payload, timestamp: timestamp.into(), sound: true.into() }))
    }

    fn delete(&self, chunk: ChunkPos, overwrite: Overwrite) -> Result<(), WriteChunkError> {
        self.check(chunk, overwrite)?;
        self.put(chunk, None)
    }

    /// The copy is the chunk's NBT, `c.X.Z.nbt`, or its payload packed with LZ4 where that cannot be inflated; of a chunk in
    /// a damaged bucket the stream of that, `bucket.N.zst` after the region's name, and all of its chunks are removed.
    fn set_aside(&self, chunk: ChunkPos, folder: &Path) -> Result<Vec<PathBuf>, SetAsideError> {
        let (kept, damaged) = {
            let (chunks, entry) = (self.state(), entry_of(chunk));
            (chunks.entries[entry].clone(), chunks.damaged(entry).cloned())
        };
        let copy_to = |name: String, bytes: &[u8]| -> Result<PathBuf, SetAsideError> {
            let copy = folder.join(name);
            let failed = |path: &Path| {
                let path = path.to_path_buf();
                move |source| SetAsideError::Io { chunk, path, source }
            };
            std::fs::create_dir_all(folder).map_err(failed(folder))?;
            write_durably(self.files.as_ref(), &copy, bytes).map_err(failed(&copy))?;
            Ok(copy)
        };
        if let Some(damaged) = damaged {
            let RegionPos { x, z } = self.position;
            let copy = copy_to(format!("r.{x}.{z}.bucket.{}.zst", damaged.number), damaged.stream())?;
            let mut chunks = self.state_mut();
            chunks.damaged.retain(|other| other.number != damaged.number);
            chunks.changed.extend(buckets::entries_of(damaged.number, damaged.grid));
            return Ok(vec![copy]);
        }
        let Some(kept) = kept else { return Ok(Vec::new()) };
        let copy = self.with_context(|context| match kept.inflate(&self.limits, context) {
            Ok(()) => copy_to(format!("c.{}.{}.nbt", chunk.x, chunk.z), &context.nbt),
            Err(_) => copy_to(format!("c.{}.{}.lz4", chunk.x, chunk.z), &kept.payload),
        })?;
        self.delete(chunk, Overwrite::Damaged)?;
        Ok(vec![copy])
    }

    fn flush(&self) -> Result<(), FlushError> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file: MutexGuard<'_, _> = file.lock().unwrap_or_else(PoisonError::into_inner);
        let (entries, damaged, changed) = {
            let mut chunks = self.state_mut();
            if chunks.changed.is_empty() {
                return Ok(());
            }
            (chunks.entries.clone(), chunks.damaged.clone(), std::mem::take(&mut chunks.changed))
        };
        self.write_file(&mut file, &entries, &damaged, &changed).map_err(|source| {
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
    /// Inflates it into the context's buffer.
    fn inflate(&self, limits: &Limits, context: &mut Context) -> Result<(), InflateError> {
        context.inflater.inflate(KEPT, &self.payload, limits.inflated, &mut context.nbt).map(|_| ())
    }
}

fn keep_all(chunks: Vec<Option<LinearChunk>>) -> Vec<Option<Arc<Kept>>> {
    let mut packer = Packer::new();
    let mut keep = |chunk: LinearChunk| {
        let mut payload = Vec::new();
        packer.pack(KEPT, &chunk.nbt, &mut payload);
        Arc::new(Kept { payload, timestamp: chunk.timestamp, sound: false.into() })
    };
    chunks.into_iter().map(|chunk| chunk.map(&mut keep)).collect()
}
