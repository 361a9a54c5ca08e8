//! A scenario as real Linux can run it: which link, which connections, and what it must refuse.

use std::net::Ipv4Addr;

use firstflight_runner::{files, start};
use firstflight_scenario::keys::{Key, Stack};
use firstflight_scenario::{Complete, Profile, Recovery, Scenario, Size, Time, complete};

use firstflight_sim::FileDraws;

use crate::control::LinuxControl;
use crate::link::{DirectionSpec, LinkSpec};
use crate::path::{ADDRESSES, far_address, near_address};
use firstflight_runner::RunError;

/// One run: the link, the connections and the cross traffic.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) link: LinkSpec,
    pub(crate) groups: Vec<Group>,
    pub(crate) flows: Vec<FlowJob>,
    pub(crate) udp: Vec<complete::Udp>,
    pub(crate) duration_ns: u64,
    /// Selective acknowledgements; without them the kernel repairs as NewReno does.
    pub(crate) sack: bool,
    /// Receivers hold back ACKs of packets out of order, the kernel's default (`tcp_comp_sack_nr`).
    pub(crate) ack_compression: bool,
    /// Connections ask for ECN and accept it (`tcp_ecn`).
    pub(crate) ecn: bool,
    /// `tcp_slow_start_after_idle`.
    pub(crate) restarts: bool,
    /// Payload of a full packet.
    pub(crate) packet_bytes: u64,
}

/// The route attributes of a group of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) near: Ipv4Addr,
    pub(crate) far: Ipv4Addr,
    pub(crate) iw_packets: u64,
    pub(crate) ssthresh_packets: Option<u64>,
    pub(crate) rto_min_ms: u64,
    /// Every packet is acknowledged at once.
    pub(crate) quickack: bool,
    /// The far end sends.
    pub(crate) reverse: bool,
}

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct FlowJob {
    pub(crate) id: usize,
    pub(crate) group: usize,
    pub(crate) control: LinuxControl,
    pub(crate) start_ns: u64,
    pub(crate) stop_ns: Option<u64>,
    pub(crate) size_bytes: Option<u64>,
    /// Files on the connection, one after the other.
    pub(crate) files: Option<FileDraws>,
    /// The receiver's largest window, bytes; the kernel's own without one.
    pub(crate) receiver_window: Option<u64>,
    /// The path's BDP, bytes of payload.
    pub(crate) bdp_bytes: u64,
}

impl FlowJob {
    /// Where its receiver listens.
    pub(crate) fn port(&self) -> u16 {
        FIRST_PORT + self.id as u16
    }
}

/// The complete scenario, by default with the profile of real Linux.
///
/// # Errors
/// A scenario that is wrong, or that a kernel cannot be set to.
pub fn complete(scenario: &Scenario) -> Result<Complete, RunError> {
    let mut scenario = scenario.clone();
    scenario.endpoint.profile.get_or_insert(Profile::Linux);
    let complete = scenario.complete()?;
    refuse(&complete)?;
    check_keys(&scenario)?;
    Ok(complete)
}

/// Refuses a key that the kernel cannot be set to, if its value is another than the kernel's own.
fn check_keys(scenario: &Scenario) -> Result<(), RunError> {
    // The release of the kernel that will run is not known here.
    let kernel_value = |key: &Key| match key.name {
        "linux_release" => "that of the kernel that runs".to_owned(),
        _ => key.value(Profile::Linux.constants()),
    };
    let mut unsupported = scenario.set().filter(|set| !set.key.support.includes(Stack::Kernel));
    match unsupported.find(|set| set.text != kernel_value(set.key)) {
        Some(set) => Err(RunError::Input(format!(
            "on linux {} is {}, which no scenario changes in the kernel; found {}",
            set.place,
            kernel_value(set.key),
            set.text
        ))),
        None => Ok(()),
    }
}

/// Refuses what the kernel or the link cannot do, in the words of the scenario.
fn refuse(complete: &Complete) -> Result<(), RunError> {
    let no = |problem: String| Err(RunError::Input(format!("on linux {problem}")));
    if complete.links.len() != 1 {
        return no(format!(
            "the network is one bottleneck, found {} links; accepted: [path], or one [[link]]",
            complete.links.len()
        ));
    }
    if !PACKETS.contains(&complete.packet.bytes()) {
        let (low, high) = (PACKETS.start(), PACKETS.end());
        let found = complete.packet.bytes();
        return no(format!("a packet has {low} to {high} bytes of payload, found {found}"));
    }
    if complete.flow_count() > MOST_FLOWS {
        let found = complete.flow_count();
        return no(format!(
            "there is a thread per flow: accepted are 1 to {MOST_FLOWS}, not {found}"
        ));
    }
    if complete.flows.len() > usize::from(ADDRESSES) {
        let found = complete.flows.len();
        return no(format!("there are at most {ADDRESSES} groups of flows, found {found}"));
    }
    if complete.flows.iter().any(|flow| flow.files.is_some_and(|files| !files.keep_alive)) {
        let kept = "`files` run on the simulator, or here with keep_alive = true";
        return no(format!("a flow is one connection; {kept}"));
    }
    if let Some(flow) = complete.flows.iter().find(|flow| flow.delayed_ack.value > 2) {
        let found = flow.delayed_ack.value;
        return no(format!("delayed_ack is 1 (route attribute quickack) or 2, not {found}"));
    }
    let recoveries: Vec<Recovery> = complete.flows.iter().map(|f| f.recovery.value).collect();
    let other = |kind: &Recovery| {
        matches!(kind, Recovery::Tahoe | Recovery::Reno | Recovery::Quic | Recovery::Ns2Linux)
    };
    if recoveries.iter().any(other) || recoveries.windows(2).any(|two| two[0] != two[1]) {
        let mut found: Vec<String> = recoveries.iter().map(Recovery::to_string).collect();
        found.dedup();
        return no(format!(
            "recovery: found {}; accepted: rack, sack or newreno, for all flows (tcp_sack)",
            found.join(", ")
        ));
    }
    if complete.udp.len() > MOST_SOURCES {
        let found = complete.udp.len();
        return no(format!(
            "there is a thread per source of UDP: accepted are at most {MOST_SOURCES}, not {found}"
        ));
    }
    if let Some(key) = complete.flows.iter().find_map(|flow| flow.simulated_key()) {
        return no(format!("flows have no `{key}`; accepted: the simulator, or quinn in its time"));
    }
    if complete.udp.iter().any(|udp| udp.poisson || udp.on_off.is_some()) {
        return no("[[udp]] sends at a constant rate; `poisson`, `on` and `off` run on the \
                   simulator, or beside quinn in its time"
            .to_owned());
    }
    if let Some(udp) = complete.udp.iter().find(|udp| !DATAGRAMS.contains(&udp.packet.bytes())) {
        let (low, high) = (DATAGRAMS.start(), DATAGRAMS.end());
        let found = udp.packet.bytes();
        return no(format!("a datagram takes {low} to {high} bytes on the link, found {found}"));
    }
    Ok(())
}

impl Job {
    /// The MSS that the kernel is set to: a packet's payload and TCP's timestamps, which the kernel
    /// counts in the MSS.
    pub(crate) fn mss(&self) -> u64 {
        self.packet_bytes + TIMESTAMPS
    }

    /// The run of these controls, one per group, with this seed.
    pub(crate) fn new(complete: &Complete, controls: &[LinuxControl], seed: u64) -> Self {
        let mut flows = Vec::new();
        for (group, (flow, control)) in complete.flows.iter().zip(controls).enumerate() {
            for _ in 0..flow.count {
                let id = flows.len();
                let start_ns = start(seed, flow, id as u64);
                let lifetime =
                    flow.lifetime.map(Time::ns).map(|lifetime| start_ns.saturating_add(lifetime));
                flows.push(FlowJob {
                    id,
                    group,
                    control: control.clone(),
                    start_ns,
                    stop_ns: flow.stop.map(Time::ns).or(lifetime),
                    size_bytes: flow.size.map(Size::bytes),
                    files: flow.files.map(|spec| FileDraws::new(files(spec), seed, id as u64)),
                    receiver_window: flow.receiver_window.map(Size::bytes),
                    bdp_bytes: complete
                        .bdp_bytes(&flow.data_path, complete.path_bps(&flow.data_path)),
                });
            }
        }
        let group = |(index, flow): (usize, &complete::Flow)| Group::new(complete, index, flow);
        Self {
            link: link_spec(complete, seed),
            groups: complete.flows.iter().enumerate().map(group).collect(),
            flows,
            udp: complete.udp.clone(),
            duration_ns: complete.duration.ns(),
            sack: complete
                .flows
                .iter()
                .all(|flow| matches!(flow.recovery.value, Recovery::Sack | Recovery::Rack)),
            ack_compression: complete.endpoint.switches.ack_compression,
            ecn: complete.endpoint.switches.ecn,
            restarts: complete.endpoint.switches.slow_start_after_idle,
            packet_bytes: complete.packet.bytes(),
        }
    }
}

impl Group {
    fn new(complete: &Complete, index: usize, flow: &complete::Flow) -> Self {
        let packets = |bytes: u64| (bytes / complete.packet.bytes()).max(1);
        Self {
            near: near_address(index as u16),
            far: far_address(index as u16),
            iw_packets: packets(flow.iw.value.bytes()),
            ssthresh_packets: flow.ssthresh.value.map(Size::bytes).map(packets),
            rto_min_ms: complete.endpoint.switches.rto_min.ns() / 1_000_000,
            quickack: flow.delayed_ack.value == 1,
            reverse: flow.reverse,
        }
    }

    /// The end that sends, and the one that receives.
    pub(crate) fn ends<T>(&self, near: T, far: T) -> (T, T) {
        if self.reverse { (far, near) } else { (near, far) }
    }

    /// Their addresses.
    pub(crate) fn addresses(&self) -> (Ipv4Addr, Ipv4Addr) {
        self.ends(self.near, self.far)
    }
}

/// The scenario's link. The access links' delay stands behind the bottleneck: in a closed loop it
/// makes no difference where a fixed delay is.
pub(crate) fn link_spec(complete: &Complete, seed: u64) -> LinkSpec {
    let far = |(index, flow): (usize, &complete::Flow)| {
        (far_address(index as u16), 2 * flow.access_delay.ns())
    };
    let more_delay: Vec<(Ipv4Addr, u64)> = complete.flows.iter().enumerate().map(far).collect();
    let datagram = complete.udp.iter().map(|udp| udp.packet.bytes()).max().unwrap_or(0) as usize;
    let bottleneck = LinkSpec::of_bottleneck(complete, seed);
    // Where data goes both ways ACKs do too, and are charged and lost as in the simulator.
    let both_ways = complete.flows.iter().any(|flow| flow.reverse);
    let ack_bytes = both_ways.then(|| complete.endpoint.switches.ack_size.bytes());
    let header_bytes = Some(complete.headers.bytes());
    let back_headers = if both_ways { header_bytes } else { bottleneck.backward.header_bytes };
    LinkSpec {
        forward: DirectionSpec {
            data_only: !both_ways,
            header_bytes,
            ack_bytes,
            offload: complete.endpoint.switches.tso,
            more_delay: more_delay.clone(),
            ..bottleneck.forward
        },
        backward: DirectionSpec {
            more_delay,
            header_bytes: back_headers,
            ack_bytes,
            ..bottleneck.backward
        },
        mtu: bottleneck.mtu.max((complete.packet.bytes() + HEADERS) as usize).max(datagram),
        packet_bytes: complete.packet.bytes(),
        ..bottleneck
    }
}

/// IPv4, TCP and its options, with something to spare.
const HEADERS: u64 = 100;
/// TCP's timestamp option, padded (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;
/// `TCP_MAXSEG` takes 88 to 32,767, of which 12 are the timestamp option's.
const PACKETS: std::ops::RangeInclusive<u64> = 76..=32_755;
/// Headers alone to a device's largest MTU.
const DATAGRAMS: std::ops::RangeInclusive<u64> = 28..=65_521;
const MOST_FLOWS: u64 = 5_000;
const MOST_SOURCES: usize = 1_000;
const FIRST_PORT: u16 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(more: &str) -> Result<Complete, String> {
        let text = format!("controls = ['linux-reno']\n{more}");
        let scenario = Scenario::parse(&text, "x.toml").map_err(|error| error.to_string())?;
        complete(&scenario).map_err(|error| error.to_string())
    }

    fn job(more: &str) -> Job {
        let control = LinuxControl::resolve(&"linux-reno".parse().unwrap(), false).unwrap();
        let complete = completed(more).unwrap();
        Job::new(&complete, &vec![control; complete.flows.len()], complete.seed)
    }

    #[test]
    fn by_default_the_kernels_own_constants_hold() {
        let job = job("");
        let group = &job.groups[0];
        assert_eq!((group.iw_packets, group.ssthresh_packets, job.sack), (10, None, true));
        assert!(group.quickack && job.ack_compression);
        assert_eq!(job.link.mtu, 1_500);
    }

    #[test]
    fn the_release_of_a_kernel_is_its_own_whichever_is_written() {
        for release in ["6.18", "6.19"] {
            let problem = completed(&format!("linux_release = '{release}'")).unwrap_err();
            let own = "linux_release is that of the kernel that runs, which no scenario changes";
            assert!(problem.contains(own) && problem.ends_with(release), "{problem}");
        }
    }

    #[test]
    fn the_scenarios_windows_go_to_the_routes_and_its_delay_to_the_link() {
        let job = job("iw = '2pkt'\nssthresh = '64KB'\ndelayed_ack = 2\nrecovery = 'newreno'\n\
             [path]\nrtt = '40ms'\naccess_delay = '5ms'\nloss = '1%'\n[[flow]]\ncount = 3");
        let group = &job.groups[0];
        assert_eq!((group.iw_packets, group.ssthresh_packets), (2, Some(64)));
        assert!(!group.quickack && !job.sack);
        assert_eq!(job.flows.len(), 3);
        let forward = &job.link.forward;
        assert_eq!((forward.delay_ns, forward.more_delay[0].1), (20_000_000, 10_000_000));
        assert_eq!(forward.loss.to_string(), "1%");
    }

    #[test]
    fn who_sends_the_other_way_is_at_the_far_end_and_acks_have_their_size_both_ways() {
        let one_way = job("path = { back = { rate = '1Mbps', buffer = '20pkt' } }").link;
        let charged = |it: &DirectionSpec| (it.header_bytes, it.ack_bytes, it.data_only);
        assert_eq!(charged(&one_way.forward), (Some(0), None, true));
        assert_eq!(charged(&one_way.backward), (Some(40), None, false));
        let job = job("headers = '40B'\npath = { back = { rate = '1Mbps', buffer = '20pkt' } }\n\
             [[flow]]\n[[flow]]\nreverse = true");
        for way in [&job.link.forward, &job.link.backward] {
            assert_eq!(charged(way), (Some(40), Some(40), false));
        }
        let groups = job.groups.iter().map(|group| group.ends("near", "far"));
        assert_eq!(groups.collect::<Vec<_>>(), [("near", "far"), ("far", "near")]);
        assert_eq!(job.groups[1].addresses(), (job.groups[1].far, job.groups[1].near));
    }

    #[test]
    fn what_a_kernel_cannot_be_set_to_is_refused_in_the_scenarios_words() {
        for (more, word) in [
            ("packet = '40B'", "76 to 32755"),
            ("delayed_ack = 3", "quickack"),
            ("split_acks = 2", "split_acks is 1, which"),
            ("duplicate_acks = 2", "duplicate_acks is 3, which"),
            ("syn = true\nfast_open = 'on'", "fast_open is off, which"),
            ("recovery = 'reno'", "found reno; accepted: rack, sack or newreno"),
            ("recovery = 'quic'", "tcp_sack"),
            ("pacing = true", "pacing is false, which"),
            ("growth_limit = false", "growth_limit is true, which"),
            ("[[flow]]\nsplit_acks = 3", "flow[0].split_acks is 1, which"),
            ("[[flow]]\nfiles = { size = '1KB..2KB' }", "files"),
            ("[[flow]]\ncount = 5001", "1 to 5000"),
            (&"[[udp]]\nrate = '1kbps'\n".repeat(1_001), "at most 1000, not 1001"),
        ] {
            let problem = completed(more).unwrap_err();
            assert!(problem.starts_with("on linux ") && problem.contains(word), "{problem}");
        }
    }
}
