//! 10,000 bodies against the columns that a published kernel left after 1, 10, 40, 100 and 400 ticks, bit for bit.
//!
//! That kernel gives up bodies that touch what it does not know (`reference/bodies.md` §1.2); only the others are compared.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use voxtick_bodies::{
    Body, Columns, Flags, GridTerrain, Material, MaterialId, Materials, Moment, NEVER_PICK_UP, Row, Rules,
    Scratch, Surroundings, reference,
};
use voxtick_worlds::{ItemKind, ItemStack};

struct Reader {
    bytes: Vec<u8>,
    at: usize,
}

impl Reader {
    fn open(name: &str) -> Option<Reader> {
        let Some(data) = std::env::var_os("VOXTICK_DATA") else {
            eprintln!("VOXTICK_DATA is not set: the published case is skipped");
            return None;
        };
        let path = std::path::Path::new(&data).join("cases").join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Some(Reader { bytes, at: 8 })
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.bytes[self.at..self.at + N].try_into().expect("N bytes");
        self.at += N;
        taken
    }

    fn i32(&mut self) -> i32 {
        i32::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| f64::from_le_bytes(self.take()))
    }
}

fn case() -> Option<(GridTerrain, Columns)> {
    let mut file = Reader::open("bodies_case.bin")?;
    assert_eq!(file.i32(), 1, "version");
    let [size_x, size_y, size_z, x, y, z, count] = std::array::from_fn(|_| file.i32());
    let mut terrain = GridTerrain::new([x, y, z], [size_x, size_y, size_z]);
    file.at = 128;
    for cell_y in y..y + size_y {
        for cell_z in z..z + size_z {
            for cell_x in x..x + size_x {
                let [kind] = file.take();
                terrain.set(cell_x, cell_y, cell_z, MaterialId(kind.into()));
            }
        }
    }
    let mut columns = Columns::default();
    for number in 0..count as u32 {
        let (position, velocity) = (file.vector(), file.vector());
        let (phase, _flags) = (file.u32(), file.u32());
        let mut body = Body::new(position, velocity);
        body.flags = Flags::default().with_phase_offset(phase);
        let stack = ItemStack::single(ItemKind(0));
        columns.push(&Row { body, stack, pickup: NEVER_PICK_UP, born: 0, number });
    }
    Some((terrain, columns))
}

#[test]
fn ten_thousand_bodies_end_where_a_published_kernel_left_them() {
    let Some((terrain, mut columns)) = case() else { return };
    let mut expected = Reader::open("bodies_expected.bin").expect("found above");
    let (count, snapshots) = (expected.i32() as usize, expected.i32());
    let materials = Materials::new();
    assert!(materials[MaterialId::CUBE] == Material::cube(0.6));
    let ground = Surroundings { terrain: &terrain, materials: &materials };
    let rules = Rules { small_moves: false, ..Rules::default() };
    let mut scratch = Scratch::default();
    let mut ticks = 0;
    for _ in 0..snapshots {
        let tick = expected.i32() as u64;
        expected.at += 12;
        while ticks < tick {
            reference::step_all(&mut columns, ground, &rules, Moment { tick: ticks, seed: 0 }, &mut scratch);
            ticks += 1;
        }
        let mut compared = 0;
        for row in 0..count {
            let (position, velocity) = (expected.vector(), expected.vector());
            let (flags, deferred) = (expected.u32(), expected.u32());
            if deferred != 0 {
                continue;
            }
            let ours = columns.body(row);
            let at = format!("body {row} after {tick} ticks");
            assert_eq!(
                ours.position.map(f64::to_bits),
                position.map(f64::to_bits),
                "{at}: {ours:?} {position:?}"
            );
            assert_eq!(
                ours.velocity.map(f64::to_bits),
                velocity.map(f64::to_bits),
                "{at}: {ours:?} {velocity:?}"
            );
            // Flag 16 of that kernel tells that a body could have moved; ours that it did.
            let known = 1 | 2 | 4 | 32 | 64;
            assert_eq!(ours.flags.0 & known, flags & known, "{at}: flags");
            assert_eq!(ours.flags.phase(tick), flags >> 24 & 3, "{at}: phase");
            compared += 1;
        }
        assert!(compared > 8_000, "{compared} bodies compared after {tick} ticks");
    }
    assert_eq!(ticks, 400);
}
