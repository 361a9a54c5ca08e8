//! Which controls have a version for the kernel, what the kernel calls them, and which it knows.

use firstflight_control::control::missing;
use firstflight_control::stack::StackControl;
use firstflight_control::{Control, Setting};
use firstflight_core::estimate::ere::EreKnobs;
use firstflight_core::knob::Knobs as _;
use firstflight_core::needs::Facilities;
use firstflight_core::policy::Observer as _;
use firstflight_core::registry::{self, AVOIDANCES, STARTUPS};

use crate::PROVIDES;
use crate::knobs::{KnobValues, NotInKernel};
use crate::layout::in_c;

/// The kernel's own controls that firstflight knows; `linux-` and what the kernel calls it.
pub const OWN: &[StackControl] = &[
    StackControl {
        name: "linux-reno",
        summary: "slow start and congestion avoidance",
        source: "RFC 5681; net/ipv4/tcp_cong.c",
    },
    StackControl {
        name: "linux-cubic",
        summary: "CUBIC, HyStart its start-up",
        source: "RFC 9438; net/ipv4/tcp_cubic.c",
    },
    StackControl {
        name: "linux-bbr",
        summary: "BBR version 1, paced",
        source: "Cardwell et al., ACM Queue 2016; net/ipv4/tcp_bbr.c",
    },
    StackControl {
        name: "linux-vegas",
        summary: "TCP Vegas, where the kernel has it",
        source: "Brakmo and Peterson 1995; net/ipv4/tcp_vegas.c",
    },
    StackControl {
        name: "linux-westwood",
        summary: "TCP Westwood+, where the kernel has it",
        source: "Mascolo et al. 2001; net/ipv4/tcp_westwood.c",
    },
    StackControl {
        name: "linux-dctcp",
        summary: "DCTCP at both ends, where the kernel has it",
        source: "RFC 8257; net/ipv4/tcp_dctcp.c",
    },
];

/// A pair of policies that exists in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltPair {
    /// Name of the start-up.
    pub startup: &'static str,
    /// Name of the avoidance.
    pub avoidance: &'static str,
    /// The object in which the avoidance takes its estimate from the start-up, or keeps none.
    sharing: Option<&'static str>,
    /// The object in which the avoidance keeps an estimate of its own.
    estimating: Option<&'static str>,
}

/// A control as the kernel can have it.
#[derive(Clone, Debug)]
pub struct KernelControl {
    /// In full, as results name it.
    pub full: String,
    /// What the kernel calls it: at most [`LONGEST_NAME`] characters.
    pub name: String,
    /// Its policies.
    pub pair: &'static BuiltPair,
    /// The object that holds them, as `build.rs` calls it.
    pub object: &'static str,
    /// Its knobs.
    pub knobs: KnobValues,
    /// What its policies would use and the kernel does not provide: without it the control runs,
    /// but not as its source describes.
    pub missing: Facilities,
}

impl KernelControl {
    /// The kernel's version of a control.
    ///
    /// # Errors
    /// The pair, or a knob of it, has no version in C, or needs what the kernel does not provide.
    pub fn new(control: &Control) -> Result<Self, NotInKernel> {
        let policies = [
            (control.startup_name, control.startup.needs()),
            (control.avoidance_name, control.avoidance.needs()),
        ];
        let missing = missing(&control.alias, "the kernel", PROVIDES, &policies)?;
        let pair = PAIRS
            .iter()
            .find(|pair| {
                pair.startup == control.startup_name && pair.avoidance == control.avoidance_name
            })
            .filter(|_| !control.startup.is_landed())
            .ok_or_else(|| NotInKernel::Pair {
                control: control.alias.clone(),
                found: found(control),
                accepted: accepted(),
            })?;
        let knobs = KnobValues::of(control)?;
        let own = control.startup.eligible().is_none()
            || control
                .settings
                .iter()
                .any(|setting| setting.policy == control.avoidance_name && is_of_estimate(setting));
        let object = if own { pair.estimating } else { pair.sharing };
        let written = control.alias.split(['(', '+', ' ']).next().unwrap_or_default();
        Ok(Self {
            full: control.full.clone(),
            name: kernel_name(written),
            pair,
            object: object.or(pair.sharing).or(pair.estimating).unwrap_or_default(),
            knobs,
            missing,
        })
    }
}

/// The control's policies, without their knobs.
fn found(control: &Control) -> String {
    let (startup, avoidance) = (control.startup_name, control.avoidance_name);
    match control.startup.is_landed() {
        true => format!("landed({startup})+{avoidance}"),
        false => format!("{startup}+{avoidance}"),
    }
}

/// Whether a setting is one of an estimate: set for an avoidance, that keeps one of its own.
fn is_of_estimate(setting: &Setting) -> bool {
    EreKnobs::default().set(setting.knob, setting.value)
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

/// Controls that can be loaded by one name alone, each once: of the names of one control the first.
pub fn distinct() -> Vec<&'static str> {
    let mut full = Vec::new();
    let mut names = loadable();
    names.retain(|name| {
        let control = Control::named(name).map(|control| control.full).unwrap_or_default();
        let new = !full.contains(&control);
        full.push(control);
        new
    });
    names
}

/// The policies that have C, in words.
fn accepted() -> String {
    let names = |table| in_c(table).map(|(card, _)| card.name).collect::<Vec<_>>().join(", ");
    format!("a start-up of {} before an avoidance of {}", names(STARTUPS), names(AVOIDANCES))
}

include!(concat!(env!("OUT_DIR"), "/pairs.rs"));

/// `TCP_CA_NAME_MAX` without the zero at the end.
pub const LONGEST_NAME: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels(text: &str) -> Result<KernelControl, NotInKernel> {
        KernelControl::new(&Control::named(text).unwrap())
    }

    #[test]
    fn names_are_those_of_the_aliases() {
        assert_eq!(kernels("tcpw-a(lg.eps=0.6)").unwrap().name, "ff_tcpw_a");
        assert_eq!(kernels("slow-start(iw=4pkt)+newreno").unwrap().name, "ff_slow_start");
    }

    /// The object depends on which policy keeps an estimate.
    #[test]
    fn an_avoidance_estimates_by_itself_where_the_start_up_does_not() {
        let object = |text: &str| kernels(text).unwrap().object;
        assert_eq!(object("astart"), "astart_westwood");
        assert_eq!(object("tcpw-a(lg.eps=0.5)"), "astart_westwood");
        assert_eq!(object("astart+westwood(ere.N=3)"), "astart_westwood_own");
        assert_eq!(object("tcpw"), "slow_start_westwood_own");
        assert_eq!(object("dbc+westwood"), "decreasing_byte_counting_westwood_own");
        assert_eq!(object("dbc(wth=ere)+westwood"), "decreasing_byte_counting_westwood");
        assert_eq!(object("astart+newreno"), "astart_new_reno");
    }

    #[test]
    fn what_the_kernel_lacks_is_refused_in_one_sentence() {
        let problem = |text: &str| kernels(text).unwrap_err().to_string();
        let found = problem("limited");
        assert!(found.contains("no kernel version of limited+newreno; accepted: a start-up of"));
        assert!(
            found.ends_with(" before an avoidance of newreno, vegas, westwood, cubic"),
            "{found}"
        );
        let found = problem("landed(hystart-pp)");
        assert!(found.contains("no kernel version of landed(hystart-pp)+cubic; "), "{found}");
        let found = problem("quick-start");
        let words =
            "quick-start needs routers that grant a rate, which the kernel does not provide";
        assert!(found.contains(words), "{found}");
        let found = problem("chirps");
        let words = "chirps needs a timer, which the kernel does not provide";
        assert!(found.contains(words), "{found}");
        let missing = kernels("careful-resume").unwrap().missing;
        assert_eq!(missing, Facilities::WAKE_UPS);
    }

    #[test]
    fn every_start_up_runs_before_every_avoidance() {
        assert_eq!(PAIRS.len(), in_c(STARTUPS).count() * in_c(AVOIDANCES).count());
        for pair in PAIRS {
            let control = kernels(&format!("{}+{}", pair.startup, pair.avoidance)).unwrap();
            assert_eq!(control.pair, pair);
            // Nobody wakes a control here.
            let missing = control.missing.without(Facilities::WAKE_UPS);
            assert!(missing.is_empty(), "{}", control.full);
        }
    }

    #[test]
    fn every_loadable_control_has_one_name_among_the_distinct() {
        let (all, distinct) = (loadable(), distinct());
        assert!(distinct.len() < all.len() && distinct.contains(&"astart"), "{distinct:?}");
        let full = |name: &str| Control::named(name).unwrap().full;
        for name in all {
            let named = distinct.iter().filter(|other| full(other) == full(name)).count();
            assert_eq!(named, 1, "{name}");
        }
    }

    /// Where it is too long for the kernel it is cut, and is still nobody else's.
    #[test]
    fn every_loadable_name_is_one_the_kernel_takes() {
        let names: Vec<String> = loadable().into_iter().map(kernel_name).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(name.len() <= LONGEST_NAME, "{name}");
            assert!(!names[..place].contains(name), "two controls would be {name}");
        }
        assert_eq!(kernel_name("careful-resume"), "ff_careful_resu");
        let cut = loadable().into_iter().filter(|name| name.len() + 3 > LONGEST_NAME);
        assert_eq!(cut.collect::<Vec<_>>(), ["careful-resume"]);
    }
}
