//! `voxtick world map`: a picture of a world from above, of one layer, or of its light.

mod colours;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use voxtick::anvil::files::Access;
use voxtick::anvil::region::open_region;
use voxtick::anvil::{Limits, Save, load_region};
use voxtick::worlds::{BlockPos, BlockStates, Chunk, ChunkPos, LightChannel};

use crate::arguments::{MapArguments, MapLight};
use crate::outcome::{Failure, Outcome, complain};
use crate::progress;
use colours::{Palette, Rgb};

/// Blocks along one edge of the picture at the most: 16 regions.
const LARGEST_EDGE: usize = 8192;
/// What is not known is this dark.
const UNKNOWN: Rgb = [12, 12, 16];

/// Runs `voxtick world map`.
pub(crate) fn run(arguments: &MapArguments) -> Result<Outcome, Failure> {
    let states = BlockStates::load();
    let save = Save::open(&arguments.path, arguments.dimension.into(), &states).map_err(Failure::usage)?;
    let dimension = save.build_range(&states).map_err(Failure::usage)?;
    if let Some(y) = arguments.y
        && !dimension.contains_height(y)
    {
        let (low, high) = (dimension.min_y(), dimension.max_y() - 1);
        return Err(Failure::usage(format!(
            "--y {y} lies outside {} (y = {low} to {high})",
            dimension.name()
        )));
    }
    let bar = progress::steps(save.regions().len() as u64, "regions");
    let (mut chunks, mut damaged) = (Vec::new(), 0);
    for (position, file) in save.regions() {
        let region = open_region(file, *position, Access::Read).map_err(Failure::usage)?;
        let loaded = load_region(&*region, &dimension, &states, &Limits::default());
        damaged += loaded.failures.len();
        chunks.extend(loaded.chunks.into_iter().filter(|chunk| chunk.status.is_full()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if damaged > 0 {
        complain(&format!("{damaged} damaged chunks left dark; `voxtick world info` names them"));
    }
    let mut picture = Picture::around(&chunks).map_err(Failure::usage)?;
    let mut palette = Palette::new(&states);
    for chunk in &chunks {
        draw(chunk, arguments, &states, &mut palette, &mut picture);
    }
    picture.shade();
    picture.write(&arguments.out).map_err(|error| {
        Failure::usage(format!("{}: the picture cannot be written: {error}", arguments.out.display()))
    })?;
    complain(&format!(
        "{}: {} x {} blocks, {} finished chunks",
        arguments.out.display(),
        picture.width,
        picture.height,
        chunks.len()
    ));
    Ok(if damaged > 0 { Outcome::Found } else { Outcome::Success })
}

/// Draws the 256 columns of a chunk.
fn draw(
    chunk: &Chunk,
    arguments: &MapArguments,
    states: &BlockStates,
    palette: &mut Palette<'_>,
    picture: &mut Picture,
) {
    for column in 0..256 {
        let (x, z) = (column % 16, column / 16);
        // The layer asked for, or the topmost block that is not air.
        let y = arguments.y.or_else(|| chunk.topmost_block(x, z, states));
        let colour = y.map(|y| match arguments.light {
            // Light is read where one would stand: above the topmost block, or in the layer itself.
            Some(light) => {
                let y = if arguments.y.is_some() { y } else { y + 1 };
                let level = chunk
                    .light
                    .as_ref()
                    .map_or(0, |stored| stored.level(light.channel(), y >> 4, BlockPos::new(x, y, z).cell()));
                colours::light(light.channel(), level)
            }
            None => chunk.block(x, y, z).map_or(UNKNOWN, |state| palette.colour(state)),
        });
        // Only a view of blocks from above has heights that a shade can show.
        let height = if arguments.light.is_none() && arguments.y.is_none() { y } else { None };
        picture.set(chunk.position(), x as usize, z as usize, colour.unwrap_or(UNKNOWN), height);
    }
}

impl MapLight {
    fn channel(self) -> LightChannel {
        match self {
            MapLight::Sky => LightChannel::Sky,
            MapLight::Block => LightChannel::Block,
        }
    }
}

/// One pixel a column, north up.
struct Picture {
    west: i32,
    north: i32,
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
    heights: Vec<Option<i32>>,
}

impl Picture {
    fn around(chunks: &[Chunk]) -> Result<Picture, String> {
        let positions = || chunks.iter().map(Chunk::position);
        let (Some(west), Some(east), Some(north), Some(south)) = (
            positions().map(|chunk| chunk.x).min(),
            positions().map(|chunk| chunk.x).max(),
            positions().map(|chunk| chunk.z).min(),
            positions().map(|chunk| chunk.z).max(),
        ) else {
            return Err("there is no finished chunk to draw".to_owned());
        };
        let edge = |low: i32, high: i32| (i64::from(high) - i64::from(low) + 1) as usize * 16;
        let (width, height) = (edge(west, east), edge(north, south));
        if width > LARGEST_EDGE || height > LARGEST_EDGE {
            return Err(format!(
                "the world is {width} x {height} blocks, a picture at most {LARGEST_EDGE} x {LARGEST_EDGE}; name a single region file"
            ));
        }
        Ok(Picture {
            west,
            north,
            width,
            height,
            pixels: vec![UNKNOWN; width * height],
            heights: vec![None; width * height],
        })
    }

    fn set(&mut self, chunk: ChunkPos, x: usize, z: usize, colour: Rgb, height: Option<i32>) {
        let column = (chunk.x - self.west) as usize * 16 + x;
        let row = (chunk.z - self.north) as usize * 16 + z;
        self.pixels[row * self.width + column] = colour;
        self.heights[row * self.width + column] = height;
    }

    /// Slopes that face north are brighter, those that face south darker.
    fn shade(&mut self) {
        for pixel in self.width..self.pixels.len() {
            if let (Some(here), Some(north)) = (self.heights[pixel], self.heights[pixel - self.width]) {
                let brightness = match here.cmp(&north) {
                    std::cmp::Ordering::Greater => 115,
                    std::cmp::Ordering::Equal => 100,
                    std::cmp::Ordering::Less => 82,
                };
                self.pixels[pixel] =
                    self.pixels[pixel].map(|part| (u32::from(part) * brightness / 100).min(255) as u8);
            }
        }
    }

    fn write(&self, path: &Path) -> Result<(), png::EncodingError> {
        let mut encoder =
            png::Encoder::new(BufWriter::new(File::create(path)?), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()
    }
}
