//! The entities of chunks that the game wrote before 1.17, in the chunks' own records: read, and written as they were.
#![expect(clippy::print_stderr, reason = "says loudly which real files were used")]

use std::path::Path;
use voxtick_anvil::Limits;
use voxtick_anvil::compression::Inflater;
use voxtick_anvil::entities::{EntitiesDocument, StoredEntity, read_entities, write_entities};
use voxtick_anvil::region::{Region, StoredChunk};
use voxtick_worlds::{ItemKinds, RegionPos};

#[test]
fn entities_of_real_chunks_come_out_as_they_were_read() {
    let Some(folder) = std::env::var_os("VOXTICK_DATA") else {
        eprintln!("VOXTICK_DATA is not set: no real entities are at hand");
        return;
    };
    let limits = Limits::default();
    let (mut entities_seen, mut items_seen) = (0, 0);
    for version in ["java-1.13", "java-1.14", "java-1.15", "java-1.16"] {
        let path = Path::new(&folder).join("worlds").join(version).join("r.0.0.mca");
        let region = Region::open_as(&path, RegionPos::new(0, 0)).expect("the region opens");
        let (mut stored, mut inflater) = (StoredChunk::default(), Inflater::new());
        let (mut document, mut kinds) = (Vec::new(), ItemKinds::default());
        let positions: Vec<_> = region.chunks().collect();
        for position in positions {
            assert!(region.read(position, &mut stored, &limits).expect("sound"));
            inflater
                .inflate(stored.compression(), stored.payload(), limits.inflated, &mut document)
                .expect("sound");
            let entities =
                read_entities(&document, position, &limits.nbt, &mut kinds).expect("the game wrote it");
            let (written, left_out) =
                write_entities(EntitiesDocument::Stored(&document), &entities, &limits.nbt, &kinds)
                    .expect("the game wrote it");
            assert_eq!(left_out, 0);
            assert!(written == document, "{version}, {position}");
            entities_seen += entities.len();
            items_seen += entities.iter().filter(|entity| matches!(entity, StoredEntity::Item(_))).count();
        }
    }
    eprintln!("{entities_seen} entities, {items_seen} of them dropped items");
    assert!(entities_seen >= 16, "only {entities_seen} entities");
}
