//! What is to be done about the rows that a step has marked: those that left their chunk, landed, rest, or were refused.
//!
//! Each pool deals with its own rows as soon as they are stepped, and with those that come to it, on whichever thread
//! takes it; only who goes where is told in one place. Which row of a pool a body gets depends on the order of pools alone.

use crate::body::Flags;
use crate::columns::Row;
use crate::inlets::Inlets;
use crate::parallel::spread;
use crate::pool::{Places, Pool};
use crate::population::{BodyId, Population, chunk_of};
use voxtick_worlds::ChunkPos;

/// What one pool has to tell the others, kept between ticks for its room.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Marked rows, ascending.
    marked: Vec<u32>,
    /// Bodies that have landed.
    landed: Vec<BodyId>,
    /// Numbers of bodies that were refused.
    refused: Vec<u32>,
    /// Numbers of bodies that are lost below the world.
    lost: Vec<u32>,
    /// Bodies that have left, and whereto.
    leaving: Vec<(ChunkPos, Row)>,
    /// Bodies that have come.
    coming: Vec<Row>,
}

/// What pools need to know to settle their rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aftermath<'a> {
    pub(crate) places: &'a Places,
    pub(crate) inlets: &'a Inlets,
    /// Ticks run so far, this one included.
    pub(crate) ticks: u64,
    pub(crate) lost_below: f64,
    pub(crate) sleeping: bool,
}

impl Population {
    /// Hands bodies over from pool to pool, and tells what became of them.
    ///
    /// `pools` are those that were stepped, ascending; those to which something came are added.
    pub(crate) fn gather_settled(&mut self, pools: &mut Vec<u32>) {
        let stepped = pools.len();
        for place in 0..stepped {
            let pool = pools[place] as usize;
            if std::mem::take(&mut self.pools[pool].pending) > 0 {
                self.gather(pool, pools);
            }
        }
        let receivers = &mut pools[stepped..];
        if receivers.is_empty() {
            return;
        }
        receivers.sort_unstable();
        let (places, ticks) = (&self.places, self.ticks);
        let take_over = |number, pool: &mut Pool| {
            let mut coming = std::mem::take(&mut pool.settled.coming);
            coming.drain(..).for_each(|row| pool.take_over(&row, number, places, ticks));
            pool.settled.coming = coming;
        };
        spread(&mut self.pools, 0, receivers, &take_over, &|(), ()| ());
        receivers.iter().for_each(|&number| self.list_due(number));
        pools.sort_unstable();
        pools.dedup();
    }

    /// Enters what a pool has to tell, and sends off what has left it: to pools that are added to `receivers` with the
    /// first body that comes to them.
    fn gather(&mut self, pool: usize, receivers: &mut Vec<u32>) {
        let mut settled = std::mem::take(&mut self.pools[pool].settled);
        let places = &self.places;
        let id = |number: u32| BodyId { number, generation: places.generation(number) };
        self.events.landed.append(&mut settled.landed);
        self.events.quarantined.extend(settled.refused.drain(..).map(id));
        for number in settled.lost.drain(..) {
            let id = self.id(number);
            self.take(id);
            self.ledger.despawned += 1;
            self.events.despawned.push(id);
        }
        // One beyond the last pool that there can be stays in the pool that it is in.
        for (chunk, row) in settled.leaving.drain(..) {
            let (to, coming) = match self.pool_at(chunk) {
                Some(to) => (to, &mut self.pools[to as usize].settled.coming),
                None => (pool as u32, &mut settled.coming),
            };
            if coming.is_empty() {
                receivers.push(to);
            }
            coming.push(row);
        }
        self.pools[pool].settled = settled;
    }
}

impl Pool {
    /// Deals with the rows that the step has marked.
    pub(crate) fn settle(&mut self, number: u32, aftermath: Aftermath<'_>) {
        let mut marked = std::mem::take(&mut self.settled.marked);
        let is_marked = |flags: &Flags| flags.0 & Flags::PENDING.0 != 0;
        let rows = self.rows.flags[..self.awake].iter().enumerate().filter(|(_, flags)| is_marked(flags));
        marked.extend(rows.map(|(row, _)| row as u32));
        // From the last row down: what takes the place of a row has been looked at.
        while let Some(row) = marked.pop() {
            self.settle_row(row as usize, number, aftermath);
        }
        self.settled.marked = marked;
    }

    fn settle_row(&mut self, row: usize, pool: u32, aftermath: Aftermath<'_>) {
        let Aftermath { places, ticks, .. } = aftermath;
        let flags = self.rows.flags[row];
        let number = self.rows.number[row];
        self.rows.flags[row] = flags.without(Flags::PENDING).without(Flags::SLIDE);
        if flags.has(Flags::LANDED) {
            self.settled.landed.push(BodyId { number, generation: places.generation(number) });
        }
        if flags.has(Flags::REFUSED) {
            self.settled.refused.push(number);
            self.set_aside(row, pool, places);
        } else if flags.has(Flags::LEFT) {
            let body = self.rows.body(row);
            let chunk = chunk_of(body.position);
            if body.position[1] < aftermath.lost_below {
                self.settled.lost.push(number);
            } else if chunk != self.chunk {
                let leaving = self.remove(row, pool, places, ticks);
                self.settled.leaving.push((chunk, leaving));
            }
        } else if flags.has(Flags::RESTS) && aftermath.sleeping {
            if flags.has(Flags::UNLOADED) {
                self.freeze(row, pool, places, ticks);
            } else if !self.reaches_inlet(row, aftermath.inlets) {
                self.put_to_sleep(row, Flags(flags.0 & Flags::SLIDE.0), pool, places, ticks);
            }
        }
    }
}
