//! Names of controls on real Linux: the kernel's own as `linux-cubic` and the like, and those of
//! the core, whose kernel versions are called `ff_...`.

use firstflight_control::stack::{OF_LINUX, StackControl};
use firstflight_kernel::KernelControl;
use firstflight_kernel::catalogue::{OWN, available};
use firstflight_scenario::ControlSpec;

use firstflight_runner::RunError;

/// A control that a socket can be given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinuxControl {
    /// What the kernel calls it: `cubic`, `ff_astart`.
    pub kernel_name: String,
    /// In full, as results name it.
    pub full: String,
    /// The preset in force; empty for the kernel's own.
    pub preset: String,
    /// What is to be loaded; `None` for the kernel's own.
    pub kernel: Option<KernelControl>,
}

impl LinuxControl {
    /// The control that `spec` names, for a receiver that acknowledges every packet, or not
    /// (`thinned`); whether the kernel has it is for [`LinuxControl::check`].
    ///
    /// # Errors
    /// A name that nobody has, or a control that has no version for the kernel.
    pub fn resolve(spec: &ControlSpec, thinned: bool) -> Result<Self, RunError> {
        if let Some(kernel_name) = spec.startup.name.strip_prefix(OF_LINUX) {
            return Self::own(spec, kernel_name, false);
        }
        let mut control = firstflight_runner::Control::resolve(spec)?;
        if thinned {
            control.suggest_weights_per_packet();
        }
        let kernel =
            KernelControl::new(&control).map_err(|problem| RunError::Input(problem.to_string()))?;
        Ok(Self {
            kernel_name: kernel.name.clone(),
            full: kernel.full.clone(),
            preset: control.preset,
            kernel: Some(kernel),
        })
    }

    /// Resolves a name for another kernel than the running one, which may have other controls.
    ///
    /// # Errors
    /// As [`LinuxControl::resolve`], but any `linux-NAME` is accepted.
    pub fn resolve_for_guest(spec: &ControlSpec) -> Result<Self, RunError> {
        match spec.startup.name.strip_prefix(OF_LINUX) {
            Some(kernel_name) => Self::own(spec, kernel_name, true),
            None => Self::resolve(spec, false),
        }
    }

    fn own(spec: &ControlSpec, kernel_name: &str, for_guest: bool) -> Result<Self, RunError> {
        let written = &spec.text;
        let known = for_guest || OWN.iter().any(|own| own.name == spec.startup.name);
        if !known && !available().iter().any(|name| name == kernel_name) {
            let axis = "control of the kernel's own";
            return Err(StackControl::unknown(OWN, axis, written, &spec.startup.name).into());
        }
        if !spec.startup.knobs.is_empty() || spec.avoidance.is_some() {
            return Err(RunError::Input(format!(
                "control `{written}`: the kernel's own controls take no knobs and no avoidance; \
                 accepted: {}",
                spec.startup.name
            )));
        }
        let full = spec.startup.name.clone();
        Ok(Self { kernel_name: kernel_name.to_owned(), full, preset: String::new(), kernel: None })
    }

    /// Whether start-up goes on where cwnd has reached ssthresh, as Astart's does, which ends by
    /// loss alone.
    pub(crate) fn goes_on_above_its_threshold(&self) -> bool {
        self.kernel.as_ref().is_some_and(|control| control.pair.startup == "astart")
    }

    /// Whether the control sets ssthresh itself when a connection begins, instead of the route:
    /// ours do, and the kernel's BBR, which removes it (`bbr_init`).
    pub(crate) fn sets_its_own_threshold(&self) -> bool {
        self.kernel_name.starts_with("ff_") || self.kernel_name == "bbr"
    }

    /// The control that the receiver's socket needs too: DCTCP's, whose receiver sends the echo
    /// (`dctcp_ece_ack_update`), and which a listener without it does not accept
    /// (`tcp_ecn_create_request`).
    pub(crate) fn receiver_control(&self) -> Option<&str> {
        Some(self.kernel_name.as_str()).filter(|name| *name == "dctcp")
    }

    /// Whether the running kernel has it.
    ///
    /// # Errors
    /// It has not; the message has the remedy.
    pub fn check(&self) -> Result<(), RunError> {
        let names = available();
        if names.contains(&self.kernel_name) {
            return Ok(());
        }
        let (name, full) = (&self.kernel_name, &self.full);
        let remedy = if name.starts_with("ff_") {
            "a build with `--features kernel` loads it for the run".to_owned()
        } else {
            format!("`modprobe tcp_{name}` loads it where it is a module")
        };
        Err(RunError::Lacks(format!(
            "control `{full}`: this kernel has no `{name}`: {remedy}; it has {}",
            names.join(", ")
        )))
    }
}

/// Controls that were loaded for a run, until this is dropped; connections end before.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    #[cfg(feature = "bpf")]
    _registered: Vec<firstflight_kernel::Registered>,
}

impl Loaded {
    /// Loads the controls of the core into the kernel, with their knobs and under names of this
    /// process, and checks that it has the others. They are unloaded when the process ends; on a
    /// kernel before 6.4 not when SIGKILL ends it.
    ///
    /// # Errors
    /// A control that the kernel lacks and that cannot be loaded.
    #[cfg(feature = "bpf")]
    pub(crate) fn load(controls: &mut [LinuxControl]) -> Result<Self, RunError> {
        use std::sync::atomic::{AtomicU32, Ordering};

        use firstflight_kernel::load::Options;
        use firstflight_kernel::{LoadError, Registered};
        let mut registered: Vec<Registered> = Vec::new();
        for control in controls {
            let Some(kernel) = &control.kernel else {
                control.check()?;
                continue;
            };
            if let Some(same) = registered.iter().find(|other| other.full() == control.full) {
                control.kernel_name = same.name().to_owned();
                continue;
            }
            // The number is new even while an earlier plan's controls are still loaded.
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("ff_{:x}_{number}", std::process::id());
            let options = Options { name: Some(name.clone()), ..Options::default() };
            registered.push(Registered::load(kernel, &options).map_err(|error| match error {
                LoadError::Lack(_) | LoadError::Refused { .. } => {
                    RunError::Lacks(error.to_string())
                }
                LoadError::Control(_) | LoadError::Name(_) | LoadError::NotInKernel(_) => {
                    RunError::Input(error.to_string())
                }
                LoadError::Taken(_) => RunError::Failed(error.to_string()),
            })?);
            control.kernel_name = name;
        }
        Ok(Self { _registered: registered })
    }

    /// Checks that the kernel has every control. This build cannot load any.
    ///
    /// # Errors
    /// A control that the kernel has not.
    #[cfg(not(feature = "bpf"))]
    pub(crate) fn load(controls: &mut [LinuxControl]) -> Result<Self, RunError> {
        controls.iter().try_for_each(LinuxControl::check)?;
        Ok(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<LinuxControl, String> {
        LinuxControl::resolve(&text.parse().unwrap(), false).map_err(|error| error.to_string())
    }

    #[test]
    fn the_kernels_own_are_known_by_their_prefix() {
        let cubic = resolve("linux-cubic").unwrap();
        assert_eq!((&*cubic.kernel_name, &*cubic.full), ("cubic", "linux-cubic"));
        let problem = resolve("linux-qubic").unwrap_err();
        assert!(problem.contains("did you mean `linux-cubic`; accepted: linux-reno"), "{problem}");
        assert!(resolve("linux-reno(iw=4pkt)").unwrap_err().contains("no knobs"));
    }

    #[test]
    fn the_cores_are_known_where_they_have_a_version_for_the_kernel() {
        let newreno = resolve("newreno").unwrap();
        assert_eq!(newreno.kernel_name, "ff_newreno");
        assert!(resolve("astrat").unwrap_err().contains("did you mean `astart`"));
    }

    #[test]
    fn the_routes_ssthresh_is_for_the_kernels_own_but_bbr() {
        let own = ["linux-reno", "linux-cubic", "linux-bbr", "newreno"]
            .map(|name| resolve(name).unwrap().sets_its_own_threshold());
        assert_eq!(own, [false, false, true, true]);
    }

    #[test]
    fn a_missing_control_is_reported_with_the_remedy() {
        let mut control = resolve("linux-reno").unwrap();
        control.kernel_name = "ff_never".to_owned();
        let problem = control.check().unwrap_err().to_string();
        assert!(problem.contains("--features kernel"), "{problem}");
    }
}
