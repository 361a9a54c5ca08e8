//! Which controls have a version for the kernel, what the kernel calls them, and which it knows.

use firstflight_control::Control;
use firstflight_core::registry;

use crate::knobs::{KnobValues, NotInKernel, is_of_own_estimate};

/// A pair of policies that exists in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Name of the start-up.
    pub startup: &'static str,
    /// Name of the avoidance.
    pub avoidance: &'static str,
    /// The header in `c/controls` that puts the two together, without its ending.
    header: &'static str,
}

/// A control as the kernel can have it.
#[derive(Clone, Debug)]
pub struct KernelControl {
    /// In full, as results name it.
    pub full: String,
    /// What the kernel calls it: at most [`LONGEST_NAME`] characters.
    pub name: String,
    /// Its policies.
    pub pair: &'static Pair,
    /// The header in `c/controls` that puts them together, without its ending.
    pub header: &'static str,
    /// Its knobs.
    pub knobs: KnobValues,
}

impl KernelControl {
    /// The kernel's version of a control.
    ///
    /// # Errors
    /// The pair, or a knob of it, has no version in C.
    pub fn new(control: &Control) -> Result<Self, NotInKernel> {
        let pair = PAIRS
            .iter()
            .find(|pair| {
                pair.startup == control.startup_name && pair.avoidance == control.avoidance_name
            })
            .ok_or_else(|| NotInKernel::Pair {
                control: control.alias.clone(),
                found: format!("{}+{}", control.startup_name, control.avoidance_name),
                accepted: pairs(),
            })?;
        let own = control.settings.iter().any(is_of_own_estimate);
        let written = control.alias.split(['(', '+', ' ']).next().unwrap_or_default();
        Ok(Self {
            full: control.full.clone(),
            name: kernel_name(written),
            pair,
            header: if own { WESTWOOD_ESTIMATES } else { pair.header },
            knobs: KnobValues::of(control)?,
        })
    }
}

/// What the kernel calls the control of that alias or start-up: `ff_tcpw_a` for `tcpw-a`.
pub fn kernel_name(written: &str) -> String {
    format!("ff_{}", written.replace(['-', '.'], "_")).chars().take(LONGEST_NAME).collect()
}

/// Aliases and start-ups that can be loaded by that name alone.
pub fn loadable() -> Vec<&'static str> {
    let aliases = registry::ALIASES.iter().map(|alias| alias.name);
    let startups = registry::STARTUPS.iter().map(|startup| startup.name);
    let mut names: Vec<&str> = aliases
        .chain(startups)
        .filter(|name| {
            Control::named(name).is_ok_and(|control| KernelControl::new(&control).is_ok())
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Every congestion control the running kernel knows, by name; none where there is no Linux.
pub fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn pairs() -> String {
    let names: Vec<_> =
        PAIRS.iter().map(|pair| format!("{}+{}", pair.startup, pair.avoidance)).collect();
    names.join(", ")
}

/// Every pair there is.
pub const PAIRS: &[Pair] = &[
    Pair { startup: "slow-start", avoidance: "newreno", header: "newreno" },
    Pair { startup: "liw", avoidance: "newreno", header: "liw" },
    Pair { startup: "hoe", avoidance: "newreno", header: "hoe" },
    Pair { startup: "bc", avoidance: "newreno", header: "bc" },
    Pair { startup: "dbc", avoidance: "newreno", header: "dbc" },
    Pair { startup: "astart", avoidance: "westwood", header: "astart" },
    Pair { startup: "vegas", avoidance: "vegas", header: "vegas" },
    Pair { startup: "slow-start", avoidance: "cubic", header: "cubic" },
    Pair { startup: "hystart", avoidance: "cubic", header: "hystart" },
    Pair { startup: "mstart", avoidance: "cubic", header: "mstart" },
];

/// The header of Astart before a Westwood that keeps an estimate of its own.
const WESTWOOD_ESTIMATES: &str = "astart_own";

/// `TCP_CA_NAME_MAX` without the zero at the end.
pub const LONGEST_NAME: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_aliases() {
        let name = |text: &str| {
            KernelControl::new(&Control::named(text).unwrap()).map(|control| control.name)
        };
        assert_eq!(name("tcpw-a(lg.eps=0.6)").unwrap(), "ff_tcpw_a");
        assert_eq!(name("slow-start(iw=4pkt)+newreno").unwrap(), "ff_slow_start");
        assert_eq!(name("astart+newreno").unwrap_err().to_string().matches("astart").count(), 3);
    }

    #[test]
    fn every_loadable_name_is_one_the_kernel_takes() {
        for name in loadable() {
            assert!(kernel_name(name).len() <= LONGEST_NAME, "{name}");
            assert_eq!(kernel_name(name).len(), name.len() + 3, "{name} would be cut");
        }
    }
}
