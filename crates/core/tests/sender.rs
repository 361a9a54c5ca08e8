//! The rules all senders obey, one by one.

use crate::bench::{Bench, MSS};
use firstflight_core::avoidance::{NewReno, Xcp as XcpAvoidance};
use firstflight_core::event::{Ack, Loss, LossKind};
use firstflight_core::feedback::Feedback;
use firstflight_core::needs::Facilities;
use firstflight_core::policy::{Avoidance, Entry, Exit, Found, Observer, Startup, Step};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::{Paced, QuickStart, SlowStart, Xcp};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Eligible, Phase, View, Window};

fn config(ssthresh: u64) -> Config {
    Config {
        mss: Bytes(MSS),
        initial_window: Bytes(2 * MSS),
        initial_ssthresh: Bytes(ssthresh * MSS),
        max_cwnd: Bytes(1_000 * MSS),
        limit_growth_to_flight: false,
        segment_per_ack: true,
        paces: false,
    }
}

fn reno(ssthresh: u64) -> Bench<SlowStart, NewReno> {
    Bench::new(SlowStart::default(), NewReno::default(), config(ssthresh))
}

#[test]
fn slow_start_doubles_and_leaves_at_the_threshold() {
    let mut bench = reno(16);
    let windows: Vec<u64> = (0..3).map(|_| bench.round().cwnd()).collect();
    assert_eq!(windows, [4, 8, 16]);
    let exit = bench.sender.first_exit().expect("ssthresh was reached");
    assert_eq!(
        (exit.why, exit.cwnd, bench.phase()),
        (Exit::Threshold, Bytes(16_000), Phase::Avoidance)
    );
    assert_eq!(bench.round().cwnd(), 16);
    assert_eq!(bench.round().round().cwnd(), 18);
}

#[test]
fn a_window_is_cut_once_per_recovery() {
    let mut bench = reno(1_000);
    bench.round().round().round();
    assert_eq!(bench.cwnd(), 16);
    assert!(bench.lose(LossKind::Recovery));
    assert_eq!((bench.cwnd(), bench.ssthresh()), (8, 8));
    assert!(!bench.lose(LossKind::Recovery));
    assert_eq!(bench.step().cwnd(), 8, "no growth in recovery");
    bench.sender.on_recovered(None);
    assert!(bench.lose(LossKind::Recovery), "a loss after recovery is a new one");
}

#[test]
fn recovery_may_say_which_window_it_leaves() {
    let mut bench = reno(1_000);
    bench.round().round().round().lose(LossKind::Recovery);
    bench.sender.on_recovered(Some(Bytes(3_000)));
    assert_eq!((bench.cwnd(), bench.ssthresh()), (3, 8));
    assert_eq!(bench.step().step().cwnd(), 5, "below ssthresh every ACK counts");
}

#[test]
fn a_timeout_restarts_slow_start_from_one_segment_even_in_recovery() {
    let mut bench = reno(1_000);
    bench.round().round().round().lose(LossKind::Recovery);
    assert!(bench.lose(LossKind::Timeout));
    assert_eq!((bench.cwnd(), bench.ssthresh(), bench.phase()), (1, 8, Phase::Startup));
    let first = bench.sender.first_exit().map(|exit| exit.why);
    assert_eq!(first, Some(Exit::Loss), "only the first start-up counts");
    assert_eq!(bench.step().step().cwnd(), 3);
}

#[test]
fn ssthresh_never_falls_below_two_segments() {
    let mut bench = reno(1_000);
    bench.send_up_to(1).lose(LossKind::Timeout);
    assert_eq!((bench.cwnd(), bench.ssthresh()), (1, 2));
}

#[test]
fn a_mark_cuts_once_per_window_of_data() {
    let mut bench = reno(1_000);
    bench.round().round().round().fill();
    assert_eq!(bench.marked().cwnd(), 8);
    assert_eq!(bench.sender.first_exit().map(|exit| exit.why), Some(Exit::Mark));
    (0..15).for_each(|_| assert!(bench.marked().cwnd() >= 8, "sent before the cut"));
    // Growth goes on meanwhile: 15 more ACKs at a window of 8 are not quite two segments.
    assert_eq!(bench.cwnd(), 9);
    assert_eq!(bench.fill().marked().cwnd(), 4, "sent after it");
}

#[test]
fn a_loss_in_a_window_cut_for_a_mark_is_repaired_without_another_cut() {
    let mut bench = reno(1_000);
    bench.round().round().round().fill().marked();
    assert!(!bench.lose(LossKind::Recovery));
    assert_eq!(bench.cwnd(), 8);
    assert!(bench.sender.view().recovering);
}

#[test]
fn a_mark_in_recovery_changes_nothing() {
    let mut bench = reno(1_000);
    bench.round().round().round().fill().lose(LossKind::Recovery);
    assert_eq!(bench.marked().cwnd(), 8);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut bench = reno(1_000);
    bench.round().round().round().lose(LossKind::Recovery);
    bench.sender.on_spurious_loss();
    assert_eq!((bench.cwnd(), bench.ssthresh(), bench.phase()), (16, 1_000, Phase::Startup));
    assert_eq!(bench.sender.first_exit(), None, "start-up goes on");
    assert_eq!(bench.round().cwnd(), 32);
    bench.sender.on_spurious_loss();
    assert_eq!(bench.cwnd(), 32, "there is nothing more to undo");
}

#[test]
fn timeouts_in_a_row_are_undone_together() {
    let mut bench = reno(1_000);
    bench.round().round().round().lose(LossKind::Timeout);
    let (now, kind, lost) = (Instant(bench.now), LossKind::Timeout, Bytes(MSS));
    bench.sender.on_loss(&Loss { answered: true, ..Loss::of(now, kind, lost, Bytes(MSS)) });
    assert_eq!(bench.ssthresh(), 8, "a second timeout is no second sign (RFC 5681 section 3.1)");
    bench.sender.on_spurious_loss();
    assert_eq!(bench.cwnd(), 16);
}

/// RFC 9002 section 7.6.2: what left before the recovery has been answered, so that persistent
/// congestion of it leaves ssthresh; what left after it has not.
#[test]
fn by_its_time_of_sending_a_loss_is_answered_or_a_new_sign() {
    for (after, ssthresh) in [(0, 8), (1, 4)] {
        let mut bench = reno(1_000);
        bench.round().round().round();
        let now = Instant(bench.now);
        let loss = |at: u64, kind, flight| {
            let loss = Loss::of(Instant(at), kind, Bytes(MSS), Bytes(flight * MSS));
            Loss { sent_at: Some(Instant(now.0 + after)), ..loss }
        };
        let first = Loss { sent_at: Some(Instant(0)), ..loss(now.0, LossKind::Recovery, 16) };
        bench.sender.on_loss(&first);
        assert_eq!(bench.ssthresh(), 8);
        bench.sender.on_loss(&loss(now.0 + 9, LossKind::Timeout, 8));
        assert_eq!(bench.ssthresh(), ssthresh, "{after}");
        bench.sender.on_spurious_loss();
        assert_eq!(bench.ssthresh(), if after == 0 { 1_000 } else { 8 }, "what was answered once");
    }
}

#[test]
fn an_application_limited_sender_does_not_grow() {
    let mut bench = reno(1_000);
    bench.fill();
    let ack = Ack { app_limited: true, ..bench.ack(1) };
    bench.sender.on_ack(&ack);
    assert_eq!(bench.cwnd(), 2);
}

#[test]
fn an_unused_window_does_not_grow_where_growth_is_limited() {
    let limited =
        Config { limit_growth_to_flight: true, initial_window: Bytes(10_000), ..config(1_000) };
    let mut bench = Bench::new(SlowStart::default(), NewReno::default(), limited);
    for _ in 0..100 {
        bench.send_up_to(4).step();
    }
    assert_eq!(bench.cwnd(), 20, "twice the largest flight or initial window, and no more");
    bench.fill().lose(LossKind::Recovery);
    bench.sender.on_recovered(None);
    for _ in 0..1_000 {
        bench.send_up_to(4).step();
    }
    assert_eq!(bench.cwnd(), 21, "one segment more than the largest flight since the cut");
}

/// freenet-core once let the window exceed the flight by two segments only, and so grew by two
/// segments per RTT where it should have doubled (pull request 2619).
#[test]
fn a_limit_on_growth_does_not_slow_a_sender_that_uses_its_window() {
    let limited = Config { limit_growth_to_flight: true, ..config(1_000) };
    let mut bench = Bench::new(SlowStart::default(), NewReno::default(), limited);
    let windows: Vec<u64> = (0..7).map(|_| bench.round().cwnd()).collect();
    assert_eq!(windows, [4, 8, 16, 32, 64, 128, 256]);
}

#[test]
fn what_routers_grant_is_taken_whole_although_growth_is_limited() {
    let limited = Config { limit_growth_to_flight: true, ..config(1_000) };
    let mut bench = Bench::new(Xcp::default(), XcpAvoidance::default(), limited);
    bench.round();
    assert!(bench.sender.needs().all().has(Facilities::ROUTER_CHANGES));
    // 8 Mbit/s over 100 ms.
    bench.sender.on_feedback(Instant(bench.now), &Feedback::Change(8_000_000));
    assert_eq!(bench.step().cwnd(), 102);
}

#[test]
fn the_window_stays_between_one_segment_and_its_cap() {
    let mut bench = Bench::new(
        SlowStart::default(),
        NewReno::default(),
        Config { max_cwnd: Bytes(10_000), ..config(1_000) },
    );
    (0..6).for_each(|_| {
        bench.round();
    });
    assert_eq!(bench.cwnd(), 10);
    bench.sender.set_mss(Bytes(20_000));
    assert_eq!(bench.sender.cwnd(), Bytes(20_000));
    bench.sender.set_mss(Bytes(0));
    bench.sender.on_recovered(Some(Bytes(0)));
    assert_eq!(bench.sender.cwnd(), Bytes(1));
}

#[test]
fn an_ack_for_new_data_alone_can_be_reported_in_few_words() {
    let mut bench = reno(8);
    bench.fill();
    let mut other = bench.sender.clone();
    for i in 1..=20 {
        let (now, rtt) = (Instant(i * 1_000_000), Span::from_millis(90 + i));
        let (acked, in_flight) = (Bytes(700), Bytes(100 * i));
        let snd_nxt = bench.sender.view().snd_nxt;
        let (credited, sample) = (acked, Some(rtt));
        let ack = Ack { now, acked, credited, rtt: sample, in_flight, snd_nxt, ..Ack::default() };
        bench.sender.on_ack(&ack);
        other.on_new_data(now, acked, rtt, in_flight);
        assert_eq!(format!("{:?}", bench.sender), format!("{other:?}"));
    }
}

#[test]
fn a_sender_needs_no_timer_until_its_packets_are_paced() {
    assert!(reno(32).round().sender.acts_on_acks_only());
    let mut paced = Bench::new(Paced::default(), NewReno::default(), config(32));
    assert!(paced.sender.acts_on_acks_only(), "nothing is known yet");
    assert!(!paced.round().sender.acts_on_acks_only());
}

#[test]
fn a_sender_asks_for_the_rate_that_its_start_up_asks_for() {
    let quick = Sender::new(QuickStart::default(), NewReno::default(), config(8));
    assert_eq!(quick.asks(), Some(Rate(1_310_720_000 / 8)));
    assert_eq!(reno(8).sender.asks(), None);
}

#[test]
fn rounds_end_when_more_than_what_was_outstanding_is_acknowledged() {
    let mut bench = reno(1_000);
    bench.fill();
    let rounds: Vec<u64> = (0..7).map(|_| bench.step().fill().sender.view().round).collect();
    // Segments sent when rounds begin: 2 and 6; the ACKs for the 3rd and the 7th begin the next.
    assert_eq!(rounds, [1, 1, 2, 2, 2, 2, 3]);
}

/// For the next connection: the larger of the last two rounds, because the end cuts one short.
#[test]
fn what_a_connection_learns_of_its_path() {
    let mut bench = reno(1_000);
    assert_eq!(bench.sender.learned(), None, "no RTT");
    bench.fill();
    let per_round: Vec<u64> = (0..8)
        .map(|_| bench.step().fill().sender.learned().map_or(0, |it| it.per_round.0 / MSS))
        .collect();
    // Rounds end with the 1st, 3rd and 7th segment.
    assert_eq!(per_round, [1, 1, 2, 2, 2, 3, 4, 4]);
    (0..8).for_each(|_| assert!(bench.step().sender.learned().is_some()));
    bench.send_up_to(1).step();
    let learned = bench.sender.learned().expect("an RTT is known");
    assert_eq!((learned.per_round, learned.delivered), (Bytes(8 * MSS), Bytes(17 * MSS)));
    let rtt = Span::from_millis(100);
    assert_eq!((learned.rtt, learned.min_rtt, learned.age), (rtt, rtt, Span(0)));
    assert_eq!(learned.window, bench.sender.view().window);
}

#[test]
fn the_handshake_gives_the_first_rtt() {
    let mut bench = reno(1_000);
    bench.sender.on_handshake(Instant(5), Span::from_millis(70));
    bench.fill().step();
    let rtt = bench.sender.view().rtt;
    assert_eq!((rtt.first, rtt.min), (Span::from_millis(70), Span::from_millis(70)));
    assert_eq!(rtt.latest, Span::from_millis(100));
    assert_eq!(rtt.smoothed, Span(73_750_000), "7/8 of 70 ms and 1/8 of 100 ms");
    assert_eq!(rtt.variation, Span(33_750_000), "3/4 of 35 ms and 1/4 of 30 ms");
}

/// Grows by a segment per ACK, paced, until it has seen three; publishes a rate.
#[derive(Clone, Default)]
struct ThreeAcks {
    seen: u32,
    entries: Vec<Entry>,
}

impl Observer for ThreeAcks {
    fn eligible(&self) -> Option<Eligible> {
        Some(Eligible::exact(Rate(u64::from(self.seen))))
    }
}

impl Startup for ThreeAcks {
    fn enter(&mut self, why: Entry, _view: &View) {
        self.entries.push(why);
        self.seen = 0;
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        self.seen += 1;
        let step = view.window.grow(view.mss).paced(Rate(125_000));
        if self.seen == 3 { step.exit(Exit::Heuristic) } else { step }
    }
}

/// Asks for no window at all.
#[derive(Clone, Default)]
struct Collapse;

impl Observer for Collapse {}

impl Startup for Collapse {
    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        Window { cwnd: Bytes(0), ..view.window }.hold()
    }
}

#[test]
fn a_policy_that_asks_for_no_window_keeps_a_segment() {
    let mut bench = Bench::new(Collapse, NewReno::default(), config(1_000));
    bench.fill().step();
    assert_eq!(bench.sender.cwnd(), Bytes(MSS));
}

/// Holds, and asks for start-up on its second ACK.
#[derive(Clone, Default)]
struct Restless {
    seen: u32,
    eligible: Option<Eligible>,
}

impl Observer for Restless {
    fn on_loss(&mut self, _loss: &Loss, view: &View) {
        self.eligible = view.eligible;
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("eligible", self.eligible.map_or(0, |it| it.rate.0));
    }
}

impl Avoidance for Restless {
    fn enter(&mut self, _found: &Found, _view: &View) {
        self.seen = 0;
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        self.seen += 1;
        view.window.hold()
    }

    fn cut(&mut self, _loss: &Loss, view: &View) -> Window {
        view.window
    }

    fn wants_reprobe(&self) -> bool {
        self.seen == 2
    }
}

#[test]
fn avoidance_can_ask_for_start_up_again() {
    let mut bench = Bench::new(ThreeAcks::default(), Restless::default(), config(1_000));
    let mut windows = Vec::new();
    let mut rates = Vec::new();
    for _ in 0..10 {
        bench.fill().step();
        windows.push(bench.cwnd());
        rates.push(bench.sender.pacing().map_or(0, |pacing| pacing.rate.0 / 1_000));
    }
    // Three ACKs of start-up, two of avoidance, and so on; the first exit is kept.
    assert_eq!(windows, [3, 4, 5, 5, 5, 6, 7, 8, 8, 8]);
    // What start-up paced stays paced: 1.25 cwnd/srtt of 100 ms in avoidance, and twice that window
    // on the ACK that begins start-up again.
    assert_eq!(rates, [125, 125, 125, 62, 100, 125, 125, 125, 100, 160]);
    assert_eq!(bench.sender.first_exit().map(|exit| exit.cwnd), Some(Bytes(5_000)));
    assert_eq!(bench.sender.reprobes(), 2);
}

#[test]
fn the_avoidance_sees_what_the_start_up_estimates() {
    let mut bench = Bench::new(ThreeAcks::default(), Restless::default(), config(1_000));
    bench.fill().step().fill().step();
    bench.lose(LossKind::Recovery);
    let mut rate = 0;
    bench.sender.gauges(&mut |_, value| rate = value);
    assert_eq!(rate, 2, "up to date when the loss is answered");
}
