//! The plainest correct way to do what the engine does cleverly: the oracle of the tests and the
//! baseline of the measurements. Nothing here runs in a simulation.

use crate::nearest::{NearestThree, Neighbour, squared_distance};

/// Finds the up to three positions nearest to `query` by looking at every distance in turn.
///
/// ```
/// use voxtick_engine::{nearest_three, reference};
///
/// let (x, y, z) = ([3, 1, 2, 5], [0; 4], [0; 4]);
/// let nearest = reference::nearest_three(&x, &y, &z, [0; 3]);
/// assert_eq!(nearest, nearest_three(&x, &y, &z, [0; 3]));
/// ```
pub fn nearest_three(x: &[i32], y: &[i32], z: &[i32], query: [i32; 3]) -> NearestThree {
    let mut nearest = NearestThree::default();
    for (index, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate() {
        let squared_distance = squared_distance(query, [x, y, z]);
        if nearest.third().is_none_or(|third| squared_distance < third) {
            nearest.insert(Neighbour { index, squared_distance });
        }
    }
    nearest
}
