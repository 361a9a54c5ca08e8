//! What is kept of connections that have ended, for those to come: by each source for itself, and
//! by all sources whose flows cross the path.

use firstflight_core::hint::Learned;
use firstflight_core::units::Instant;

use crate::control::Core;
use crate::network::FlowSpec;

/// What one connection left behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastConnection {
    at: Instant,
    learned: Learned,
}

/// The newest connection of each path. Two flows with the same links in the same order share it.
#[derive(Debug)]
pub(crate) struct Memory {
    newest: Vec<Option<PastConnection>>,
    /// By flow: its place in `newest`.
    path_of: Vec<usize>,
}

impl PastConnection {
    /// What a connection that ends at `at` has learned; nothing if it never measured an RTT.
    pub(crate) fn of(at: Instant, sender: &Core) -> Option<Self> {
        sender.learned().map(|learned| Self { at, learned })
    }

    /// What the next connection learns of it at `now`.
    pub(crate) fn hint(&self, now: Instant) -> Learned {
        Learned { age: now.since(self.at), ..self.learned }
    }
}

impl Memory {
    /// The memory of these flows, which the other calls number as they stand here.
    pub(crate) fn new<'a>(flows: impl Iterator<Item = &'a FlowSpec>) -> Self {
        let mut paths: Vec<&[usize]> = Vec::new();
        let path_of = flows.map(|flow| {
            let known = paths.iter().position(|path| *path == flow.path);
            known.unwrap_or_else(|| {
                paths.push(&flow.path);
                paths.len() - 1
            })
        });
        let path_of = path_of.collect();
        Self { newest: vec![None; paths.len()], path_of }
    }

    pub(crate) fn newest(&self, flow: usize) -> Option<&PastConnection> {
        self.newest[self.path_of[flow]].as_ref()
    }

    /// What is kept of the path of that flow has proved wrong.
    pub(crate) fn forget(&mut self, flow: usize) {
        self.newest[self.path_of[flow]] = None;
    }

    pub(crate) fn keep(&mut self, flow: usize, kept: PastConnection) {
        self.newest[self.path_of[flow]] = Some(kept);
    }
}
