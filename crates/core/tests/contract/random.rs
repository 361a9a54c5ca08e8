//! A policy that answers and decides anything, under any events: nothing panics, and the rules that
//! do not depend on the policies hold.

use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pacing::Pacing;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Answer, Avoidance, Exit, Found, Observer, Startup, Step};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Phase, View, Window};
use proptest::prelude::*;

/// Draws each decision from a sequence of numbers.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // Steele and others, SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 3
    }

    /// Mostly small, sometimes as large as can be.
    fn size(&mut self) -> u64 {
        match self.roll() % 8 {
            0 => 0,
            1 => u64::MAX,
            _ => self.roll() % 1_000_000,
        }
    }

    fn window(&mut self) -> Window {
        Window { cwnd: Bytes(self.size()), ssthresh: Bytes(self.size()) }
    }

    fn step(&mut self) -> Step {
        let mut step = self.window().hold();
        if self.roll().is_multiple_of(4) {
            let pacing = Pacing::at(Rate(self.size())).in_bursts_of(Bytes(self.size()));
            let pacing = pacing.beginning(Bytes(self.size()), Rate(self.size()));
            step = step.pacing(pacing.not_before(Instant(self.size())));
        }
        if self.roll().is_multiple_of(4) {
            step = step.wake_at(Instant(self.size()));
        }
        if self.roll().is_multiple_of(8) { step.exit(Exit::Heuristic) } else { step }
    }
}

impl Observer for Dice {}

impl Startup for Dice {
    fn begin(&mut self, _view: &View) -> Step {
        self.step()
    }

    fn step(&mut self, _ack: &Ack, _view: &View) -> Step {
        Dice::step(self)
    }

    fn answer(&mut self, _loss: &Loss, _view: &View) -> Answer {
        match self.roll() % 4 {
            0 => Answer::Leave,
            1 => Answer::Retreat(self.window()),
            2 => Answer::Land(self.window()),
            _ => Answer::Ignore,
        }
    }

    fn recovering(&mut self, _ack: &Ack, _view: &View) -> Step {
        Dice::step(self)
    }

    fn on_wake(&mut self, _view: &View) -> Step {
        Dice::step(self)
    }

    fn growth(&self) -> u64 {
        self.0 % 5
    }
}

impl Avoidance for Dice {
    fn enter(&mut self, _found: &Found, _view: &View) {}

    fn step(&mut self, _ack: &Ack, _view: &View) -> Step {
        Dice::step(self)
    }

    fn cut(&mut self, _loss: &Loss, _view: &View) -> Window {
        self.window()
    }

    fn goes_on(&self) -> bool {
        self.0 % 5 < 2
    }

    fn recovering(&mut self, _ack: &Ack, _view: &View) -> Step {
        Dice::step(self)
    }

    fn growth(&self) -> u64 {
        self.0 % 5
    }

    fn wants_reprobe(&self) -> bool {
        self.0.is_multiple_of(3)
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Sent { bytes: u64, again: bool },
    Ack { acked: u64, snd_nxt: u64, marked: bool, app_limited: bool },
    Loss { kind: LossKind, lost: u64, sent_at: Option<u64>, again: bool },
    Recovered(Option<u64>),
    Restart,
    Spurious,
    Wake,
    Begin,
}

fn event() -> impl Strategy<Value = Event> {
    let size = || prop_oneof![4 => 0u64..100_000, 1 => Just(u64::MAX)];
    let kind = prop_oneof![
        4 => Just(LossKind::Recovery), 1 => Just(LossKind::Mark), 1 => Just(LossKind::Timeout)
    ];
    prop_oneof![
        8 => (size(), any::<bool>()).prop_map(|(bytes, again)| Event::Sent { bytes, again }),
        12 => (size(), size(), prop::bool::weighted(0.2), any::<bool>()).prop_map(
            |(acked, snd_nxt, marked, app_limited)| Event::Ack {
                acked, snd_nxt, marked, app_limited
            }
        ),
        6 => (kind, size(), prop::option::of(0u64..2_000), any::<bool>()).prop_map(
            |(kind, lost, sent_at, again)| Event::Loss { kind, lost, sent_at, again }
        ),
        3 => prop::option::of(size()).prop_map(Event::Recovered),
        1 => Just(Event::Restart),
        2 => Just(Event::Spurious),
        3 => Just(Event::Wake),
        1 => Just(Event::Begin),
    ]
}

type AnySender = Sender<Pair<Dice, Dice>>;

fn apply(sender: &mut AnySender, event: Event, now: Instant) {
    match event {
        Event::Sent { bytes, again } => {
            let bytes = Bytes(bytes);
            sender.on_sent(&Sent { now, bytes, in_flight: bytes, again });
        }
        Event::Ack { acked, snd_nxt, marked, app_limited } => sender.on_ack(&Ack {
            now,
            acked: Bytes(acked),
            credited: Bytes(acked),
            rtt: Some(Span(snd_nxt)),
            in_flight: Bytes(snd_nxt),
            snd_nxt: Bytes(snd_nxt),
            marked: Bytes(u64::from(marked)),
            app_limited,
            ..Ack::default()
        }),
        Event::Loss { kind, lost, sent_at, again } => {
            let before = (sender.cwnd(), sender.view().recovering);
            let sent_at = sent_at.map(Instant);
            let loss = Loss::of(now, kind, Bytes(lost), Bytes(lost));
            let loss = Loss { again, answered: again, sent_at, ..loss };
            let cut = sender.on_loss(&loss);
            assert!(cut || sender.cwnd() == before.0, "a window moved without a cut");
            assert!(cut || kind != LossKind::Timeout, "a timeout without a cut");
            let by_order = kind == LossKind::Recovery && loss.sent_at.is_none();
            assert!(cut || !by_order || sender.view().recovering);
        }
        Event::Recovered(cwnd) => {
            let (startups, before) = (sender.policy_sets_recovery_window(), sender.cwnd());
            sender.on_recovered(cwnd.map(Bytes));
            assert!(!startups || sender.cwnd() == before, "the window was start-up's");
            assert!(!sender.view().recovering && !sender.policy_sets_recovery_window());
        }
        Event::Restart => sender.on_restart(),
        Event::Spurious => {
            let before = sender.cwnd();
            sender.on_spurious_loss();
            assert!(sender.cwnd() >= before, "an undo took from the window");
        }
        Event::Wake => sender.on_wake(now),
        Event::Begin => sender.begin(now),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_policy_and_no_event_leads_outside_the_rules(
        seed in any::<u64>(),
        limit_growth_to_flight in any::<bool>(),
        segment_per_ack in any::<bool>(),
        paces in any::<bool>(),
        events in prop::collection::vec(event(), 1..80),
    ) {
        let (mss, max_cwnd) = (Bytes(1_000), Bytes(500_000));
        let initial_window = mss * 10;
        let initial_ssthresh = Bytes::MAX;
        let config = Config {
            mss, initial_window, initial_ssthresh, max_cwnd, limit_growth_to_flight,
            segment_per_ack, paces,
        };
        let mut sender = Sender::new(Dice(seed), Dice(!seed), config);
        let (mut exit, mut sent) = (None, Bytes(0));
        for (at, event) in events.into_iter().enumerate() {
            apply(&mut sender, event, Instant(at as u64 * 20));
            let view = sender.view();
            let cwnd = sender.cwnd();
            prop_assert!((mss..=max_cwnd).contains(&cwnd), "{cwnd:?} after {event:?}");
            prop_assert!(view.sent >= sent, "a counter fell");
            sent = view.sent;
            if sender.policy_sets_recovery_window() {
                prop_assert!(view.recovering);
            }
            if view.phase == Phase::Avoidance {
                prop_assert!(sender.wake_at().is_none() || !matches!(event, Event::Wake));
            }
            // The first exit stays, unless the loss that it answered was none.
            prop_assert!(exit.is_none() || exit == sender.first_exit()
                || matches!(event, Event::Spurious));
            exit = sender.first_exit();
            let _ = sender.pacing();
        }
    }
}
