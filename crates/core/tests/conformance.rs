//! A transport that keeps its promises, and one fault of each kind.

use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::Recorder;
use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Answer, Observer, Startup, Step};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::View;

const MS: u64 = 1_000_000;
const MSS: Bytes = Bytes(1_000);
const THESE: Facilities = Facilities::SENT
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::WAKE_UPS)
    .and(Facilities::PACED_WAKE_UPS)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::GAPS)
    .and(Facilities::MEMORY);

/// Something that a transport does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LateHint,
    OneSendInTwo,
    NoSample,
    NoPacket,
    OtherPacket,
    ClockGoesBack,
    CreditsTwice,
    LosesTwice,
    NoGaps,
    WakesEarly,
    NoWakeUp,
    MoreInFlight,
}

/// Ten packets, the fourth of which is lost; then the rest.
fn run(fault: Fault) -> Result<(), String> {
    let recorder = Recorder::new(THESE).answering(Answer::Ignore);
    let mut sender = Sender::new(recorder, NewReno::default(), config());
    let mut sampler = Sampler::default();
    sender.on_handshake(Instant(MS), Span::from_millis(1));
    let (window, rtt) = (sender.view().window, Span(MS));
    let (delivered, age) = (MSS, Span(0));
    let (min_rtt, per_round) = (rtt, MSS);
    let hint =
        PathHint::Own(Learned { window, rtt, min_rtt, delivered, per_round, rate: None, age });
    if fault != Fault::LateHint {
        sender.on_hint(Instant(MS), &hint);
    }
    sender.begin(Instant(MS));
    if fault == Fault::LateHint {
        sender.on_hint(Instant(MS), &hint);
    }
    let mut left: Vec<AtSending> = Vec::new();
    for place in 1..=10 {
        let (now, in_flight) = (Instant((place + 1) * MS), MSS * place);
        left.push(sampler.on_sent(now, in_flight, place == 1));
        if fault != Fault::OneSendInTwo || place % 2 == 0 {
            sender.on_sent(&Sent { now, bytes: MSS, in_flight, again: false });
        }
    }
    if fault == Fault::WakesEarly {
        sender.on_wake(Instant(11 * MS - 1));
    }
    for (place, then) in (1..=10).zip(&left) {
        let now = if fault == Fault::ClockGoesBack && place == 6 { 3 } else { 50 + place };
        let (now, lost) = (Instant(now * MS), u64::from(place >= 4));
        if fault != Fault::NoWakeUp && sender.wake_at().is_some_and(|at| at <= now) {
            sender.on_wake(now);
        }
        if place == 4 {
            let loss = Loss::of(now, LossKind::Recovery, MSS, MSS * 7);
            let gaps = if fault == Fault::NoGaps { 0 } else { 1 };
            sender.on_loss(&Loss { gaps, ..loss });
            if fault == Fault::LosesTwice {
                sender.on_loss(&Loss { lost: MSS * 7, ..loss });
            }
            continue;
        }
        let sent_at = then.departure.sent_at;
        let sample = sampler.on_delivered(now, MSS, sent_at, then);
        let packet = if fault == Fault::OtherPacket { &left[9] } else { then };
        let credited = if fault == Fault::CreditsTwice { MSS * 2 } else { MSS };
        sender.on_ack(&Ack {
            now,
            acked: MSS,
            credited,
            rtt: Some(now.since(sent_at)),
            in_flight: if fault == Fault::MoreInFlight { MSS * 20 } else { MSS * (10 - place) },
            snd_nxt: MSS * (10 - lost),
            sample: sample.filter(|_| fault != Fault::NoSample),
            packet: Some(packet.departure).filter(|_| fault != Fault::NoPacket),
            ..Ack::default()
        });
    }
    let report = sender.policies().startup().report();
    if fault == Fault::None {
        let totals = (report.sent, report.credited, report.lost);
        assert_eq!(totals, (MSS * 10, MSS * 9, MSS));
        assert_eq!((report.recovery_steps, report.gaps, report.begins), (6, 1, 1));
    }
    report.check(THESE)
}

fn config() -> Config {
    Config {
        mss: MSS,
        initial_window: MSS * 10,
        initial_ssthresh: Bytes::MAX,
        max_cwnd: Bytes::MAX,
        limit_growth_to_flight: false,
        segment_per_ack: true,
        paces: false,
    }
}

#[test]
fn a_transport_that_keeps_its_promises_passes() {
    assert_eq!(run(Fault::None), Ok(()));
}

#[test]
fn every_fault_is_found_and_named() {
    let named = [
        (Fault::LateHint, "a hint came after the beginning"),
        (Fault::OneSendInTwo, "in flight"),
        (Fault::NoSample, "without a delivery-rate sample"),
        (Fault::NoPacket, "without the state of its packet"),
        (Fault::OtherPacket, "of a packet that took"),
        (Fault::ClockGoesBack, "from Instant(55000000) to Instant(3000000)"),
        (Fault::CreditsTwice, "delivered of"),
        (Fault::LosesTwice, "lost of"),
        (Fault::NoGaps, "lost in 0 gaps"),
        (Fault::WakesEarly, "woken at"),
        (Fault::NoWakeUp, "never seen: a timer"),
        (Fault::MoreInFlight, "Bytes(20000) in flight and Bytes(1000) acked of Bytes(10000)"),
    ];
    for (fault, words) in named {
        let found = run(fault).err().unwrap_or_else(|| panic!("{fault:?} was not found"));
        assert!(found.contains(words), "{fault:?}:\n{found}");
    }
}

/// A start-up that counts rests.
#[derive(Clone, Debug, Default)]
struct Rests(usize);

impl Observer for Rests {
    fn on_rest(&mut self, _idle: Span, _view: &View) {
        self.0 += 1;
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("rests", self.0 as u64);
    }
}

impl Startup for Rests {
    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        view.window.hold()
    }
}

#[test]
fn the_start_up_inside_sees_a_rest() {
    let recorder = Recorder::around(Rests::default(), Facilities::NONE);
    let mut sender = Sender::new(recorder, NewReno::default(), config());
    sender.begin(Instant(0));
    sender.on_rest(Instant(MS), Span(MS), None);
    let mut rests = None;
    sender.policies().startup().gauges(&mut |_, value| rests = Some(value));
    assert_eq!(rests, Some(1));
}

#[test]
fn what_is_sent_beyond_a_rate_that_was_set_is_found() {
    let sent = |gap_ms: u64| {
        let recorder = Recorder::new(Facilities::PACING | Facilities::TIMES | Facilities::SENT);
        let recorder = recorder.paced(MSS.per(Span::from_millis(1)));
        let mut sender = Sender::new(recorder, NewReno::default(), config());
        sender.begin(Instant(0));
        for place in 0..10 {
            let now = Instant(place * gap_ms * MS);
            let in_flight = MSS * (place + 1);
            sender.on_sent(&Sent { now, bytes: MSS, in_flight, again: false });
        }
        let (now, rtt) = (Instant(9 * gap_ms * MS + MS), Some(Span(MS)));
        let (in_flight, snd_nxt) = (MSS * 9, MSS * 10);
        let ack = Ack { acked: MSS, credited: MSS, in_flight, snd_nxt, ..Ack::default() };
        sender.on_ack(&Ack { now, rtt, ..ack });
        sender.policies().startup().report().check(Facilities::PACING)
    };
    assert_eq!(sent(1), Ok(()));
    assert!(sent(0).expect_err("all at once").contains("allows"));
}

#[test]
fn what_arrives_without_a_promise_is_found() {
    let mut sender: Sender<Pair<Recorder, NewReno>> =
        Sender::new(Recorder::new(Facilities::TIMES), NewReno::default(), config());
    sender.on_ack(&Ack { now: Instant(MS), marked: MSS, ..Ack::default() });
    let found = sender.policies().startup().report().check(Facilities::NONE);
    assert_eq!(found.expect_err("marks"), "seen and not promised: ECN marks");
}
