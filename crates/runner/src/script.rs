//! A control without a network: fed one ACK after the other, as papers do in their analysis.
//!
//! The path is ideal. It loses nothing and buffers everything, a round takes the flow's RTT, and
//! the ACKs for what was sent in one round come in the next, one service time of the bottleneck
//! apart. So what a window becomes after ACK number k does not depend on any simulator. The queue
//! is what the ACKs of the round have released less what the bottleneck has sent since the round
//! began: right as long as the path is longer than the window.

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::event::{Ack, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::series::{FLOW_COLUMNS, QUEUE_COLUMNS};
use firstflight_results::{RunResult, Series};
use firstflight_scenario::{Complete, Profile, Scenario, Size};

use crate::endpoint::initial_ssthresh;
use crate::{Run, RunError, ns2};

/// Feeds `acks` ACKs to the first control of a scenario and its first flow. The trace has a row for
/// every ACK, after one for the start, and the columns of [`SCRIPT_COLUMNS`] after the common ones.
///
/// # Errors
/// A contradictory scenario, or an unknown control or knob.
pub fn script(scenario: &Scenario, acks: u32) -> Result<Run, RunError> {
    let complete = scenario.complete()?;
    let plan = scenario.plans()?.swap_remove(0);
    let mut control = Control::resolve(&plan.controls[0])?;
    if complete.endpoint.profile == Profile::Ns2 {
        ns2::adapt(&mut control);
    }
    let mut player = Player::new(&complete, &control);
    player.send();
    player.note();
    for _ in 0..acks {
        player.ack();
        player.note();
    }
    let result = RunResult {
        control: control.full,
        alias: plan.name,
        preset: control.preset,
        transport: "script".to_owned(),
        profile: complete.endpoint.profile.to_string(),
        seed: complete.seed,
        duration_s: player.now as f64 / 1e9,
        ..RunResult::default()
    };
    Ok(Run::new(result, vec![player.trace], vec![player.queue]))
}

/// What a script's trace has beyond the common columns: the round from 0, the ACK's place in it
/// from 0, and the packets queued after it.
pub const SCRIPT_COLUMNS: &[&str] = &["round", "place", "queue_packets"];

struct Player {
    sender: Sender<Pair<ChosenStartup, ChosenAvoidance>>,
    mss: u64,
    rtt: u64,
    /// Time of one packet at the bottleneck, ns.
    service: u64,
    /// Packets that an ACK acknowledges.
    per_ack: u64,
    /// The time, ns.
    now: u64,
    /// Packets sent.
    sent: u64,
    /// Packets acknowledged.
    acked: u64,
    /// The number of the round.
    round: u64,
    /// When the round began.
    round_start: u64,
    /// Up to which packet its ACKs go.
    round_end: u64,
    /// Place of the newest ACK in its round.
    place: u64,
    /// Packets in the queue.
    queued: u64,
    /// The window over time.
    trace: Series,
    /// The queue over time.
    queue: Series,
}

impl Player {
    fn new(complete: &Complete, control: &Control) -> Self {
        let flow = &complete.flows[0];
        let link = &complete.links[complete.slowest(&flow.path)];
        let config = Config {
            mss: Bytes(complete.packet.bytes()),
            initial_window: Bytes(flow.iw.value.bytes()),
            initial_ssthresh: initial_ssthresh(flow, control),
            max_cwnd: Bytes(flow.receiver_window.map_or(u64::MAX, Size::bytes)),
            limit_growth_to_flight: complete.endpoint.switches.growth_limit,
            segment_per_ack: complete.endpoint.switches.segment_per_ack,
            paces: false,
        };
        let bits = u128::from(complete.wire_bytes()) * 8 * 1_000_000_000;
        let service = bits / u128::from(link.rate.bps().max(1));
        let columns = FLOW_COLUMNS.iter().chain(SCRIPT_COLUMNS).copied();
        let start = flow.start_from.ns();
        Self {
            sender: Sender::new(control.startup.clone(), control.avoidance.clone(), config),
            mss: complete.packet.bytes().max(1),
            rtt: flow.rtt.ns(),
            service: u64::try_from(service).unwrap_or(u64::MAX),
            per_ack: flow.delayed_ack.value.max(1),
            now: start,
            sent: 0,
            acked: 0,
            round: 0,
            round_start: start,
            round_end: 0,
            place: 0,
            queued: 0,
            trace: Series::new(columns),
            queue: Series::new(QUEUE_COLUMNS.iter().copied()),
        }
    }

    fn window(&self) -> u64 {
        self.sender.cwnd().0 / self.mss
    }

    /// Sends what the window allows.
    fn send(&mut self) {
        let before = self.sent;
        self.sender.begin(Instant(self.now));
        while self.sent - self.acked < self.window() {
            self.sent += 1;
            let in_flight = Bytes((self.sent - self.acked) * self.mss);
            let now = Instant(self.now);
            self.sender.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight, again: false });
        }
        self.queued += self.sent - before;
    }

    /// The next ACK arrives.
    fn ack(&mut self) {
        if self.acked == self.round_end {
            self.round += 1;
            self.round_start = (self.round_start + self.rtt).max(self.now + self.service);
            self.round_end = self.sent;
            self.place = 0;
            self.queued = 0;
            self.now = self.round_start;
        } else {
            self.place += 1;
            self.now += self.service * self.per_ack;
            self.queued = self.queued.saturating_sub(self.per_ack);
        }
        let packets = self.per_ack.min(self.round_end - self.acked);
        self.acked += packets;
        let bytes = Bytes(packets * self.mss);
        self.sender.on_ack(&Ack {
            now: Instant(self.now),
            acked: bytes,
            credited: bytes,
            rtt: Some(Span(self.rtt)),
            in_flight: Bytes((self.sent - self.acked) * self.mss),
            snd_nxt: Bytes(self.sent * self.mss),
            ..Ack::default()
        });
        self.send();
    }

    fn note(&mut self) {
        let seconds = Some(self.now as f64 / 1e9);
        let packets = |bytes: Bytes| Some(bytes.0 as f64 / self.mss as f64);
        let ssthresh = Some(self.sender.ssthresh()).filter(|ssthresh| *ssthresh < Bytes::MAX);
        let srtt = self.sender.view().rtt.smoothed.0 as f64 / 1e6;
        let counts = [self.acked, self.round, self.place, self.queued];
        let [acked, round, place, queued] = counts.map(|count| Some(count as f64));
        self.trace.push(&[
            seconds,
            Some(0.0),
            packets(self.sender.cwnd()),
            ssthresh.and_then(packets),
            Some((self.sent - self.acked) as f64),
            Some(srtt),
            acked,
            round,
            place,
            queued,
        ]);
        self.queue.push(&[seconds, queued]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(control: &str, more: &str, acks: u32) -> Vec<[f64; 4]> {
        let text = format!(
            "controls = ['{control}']\niw = '1pkt'\nssthresh = 'none'\ngrowth_limit = false\n\
             {more}\n[path]\nrate = '1Gbps'\nrtt = '200ms'"
        );
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        let run = script(&scenario, acks).unwrap();
        let column = |name: &str| -> Vec<f64> {
            run.flows[0].column(name).unwrap().map(Option::unwrap).collect()
        };
        let names = ["time_s", "cwnd_packets", "round", "queue_packets"];
        let [time, cwnd, round, queue] = names.map(column);
        (0..time.len()).map(|i| [time[i], cwnd[i], round[i], queue[i]]).collect()
    }

    #[test]
    fn slow_start_doubles_and_its_queue_is_one_more_than_half_the_window() {
        let rows = rows("newreno", "", 15);
        assert_eq!(rows[0], [0.0, 1.0, 0.0, 1.0]);
        // The ACKs that begin and end round 4: W = 2^3 + m + 1, Q = m + 2.
        assert_eq!(rows[8], [0.8, 9.0, 4.0, 2.0]);
        assert_eq!(rows[15][1..], [16.0, 4.0, 9.0]);
        // 8 us for a packet of 1000 bytes at 1 Gbit/s.
        assert!((rows[15][0] - 0.8 - 7.0 * 8e-6).abs() < 1e-12);
    }

    #[test]
    fn delayed_acks_halve_the_acks_of_a_round_but_not_what_linux_counts() {
        let windows = |more: &str| -> Vec<f64> {
            rows("newreno", more, 4).iter().map(|row| row[1]).collect()
        };
        // One packet, then two: an ACK each; then three: two ACKs.
        let per_ack = windows("delayed_ack = 2\nsegment_per_ack = true");
        assert_eq!(per_ack, [1.0, 2.0, 3.0, 4.0, 5.0]);
        // One packet, two, and four: an ACK for each two.
        assert_eq!(windows("delayed_ack = 2"), [1.0, 2.0, 4.0, 6.0, 8.0]);
    }
}
