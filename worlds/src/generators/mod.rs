//! Makers of chunks: seeded, deterministic, each chunk from its position alone.
//!
//! No generator looks at another chunk, so any number of threads may generate any set of chunks in any order and the
//! world is the same.

mod flat;
mod hills;
mod random;

use rayon::prelude::*;

pub use flat::{Checker, Superflat, Void};
pub use hills::Hills;
pub use random::{position_hash, split_mix};

use crate::chunk::Chunk;
use crate::dimension::Dimension;
use crate::positions::{ChunkPos, SECTION_CELLS};
use crate::section::Section;
use crate::states::StateId;

/// Makes chunks from their positions.
///
/// ```
/// use voxtick_worlds::generators::{Generator, Hills, generate};
/// use voxtick_worlds::{BlockStates, ChunkPos, Dimension};
/// let states = BlockStates::load();
/// let hills = Hills::new(42, &states)?;
/// let chunks = generate(&hills, &[ChunkPos::new(0, 0), ChunkPos::new(1, 0)], &Dimension::overworld());
/// assert_eq!(chunks[1].position(), ChunkPos::new(1, 0));
/// # Ok::<(), voxtick_worlds::ParseStateError>(())
/// ```
pub trait Generator: Sync {
    /// The chunk at `position`, without light. The same every time.
    fn generate(&self, position: ChunkPos, dimension: &Dimension) -> Chunk;
}

/// The chunks at `positions`, in that order, generated in parallel on the current rayon pool.
pub fn generate(generator: &dyn Generator, positions: &[ChunkPos], dimension: &Dimension) -> Vec<Chunk> {
    positions.par_iter().map(|&position| generator.generate(position, dimension)).collect()
}

/// The positions of a square of `edge` x `edge` chunks around the origin, ascending.
#[must_use]
pub fn square(edge: u16) -> Vec<ChunkPos> {
    let low = -i32::from(edge / 2);
    let range = low..low + i32::from(edge);
    range.clone().flat_map(|x| range.clone().map(move |z| ChunkPos::new(x, z))).collect()
}

/// A chunk under construction: palette indices of all cells, lowest section first.
struct Canvas<'a> {
    palette: &'a [StateId],
    min_y: i32,
    sections: Vec<[u16; SECTION_CELLS]>,
}

impl<'a> Canvas<'a> {
    /// All cells have the first state of `palette`.
    fn new(palette: &'a [StateId], dimension: &Dimension) -> Canvas<'a> {
        Canvas {
            palette,
            min_y: dimension.min_y(),
            sections: vec![[0; SECTION_CELLS]; dimension.section_count()],
        }
    }

    /// The cell at height `y` of column `z * 16 + x`, or `None` outside the build range.
    fn cell(&mut self, column: usize, y: i32) -> Option<&mut u16> {
        let height = usize::try_from(y - self.min_y).ok()?;
        let section = self.sections.get_mut(height / 16)?;
        Some(&mut section[(height % 16) * 256 + column])
    }

    /// Gives the cells at heights `from..to` of a column the palette entry `entry`; what lies outside the build range
    /// is left out.
    fn fill(&mut self, column: usize, from: i32, to: i32, entry: u16) {
        for y in from.max(self.min_y)..to {
            match self.cell(column, y) {
                Some(cell) => *cell = entry,
                None => break,
            }
        }
    }

    fn into_chunk(self, position: ChunkPos) -> Chunk {
        let sections = self.sections.iter().map(|indices| {
            Section::from_palette(self.palette, indices).unwrap_or(Section::uniform(self.palette[0]))
        });
        let mut chunk = Chunk::from_sections(position, self.min_y / 16, sections.collect());
        chunk.modified = true;
        chunk
    }
}
