//! What the flows run over: two namespaces, between them firstflight's own link or the kernel's
//! netem, with random loss.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{Ended, Programs, output, start};
use crate::Stop;

/// How the link is made.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum LinkKind {
    /// `firstflight link`.
    Tun,
    /// The kernel's netem on a pair of veth, at a lower rate, for an emulated processor.
    Netem,
}

/// The link and its namespaces. The link goes when this is dropped, the namespaces with [`remove`].
pub(super) struct Network {
    _link: Option<Ended>,
}

impl Network {
    pub(super) fn new(programs: &Programs, link: LinkKind) -> Result<Self, Stop> {
        for name in NAMESPACES {
            output(Command::new("ip").args(["netns", "add", name]))?;
        }
        match link {
            LinkKind::Tun => tun(programs).map(|link| Self { _link: Some(link) }),
            LinkKind::Netem => netem().map(|()| Self { _link: None }),
        }
    }
}

fn tun(programs: &Programs) -> Result<Ended, Stop> {
    let ends = ["link", "--near", NAMESPACES[0], "--far", NAMESPACES[1]];
    let mut link = start(Command::new(&programs.firstflight).args(ends).args(TUN), Stdio::null())?;
    sleep(Duration::from_secs(1));
    match link.0.try_wait() {
        Ok(Some(status)) => Err(Stop::failed(&format!("soak: firstflight link: {status}"))),
        _ => Ok(link),
    }
}

fn netem() -> Result<(), Stop> {
    let ip = |words: &str| output(Command::new("ip").args(words.split(' '))).map(drop);
    let [near, far] = NAMESPACES;
    ip(&format!("-n {near} link add ff0 type veth peer name ff0 netns {far}"))?;
    for (end, address) in [(near, NEAR), (far, FAR)] {
        ip(&format!("-n {end} address add {address}/16 dev ff0"))?;
        ip(&format!("-n {end} link set ff0 up"))?;
        ip(&format!("netns exec {end} tc qdisc add dev ff0 root netem {NETEM}"))?;
    }
    Ok(())
}

/// Removes the namespaces of this run, or of one that was killed.
pub(super) fn remove() {
    for name in NAMESPACES {
        let quiet = Stdio::null();
        let _ = Command::new("ip").args(["netns", "delete", name]).stderr(quiet).status();
    }
}

pub(super) const NAMESPACES: [&str; 2] = ["ffsoak-near", "ffsoak-far"];
/// The far end's address, as `firstflight link --help` has it.
pub(super) const FAR: &str = "10.77.128.1";
const NEAR: &str = "10.77.0.1";
const TUN: [&str; 8] = ["--rate", "100Mbps", "--rtt", "40ms", "--buffer", "1bdp", "--loss", "0.5%"];
/// Rate and delay each way. The buffer, in packets, holds more than is ever in flight.
const NETEM: &str = "rate 20mbit delay 20ms loss random 0.5% limit 1000";
