//! Events for a control that needs more than most: every packet, samples, every loss, and the ACKs
//! of a recovery that it answers itself.

use std::net::IpAddr;

use firstflight_core::avoidance::NewReno;
use firstflight_core::event::{Ack, Loss, RateSample};
use firstflight_core::hint::PathHint;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Answer, Observer, Startup, Step};
use firstflight_core::view::{View, Window};

use super::*;
use crate::quinn::{Factory, PathMemory, Visit};

/// Writes down its events, grows by what is acknowledged, and answers a loss with `answer`.
#[derive(Clone, Debug)]
struct Canary {
    needs: Needs,
    answer: Answer,
    begun: u32,
    acks: Vec<Ack>,
    losses: Vec<Loss>,
    further: Vec<Loss>,
    recovering: Vec<Bytes>,
    rests: Vec<u64>,
}

impl Canary {
    fn new(facilities: Facilities, answer: Answer) -> Self {
        let needs = Needs::required(facilities);
        let (acks, losses) = (Vec::new(), Vec::new());
        let (further, recovering, rests) = (Vec::new(), Vec::new(), Vec::new());
        Self { needs, answer, begun: 0, acks, losses, further, recovering, rests }
    }
}

impl Observer for Canary {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn on_begin(&mut self, view: &View) {
        assert_eq!(view.sent, Bytes(0));
        self.begun += 1;
    }

    fn on_ack(&mut self, ack: &Ack, _view: &View) {
        self.acks.push(*ack);
    }

    fn on_loss(&mut self, loss: &Loss, _view: &View) {
        self.losses.push(*loss);
    }

    fn on_further_loss(&mut self, loss: &Loss, _view: &View) {
        self.further.push(*loss);
    }

    fn on_rest(&mut self, idle: Span, _view: &View) {
        self.rests.push(idle.0 / 1_000_000);
    }
}

impl Startup for Canary {
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        view.window.grow(ack.acked)
    }

    fn answer(&mut self, _loss: &Loss, _view: &View) -> Answer {
        self.answer
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        self.recovering.push(ack.acked);
        view.window.grow(ack.acked)
    }
}

fn path(facilities: Facilities, answer: Answer) -> Path<Pair<Canary, NewReno>> {
    let zero = Clock::now();
    let factory = Factory::new(Canary::new(facilities, answer), NewReno::default()).unwrap();
    Path { controller: factory.controller(zero, MTU), zero, in_flight: 0 }
}

fn canary(path: &Path<Pair<Canary, NewReno>>) -> &Canary {
    path.controller.sender().policies().startup()
}

#[test]
fn a_policy_that_needs_to_know_what_left_knows_it_at_once() {
    let mut path = path(Facilities::SENT, Answer::Leave);
    (0..10).for_each(|ms| path.send(ms, 1));
    path.ack(100, 0, 1);
    path.send(101, 20);
    path.send(102, 0);
    assert_eq!(canary(&path).begun, 1);
    let view = path.controller.sender().view();
    assert_eq!((view.sent, view.in_flight), (Bytes(30 * PACKET), Bytes(29 * PACKET)));
}

#[test]
fn no_number_of_bytes_at_once_takes_for_ever() {
    let mut path = path(Facilities::SENT, Answer::Leave);
    path.controller.on_sent(path.at(0), 2 * PACKET + 100, 0);
    assert_eq!(path.controller.sender().view().sent, Bytes(2 * PACKET + 100));
    path.controller.on_sent(path.at(1), u64::MAX, 0);
    assert_eq!(path.controller.sender().view().sent, Bytes(u64::MAX));
}

#[test]
fn a_policy_that_does_not_need_it_has_the_right_totals_at_every_ack() {
    let mut path = path(Facilities::TIMES, Answer::Leave);
    path.send(0, 10);
    path.ack(100, 0, 4);
    path.send(101, 8);
    path.lose(150, 0, 1);
    path.ack(200, 101, 8);
    let view = path.controller.sender().view();
    assert_eq!((view.sent, view.delivered), (Bytes(18 * PACKET), Bytes(12 * PACKET)));
    assert_eq!(view.snd_nxt, Bytes(17 * PACKET));
}

#[test]
fn a_probe_whose_sending_quinn_did_not_report_counts_as_sent_once_it_is_acknowledged() {
    let mut path = path(Facilities::SENT, Answer::Leave);
    path.send(0, 2);
    path.in_flight += 1_400;
    path.controller.acknowledged(path.at(0), 1_400);
    path.in_flight -= 1_400;
    let (at, in_flight) = (path.at(100), path.in_flight);
    path.controller.on_end_acks(at, in_flight, false, None);
    assert_eq!(path.controller.sender().view().sent, Bytes(2 * PACKET + 1_400));
}

#[test]
fn samples_and_departures_come_to_those_who_need_them_once_for_each_frame() {
    let mut path = path(Facilities::RATES | Facilities::PACKETS, Answer::Leave);
    path.send(0, 4);
    path.send(20, 2);
    path.ack(100, 0, 4);
    path.ack(120, 20, 2);
    let acks = &canary(&path).acks;
    let (whole, parts): (Vec<&Ack>, Vec<&Ack>) = acks.iter().partition(|ack| !ack.continues);
    assert_eq!((whole.len(), parts.len()), (2, 4));
    assert!(parts.iter().all(|ack| ack.sample.is_none() && ack.packet.is_none()));
    assert_eq!(parts.iter().map(|ack| ack.credited.0).sum::<u64>(), 0);
    let packet = whole[1].packet.unwrap();
    assert_eq!((packet.sent_at, packet.in_flight), (Instant(20_000_000), Bytes(6 * PACKET)));
    assert_eq!(packet.delivered, Bytes(0));
    let sample = RateSample {
        delivered: Bytes(6 * PACKET),
        interval: Span::from_millis(120),
        app_limited: false,
    };
    assert_eq!(whole[1].sample, Some(sample));
}

#[test]
fn nobody_else_pays_for_samples() {
    let path = path(Facilities::SENT | Facilities::TIMES, Answer::Leave);
    assert!(path.controller.departures.is_none());
}

#[test]
fn every_loss_is_reported_with_what_is_newly_lost_and_when_it_had_left() {
    let mut path = path(Facilities::TIMES, Answer::Leave);
    path.send(0, 10);
    path.send(1, 10);
    path.lose(100, 0, 2);
    path.lose(101, 1, 3);
    let canary = canary(&path);
    let brief = |loss: &Loss| (loss.lost.0 / PACKET, loss.gaps, loss.sent_at);
    let first: Vec<_> = canary.losses.iter().map(brief).collect();
    let second: Vec<_> = canary.further.iter().map(brief).collect();
    assert_eq!(first, [(2, 1, Some(Instant(0)))]);
    assert_eq!(second, [(3, 1, Some(Instant(1_000_000)))]);
}

#[test]
fn a_start_up_that_lands_decides_on_every_ack_of_the_recovery_and_ends_with_it() {
    let four = Window { cwnd: Bytes(4 * PACKET), ssthresh: Bytes(4 * PACKET) };
    let mut path = path(Facilities::RECOVERY_WINDOW, Answer::Land(four));
    path.send(0, 10);
    path.lose(100, 0, 1);
    assert_eq!(path.window(), 4);
    path.ack(101, 0, 2);
    path.ack(102, 0, 1);
    assert_eq!(canary(&path).recovering, [Bytes(PACKET); 3]);
    assert_eq!(path.window(), 7, "what it decides counts at once");
    assert_eq!(path.controller.sender().view().acked, Bytes(3 * PACKET));
    path.send(103, 1);
    path.ack(203, 103, 1);
    let view = path.controller.sender().view();
    assert_eq!((view.phase, view.recovering), (Phase::Avoidance, false));
    assert_eq!(view.window.ssthresh, Bytes(7 * PACKET));
    assert_eq!(canary(&path).recovering.len(), 3);
}

#[test]
fn a_start_up_that_ignores_a_loss_or_a_mark_grows_on_by_what_left_before_it() {
    for lost in [0, 1] {
        let mut path = path(Facilities::RECOVERY_WINDOW, Answer::Ignore);
        path.send(0, 10);
        path.lose(100, 0, lost);
        path.ack(101, 0, 9);
        assert_eq!(path.window(), 19, "{lost} lost");
        assert_eq!(canary(&path).recovering.len(), if lost > 0 { 9 } else { 0 });
        path.send(102, 5);
        path.ack(203, 102, 1);
        let view = path.controller.sender().view();
        assert_eq!((view.phase, view.recovering), (Phase::Startup, false), "{lost} lost");
        assert_eq!(path.window(), 20, "{lost} lost");
    }
}

#[test]
fn a_timeout_after_a_loss_that_was_ignored_withholds_as_any_other() {
    let mut path = path(Facilities::RECOVERY_WINDOW, Answer::Ignore);
    path.send(0, 10);
    path.lose(100, 0, 1);
    let now = path.at(100);
    path.in_flight -= PACKET;
    path.controller.on_congestion_event(now, path.at(0), true, PACKET);
    assert_eq!(path.window(), 2);
    path.ack(101, 0, 8);
    assert_eq!(path.window(), 2);
}

#[test]
fn the_clock_of_the_core_does_not_go_back_where_an_ack_is_handled_late() {
    let mut path = path(Facilities::SENT, Answer::Leave);
    path.send(0, 2);
    path.send(105, 1);
    path.ack(100, 0, 1);
    path.ack(103, 0, 1);
    let acks = &canary(&path).acks;
    assert_eq!(acks[1].now, Instant(105_000_000));
    assert_eq!(acks[1].rtt, Some(Span::from_millis(103)), "the RTT is the one measured");
}

/// RFC 9438 section 5.8 does not count a rest. quinn reports what leaves, acknowledgements or data.
#[test]
fn a_rest_is_reported_as_something_leaves_and_the_remainder_of_it_with_the_ack_of_what_was_data() {
    for needs in [Facilities::TIMES, Facilities::SENT, Facilities::RATES] {
        let mut path = path(needs, Answer::Leave);
        path.send(0, 2);
        path.send(1, 8);
        path.ack(100, 0, 2);
        path.in_flight = 0;
        (0..8).for_each(|_| path.controller.acknowledged(path.at(1), PACKET));
        path.controller.on_end_acks(path.at(101), 0, true, None);
        assert!(canary(&path).rests.is_empty());
        path.controller.on_sent(path.at(151), 40, 0);
        path.controller.on_sent(path.at(2_000), 40, 0);
        assert_eq!(canary(&path).rests, [150], "up to the first that leaves");
        path.send(3_001, 4);
        path.send(3_002, 4);
        path.ack(3_101, 3_001, 4);
        path.ack(3_102, 3_002, 4);
        assert_eq!(canary(&path).rests, [150, 2_850]);
        path.send(3_200, 1);
        assert_eq!(canary(&path).rests.len(), 2, "it had more to send");
    }
}

#[test]
fn a_source_whose_last_packets_are_lost_does_not_rest() {
    let mut path = path(Facilities::TIMES, Answer::Leave);
    path.send(0, 10);
    path.ack(100, 0, 9);
    path.lose(200, 0, 1);
    path.send(200, 1);
    path.ack(300, 200, 1);
    assert!(canary(&path).rests.is_empty());
}

#[test]
fn what_was_learned_is_what_the_next_connection_can_be_given() {
    let mut path = path(Facilities::TIMES, Answer::Leave);
    assert_eq!(path.controller.learned(), None);
    path.send(0, 10);
    path.ack(100, 0, 10);
    let learned = path.controller.learned().unwrap();
    assert_eq!((learned.rtt, learned.min_rtt), (Span::from_millis(100), Span::from_millis(100)));
    assert_eq!(learned.window.cwnd, Bytes(20 * PACKET));
    assert_eq!(learned.delivered, Bytes(10 * PACKET));
    assert!(!path.controller.refutes_hint());
}

/// A connection of so many rounds, the first window doubled in each.
fn rounds(controller: Controller<Named>, rounds: u64) -> Path {
    let mut path = Path { controller, zero: Clock::now(), in_flight: 0 };
    for round in 0..rounds {
        let packets = path.window();
        path.send(round * 100, packets);
        path.ack(round * 100 + 100, round * 100, packets);
    }
    path
}

#[test]
fn a_memory_gives_the_next_connection_what_the_last_one_had_in_a_round() {
    let memory = PathMemory::new(Duration::from_secs(3_600), 10);
    let remote = IpAddr::from([192, 0, 2, 7]);
    let open = |visit: &Visit| {
        control("careful-resume").unwrap().hinted(visit.hint()).controller(Clock::now(), MTU)
    };
    let visit = memory.visit(remote);
    assert!(visit.hint().is_none());
    let first = rounds(open(&visit), 6);
    visit.end(&first.controller);
    // 10, 20, ... 320 packets: the last ACK began a round, so that the one before is complete.
    let visit = memory.visit(remote);
    let Some(PathHint::Own(learned)) = visit.hint() else { panic!("a hint") };
    assert_eq!(learned.per_round, Bytes(320 * PACKET));
    // It had not left slow start: of half of it half is the jump.
    let second = rounds(open(&visit), 1);
    assert_eq!(second.window(), 80);
    // The jump is lost: what was known is wrong, and what was learned since too little.
    let mut second = second;
    second.send(101, 80);
    second.lose(201, 101, 40);
    assert!(second.controller.refutes_hint());
    visit.end_with(None, second.controller.refutes_hint());
    assert!(memory.visit(remote).hint().is_none());
}
