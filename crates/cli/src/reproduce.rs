//! `reproduce` with the lab: the running kernel's TCP, or a kernel's in virtual time, over
//! firstflight's own link, which is the same on every kernel and tells how late it was.

use firstflight_reproduce::{Lab, LabStop, command};
use firstflight_runner::{Options, Report};
use firstflight_scenario::Scenario;

use crate::failure::{Failure, Status};
use crate::lab;
use crate::virtual_time::VirtualTime;

// The help begins with the sentence of `common`, and clap's group is that of `common`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    common: command::Args,
    /// Run the rows of the lab on a kernel in virtual time, as `run --on linux --virtual-time`: no
    /// root, all cores, equal results on every run
    #[arg(long)]
    virtual_time: bool,
    /// In virtual time, the kernel: a Debian package's name, FILE.deb, or an x86-64 bzImage
    /// [default: linux-image-cloud-amd64]
    #[arg(long, value_name = "KERNEL", requires = "virtual_time")]
    kernel: Option<String>,
}

/// Runs the command.
pub(crate) fn reproduce(args: &Args) -> Result<Status, Failure> {
    let asked = args.common.check()? || args.virtual_time;
    let kernel = args.kernel.as_deref();
    let guests = args.virtual_time.then(|| VirtualTime::new(kernel, Some("tun"), None));
    // What tells one machine's runs from another's.
    let version = match &guests {
        Some(guests) => guests.version()?,
        None => lab::kernel_release(),
    };
    let run = |scenario: &Scenario, options: &Options<'_>| run(guests.as_ref(), scenario, options);
    let here = Lab::Here { version: &version, run: &run, virtual_time: guests.is_some() };
    Ok(args.common.run(if asked { here } else { Lab::NotAsked })?)
}

/// Runs a scenario once.
///
/// # Errors
/// The machine lacks something, or the run broke.
fn run(
    guests: Option<&VirtualTime>,
    scenario: &Scenario,
    options: &Options<'_>,
) -> Result<Report, LabStop> {
    let report = match guests {
        Some(guests) => guests.run(scenario, options, &|_| {}),
        None => lab::run(scenario, options, lab::Lab::TUN).map_err(Failure::from),
    };
    report.map_err(|failure| match failure {
        Failure::Lacks(why) => LabStop::Lacks(why),
        Failure::Interrupted => LabStop::Interrupted,
        other => LabStop::Failed(other.to_string()),
    })
}
