//! Streams that no connection would make: numbers of any magnitude that contradict each other,
//! clocks that run backwards, sums that wrap, events in any order.

use firstflight_core::event::{Ack, LossKind, Sent};
use firstflight_core::hint::Learned;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Window;

use super::both::Both;
use super::draw::Draw;

/// A hundred ACKs, most of them sane enough to lead somewhere.
pub(crate) fn drive(both: &mut Both, draw: &mut Draw) {
    let mut now = draw.any_size();
    both.wild = true;
    while both.acks < 100 {
        now = match draw.between(0, 49) {
            0 => draw.any_size(),
            1 => now.saturating_sub(draw.any_size()),
            2 => now.saturating_add(draw.any_size()),
            _ => now.saturating_add(draw.any() >> draw.between(30, 50)),
        };
        match draw.between(0, 39) {
            0 => both.handshake(now, sample(draw)),
            1 if draw.once_in(2) => both.begin(now),
            1 => both.hint(
                now,
                Learned {
                    window: Window { cwnd: Bytes(size(draw)), ssthresh: Bytes(size(draw)) },
                    rtt: Span(sample(draw)),
                    min_rtt: Span(sample(draw)),
                    delivered: Bytes(size(draw)),
                    per_round: Bytes(size(draw)),
                    rate: None,
                    age: Span(draw.any_size()),
                },
            ),
            2..=4 => both.sent(&Sent {
                now: Instant(now),
                bytes: Bytes(size(draw)),
                in_flight: Bytes(size(draw)),
                again: draw.once_in(3),
            }),
            5 => both.loss(now, LossKind::Recovery, size(draw), draw.once_in(2)),
            6 => both.loss(now, LossKind::Timeout, size(draw), draw.once_in(2)),
            7 => {
                let cwnd = draw.once_in(2).then(|| size(draw));
                // No limit in C is a window that says nothing.
                both.recovered(cwnd.filter(|cwnd| *cwnd != u64::MAX));
            }
            8 => both.spurious(),
            10 => {
                both.wake(now);
                both.rest(now, now >> 8);
            }
            11 => both.endpoint_paces(draw.once_in(2)),
            9 => both.set_mss(if draw.once_in(5) { draw.any_size() } else { draw.any() >> 51 }),
            _ => both.ack(&ack(now, draw)),
        }
    }
}

fn ack(now: u64, draw: &mut Draw) -> Ack {
    Ack {
        now: Instant(now),
        acked: Bytes(size(draw)),
        credited: Bytes(size(draw)),
        rtt: draw.once_in(2).then(|| Span(sample(draw))),
        in_flight: Bytes(size(draw)),
        snd_nxt: Bytes(size(draw)),
        app_limited: draw.once_in(10),
        ..Ack::default()
    }
}

/// Bytes: mostly a few segments.
fn size(draw: &mut Draw) -> u64 {
    if draw.once_in(20) { draw.any_size() } else { draw.any() >> draw.between(44, 60) }
}

/// An RTT: mostly a millisecond to some seconds, never the one that says none.
fn sample(draw: &mut Draw) -> u64 {
    let rtt = if draw.once_in(20) { draw.any_size() } else { draw.any() >> draw.between(32, 44) };
    rtt.min(u64::MAX - 1)
}
