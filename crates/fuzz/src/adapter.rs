//! What a peer, a path and an application may do to a control on a stack of QUIC, event by event,
//! possible or not: packets acknowledged that never left, times that leap, any size.

use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Unstructured};
use firstflight_core::event::LossKind;
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Policies;
use firstflight_quic::quinn::{PROVIDES, Quinn};
use firstflight_quic::{Controller, Factory, Stack};

use crate::control::AnyControl;

/// A control and the events that happen to it.
#[derive(Debug, Arbitrary)]
struct Run {
    control: AnyControl,
    jumbo: bool,
    events: Vec<(u32, Event)>,
}

/// Times are microseconds.
#[derive(Debug, Arbitrary)]
enum Event {
    Sent {
        bytes: u16,
    },
    Acks {
        packets: Vec<Acked>,
        in_flight: u32,
        app_limited: bool,
    },
    /// Full packets that left together, in one frame.
    Many {
        sent_ago: u32,
        packets: u8,
        in_flight: u32,
    },
    Congestion {
        sent_ago: u32,
        kind: Kind,
        bytes: u32,
        gaps: u8,
    },
    /// So much of the next frame was marked.
    Marked(u32),
    Mtu(u16),
    Spurious,
}

/// As [`LossKind`].
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Kind {
    Recovery,
    Timeout,
    Mark,
}

#[derive(Debug, Arbitrary)]
struct Acked {
    sent_ago: u32,
    bytes: u16,
}

/// A stack that tells all that any of ours tells.
#[derive(Clone, Debug, Default)]
struct Telling;

impl Stack for Telling {
    const NAME: &'static str = "telling";

    const PROVIDES: Facilities = PROVIDES.and(Facilities::GAPS).and(Facilities::MARKS);
}

/// Runs the events under the control, and under the same control as one that needs all that the
/// stack provides, on quinn and on a stack that tells more, and looks at the window after each: two
/// packets at least, no more than the limit set, grown only by what was acknowledged.
///
/// # Panics
/// Where one of these does not hold, or a control panics.
pub fn adapter(data: &[u8]) {
    // Bytes that end too early are the rest of no run.
    let Ok(run) = Run::arbitrary_take_rest(Unstructured::new(data)) else { return };
    on::<Quinn>(&run);
    on::<Telling>(&run);
}

fn on<S: Stack>(run: &Run) {
    run.control.factory::<S>().into_iter().for_each(|factory| drive(run, factory));
    run.control.demanding::<S>().into_iter().for_each(|factory| drive(run, factory));
}

fn drive<P: Policies + Clone, S: Stack>(run: &Run, factory: Factory<P, S>) {
    let zero = Instant::now();
    let mtu = if run.jumbo { JUMBO } else { SMALLEST };
    let mut controller = factory.max_window(MOST).controller(zero, mtu);
    let mut floor = 2 * u64::from(mtu);
    let mut now = zero;
    for (gap, event) in &run.events {
        now += Duration::from_micros((*gap).into());
        let before = controller.cwnd();
        if let Event::Mtu(mtu) = *event {
            floor = 2 * u64::from(mtu.max(SMALLEST));
        }
        let spurious = matches!(event, Event::Spurious);
        let earned = apply(&mut controller, now, zero, event);
        let window = controller.cwnd();
        assert!(window >= floor, "{window} below two packets");
        assert!(window <= MOST.max(floor), "{window} above the limit");
        let grown = window.saturating_sub(before.max(floor));
        assert!(grown == 0 || earned > 0 || spurious, "grown by {grown} without an ACK");
    }
}

/// Tells the controller of one event, and returns how many bytes it acknowledged.
fn apply<P: Policies, S: Stack>(
    controller: &mut Controller<P, S>,
    now: Instant,
    zero: Instant,
    event: &Event,
) -> u64 {
    let ago = |us: u32| now.checked_sub(Duration::from_micros(us.into())).unwrap_or(zero);
    match *event {
        Event::Sent { bytes } => controller.sent(now, bytes.into(), bytes.into()),
        Event::Acks { ref packets, in_flight, app_limited } => {
            for packet in packets {
                controller.acknowledged(ago(packet.sent_ago), packet.bytes.into());
            }
            controller.end_frame(now, in_flight.into(), app_limited);
            return packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        }
        Event::Many { sent_ago, packets, in_flight } => {
            (0..packets).for_each(|_| controller.acknowledged(ago(sent_ago), SMALLEST.into()));
            controller.end_frame(now, in_flight.into(), false);
            return u64::from(packets) * u64::from(SMALLEST);
        }
        Event::Congestion { sent_ago, kind, bytes, gaps } => {
            let kind = match kind {
                Kind::Recovery => LossKind::Recovery,
                Kind::Timeout => LossKind::Timeout,
                Kind::Mark => LossKind::Mark,
            };
            controller.lost(now, ago(sent_ago), kind, bytes.into(), gaps.into());
        }
        Event::Marked(bytes) => controller.marked(bytes.into()),
        // No stack asks for less.
        Event::Mtu(mtu) => controller.set_mtu(mtu.max(SMALLEST)),
        Event::Spurious => controller.on_spurious_loss(),
    }
    0
}

/// RFC 9000 section 14: no path carries less.
const SMALLEST: u16 = 1_200;
const JUMBO: u16 = 9_000;
/// The limit on the window.
const MOST: u64 = 100_000_000;
