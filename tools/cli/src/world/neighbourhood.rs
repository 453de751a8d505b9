//! One region of a save at a time, with the ring of chunks around it that its light may come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxtick::anvil::files::Access;
use voxtick::anvil::region::{OpenRegionError, open_region};
use voxtick::anvil::save::SettingsError;
use voxtick::anvil::{Limits, Save, load_chunks, load_region};
use voxtick::worlds::{BlockStates, ChunkPos, Dimension, RegionPos, World};

/// The finished chunks of a region and of the ring around it, as a world.
pub(super) struct Neighbourhood {
    pub(super) region: RegionPos,
    pub(super) world: World,
    /// Chunks of the region, not of the ring, that could not be loaded.
    pub(super) damage: Vec<String>,
}

/// Loads neighbourhoods, one after the other.
pub(super) struct Regions<'a> {
    dimension: Dimension,
    states: Arc<BlockStates>,
    files: BTreeMap<RegionPos, &'a Path>,
}

impl<'a> Regions<'a> {
    pub(super) fn of(save: &'a Save, states: Arc<BlockStates>) -> Result<Regions<'a>, SettingsError> {
        Ok(Regions {
            dimension: save.build_range(&states)?,
            states,
            files: save.regions().iter().map(|(region, file)| (*region, PathBuf::as_path(file))).collect(),
        })
    }

    pub(super) fn states(&self) -> &Arc<BlockStates> {
        &self.states
    }

    /// Loads a region of the save with its ring, in parallel on the current rayon pool.
    ///
    /// A chunk of the ring that cannot be loaded counts as not there: it is told when its own region comes.
    pub(super) fn load(&self, region: RegionPos) -> Result<Neighbourhood, OpenRegionError> {
        let limits = Limits::default();
        let mut world = World::new(self.dimension.clone(), self.states.clone());
        let mut damage = Vec::new();
        if let Some(file) = self.files.get(&region) {
            let opened = open_region(file, region, Access::Read)?;
            let loaded = load_region(&*opened, &self.dimension, &self.states, &limits);
            damage.extend(loaded.failures.iter().map(ToString::to_string));
            loaded.chunks.into_iter().filter(|chunk| chunk.status.is_full()).for_each(|chunk| {
                world.insert_chunk(chunk);
            });
        }
        let mut ring: BTreeMap<RegionPos, Vec<ChunkPos>> = BTreeMap::new();
        for position in ring_around(region) {
            ring.entry(position.region()).or_default().push(position);
        }
        for (neighbour, positions) in ring {
            let Some(file) = self.files.get(&neighbour) else { continue };
            let opened = open_region(file, neighbour, Access::Read)?;
            let loaded = load_chunks(&*opened, &positions, &self.dimension, &self.states, &limits);
            loaded.chunks.into_iter().filter(|chunk| chunk.status.is_full()).for_each(|chunk| {
                world.insert_chunk(chunk);
            });
        }
        Ok(Neighbourhood { region, world, damage })
    }
}

/// The chunks that touch a region from outside.
fn ring_around(region: RegionPos) -> impl Iterator<Item = ChunkPos> {
    let corner = region.checked_chunk(0);
    let edge = -1..=32;
    edge.clone()
        .flat_map(move |x| edge.clone().map(move |z| (x, z)))
        .filter(|&(x, z)| x == -1 || x == 32 || z == -1 || z == 32)
        .filter_map(move |(x, z)| corner?.checked_offset(x, z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_touches_the_region_and_lies_outside_it() {
        let region = RegionPos::new(-1, 2);
        let ring: Vec<ChunkPos> = ring_around(region).collect();
        assert_eq!(ring.len(), 4 * 32 + 4);
        assert!(ring.iter().all(|chunk| chunk.region() != region));
        assert!(ring.contains(&ChunkPos::new(0, 64)) && ring.contains(&ChunkPos::new(-33, 63)));
    }
}
