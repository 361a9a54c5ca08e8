//! The testbed that flows run on: two ends and a bottleneck, whichever way the bottleneck is made.

use std::str::FromStr;

use crate::link::{Clock, LinkReport, LinkSpec};
use crate::namespace::Namespace;
use crate::netem::Netem;
use crate::path::Path;
use firstflight_runner::RunError;

/// How the bottleneck is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// firstflight's own link between two TUN devices.
    Tun,
    /// The kernel's netem between two veth pairs.
    Netem,
}

impl LinkKind {
    /// As results name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tun => "tun",
            Self::Netem => "netem",
        }
    }
}

impl FromStr for LinkKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tun" => Ok(Self::Tun),
            "netem" => Ok(Self::Netem),
            _ => Err(format!("found `{text}`; accepted: tun, netem")),
        }
    }
}

/// The network namespaces of both ends, and the bottleneck between them. Dropping it removes them.
#[derive(Debug)]
pub(crate) enum Testbed {
    Tun(Path),
    Netem(Netem),
}

impl Testbed {
    /// Creates the namespaces and the bottleneck.
    ///
    /// # Errors
    /// The machine lacks something, or the link cannot do what the scenario asks for.
    pub(crate) fn new(kind: LinkKind, spec: &LinkSpec) -> Result<Self, RunError> {
        Ok(match kind {
            LinkKind::Tun => Self::Tun(Path::new(spec)?),
            LinkKind::Netem => Self::Netem(Netem::new(spec)?),
        })
    }

    pub(crate) fn near(&self) -> &Namespace {
        match self {
            Self::Tun(path) => &path.near,
            Self::Netem(netem) => &netem.near,
        }
    }

    pub(crate) fn far(&self) -> &Namespace {
        match self {
            Self::Tun(path) => &path.far,
            Self::Netem(netem) => &netem.far,
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        match self {
            Self::Tun(path) => path.clock,
            Self::Netem(netem) => netem.clock,
        }
    }

    /// Counts from now on only what happens between these times of the clock, ns.
    pub(crate) fn measure(&mut self, from: u64, until: u64) {
        match self {
            Self::Tun(path) => path.measure(from, until),
            Self::Netem(netem) => netem.measure(from, until),
        }
    }

    /// Takes it down and returns its link's report.
    pub(crate) fn finish(self) -> LinkReport {
        match self {
            Self::Tun(path) => path.stop(),
            Self::Netem(netem) => netem.report(),
        }
    }
}
