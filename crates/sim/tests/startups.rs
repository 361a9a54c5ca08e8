//! The start-ups of the years since 2018, each on a path that shows what its source claims for it,
//! and what they pay.

use crate::common::{flow, link, network};
use firstflight_core::event::{Ack, Loss};
use firstflight_core::knob::{Amount, KnobValue};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::{Avoidance, Exit, Found, Observer, Step};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Span};
use firstflight_core::view::{View, Window};
use firstflight_sim::{
    Endpoint, FlowOutcome, FlowSpec, Halve, LinkSpec, Network, Recovery, control, core_control, run,
};

/// A start-up with these knobs before CUBIC, as Linux runs it, without ssthresh.
fn with(startup: &str, knobs: &[(&str, KnobValue)], return_ms: u64) -> FlowSpec {
    let mut policy = AnyStartup::by_name(startup).unwrap();
    knobs.iter().for_each(|(name, value)| assert!(policy.set(name, *value), "{name}"));
    let mut spec = flow(&[0], return_ms, Recovery::Sack);
    spec.control = core_control(policy, AnyAvoidance::by_name("cubic").unwrap());
    spec.endpoint = linux(1000);
    spec
}

/// Linux' endpoint, as far as it matters here.
fn linux(mss: u64) -> Endpoint {
    let mut endpoint =
        Endpoint { recovery: Recovery::Sack, syn: true, ..Endpoint::rfc(Bytes(mss)) };
    endpoint.initial_window = Bytes(10 * mss);
    (endpoint.rules.halve, endpoint.rules.prr) = (Halve::Window, true);
    endpoint
}

/// What becomes of it, and the largest queue in packets.
fn one(spec: FlowSpec, link: LinkSpec, duration_ms: u64) -> (FlowOutcome, u64) {
    let mut outcome = run(&network(vec![link], vec![spec], duration_ms));
    (outcome.flows.remove(0), outcome.links[0].totals.peak_packets)
}

/// 50 Mbit/s and 50 ms, packets of 1448 bytes: milliseconds after the first ACK at which so many
/// bytes were delivered.
fn delivered_ms(startup: &str, sizes: &[u64]) -> Vec<f64> {
    let mut spec = with(startup, &[], 25);
    spec.endpoint = linux(1448);
    (spec.payload_bytes, spec.header_bytes) = (1448, 66);
    let every = Some(Span::from_micros(100));
    let network =
        Network { sample_every: every, ..network(vec![link(50, 25, 2_000)], vec![spec], 3_500) };
    let flow = run(&network).flows.remove(0);
    let at = |bytes: u64| {
        let sample = flow.series.iter().find(|sample| sample.acked_packets * 1448 >= bytes);
        sample.unwrap().at.0 as f64 / 1e6
    };
    let first = at(1);
    sizes.iter().map(|bytes| at(*bytes) - first).collect()
}

/// The authors' recorded runs with their change to Linux 6.8 and without it.
#[test]
fn suss_delivers_as_early_as_in_its_authors_run() {
    const KB: u64 = 1_000;
    let sizes = [100 * KB, 250 * KB, 500 * KB, 1_000 * KB, 2_000 * KB, 5_000 * KB, 16_000 * KB];
    for (startup, recorded) in [
        ("suss", [104.5, 134.0, 183.0, 266.0, 434.0, 936.0, 2776.0]),
        ("hystart", [109.5, 205.0, 259.0, 342.0, 510.0, 1012.0, 2852.0]),
    ] {
        for ((found, recorded), bytes) in
            delivered_ms(startup, &sizes).iter().zip(recorded).zip(sizes)
        {
            let off = found / recorded - 1.0;
            assert!(off.abs() < 0.05, "{startup} {bytes}: {found:.1} ms, not {recorded}");
        }
    }
}

/// Where it leaves in BDP, why, and what was lost until then; 40 Mbit/s and 100 ms are 500 packets.
fn left(startup: &str, knobs: &[(&str, KnobValue)], buffer: u64) -> (f64, Exit, u64) {
    let (flow, _) = one(with(startup, knobs, 50), link(40, 50, buffer), 6_000);
    let exit = flow.startup.exit.unwrap();
    (exit.cwnd.0 as f64 / 500_000.0, exit.why, flow.drops)
}

/// The look-back is an RTT that the queue stretches, so that the comparison goes on looking at data
/// sent before the overload: without losses it leaves with a queue of 4.8 BDP (version 9) or 5.5
/// (version 8), and with less room data is lost before.
#[test]
fn search_needs_more_than_four_bdp_of_buffer_to_leave_before_a_loss() {
    let version = |number| [("version", KnobValue::Count(number))];
    let (window, why, drops) = left("search", &version(9), 100_000);
    assert_eq!((why, drops), (Exit::Heuristic, 0));
    assert!((5.4..5.9).contains(&window), "{window}");
    let (window, why, drops) = left("search", &version(8), 100_000);
    assert_eq!((why, drops), (Exit::Heuristic, 0));
    assert!((6.3..6.7).contains(&window), "{window}");
    assert_eq!(left("search", &version(9), 2_500).2, 0);
    assert!(left("search", &version(9), 2_200).2 > 100);
    // From two BDP on it leaves before a loss is found, with much lost already; with one and a half
    // the loss is found first, where slow start finds it.
    let (_, why, drops) = left("search", &version(9), 1_000);
    assert!(why == Exit::Heuristic && drops > 1_000, "{why:?} {drops}");
    let (search, slow_start) = (left("search", &version(9), 750), left("slow-start", &[], 750));
    assert_eq!((search.0, search.1), (slow_start.0, Exit::Loss));
}

/// The authors' code 4.0, the default: it goes on to 35 % missing, and then lets flight fall by two
/// of three that arrive, to what three bins of 35 ms have delivered: 525 packets. 2700 are taken
/// off in the time in which the path delivers 4050.
#[test]
fn search_4_drains_its_queue_by_two_packets_of_three_delivered() {
    let every = Some(Span::from_millis(5));
    let network = |knobs: &[(&str, KnobValue)]| {
        let (spec, link) = (with("search", knobs, 50), link(40, 50, 100_000));
        Network { sample_every: every, ..network(vec![link], vec![spec], 6_000) }
    };
    let flow = run(&network(&[])).flows.remove(0);
    let off = run(&network(&[("drain", KnobValue::Word("off"))])).flows.remove(0);
    let (drained, undrained) = (flow.startup.exit.unwrap(), off.startup.exit.unwrap());
    assert_eq!((drained.why, flow.drops), (Exit::Heuristic, 0));
    assert!((520..=530).contains(&(drained.cwnd.0 / 1_000)), "{drained:?}");
    assert!((6.3..6.6).contains(&(undrained.cwnd.0 as f64 / 500e3)), "{undrained:?}");
    let took = drained.at.since(undrained.at);
    assert!((800..=820).contains(&(took.0 / 1_000_000)), "{took:?}");
}

/// 500 packets of path and 500 of buffer, CUBIC's beta: 700 packets, and none is lost in the ten
/// RTTs after it, although thrice the path had been sent.
#[test]
fn rapid_start_lands_at_beta_of_what_the_path_and_its_buffer_hold() {
    for recovery in [Recovery::Sack, Recovery::Rack, Recovery::Quic] {
        let every = Some(Span::from_millis(10));
        let (mut spec, link) = (with("rapid-start", &[], 50), link(40, 50, 500));
        spec.endpoint.recovery = recovery;
        let network = Network { sample_every: every, ..network(vec![link], vec![spec], 3_000) };
        let flow = run(&network).flows.remove(0);
        let exit = flow.startup.exit.unwrap();
        assert_eq!(exit.why, Exit::Loss, "{recovery:?}");
        if recovery == Recovery::Sack {
            assert_eq!(flow.startup.reductions_next_10_rtt, Some(0));
        }
        assert!(exit.cwnd >= Bytes(2_000_000), "{exit:?}");
        // ssthresh is set as the recovery ends.
        let set = flow.series.iter().map(|sample| sample.ssthresh).find(|it| *it < Bytes::MAX);
        let landed = set.unwrap().0 / 1_000;
        println!("{recovery:?} {landed} {}", flow.drops);
        assert!((690..=710).contains(&landed), "{recovery:?} {landed}");
    }
}

/// With room for what it overshoots by, BBR hands over the path's 500 packets.
#[test]
fn bbr_leaves_with_what_the_path_holds() {
    for (preset, most) in [("draft", 545), ("v2", 545), ("quiche", 510), ("v1", 1_000)] {
        let knobs = [("preset", KnobValue::Word(preset))];
        let (spec, link) = (with("bbr", &knobs, 50), link(40, 50, 2_000));
        let every = Some(Span::from_millis(10));
        let network = Network { sample_every: every, ..network(vec![link], vec![spec], 2_200) };
        let mut outcome = run(&network);
        let flow = outcome.flows.remove(0);
        assert_eq!((flow.startup.exit.unwrap().why, flow.drops), (Exit::Heuristic, 0), "{preset}");
        let handed = flow.series.iter().map(|sample| sample.ssthresh.0 / 1_000).min().unwrap();
        assert!((499..=502).contains(&handed), "{preset} {handed}");
        // A window of twice the path and, by the drafts, of what ACKs run ahead. Version 1 has
        // 2.885 times the path and three quanta, which are 14 packets each here.
        let queue = outcome.links[0].totals.peak_packets;
        assert!((most * 9 / 10..=most).contains(&queue), "{preset} {queue}");
    }
}

/// 20 packets queue at delta = 0.05; the doubling that shows them has been sent by then.
#[test]
fn copa_leaves_with_the_first_queue() {
    let (window, why, drops) = left("copa", &[], 600);
    assert_eq!((why, drops), (Exit::Heuristic, 0));
    assert!((1.0..2.1).contains(&window), "{window}");
    let (smaller, ..) = left("copa", &[("delta", KnobValue::Ratio(500_000))], 600);
    assert!(smaller <= window);
}

/// Three rounds without growth, of which the queue makes each longer than the one before.
#[test]
fn c4_leaves_when_the_rate_no_longer_grows() {
    let (_, why, drops) = left("c4", &[], 100_000);
    assert_eq!((why, drops), (Exit::Heuristic, 0));
}

/// A handshake, an RTT of sending and half of one under way; no queue builds while there is room.
#[test]
fn jump_start_sends_its_jump_in_one_rtt_without_a_queue() {
    let mut spec = with("jump-start", &[("jump", KnobValue::Window(Amount::Segments(400)))], 50);
    spec.packets = Some(400);
    let (flow, queue) = one(spec, link(40, 50, 500), 1_000);
    assert!(queue <= 2, "{queue}");
    let done = flow.finished_at.unwrap();
    assert!((245..255).contains(&(done.0 / 1_000_000)), "{done:?}");
}

/// 54 packets of 1200 bytes (halfback: 117) over a path and a buffer that hold 31. Every loss is
/// taken off the window, so that from the first on no more leaves than arrives; otherwise 52 of
/// them stay in flight for twenty round trips. It lands at half of what was delivered.
#[test]
fn a_jump_that_does_not_fit_is_repaired_packet_by_packet_and_lands_at_half() {
    use Recovery::{Quic, Rack, Sack};
    for (startup, recovery, most, landed) in [
        ("jump-start", Sack, 40, 15..=18),
        ("jump-start", Rack, 40, 15..=18),
        ("jump-start", Quic, 40, 15..=18),
        ("halfback", Rack, 100, 21..=24), // Only there are packets repeated.
    ] {
        let mut spec = with(startup, &[], 10);
        spec.control = control(AnyStartup::by_name(startup).unwrap(), Counter::default());
        spec.endpoint = linux(1200);
        spec.payload_bytes = 1200;
        spec.endpoint.recovery = recovery;
        let every = Some(Span::from_millis(1));
        let network = network(vec![link(10, 10, 10)], vec![spec], 2_000);
        let flow = run(&Network { sample_every: every, ..network }).flows.remove(0);
        let name = format!("{startup} {recovery:?}");
        assert!(flow.drops < most, "{name}: {} dropped", flow.drops);
        let gauges = &flow.series.last().unwrap().gauges;
        let gauge = |name| gauges[flow.gauge_names.iter().position(|it| *it == name).unwrap()];
        assert!(gauge("left") >= 10, "{name}");
        assert_eq!(gauge("excess"), 0, "{name}: more left than arrived");
        // The jump leaves from 20 to 40 ms. Its last losses are known a round trip and a full queue
        // later, by three packets more: at 73 ms.
        let later = flow.series.iter().filter(|it| it.at.0 > 80_000_000);
        let flight = later.map(|it| it.in_flight.0 / 1200).max().unwrap();
        assert!(flight <= 33, "{name}: {flight} in flight");
        assert!(landed.contains(&gauge("landed")), "{name}: {}", gauge("landed"));
    }
}

/// Holds the window after start-up, and counts packets from the first loss until then.
#[derive(Clone, Debug, Default)]
struct Counter {
    /// How many had left by the first loss.
    sent_before: Option<u64>,
    left: u64,
    arrived: u64,
    /// By how much the one was ever more than the other.
    excess: u64,
    landed: Option<u64>,
}

impl Observer for Counter {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::SENT)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let credited = ack.credited.0 / view.mss.0;
        match self.sent_before {
            // If it reports the first loss, it counts.
            None => self.arrived = credited,
            Some(before) if self.landed.is_none() => {
                self.left = view.sent.0 / view.mss.0 - before;
                self.excess = self.excess.max(self.left.saturating_sub(self.arrived));
                self.arrived += credited;
            }
            Some(_) => {}
        }
    }

    fn on_loss(&mut self, _loss: &Loss, view: &View) {
        self.sent_before.get_or_insert(view.sent.0 / view.mss.0);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("left", self.left);
        report("arrived", self.arrived);
        report("excess", self.excess);
        report("landed", self.landed.unwrap_or(0));
    }
}

impl Avoidance for Counter {
    fn enter(&mut self, _found: &Found, view: &View) {
        self.landed.get_or_insert(view.window.cwnd.0 / view.mss.0);
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        view.window.hold()
    }

    fn cut(&mut self, _loss: &Loss, view: &View) -> Window {
        Window { cwnd: view.window.cwnd / 2, ssthresh: view.window.cwnd / 2 }
    }
}

/// The gap of the path's packets at 20, 40 and 80 Mbit/s, a few per cent too small; what flies then
/// fills the path and a little more, and nothing is lost.
#[test]
fn chirps_find_the_rate_with_a_small_queue() {
    for (rate, gap_us, bdp) in [(20, 400, 250), (40, 200, 500), (80, 100, 1_000)] {
        let every = Some(Span::from_millis(10));
        let (spec, link) = (with("chirps", &[], 50), link(rate, 50, 500));
        let network = Network { sample_every: every, ..network(vec![link], vec![spec], 6_000) };
        let mut outcome = run(&network);
        let flow = outcome.flows.remove(0);
        let exit = flow.startup.exit.unwrap();
        let at = flow.gauge_names.iter().position(|name| *name == "chirps_gap_ns").unwrap();
        let gap = flow.series.last().unwrap().gauges[at] / 1_000;
        assert_eq!((exit.why, flow.drops), (Exit::Heuristic, 0));
        assert!(gap.abs_diff(gap_us) * 10 < gap_us, "{rate}: {gap}");
        let flown = exit.cwnd.0 / 2_000;
        assert!((bdp..bdp * 5 / 4).contains(&flown), "{rate}: {flown}");
        assert!(outcome.links[0].totals.peak_packets * 3 < bdp, "{rate}");
    }
}
