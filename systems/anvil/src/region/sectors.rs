//! Which sectors of a region file are taken.

/// Most sectors that a region file can have: its header counts them in 24 bits.
const LIMIT: u32 = 1 << 24;

/// One bit a sector, set where it is taken. Sectors beyond the end are free.
#[derive(Debug, Default)]
pub(super) struct Sectors {
    words: Vec<u64>,
}

impl Sectors {
    /// Takes a run of sectors, free or not.
    pub(super) fn take(&mut self, start: u32, count: u32) {
        for sector in start..start + count {
            let word = sector as usize / 64;
            if word >= self.words.len() {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= 1 << (sector % 64);
        }
    }

    pub(super) fn free(&mut self, start: u32, count: u32) {
        for sector in start..start + count {
            if let Some(word) = self.words.get_mut(sector as usize / 64) {
                *word &= !(1 << (sector % 64));
            }
        }
    }

    /// Takes the first free run of `count` sectors, gaps before the end first.
    pub(super) fn allocate(&mut self, count: u32) -> Option<u32> {
        let start = self.first_fit(count);
        if start + count > LIMIT {
            return None;
        }
        self.take(start, count);
        Some(start)
    }

    /// Whether `count` sectors in a row are free before a sector.
    pub(super) fn fits_before(&self, count: u32, sector: u32) -> bool {
        self.first_fit(count) + count <= sector
    }

    /// One past the last sector that is taken.
    pub(super) fn end(&self) -> u32 {
        match self.words.iter().rposition(|word| *word != 0) {
            Some(word) => word as u32 * 64 + 64 - self.words[word].leading_zeros(),
            None => 0,
        }
    }

    fn first_fit(&self, count: u32) -> u32 {
        let mut run = 0;
        for (index, word) in self.words.iter().enumerate() {
            let first = index as u32 * 64;
            if *word == u64::MAX {
                run = 0;
                continue;
            }
            if *word == 0 && run + 64 < count {
                run += 64;
                continue;
            }
            for bit in 0..64 {
                run = if word >> bit & 1 == 1 { 0 } else { run + 1 };
                if run == count {
                    return first + bit + 1 - count;
                }
            }
        }
        self.words.len() as u32 * 64 - run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_that_fits_is_taken() {
        let mut sectors = Sectors::default();
        sectors.take(0, 2);
        assert_eq!(sectors.allocate(3), Some(2));
        assert_eq!(sectors.allocate(100), Some(5));
        sectors.free(2, 3);
        assert_eq!(sectors.allocate(4), Some(105), "the gap is too small");
        assert_eq!(sectors.allocate(2), Some(2));
        assert_eq!(sectors.allocate(1), Some(4));
        assert_eq!(sectors.end(), 109);
    }

    #[test]
    fn allocations_never_overlap_and_reuse_what_is_freed() {
        let mut sectors = Sectors::default();
        let mut live: Vec<(u32, u32)> = Vec::new();
        let mut random = 7_u32;
        for _ in 0..3000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 31 == 1 && !live.is_empty() {
                let (start, count) = live.swap_remove(random as usize % live.len());
                sectors.free(start, count);
            } else {
                let count = 1 + (random >> 8) % 200;
                let start = sectors.allocate(count).expect("there is room");
                assert!(
                    live.iter().all(|(other, length)| start + count <= *other || other + length <= start)
                );
                live.push((start, count));
            }
        }
        for (start, count) in live {
            sectors.free(start, count);
        }
        assert_eq!((sectors.end(), sectors.allocate(5)), (0, Some(0)));
    }

    #[test]
    fn a_region_file_has_an_end() {
        let mut sectors = Sectors::default();
        sectors.take(LIMIT - 1, 1);
        assert_eq!(sectors.allocate(LIMIT - 1), Some(0));
        assert_eq!(sectors.allocate(1), None);
    }
}
