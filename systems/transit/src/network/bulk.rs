//! Many pipes at once: all new nodes first, then one trace over them; pipes that are there already change one by one.

use voxtick_worlds::BlockPos;

use super::key::{self, Connections, axis_of};
use super::{GraphError, MAX_NODES, NONE, SegmentedGraph};

impl SegmentedGraph {
    /// Adds many pipes and fuses once: linear in their number, whatever the size of the network. Where a position comes
    /// twice, the last mask wins. The result equals adding them one by one.
    ///
    /// ```
    /// use voxtick_transit::{Connections, SegmentedGraph};
    /// use voxtick_worlds::BlockPos;
    /// let mut graph = SegmentedGraph::new();
    /// let grid: Vec<_> = (0..100).flat_map(|x| (0..100).map(move |z| (BlockPos::new(x, 64, z), Connections::ALL))).collect();
    /// graph.add_many(&grid)?;
    /// assert_eq!(graph.segment_count(), 2 * 99 * 100);
    /// # Ok::<(), voxtick_transit::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// A position is out of range; nothing has been added then.
    pub fn add_many(&mut self, pipes: &[(BlockPos, Connections)]) -> Result<(), GraphError> {
        self.begin_edit();
        for &(position, _) in pipes {
            key::check(position)?;
        }
        if self.nodes.len() + pipes.len() > MAX_NODES {
            let position = pipes.first().map_or(BlockPos::default(), |&(position, _)| position);
            return Err(GraphError::Full { position, count: self.node_count() });
        }
        self.index.reserve(pipes.len());
        self.nodes.reserve(pipes.len());
        let mut laid = Vec::with_capacity(pipes.len());
        let mut changed = Vec::new();
        for &(position, connections) in pipes {
            let key = key::pack(position);
            match self.find_key(key) {
                None => laid.push(self.insert_node(key, connections, true)),
                Some(node) if self.nodes[node as usize].loose => {
                    self.nodes[node as usize].connections = connections;
                }
                Some(_) => changed.push((key, connections)),
            }
        }
        self.fuse_laid(&laid);
        self.delta.touched.extend(laid.iter().map(|&node| (self.nodes[node as usize].key, node)));
        // Of a pipe that is named twice the last mask is left: the first behind its like, seen from the end.
        changed.reverse();
        changed.sort_by_key(|&(key, _)| key);
        changed.dedup_by_key(|&mut (key, _)| key);
        for (key, connections) in changed {
            self.set(key, connections);
        }
        // Segments may have come and gone within the call, and their numbers may be in use again.
        let mut added = std::mem::take(&mut self.delta.added);
        added.sort_unstable();
        added.dedup();
        added.retain(|&run| self.is_live_segment(run));
        self.delta.added = added;
        Ok(())
    }

    /// Fuses nodes that take part in no run with one another and with what is there.
    fn fuse_laid(&mut self, laid: &[u32]) {
        let mut runs = Vec::with_capacity(laid.len());
        for &node in laid {
            let loose = std::mem::take(&mut self.nodes[node as usize].loose);
            match self.through(node) {
                Some(axis) => {
                    if loose {
                        let low = self.walk(node, axis * 2).unwrap_or(node);
                        let high = self.walk(node, axis * 2 + 1).unwrap_or(node);
                        runs.push(self.push_run(low, high, axis, NONE));
                    }
                }
                None => {
                    for direction in 0..6 {
                        if self.nodes[node as usize].arms[direction] != NONE {
                            continue;
                        }
                        if let Some(far) = self.walk(node, direction) {
                            let (low, high) = if direction & 1 == 1 { (node, far) } else { (far, node) };
                            runs.push(self.push_run(low, high, axis_of(direction), NONE));
                        }
                    }
                }
            }
        }
        self.name_laid(laid, &runs);
    }

    /// Follows links from `node` to the end of the chain; runs of nodes from before the call are jumped and dissolved.
    fn walk(&mut self, node: u32, direction: usize) -> Option<u32> {
        let axis = axis_of(direction);
        let mut at = self.linked(node, direction)?;
        loop {
            if self.through(at).is_none() {
                return Some(at);
            }
            if !std::mem::take(&mut self.nodes[at as usize].loose) {
                let run = self.run_through(at, axis);
                at = self.end(run, direction);
                self.remove_run(run);
                if self.through(at).is_none() {
                    return Some(at);
                }
            }
            match self.linked(at, direction) {
                Some(next) => at = next,
                None => return Some(at),
            }
        }
    }
}
