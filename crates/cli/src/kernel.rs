//! `kernel`: the controls as congestion controls of the running Linux kernel.

use firstflight_control::Control;
use firstflight_kernel::catalogue::{self, KernelControl};

use crate::failure::{Failure, Status};

#[cfg(feature = "kernel")]
mod load;
#[cfg(feature = "kernel")]
mod status;
#[cfg(feature = "kernel")]
mod unload;

/// Load controls into the running Linux kernel as eBPF, unload them, tell who uses them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Load(Load),
    Unload(Unload),
    Status(Show),
}

/// Register controls; they stay until unloaded or until the machine restarts
#[derive(Debug, clap::Args)]
#[command(after_help = load_help())]
struct Load {
    /// A control such as astart(ere.N=3); under a name of your own as NAME=CONTROL
    #[arg(required = true, value_name = "CONTROL")]
    controls: Vec<String>,
    /// Register as kernels before 6.4 do, where there are no links
    #[arg(long, hide = true)]
    without_link: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Take controls out again; connections that use one keep it until they end
#[derive(Debug, clap::Args)]
struct Unload {
    /// A loaded control: ff_astart, or astart, or as it was written at load
    #[arg(required_unless_present = "all", value_name = "CONTROL")]
    controls: Vec<String>,
    /// Every loaded control
    #[arg(long, conflicts_with = "controls")]
    all: bool,
    /// Even a control that a network namespace has as its default, or without the programs that
    /// tell who uses it
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Tell what is loaded and who uses it
#[derive(Debug, clap::Args)]
#[command(after_help = HOW_TO_USE)]
struct Show {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  firstflight kernel load astart
  firstflight kernel load astart 'ff_astart10=astart(ere.N=10)'
  firstflight kernel status
  firstflight kernel unload astart

Needs root, Linux 5.15 or later with BTF, and a build with `--features kernel`. docs/operators.md
tells how to try a control on one route first, and how to go back.";

fn load_help() -> String {
    let names = catalogue::loadable().join(", ");
    format!("Controls with a kernel version: {names}.\n\n{HOW_TO_USE}")
}

const HOW_TO_USE: &str = "\
A loaded control is known by its name, as ff_astart, in every network namespace. It serves
connections that begin after it is chosen for
  one socket:     setsockopt(IPPROTO_TCP, TCP_CONGESTION, \"ff_astart\"), or iperf3 -C ff_astart
  one route:      ip route replace 192.0.2.0/24 via GATEWAY congctl ff_astart
  one namespace:  ip netns exec NAME sysctl -w net.ipv4.tcp_congestion_control=ff_astart
  the host:       sysctl -w net.ipv4.tcp_congestion_control=ff_astart";

/// Runs the command.
pub(crate) fn kernel(args: &Args) -> Result<Status, Failure> {
    match &args.action {
        Action::Load(args) => {
            let wanted: Vec<Wanted> =
                args.controls.iter().map(|text| Wanted::read(text)).collect::<Result<_, _>>()?;
            distinct(&wanted)?;
            load(wanted, args)
        }
        Action::Unload(args) => unload(args),
        Action::Status(args) => status(args.json),
    }
}

/// What to load.
struct Wanted {
    name: Option<String>,
    control: KernelControl,
}

impl Wanted {
    /// `CONTROL` or `NAME=CONTROL`; a `=` within parentheses is a knob's.
    fn read(text: &str) -> Result<Self, Failure> {
        let (head, _) = text.split_once('(').unwrap_or((text, ""));
        let (name, control) = match head.split_once('=') {
            Some((name, _)) => (Some(name.trim().to_owned()), &text[name.len() + 1..]),
            None => (None, text),
        };
        let mut control = Control::named(control)?;
        // Receivers on the Internet do not acknowledge every packet.
        control.suggest_weights_per_packet();
        let control = KernelControl::new(&control)?;
        Ok(Self { name, control })
    }

    /// What the kernel is to call it.
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.control.name)
    }
}

/// Two controls of one name cannot be loaded.
fn distinct(wanted: &[Wanted]) -> Result<(), Failure> {
    for (place, one) in wanted.iter().enumerate() {
        if let Some(other) = wanted[..place].iter().find(|other| other.name() == one.name()) {
            return Err(Failure::Usage(format!(
                "two controls are to be loaded as {}: {} and {}; accepted: names of their own, \
                 as NAME=CONTROL",
                one.name(),
                other.control.full,
                one.control.full
            )));
        }
    }
    Ok(())
}

#[cfg(feature = "kernel")]
use self::{load::load, status::status, unload::unload};

#[cfg(not(feature = "kernel"))]
mod elsewhere {
    //! A build that cannot load: it reads what is asked for, and says what is missing.

    use firstflight_kernel::requirements::Lack;

    use super::{Load, Unload, Wanted};
    use crate::failure::{Failure, Status};

    pub(super) fn load(_: Vec<Wanted>, _: &Load) -> Result<Status, Failure> {
        Err(Lack::Build.into())
    }

    pub(super) fn unload(_: &Unload) -> Result<Status, Failure> {
        Err(Lack::Build.into())
    }

    pub(super) fn status(_json: bool) -> Result<Status, Failure> {
        Err(Lack::Build.into())
    }
}

#[cfg(not(feature = "kernel"))]
use self::elsewhere::{load, status, unload};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_users_own_stands_before_the_control() {
        let read = |text: &str| Wanted::read(text).map(|wanted| (wanted.name, wanted.control.full));
        let plain = "astart(ere.N=3)+westwood".to_owned();
        assert_eq!(read("astart(ere.N=3)").unwrap(), (None, plain.clone()));
        assert_eq!(read("ff_x=astart(ere.N=3)").unwrap(), (Some("ff_x".into()), plain));
        assert!(read("ff_x=nothing").is_err());
        assert!(read("vegas+hybla").is_err(), "no C");
    }
}
