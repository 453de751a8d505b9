//! Block light of one section that nothing enters or leaves.

use voxtick_worlds::{CellMask, NIBBLE_BYTES, SECTION_CELLS};

/// Lights one closed section: cells of `opaque` take no light, every other step costs 1.
///
/// `sources` are cells (`y * 256 + z * 16 + x`) with their levels, 1 to 15; a source in an opaque cell lights its
/// neighbours all the same. `levels` gets two cells a byte, the lower half first. `queue` is scratch, kept by the
/// caller so that many sections share one allocation.
///
/// ```
/// use voxtick_light::reference::light_section;
/// let mut levels = [0; 2048];
/// light_section(&[0; 64], &[(0, 15)], &mut Vec::new(), &mut levels);
/// assert_eq!(levels[0], 0xEF, "15 at the source, 14 beside it");
/// ```
pub fn light_section(
    opaque: &CellMask,
    sources: &[(u16, u8)],
    queue: &mut Vec<u16>,
    levels: &mut [u8; NIBBLE_BYTES],
) {
    let mut level = [0_u8; SECTION_CELLS];
    queue.clear();
    for &(cell, brightness) in sources {
        level[usize::from(cell)] = brightness;
        queue.push(cell);
    }
    let is_opaque = |cell: usize| opaque[cell / 64] >> (cell % 64) & 1 != 0;
    let mut next = 0;
    while let Some(&cell) = queue.get(next) {
        next += 1;
        let cell = usize::from(cell);
        let entering = level[cell].saturating_sub(1);
        if entering == 0 {
            continue;
        }
        let mut spread = |inside: bool, neighbour: usize| {
            if inside && level[neighbour] < entering && !is_opaque(neighbour) {
                level[neighbour] = entering;
                queue.push(neighbour as u16);
            }
        };
        spread(cell >= 256, cell.wrapping_sub(256));
        spread(cell < SECTION_CELLS - 256, cell + 256);
        spread(cell & 0xF0 != 0, cell.wrapping_sub(16));
        spread(cell & 0xF0 != 0xF0, cell + 16);
        spread(cell & 0xF != 0, cell.wrapping_sub(1));
        spread(cell & 0xF != 0xF, cell + 1);
    }
    for (byte, pair) in levels.iter_mut().zip(level.chunks_exact(2)) {
        *byte = pair[0] | pair[1] << 4;
    }
}
