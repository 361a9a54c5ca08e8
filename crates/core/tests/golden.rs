//! Golden traces: cwnd at the start of every round, for each control on one small scripted path, as
//! text to review. A change of behaviour shows as a diff of `tests/golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p firstflight-core golden` writes the traces anew.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::PathBuf;

use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::feedback::Feedback;
use firstflight_core::knob::{Amount, KnobValue};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS, partner};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::Phase;

const MSS: u64 = 1_000;
/// 10 Mbit/s.
const SERVICE: u64 = 800_000;
const PROPAGATION: u64 = 100_000_000;
/// Half a BDP.
const BUFFER: u64 = 62 * SERVICE;
/// All that reaches the bottleneck in between is lost.
const OUTAGE: std::ops::Range<u64> = 5_000_000_000..5_300_000_000;
const END: u64 = 9_000_000_000;
const RTO: u64 = 1_000_000_000;

/// One flow over one drop-tail bottleneck. Every packet is acknowledged by itself; a packet is lost
/// once three sent after it have been; what is lost is sent again at once. A pacing rate counts for
/// nothing. Routers tell those who listen that the path's rate is theirs, and give them 0.4 of what
/// is free once per window.
struct Path {
    sender: Sender<Pair<AnyStartup, AnyAvoidance>>,
    now: u64,
    /// When the bottleneck falls idle.
    busy_until: u64,
    /// ACKs under way: when each arrives, for which packet, sent when.
    acks: VecDeque<(u64, u64, u64)>,
    /// Packets not acknowledged: how many later ones have been.
    unacked: BTreeMap<u64, u32>,
    lost: VecDeque<u64>,
    sampler: Sampler,
    /// The state in which each packet left last.
    left: BTreeMap<u64, AtSending>,
    in_flight: u64,
    next: u64,
    /// What start-up has had repeated, from here on.
    repeats_below: u64,
    recovery_ends: u64,
    timer: u64,
    trace: String,
    /// A line is written once all that had been sent by the last one is acknowledged.
    line_ends: Bytes,
    line_is_due: bool,
}

impl Path {
    fn new(startup: AnyStartup, avoidance: AnyAvoidance) -> Self {
        let config = Config {
            mss: Bytes(MSS),
            initial_window: Bytes(2 * MSS),
            initial_ssthresh: Bytes(32 * MSS),
            max_cwnd: Bytes(1 << 30),
            limit_growth_to_flight: true,
            segment_per_ack: true,
            paces: false,
        };
        let mut sender = Sender::new(startup, avoidance, config);
        sender.on_handshake(Instant(PROPAGATION), Span(PROPAGATION));
        sender.begin(Instant(PROPAGATION));
        Self {
            sender,
            now: PROPAGATION,
            busy_until: 0,
            acks: VecDeque::new(),
            unacked: BTreeMap::new(),
            lost: VecDeque::new(),
            sampler: Sampler::default(),
            left: BTreeMap::new(),
            in_flight: 0,
            next: 0,
            repeats_below: u64::MAX,
            recovery_ends: 0,
            timer: PROPAGATION + RTO,
            trace: String::new(),
            line_ends: Bytes(0),
            line_is_due: false,
        }
    }

    fn run(mut self) -> String {
        self.fill();
        while self.now < END {
            match self.acks.front() {
                Some((at, ..)) if *at <= self.timer => {
                    self.on_ack();
                    self.repeat();
                }
                _ => self.on_timeout(),
            }
            self.fill();
            self.note();
        }
        self.trace
    }

    fn fill(&mut self) {
        while (self.in_flight + 1) * MSS <= self.sender.cwnd().0 {
            self.in_flight += 1;
            let repaired = self.lost.pop_front();
            let packet = repaired.unwrap_or(self.next + 1);
            self.next = self.next.max(packet);
            self.unacked.insert(packet, 0);
            let (now, in_flight) = (Instant(self.now), Bytes(self.in_flight * MSS));
            let (bytes, again) = (Bytes(MSS), repaired.is_some());
            self.sender.on_sent(&Sent { now, bytes, in_flight, again });
            let idle = self.in_flight == 1;
            self.left.insert(packet, self.sampler.on_sent(now, in_flight, idle));
            self.transmit(packet);
        }
    }

    /// The last packet once more, where start-up asks for it and nothing else leaves.
    fn repeat(&mut self) {
        let full = (self.in_flight + 1) * MSS > self.sender.cwnd().0;
        if full && self.sender.needs().all().has(Facilities::REPEATS) && self.sender.repeats() {
            let last = self.unacked.range(..self.repeats_below).next_back();
            let Some(packet) = last.map(|(packet, _)| *packet) else { return };
            self.repeats_below = packet;
            let (now, in_flight) = (Instant(self.now), Bytes(self.in_flight * MSS));
            self.sender.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight, again: true });
            self.transmit(packet);
        }
    }

    fn transmit(&mut self, packet: u64) {
        let start = self.busy_until.max(self.now);
        if start - self.now > BUFFER || OUTAGE.contains(&self.now) {
            return;
        }
        self.busy_until = start + SERVICE;
        self.acks.push_back((self.busy_until + PROPAGATION, packet, self.now));
    }

    /// The first packet not acknowledged.
    fn una(&self) -> u64 {
        let lost = self.lost.iter().min().copied().unwrap_or(u64::MAX);
        self.unacked.keys().next().copied().unwrap_or(self.next + 1).min(lost)
    }

    fn on_ack(&mut self) {
        let Some((at, packet, sent_at)) = self.acks.pop_front() else { return };
        self.now = at;
        let una = self.una();
        let fresh = self.unacked.remove(&packet).is_some();
        self.in_flight -= u64::from(fresh);
        // Found lost, and there all the same, because start-up had had it repeated.
        let late =
            self.lost.iter().position(|lost| *lost == packet && packet >= self.repeats_below);
        late.map(|at| self.lost.remove(at));
        self.timer = at + RTO;
        let acked = (self.una() - una) * MSS;
        self.tell();
        let credited = Bytes(u64::from(fresh || late.is_some()) * MSS);
        let then = self.left.remove(&packet).filter(|_| fresh);
        let sample = then.and_then(|then| {
            self.sampler.on_delivered(Instant(at), credited, then.departure.sent_at, &then)
        });
        self.sender.on_ack(&Ack {
            now: Instant(at),
            acked: Bytes(acked),
            credited,
            rtt: Some(Span(at - sent_at)),
            in_flight: Bytes(self.in_flight * MSS),
            snd_nxt: Bytes(self.next * MSS),
            sample,
            packet: then.map(|then| then.departure),
            ..Ack::default()
        });
        let view = self.sender.view();
        if acked > 0 && view.acked >= self.line_ends {
            (self.line_ends, self.line_is_due) = (view.snd_nxt, true);
        }
        if view.recovering && self.una() > self.recovery_ends {
            self.sender.on_recovered(None);
        }
        self.detect(packet);
    }

    fn tell(&mut self) {
        let (now, needs) = (Instant(self.now), self.sender.needs().all());
        let rate = (MSS * 8 * 1_000_000_000 / SERVICE) as i64;
        let window = (self.sender.cwnd().0 / MSS) as i64;
        if needs.has(Facilities::ROUTER_CHANGES) {
            let free = rate - window * (MSS * 8 * 1_000_000_000 / PROPAGATION) as i64;
            self.sender.on_feedback(now, &Feedback::Change(free * 4 / 10 / window));
        }
        if needs.has(Facilities::ROUTER_SHARES) {
            self.sender.on_feedback(now, &Feedback::Share(Rate(rate as u64 / 8)));
        }
    }

    fn detect(&mut self, acked: u64) {
        self.unacked.range_mut(..acked).for_each(|(_, later)| *later += 1);
        let lost: Vec<u64> = self
            .unacked
            .iter()
            .filter(|(_, later)| **later == 3)
            .map(|(packet, _)| *packet)
            .collect();
        for packet in lost {
            self.lose(packet, LossKind::Recovery);
        }
    }

    fn lose(&mut self, packet: u64, kind: LossKind) {
        let flight = Bytes(self.in_flight * MSS);
        self.unacked.remove(&packet);
        self.lost.push_back(packet);
        self.in_flight -= 1;
        if kind == LossKind::Recovery {
            let (now, lost) = (Instant(self.now), Bytes(MSS));
            let repaired = self.sender.view().recovering;
            let cut = self.sender.on_loss(&Loss::of(now, kind, lost, flight));
            // A start-up that goes on has the loss repaired all the same.
            if cut || !repaired && self.sender.view().recovering {
                self.recovery_ends = self.next;
                let _ = writeln!(self.trace, "{} loss found", self.clock());
            }
        }
    }

    fn on_timeout(&mut self) {
        self.now = self.timer;
        self.timer = self.now + 2 * RTO;
        let (now, flight) = (Instant(self.now), Bytes(self.in_flight * MSS));
        let kind = LossKind::Timeout;
        self.sender.on_loss(&Loss::of(now, kind, flight, flight));
        self.line_ends = self.sender.view().acked;
        let outstanding: Vec<u64> = self.unacked.keys().copied().collect();
        outstanding.into_iter().for_each(|packet| self.lose(packet, kind));
        let _ = writeln!(self.trace, "{} timeout", self.clock());
    }

    /// A line for every round trip.
    fn note(&mut self) {
        if !std::mem::take(&mut self.line_is_due) {
            return;
        }
        let view = self.sender.view();
        let phase = match (view.phase, view.recovering) {
            (_, true) => "recovery",
            (Phase::Startup, _) => "start-up",
            (Phase::Avoidance, _) => "avoidance",
        };
        let cwnd = view.window.cwnd.0;
        let ssthresh = match view.window.ssthresh {
            Bytes::MAX => "  -".to_owned(),
            ssthresh => format!("{:3}", ssthresh.0 / MSS),
        };
        let queue = self.busy_until.saturating_sub(self.now) / SERVICE;
        let _ = writeln!(
            self.trace,
            "{} {phase:9} cwnd {:4}.{:03} ssthresh {ssthresh} queue {queue:3}",
            self.clock(),
            cwnd / MSS,
            cwnd % MSS,
        );
    }

    fn clock(&self) -> String {
        format!("{:2}.{:03} s", self.now / 1_000_000_000, self.now / 1_000_000 % 1_000)
    }
}

/// The trace of a start-up with this preset, if any, and its partner or another avoidance.
fn trace(start: &str, preset: Option<&'static str>, avoid: Option<&str>) -> String {
    let mut startup = AnyStartup::by_name(start).expect("a listed start-up");
    if let Some(preset) = preset {
        assert!(startup.set("preset", KnobValue::Word(preset)));
    }
    let avoid = avoid.or(partner(start)).expect("a partner");
    let (avoid, gauge) = avoid.strip_suffix("(lg=on)").map_or((avoid, "off"), |name| (name, "on"));
    let mut avoidance = AnyAvoidance::by_name(avoid).expect("a listed avoidance");
    let gauged = avoidance.set("lg", KnobValue::Word(gauge));
    let avoid = if gauged && gauge == "on" { format!("{avoid}(lg=on)") } else { avoid.to_owned() };
    let preset = preset.map_or(String::new(), |preset| format!("(preset={preset})"));
    let head = format!(
        "{start}{preset}+{avoid}: 10 Mbit/s, 100 ms, buffer 62, ssthresh 32, outage at 5.0 s\n"
    );
    head + &Path::new(startup, avoidance).run()
}

fn compare(name: &str, found: &str) {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests", "golden", &format!("{name}.txt")].iter().collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).expect("the trace can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(found.lines()).position(|(old, new)| old != new);
    let (old, new) = (expected.lines().count(), found.lines().count());
    let Some(line) = differs.or((old != new).then_some(old.min(new))) else { return };
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    panic!(
        "{name} differs from line {} on:\n  golden: {}\n  now:    {}\nUPDATE_GOLDEN=1 accepts it",
        line + 1,
        at(&expected),
        at(found)
    );
}

#[test]
fn every_start_up_with_its_partner_keeps_to_its_trace() {
    for listing in STARTUPS {
        compare(listing.name, &trace(listing.name, None, None));
    }
}

#[test]
fn every_avoidance_after_plain_slow_start_keeps_to_its_trace() {
    let usual = partner("slow-start");
    for listing in AVOIDANCES.iter().filter(|listing| usual != Some(listing.name)) {
        let name = format!("slow-start+{}", listing.name);
        compare(&name, &trace("slow-start", None, Some(listing.name)));
    }
}

#[test]
fn presets_and_pairs_that_are_aliases_keep_to_their_traces() {
    compare("iw4k", &trace("slow-start", Some("rfc3390"), None));
    compare("iw10", &trace("slow-start", Some("rfc6928"), None));
    compare("hoe-ns2", &trace("hoe", Some("ns2"), None));
    compare("astart-paper", &trace("astart", Some("paper"), None));
    compare("tcpw-a", &trace("astart", None, Some("westwood(lg=on)")));
    compare("stabilized-vegas", &trace("vegas", None, Some("stabilized-vegas")));
}

/// Start-ups that find their own end, without an ssthresh to stop them before, and limited slow
/// start, whose growth changes where slow start would have ended.
#[test]
fn start_ups_with_an_end_of_their_own_keep_to_their_traces_without_ssthresh() {
    let own_end = STARTUPS.iter().filter(|card| card.own_end).map(|card| card.name);
    for name in own_end.chain(["limited"]) {
        compare(&format!("{name}-open"), &open(name));
    }
}

fn open(name: &str) -> String {
    let mut startup = AnyStartup::by_name(name).expect("a listed start-up");
    assert!(startup.set("ssthresh", KnobValue::Window(Amount::Unlimited)));
    let avoid = partner(name).expect("a partner");
    let avoidance = AnyAvoidance::by_name(avoid).expect("a listed avoidance");
    let path = "10 Mbit/s, 100 ms, buffer 62, outage at 5.0 s";
    format!("{name}(ssthresh=none)+{avoid}: {path}\n") + &Path::new(startup, avoidance).run()
}
