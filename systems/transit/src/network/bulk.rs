//! Many pipes at once: all nodes first, then one trace over them.

use voxtick_worlds::BlockPos;

use super::key::{self, Connections, axis_of};
use super::{GraphError, MAX_NODES, NONE, SegmentedGraph};

impl SegmentedGraph {
    /// Adds many pipes and fuses once: linear in their number. Where a position comes twice, the last mask wins. The
    /// result equals adding them one by one.
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
        self.delta.clear();
        for &(position, _) in pipes {
            key::check(position)?;
        }
        if self.nodes.len() + pipes.len() > MAX_NODES {
            let position = pipes.first().map_or(BlockPos::default(), |&(position, _)| position);
            return Err(GraphError::Full { position, count: self.node_count() });
        }
        self.index.reserve(pipes.len());
        self.nodes.reserve(pipes.len());
        let old = self.nodes.len();
        // What each node is to become: of a position that comes twice, the last mask.
        let mut wanted: Vec<Option<Connections>> = vec![None; old + pipes.len()];
        // Nodes that take part in no run until the trace below.
        let mut fresh = vec![false; old + pipes.len()];
        let mut touched = Vec::with_capacity(pipes.len());
        for &(position, connections) in pipes {
            let key = key::pack(position);
            let node = self.find_key(key).unwrap_or_else(|| {
                let node = self.insert_node(key, connections);
                fresh[node as usize] = true;
                node
            });
            if wanted[node as usize].replace(connections).is_none() {
                touched.push(node);
            }
        }
        touched.retain(|&node| {
            let it = self.nodes[node as usize];
            let Some(connections) = wanted[node as usize] else { return false };
            if fresh[node as usize] {
                self.nodes[node as usize].connections = connections;
                return true;
            }
            if it.connections == connections {
                return false;
            }
            if self.through(node).is_none() && key::through_axis(it.key, connections).is_none() {
                // Segments that end here both before and after stay what they are.
                self.disarm(node, connections);
                return true;
            }
            self.detach(node);
            let it = &mut self.nodes[node as usize];
            it.connections = connections;
            it.arms = [NONE; 6];
            fresh[node as usize] = true;
            true
        });
        self.delta.touched.extend(touched.iter().map(|&node| (self.nodes[node as usize].key, node)));
        let mut fused = vec![false; self.nodes.len()];
        for &node in &touched {
            match self.through(node) {
                Some(axis) => {
                    if !fused[node as usize] {
                        fused[node as usize] = true;
                        let low = self.walk(node, axis * 2, &fresh, &mut fused).unwrap_or(node);
                        let high = self.walk(node, axis * 2 + 1, &fresh, &mut fused).unwrap_or(node);
                        self.push_traced(low, high, axis);
                    }
                }
                None => {
                    for direction in 0..6 {
                        if self.nodes[node as usize].arms[direction] != NONE {
                            continue;
                        }
                        if let Some(far) = self.walk(node, direction, &fresh, &mut fused) {
                            let (low, high) = if direction & 1 == 1 { (node, far) } else { (far, node) };
                            self.push_traced(low, high, axis_of(direction));
                        }
                    }
                }
            }
        }
        self.rename_all_components();
        Ok(())
    }

    /// Follows links from `node` to the end of the chain; runs of nodes from before the call are jumped and dissolved.
    fn walk(&mut self, node: u32, direction: usize, fresh: &[bool], fused: &mut [bool]) -> Option<u32> {
        let axis = axis_of(direction);
        let mut at = self.linked(node, direction)?;
        loop {
            if self.through(at).is_none() {
                return Some(at);
            }
            if fresh[at as usize] {
                fused[at as usize] = true;
            } else {
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

    fn push_traced(&mut self, low: u32, high: u32, axis: usize) {
        // All components are named anew when the trace is done.
        let component = self.components.fresh_empty();
        self.push_run(low, high, axis, component);
    }
}
