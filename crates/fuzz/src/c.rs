//! The calls of a stack in C, in any order and with any numbers.

use arbitrary::{Arbitrary, Unstructured};
use firstflight_c::Adapter;
use firstflight_c::abi::{Ack, Config, Learned, Loss, Packet, Sent};
use firstflight_c::calls::{firstflight_quic, firstflight_tcp};
use firstflight_core::pair::Policies;
use firstflight_core::units::Bytes;
use firstflight_core::view::Window;

use crate::control::AnyControl;

/// A control, an endpoint and the events that happen to it.
#[derive(Debug, Arbitrary)]
struct Run {
    control: AnyControl,
    quic: bool,
    rules: u8,
    hint: Option<[u64; 7]>,
    events: Vec<(u32, Event)>,
}

/// Most numbers are near those that make sense, some are any.
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Number {
    Small(u16),
    Any(u64),
}

#[derive(Debug, Arbitrary)]
enum Event {
    Sent {
        bytes: Number,
        in_flight: Number,
        again: bool,
    },
    Ack {
        numbers: [Number; 6],
        samples: [Number; 2],
        packet: bool,
        app_limited: bool,
    },
    PacketAcked {
        ago: u32,
        bytes: Number,
    },
    Frame {
        in_flight: Number,
        rtt: Number,
        marked: Number,
        packet: bool,
    },
    Loss {
        kind: u8,
        flags: u8,
        lost: Number,
        gaps: u8,
        flight: Number,
        ago: Option<u32>,
    },
    Recovered(Number),
    Spurious,
    Rest {
        idle: Number,
        window: Option<[Number; 2]>,
    },
    Wake,
    Mss(Number),
    /// The clock leaps.
    Leap(u64),
}

impl Number {
    fn get(self) -> u64 {
        match self {
            Self::Small(small) => small.into(),
            Self::Any(any) => any,
        }
    }
}

/// Runs the events, and looks after each: what is refused has changed no window, and no window is
/// smaller than a packet or larger than the limit.
///
/// # Panics
/// Where one of these does not hold, or a control panics.
pub fn c(data: &[u8]) {
    // Bytes that end too early are the rest of no run.
    let Ok(run) = Run::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let config = if run.quic { firstflight_quic(1_200) } else { firstflight_tcp(1_448) };
    let rules = config.rules ^ (u32::from(run.rules) & 0x3f);
    let config = Config { rules, max_cwnd: MOST, ..config };
    drive(Adapter::new(run.control.policies(), &config), &run);
}

fn drive<P: Policies>(mut adapter: Adapter<P>, run: &Run) {
    let mut now = 1;
    if let Some([cwnd, ssthresh, rtt, min_rtt, delivered, per_round, age]) = run.hint {
        let rate = delivered;
        let learned = Learned { cwnd, ssthresh, rtt, min_rtt, delivered, per_round, rate, age };
        let _ = adapter.on_hint(now, (age % 3) as u32, &learned);
        let _ = adapter.on_handshake(now, rtt);
    }
    let _ = adapter.begin(now);
    let mut newest = Packet::default();
    for (gap, event) in &run.events {
        now += u64::from(*gap);
        let before = adapter.sender().cwnd();
        let answer = apply(&mut adapter, &mut now, &mut newest, event);
        let (cwnd, mss) = (adapter.sender().cwnd(), adapter.sender().view().mss);
        assert!(
            answer || cwnd == before,
            "{event:?} is refused and changes {before:?} to {cwnd:?}"
        );
        assert!(cwnd >= mss && cwnd <= Bytes(MOST).max(mss), "{cwnd:?}");
        let _ = (adapter.pacing(), adapter.learned(), adapter.exit());
    }
}

/// Reports one event; whether it was taken.
fn apply<P: Policies>(
    adapter: &mut Adapter<P>,
    now: &mut u64,
    newest: &mut Packet,
    event: &Event,
) -> bool {
    let at = *now;
    let ack = |[acked, credited, in_flight, snd_nxt, rtt, marked]: [u64; 6]| Ack {
        now: at,
        acked,
        credited,
        in_flight,
        snd_nxt,
        rtt,
        marked,
        packet: std::ptr::null(),
        sample_delivered: 0,
        sample_interval: 0,
        sample_app_limited: 0,
        app_limited: 0,
    };
    let answer = match *event {
        Event::Sent { bytes, in_flight, again } => {
            let (bytes, in_flight, again) = (bytes.get(), in_flight.get(), again.into());
            let sent = Sent { now: at, bytes, in_flight, again, reserved: 0 };
            adapter.on_sent(&sent, Some(newest))
        }
        Event::Ack { numbers, samples: [delivered, interval], packet, app_limited } => {
            let mut ack = ack(numbers.map(Number::get));
            (ack.sample_delivered, ack.sample_interval) = (delivered.get(), interval.get());
            ack.app_limited = app_limited.into();
            adapter.on_ack(&ack, packet.then_some(newest))
        }
        Event::PacketAcked { ago, bytes } => {
            adapter.on_packet_acked(at.saturating_sub(ago.into()), bytes.get())
        }
        Event::Frame { in_flight, rtt, marked, packet } => {
            let ack = ack([0, 0, in_flight.get(), 0, rtt.get(), marked.get()]);
            adapter.on_frame(&ack, packet.then_some(newest))
        }
        Event::Loss { kind, flags, lost, gaps, flight, ago } => adapter.on_loss(&Loss {
            now: at,
            kind: kind.into(),
            flags: flags.into(),
            lost: lost.get(),
            gaps: gaps.into(),
            reserved: 0,
            flight: flight.get(),
            sent_at: ago.map_or(0, |ago| at.saturating_sub(ago.into())),
        }),
        Event::Recovered(cwnd) => adapter.on_recovered(cwnd.get()),
        Event::Spurious => adapter.on_spurious_loss(),
        Event::Rest { idle, window } => {
            let window = window.map(|[cwnd, ssthresh]| Window {
                cwnd: Bytes(cwnd.get()),
                ssthresh: Bytes(ssthresh.get()),
            });
            adapter.on_rest(at, idle.get(), window)
        }
        Event::Wake => adapter.on_wake(at),
        Event::Mss(mss) => adapter.set_mss(mss.get()),
        Event::Leap(by) => {
            *now = at.saturating_add(by >> 16);
            Ok(())
        }
    };
    answer.is_ok()
}

/// The limit on the window.
const MOST: u64 = 100_000_000;
