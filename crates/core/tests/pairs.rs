//! Ways that leave out what does not concern a control: they change nothing.

use firstflight_core::avoidance::{NewReno, Westwood};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::startup::SlowStart;
use firstflight_core::units::{Bytes, Instant, Span};

const MSS: Bytes = Bytes(1_000);

fn sender<S: Startup + Clone, A: Avoidance + Clone>(
    startup: S,
    avoidance: A,
) -> Sender<Pair<S, A>> {
    let config = Config {
        mss: MSS,
        initial_window: MSS * 2,
        initial_ssthresh: MSS * 32,
        max_cwnd: MSS * 1_000,
        limit_growth_to_flight: true,
        segment_per_ack: true,
        paces: false,
    };
    Sender::new(startup, avoidance, config)
}

fn sent(ms: u64, flight: u64) -> Sent {
    Sent { now: Instant(ms * 1_000_000), bytes: MSS, in_flight: MSS * flight, again: false }
}

/// A transport's state that holds a control of any kind can be printed.
#[test]
fn a_control_of_any_kind_has_a_name_in_debugging_output() {
    let pair = Pair::new(SlowStart::default(), NewReno::default());
    let policies: Box<dyn Policies> = Box::new(pair);
    assert_eq!(format!("{policies:?}"), "Policies");
}

/// What a control makes of a window that fills, a loss in it and what follows.
fn windows<S: Startup + Clone, A: Avoidance + Clone>(startup: S, avoidance: A) -> Vec<u64> {
    let mut sender = sender(startup, avoidance);
    let (mut acked, mut outstanding) = (0, 0);
    let step = |ms: u64| {
        while MSS * (outstanding + 1) <= sender.cwnd() {
            outstanding += 1;
            sender.on_sent(&sent(ms, outstanding));
        }
        let now = Instant(ms * 1_000_000);
        if ms == 200 {
            let (kind, flight) = (LossKind::Recovery, MSS * outstanding);
            sender.on_loss(&Loss::of(now, kind, MSS, flight));
        } else if ms == 300 {
            sender.on_recovered(None);
        }
        (acked, outstanding) = (acked + 1, outstanding - 1);
        sender.on_ack(&Ack {
            now,
            acked: MSS,
            credited: MSS,
            rtt: Some(Span::from_millis(100 + ms % 7)),
            in_flight: MSS * outstanding,
            snd_nxt: MSS * (acked + outstanding),
            ..Ack::default()
        });
        sender.cwnd().0 + sender.ssthresh().0
    };
    (1..600).map(step).collect()
}

#[test]
fn pairs_compiled_as_one_do_what_the_general_way_does() {
    let any = |startup, avoidance| {
        let startup = AnyStartup::by_name(startup).expect("it is listed");
        let avoidance = AnyAvoidance::by_name(avoidance).expect("it is listed");
        windows(startup, avoidance)
    };
    let slow_start = AnyStartup::by_name("slow-start").expect("it is listed");
    assert_eq!(any("slow-start", "newreno"), windows(slow_start, NewReno::default()));
    let astart = AnyStartup::by_name("astart").expect("it is listed");
    assert_eq!(any("astart", "westwood"), windows(astart, Westwood::default()));
}
