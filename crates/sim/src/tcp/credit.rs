//! What an ACK is credited with: the packets of which the sender learns by it, and by none before,
//! that the receiver took them.
//!
//! A packet out of order is credited with the duplicate ACK that it causes, and never again:
//! neither with the cumulative ACK that covers it nor, when a timeout has made the sender send it
//! once more, with the duplicate ACK of the second copy. So the sum of all credits is what the
//! receiver had taken when it sent the last ACK, whatever was lost in between.
//!
//! TCP without SACK does not learn which packet caused a duplicate ACK. The ns-2 module of TCP
//! Westwood (M. Valla, 2002) takes each for a new arrival, and bounds what it gets wrong by
//! crediting no ACK with more than two packets. Here the simulator says which packet it was, as
//! SACK with D-SACK (RFC 2018, RFC 2883) would, so that the sum is exact and needs no bound. Only
//! the credit knows: losses are found as the recovery in use finds them.

use firstflight_core::units::{Bytes, Instant};

use super::log::Mark;
use super::repair::Repair;
use super::tcb::Tcb;

impl Tcb {
    /// How many packets beyond `next` an ACK that packet `cause` caused is the first to report: 1
    /// or 0. From now on the packet is known to have arrived.
    #[inline]
    pub(super) fn note_early(&mut self, next: u32, cause: u32) -> u32 {
        let early = cause > next && cause < self.max && !self.log.has(cause, Mark::ARRIVED);
        if early {
            self.log.set(cause, Mark::ARRIVED);
            if let Some(samples) = &mut self.samples {
                samples.note_early(cause);
            }
        }
        u32::from(early)
    }

    /// The credit, in packets, of a cumulative ACK for `newly` packets, which reports `early`
    /// packets beyond them. The first of the `newly` was missing, or nothing is credited ahead.
    pub(super) fn credit(&mut self, newly: u32, early: u32) -> u32 {
        let known = self.credited_ahead.min(newly - 1);
        self.credited_ahead = self.credited_ahead - known + early;
        newly - known + early
    }

    /// A duplicate ACK, which reports `early` packets.
    #[inline(never)]
    pub(super) fn duplicate_ack(&mut self, repair: &impl Repair, now: Instant, early: u32) {
        self.credited_ahead += early;
        self.tell(repair, now, Bytes(0), self.bytes(early), None);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use firstflight_core::units::Span;
    use proptest::prelude::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::Rng;

    use super::super::Tcp;
    use super::super::testing::{Air, EMPTY, MSS, endpoint, flow};
    use super::*;
    use crate::endpoint::Recovery;
    use crate::endpoint::rules::{Compression, LinuxAcks, Timer};
    use crate::network::FlowSpec;
    use crate::packet::{AckOut, PART};
    use crate::receiver::Receiver;
    use firstflight_link::stream;

    /// A connection over 100 ms that loses packets at random.
    #[derive(Clone, Debug)]
    struct Drawn {
        recovery: Recovery,
        packets: u32,
        every: u32,
        syn: bool,
        least_timeout_ms: u64,
        loss_percent: u64,
        seed: u64,
        fast_paths: bool,
    }

    fn drawn() -> impl Strategy<Value = Drawn> {
        let switches = (any::<bool>(), any::<bool>());
        let numbers = (1..400_u32, 1..4_u32, 0..30_u64, any::<u64>());
        // Below 100 ms the timer fires while nothing is lost, and what arrives twice is much.
        let timeouts = prop_oneof![Just(1000), 1..100_u64];
        (prop::sample::select(Recovery::ALL.to_vec()), numbers, timeouts, switches).prop_map(
            |(recovery, (packets, every, loss_percent, seed), least_timeout_ms, switches)| Drawn {
                recovery,
                packets,
                every,
                syn: switches.0,
                least_timeout_ms,
                loss_percent,
                seed,
                fast_paths: switches.1,
            },
        )
    }

    impl Drawn {
        fn spec(&self) -> FlowSpec {
            let mut endpoint = endpoint();
            endpoint.recovery = self.recovery;
            endpoint.syn = self.syn;
            endpoint.delayed_ack = self.every;
            if self.recovery == Recovery::Rack {
                endpoint.rto.timer = Timer::Linux;
            }
            endpoint.rto.min = Span::from_millis(self.least_timeout_ms);
            endpoint.linux_acks = (!self.loss_percent.is_multiple_of(3)).then_some(LinuxAcks {
                compress: self.seed.is_multiple_of(2).then_some(Compression::UNTIL_6_18),
            });
            // One sends again what may not be lost.
            let (startup, avoidance) = match self.seed % 8 {
                0..5 => ("astart", "westwood"),
                _ => ("halfback", "newreno"),
            };
            FlowSpec { packets: Some(self.packets), ..flow(startup, avoidance, endpoint) }
        }
    }

    /// Everything between a sender and its receiver: each packet takes its millisecond and 50 ms
    /// after those before it, each ACK 50 ms.
    struct Path {
        data: VecDeque<(Instant, u32)>,
        /// ACKs, what each reports besides its cause, and how much the receiver had taken when it
        /// left.
        acks: VecDeque<(AckOut, Vec<u32>, usize)>,
        free_at: Instant,
        taken: HashSet<u32>,
        draw: Pcg64Mcg,
    }

    impl Path {
        fn answer(&mut self, receiver: &mut Receiver, ack: Option<AckOut>) {
            let Some(ack) = ack else { return };
            let sacked = (0..ack.more).filter_map(|_| receiver.next_compressed()).collect();
            self.acks.push_back((ack, sacked, self.taken.len()));
        }

        fn leave(
            &mut self,
            now: Instant,
            sent: &mut Vec<u32>,
            drawn: &Drawn,
            receiver: &mut Receiver,
        ) {
            // ns-2's Vegas sends data with a SYN that it repeats, and counts both as handshake.
            let spared = u32::from(drawn.syn && drawn.recovery == Recovery::Ns2Vegas);
            for seq in sent.drain(..) {
                if seq & EMPTY != 0 {
                    receiver.expect_empty(seq & !EMPTY);
                }
                self.free_at = self.free_at.max(now) + Span::from_millis(1);
                if self.draw.next_u64() % 100 >= drawn.loss_percent || seq < spared {
                    self.data.push_back((self.free_at + Span::from_millis(50), seq));
                }
            }
        }
    }

    /// Runs the connection to its end and says how many packets the ACKs were credited with, after
    /// holding the sum to what the receiver had taken, ACK by ACK.
    fn credited(drawn: &Drawn) -> Result<u64, TestCaseError> {
        // QUIC's first packet of the handshake counts like all others; so does TCP/Linux's SYN.
        let counts_syn = matches!(drawn.recovery, Recovery::Quic | Recovery::Ns2Linux);
        let first_data = u32::from(drawn.syn && !counts_syn);
        let mut tcp = Tcp::new(&drawn.spec(), drawn.fast_paths);
        let endpoint = drawn.spec().endpoint;
        let end = (Instant(u64::MAX), Instant(u64::MAX));
        let mut receiver =
            Receiver::new(&endpoint, drawn.syn, Some(drawn.packets), end, drawn.fast_paths);
        let mut path = Path {
            data: VecDeque::new(),
            acks: VecDeque::new(),
            free_at: Instant(0),
            taken: HashSet::new(),
            draw: stream(drawn.seed, 0),
        };
        let (mut sent, mut now) = (Vec::new(), Instant(0));
        tcp.start(now, &mut Air(&mut sent));
        for events in 0.. {
            if tcp.is_done() {
                break;
            }
            prop_assert!(events < MOST_EVENTS, "never done: {:?} at {:?}", tcp.deadline(), now);
            path.leave(now, &mut sent, drawn, &mut receiver);
            let data_at = path.data.front().map(|(at, _)| *at);
            let ack_at = path.acks.front().map(|(ack, ..)| ack.at + Span::from_millis(50));
            // At one instant the delayed ACK leaves first, as in a run.
            let dues = [receiver.deadline(), data_at, ack_at, tcp.deadline()];
            let (which, at) = dues
                .into_iter()
                .enumerate()
                .filter_map(|(which, due)| Some((which, due?)))
                .min_by_key(|(_, due)| *due)
                .expect("a connection that is not done waits for something");
            now = now.max(at);
            let leaves = match which {
                0 => receiver.on_timer(now),
                1 => {
                    let (at, seq) = path.data.pop_front().unwrap();
                    assert!(receiver.deadline().is_none_or(|due| due > at), "the timer is first");
                    let (before, own) = receiver.receive(seq & !EMPTY, at);
                    path.answer(&mut receiver, before);
                    if seq >= first_data && seq & EMPTY == 0 {
                        path.taken.insert(seq);
                    }
                    own
                }
                2 => {
                    let (ack, sacked, taken) = path.acks.pop_front().unwrap();
                    for seq in sacked {
                        tcp.on_ack(now, ack.next, seq | PART, &mut Air(&mut sent));
                    }
                    tcp.on_ack(now, ack.next, ack.cause, &mut Air(&mut sent));
                    let credited = tcp.core().view().delivered.0;
                    prop_assert_eq!(credited, taken as u64 * MSS, "{:?} at {:?}", ack, now);
                    None
                }
                _ => {
                    tcp.on_timer(now, &mut Air(&mut sent));
                    None
                }
            };
            path.answer(&mut receiver, leaves);
        }
        Ok(tcp.core().view().delivered.0 / MSS)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_sum_of_credits_is_what_the_receiver_took(drawn in drawn()) {
            let counts_syn = matches!(drawn.recovery, Recovery::Quic | Recovery::Ns2Linux);
            let handshake = drawn.syn && counts_syn;
            prop_assert_eq!(credited(&drawn)?, u64::from(drawn.packets + u32::from(handshake)));
        }
    }

    /// Far more than any of these connections takes.
    const MOST_EVENTS: u64 = 1_000_000;
}
