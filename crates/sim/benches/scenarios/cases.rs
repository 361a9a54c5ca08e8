//! What is measured: the scenarios, the controls, and the bars they are held to.

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{Buffer, Endpoint, FlowSpec, LinkSpec, Network, Recovery, named};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::endpoints::Endpoints;

/// Flows over one bottleneck whose buffer holds one BDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) id: &'static str,
    pub(crate) flows: u64,
    pub(crate) rate_mbps: u64,
    /// Two-way propagation of the first and the last flow; the others lie evenly between.
    pub(crate) rtt_ms: (u64, u64),
    /// How long a run is, in virtual time.
    pub(crate) duration_s: u64,
    /// Flows start at random over the run and live this long; otherwise all start at once and stay.
    pub(crate) life_s: Option<u64>,
    /// Initial ssthresh, in packets.
    pub(crate) ssthresh: Option<u64>,
    /// What speed is wanted.
    pub(crate) bars: Bars,
}

/// Millions of delivered packets per second of CPU that a scenario should reach.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bars {
    /// NewReno and Astart.
    pub(crate) rfc: Option<f64>,
    /// NewReno on each of the other profiles.
    pub(crate) linux: Option<f64>,
    /// NewReno on the endpoints of `ns2`.
    pub(crate) ns2: Option<f64>,
}

/// A congestion control, and the endpoints it runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) name: &'static str,
    startup: &'static str,
    avoidance: &'static str,
    ends: Endpoints,
    /// The bars of its profile are for this control.
    has_bar: bool,
    /// A bar of its own instead.
    own_bar: Option<f64>,
}

impl Control {
    /// The bar it is held to.
    pub(crate) fn bar(&self, bars: Bars) -> Option<f64> {
        match self.ends {
            _ if self.own_bar.is_some() => self.own_bar,
            _ if !self.has_bar => None,
            Endpoints::Rfc(_) => bars.rfc,
            Endpoints::Linux | Endpoints::LinuxUnpaced => bars.linux,
            Endpoints::Ns2 => bars.ns2,
            Endpoints::Quic => None,
        }
    }
}

impl Case {
    /// BDP at the mean RTT, in packets.
    pub(crate) fn bdp_packets(&self) -> u64 {
        self.rate_mbps * (self.rtt_ms.0 + self.rtt_ms.1) / 2 * 1_000_000 / 1000 / 8 / PACKET_BYTES
    }

    /// These flows for another duration.
    pub(crate) fn lasting(self, duration_s: u64) -> Self {
        Self { duration_s, ..self }
    }

    pub(crate) fn what(&self) -> String {
        let life = self.life_s.map_or(String::new(), |life| format!(" of {life} s"));
        let rtt = match self.rtt_ms {
            (low, high) if low == high => format!("{low}"),
            (low, high) => format!("{low}-{high}"),
        };
        let plural = if self.flows == 1 { "" } else { "s" };
        let (flows, rate, duration) = (self.flows, self.rate_mbps, self.duration_s);
        format!("{flows} flow{plural}{life}, {rate} Mbps, {rtt} ms, {duration} s")
    }

    /// The network to run.
    pub(crate) fn network(&self, control: &Control) -> Network {
        // The one-way delay of the link is what the shortest path needs; the rest is on the way
        // back.
        let one_way = Span(self.rtt_ms.0 * NANOS_PER_MS / 2);
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let link = LinkSpec {
            delay: one_way,
            buffer: Buffer::Packets(self.bdp_packets()),
            ..LinkSpec::open(self.rate_mbps * 1_000_000)
        };
        Network {
            links: vec![link],
            flows: (0..self.flows).map(|i| self.flow(control, i, one_way, &mut random)).collect(),
            udp: Vec::new(),
            duration: Span::from_secs(self.duration_s),
            seed: SEED,
            ns2_ties: control.ends == Endpoints::Ns2,
            sample_every: None,
        }
    }

    fn flow(&self, control: &Control, i: u64, one_way: Span, random: &mut Pcg64Mcg) -> FlowSpec {
        let mss = Bytes(PACKET_BYTES);
        let spread = (self.rtt_ms.1 - self.rtt_ms.0) * NANOS_PER_MS;
        let rtt = self.rtt_ms.0 * NANOS_PER_MS + spread * i / (self.flows - 1).max(1);
        let start = match self.life_s {
            None => 0,
            Some(life) => random.next_u64() % (Span::from_secs(self.duration_s - life).0),
        };
        let initial_ssthresh = self.ssthresh.map_or(Bytes::MAX, |packets| Bytes(packets * mss.0));
        let endpoint = Endpoint { initial_ssthresh, ..control.ends.endpoint(i, mss) };
        FlowSpec {
            control: named(control.startup, control.avoidance).expect("names in the registry"),
            endpoint,
            path: vec![0],
            access_rate_bps: self.rate_mbps * 10_000_000,
            access_delay: Span(0),
            return_delay: Span(rtt - one_way.0),
            return_rate_bps: self.rate_mbps * 1_000_000,
            // ACKs of one flow come too far apart to queue.
            return_path: match control.ends == Endpoints::Ns2 && self.flows > 1 {
                true => vec![1],
                false => Vec::new(),
            },
            path_delay: Span(0),
            payload_bytes: PACKET_BYTES,
            header_bytes: 0,
            syn_bytes: 40,
            start: Instant(start),
            stop: self.life_s.map(|life| Instant(start) + Span::from_secs(life)),
            packets: None,
            writes: Vec::new(),
            receiver_window_until: None,
            handshake_delay: Span(0),
            files: None,
            bdp_bytes: Some(self.rate_mbps * rtt / 8000),
        }
    }
}

/// Scenarios (a) to (d) are also those of `validation/bench.toml`.
pub(crate) const CASES: [Case; 5] = [
    Case { id: "a", bars: ALL, ..BASE },
    Case { id: "b", flows: 10, rate_mbps: 1000, rtt_ms: (70, 70), bars: ALL, ..BASE },
    Case {
        id: "c",
        flows: 100,
        rtt_ms: (70, 70),
        duration_s: 1200,
        life_s: Some(30),
        ssthresh: Some(32),
        bars: Bars { linux: None, ns2: None, ..ALL },
        ..BASE
    },
    Case { id: "d", bars: Bars { linux: Some(15.0), ns2: None, ..ALL }, ..THOUSAND },
    Case {
        id: "e",
        rtt_ms: (30, 230),
        bars: Bars { rfc: Some(10.0), linux: None, ns2: None },
        ..THOUSAND
    },
];

/// One control over a small and a large BDP, about as many packets each.
pub(crate) const SMALL_BDP: Case = Case { id: "f500", rate_mbps: 40, duration_s: 2000, ..BASE };
pub(crate) const LARGE_BDP: Case = Case { id: "f125000", rate_mbps: 10_000, ..BASE };

/// How much of the speed at [`SMALL_BDP`] should be left at [`LARGE_BDP`].
pub(crate) const KEPT_BAR: f64 = 0.8;

/// A thousand flows, for the peak of memory too.
pub(crate) const THOUSAND: Case =
    Case { id: "d", flows: 1000, rate_mbps: 10_000, rtt_ms: (50, 50), ..BASE };

const BASE: Case = Case {
    id: "a",
    flows: 1,
    rate_mbps: 200,
    rtt_ms: (100, 100),
    duration_s: 20,
    life_s: None,
    ssthresh: None,
    bars: Bars { rfc: None, linux: None, ns2: None },
};

const ALL: Bars = Bars { rfc: Some(20.0), linux: Some(20.0), ns2: Some(15.0) };

/// On the RFCs' endpoints.
pub(crate) const CONTROLS: [Control; 3] = [
    Control {
        name: "newreno",
        startup: "slow-start",
        avoidance: "newreno",
        ends: Endpoints::Rfc(Recovery::NewReno),
        has_bar: true,
        own_bar: None,
    },
    Control {
        name: "astart",
        startup: "astart",
        avoidance: "westwood",
        ends: Endpoints::Rfc(Recovery::NewReno),
        has_bar: true,
        own_bar: None,
    },
    Control {
        name: "newreno-sack",
        startup: "slow-start",
        avoidance: "newreno",
        ends: Endpoints::Rfc(Recovery::Sack),
        has_bar: false,
        own_bar: None,
    },
];

/// On the endpoints of other profiles.
pub(crate) const PROFILES: [Control; 5] = [
    Control { name: "newreno-linux", ends: Endpoints::Linux, ..CONTROLS[0] },
    Control { name: "astart-linux", ends: Endpoints::Linux, has_bar: false, ..CONTROLS[1] },
    Control { name: "newreno-ns2", ends: Endpoints::Ns2, ..CONTROLS[0] },
    Control { name: "newreno-quic", ends: Endpoints::Quic, has_bar: false, ..CONTROLS[0] },
    Control { name: "astart-quic", ends: Endpoints::Quic, has_bar: false, ..CONTROLS[1] },
];

/// Today's start-ups on Linux' endpoints, those that pace their packets with half the bar. All on
/// (a) only. Rapid Start paces until it ends, and Linux from then on: it has both bars.
pub(crate) const TODAY: [Control; 8] = [
    today("hystart-pp", "cubic", 20.0),
    today("search", "cubic", 20.0),
    today("suss", "cubic", 20.0),
    today("scout", "cubic", 20.0),
    Control { ends: Endpoints::LinuxUnpaced, ..today("rapid-start", "cubic", 20.0) },
    Control { name: "rapid-paced", ..today("rapid-start", "cubic", 10.0) },
    today("bbr", "cubic", 10.0),
    Control { name: "bbr+bbr", ..today("bbr", "bbr", 10.0) },
];

const fn today(startup: &'static str, avoidance: &'static str, bar: f64) -> Control {
    let (ends, own_bar) = (Endpoints::Linux, Some(bar));
    Control { name: startup, startup, avoidance, ends, has_bar: false, own_bar }
}

const PACKET_BYTES: u64 = 1000;
const NANOS_PER_MS: u64 = 1_000_000;
const SEED: u64 = 1;
