//! The kernel's records, told to the Rust core again.

use std::collections::HashMap;

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_kernel::record::{Kind, Record};

/// A sender of the Rust core.
type CoreSender = Sender<Pair<ChosenStartup, ChosenAvoidance>>;

/// Every connection's sender.
pub(crate) struct Replay {
    control: Control,
    senders: HashMap<(u32, u32), CoreSender>,
}

impl Replay {
    pub(crate) fn new(control: &str) -> Self {
        Self { control: Control::named(control).unwrap(), senders: HashMap::new() }
    }

    /// Tells the connection's sender, and compares what it makes of it with what the kernel did.
    pub(crate) fn take(&mut self, record: &Record) {
        if record.kind == Kind::New {
            let sender = self.begin(record);
            self.senders.insert(record.ports, sender);
        }
        let sender = self.senders.get_mut(&record.ports).expect("a connection begins first");
        tell(sender, record);
        let text = &self.control.full;
        let core = (sender.cwnd().0, sender.ssthresh().0);
        assert_eq!(
            core,
            (record.cwnd, record.ssthresh),
            "{text}: core and kernel after {record:?}"
        );
        if record.kind == Kind::Wrote {
            let mss = u64::from(record.mss);
            let segments = |bytes: u64| u32::try_from(bytes / mss).unwrap_or(u32::MAX);
            assert_eq!(segments(core.0).max(1), record.snd_cwnd, "{text}: cwnd of {record:?}");
            let ssthresh = segments(core.1).clamp(1, LARGEST_SSTHRESH);
            assert_eq!(ssthresh, record.snd_ssthresh, "{text}: ssthresh of {record:?}");
        }
    }

    fn begin(&self, record: &Record) -> CoreSender {
        let [mss, initial_window, initial_ssthresh, max_cwnd, ..] = record.numbers.map(Bytes);
        let (startup, avoidance) = (self.control.startup.clone(), self.control.avoidance.clone());
        let config = Config {
            mss,
            initial_window,
            initial_ssthresh,
            max_cwnd,
            // Both are the kernel's: it says by app_limited that a window is not used.
            limit_growth_to_flight: false,
            paces: false,
        };
        Sender::new(startup, avoidance, config)
    }
}

fn tell(sender: &mut CoreSender, record: &Record) {
    let numbers = record.numbers;
    match record.kind {
        Kind::New | Kind::Wrote => {}
        Kind::Handshake => sender.on_handshake(Instant(numbers[0]), Span(numbers[1])),
        Kind::Begin => sender.begin(Instant(numbers[0])),
        Kind::Sent => {
            let (now, bytes) = (Instant(numbers[0]), Bytes(numbers[1]));
            sender.on_sent(&Sent { now, bytes, in_flight: bytes, again: false });
        }
        Kind::Ack => {
            let [now, acked, credited, rtt, in_flight, snd_nxt, app_limited] = numbers;
            sender.on_ack(&Ack {
                now: Instant(now),
                acked: Bytes(acked),
                credited: Bytes(credited),
                rtt: (rtt != u64::MAX).then_some(Span(rtt)),
                in_flight: Bytes(in_flight),
                snd_nxt: Bytes(snd_nxt),
                app_limited: app_limited != 0,
                ..Ack::default()
            });
        }
        Kind::Loss => {
            let [now, flight, timeout, again, ..] = numbers;
            let kind = if timeout == 1 { LossKind::Timeout } else { LossKind::Recovery };
            let (now, flight, again) = (Instant(now), Bytes(flight), again != 0);
            sender.on_loss(&Loss { again, ..Loss::of(now, kind, Bytes(0), flight) });
        }
        Kind::Recovered => {
            sender.on_recovered((numbers[0] != u64::MAX).then_some(Bytes(numbers[0])));
        }
        Kind::Spurious => sender.on_spurious_loss(),
        Kind::Mss => sender.set_mss(Bytes(numbers[0])),
    }
}

/// What the kernel calls no threshold yet.
pub(crate) const LARGEST_SSTHRESH: u32 = 0x7fff_ffff;
