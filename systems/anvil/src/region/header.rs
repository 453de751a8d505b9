//! What the header alone says against its entries.

use super::SECTOR;
use super::entry::{HeaderFault, Location};

/// What the header alone says against each entry. `available` bytes of it exist, the file has `length`.
pub(super) fn header_faults(locations: &[Location], available: usize, length: u64) -> Vec<HeaderFault> {
    let mut faults: Vec<HeaderFault> = locations
        .iter()
        .enumerate()
        .map(|(entry, location)| {
            if available > 0 && available < (entry + 1) * 4 {
                HeaderFault::Cut
            } else if *location == Location::ABSENT {
                HeaderFault::None
            } else if location.sectors() == 0 {
                HeaderFault::NoSectors
            } else if location.offset() < 2 {
                HeaderFault::InHeader
            } else if u64::from(location.offset()) * SECTOR as u64 >= length {
                HeaderFault::PastEnd
            } else {
                HeaderFault::None
            }
        })
        .collect();
    mark_overlaps(locations, &mut faults);
    faults
}

/// Marks all entries that share a sector with another one; those with another fault take no part.
fn mark_overlaps(locations: &[Location], faults: &mut [HeaderFault]) {
    let mut order: Vec<usize> = (0..locations.len())
        .filter(|entry| faults[*entry] == HeaderFault::None && locations[*entry] != Location::ABSENT)
        .collect();
    order.sort_by_key(|entry| locations[*entry].offset());
    // The entry that reaches furthest so far may overlap any later one, not only the next.
    let mut furthest: Option<usize> = None;
    for entry in order {
        if let Some(before) = furthest
            && locations[entry].offset() < locations[before].end()
        {
            faults[before] = HeaderFault::Overlap;
            faults[entry] = HeaderFault::Overlap;
        }
        if furthest.is_none_or(|before| locations[entry].end() > locations[before].end()) {
            furthest = Some(entry);
        }
    }
}
