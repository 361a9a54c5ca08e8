//! Which transport carries the flows: the one place where the command line chooses among them.

use std::sync::Arc;

use firstflight_control::Control;
use firstflight_core::card::Card;
use firstflight_core::needs::{Facilities, Fit, Needs};
use firstflight_core::policy::Observer as _;
use firstflight_quic_sim::Quic;
use firstflight_runner::{On as Over, Options, Report};
use firstflight_scenario::{ControlSpec, PathFlags, Resolved, Scenario, hint};

use crate::failure::Failure;
use crate::lab::{self, Lab, LinuxControl};
use crate::logs::Logs;
use crate::real_time;
use crate::virtual_time::VirtualTime;

/// What `--on` takes, and the flags that go with a transport.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct On {
    /// Transport: sim; quic, quinn's stack in the simulator's time; or linux, the running kernel's
    /// own TCP [default: sim]
    #[arg(long = "on", value_name = "TRANSPORT", default_value = "sim", hide_default_value = true)]
    name: String,
    /// On quic: real sockets across the lab's emulated link, in real time (root, Linux)
    #[arg(long)]
    real_time: bool,
    /// On linux, how the bottleneck is made: tun (firstflight's own link) or netem
    /// [default: netem if the kernel has it]
    #[arg(long, value_name = "KIND")]
    link: Option<String>,
    /// On linux, who sends: own (with samples of TCP_INFO), or iperf3, which tells neither timeouts
    /// nor what is in flight, and sends for whole seconds [default: own]
    #[arg(long, value_name = "PROGRAM")]
    generator: Option<String>,
    /// On linux, in a clock of its own: every run boots a kernel in qemu whose time nothing outside
    /// disturbs, so that equal runs give equal results (no root; see docs/lab.md)
    #[arg(long)]
    virtual_time: bool,
    /// In virtual time, the kernel: a Debian package's name, FILE.deb, or an x86-64 bzImage
    /// [default: linux-image-cloud-amd64]
    #[arg(long, value_name = "KERNEL", requires = "virtual_time")]
    kernel: Option<String>,
}

/// A transport of this build.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    /// The packet simulator's TCP.
    Sim,
    /// quinn's QUIC over the packet simulator's network, in its time.
    Quic,
    /// quinn over sockets, across the lab's link, with quinn's qlogs if they are wanted.
    RealTime(Option<Arc<Logs>>),
    /// The running kernel's TCP.
    Linux(Lab),
    /// The TCP of a kernel that is booted for each run.
    VirtualLinux(VirtualTime),
}

impl On {
    /// A transport by its name, without the flags that go with some.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The transport that was asked for, with a link that tells of its queue.
    ///
    /// # Errors
    /// As [`On::transport`], or a link that does not.
    pub(crate) fn with_queue(&self) -> Result<Transport, Failure> {
        match self.link.as_deref() {
            Some("netem") => Err(Failure::Usage(
                "--link netem: it tells nothing of its queue, by which is judged; accepted: tun"
                    .to_owned(),
            )),
            None if self.name == "linux" => {
                Self { link: Some("tun".to_owned()), ..self.clone() }.transport()
            }
            _ => self.transport(),
        }
    }

    /// The transport that was asked for.
    ///
    /// # Errors
    /// A name that is none, or a flag of another transport.
    pub(crate) fn transport(&self) -> Result<Transport, Failure> {
        let lab = Lab::read(self.link.as_deref(), self.generator.as_deref())?;
        let name = self.name.as_str();
        if self.real_time && name != "quic" {
            return Err(Failure::Usage(format!(
                "--real-time belongs to `--on quic`, found `--on {name}`; accepted: one or the \
                 other"
            )));
        }
        if self.virtual_time && name != "linux" {
            return Err(Failure::Usage(format!(
                "--virtual-time belongs to `--on linux`, found `--on {name}`; accepted: one or \
                 the other"
            )));
        }
        let simulated = match name {
            "linux" if self.virtual_time => {
                let [kernel, link, generator] =
                    [&self.kernel, &self.link, &self.generator].map(Option::as_deref);
                return Ok(Transport::VirtualLinux(VirtualTime::new(kernel, link, generator)));
            }
            "linux" => return Ok(Transport::Linux(lab)),
            "sim" => Some(Transport::Sim),
            "quic" if self.real_time => Some(Transport::RealTime(None)),
            "quic" => Some(Transport::Quic),
            _ => None,
        };
        if let Some(transport) = simulated {
            if self.link.is_none() && self.generator.is_none() {
                return Ok(transport);
            }
            return Err(Failure::Usage(format!(
                "--link and --generator belong to `--on linux`, found `--on {name}`; accepted: one \
                 or the other"
            )));
        }
        let hint = hint(name, TRANSPORTS.iter().copied());
        let accepted = TRANSPORTS.join(", ");
        Err(Failure::Usage(format!("--on {name}: unknown transport{hint}; accepted: {accepted}")))
    }
}

impl Transport {
    /// The scenario as this transport runs it, in base units.
    ///
    /// # Errors
    /// What cannot be, or cannot be here.
    pub(crate) fn resolve(&self, scenario: &Scenario) -> Result<Resolved, Failure> {
        match self {
            Self::Sim | Self::Quic => Ok(firstflight_runner::resolve(scenario, self.over())?),
            Self::RealTime(_) => real_time::resolve(scenario),
            Self::Linux(_) | Self::VirtualLinux(_) => Ok(lab::resolve(scenario)?),
        }
    }

    /// Checks that no key of the scenario is one without effect here.
    ///
    /// # Errors
    /// The key, and what is accepted.
    pub(crate) fn check_keys(&self, scenario: &Scenario) -> Result<(), Failure> {
        match self {
            Self::Sim | Self::Quic => Ok(firstflight_runner::check_keys(scenario, self.over())?),
            Self::RealTime(_) => Ok(firstflight_runner::check_keys(scenario, Self::Quic.over())?),
            Self::Linux(_) | Self::VirtualLinux(_) => Ok(()),
        }
    }

    /// Checks that a control exists here and that its knobs can be set so, without running it.
    ///
    /// # Errors
    /// What is wrong, with the nearest name and what is accepted.
    pub(crate) fn check_control(&self, spec: &ControlSpec) -> Result<(), Failure> {
        self.full_name(spec).map(drop)
    }

    /// Checks that every flow of such a path can have a control of the core's here.
    ///
    /// # Errors
    /// What is wrong, or what the control needs and the transport does not provide.
    pub(crate) fn carries(&self, spec: &ControlSpec, path: &PathFlags) -> Result<(), Failure> {
        match self {
            Self::Sim => {
                let scenario = Scenario::from_flags(path, std::slice::from_ref(&spec.text))?;
                firstflight_runner::check(&scenario, self.over())?;
            }
            // Elsewhere in `run` a flow of the scenario may still ask for TCP.
            Self::Quic | Self::RealTime(_) => drop(firstflight_quic::any(&spec.text)?),
            _ => {}
        }
        self.check_control(spec)
    }

    /// What results call a control.
    ///
    /// # Errors
    /// As [`Transport::check_control`].
    pub(crate) fn full_name(&self, spec: &ControlSpec) -> Result<String, Failure> {
        match self {
            Self::Sim | Self::Quic | Self::RealTime(_) => {
                Ok(firstflight_runner::full_name(spec, self.over())?)
            }
            Self::Linux(_) => Ok(LinuxControl::resolve(spec, false)?.full),
            Self::VirtualLinux(_) => Ok(LinuxControl::resolve_elsewhere(spec)?.full),
        }
    }

    /// The kernel whose TCP it is, if any: what one has measured is no other's.
    ///
    /// # Errors
    /// A kernel to be booted that is not there.
    pub(crate) fn kernel(&self) -> Result<String, Failure> {
        match self {
            Self::Linux(_) => Ok(lab::kernel_release()),
            Self::VirtualLinux(guests) => guests.version(),
            Self::Sim | Self::Quic | Self::RealTime(_) => Ok(String::new()),
        }
    }

    /// Its name, as `--on` takes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Quic | Self::RealTime(_) => "quic",
            Self::Linux(_) | Self::VirtualLinux(_) => "linux",
        }
    }

    /// Its runs take the time of this machine, in which they would disturb each other.
    pub(crate) fn is_in_real_time(&self) -> bool {
        matches!(self, Self::RealTime(_) | Self::Linux(_))
    }

    /// It is the packet simulator's TCP.
    pub(crate) fn is_sim(&self) -> bool {
        matches!(self, Self::Sim)
    }

    /// Has quinn's qlogs written, of all its flows or of those that name QUIC; whether it can have
    /// such flows.
    pub(crate) fn log_to(&mut self, logs: &Arc<Logs>) -> bool {
        match self {
            Self::RealTime(to) => *to = Some(Arc::clone(logs)),
            Self::Sim | Self::Quic => {}
            Self::Linux(_) | Self::VirtualLinux(_) => return false,
        }
        true
    }

    /// QUIC is there for the flows that name it; on `quic` it carries all others too.
    pub(crate) fn over(&self) -> Option<Over<'static>> {
        Some(Over { transport: &Quic::SILENT, by_default: !self.is_sim() })
    }

    /// Runs every plan of the scenario; what QUIC it needs is in the options, or [`Self::over`].
    /// `say` hears in a few words what is being done, where that takes long.
    ///
    /// # Errors
    /// A scenario that cannot be, a machine that lacks something, or an interruption before any run
    /// was finished.
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        options: &Options<'_>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Report, Failure> {
        match self {
            Self::Sim | Self::Quic => {
                let options = Options { on: options.on.or(self.over()), ..*options };
                Ok(firstflight_runner::run(scenario, &options)?)
            }
            Self::RealTime(logs) => real_time::run(scenario, options, logs.as_deref()),
            Self::Linux(lab) => Ok(lab::run(scenario, options, *lab)?),
            Self::VirtualLinux(guests) => guests.run(scenario, options, say),
        }
    }
}

/// A transport that runs a policy, and what the policy does without there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    /// The transport, as `--on` takes it.
    pub(crate) on: &'static str,
    /// What it would use and does not get; nothing where it runs as its source describes.
    pub(crate) without: Facilities,
}

/// The transports that run a policy.
pub(crate) fn transports_of(card: &Card, needs: Needs) -> Vec<Runs> {
    let runs = |(on, provides): (&'static str, Facilities)| match needs.on(provides) {
        _ if on == "linux" && card.kernel.is_none() => None,
        Fit::Lacks(_) => None,
        Fit::Full => Some(Runs { on, without: Facilities::NONE }),
        Fit::Degraded(without) => Some(Runs { on, without }),
    };
    TRANSPORTS.iter().copied().zip(PROVIDED).filter_map(runs).collect()
}

/// The transports that run a control, by its name.
pub(crate) fn transports_of_control(control: &str) -> Vec<&'static str> {
    let Ok(control) = Control::named(control) else { return Vec::new() };
    let mut of_startup = transports_of(control.startup.card(), control.startup.needs());
    of_startup.retain(|runs| runs.on != "linux" || !control.startup.is_landed());
    let of_avoidance = transports_of(control.avoidance.card(), control.avoidance.needs());
    let both = |runs: &Runs| of_avoidance.iter().any(|other| other.on == runs.on);
    of_startup.iter().filter(|runs| both(runs)).map(|runs| runs.on).collect()
}

/// What each of [`TRANSPORTS`] provides.
const PROVIDED: [Facilities; 3] =
    [firstflight_sim::PROVIDES, firstflight_quic::PROVIDES, firstflight_kernel::PROVIDES];

/// The names of the transports of this build.
pub(crate) const TRANSPORTS: [&str; 3] = ["sim", "quic", "linux"];
