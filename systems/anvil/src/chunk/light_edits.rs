//! Which light arrays a chunk's document needs that it does not have.
//!
//! A section without an array means something: no block light; for sky light 15 above the topmost section that has
//! one and 0 below it. An array is written only where that, or the one that is there, says something else than the
//! chunk's light, so that light which has not changed leaves the document as it is.

use voxtick_worlds::{ChunkLight, LightChannel, LightLevels};

/// Arrays to write, one place an entry of the document's light.
#[derive(Debug)]
pub(super) struct LightEdits {
    bottom_section: i32,
    block: Vec<Option<LightLevels>>,
    sky: Vec<Option<LightLevels>>,
}

impl LightEdits {
    /// What makes a document with the arrays `before` say what `now` says.
    pub(super) fn between(before: &ChunkLight, now: Option<&ChunkLight>) -> LightEdits {
        let edits = |channel| match now {
            // Light of which nothing is stored, as the sky light of the nether, says nothing.
            Some(now) if now.channel(channel).iter().any(|levels| *levels != LightLevels::Absent) => {
                channel_edits(channel, before, now)
            }
            _ => vec![None; before.channel(channel).len()],
        };
        LightEdits {
            bottom_section: before.bottom_section,
            block: edits(LightChannel::Block),
            sky: edits(LightChannel::Sky),
        }
    }

    /// The arrays to write for a section: block light, sky light.
    pub(super) fn of_section(&self, y: i32) -> [Option<&LightLevels>; 2] {
        let entry = usize::try_from(i64::from(y) - i64::from(self.bottom_section)).unwrap_or(usize::MAX);
        [&self.block, &self.sky].map(|channel| channel.get(entry)?.as_ref())
    }
}

fn channel_edits(channel: LightChannel, before: &ChunkLight, now: &ChunkLight) -> Vec<Option<LightLevels>> {
    let stored = before.channel(channel);
    let levels_now: Vec<LightLevels> =
        (0..stored.len()).map(|entry| meant(channel, now, before.bottom_section + entry as i32)).collect();
    let mut edits: Vec<Option<LightLevels>> = levels_now
        .iter()
        .enumerate()
        .map(|(entry, now)| {
            let same = *now == meant(channel, before, before.bottom_section + entry as i32);
            (!same).then(|| now.clone())
        })
        .collect();
    // An array written above others changes what their absence means.
    let has_array = |entry: usize, edits: &[Option<LightLevels>]| {
        stored[entry] != LightLevels::Absent || edits[entry].is_some()
    };
    let topmost = (0..stored.len()).rev().find(|entry| has_array(*entry, &edits));
    for entry in 0..stored.len() {
        let above = channel == LightChannel::Sky && topmost.is_some_and(|topmost| entry > topmost);
        let absence = LightLevels::Uniform(if above { 15 } else { 0 });
        if !has_array(entry, &edits) && levels_now[entry] != absence {
            edits[entry] = Some(levels_now[entry].clone());
        }
    }
    edits
}

/// What the game reads in a section, its rules for absent arrays applied.
fn meant(channel: LightChannel, light: &ChunkLight, y: i32) -> LightLevels {
    match light.levels(channel, y) {
        None | Some(LightLevels::Absent) => LightLevels::Uniform(light.level(channel, y, 0)),
        Some(levels) => levels.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn light(sky: &[LightLevels]) -> ChunkLight {
        let mut light = ChunkLight::absent(0, sky.len() - 2);
        light.sky = sky.to_vec();
        light
    }

    fn written(edits: &LightEdits) -> Vec<usize> {
        (0..edits.sky.len()).filter(|entry| edits.sky[*entry].is_some()).collect()
    }

    const ABSENT: LightLevels = LightLevels::Absent;
    const DARK: LightLevels = LightLevels::Uniform(0);
    const BRIGHT: LightLevels = LightLevels::Uniform(15);

    fn dim() -> LightLevels {
        let mut nibbles = [0x88; 2048];
        nibbles[7] = 0x81;
        LightLevels::Nibbles(Arc::new(nibbles))
    }

    #[test]
    fn light_that_means_the_same_writes_nothing() {
        let before = light(&[ABSENT, dim(), ABSENT, ABSENT]);
        for now in [
            light(&[ABSENT, dim(), ABSENT, ABSENT]),
            light(&[DARK, dim(), BRIGHT, BRIGHT]),
            light(&[DARK, dim(), BRIGHT, ABSENT]),
        ] {
            assert!(written(&LightEdits::between(&before, Some(&now))).is_empty());
        }
        assert!(written(&LightEdits::between(&before, None)).is_empty());
    }

    #[test]
    fn only_the_section_that_changed_is_written() {
        let before = light(&[DARK, dim(), dim(), ABSENT]);
        let now = light(&[DARK, dim(), LightLevels::Uniform(3), BRIGHT]);
        assert_eq!(written(&LightEdits::between(&before, Some(&now))), [2]);
    }

    #[test]
    fn an_array_above_absent_ones_keeps_them_bright() {
        let before = light(&[DARK, dim(), ABSENT, ABSENT, ABSENT]);
        let now = light(&[DARK, dim(), BRIGHT, LightLevels::Uniform(3), BRIGHT]);
        assert_eq!(written(&LightEdits::between(&before, Some(&now))), [2, 3]);
    }

    #[test]
    fn a_document_without_light_gets_all_that_absence_would_not_say() {
        let before = ChunkLight::absent(0, 2);
        let now = light(&[DARK, dim(), BRIGHT, BRIGHT]);
        assert_eq!(written(&LightEdits::between(&before, Some(&now))), [1, 2, 3]);
        let mut block = ChunkLight::absent(0, 2);
        block.block = vec![DARK, dim(), ABSENT, LightLevels::Uniform(2)];
        let edits = LightEdits::between(&before, Some(&block));
        assert_eq!(edits.of_section(0), [Some(&dim()), None]);
        assert_eq!(edits.of_section(-1), [None, None]);
        assert_eq!(edits.of_section(2), [Some(&LightLevels::Uniform(2)), None]);
        assert_eq!(edits.of_section(900), [None, None]);
    }
}
