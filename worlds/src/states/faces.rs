//! Face masks: which part of a cell's face stops light.
//!
//! The table has a few dozen distinct masks, so whether two of them together close a face is answered by a table of
//! pairs that is made once.

/// A face as 16 x 16 bits, 1 where it stops light.
///
/// The four words hold the face's 16 rows of 16 bits, row 0 in the highest bits of word 0; on the four sides a row is
/// a height, the lowest first. Two faces that meet use the same orientation, so they may be combined bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FaceMask(pub [u64; 4]);

impl FaceMask {
    /// Whether the two masks together leave no bit open.
    #[must_use]
    pub fn covers_with(&self, other: &FaceMask) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a | b == u64::MAX)
    }
}

/// The index of a face mask that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceMaskId(u8);

impl FaceMaskId {
    pub(super) fn non_empty(index: u8) -> Option<FaceMaskId> {
        (index != 0).then_some(FaceMaskId(index))
    }

    /// The index into [`BlockStates::face_masks`](super::BlockStates::face_masks), never 0.
    #[must_use]
    pub fn index(self) -> u8 {
        self.0
    }
}

/// All masks and, for each pair, whether it covers the face.
pub(super) struct FaceMasks {
    masks: Box<[FaceMask]>,
    pairs: Box<[bool]>,
}

impl FaceMasks {
    pub(super) fn new(masks: Vec<FaceMask>) -> FaceMasks {
        let pairs = masks.iter().flat_map(|a| masks.iter().map(|b| a.covers_with(b))).collect();
        FaceMasks { masks: masks.into(), pairs }
    }

    pub(super) fn all(&self) -> &[FaceMask] {
        &self.masks
    }

    pub(super) fn cover(&self, a: u8, b: u8) -> bool {
        let count = self.masks.len();
        // An index outside the table is read as the empty mask, 0.
        let inside = |index: u8| if (index as usize) < count { index as usize } else { 0 };
        self.pairs[inside(a) * count + inside(b)]
    }
}
