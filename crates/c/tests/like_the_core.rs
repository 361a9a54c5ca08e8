//! Calls through C have the outcome of calls in Rust: windows, thresholds, pacing and wake-ups are
//! equal after every event.

use std::ptr;

use firstflight_c::abi::{self, *};
use firstflight_c::calls::*;
use firstflight_control::{Control, Named};
use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::{self, LossKind};
use firstflight_core::sender::{self, Sender as Core};
use firstflight_core::units::{Bytes, Instant, Span};
use proptest::prelude::*;

use crate::support::Made;

const MSS: u64 = 1_000;

fn config() -> Config {
    let config = firstflight_tcp(MSS);
    let most = FIRSTFLIGHT_RATES | FIRSTFLIGHT_PACKETS | FIRSTFLIGHT_PACING | FIRSTFLIGHT_SENT;
    let timed = FIRSTFLIGHT_WAKE_UPS | FIRSTFLIGHT_PACED_WAKE_UPS | FIRSTFLIGHT_RECOVERY_WINDOW;
    Config { provides: config.provides | most | timed | FIRSTFLIGHT_GAPS, ..config }
}

/// A connection, reported through C and in Rust.
struct Both {
    c: Made,
    rust: Core<Named>,
    sampler: Sampler,
    now: u64,
    sent: u64,
    acked: u64,
    lost: u64,
    newest: (abi::Packet, AtSending),
}

impl Both {
    fn new(control: &str) -> Self {
        let config = config();
        let settings = sender::Config {
            mss: Bytes(MSS),
            initial_window: Bytes(config.initial_window),
            initial_ssthresh: Bytes::MAX,
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: true,
            segment_per_ack: false,
            paces: false,
        };
        let mut chosen = Control::named(control).unwrap();
        chosen.suggest_weights_per_packet();
        let mut rust = Core::of(chosen.policies(), settings);
        let c = Made::of(control, &config).unwrap();
        assert_eq!(unsafe { firstflight_begin(c.0, 1) }, Error::Ok);
        rust.begin(Instant(1));
        let newest = (abi::Packet::default(), AtSending::default());
        let sampler = Sampler::default();
        Self { c, rust, sampler, now: 1, sent: 0, acked: 0, lost: 0, newest }
    }

    fn in_flight(&self) -> u64 {
        self.sent - self.acked - self.lost
    }

    fn send(&mut self) {
        self.sent += MSS;
        let (now, bytes, in_flight) = (self.now, MSS, self.in_flight());
        let sent = Sent { now, bytes, in_flight, ..Sent::default() };
        let answer = unsafe { firstflight_on_sent(self.c.0, &sent, &mut self.newest.0) };
        assert_eq!(answer, Error::Ok);
        let (now, bytes, in_flight) = (Instant(now), Bytes(bytes), Bytes(in_flight));
        self.rust.on_sent(&event::Sent { now, bytes, in_flight, again: false });
        self.rust.on_paced(bytes);
        self.newest.1 = self.sampler.on_sent(now, in_flight, bytes == in_flight);
    }

    fn acknowledge(&mut self, packets: u64, limited: bool) {
        let acked = (packets * MSS).min(self.in_flight());
        self.acked += acked;
        let (packet, then) = self.newest;
        let rtt = self.now - packet.sent_at;
        let ack = abi::Ack {
            now: self.now,
            acked,
            credited: acked,
            in_flight: self.in_flight(),
            snd_nxt: self.sent - self.lost,
            rtt,
            packet: &packet,
            app_limited: limited.into(),
            ..nothing()
        };
        assert_eq!(unsafe { firstflight_on_ack(self.c.0, &ack) }, Error::Ok);
        let now = Instant(self.now);
        let sent_at = then.departure.sent_at;
        let ack_event = event::Ack {
            now,
            acked: Bytes(acked),
            credited: Bytes(acked),
            in_flight: Bytes(self.in_flight()),
            snd_nxt: Bytes(self.sent - self.lost),
            rtt: (rtt > 0).then_some(Span(rtt)),
            sample: self.sampler.on_delivered(now, Bytes(acked), sent_at, &then),
            packet: Some(then.departure),
            app_limited: limited,
            ..event::Ack::default()
        };
        if limited {
            self.sampler.on_app_limited(ack_event.in_flight);
        }
        self.rust.on_ack(&ack_event);
    }

    fn lose(&mut self, kind: u32) {
        let lost = if kind == FIRSTFLIGHT_MARK { 0 } else { MSS };
        if self.in_flight() < lost {
            return;
        }
        self.lost += lost;
        let flight = self.in_flight();
        let loss = abi::Loss { now: self.now, kind, lost, flight, ..abi::Loss::default() };
        assert_eq!(unsafe { firstflight_on_loss(self.c.0, &loss) }, Error::Ok);
        let kinds = [LossKind::Recovery, LossKind::Timeout, LossKind::Mark];
        let kind = kinds[kind as usize];
        self.rust.on_loss(&event::Loss::of(Instant(self.now), kind, Bytes(lost), Bytes(flight)));
    }

    fn wake(&mut self) {
        let at = unsafe { firstflight_wake_at(self.c.0) };
        if at <= self.now {
            assert_eq!(unsafe { firstflight_on_wake(self.c.0, self.now) }, Error::Ok);
            self.rust.on_wake(Instant(self.now));
        }
    }

    fn recovered(&mut self) {
        assert_eq!(unsafe { firstflight_on_recovered(self.c.0, 0) }, Error::Ok);
        self.rust.on_recovered(None);
    }

    fn undo(&mut self) {
        assert_eq!(unsafe { firstflight_on_spurious_loss(self.c.0) }, Error::Ok);
        self.rust.on_spurious_loss();
    }

    fn compare(&self) {
        let c = self.c.0;
        let (cwnd, ssthresh) = unsafe { (firstflight_cwnd(c), firstflight_ssthresh(c)) };
        assert_eq!((cwnd, ssthresh), (self.rust.cwnd().0, self.rust.ssthresh().0));
        let mut pacing = Pacing::default();
        assert_eq!(unsafe { firstflight_pacing(c, &mut pacing) }, Error::Ok);
        let rust = self.rust.pacing();
        let first = rust.and_then(|it| it.first).unwrap_or_default();
        assert_eq!(pacing.rate, rust.map_or(0, |it| it.rate.0));
        assert_eq!((pacing.first_bytes, pacing.first_rate), (first.0.0, first.1.0));
        let wake = self.rust.wake_at().map_or(FIRSTFLIGHT_NEVER, |at| at.0);
        assert_eq!(unsafe { firstflight_wake_at(c) }, wake);
        let mut exit = abi::Exit { at: 0, cwnd: 0, in_flight: 0, why: ptr::null() };
        let ended = unsafe { firstflight_exit(c, &mut exit) } == Error::Ok;
        assert_eq!(ended.then_some(exit.at), self.rust.first_exit().map(|exit| exit.at.0));
    }
}

fn nothing() -> abi::Ack {
    // All fields of an ACK may be zero.
    unsafe { std::mem::zeroed() }
}

const CONTROLS: [&str; 12] = [
    "newreno",
    "astart",
    "hystart-pp",
    "landed(suss)+cubic",
    "scout",
    "rapid-start",
    "hoe",
    "bbr",
    "search",
    "slow-start(iw=4pkt)+cubic",
    "paced",
    "copa",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_event_has_the_outcome_that_it_has_in_rust(
        control in proptest::sample::select(&CONTROLS[..]),
        events in proptest::collection::vec((0..12u8, 0..40_000_000u64), 1..150),
    ) {
        let mut both = Both::new(control);
        for (event, gap) in events {
            both.now += gap;
            match event {
                0..=4 => (0..=event).for_each(|_| both.send()),
                5..=7 => both.acknowledge(u64::from(event) - 4, event == 7),
                8 => both.lose(FIRSTFLIGHT_RECOVERY),
                9 => both.recovered(),
                10 => both.lose(if gap % 2 == 0 { FIRSTFLIGHT_TIMEOUT } else { FIRSTFLIGHT_MARK }),
                _ => both.undo(),
            }
            both.wake();
            both.compare();
        }
    }
}
