//! What is known of a path before data leaves: who uses it, and how it is taken back.

use firstflight_core::avoidance::NewReno;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::pacing::Pacing;
use firstflight_core::pair::Pair;
use firstflight_core::policy::Exit;
use firstflight_core::registry::{AnyStartup, STARTUPS};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::{FastStart, SlowStart};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Phase, Window};

const MSS: Bytes = Bytes(1_000);
const RTT: Span = Span::from_millis(100);

fn config() -> Config {
    Config {
        mss: MSS,
        initial_window: MSS * 2,
        initial_ssthresh: MSS * 32,
        max_cwnd: MSS * 1_000,
        limit_growth_to_flight: true,
        segment_per_ack: true,
        paces: false,
    }
}

fn learned(cwnd: u64) -> Learned {
    let window = Window { cwnd: MSS * cwnd, ssthresh: MSS * 50 };
    let (rtt, min_rtt, age) = (RTT, RTT, Span::from_secs(1));
    Learned { window, rtt, min_rtt, delivered: MSS * 500, per_round: window.cwnd, rate: None, age }
}

fn fast_start(cwnd: u64) -> Sender<Pair<FastStart, NewReno>> {
    let mut sender = Sender::new(FastStart::default(), NewReno::default(), config());
    sender.on_hint(Instant(0), &PathHint::Own(learned(cwnd)));
    sender
}

fn send(sender: &mut Sender<Pair<FastStart, NewReno>>, segments: u64) {
    for i in 1..=segments {
        sender.on_sent(&Sent { now: Instant(0), bytes: MSS, in_flight: MSS * i, again: false });
    }
}

fn lose(sender: &mut Sender<Pair<FastStart, NewReno>>, kind: LossKind) {
    let (now, flight) = (Instant(200_000_000), MSS * 80);
    assert!(sender.on_loss(&Loss::of(now, kind, MSS, flight)));
}

#[test]
fn a_hint_opens_the_window_within_its_cap_and_paces_it() {
    let sender = fast_start(81);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (MSS * 80, MSS * 50));
    assert_eq!(sender.pacing(), Some(Pacing::at(Rate(800_000))));
    assert_eq!(fast_start(5_000).cwnd(), MSS * 1_000);
}

#[test]
fn a_hint_after_data_comes_too_late() {
    let mut sender = Sender::new(FastStart::default(), NewReno::default(), config());
    send(&mut sender, 1);
    sender.on_hint(Instant(0), &PathHint::Own(learned(81)));
    assert_eq!((sender.cwnd(), sender.pacing()), (MSS * 2, None));
}

#[test]
fn a_loss_of_what_was_sent_on_a_hint_leads_back_to_slow_start() {
    for kind in [LossKind::Recovery, LossKind::Timeout] {
        let mut sender = fast_start(81);
        send(&mut sender, 80);
        lose(&mut sender, kind);
        let cwnd = if kind == LossKind::Timeout { 1 } else { 2 };
        assert_eq!((sender.cwnd(), sender.ssthresh()), (MSS * cwnd, MSS * 50), "{kind:?}");
        assert_eq!((sender.view().phase, sender.pacing()), (Phase::Startup, None));
        assert!(!sender.view().recovering, "it grows while it repairs");
        let again = Loss::of(Instant(0), kind, MSS, MSS);
        assert_eq!(sender.on_loss(&again), kind == LossKind::Timeout, "cut for one window once");
        let exit = sender.first_exit().unwrap();
        assert_eq!(exit.cwnd, MSS * 80);
        assert_eq!(exit.why, if cwnd == 1 { Exit::Timeout } else { Exit::Loss });
    }
}

#[test]
fn a_loss_after_it_is_the_avoidances() {
    let mut sender = fast_start(41);
    send(&mut sender, 40);
    for i in 1..=40 {
        sender.on_ack(&Ack {
            now: Instant(100_000_000),
            acked: MSS,
            credited: MSS,
            rtt: Some(RTT),
            in_flight: MSS * (40 - i),
            snd_nxt: MSS * 40,
            ..Ack::default()
        });
    }
    lose(&mut sender, LossKind::Recovery);
    assert_eq!((sender.cwnd(), sender.view().phase), (MSS * 40, Phase::Avoidance));
}

#[test]
fn other_start_ups_ignore_hints() {
    let mut sender = Sender::new(SlowStart::default(), NewReno::default(), config());
    for hint in [PathHint::Own(learned(81)), PathHint::Granted(Rate(1_000_000))] {
        sender.on_hint(Instant(0), &hint);
        assert_eq!((sender.cwnd(), sender.ssthresh(), sender.pacing()), (MSS * 2, MSS * 32, None));
    }
}

/// Any value in a hint, as a transport might keep it over a reboot.
#[test]
fn no_hint_makes_a_start_up_panic_or_leaves_the_window_outside_its_bounds() {
    let extremes = [0, 1, 999, 80_000, u64::MAX];
    for listing in STARTUPS {
        for cwnd in extremes {
            for other in extremes {
                let window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes(other) };
                let (rtt, delivered) = (Span(other), Bytes(cwnd));
                let (min_rtt, per_round, age) = (rtt, Bytes(other), Span(cwnd / 2));
                let learned =
                    Learned { window, rtt, min_rtt, delivered, per_round, rate: None, age };
                let hints = [
                    PathHint::Own(learned),
                    PathHint::Shared(learned),
                    PathHint::Granted(Rate(cwnd)),
                ];
                for hint in hints {
                    let startup = AnyStartup::by_name(listing.name).unwrap();
                    let mut sender = Sender::new(startup, NewReno::default(), config());
                    sender.on_handshake(Instant(0), RTT);
                    sender.on_hint(Instant(0), &hint);
                    let cwnd = sender.cwnd();
                    assert!((MSS..=MSS * 1_000).contains(&cwnd), "{} {hint:?}", listing.name);
                }
            }
        }
    }
}
