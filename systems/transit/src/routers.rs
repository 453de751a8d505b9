//! Who decides where an item goes at a junction.
//!
//! A [`Router`] is asked once per waiting item and tick and sees only what [`Crossing`] holds, so it is a pure function
//! of it: its one piece of memory, the cursor, belongs to the junction and is saved with it. A router whose own
//! settings change has to be announced ([`crate::TransitSolver::wake`]), since waiting items are not polled.

use std::fmt::Debug;

use rustc_hash::FxHashMap;
use voxtick_worlds::{BlockPos, Direction, ItemKind, ItemStack};

use crate::network::Connections;

/// An item at a junction, as its router sees it.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    /// The junction.
    pub position: BlockPos,
    /// The side from which the item came.
    pub from: Direction,
    /// The lanes that lead on; the way back is never among them.
    pub outs: Connections,
    /// Those of `outs` that have room now.
    pub open: Connections,
    /// The sink at this junction.
    pub sink: SinkState,
    /// Where the last item that went on from this junction went, plus one (0 to 6; 0 before the first).
    pub cursor: u8,
    /// The item.
    pub stack: ItemStack,
}

/// What the sink of a junction would say to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkState {
    /// There is no sink, or it never takes this kind.
    None,
    /// It takes this kind, but not now.
    Busy,
    /// It takes the item.
    Accepts,
}

/// What a router decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Onto the lane in this direction (the way back may be chosen). The item waits where it has no room.
    Out(Direction),
    /// Into the sink. The item waits where the sink refuses.
    Deliver,
    /// Stay.
    Wait,
}

/// Decides where items go at the junctions it is given to.
///
/// ```
/// use voxtick_transit::{Crossing, Route, Router};
/// use voxtick_worlds::Direction;
///
/// /// Sends everything up, where up has room.
/// #[derive(Debug)]
/// struct Lift;
/// impl Router for Lift {
///     fn route(&self, crossing: &Crossing) -> Route {
///         if crossing.open.has(Direction::Up) { Route::Out(Direction::Up) } else { Route::Wait }
///     }
/// }
/// ```
pub trait Router: Debug + Send + Sync {
    /// Where the item goes. Must depend on nothing but `crossing` and the router's own settings.
    fn route(&self, crossing: &Crossing) -> Route;
}

/// Delivers where the sink accepts, else takes the lanes with room in turn. What junctions use unless told otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin;

impl Router for RoundRobin {
    fn route(&self, crossing: &Crossing) -> Route {
        if crossing.sink == SinkState::Accepts {
            return Route::Deliver;
        }
        let open = crossing.open.bits();
        // Directions from the cursor on, then those before it.
        let from_cursor = open & (0xFF << crossing.cursor);
        let candidates = if from_cursor != 0 { from_cursor } else { open };
        match Direction::ALL.get(candidates.trailing_zeros() as usize) {
            Some(&direction) => Route::Out(direction),
            None => Route::Wait,
        }
    }
}

/// Delivers where the sink accepts, else takes the first lane of a list that has room.
#[derive(Debug, Clone)]
pub struct Priority {
    order: Vec<Direction>,
}

impl Priority {
    /// Lanes in order of preference; directions that are not listed are never taken.
    #[must_use]
    pub fn new(order: impl IntoIterator<Item = Direction>) -> Priority {
        let mut unique = Vec::with_capacity(6);
        for direction in order {
            if !unique.contains(&direction) {
                unique.push(direction);
            }
        }
        Priority { order: unique }
    }
}

impl Router for Priority {
    fn route(&self, crossing: &Crossing) -> Route {
        if crossing.sink == SinkState::Accepts {
            return Route::Deliver;
        }
        match self.order.iter().find(|&&direction| crossing.open.has(direction)) {
            Some(&direction) => Route::Out(direction),
            None => Route::Wait,
        }
    }
}

/// Sends kinds in directions of their own; all other kinds go by [`RoundRobin`] over the lanes that no kind owns.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    ways: FxHashMap<ItemKind, Direction>,
    owned: Connections,
}

impl Filter {
    /// A filter with these ways. Where a kind is listed twice, the last one wins.
    #[must_use]
    pub fn new(ways: impl IntoIterator<Item = (ItemKind, Direction)>) -> Filter {
        let ways: FxHashMap<_, _> = ways.into_iter().collect();
        let owned = ways.values().fold(Connections::NONE, |owned, &direction| owned.with(direction));
        Filter { ways, owned }
    }
}

impl Router for Filter {
    fn route(&self, crossing: &Crossing) -> Route {
        match self.ways.get(&crossing.stack.kind) {
            Some(&direction) => Route::Out(direction),
            None => {
                let open = Connections::from_bits(crossing.open.bits() & !self.owned.bits());
                RoundRobin.route(&Crossing { open, ..*crossing })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossing(open: &[Direction], cursor: u8) -> Crossing {
        Crossing {
            position: BlockPos::default(),
            from: Direction::Down,
            outs: Connections::ALL.without(Direction::Down),
            open: Connections::of(open),
            sink: SinkState::None,
            cursor,
            stack: ItemStack::single(ItemKind(3)),
        }
    }

    #[test]
    fn round_robin_goes_on_from_its_cursor_and_wraps() {
        use Direction::{East, North, Up};
        assert_eq!(RoundRobin.route(&crossing(&[Up, North, East], 0)), Route::Out(Up));
        assert_eq!(RoundRobin.route(&crossing(&[Up, North, East], 2)), Route::Out(North));
        assert_eq!(RoundRobin.route(&crossing(&[Up, North], 3)), Route::Out(Up));
        assert_eq!(RoundRobin.route(&crossing(&[Up, North, East], 6)), Route::Out(Up));
        assert_eq!(RoundRobin.route(&crossing(&[], 2)), Route::Wait);
    }

    #[test]
    fn a_filtered_kind_waits_for_its_own_way_and_others_never_take_it() {
        let filter = Filter::new([(ItemKind(3), Direction::East)]);
        assert_eq!(filter.route(&crossing(&[Direction::Up], 0)), Route::Out(Direction::East));
        let other = Crossing { stack: ItemStack::single(ItemKind(4)), ..crossing(&[Direction::East], 0) };
        assert_eq!(filter.route(&other), Route::Wait);
    }

    #[test]
    fn priority_takes_the_first_with_room() {
        let router = Priority::new([Direction::East, Direction::Up, Direction::East]);
        assert_eq!(router.route(&crossing(&[Direction::Up], 0)), Route::Out(Direction::Up));
        assert_eq!(router.route(&crossing(&[Direction::North], 0)), Route::Wait);
    }
}
