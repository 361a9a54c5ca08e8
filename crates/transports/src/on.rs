//! Chooses the transport from `--on` and the flags that go with it.

use std::sync::Arc;

use clap::{Args as _, Command, FromArgMatches as _};
use firstflight_runner::{RunError, Transport};
use firstflight_scenario::hint;

use crate::lab::Lab;
use crate::sockets::Sockets;
use crate::virtual_time::VirtualTime;
use crate::{NOQ, QUIC, SIM};

/// What `--on` takes, and the flags that go with a transport.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct On {
    /// Transport: sim; quic or noq, quinn's stack or noq's (which is iroh's) in the simulator's
    /// time; or linux, the running kernel's own TCP [default: sim]
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
    /// In virtual time, the kernel: a Debian package's name, FILE.deb, a folder of unpacked
    /// packages, or an x86-64 bzImage [default: linux-image-cloud-amd64]
    #[arg(long, value_name = "KERNEL", requires = "virtual_time")]
    kernel: Option<String>,
}

impl On {
    /// A transport by its name, without the flags that go with some.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Reads words as they follow `--on` on a command line, such as `linux --virtual-time`.
    ///
    /// # Errors
    /// Words that are no flags of a transport.
    pub fn read(words: &str) -> Result<Self, RunError> {
        let command = Self::augment_args(Command::new("on").no_binary_name(true));
        let words = ["--on"].into_iter().chain(words.split_whitespace());
        let read = command.try_get_matches_from(words);
        let read = read.and_then(|matches| Self::from_arg_matches(&matches));
        read.map_err(|error| RunError::Input(error.to_string().trim_end().to_owned()))
    }

    /// A kernel over firstflight's own link: the running one, or one in virtual time.
    pub fn lab(virtual_time: bool, kernel: Option<&str>) -> Self {
        let (link, kernel) = (Some("tun".to_owned()), kernel.map(str::to_owned));
        Self { link, kernel, virtual_time, ..Self::named("linux") }
    }

    /// The same, over a link whose queue can be observed: on linux firstflight's own.
    ///
    /// # Errors
    /// `--link netem`, whose queue cannot.
    pub fn with_queue(&self) -> Result<Self, RunError> {
        match self.link.as_deref() {
            Some("netem") => Err(RunError::Input(
                "--link netem: it tells nothing of its queue, which judging needs; accepted: tun"
                    .to_owned(),
            )),
            None if self.name == "linux" => {
                Ok(Self { link: Some("tun".to_owned()), ..self.clone() })
            }
            _ => Ok(self.clone()),
        }
    }

    /// The transport that was asked for.
    ///
    /// # Errors
    /// A name that is none, or a flag of another transport.
    pub fn transport(&self) -> Result<Arc<dyn Transport>, RunError> {
        let lab = Lab::read(self.link.as_deref(), self.generator.as_deref())?;
        let name = self.name.as_str();
        let belongs = |flag: &str, to: &str| {
            let other = "accepted: one or the other";
            Err(RunError::Input(format!("{flag} `--on {to}`, found `--on {name}`; {other}")))
        };
        if self.real_time && name != "quic" {
            return belongs("--real-time belongs to", "quic");
        }
        if self.virtual_time && name != "linux" {
            return belongs("--virtual-time belongs to", "linux");
        }
        let is_known = TRANSPORTS.contains(&name);
        if is_known && name != "linux" && (self.link.is_some() || self.generator.is_some()) {
            return belongs("--link and --generator belong to", "linux");
        }
        match name {
            "sim" => Ok(Arc::new(SIM)),
            "quic" if self.real_time => Ok(Arc::new(Sockets)),
            "quic" => Ok(Arc::new(QUIC)),
            "noq" => Ok(Arc::new(NOQ)),
            "linux" => Ok(match self.guests() {
                Some(guests) => Arc::new(guests),
                None => Arc::new(lab),
            }),
            _ => {
                let hint = hint(name, TRANSPORTS.iter().copied());
                let accepted = TRANSPORTS.join(", ");
                let problem = format!("unknown transport{hint}; accepted: {accepted}");
                Err(RunError::Input(format!("--on {name}: {problem}")))
            }
        }
    }

    /// The guests in which runs take place, with `--virtual-time`; otherwise `None`.
    pub fn guests(&self) -> Option<VirtualTime> {
        let [kernel, link, generator] =
            [&self.kernel, &self.link, &self.generator].map(Option::as_deref);
        self.virtual_time.then(|| VirtualTime::new(kernel, link, generator))
    }
}

/// The names of the transports.
pub const TRANSPORTS: [&str; 4] = ["sim", "quic", "noq", "linux"];
