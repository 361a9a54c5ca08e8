//! A router's part in XCP (Katabi, Handley and Rohrs, SIGCOMM 2002, sections 3.4 and 3.5): how much
//! traffic should come or go, and which packets say so.
//!
//! Once per mean RTT of the flows, `d`, with `S` the spare rate and `Q` the queue that never left
//! in that time:
//!
//! ```text
//! phi = alpha d S - beta Q,  alpha = 0.4, beta = 0.226      efficiency
//! h = max(0, gamma y - |phi|),  gamma = 0.1                 shuffled, so that shares can change
//! ```
//!
//! with `y` what arrived. What comes, `h + max(phi, 0)`, is handed out so that every flow's rate
//! grows by the same; what goes, `h + max(-phi, 0)`, in proportion to the flows' rates: fairness. A
//! packet carries the least of what the routers of its path give.
//!
//! Here in rates instead of windows, as in draft-falk-xcp-spec-03 (section 4) and ns-2.35, which
//! are the same over an RTT: a packet gets `C_p` times its sender's packet spacing and loses `C_n`
//! times its size. From those are the bounds of an interval, 1 ms and 1 s, and that the queue is
//! the least within `(d - Q / C) / 2`, at least 2 ms; from ns-2.35 the first interval, 50 ms.
//!
//! Departures: feedback is written when a packet arrives, not when it leaves, because a link here
//! knows both at once; what is dropped does not count as arrived; timers are not drawn at random.

use super::Arrival;
use crate::packet::Header;

/// One router of a path.
#[derive(Debug)]
pub(super) struct Xcp {
    rate_bps: u64,
    /// Mean RTT of the last interval, in nanoseconds, as are all times here.
    mean_rtt: u64,
    /// Length of the current interval.
    interval: u64,
    /// End of that interval.
    interval_ends: u64,
    /// Bytes that came in this interval.
    bytes: u64,
    /// The sum of spacing over its packets.
    spacings: u128,
    /// The sum of spacing * RTT over them.
    rtts: u128,
    /// The queue that stayed, in bytes.
    queue: u64,
    /// The least seen since, in bytes.
    least: u64,
    /// When that becomes the queue that stayed.
    least_ends: u64,
    /// To hand out, in bits per second.
    gain: Pool,
    /// To take back, in bits per second.
    loss: Pool,
}

/// What an interval has to hand out, each packet getting its part of `parts`.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    whole: u64,
    left: u64,
    parts: u128,
}

impl Pool {
    fn new(whole: u64, parts: u128) -> Self {
        Self { whole, left: whole, parts }
    }

    fn part(&self, of: u64) -> u64 {
        if self.parts == 0 {
            return 0;
        }
        let part = u128::from(self.whole) * u128::from(of) / self.parts;
        u64::try_from(part).unwrap_or(u64::MAX).min(self.left)
    }

    /// Takes from what is left; once nothing is left, every flow gets 0.
    fn take(&mut self, bps: u64) {
        self.left = self.left.saturating_sub(bps);
        if self.left == 0 {
            self.whole = 0;
        }
    }
}

impl Xcp {
    pub(super) fn new(rate_bps: u64) -> Self {
        Self {
            rate_bps,
            mean_rtt: FIRST_INTERVAL,
            interval: FIRST_INTERVAL,
            interval_ends: FIRST_INTERVAL,
            bytes: 0,
            spacings: 0,
            rtts: 0,
            queue: 0,
            least: 0,
            least_ends: FIRST_INTERVAL,
            gain: Pool::default(),
            loss: Pool::default(),
        }
    }

    /// A packet found room, of whatever protocol.
    pub(super) fn carry(&mut self, packet: Arrival) {
        self.advance(packet);
        self.bytes += packet.bytes;
    }

    /// A packet of XCP is about to arrive.
    pub(super) fn mark(&mut self, packet: Arrival, header: &mut Header) {
        self.advance(packet);
        if header.rtt.0 == 0 {
            header.change_bps = header.change_bps.min(0);
            return;
        }
        self.spacings += u128::from(header.spacing.0);
        let rtt = header.rtt.0.min(LONGEST_INTERVAL);
        self.rtts += u128::from(header.spacing.0) * u128::from(rtt);
        let gain = self.gain.part(header.spacing.0);
        let mut loss = self.loss.part(packet.bytes);
        let feedback = signed(gain) - signed(loss);
        if header.change_bps >= feedback {
            header.change_bps = feedback;
            self.gain.take(gain);
        } else {
            // Another router gave less: what it withheld counts as handed out here.
            let less = feedback.saturating_sub(header.change_bps).unsigned_abs();
            loss = loss.saturating_add(less).min(self.loss.left);
            let taken = header.change_bps.saturating_add(signed(loss)).max(0);
            self.gain.take(taken.unsigned_abs());
        }
        self.loss.take(loss);
    }

    /// Ends what has ended by the time a packet arrives, and looks at the queue it finds.
    fn advance(&mut self, packet: Arrival) {
        let now = packet.at.0;
        while self.interval_ends.min(self.least_ends) <= now {
            if self.least_ends <= self.interval_ends {
                self.end_queue(packet.idle_at);
            } else {
                self.end_interval();
            }
        }
        self.least = self.least.min(self.queue_at(now, packet.idle_at));
    }

    fn end_queue(&mut self, idle_at: u64) {
        let found = self.queue_at(self.least_ends, idle_at);
        self.queue = self.least.min(found);
        self.least = found;
        let waits = idle_at.saturating_sub(self.least_ends);
        self.least_ends += (self.mean_rtt.saturating_sub(waits) / 2).max(SHORTEST_LOOK);
    }

    fn end_interval(&mut self) {
        self.mean_rtt = match self.rtts.checked_div(self.spacings) {
            Some(mean) => u64::try_from(mean).unwrap_or(LONGEST_INTERVAL).max(1),
            None => FIRST_INTERVAL,
        };
        let input = u128::from(self.bytes) * 8 * NANOS / u128::from(self.interval);
        let input = u64::try_from(input).unwrap_or(u64::MAX);
        let (gain, loss) = if self.bytes > 0 { self.aims(input) } else { (0, 0) };
        self.gain = Pool::new(gain, self.spacings);
        self.loss = Pool::new(loss, u128::from(self.bytes));
        (self.bytes, self.spacings, self.rtts) = (0, 0, 0);
        self.interval = self.mean_rtt.max(SHORTEST_INTERVAL);
        self.interval_ends += self.interval;
    }

    /// What is to come and to go, with so much arriving, in bits per second.
    fn aims(&self, input: u64) -> (u64, u64) {
        let spare = i128::from(self.rate_bps) - i128::from(input);
        let drain = u128::from(self.queue) * 8 * NANOS / u128::from(self.mean_rtt);
        let drain = i128::try_from(drain).unwrap_or(i128::MAX / MILLE);
        let phi = (ALPHA * spare - BETA * drain) / MILLE;
        let shuffled = (GAMMA * i128::from(input) / MILLE - phi.abs()).max(0);
        let bps = |amount: i128| u64::try_from(amount + shuffled).unwrap_or(u64::MAX);
        (bps(phi.max(0)), bps((-phi).max(0)))
    }

    /// Bytes that wait or are being sent.
    fn queue_at(&self, now: u64, idle_at: u64) -> u64 {
        let waits = u128::from(idle_at.saturating_sub(now));
        u64::try_from(waits * u128::from(self.rate_bps) / (8 * NANOS)).unwrap_or(u64::MAX)
    }
}

fn signed(bps: u64) -> i64 {
    i64::try_from(bps).unwrap_or(i64::MAX)
}

/// Stability: below pi / (4 sqrt 2), whatever delays and flows there are (theorem 1).
const ALPHA: i128 = 400;
/// alpha^2 sqrt 2 (theorem 1).
const BETA: i128 = 226;
/// A tenth of the traffic is shuffled (section 3.5.2).
const GAMMA: i128 = 100;
/// One, in those.
const MILLE: i128 = 1_000;

const NANOS: u128 = 1_000_000_000;
const FIRST_INTERVAL: u64 = 50_000_000;
const SHORTEST_INTERVAL: u64 = 1_000_000;
const LONGEST_INTERVAL: u64 = 1_000_000_000;
const SHORTEST_LOOK: u64 = 2_000_000;

#[cfg(test)]
mod tests {
    use firstflight_core::units::{Instant, Span};

    use super::*;

    const MBPS: u64 = 1_000_000;

    /// 40 Mbps and a mean RTT of 100 ms.
    fn router() -> Xcp {
        Xcp { mean_rtt: 100_000_000, ..Xcp::new(40 * MBPS) }
    }

    fn at(ms: u64) -> Arrival {
        Arrival { at: Instant(ms * 1_000_000), idle_at: 0, bytes: 1_000 }
    }

    /// A sender with an RTT of 100 ms.
    fn header(window: u64) -> Header {
        Header::new(Span::from_millis(100), Span::from_millis(100) / window)
    }

    #[test]
    fn what_comes_and_goes_follows_spare_rate_and_queue() {
        // 0.4 of 10 Mbps; what is shuffled, 3 Mbps, is less.
        assert_eq!(router().aims(30 * MBPS), (4 * MBPS, 0));
        // The link is full: a tenth is shuffled.
        assert_eq!(router().aims(40 * MBPS), (4 * MBPS, 4 * MBPS));
        // 100 kB wait, 8 Mbps over the RTT: phi is -0.226 of that.
        let queued = Xcp { queue: 100_000, ..router() };
        assert_eq!(queued.aims(40 * MBPS), (2_192_000, 4 * MBPS));
        // 10 Mbps too many.
        assert_eq!(router().aims(50 * MBPS), (MBPS, 5 * MBPS));
    }

    /// The changes that windows of 10 and 40 packets get in the first interval after they came.
    fn changes(mut router: Xcp) -> [i64; 2] {
        for _ in 0..10 {
            router.mark(at(1), &mut header(10));
            router.carry(at(1));
        }
        for _ in 0..40 {
            router.mark(at(1), &mut header(40));
            router.carry(at(1));
        }
        [10, 40].map(|window| {
            let of_packets = (0..window).map(|_| {
                let mut header = header(window);
                router.mark(at(51), &mut header);
                header.change_bps
            });
            of_packets.sum()
        })
    }

    #[test]
    fn all_flows_gain_the_same_rate_and_lose_in_proportion_to_theirs() {
        // 50 packets in 50 ms are 8 Mbps: 0.4 of the 32 that are free, to two flows alike.
        let gains = changes(router());
        assert!(gains.iter().all(|gain| (6_390_000..=6_400_000).contains(gain)), "{gains:?}");
        // 8 Mbps of 4: phi is -1.6, nothing is shuffled; four packets in five are the second's.
        let losses = changes(Xcp::new(4 * MBPS));
        assert!((-325_000..=-318_000).contains(&losses[0]), "{losses:?}");
        assert!((-1_285_000..=-1_275_000).contains(&losses[1]), "{losses:?}");
    }

    #[test]
    fn a_packet_keeps_the_least_of_its_routers_and_one_without_an_rtt_gains_nothing() {
        let mut router = Xcp { gain: Pool::new(4_000, 100), ..router() };
        router.interval_ends = 1_000_000_000;
        let spaced = Header { spacing: Span(10), ..header(1) };
        let change = |router: &mut Xcp, mut header: Header| {
            router.mark(at(1), &mut header);
            header.change_bps
        };
        assert_eq!(change(&mut router, spaced), 400);
        assert_eq!(change(&mut router, Header { change_bps: 100, ..spaced }), 100);
        assert_eq!(router.gain.left, 3_500, "what nobody took is left for others");
        assert_eq!(change(&mut router, Header { rtt: Span(0), ..spaced }), 0);
    }
}
