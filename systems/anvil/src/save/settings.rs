//! What the files of a save say of its dimensions: the build range, and whether there is a sky.
//!
//! Since Minecraft Java 1.16 `level.dat` names a type for each dimension, or describes it in place; a data pack may
//! define types, and its file (`data/<namespace>/dimension_type/<name>.json`) comes before the game's own. Later packs
//! of the list of enabled ones come before earlier ones.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use voxtick_worlds::{Dimension, DimensionError};

use super::SaveDimension;
use crate::Limits;
use crate::compression::{Compression, InflateError, Inflater};
use crate::nbt::{Nbt, NbtError, Tag, Tape};

/// The most bytes that are read of one such file, a zipped pack included.
const LARGEST_FILE: u64 = 64 << 20;

/// Why the settings of a dimension cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The file is larger than any such file should be.
    #[error("{} is larger than {LARGEST_FILE} bytes and is not read; take it out of the save", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not compressed as it says.
    #[error("{}: {source}; put level.dat_old in its place", path.display())]
    Inflate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: InflateError,
    },
    /// The file is no NBT.
    #[error("{}: {source}; put level.dat_old in its place", path.display())]
    Nbt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: NbtError,
    },
    /// The file is no JSON.
    #[error("{}: {source}; mend the data pack", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A setting is there and is none.
    #[error("{}: `{field}` is not {wanted}", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The setting.
        field: &'static str,
        /// What it has to be.
        wanted: &'static str,
    },
    /// The build range is none.
    #[error("{}: {source}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: DimensionError,
    },
    /// Nothing defines the type of the dimension.
    #[error(
        "{}: dimension type `{name}` is neither the game's nor of an enabled data pack; put the pack back into datapacks/",
        path.display()
    )]
    UnknownType {
        /// The level.dat that names it.
        path: PathBuf,
        /// The type.
        name: String,
    },
    /// A data pack that may define the type is a zip file, which is not read.
    #[error("{} may define dimension types and is zipped; unpack it into a folder of the same name without .zip", path.display())]
    Zipped {
        /// The pack.
        path: PathBuf,
    },
}

/// Build range and sky as far as a file tells them.
struct Settings {
    min_y: i32,
    height: i32,
    has_sky: Option<bool>,
}

/// What the save that `folder` lies in says of a dimension; `None` where it has the game's own settings or says nothing.
pub(super) fn read_settings(
    folder: &Path,
    dimension: SaveDimension,
) -> Result<Option<Dimension>, SettingsError> {
    // From the deepest folder of regions it is four up to the save's.
    let Some(save) = folder.ancestors().take(5).find(|folder| folder.join("level.dat").is_file()) else {
        return Ok(None);
    };
    let path = save.join("level.dat");
    let stored = read(&path)?;
    let gzip_or_plain =
        if stored.starts_with(&[0x1F, 0x8B]) { Compression::Gzip } else { Compression::Uncompressed };
    let (limits, mut plain, mut tape) = (Limits::default(), Vec::new(), Tape::new());
    Inflater::new()
        .inflate(gzip_or_plain, &stored, limits.inflated, &mut plain)
        .map_err(|source| SettingsError::Inflate { path: path.clone(), source })?;
    let root = tape
        .parse(&plain, &limits.nbt)
        .map_err(|source| SettingsError::Nbt { path: path.clone(), source })?;
    let game = dimension.dimension();
    let Some(data) = root.field("Data") else { return Ok(None) };
    let kind = ["WorldGenSettings", "dimensions", game.name(), "type"]
        .iter()
        .try_fold(data, |value, name| value.field(name));
    let Some(kind) = kind else { return Ok(None) };
    let settings = match (kind.tag(), kind.text()) {
        (Tag::Compound, _) => described_in_place(&kind, &path)?,
        (_, Some(name)) => match defined_by_a_pack(save, &data, &name)? {
            Some(settings) => settings,
            None => match games_own(&name) {
                Some(own) if own.name() == game.name() => return Ok(None),
                Some(own) => {
                    let height = own.max_y() - own.min_y();
                    Settings { min_y: own.min_y(), height, has_sky: Some(own.has_sky()) }
                }
                None => return Err(SettingsError::UnknownType { path, name: name.into_owned() }),
            },
        },
        _ => return Err(SettingsError::Field { path, field: "type", wanted: "a name or a description" }),
    };
    let has_sky = settings.has_sky.unwrap_or(game.has_sky());
    Dimension::new(game.name(), settings.min_y, settings.height, has_sky)
        .map(Some)
        .map_err(|source| SettingsError::Range { path, source })
}

/// The game's own types.
fn games_own(name: &str) -> Option<Dimension> {
    match name {
        "minecraft:overworld" | "minecraft:overworld_caves" => Some(Dimension::overworld()),
        "minecraft:the_nether" => Some(Dimension::nether()),
        "minecraft:the_end" => Some(Dimension::end()),
        _ => None,
    }
}

/// A type written out in level.dat; 1.16 knew no heights, all were 0 to 255.
fn described_in_place(kind: &Nbt<'_>, path: &Path) -> Result<Settings, SettingsError> {
    let number = |field: &'static str, default: i32| match kind.field(field) {
        None => Ok(default),
        Some(value) => value.integer().and_then(|number| i32::try_from(number).ok()).ok_or_else(|| {
            SettingsError::Field { path: path.to_path_buf(), field, wanted: "a whole number" }
        }),
    };
    let has_sky = kind.field("has_skylight").map(|_| number("has_skylight", 1)).transpose()?;
    Ok(Settings {
        min_y: number("min_y", 0)?,
        height: number("height", 256)?,
        has_sky: has_sky.map(|value| value != 0),
    })
}

/// A type that an enabled data pack defines.
fn defined_by_a_pack(save: &Path, data: &Nbt<'_>, name: &str) -> Result<Option<Settings>, SettingsError> {
    let (namespace, rest) = name.split_once(':').unwrap_or(("minecraft", name));
    let file = Path::new("data").join(namespace).join("dimension_type").join(format!("{rest}.json"));
    let is_inside = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside(&file) {
        return Ok(None);
    }
    for pack in enabled_packs(save, data)?.iter().rev() {
        let folder = save.join("datapacks").join(pack);
        if !is_inside(Path::new(pack)) || !folder.exists() {
            continue;
        }
        if folder.is_file() {
            // The names of a zip file's entries stand in it as they are.
            let wanted: &[u8] = b"/dimension_type/";
            if read(&folder)?.windows(wanted.len()).any(|bytes| bytes == wanted) {
                return Err(SettingsError::Zipped { path: folder });
            }
            continue;
        }
        let path = folder.join(&file);
        if path.is_file() {
            return described_in_a_file(path).map(Some);
        }
    }
    Ok(None)
}

/// The packs of the folder `datapacks` that are enabled, the strongest last; all, by name, where level.dat does not say.
fn enabled_packs(save: &Path, data: &Nbt<'_>) -> Result<Vec<String>, SettingsError> {
    if let Some(enabled) = data.field("DataPacks").and_then(|packs| packs.field("Enabled")) {
        let names = enabled.items().filter_map(|pack| pack.text());
        return Ok(names.filter_map(|name| name.strip_prefix("file/").map(str::to_owned)).collect());
    }
    let folder = save.join("datapacks");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |source| SettingsError::Io { path: folder.clone(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

fn described_in_a_file(path: PathBuf) -> Result<Settings, SettingsError> {
    let text = read(&path)?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|source| SettingsError::Json { path: path.clone(), source })?;
    let number = |field: &'static str, default: i32| match value.get(field) {
        None => Ok(default),
        Some(value) => value
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| SettingsError::Field { path: path.clone(), field, wanted: "a whole number" }),
    };
    let has_sky = match value.get("has_skylight") {
        None => None,
        Some(Value::Bool(has_sky)) => Some(*has_sky),
        Some(_) => {
            return Err(SettingsError::Field { path, field: "has_skylight", wanted: "true or false" });
        }
    };
    Ok(Settings { min_y: number("min_y", 0)?, height: number("height", 256)?, has_sky })
}

/// All bytes of a file that is not larger than such files are.
fn read(path: &Path) -> Result<Vec<u8>, SettingsError> {
    let failed = |source| SettingsError::Io { path: path.to_path_buf(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(SettingsError::TooLarge { path: path.to_path_buf() });
    }
    Ok(bytes)
}
