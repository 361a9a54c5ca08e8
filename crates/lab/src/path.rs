//! Two ends and the emulated link between them.
//!
//! The ends are network namespaces of their own. Nothing else is in them, so that no other traffic
//! disturbs a measurement, and no measurement disturbs other traffic.

use std::net::Ipv4Addr;

use crate::link::{self, Clock, Device, DirectionSpec, LinkReport, LinkSpec, Running};
use crate::namespace::Namespace;
use crate::processor_time::ProcessorTime;
use crate::sys;
use firstflight_runner::RunError;

/// A running link with a TUN device in each end's namespace.
#[derive(Debug)]
pub struct Path {
    /// Where senders are.
    pub near: Namespace,
    /// Where receivers are.
    pub far: Namespace,
    /// What all times of the path are in.
    pub clock: Clock,
    /// The link, running.
    link: Running,
    /// Packets that both kernels had dropped when the measured period began.
    overruns_before: u64,
    /// Processor time before it.
    processors_before: ProcessorTime,
}

impl Path {
    /// Makes a path between two namespaces that have no device named `ff0`.
    ///
    /// # Errors
    /// No privilege or no TUN: the machine lacks something.
    pub fn between(near: Namespace, far: Namespace, spec: &LinkSpec) -> Result<Self, RunError> {
        let clock = Clock::start();
        let open = |namespace: &Namespace, direction: &DirectionSpec| {
            let wanted = direction.segments(spec.mtu);
            let opened = namespace
                .run(|| sys::open_tun(DEVICE, wanted > 1, spec.checksums))
                .and_then(|it| it);
            let (file, offload) = opened.map_err(|error| no_tun(&error))?;
            Ok::<_, RunError>(Device { file, segments: if offload { wanted } else { 1 } })
        };
        let ends = (open(&near, &spec.forward)?, open(&far, &spec.backward)?);
        set_up(&near, near_address(0), FAR_NET, spec.mtu, ends.0.segments)?;
        set_up(&far, far_address(0), NEAR_NET, spec.mtu, ends.1.segments)?;
        let link = link::start(ends.0, ends.1, spec, clock)
            .map_err(|error| RunError::Failed(format!("the link's thread: {error}")))?;
        let processors_before = ProcessorTime::now();
        Ok(Self { near, far, clock, link, overruns_before: 0, processors_before })
    }

    /// Makes a path between two new namespaces, with the kernel's TCP set for measuring.
    ///
    /// # Errors
    /// As [`Path::between`].
    pub fn new(spec: &LinkSpec) -> Result<Self, RunError> {
        let (near, far) = (Namespace::new("near end")?, Namespace::new("far end")?);
        for end in [&near, &far] {
            calm(end)?;
        }
        Self::between(near, far, spec)
    }

    /// Counts from now on only what happens between these times of the clock, ns.
    pub fn measure(&mut self, from: u64, until: u64) {
        self.overruns_before = self.all_overruns();
        self.processors_before = ProcessorTime::now();
        self.link.measure(from, until);
    }

    /// When the first packet of a transfer arrived, ns of the clock, if flows are counted.
    pub(crate) fn transfer_began(&self) -> Option<u64> {
        self.link.transfer_began()
    }

    /// Stops the link and returns its report.
    pub fn stop(self) -> LinkReport {
        let overruns = self.all_overruns().saturating_sub(self.overruns_before);
        let stolen_share = ProcessorTime::now().stolen_share(self.processors_before);
        LinkReport { overruns, stolen_share, ..self.link.stop() }
    }

    fn all_overruns(&self) -> u64 {
        [&self.near, &self.far].into_iter().map(sent_drops).sum()
    }
}

/// The address number `index` of the near end, for groups of flows that differ in their path.
pub(crate) fn near_address(index: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 77, 0, 1)) + u32::from(index % ADDRESSES))
}

/// The address number `index` of the far end.
pub fn far_address(index: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 77, 128, 1)) + u32::from(index % ADDRESSES))
}

/// Addresses that each end may have.
pub(crate) const ADDRESSES: u16 = 4_000;

/// The TUN device of each end.
pub(crate) const DEVICE: &str = "ff0";

/// Sets an end's kernel for measuring.
pub(crate) fn calm(end: &Namespace) -> Result<(), RunError> {
    for (key, value) in MEASURING {
        end.set(key, value)?;
    }
    // A kernel without IPv6 sends none, and needs no telling.
    let _ = end.set("ipv6/conf/all/disable_ipv6", "1");
    Ok(())
}

/// Brings an end's device up. With `segments` 1 segmentation offload is off, so that every packet
/// comes to the bottleneck on its own; the device holds what the kernel sends in one burst.
pub(crate) fn set_up(
    end: &Namespace,
    address: Ipv4Addr,
    other: &str,
    mtu: usize,
    segments: u32,
) -> Result<(), RunError> {
    end.ip(&format!("address add {address}/32 dev {DEVICE}"))?;
    let queue = format!("txqueuelen {BURST} gso_max_segs {segments}");
    end.ip(&format!("link set {DEVICE} mtu {mtu} {queue} up"))?;
    end.ip(&format!("route add {other} dev {DEVICE} src {address}"))
}

fn no_tun(error: &std::io::Error) -> RunError {
    use std::io::ErrorKind::{NotFound, PermissionDenied, ResourceBusy};
    let problem = match error.kind() {
        NotFound => "there is no /dev/net/tun: load the kernel's `tun` module (modprobe tun)",
        PermissionDenied => "it takes root (CAP_NET_ADMIN): run it with sudo",
        ResourceBusy => "the namespace has a device `ff0` already: another link joins it",
        _ => "the kernel does not give one",
    };
    RunError::Lacks(format!("no TUN device: {problem} ({error})"))
}

/// Packets dropped on the way out of the device: the fourth number of its second half.
fn sent_drops(end: &Namespace) -> u64 {
    let text = end.proc_net("dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'));
    let field = line.and_then(|numbers| numbers.split_whitespace().nth(11));
    field.and_then(|drops| drops.parse().ok()).unwrap_or(0)
}

/// What hygiene asks for: no memory of earlier connections, and buffers that never limit.
const MEASURING: [(&str, &str); 4] = [
    ("ipv4/tcp_no_metrics_save", "1"),
    ("ipv4/tcp_wmem", "4096 4194304 268435456"),
    ("ipv4/tcp_rmem", "4096 67108864 268435456"),
    ("ipv4/ip_local_port_range", "1024 65535"),
];
pub(crate) const NEAR_NET: &str = "10.77.0.0/17";
pub(crate) const FAR_NET: &str = "10.77.128.0/17";
/// Packets that wait for the link's thread: as many as every kernel takes. Debian's 6.1.192 answers
/// a length over 16 bits with a sign by ERANGE.
const BURST: u32 = 32_767;
