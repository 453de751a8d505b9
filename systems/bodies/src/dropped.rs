//! Bodies from the dropped items of a save, and back.
//!
//! What the game stored of an item beside what is modelled stays with the body as long as it exists, and with the stack
//! that takes in another.

use crate::body::{Body, Flags};
use crate::columns::{NEVER_PICK_UP, Row};
use crate::exact::is_sane;
use crate::population::{BodyId, Population, SpawnError};
use voxtick_worlds::{ChunkPos, DroppedItem};

impl Population {
    /// Makes bodies of the dropped items of a save, in the order given. Values that no body can have make a body that is
    /// quarantined, as in [`Population::spawn_into`].
    ///
    /// # Errors
    /// As there, but then none is made.
    pub fn spawn_dropped(&mut self, items: &[DroppedItem]) -> Result<Vec<BodyId>, SpawnError> {
        let mut made = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match self.make(self.row_of(item), index, None) {
                Ok(id) => {
                    self.set_record(id, item.record.clone());
                    made.push(id);
                }
                Err(error) => {
                    self.ledger.created -= made.len() as u64;
                    for id in made {
                        self.take(id);
                    }
                    return Err(error);
                }
            }
        }
        let is_refused =
            |id: &BodyId| self.view(*id).is_some_and(|view| view.body.flags.has(Flags::QUARANTINED));
        let refused: Vec<BodyId> = made.iter().copied().filter(is_refused).collect();
        self.events.quarantined.extend(refused);
        Ok(made)
    }

    fn row_of(&self, item: &DroppedItem) -> Row {
        let mut body = Body::new(item.position, item.velocity);
        let is_refused = !is_sane(&body);
        body.flags = body
            .flags
            .set(Flags::ON_GROUND, item.on_ground)
            .set(Flags::NEVER_DESPAWN, item.age.is_none())
            .set(Flags::QUARANTINED, is_refused);
        let age = i32::from(item.age.unwrap_or(0));
        let pickup = item
            .pickup_delay
            .map_or(NEVER_PICK_UP, |delay| (i32::from(delay) + age).clamp(-32_767, 32_767) as i16);
        let born = (self.ticks as u32).wrapping_sub(age.cast_unsigned());
        Row { body, stack: item.stack, pickup, born, number: 0 }
    }

    /// The bodies of a chunk as the game stores them, in ascending order of number.
    #[must_use]
    pub fn dropped_in(&self, chunk: ChunkPos) -> Vec<DroppedItem> {
        let item = |row: Row| {
            let age = (self.ticks as u32).wrapping_sub(row.born).cast_signed();
            let wait = (i32::from(row.pickup) - age).clamp(0, 32_766) as u16;
            DroppedItem {
                position: row.body.position,
                velocity: row.body.velocity,
                on_ground: row.body.flags.has(Flags::ON_GROUND),
                stack: row.stack,
                // A life longer than the game can tell is as long as it can.
                age: (!row.body.flags.has(Flags::NEVER_DESPAWN)).then(|| age.clamp(-32_767, 32_767) as i16),
                pickup_delay: (row.pickup != NEVER_PICK_UP).then_some(wait),
                record: self.records.get(&row.number).cloned(),
            }
        };
        self.rows_of_chunk(chunk).into_iter().map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::ROW_LIMIT;
    use crate::population::Settings;
    use voxtick_worlds::{BlockStates, ItemKind, ItemStack};

    #[test]
    fn items_of_a_save_are_bodies_and_items_again() {
        let mut population = Population::new(&BlockStates::load(), Settings::default());
        let item = |x: f64, age, pickup_delay, record: &[u8]| DroppedItem {
            position: [x, 70.0, 4.5],
            velocity: [0.0, -0.04, 0.0],
            on_ground: true,
            stack: ItemStack::new(ItemKind(3), 2, 64),
            age,
            pickup_delay,
            record: (!record.is_empty()).then(|| record.into()),
        };
        let items = [
            item(1.5, Some(5_000), Some(10), b"one"),
            item(2.5, None, None, b""),
            item(3.5, Some(-20), Some(0), b"three"),
            item(4.5, Some(0), Some(32_766), b"four"),
        ];
        let ids = population.spawn_dropped(&items).expect("room");
        assert_eq!(population.dropped_in(ChunkPos::new(0, 0)), items);
        population.remove(&ids[..1]);
        // The number is given out again, and what was stored under it is not.
        population.spawn_dropped(&[item(5.5, Some(1), Some(1), b"")]).expect("room");
        let records: Vec<_> =
            population.dropped_in(ChunkPos::new(0, 0)).into_iter().map(|item| item.record).collect();
        assert_eq!(records, [None, None, Some(b"three".as_slice().into()), Some(b"four".as_slice().into())]);
    }

    /// Rows that came in before one was refused came in once more on the next run.
    #[test]
    fn all_items_come_in_or_none() {
        let mut population = Population::new(&BlockStates::load(), Settings::default());
        let item = |x: f64| DroppedItem {
            position: [x, 70.0, 4.5],
            velocity: [0.0; 3],
            on_ground: false,
            stack: ItemStack::single(ItemKind(3)),
            age: None,
            pickup_delay: None,
            record: Some(b"one".as_slice().into()),
        };
        let mut nowhere = item(1.5);
        nowhere.position[1] = f64::NAN;
        let mut items = vec![item(20.5), nowhere];
        items.extend(std::iter::repeat_n(item(1.5), ROW_LIMIT));
        let (ledger, hash) = (population.ledger, population.state_hash());
        assert!(population.spawn_dropped(&items).is_err());
        assert_eq!((population.count(), population.ledger, population.records.len()), (0, ledger, 0));
        assert_eq!(population.state_hash(), hash);
        assert!(population.events().quarantined.is_empty());
        items.pop();
        items.pop();
        assert_eq!(population.spawn_dropped(&items).expect("room").len(), ROW_LIMIT);
    }

    #[test]
    fn a_place_that_is_none_is_quarantined_and_comes_back_as_it_was() {
        let mut population = Population::new(&BlockStates::load(), Settings::default());
        let item = DroppedItem {
            position: [1.0, f64::INFINITY, 4.0],
            velocity: [0.0; 3],
            on_ground: false,
            stack: ItemStack::single(ItemKind(0)),
            age: Some(i16::MAX),
            pickup_delay: Some(5),
            record: None,
        };
        population.spawn_dropped(std::slice::from_ref(&item)).expect("room");
        assert_eq!(population.events().quarantined.len(), 1);
        assert_eq!(population.dropped_in(ChunkPos::new(0, 0))[0].position, item.position);
    }
}
