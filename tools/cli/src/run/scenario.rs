//! Scenario files: what a run simulates, as TOML.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The scenarios that come with the program, by name.
pub(crate) const BUILT_IN: [(&str, &str); 5] = [
    ("factory", include_str!("../../../../worlds/scenarios/factory.toml")),
    ("item-rain", include_str!("../../../../worlds/scenarios/item-rain.toml")),
    ("long-belts", include_str!("../../../../worlds/scenarios/long-belts.toml")),
    ("light-show", include_str!("../../../../worlds/scenarios/light-show.toml")),
    ("real-world", include_str!("../../../../worlds/scenarios/real-world.toml")),
];

/// A scenario file is larger than this only by mistake.
const LARGEST_FILE: u64 = 1 << 20;

/// What a run simulates. Every key may be left out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scenario {
    /// A name for the reports. Defaults to `unnamed`.
    pub(crate) name: String,
    /// Seed of the world and of all that is thrown into it. Defaults to 1.
    pub(crate) seed: u64,
    /// Ticks to run. Defaults to 200.
    pub(crate) ticks: u64,
    /// `"sprint"`, or ticks a second. Defaults to `"sprint"`.
    pub(crate) rate: Rate,
    /// The world.
    pub(crate) world: WorldSettings,
    /// Pipes and the items in them.
    pub(crate) pipes: PipeSettings,
    /// Dropped items.
    pub(crate) items: ItemSettings,
    /// Blocks that change every tick.
    pub(crate) edits: EditSettings,
}

/// How fast ticks follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Rate {
    /// As fast as they can.
    #[default]
    Sprint,
    /// So many a second.
    PerSecond(f64),
}

/// Which world a scenario runs in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WorldSettings {
    /// `hills`, `superflat`, `checker` or `void`. Defaults to `hills`. Not used where a world is loaded.
    pub(crate) generator: GeneratorKind,
    /// Chunks along one edge of the generated square, 1 to 256. Defaults to 16.
    pub(crate) size: u16,
    /// A save folder, region folder or .mca file to load instead, relative to the scenario file. `--world` wins.
    pub(crate) path: Option<PathBuf>,
    /// True where the scenario makes sense in a loaded world only. Defaults to false.
    pub(crate) needs_path: bool,
    /// How many chunks are loaded at the most, the regions nearest to the origin first. Defaults to 4,096.
    pub(crate) max_chunks: u32,
}

/// The generators by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GeneratorKind {
    /// Hills, caves, water, trees, torches.
    #[default]
    Hills,
    /// Bedrock, dirt, grass.
    Superflat,
    /// Stone and air in turn up to y = 64.
    Checker,
    /// Nothing.
    Void,
}

/// Pipes: straight lines over the loaded area, stacked upwards where one layer is full, each fed at its start and
/// emptied at its end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PipeSettings {
    /// Items on their way at the start; there are as many lines as these need. Defaults to 0: no pipes.
    pub(crate) items: u32,
    /// Steps of each line, 1 to 100,000. Defaults to 100.
    pub(crate) length: u32,
    /// Steps from one junction to the next; 0: none between the ends. Defaults to 20.
    pub(crate) junction_every: u32,
    /// Blocks an item moves in a tick, above 0, at most 0.25. Defaults to 0.125.
    pub(crate) speed: f64,
    /// Ticks between two items that enter a line, 1 to 1,000. Defaults to 3.
    pub(crate) period: u32,
}

/// Dropped items.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ItemSettings {
    /// How many are dropped before the first tick. Defaults to 0.
    pub(crate) count: u32,
    /// Every so many ticks a share of the items is thrown up again, so that there is always something in the air;
    /// 0: never. Defaults to 40.
    pub(crate) throw_every: u32,
    /// How far above the ground they appear, in blocks. Defaults to 12.
    pub(crate) height: f64,
}

/// Blocks that change every tick and change back in the next, so that a run can last.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EditSettings {
    /// Blocks that change in a tick. Defaults to 0.
    pub(crate) blocks: u32,
    /// What is placed, in turn. Defaults to `["torch", "stone", "air"]`.
    pub(crate) states: Vec<String>,
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            name: "unnamed".to_owned(),
            seed: 1,
            ticks: 200,
            rate: Rate::Sprint,
            world: WorldSettings::default(),
            pipes: PipeSettings::default(),
            items: ItemSettings::default(),
            edits: EditSettings::default(),
        }
    }
}

impl Default for WorldSettings {
    fn default() -> WorldSettings {
        WorldSettings {
            generator: GeneratorKind::Hills,
            size: 16,
            path: None,
            needs_path: false,
            max_chunks: 4096,
        }
    }
}

impl Default for PipeSettings {
    fn default() -> PipeSettings {
        PipeSettings { items: 0, length: 100, junction_every: 20, speed: 0.125, period: 3 }
    }
}

impl Default for ItemSettings {
    fn default() -> ItemSettings {
        ItemSettings { count: 0, throw_every: 40, height: 12.0 }
    }
}

impl Default for EditSettings {
    fn default() -> EditSettings {
        EditSettings { blocks: 0, states: ["torch", "stone", "air"].map(str::to_owned).to_vec() }
    }
}

/// Why a scenario cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ScenarioError {
    /// Neither a file nor a built-in name.
    #[error(
        "{name}: there is no such file and no built-in scenario of that name{hint}; built in are {known}"
    )]
    Unknown { name: String, hint: String, known: String },
    /// The file cannot be read.
    #[error("{}: {cause}; check the path and its permissions", path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    /// The file is no scenario.
    #[error("{}: a scenario file has at most {LARGEST_FILE} bytes, this one {size}", path.display())]
    TooLarge { path: PathBuf, size: u64 },
    /// The text is no scenario.
    #[error("{place}: {message}")]
    Invalid { place: String, message: String },
}

impl Scenario {
    /// Reads the scenario `name`: a file where one of that name exists, else a built-in one. Paths in it become
    /// relative to the working folder.
    pub(crate) fn find(name: &str) -> Result<Scenario, ScenarioError> {
        let path = Path::new(name);
        if path.is_file() {
            let unreadable = |cause| ScenarioError::Unreadable { path: path.to_owned(), cause };
            let size = fs::metadata(path).map_err(unreadable)?.len();
            if size > LARGEST_FILE {
                return Err(ScenarioError::TooLarge { path: path.to_owned(), size });
            }
            let mut scenario = Scenario::parse(&fs::read_to_string(path).map_err(unreadable)?, name)?;
            if let (Some(world), Some(folder)) = (&mut scenario.world.path, path.parent()) {
                *world = folder.join(&world);
            }
            return Ok(scenario);
        }
        match BUILT_IN.iter().find(|built_in| built_in.0 == name) {
            Some((name, text)) => Scenario::parse(text, name),
            None => Err(ScenarioError::Unknown {
                name: name.to_owned(),
                hint: nearest(name, BUILT_IN.iter().map(|built_in| built_in.0))
                    .map_or_else(String::new, |near| format!(", did you mean `{near}`?")),
                known: BUILT_IN.map(|built_in| built_in.0).join(", "),
            }),
        }
    }

    /// Reads a scenario from its text; `source` names it in errors.
    fn parse(text: &str, source: &str) -> Result<Scenario, ScenarioError> {
        let scenario: Scenario = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start.min(text.len())]);
            let line = before.matches('\n').count() + 1;
            ScenarioError::Invalid { place: format!("{source}:{line}"), message: explain(error.message()) }
        })?;
        scenario.check().map_err(|message| ScenarioError::Invalid { place: source.to_owned(), message })?;
        Ok(scenario)
    }

    /// Values that have the right type and make no sense.
    fn check(&self) -> Result<(), String> {
        let Scenario { world, pipes, items, .. } = self;
        if !(1..=256).contains(&world.size) {
            return Err(format!("world.size is {}; it may be 1 to 256 chunks", world.size));
        }
        if !(1..=100_000).contains(&pipes.length) {
            return Err(format!("pipes.length is {}; it may be 1 to 100000 steps", pipes.length));
        }
        if !(1..=1_000).contains(&pipes.period) {
            return Err(format!("pipes.period is {}; it may be 1 to 1000 ticks", pipes.period));
        }
        if !(pipes.speed > 0.0 && pipes.speed <= 0.25) {
            return Err(format!("pipes.speed is {}; it may be above 0 and at most 0.25", pipes.speed));
        }
        if pipes.items > 100_000_000 || items.count > 20_000_000 {
            return Err("at most 100000000 items in pipes and 20000000 dropped items".to_owned());
        }
        if !(0.0..=1_000.0).contains(&items.height) {
            return Err(format!("items.height is {}; it may be 0 to 1000 blocks", items.height));
        }
        if self.edits.blocks > 0 && self.edits.states.is_empty() {
            return Err("edits.states is empty, so there is nothing to place; name a state".to_owned());
        }
        if self.edits.blocks > 1_000_000 {
            return Err(format!("edits.blocks is {}; it may be at most 1000000", self.edits.blocks));
        }
        Ok(())
    }
}

impl Rate {
    /// A rate from its text: `sprint`, or a number of ticks a second.
    pub(crate) fn parse(text: &str) -> Result<Rate, String> {
        if text == "sprint" {
            return Ok(Rate::Sprint);
        }
        text.parse()
            .map_err(|_| format!("the rate is `sprint` or ticks a second, not `{text}`"))
            .and_then(Rate::checked)
    }

    fn checked(ticks_per_second: f64) -> Result<Rate, String> {
        if (0.01..=100_000.0).contains(&ticks_per_second) {
            Ok(Rate::PerSecond(ticks_per_second))
        } else {
            Err(format!("{ticks_per_second} ticks a second is out of bounds: 0.01 to 100000"))
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "the rate is \"sprint\" or a number of ticks a second")]
        enum Written {
            Word(String),
            Whole(u32),
            Number(f64),
        }
        match Written::deserialize(deserializer)? {
            Written::Word(word) => Rate::parse(&word),
            Written::Whole(number) => Rate::checked(number.into()),
            Written::Number(number) => Rate::checked(number),
        }
        .map_err(serde::de::Error::custom)
    }
}

/// The parser's message, with the nearest known key where it names an unknown one.
fn explain(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(unknown) if message.starts_with("unknown field") => {
            let known: Vec<&str> = quoted.collect();
            match nearest(unknown, known.iter().copied()) {
                Some(near) => format!("unknown key `{unknown}`, did you mean `{near}`?"),
                None => format!("unknown key `{unknown}`; known here are {}", known.join(", ")),
            }
        }
        _ => message.lines().collect::<Vec<_>>().join("; "),
    }
}

/// The name nearest to `name`, where one is near at all.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|near| (strsim::jaro_winkler(name, near), near))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, near)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Scenario::parse(text, "test.toml").expect_err("must be refused").to_string()
    }

    #[test]
    fn every_built_in_scenario_can_be_read_and_is_named_as_its_file() {
        for (name, _) in BUILT_IN {
            assert_eq!(Scenario::find(name).expect("valid").name, name);
        }
    }

    #[test]
    fn the_file_of_every_key_says_the_defaults_and_leaves_no_key_out() {
        let text = include_str!("../../../../worlds/scenarios/every-key.toml");
        let scenario = Scenario::parse(text, "every-key.toml").expect("valid");
        assert_eq!(scenario, Scenario::default());
        // The names of all fields, as the debug form writes them.
        let fields = format!("{scenario:?}");
        for field in
            fields.split(['{', ',']).filter_map(|part| part.split_once(':')).map(|part| part.0.trim())
        {
            let (key, table) = (format!("{field} ="), format!("[{field}]"));
            assert!(text.contains(&key) || text.contains(&table), "{field} is not in every-key.toml");
        }
    }

    #[test]
    fn an_empty_scenario_is_the_defaults() {
        assert_eq!(Scenario::parse("", "test.toml").expect("valid"), Scenario::default());
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_known_key() {
        assert_eq!(
            refusal("name = \"a\"\n\n[pipes]\nitem = 7\n"),
            "test.toml:4: unknown key `item`, did you mean `items`?"
        );
        assert!(refusal("wings = 2").contains("known here are"));
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for (text, part) in [
            ("[world]\nsize = 0", "world.size"),
            ("[pipes]\nlength = 0", "pipes.length"),
            ("[pipes]\nperiod = 0", "pipes.period"),
            ("[pipes]\nspeed = nan", "pipes.speed"),
            ("[items]\nheight = inf", "items.height"),
            ("[items]\ncount = 4000000000", "20000000"),
            ("[edits]\nblocks = 1\nstates = []", "edits.states"),
            ("rate = 0", "ticks a second"),
            ("rate = true", "sprint"),
            ("ticks = -1", "test.toml:1"),
            ("= =", "test.toml:1"),
        ] {
            let message = refusal(text);
            assert!(message.contains(part), "{text}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }

    #[test]
    fn a_misspelt_scenario_is_told_what_is_near() {
        let message = Scenario::find("factry").expect_err("no such scenario").to_string();
        assert!(message.contains("did you mean `factory`?"), "{message}");
    }

    #[test]
    fn rates_are_a_word_or_a_number() {
        assert_eq!(Rate::parse("sprint"), Ok(Rate::Sprint));
        assert_eq!(Rate::parse("20"), Ok(Rate::PerSecond(20.0)));
        assert!(Rate::parse("-1").is_err() && Rate::parse("fast").is_err() && Rate::parse("nan").is_err());
        assert_eq!(Scenario::parse("rate = 2.5", "a").expect("valid").rate, Rate::PerSecond(2.5));
    }
}
