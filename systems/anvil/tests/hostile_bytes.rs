//! Bytes that nobody meant well: no panic, no hang, no large allocation.

#[path = "support/made.rs"]
mod made;
#[path = "support/real.rs"]
mod real;

use made::{RegionBytes, chunk_nbt, empty_chunk};
use proptest::prelude::*;
use real::region_1_19_4;
use std::sync::{Arc, LazyLock};
use voxtick_anvil::compression::{Compression, Inflater};
use voxtick_anvil::nbt::{Nbt, NbtError, NbtLimits, Tape, decode_text, encode_text};
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_anvil::{ChunkDecoder, Limits, load_region};
use voxtick_worlds::{BlockStates, ChunkPos, Dimension, RegionPos};

static STATES: LazyLock<Arc<BlockStates>> = LazyLock::new(BlockStates::load);

/// The NBT of a real chunk.
static REAL: LazyLock<(ChunkPos, Vec<u8>)> = LazyLock::new(|| {
    let region = Region::open_as(region_1_19_4(), RegionPos::new(0, 0)).expect("the region opens");
    let mut stored = StoredChunk::default();
    let position = region.chunks().next().expect("it has chunks");
    assert!(region.read(position, &mut stored, &Limits::default()).expect("the chunk is whole"));
    let mut nbt = Vec::new();
    Inflater::new()
        .inflate(stored.compression(), stored.payload(), 64 << 20, &mut nbt)
        .expect("the chunk inflates");
    (position, nbt)
});

fn decoder() -> ChunkDecoder {
    ChunkDecoder::new(Dimension::overworld(), STATES.clone(), Limits::default())
}

/// Visits every value and calls every accessor.
fn visit(value: Nbt<'_>) -> usize {
    let _ = (value.integer(), value.text(), value.byte_array(), value.int_array(), value.long_array());
    let _ = (value.element_count(), value.range(), value.named_range(), value.payload());
    let fields: usize = value.fields().map(|(_, field)| visit(field)).sum();
    let items: usize = value.items().map(visit).sum();
    1 + fields + items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes_are_no_nbt_or_some(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut tape = Tape::new();
        let bytes = [&[10, 0, 0], bytes.as_slice()].concat();
        if let Ok(root) = tape.parse(&bytes, &NbtLimits::default()) {
            prop_assert!(visit(root) <= bytes.len());
        }
    }

    #[test]
    fn random_small_tags_are_no_nbt_or_some(bytes in proptest::collection::vec(0_u8..13, 0..300)) {
        let mut tape = Tape::new();
        let bytes = [&[10, 0, 0], bytes.as_slice()].concat();
        if let Ok(root) = tape.parse(&bytes, &NbtLimits::default()) {
            prop_assert!(visit(root) <= bytes.len());
        }
    }

    #[test]
    fn random_payloads_never_panic(scheme in 0_usize..4, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut out = Vec::new();
        let _ = Inflater::new().inflate(Compression::ALL[scheme], &bytes, 1 << 16, &mut out);
        prop_assert!(out.len() <= 1 << 16);
    }

    #[test]
    fn random_headers_and_records_never_panic(
        entries in proptest::collection::vec((0_usize..1024, 0_u32..12, any::<u8>()), 0..20),
        body in proptest::collection::vec(any::<u8>(), 0..2000),
        cut in 0_usize..30_000,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut region = RegionBytes::new();
        for part in 0..6 {
            region.chunk(part, part as u8, &body);
        }
        for (entry, sector, sectors) in &entries {
            region.locate(*entry, *sector, *sectors);
        }
        region.bytes.truncate(cut);
        let region = Region::open(region.write(folder.path(), "r.0.0.mca")).expect("anything opens");
        let load = load_region(&region, &Dimension::overworld(), &STATES, &Limits::default());
        prop_assert_eq!(load.chunks.len() + load.failures.len(), region.chunks().count());
    }

    #[test]
    fn text_round_trips(text in any::<String>()) {
        let bytes = encode_text(&text);
        let again = decode_text(&bytes);
        prop_assert_eq!(again.as_deref(), Some(text.as_str()));
    }

    #[test]
    fn text_of_random_bytes_is_text_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Some(text) = decode_text(&bytes) {
            let again = encode_text(&text);
            let same = decode_text(&again);
            prop_assert_eq!(same.as_deref(), Some(&*text));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_real_chunk_with_flipped_bytes_decodes_or_errs(
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (position, nbt) = &*REAL;
        let mut nbt = nbt.clone();
        for (place, value) in flips {
            let place = place.index(nbt.len());
            nbt[place] = value;
        }
        let _ = decoder().decode_nbt(*position, &nbt);
    }

    #[test]
    fn a_small_chunk_with_flipped_bytes_decodes_or_errs(place in any::<proptest::sample::Index>(), value in any::<u8>()) {
        let mut nbt = empty_chunk(0, 0);
        let place = place.index(nbt.len());
        nbt[place] = value;
        let _ = decoder().decode_nbt(ChunkPos::new(0, 0), &nbt);
    }

    #[test]
    fn a_real_chunk_cut_anywhere_is_truncated(place in any::<proptest::sample::Index>()) {
        let (position, nbt) = &*REAL;
        let length = place.index(nbt.len() - 1) + 1;
        prop_assert!(decoder().decode_nbt(*position, &nbt[..length]).is_err() || length + 1 >= nbt.len());
    }
}

#[test]
fn nesting_beyond_the_limit_is_an_error() {
    // A list of lists of lists ...
    let mut bytes = vec![10, 0, 0, 9, 0, 0];
    for _ in 0..100_000 {
        bytes.extend([9, 0, 0, 0, 1]);
    }
    let outcome = Tape::new().parse(&bytes, &NbtLimits::default()).map(|root| root.tag());
    assert!(matches!(outcome, Err(NbtError::TooDeep { limit: 512, .. })), "{outcome:?}");
}

#[test]
fn a_flood_of_values_is_an_error_and_not_an_allocation() {
    // A list of 16 million empty compounds takes 16 MB and would take 400 MB of places.
    let mut bytes = vec![10, 0, 0, 9, 0, 0, 10];
    bytes.extend((16_i32 << 20).to_be_bytes());
    bytes.resize(bytes.len() + (16 << 20), 0);
    let outcome = Tape::new().parse(&bytes, &NbtLimits::default()).map(|root| root.tag());
    assert_eq!(outcome, Err(NbtError::TooManyValues { limit: 4 << 20 }));
}

#[test]
fn lengths_that_cannot_be_are_errors() {
    let document = |body: &[u8]| [&[10, 0, 0], body].concat();
    let error =
        |body: &[u8]| Tape::new().parse(&document(body), &NbtLimits::default()).map(|root| root.tag()).err();
    // An array of -1 bytes, a list of 5 nothings, an array of 2 billion longs.
    assert!(matches!(
        error(&[7, 0, 0, 255, 255, 255, 255]),
        Some(NbtError::ImpossibleLength { count: -1, .. })
    ));
    assert!(matches!(error(&[9, 0, 0, 0, 0, 0, 0, 5]), Some(NbtError::ImpossibleLength { count: 5, .. })));
    assert!(matches!(error(&[12, 0, 0, 127, 255, 255, 255]), Some(NbtError::Truncated { .. })));
    assert!(matches!(error(&[13, 0, 0]), Some(NbtError::UnknownTag { tag: 13, offset: 3 })));
    // The game reads a list of negative length as an empty one.
    assert_eq!(error(&[9, 0, 0, 3, 255, 255, 255, 255, 0]), None);
}

#[test]
fn a_palette_of_more_entries_than_cells_is_refused() {
    let entries = vec![fastnbt::nbt!({ "Name": "minecraft:stone" }); 4097];
    let section = fastnbt::nbt!({ "Y": 0_i8, "block_states": { "palette": fastnbt::Value::List(entries) } });
    let nbt = chunk_nbt(0, 0, fastnbt::Value::List(vec![section]));
    let error = decoder().decode_nbt(ChunkPos::new(0, 0), &nbt).expect_err("too many");
    assert!(error.to_string().contains("4097"), "{error}");
}
