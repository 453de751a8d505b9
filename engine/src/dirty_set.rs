//! A set of indices that any thread may mark and one place drains: what changed and must be redone.
//!
//! Bits in words, words in pages, pages on shelves. A page has a summary of its words and a shelf
//! one of its pages, so that a drain visits what is marked and skips what is not. Shelf `s` holds
//! `2^s` pages; shelves and pages are made when one of their indices is first marked and never move
//! or go away while the set lives, so that growing disturbs nobody.
//!
//! Why nothing is lost: a mark first sets its bit and then makes sure that both summaries tell of
//! it; a drain first clears the summaries and then takes the bits. The bit is set and taken by
//! read-modify-write operations on one word. If the drain came first on that word, the mark has seen
//! all that the drain did before, so that the cleared summaries do not look set to it; if the mark
//! came first, the drain takes the bit. (A mark that only looked whether its bit is set already
//! would be cheaper and wrong: what its caller wrote before would not be sure to be seen.)

use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use crate::atomics::{AtomicU64, OnceLock, PAGE_WORDS, SHELVES};

/// A growing set of indices: marked from any thread, drained in ascending order.
///
/// - **Order.** A drain gives its indices in ascending order, each once.
/// - **Marks.** An index is pending at most once; marking it again before it is drained changes
///   nothing. Marking it after it was drained makes it pending again. What a thread wrote before it
///   marked an index is seen by whoever drains that index afterwards.
/// - **Nothing lost.** Every mark that returned before a drain began is in that drain or in an
///   earlier one; a mark that races with a drain is in that drain or in the next.
/// - **Bounds.** Indices up to the limit given at the start; marking one above is an error. Memory
///   grows with the pages of 4,096 indices that were ever marked, 576 bytes each, and with the
///   highest of them, up to 32 bytes a page below it. It is kept: the set is never full.
/// - **Dying threads.** Nothing is locked and nothing waits, so a thread that dies leaves its marks
///   and harms nobody. A [`Drain`] that is dropped half-way, even by a panic, leaves the rest
///   pending.
/// - **Cost.** A mark is one atomic operation and two look-ups. A drain is in proportion to what is
///   marked, plus one look-up for every 262,144 indices of room.
///
/// ```
/// use voxtick_engine::DirtySet;
///
/// let dirty = DirtySet::with_limit(1_000_000);
/// std::thread::scope(|scope| {
///     scope.spawn(|| dirty.mark(70_000));
///     scope.spawn(|| [3, 5, 3].map(|index| dirty.mark(index)));
/// });
/// assert_eq!(dirty.drain().collect::<Vec<_>>(), [3, 5, 70_000]);
/// assert!(dirty.is_empty());
/// assert_eq!(dirty.mark(5), Ok(true));
/// ```
pub struct DirtySet {
    limit: u32,
    shelves: [OnceLock<Shelf>; SHELVES],
}

/// An index above the limit of its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "index {index} cannot be marked in a dirty set of indices up to {limit}: make the set with a higher limit"
)]
pub struct MarkError {
    /// The index.
    pub index: u32,
    /// The highest index that the set takes.
    pub limit: u32,
}

/// Indices of one page.
const PAGE: u32 = 64 * PAGE_WORDS as u32;

struct Shelf {
    /// One bit a page: some index of it may be marked.
    dirty: Box<[AtomicU64]>,
    pages: Box<[OnceLock<Box<Page>>]>,
}

struct Page {
    dirty: Summary,
    words: [AtomicU64; PAGE_WORDS],
}

/// One bit a word: some index of it may be marked. On a cache line of its own, since it is looked
/// at far more often than it changes.
#[repr(align(64))]
struct Summary(AtomicU64);

impl DirtySet {
    /// An empty set of indices from 0 to `limit`, that one included.
    pub fn with_limit(limit: u32) -> DirtySet {
        DirtySet { limit, shelves: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The highest index that can be marked.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Marks an index; tells whether it was not pending before.
    ///
    /// # Errors
    /// The index is above the limit.
    pub fn mark(&self, index: u32) -> Result<bool, MarkError> {
        if index > self.limit {
            return Err(MarkError { index, limit: self.limit });
        }
        let (shelf, number) = place_of_page(index / PAGE);
        let shelf = self.shelves[shelf].get_or_init(|| Shelf::new(shelf));
        let page = shelf.pages[number].get_or_init(|| Box::new(Page::new()));
        let (word, bit) = ((index % PAGE / 64) as usize, 1 << (index % 64));
        Ok(shelf.set(number, page, word, bit) & bit == 0)
    }

    /// Takes everything that is pending, in ascending order.
    ///
    /// Indices are taken as the iterator goes on, a word of 64 at a time; what it has not given when
    /// it is dropped stays pending. So `drain().take(100)` takes a hundred, the lowest first.
    pub fn drain(&self) -> Drain<'_> {
        Drain {
            set: self,
            next_shelf: 0,
            shelf: None,
            pages: Bits::default(),
            page: None,
            words: 0,
            word: Bits::default(),
        }
    }

    /// Whether nothing is pending. Marks and drains that are under way may or may not count.
    pub fn is_empty(&self) -> bool {
        self.shelves.iter().filter_map(OnceLock::get).all(|shelf| {
            shelf.dirty.iter().zip(shelf.pages.chunks(64)).all(|(dirty, pages)| {
                dirty.load(Relaxed) == 0 || pages.iter().filter_map(OnceLock::get).all(|page| page.is_empty())
            })
        })
    }

    /// How many indices are pending. Marks and drains that are under way may or may not count. It
    /// looks at every page: for reports, not for the inner loop.
    pub fn pending_count(&self) -> u64 {
        let pages = self.shelves.iter().filter_map(OnceLock::get).flat_map(|shelf| &shelf.pages);
        let words = pages.filter_map(OnceLock::get).flat_map(|page| &page.words);
        words.map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }
}

impl std::fmt::Debug for DirtySet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DirtySet")
            .field("limit", &self.limit)
            .field("pending", &self.pending_count())
            .finish()
    }
}

/// The shelf of a page and its number there: shelf `s` begins with page `2^s - 1`.
fn place_of_page(page: u32) -> (usize, usize) {
    let shelf = (page + 1).ilog2();
    (shelf as usize, (page + 1 - (1 << shelf)) as usize)
}

impl Shelf {
    fn new(number: usize) -> Shelf {
        let pages = 1_usize << number;
        Shelf {
            dirty: (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Sets bits of a word, then sees to it that the summaries tell of them. Gives the word before.
    fn set(&self, number: usize, page: &Page, word: usize, bits: u64) -> u64 {
        let before = page.words[word].fetch_or(bits, AcqRel);
        make_sure(&page.dirty.0, 1 << word);
        make_sure(&self.dirty[number / 64], 1 << (number % 64));
        before
    }
}

/// Sets a bit unless it is set. A summary is mostly set already, and looking is far cheaper.
fn make_sure(summary: &AtomicU64, bit: u64) {
    if summary.load(Relaxed) & bit == 0 {
        summary.fetch_or(bit, AcqRel);
    }
}

impl Page {
    fn new() -> Page {
        Page { dirty: Summary(AtomicU64::new(0)), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    fn is_empty(&self) -> bool {
        self.dirty.0.load(Relaxed) == 0 || self.words.iter().all(|word| word.load(Relaxed) == 0)
    }
}

/// The pending indices of a [`DirtySet`], taken one by one. What is left stays pending.
pub struct Drain<'a> {
    set: &'a DirtySet,
    next_shelf: usize,
    shelf: Option<&'a Shelf>,
    /// Pages of the shelf that are still to be visited.
    pages: Bits,
    page: Option<(usize, &'a Page)>,
    /// Words of the page that are still to be visited.
    words: u64,
    /// Indices of the word that are still to be given.
    word: Bits,
}

/// Bits taken out of the number `of` of a row of words.
#[derive(Default)]
struct Bits {
    of: usize,
    bits: u64,
}

impl Bits {
    /// Takes the lowest bit; gives its number, counted through the whole row.
    fn pop(&mut self) -> Option<usize> {
        let lowest = (self.bits != 0).then(|| self.bits.trailing_zeros() as usize)?;
        self.bits &= self.bits - 1;
        Some(self.of * 64 + lowest)
    }
}

impl Drain<'_> {
    /// Takes the next word that has marks.
    fn next_word(&mut self) -> Option<()> {
        loop {
            if self.words != 0 {
                let (_, page) = self.page?;
                let number = self.words.trailing_zeros() as usize;
                self.words &= self.words - 1;
                self.word = Bits { of: number, bits: page.words[number].swap(0, AcqRel) };
                return Some(());
            }
            self.next_page()?;
        }
    }

    /// Goes on to the next page that may have marks.
    fn next_page(&mut self) -> Option<()> {
        loop {
            if let Some((shelf, number)) = self.shelf.zip(self.pages.pop()) {
                // A page's bit is set only after the page was made.
                let Some(page) = shelf.pages[number].get() else { continue };
                self.page = Some((number, page));
                self.words = page.dirty.0.swap(0, AcqRel);
                return Some(());
            }
            self.next_pages()?;
        }
    }

    /// Goes on to the next 64 pages of which some may have marks.
    fn next_pages(&mut self) -> Option<()> {
        let mut next = if self.shelf.is_some() { self.pages.of + 1 } else { 0 };
        loop {
            if let Some(shelf) = self.shelf {
                while let Some(dirty) = shelf.dirty.get(next) {
                    if dirty.load(Relaxed) != 0 {
                        self.pages = Bits { of: next, bits: dirty.swap(0, AcqRel) };
                        return Some(());
                    }
                    next += 1;
                }
            }
            // Shelves are made in any order: one that is missing ends nothing.
            self.shelf = self.set.shelves.get(self.next_shelf)?.get();
            self.next_shelf += 1;
            next = 0;
        }
    }

    /// The index of a bit, counted through the current page.
    fn index(&self, bit: usize) -> Option<u32> {
        let (number, _) = self.page?;
        let page = (1_usize << (self.next_shelf - 1)) - 1 + number;
        u32::try_from(page * PAGE as usize + bit).ok()
    }
}

impl Iterator for Drain<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(bit) = self.word.pop() {
                return self.index(bit);
            }
            self.next_word()?;
        }
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        // In the same order as a mark: bits first, then what tells of them.
        let Some(shelf) = self.shelf else { return };
        if let Some((number, page)) = self.page {
            if self.word.bits != 0 {
                shelf.set(number, page, self.word.of, self.word.bits);
            }
            if self.words != 0 {
                page.dirty.0.fetch_or(self.words, AcqRel);
                make_sure(&shelf.dirty[number / 64], 1 << (number % 64));
            }
        }
        if self.pages.bits != 0 {
            shelf.dirty[self.pages.of].fetch_or(self.pages.bits, AcqRel);
        }
    }
}

impl std::fmt::Debug for Drain<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Drain").field("set", self.set).finish_non_exhaustive()
    }
}
