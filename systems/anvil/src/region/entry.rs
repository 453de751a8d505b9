//! One entry of a region's header as an atomic word, so that readers follow a writer without a lock.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Where a chunk's record lies, as the header says: sector offset in the upper 24 bits, sector count in the lower 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Location(pub(super) u32);

impl Location {
    pub(super) const ABSENT: Location = Location(0);

    /// `sectors` must be at most 255.
    pub(super) fn new(offset: u32, sectors: u32) -> Location {
        Location(offset << 8 | sectors & 0xFF)
    }

    pub(super) fn offset(self) -> u32 {
        self.0 >> 8
    }

    pub(super) fn sectors(self) -> u32 {
        self.0 & 0xFF
    }

    /// One past the last sector.
    pub(super) fn end(self) -> u32 {
        self.offset() + self.sectors()
    }
}

/// What is wrong with an entry by the header alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum HeaderFault {
    None,
    /// The header ends before this entry.
    Cut,
    /// The record would lie in the header.
    InHeader,
    /// It has no sectors.
    NoSectors,
    /// It begins at or past the end of the file.
    PastEnd,
    /// It shares sectors with another.
    Overlap,
}

impl HeaderFault {
    fn from_number(number: u64) -> HeaderFault {
        match number {
            1 => HeaderFault::Cut,
            2 => HeaderFault::InHeader,
            3 => HeaderFault::NoSectors,
            4 => HeaderFault::PastEnd,
            5 => HeaderFault::Overlap,
            _ => HeaderFault::None,
        }
    }
}

/// An entry at one moment. Two equal snapshots mean that nothing was written to the entry between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) location: Location,
    pub(super) fault: HeaderFault,
    generation: u32,
}

impl Snapshot {
    pub(super) fn is_absent(self) -> bool {
        self.location == Location::ABSENT && self.fault == HeaderFault::None
    }

    fn pack(self) -> u64 {
        // The generation's upper bits fall off: it counts modulo 2^29.
        u64::from(self.generation) << 35 | (self.fault as u64) << 32 | u64::from(self.location.0)
    }

    fn unpack(word: u64) -> Snapshot {
        Snapshot {
            location: Location(word as u32),
            fault: HeaderFault::from_number(word >> 32 & 7),
            generation: (word >> 35) as u32,
        }
    }
}

/// An entry that one writer changes while any number of readers look.
#[derive(Debug)]
pub(super) struct Entry(AtomicU64);

impl Entry {
    pub(super) fn new(location: Location, fault: HeaderFault) -> Entry {
        Entry(AtomicU64::new(Snapshot { location, fault, generation: 0 }.pack()))
    }

    pub(super) fn load(&self) -> Snapshot {
        Snapshot::unpack(self.0.load(Ordering::Acquire))
    }

    /// Moves the entry. Only the region's one writer may call this, after the record is in place and before the former
    /// record's sectors are used again.
    pub(super) fn publish(&self, location: Location) {
        let before = self.load();
        let after =
            Snapshot { location, fault: HeaderFault::None, generation: before.generation.wrapping_add(1) };
        self.0.store(after.pack(), Ordering::Release);
        // Writes into the former record's sectors stay behind the move.
        fence(Ordering::SeqCst);
    }

    /// Whether the entry is as it was at `before`, all reads since then included.
    pub(super) fn unchanged_since(&self, before: Snapshot) -> bool {
        fence(Ordering::Acquire);
        Snapshot::unpack(self.0.load(Ordering::Relaxed)) == before
    }
}
