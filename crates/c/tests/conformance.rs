//! What this adapter promises arrives, once, in order, with the path's own totals: a start-up that
//! checks what it is told, on a path that drops what its buffer does not hold.

use std::collections::VecDeque;

use firstflight_c::Adapter;
use firstflight_c::abi::*;
use firstflight_c::calls::{firstflight_quic, firstflight_tcp};
use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::{Recorder, Report};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::policy::Answer;
use firstflight_core::units::{Bytes, Rate};
use firstflight_core::view::Window;

const SIZE: u64 = 1_000;
const PACKETS: u64 = 2_000;
const RTT: u64 = 50_000_000;
/// 10 Mbit/s.
const PER_PACKET: u64 = 800_000;

/// All that a stack in C can provide.
const PROVIDED: Facilities = Facilities::TIMES
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::PACING)
    .and(Facilities::WAKE_UPS)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::GAPS)
    .and(Facilities::SENT);

/// What arrives without a loss.
const QUIET: Facilities = Facilities::TIMES
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::WAKE_UPS)
    .and(Facilities::SENT);

#[derive(Clone, Copy)]
struct InFlight {
    number: u64,
    state: Packet,
    /// When its ACK comes; `None` for one that was dropped.
    acked_at: Option<u64>,
}

/// A sender of QUIC's whose frames acknowledge two packets, or, where nothing is lost, of TCP's.
struct Line {
    adapter: Adapter<Pair<Recorder, NewReno>>,
    tcp: bool,
    buffer: u64,
    now: u64,
    /// When the pacer lets the next packet leave.
    next_at: u64,
    free_at: u64,
    sent: u64,
    lost: u64,
    flying: VecDeque<InFlight>,
}

impl Line {
    fn flight(&self) -> u64 {
        self.flying.len() as u64 * SIZE
    }

    fn may_send(&self) -> bool {
        let room = self.flight() + SIZE <= self.adapter.sender().cwnd().0;
        room && self.sent - self.lost < PACKETS && self.sent < 2 * PACKETS
    }

    fn send(&mut self) {
        let (now, in_flight) = (self.now, self.flight() + SIZE);
        let sent = Sent { now, bytes: SIZE, in_flight, ..Sent::default() };
        let mut state = Packet::default();
        self.adapter.on_sent(&sent, Some(&mut state)).unwrap();
        let rate = self.adapter.pacing().rate;
        self.next_at = now + (SIZE * 1_000_000_000).checked_div(rate).unwrap_or(0);
        self.free_at = self.free_at.max(now);
        let fits = (self.free_at - now) / PER_PACKET < self.buffer;
        self.free_at += if fits { PER_PACKET } else { 0 };
        let acked_at = fits.then_some(self.free_at + RTT);
        self.flying.push_back(InFlight { number: self.sent, state, acked_at });
        self.sent += 1;
    }

    /// An ACK of up to two packets, and before it what it shows to be lost.
    fn take_ack(&mut self) {
        let mut acked = Vec::new();
        while let Some(at) = self.flying.iter().position(|one| one.acked_at.is_some())
            && (acked.is_empty() || acked.len() < 2 && self.flying[at].acked_at <= Some(self.now))
        {
            acked.extend(self.flying.remove(at));
        }
        let newest = acked.last().unwrap();
        let (threshold, now) = (newest.number.saturating_sub(2), self.now);
        let lost: Vec<_> = self.flying.iter().filter(|one| one.number < threshold).collect();
        if let Some(last) = lost.last() {
            let gaps = lost.windows(2).filter(|pair| pair[0].number + 1 < pair[1].number).count();
            let (count, sent_at) = (lost.len() as u64, last.state.sent_at);
            let loss = Loss { now, lost: count * SIZE, gaps: gaps as u32 + 1, ..Loss::default() };
            self.lost += count;
            self.flying.retain(|one| one.number >= threshold);
            self.adapter.on_loss(&Loss { sent_at, ..loss }).unwrap();
        }
        let bytes = acked.len() as u64 * SIZE;
        // Every field of an ACK may be zero.
        let ack: Ack = unsafe { std::mem::zeroed() };
        let rtt = now - newest.state.sent_at;
        let mut ack = Ack { now, in_flight: self.flight(), rtt, ..ack };
        if self.tcp {
            (ack.acked, ack.credited, ack.snd_nxt) = (bytes, bytes, self.sent * SIZE);
            return self.adapter.on_ack(&ack, Some(&newest.state)).unwrap();
        }
        for one in &acked {
            self.adapter.on_packet_acked(one.state.sent_at, SIZE).unwrap();
        }
        self.adapter.on_frame(&ack, Some(&newest.state)).unwrap();
    }

    /// Sends everything; returns what the sender was promised and got.
    fn run(mut self) -> (Report, Self) {
        self.adapter.begin(self.now).unwrap();
        loop {
            let wake = self.adapter.sender().wake_at().map(|at| at.0);
            let send = self.may_send().then_some(self.next_at.max(self.now));
            let ack_at = self.flying.iter().find_map(|one| one.acked_at);
            let (send, ack_at) = (send.unwrap_or(u64::MAX), ack_at.unwrap_or(u64::MAX));
            let next = wake.unwrap_or(u64::MAX).max(self.now).min(send).min(ack_at);
            if ack_at == u64::MAX && send == u64::MAX {
                let report = self.adapter.sender().policies().startup().report();
                return (report, self);
            }
            self.now = next;
            if wake.is_some_and(|at| at <= next) {
                self.adapter.on_wake(next).unwrap();
            } else if ack_at <= next {
                self.take_ack();
            } else {
                self.send();
            }
        }
    }
}

fn line(recorder: Recorder, tcp: bool, buffer: u64) -> Line {
    let config = if tcp { firstflight_tcp(SIZE) } else { firstflight_quic(SIZE) };
    let config = Config { provides: PROVIDED.bits(), ..config };
    let adapter = Adapter::new(Pair::new(recorder, NewReno::default()), &config);
    let (now, next_at, free_at, sent, lost) = (RTT, 0, 0, 0, 0);
    Line { adapter, tcp, buffer, now, next_at, free_at, sent, lost, flying: VecDeque::new() }
}

fn same_totals(report: &Report, line: &Line) {
    let (sent, lost) = (line.sent * SIZE, line.lost * SIZE);
    let totals = (report.sent.0, report.credited.0, report.lost.0);
    assert_eq!(totals, (sent, sent - lost - line.flight(), lost));
    assert_eq!(report.begins, 1);
}

#[test]
fn on_a_path_without_loss_everything_promised_arrives() {
    for tcp in [false, true] {
        let (report, line) = line(Recorder::new(PROVIDED), tcp, 5_000).run();
        assert_eq!(report.check(QUIET), Ok(()), "{tcp}");
        same_totals(&report, &line);
        assert_eq!((report.losses, report.acked), (0, report.credited));
        assert!(report.wakes > 10 && report.samples > PACKETS / 4, "{report:?}");
    }
}

#[test]
fn every_loss_is_told_and_a_landing_start_up_decides_in_its_recovery() {
    let (report, all) = line(Recorder::new(PROVIDED), false, 20).run();
    assert_eq!(report.check(QUIET | Facilities::GAPS), Ok(()));
    same_totals(&report, &all);
    assert!(report.losses > 0 && all.lost > 20, "{} lost", all.lost);
    let window = Window { cwnd: Bytes(30 * SIZE), ssthresh: Bytes(30 * SIZE) };
    let landing = Recorder::new(PROVIDED).answering(Answer::Land(window));
    let (report, all) = line(landing, false, 20).run();
    assert_eq!(report.check(QUIET | Facilities::RECOVERY_WINDOW), Ok(()));
    same_totals(&report, &all);
    assert!(report.recovery_steps > 5, "{report:?}");
}

#[test]
fn a_rate_that_start_up_sets_is_what_leaves() {
    let paced = Recorder::new(PROVIDED).paced(Rate(1_000_000));
    let (report, line) = line(paced, false, 5_000).run();
    assert_eq!(report.check(QUIET | Facilities::PACING), Ok(()));
    same_totals(&report, &line);
}
