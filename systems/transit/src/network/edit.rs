//! Single edits: how one node joins, leaves and cuts the runs around it.

use super::key::{self, Connections, along};
use super::{NONE, Node, Run, SegmentedGraph};

impl SegmentedGraph {
    /// Gives the node at `key` these connections, adding it where needed, and fuses the runs around it.
    pub(super) fn set(&mut self, key: u64, connections: Connections) {
        let Some(node) = self.find_key(key) else {
            let node = self.insert_node(key, connections, false);
            self.delta.touched.push((key, node));
            self.fuse(node);
            self.reconcile(Some(node), &[]);
            return;
        };
        if self.nodes[node as usize].connections == connections {
            return;
        }
        self.delta.touched.push((key, node));
        let linked_before = self.linked_nodes(node);
        let was_junction = self.through(node).is_none();
        if was_junction && key::through_axis(key, connections).is_none() {
            self.rearm(node, connections);
        } else {
            self.detach(node);
            self.nodes[node as usize].connections = connections;
            self.note_class(node, was_junction);
            self.fuse(node);
        }
        let linked_now = self.linked_nodes(node);
        let lost: Vec<u32> = linked_before.into_iter().filter(|other| !linked_now.contains(other)).collect();
        self.reconcile(Some(node), &lost);
    }

    /// Takes the node at `key` away; true where there was one.
    pub(super) fn take(&mut self, key: u64) -> bool {
        let Some(node) = self.find_key(key) else {
            return false;
        };
        self.delta.touched.push((key, node));
        let neighbours = self.linked_nodes(node);
        let was_junction = self.through(node).is_none();
        let component = self.component_of(node);
        self.detach(node);
        if was_junction {
            self.components.shrink(component);
        }
        self.index.remove(&key);
        let place = self.nodes[node as usize].place;
        if let Some(moved) = self.by_chunk.remove(key, place) {
            self.nodes[moved as usize].place = place;
        }
        self.nodes[node as usize].live = false;
        self.free_nodes.push(node);
        self.reconcile(None, &neighbours);
        true
    }

    /// A new node that takes part in no run yet. A junction is a component of its own, unless it is laid loose, with
    /// others that are fused and named together.
    pub(super) fn insert_node(&mut self, key: u64, connections: Connections, loose: bool) -> u32 {
        let alone = !loose && key::through_axis(key, connections).is_none();
        let component = if alone { self.components.fresh() } else { NONE };
        let node = Node { key, arms: [NONE; 6], component, place: 0, connections, live: true, loose };
        let slot = match self.free_nodes.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = node;
                slot
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.index.insert(key, slot);
        self.nodes[slot as usize].place = self.by_chunk.insert(key, slot);
        slot
    }

    /// Takes a node out of all its runs; what is left of them stays as open runs, all else as it is.
    fn detach(&mut self, node: u32) {
        if let Some(axis) = self.through(node) {
            let run = self.run_through(node, axis);
            // A node that becomes a junction stays in its old component until `reconcile`.
            self.nodes[node as usize].component = self.runs[run as usize].component;
            self.cut(run, node, axis);
            return;
        }
        for direction in 0..6 {
            self.unlink(node, direction);
        }
    }

    /// Fuses a node that takes part in no run with all its linked neighbours.
    fn fuse(&mut self, node: u32) {
        let Some(axis) = self.through(node) else {
            for direction in 0..6 {
                self.link(node, direction);
            }
            return;
        };
        let low = self.far_end(node, axis * 2);
        let high = self.far_end(node, axis * 2 + 1);
        self.add_run(low.unwrap_or(node), high.unwrap_or(node), axis, node);
    }

    /// Changes a junction into another junction: only arms whose link changes are touched.
    fn rearm(&mut self, node: u32, connections: Connections) {
        let gained = connections.bits() & !self.nodes[node as usize].connections.bits();
        self.disarm(node, connections);
        for direction in 0..6 {
            if gained & (1 << direction) != 0 {
                self.link(node, direction);
            }
        }
    }

    /// Gives a junction other connections and cuts the arms off that it opens to no more; those gained are not linked.
    fn disarm(&mut self, node: u32, connections: Connections) {
        let lost = self.nodes[node as usize].connections.bits() & !connections.bits();
        for direction in 0..6 {
            if lost & (1 << direction) != 0 {
                self.unlink(node, direction);
            }
        }
        self.nodes[node as usize].connections = connections;
    }

    /// Keeps the sizes of components right where a node changes between junction and passing through.
    fn note_class(&mut self, node: u32, was_junction: bool) {
        let is_junction = self.through(node).is_none();
        let component = self.nodes[node as usize].component;
        match (was_junction, is_junction) {
            (true, false) => self.components.shrink(component),
            (false, true) => self.components.grow(component),
            _ => {}
        }
        self.nodes[node as usize].arms = [NONE; 6];
    }

    /// Cuts the arm of a junction off; the far part stays as an open run.
    fn unlink(&mut self, node: u32, direction: usize) {
        let run = self.nodes[node as usize].arms[direction];
        if run != NONE {
            self.cut(run, node, key::axis_of(direction));
        }
    }

    /// Joins a junction with its neighbour in `direction`, where both open to each other.
    fn link(&mut self, node: u32, direction: usize) {
        if self.nodes[node as usize].arms[direction] != NONE {
            return;
        }
        if let Some(far) = self.far_end(node, direction) {
            let (low, high) = if direction & 1 == 1 { (node, far) } else { (far, node) };
            self.add_run(low, high, key::axis_of(direction), node);
        }
    }

    /// The far end of what a node can be joined with in `direction`; an open run found there is dissolved.
    fn far_end(&mut self, node: u32, direction: usize) -> Option<u32> {
        let other = self.linked(node, direction)?;
        if self.through(other).is_none() {
            return Some(other);
        }
        let run = self.run_through(other, key::axis_of(direction));
        let far = self.end(run, direction);
        let component = self.runs[run as usize].component;
        if self.nodes[node as usize].component == NONE {
            self.nodes[node as usize].component = component;
        }
        self.remove_run(run);
        Some(far)
    }

    /// Takes `node` out of `run`; the parts on either side stay as open runs.
    fn cut(&mut self, run: u32, node: u32, axis: usize) {
        let it = self.runs[run as usize];
        let key = self.nodes[node as usize].key;
        let below = (it.low != node).then(|| self.neighbour_in_run(key, axis * 2));
        let above = (it.high != node).then(|| self.neighbour_in_run(key, axis * 2 + 1));
        self.remove_run(run);
        if let Some(end) = below {
            self.add_remnant(it.low, end, axis, it.component);
        }
        if let Some(end) = above {
            self.add_remnant(end, it.high, axis, it.component);
        }
    }

    fn neighbour_in_run(&self, key: u64, direction: usize) -> u32 {
        // Both lie in one run, so the neighbour exists.
        key::neighbour(key, direction).and_then(|next| self.find_key(next)).unwrap_or(NONE)
    }

    /// What is left of a run after a cut; a lone junction is no run.
    fn add_remnant(&mut self, low: u32, high: u32, axis: usize, component: u32) {
        if low == high && self.through(low).is_none() {
            return;
        }
        self.push_run(low, high, axis, component);
    }

    fn add_run(&mut self, low: u32, high: u32, axis: usize, node: u32) {
        let component = match self.nodes[node as usize].component {
            NONE => self.components.fresh_empty(),
            component => component,
        };
        self.push_run(low, high, axis, component);
    }

    /// Registers a run and tells its junctions, its line and the delta of it; `component` is `NONE` for a run that is
    /// given one later.
    pub(super) fn push_run(&mut self, low: u32, high: u32, axis: usize, component: u32) -> u32 {
        let low_passes = self.through(low).is_some();
        let high_passes = self.through(high).is_some();
        let low_key = self.nodes[low as usize].key;
        let from = along(low_key, axis);
        let length = (along(self.nodes[high as usize].key, axis) - from) as u32;
        let closed = low != high && !low_passes && !high_passes;
        let run = Run { low, high, length, component, axis: axis as u8, closed, live: true, new: true };
        let slot = match self.free_runs.pop() {
            Some(slot) => {
                self.runs[slot as usize] = run;
                slot
            }
            None => {
                self.runs.push(run);
                (self.runs.len() - 1) as u32
            }
        };
        if !low_passes {
            self.nodes[low as usize].arms[axis * 2 + 1] = slot;
        }
        if !high_passes {
            self.nodes[high as usize].arms[axis * 2] = slot;
        }
        if low_passes || high_passes || length > 1 {
            let line = self.lines.entry(key::line(low_key, axis)).or_default();
            let at = line.partition_point(|&(low, _)| low < from);
            line.insert(at, (from, slot));
        }
        if component != NONE {
            self.components.grow(component);
        }
        if closed {
            self.segment_count += 1;
            self.delta.added.push(slot);
        }
        slot
    }

    /// Forgets a run.
    pub(super) fn remove_run(&mut self, run: u32) {
        let it = self.runs[run as usize];
        if it.closed {
            self.segment_count -= 1;
            // One that came to be in this edit too is nobody's yet.
            if !it.new {
                self.delta.removed.push((run, self.segment(run)));
            }
        }
        let axis = it.axis as usize;
        let low_key = self.nodes[it.low as usize].key;
        let low_passes = self.through(it.low).is_some();
        let high_passes = self.through(it.high).is_some();
        if !low_passes {
            self.nodes[it.low as usize].arms[axis * 2 + 1] = NONE;
        }
        if !high_passes {
            self.nodes[it.high as usize].arms[axis * 2] = NONE;
        }
        if low_passes || high_passes || it.length > 1 {
            let name = key::line(low_key, axis);
            if let Some(line) = self.lines.get_mut(&name) {
                let from = along(low_key, axis);
                let at = line.partition_point(|&(low, _)| low < from);
                line.remove(at);
                if line.is_empty() {
                    self.lines.remove(&name);
                }
            }
        }
        self.components.shrink(it.component);
        self.runs[run as usize].live = false;
        self.free_runs.push(run);
    }

    /// The nodes that `node` is linked with.
    fn linked_nodes(&self, node: u32) -> Vec<u32> {
        (0..6).filter_map(|direction| self.linked(node, direction)).collect()
    }
}
