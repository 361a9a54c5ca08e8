//! One model for every pair of policies in the registry: whatever a transport reports, true or not,
//! the sender neither panics nor leaves its bounds, and does the same again when the same is
//! reported again.

use firstflight_core::delivery_exit::DeliveryExit;
use firstflight_core::event::{Ack, Departure, Loss, LossKind, RateSample, Sent};
use firstflight_core::feedback::Feedback;
use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Observer, Startup};
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use proptest::prelude::*;

/// What a transport may report. Numbers are small unless the event says otherwise.
#[derive(Clone, Copy, Debug)]
enum Event {
    Handshake {
        rtt: u64,
    },
    Send {
        segments: u8,
    },
    /// Acknowledges up to so many segments of those outstanding; a stretched ACK for many.
    Ack {
        segments: u8,
        rtt: u32,
    },
    Duplicate,
    AppLimited,
    Marked {
        segments: u8,
    },
    /// Numbers that contradict each other.
    Lie {
        acked: u64,
        credited: u64,
        in_flight: u64,
        sent: u64,
        rtt: Option<u64>,
    },
    Loss {
        again: bool,
    },
    Timeout {
        again: bool,
    },
    Recovered {
        cwnd: Option<u32>,
    },
    Spurious,
    /// Reports of routers, which most policies ignore.
    Feedback {
        change: i64,
        share: u64,
    },
    Mss {
        mss: u16,
    },
    /// The clock moves on, or back.
    Later {
        nanos: u64,
    },
    Earlier {
        nanos: u64,
    },
}

fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1u64..10_000, any::<u64>(), Just(u64::MAX)]
}

fn event() -> impl Strategy<Value = Event> {
    let lie = (any_size(), any_size(), any_size(), any_size(), prop::option::of(any_size()));
    prop_oneof![
        12 => (0u8..40).prop_map(|segments| Event::Send { segments }),
        24 => (1u8..20, 0u32..400_000_000).prop_map(|(segments, rtt)| Event::Ack { segments, rtt }),
        4 => Just(Event::Duplicate),
        1 => any_size().prop_map(|rtt| Event::Handshake { rtt }),
        1 => Just(Event::AppLimited),
        1 => (0u8..10).prop_map(|segments| Event::Marked { segments }),
        1 => lie.prop_map(|(acked, credited, in_flight, sent, rtt)| {
            Event::Lie { acked, credited, in_flight, sent, rtt }
        }),
        1 => any::<bool>().prop_map(|again| Event::Loss { again }),
        1 => any::<bool>().prop_map(|again| Event::Timeout { again }),
        2 => prop::option::of(any::<u32>()).prop_map(|cwnd| Event::Recovered { cwnd }),
        1 => Just(Event::Spurious),
        3 => (-100_000_000i64..100_000_000, 0u64..100_000_000)
            .prop_map(|(change, share)| Event::Feedback { change, share }),
        1 => (any::<i64>(), any_size())
            .prop_map(|(change, share)| Event::Feedback { change, share }),
        1 => any::<u16>().prop_map(|mss| Event::Mss { mss }),
        8 => (0u64..100_000_000).prop_map(|nanos| Event::Later { nanos }),
        1 => any::<u64>().prop_map(|nanos| Event::Later { nanos }),
        1 => any::<u64>().prop_map(|nanos| Event::Earlier { nanos }),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    (1u64..3_000, any_size(), any_size(), 1_000u64..1 << 40, any::<(bool, bool)>()).prop_map(
        |(mss, initial_window, initial_ssthresh, max_cwnd, (to_flight, segment_per_ack))| Config {
            mss: Bytes(mss),
            initial_window: Bytes(initial_window),
            initial_ssthresh: Bytes(initial_ssthresh),
            max_cwnd: Bytes(max_cwnd),
            limit_growth_to_flight: to_flight,
            segment_per_ack,
            paces: false,
        },
    )
}

/// A value a knob accepts, picked by `draw`.
fn knob_value(knob: &Knob, draw: u64) -> KnobValue {
    let between = |low: u64, high: u64| low + draw % (high - low).saturating_add(1).max(1);
    match knob.kind {
        KnobKind::Count(low, high) => KnobValue::Count(between(low, high)),
        KnobKind::Ratio(low, high) => KnobValue::Ratio(between(low, high)),
        KnobKind::Time(low, high) => KnobValue::Time(Span(between(low.0, high.0))),
        KnobKind::Word(words) => KnobValue::Word(words[draw as usize % words.len()]),
        KnobKind::Window | KnobKind::Threshold => KnobValue::Window(match draw % 3 {
            0 => Amount::Unlimited,
            1 => Amount::Segments(draw >> (draw % 64)),
            _ => Amount::Bytes(draw >> (draw % 64)),
        }),
    }
}

/// The transport's side of the model.
struct Model<S> {
    sender: Sender<Pair<S, AnyAvoidance>>,
    config: Config,
    now: u64,
    outstanding: u64,
    sent: u64,
    /// The largest window or flight ever reported, true or not.
    flight: Bytes,
    /// Growth is limited to what the flight justifies.
    limited: bool,
    trace: Vec<(u64, u64)>,
}

impl<S: Startup + Clone> Model<S> {
    fn new(startup: S, avoidance: AnyAvoidance, config: Config) -> Self {
        let mut sender = Sender::new(startup, avoidance, config);
        let now = 1_000_000_000;
        sender.begin(Instant(now));
        let routers = Facilities::ROUTER_CHANGES | Facilities::ROUTER_SHARES;
        let uses_routers = !sender.needs().all().common(routers).is_empty();
        let limited = config.limit_growth_to_flight && !uses_routers;
        let (flight, trace) = (sender.cwnd(), Vec::new());
        Self { sender, config, now, outstanding: 0, sent: 0, flight, limited, trace }
    }

    fn ack(&self, acked: u64, rtt: Option<Span>) -> Ack {
        let in_flight = Bytes(self.outstanding);
        let (acked, now, snd_nxt) = (Bytes(acked), Instant(self.now), Bytes(self.sent));
        Ack { now, acked, credited: acked, rtt, in_flight, snd_nxt, ..Ack::default() }
    }

    fn tell(&mut self, ack: &Ack) {
        self.flight = self.flight.max(ack.in_flight + ack.credited.max(ack.acked));
        self.sender.on_ack(ack);
    }

    /// How far a window may grow on an ACK for what left while the source limited sending.
    fn limit(&self, growth: u64) -> Bytes {
        if self.limited { self.flight * growth + self.config.mss } else { Bytes(0) }
    }

    /// A model bounds the window; the same ACK may end start-up, and avoidance decide on it.
    fn follows_model(&self) -> bool {
        let (startup, avoidance) =
            (self.sender.policies().startup(), self.sender.policies().avoidance());
        startup.follows_model() || avoidance.follows_model()
    }

    fn lose(&mut self, kind: LossKind, again: bool) {
        let recovering = self.sender.view().recovering;
        let before = self.sender.cwnd();
        let (now, lost) = (Instant(self.now), Bytes(self.config.mss.0));
        let flight = Bytes(self.outstanding);
        let cut = self.sender.on_loss(&Loss {
            again,
            answered: again,
            ..Loss::of(now, kind, lost, flight)
        });
        if recovering && kind == LossKind::Recovery {
            assert!(!cut && self.sender.cwnd() == before, "a second cut in one recovery");
        }
        assert!(cut || kind != LossKind::Timeout, "a timeout without a cut");
    }

    fn apply(&mut self, event: Event) {
        let mss = self.config.mss.0;
        let (before, startups) = (self.sender.cwnd(), self.sender.policy_sets_recovery_window());
        match event {
            Event::Handshake { rtt } => self.sender.on_handshake(Instant(self.now), Span(rtt)),
            Event::Send { segments } => (0..segments).for_each(|_| {
                self.outstanding += mss;
                self.sent += mss;
                let (now, in_flight) = (Instant(self.now), Bytes(self.outstanding));
                self.sender.on_sent(&Sent { now, bytes: Bytes(mss), in_flight, again: false });
            }),
            Event::Ack { segments, rtt } => {
                let acked = (u64::from(segments) * mss).min(self.outstanding);
                self.outstanding -= acked;
                self.tell(&self.ack(acked, Some(Span(u64::from(rtt)))));
            }
            Event::Duplicate => {
                self.tell(&Ack { credited: Bytes(mss), ..self.ack(0, None) });
                let held = self.sender.cwnd() <= before || startups;
                assert!(held, "growth on a duplicate ACK");
            }
            Event::AppLimited => self.idle(before),
            Event::Marked { segments } => {
                let acked = (u64::from(segments) * mss).min(self.outstanding);
                self.outstanding -= acked;
                self.tell(&Ack { marked: Bytes(acked), ..self.ack(acked, None) });
            }
            Event::Lie { acked, credited, in_flight, sent, rtt } => self.tell(&Ack {
                now: Instant(self.now),
                acked: Bytes(acked),
                credited: Bytes(credited),
                rtt: rtt.map(Span),
                in_flight: Bytes(in_flight),
                snd_nxt: Bytes(sent),
                sample: Some(RateSample {
                    delivered: Bytes(credited),
                    interval: Span(acked),
                    app_limited: false,
                }),
                packet: Some(Departure {
                    sent_at: Instant(sent),
                    delivered: Bytes(acked),
                    in_flight: Bytes(in_flight),
                }),
                marked: Bytes(sent % 2),
                to_come: Bytes(acked % 3),
                ..Ack::default()
            }),
            Event::Loss { again } => self.lose(LossKind::Recovery, again),
            Event::Timeout { again } => self.lose(LossKind::Timeout, again),
            Event::Recovered { cwnd } => {
                self.sender.on_recovered(cwnd.map(|cwnd| Bytes(u64::from(cwnd))));
            }
            Event::Spurious => self.sender.on_spurious_loss(),
            Event::Feedback { change, share } => {
                let now = Instant(self.now);
                self.sender.on_feedback(now, &Feedback::Change(change));
                self.sender.on_feedback(now, &Feedback::Share(Rate(share)));
                assert_eq!(self.sender.cwnd(), before, "the window moves with the ACK only");
            }
            Event::Mss { mss } => {
                self.sender.set_mss(Bytes(u64::from(mss)));
                self.config.mss = Bytes(u64::from(mss).max(1));
                self.config.max_cwnd = self.config.max_cwnd.max(self.config.mss);
            }
            Event::Later { nanos } => self.now = self.now.saturating_add(nanos),
            Event::Earlier { nanos } => self.now = self.now.saturating_sub(nanos),
        }
        self.check(event, before, startups);
    }

    /// An ACK of what left while the source limited sending.
    fn idle(&mut self, before: Bytes) {
        let acked = self.config.mss.0.min(self.outstanding);
        self.outstanding -= acked;
        let growth = self.sender.policies().startup().growth();
        let follows_model = self.follows_model();
        self.tell(&Ack { app_limited: true, ..self.ack(acked, None) });
        let limit = before.max(self.limit(growth));
        assert!(follows_model || self.sender.cwnd() <= limit, "growth when idle");
    }

    /// What holds after every event, where `startups` if start-up set the window before it.
    fn check(&mut self, event: Event, before: Bytes, startups: bool) {
        let (cwnd, view) = (self.sender.cwnd(), self.sender.view());
        assert!(cwnd >= self.config.mss, "{cwnd:?} is under a segment after {event:?}");
        assert!(cwnd <= self.config.max_cwnd, "{cwnd:?} is over the cap after {event:?}");
        let acks = matches!(event, Event::Ack { .. } | Event::Lie { .. } | Event::Marked { .. });
        if view.recovering && acks && !startups {
            assert!(cwnd <= before, "growth in recovery");
        }
        let mut sum = 0u64;
        self.sender.gauges(&mut |_, value| sum = sum.wrapping_mul(31).wrapping_add(value));
        self.trace.push((cwnd.0, sum.wrapping_add(self.sender.ssthresh().0)));
    }
}

/// The policies of a pair, with some of their knobs set.
fn policies(pair: (usize, usize), knobs: &[u64]) -> (AnyStartup, AnyAvoidance) {
    let (start, avoid) = (&STARTUPS[pair.0], &AVOIDANCES[pair.1]);
    let mut startup = AnyStartup::by_name(start.name).expect("it is listed");
    let mut avoidance = AnyAvoidance::by_name(avoid.name).expect("it is listed");
    // A third of the knobs are set, each to a value drawn for it.
    for (knob, draw) in start.knobs.iter().zip(knobs).filter(|(_, draw)| *draw % 3 == 0) {
        assert!(startup.set(knob.name, knob_value(knob, draw / 3)), "{}", knob.name);
    }
    for (knob, draw) in avoid.knobs.iter().zip(knobs).filter(|(_, draw)| *draw % 3 == 1) {
        assert!(avoidance.set(knob.name, knob_value(knob, draw / 3)), "{}", knob.name);
    }
    (startup, avoidance)
}

fn run<S: Startup + Clone>(
    (startup, avoidance): (S, AnyAvoidance),
    config: Config,
    events: &[Event],
) -> Vec<(u64, u64)> {
    let mut model = Model::new(startup, avoidance, config);
    model.config.max_cwnd = config.max_cwnd.max(config.mss);
    events.iter().for_each(|event| model.apply(*event));
    model.trace
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_keeps_its_bounds_and_repeats_itself(
        knobs in prop::collection::vec(any::<u64>(), MOST_KNOBS),
        config in config(),
        events in prop::collection::vec(event(), 1..250),
    ) {
        for start in 0..STARTUPS.len() {
            for avoid in 0..AVOIDANCES.len() {
                let run = || run(policies((start, avoid), &knobs), config, &events);
                prop_assert_eq!(run(), run());
            }
        }
    }

    #[test]
    fn every_start_up_that_is_landed_keeps_its_bounds(
        knobs in prop::collection::vec(any::<u64>(), MOST_KNOBS),
        avoid in 0..AVOIDANCES.len(),
        config in config(),
        events in prop::collection::vec(event(), 1..250),
    ) {
        for start in 0..STARTUPS.len() {
            let (startup, avoidance) = policies((start, avoid), &knobs);
            run((DeliveryExit::new(startup), avoidance), config, &events);
        }
    }
}

/// The number of knobs of the policy with most of them; each has a draw.
const MOST_KNOBS: usize = 16;

#[test]
fn every_listed_name_and_knob_exists_and_no_other() {
    for listing in STARTUPS.iter().chain(AVOIDANCES) {
        assert!(listing.knobs.len() <= MOST_KNOBS, "the model sets not all of {}", listing.name);
    }
    for listing in STARTUPS {
        let mut policy = AnyStartup::by_name(listing.name).expect("it is listed");
        let partner = listing.partner.expect("a start-up has a partner");
        assert!(AnyAvoidance::by_name(partner).is_some(), "{partner}");
        for knob in listing.knobs {
            (0..5).for_each(|draw| assert!(policy.set(knob.name, knob_value(knob, draw))));
        }
        assert!(!policy.set("nonsense", KnobValue::Count(1)));
    }
    for listing in AVOIDANCES {
        let mut policy = AnyAvoidance::by_name(listing.name).expect("it is listed");
        for knob in listing.knobs {
            (0..5).for_each(|draw| assert!(policy.set(knob.name, knob_value(knob, draw))));
        }
        assert!(!policy.set("nonsense", KnobValue::Count(1)));
    }
    assert!(AnyStartup::by_name("nonsense").is_none());
}
