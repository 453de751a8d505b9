//! File names of regions and of chunks that have a file of their own.

use super::store::RegionFormat;
use std::path::Path;
use voxtick_worlds::{ChunkPos, RegionPos};

/// Why a path names no region file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} is no region file name; they are like r.-1.0.mca or r.-1.0.linear")]
pub struct RegionNameError {
    /// The path.
    pub path: String,
}

/// The region that a file holds, told by its name.
///
/// ```
/// use std::path::Path;
/// use voxtick_anvil::region::region_of_path;
/// use voxtick_worlds::RegionPos;
/// assert_eq!(region_of_path(Path::new("save/region/r.-1.2.mca")), Ok(RegionPos::new(-1, 2)));
/// assert_eq!(region_of_path(Path::new("r.7.0.linear")), Ok(RegionPos::new(7, 0)));
/// assert!(region_of_path(Path::new("r.1.mca")).is_err());
/// ```
///
/// # Errors
/// If the name is not `r.X.Z.mca`, `r.X.Z.linear` or `r.X.Z.linearv2` with numbers that a world can have.
pub fn region_of_path(path: &Path) -> Result<RegionPos, RegionNameError> {
    parse(path).ok_or_else(|| RegionNameError { path: path.display().to_string() })
}

fn parse(path: &Path) -> Option<RegionPos> {
    let name = path.file_name()?.to_str()?;
    let (place, ending) = name.strip_prefix("r.")?.rsplit_once('.')?;
    let (x, z) = place.split_once('.').filter(|_| matches!(ending, "mca" | "linear" | "linearv2"))?;
    // Chunk coordinates are 32 bits, so region coordinates are 27.
    let number =
        |text: &str| text.parse::<i32>().ok().filter(|number| (-(1 << 26)..1 << 26).contains(number));
    Some(RegionPos::new(number(x)?, number(z)?))
}

/// The file name of a region in a format.
#[must_use]
pub fn region_file_name(region: RegionPos, format: RegionFormat) -> String {
    format!("r.{}.{}.{}", region.x, region.z, format.ending())
}

/// The name of the file that holds a chunk too large for its region, beside the region file.
#[must_use]
pub fn external_file_name(chunk: ChunkPos) -> String {
    format!("c.{}.{}.mcc", chunk.x, chunk.z)
}
