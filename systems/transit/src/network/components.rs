//! Connected components, kept up to date by every edit.
//!
//! Members of a component are its junctions and its runs. A link gained joins two components: the smaller is walked
//! and renamed; what is laid in bulk is named first, and then joined with what is there. A link lost may cut one in two: the sides are walked in lockstep until they meet or the smaller is
//! exhausted, so an edit costs the smaller side, and in a meshed network a few steps.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use voxtick_worlds::BlockPos;

use super::{NONE, SegmentedGraph};

/// A connected component of a graph. Valid until the next edit; its number means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkId(u32);

/// How many members each component has.
#[derive(Debug, Clone, Default)]
pub(super) struct Components {
    sizes: Vec<u32>,
    free: Vec<u32>,
    /// Whether a component is in `free`: one that was revived since stays listed until it is next drawn.
    listed: Vec<bool>,
    live: usize,
}

/// A junction or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Member {
    Junction(u32),
    Run(u32),
}

impl Components {
    /// A component with one member.
    pub(super) fn fresh(&mut self) -> u32 {
        let component = self.fresh_empty();
        self.grow(component);
        component
    }

    /// A component that is about to get its first member.
    pub(super) fn fresh_empty(&mut self) -> u32 {
        while let Some(component) = self.free.pop() {
            self.listed[component as usize] = false;
            if self.sizes[component as usize] == 0 {
                return component;
            }
        }
        self.sizes.push(0);
        self.listed.push(false);
        (self.sizes.len() - 1) as u32
    }

    pub(super) fn grow(&mut self, component: u32) {
        let size = &mut self.sizes[component as usize];
        if *size == 0 {
            self.live += 1;
        }
        *size += 1;
    }

    pub(super) fn shrink(&mut self, component: u32) {
        let size = &mut self.sizes[component as usize];
        *size -= 1;
        if *size == 0 {
            self.live -= 1;
            if !self.listed[component as usize] {
                self.listed[component as usize] = true;
                self.free.push(component);
            }
        }
    }
}

impl SegmentedGraph {
    /// The network that the pipe at `position` belongs to: two pipes are of one network exactly where a chain of links
    /// joins them.
    #[must_use]
    pub fn network_at(&self, position: BlockPos) -> Option<NetworkId> {
        Some(NetworkId(self.component_of(self.find(position)?)))
    }

    /// How many networks there are.
    #[must_use]
    pub fn network_count(&self) -> usize {
        self.components.live
    }

    pub(super) fn component_of(&self, node: u32) -> u32 {
        match self.through(node) {
            Some(axis) => self.runs[self.run_through(node, axis) as usize].component,
            None => self.nodes[node as usize].component,
        }
    }

    /// Brings components up to date after an edit of `node` (`None` where it was taken away) that cut it off from
    /// the nodes in `lost`.
    pub(super) fn reconcile(&mut self, node: Option<u32>, lost: &[u32]) {
        if !lost.is_empty() {
            self.split(node, lost);
        }
        let Some(node) = node else { return };
        match self.through(node) {
            Some(axis) => {
                let run = self.run_through(node, axis);
                self.nodes[node as usize].component = NONE;
                self.join_ends(run);
            }
            None => {
                for direction in 0..6 {
                    let run = self.nodes[node as usize].arms[direction];
                    if run != NONE {
                        self.join(Member::Junction(node), Member::Run(run));
                        self.join_ends(run);
                    }
                }
            }
        }
    }

    /// Gives nodes and runs that were laid together their components: what hangs together among them becomes one, which
    /// is then joined with those it touches.
    pub(super) fn name_laid(&mut self, nodes: &[u32], runs: &[u32]) {
        for &run in runs {
            if self.runs[run as usize].component == NONE {
                let component = self.components.fresh_empty();
                self.rename(Member::Run(run), NONE, component);
            }
        }
        for &node in nodes {
            if self.nodes[node as usize].component == NONE && self.through(node).is_none() {
                self.nodes[node as usize].component = self.components.fresh();
            }
        }
        for &run in runs {
            self.join_ends(run);
        }
    }

    fn join_ends(&mut self, run: u32) {
        let (low, high) = (self.runs[run as usize].low, self.runs[run as usize].high);
        for end in [low, high] {
            if self.through(end).is_none() {
                self.join(Member::Run(run), Member::Junction(end));
            }
        }
    }

    /// Joins the components of two neighbours by renaming the smaller.
    fn join(&mut self, a: Member, b: Member) {
        let (of_a, of_b) = (self.label(a), self.label(b));
        if of_a == of_b {
            return;
        }
        if self.components.sizes[of_a as usize] <= self.components.sizes[of_b as usize] {
            self.rename(a, of_a, of_b);
        } else {
            self.rename(b, of_b, of_a);
        }
    }

    /// Gives all members of component `from` that are reachable from `start` the name `to`.
    fn rename(&mut self, start: Member, from: u32, to: u32) {
        let mut stack = vec![start];
        self.relabel(start, from, to);
        let mut near = Vec::with_capacity(6);
        while let Some(member) = stack.pop() {
            near.clear();
            self.neighbour_members(member, &mut near);
            for &next in &near {
                if self.label(next) == from {
                    self.relabel(next, from, to);
                    stack.push(next);
                }
            }
        }
    }

    fn relabel(&mut self, member: Member, from: u32, to: u32) {
        if from != NONE {
            self.components.shrink(from);
        }
        self.components.grow(to);
        match member {
            Member::Junction(node) => self.nodes[node as usize].component = to,
            Member::Run(run) => self.runs[run as usize].component = to,
        }
    }

    /// Finds out which of the nodes around a cut are still connected, and names the smaller parts anew.
    fn split(&mut self, node: Option<u32>, lost: &[u32]) {
        let terminals: Vec<Member> =
            node.into_iter().chain(lost.iter().copied()).map(|node| self.member_of(node)).collect();
        let component = self.label(terminals[0]);
        // `group[i]` is the walk that terminal i's walk has met; a walk is its own group until then.
        let mut group: Vec<usize> = (0..terminals.len()).collect();
        let mut owner: FxHashMap<Member, usize> = FxHashMap::default();
        let mut frontiers: Vec<VecDeque<Member>> = vec![VecDeque::new(); terminals.len()];
        for (walk, &terminal) in terminals.iter().enumerate() {
            match owner.get(&terminal) {
                Some(&other) => group[walk] = root(&group, other),
                None => {
                    owner.insert(terminal, walk);
                    frontiers[walk].push_back(terminal);
                }
            }
        }
        let mut near = Vec::with_capacity(6);
        loop {
            let mut alive: Vec<usize> = (0..terminals.len())
                .filter(|&walk| !frontiers[walk].is_empty())
                .map(|walk| root(&group, walk))
                .collect();
            alive.sort_unstable();
            alive.dedup();
            if alive.len() < 2 {
                self.name_exhausted(component, &group, &owner, alive.first().copied());
                return;
            }
            for (walk, frontier) in frontiers.iter_mut().enumerate() {
                let Some(member) = frontier.pop_front() else { continue };
                near.clear();
                self.neighbour_members(member, &mut near);
                for &next in near.iter().filter(|&&next| self.label(next) == component) {
                    match owner.get(&next) {
                        Some(&other) => {
                            let (a, b) = (root(&group, walk), root(&group, other));
                            group[a.max(b)] = a.min(b);
                        }
                        None => {
                            owner.insert(next, walk);
                            frontier.push_back(next);
                        }
                    }
                }
            }
        }
    }

    /// Gives every group but the one that is still being walked a name of its own; where all are exhausted, the first
    /// keeps the old name.
    fn name_exhausted(
        &mut self,
        component: u32,
        group: &[usize],
        owner: &FxHashMap<Member, usize>,
        alive: Option<usize>,
    ) {
        let keeps = alive.unwrap_or(0);
        let mut names = vec![NONE; group.len()];
        // The order in which members are renamed reaches nothing: each ends with its group's name.
        for (&member, &walk) in owner {
            let of = root(group, walk);
            if of == keeps {
                continue;
            }
            if names[of] == NONE {
                names[of] = self.components.fresh_empty();
            }
            self.relabel(member, component, names[of]);
        }
    }

    fn member_of(&self, node: u32) -> Member {
        match self.through(node) {
            Some(axis) => Member::Run(self.run_through(node, axis)),
            None => Member::Junction(node),
        }
    }

    fn label(&self, member: Member) -> u32 {
        match member {
            Member::Junction(node) => self.nodes[node as usize].component,
            Member::Run(run) => self.runs[run as usize].component,
        }
    }

    fn neighbour_members(&self, member: Member, near: &mut Vec<Member>) {
        match member {
            Member::Junction(node) => near.extend(
                self.nodes[node as usize]
                    .arms
                    .iter()
                    .filter(|&&run| run != NONE)
                    .map(|&run| Member::Run(run)),
            ),
            Member::Run(run) => {
                let it = &self.runs[run as usize];
                near.extend(
                    [it.low, it.high]
                        .into_iter()
                        .filter(|&end| self.through(end).is_none())
                        .map(Member::Junction),
                );
            }
        }
    }
}

fn root(group: &[usize], mut walk: usize) -> usize {
    while group[walk] != walk {
        walk = group[walk];
    }
    walk
}
