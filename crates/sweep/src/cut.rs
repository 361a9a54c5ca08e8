//! Cuts the points of a sweep into chunks of about a second, by estimates that are equal on every
//! machine: the names of the chunks depend on them.

use firstflight_runner::Transport;
use firstflight_scenario::{Carrier, Complete};

use crate::SweepError;

/// Consecutive points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) first: u64,
    pub(crate) points: u64,
    /// Time on one core, estimated.
    pub(crate) weight_ns: u64,
}

/// The chunks of so many points. At most [`PIECES`] points are looked at, drawn from equal pieces
/// of the sweep, so that a billion points are cut as fast as ten thousand. `None` for more than
/// [`MOST_CHUNKS`].
pub(crate) fn cut(
    count: u64,
    weight_ns: impl Fn(u64) -> Result<u64, SweepError>,
) -> Result<Option<Vec<Cut>>, SweepError> {
    let pieces = count.min(PIECES);
    let start = |piece: u64| (u128::from(count) * u128::from(piece) / u128::from(pieces)) as u64;
    let mut weights = Vec::with_capacity(pieces as usize);
    for piece in 0..pieces {
        let (first, end) = (start(piece), start(piece + 1));
        // Not always the same place in a piece, which a grid might repeat.
        let point = first + (piece.wrapping_mul(APART) >> 32) % (end - first);
        weights.push((end, weight_ns(point)?));
    }
    let mut from = 0;
    let total: u128 = weights
        .iter()
        .map(|(end, weight)| {
            let points = end - std::mem::replace(&mut from, *end);
            u128::from(points) * u128::from(*weight)
        })
        .sum();
    let target = (total / LEAST).clamp(u128::from(SHORT_NS), u128::from(LONG_NS)) as u64;
    Ok(filled(&weights, target))
}

/// Chunks that are full at `target`; `weights` has the end of each piece and the weight of each of
/// its points.
fn filled(weights: &[(u64, u64)], target: u64) -> Option<Vec<Cut>> {
    let mut cuts = Vec::new();
    let mut open = Cut { first: 0, points: 0, weight_ns: 0 };
    let mut point = 0;
    for (end, weight) in weights {
        while point < *end {
            let room = (target.saturating_sub(open.weight_ns) / weight).max(1);
            let taken = room.min(end - point).min(MOST_POINTS - open.points);
            open.points += taken;
            open.weight_ns += taken * weight;
            point += taken;
            // A further point would overfill the chunk by more than half of itself.
            if open.weight_ns + weight / 2 >= target || open.points == MOST_POINTS {
                if cuts.len() == MOST_CHUNKS {
                    return None;
                }
                cuts.push(std::mem::replace(
                    &mut open,
                    Cut { first: point, points: 0, weight_ns: 0 },
                ));
            }
        }
    }
    if open.points > 0 {
        cuts.push(open);
    }
    Some(cuts)
}

/// What a scenario takes on one core, in nanoseconds: an estimate from the packets it can carry at
/// most, equal on every machine.
pub fn weight_ns(complete: &Complete) -> u64 {
    let is_quic = complete.flows.iter().any(|group| group.transport == Some(Carrier::Quic));
    simulated_ns(complete, if is_quic { QUIC_PACKET_NS } else { PACKET_NS })
}

/// What a scenario takes on a transport.
pub(crate) fn weight_on(on: &dyn Transport, complete: &Complete) -> u64 {
    let runs = runs(complete);
    match on.name() {
        _ if on.is_in_real_time() => runs.saturating_mul(complete.duration.ns()),
        "linux" => runs.saturating_mul(GUEST_NS),
        "quic" | "noq" => simulated_ns(complete, QUIC_PACKET_NS),
        _ => weight_ns(complete),
    }
}

fn runs(complete: &Complete) -> u64 {
    complete.runs.saturating_mul(complete.controls.len().max(1) as u64)
}

fn simulated_ns(complete: &Complete, packet_ns: u64) -> u64 {
    let wire = complete.wire_bytes().max(1);
    let rate = complete.links.get(complete.slowest_link()).map_or(0, |link| link.rate.bps());
    let carried = u128::from(rate) * u128::from(complete.duration.ns()) / 8_000_000_000;
    let carried = u64::try_from(carried / u128::from(wire)).unwrap_or(u64::MAX);
    let mut sizes = complete.flows.iter().map(|group| {
        let packets = group.size?.bytes().div_ceil(complete.packet.bytes().max(1));
        Some(packets.saturating_mul(group.count))
    });
    let asked = sizes.try_fold(0_u64, |all, size| Some(all.saturating_add(size?)));
    let packets = asked.map_or(carried, |asked| asked.min(carried));
    let run = packets.saturating_mul(packet_ns).saturating_add(RUN_NS);
    runs(complete).saturating_mul(run).saturating_add(POINT_NS)
}

/// From docs/sweep.md: what a packet, a run and a point cost on one core.
const PACKET_NS: u64 = 55;
/// From docs/quic.md: 37,000 instructions.
const QUIC_PACKET_NS: u64 = 12_000;
/// A guest boots, and its clock is slower than this machine's (docs/lab.md).
const GUEST_NS: u64 = 10_000_000_000;
const RUN_NS: u64 = 25_000;
const POINT_NS: u64 = 60_000;

/// The most points that are looked at before anything runs: a tenth of a second.
const PIECES: u64 = 4096;
/// The golden ratio of 2^64.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;
/// A chunk takes a second, but a short sweep has so many chunks that no core waits long for the
/// last one.
const LONG_NS: u64 = 1_000_000_000;
const SHORT_NS: u64 = 20_000_000;
const LEAST: u128 = 64;
/// What a chunk holds at most, so that its rows take a few megabytes.
const MOST_POINTS: u64 = 4096;
/// Two months of one core; their list takes 120 MB.
const MOST_CHUNKS: usize = 5_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_every_point_once_and_are_full_but_for_the_last() {
        let weights = [(3, 400), (10, 100), (11, 5000), (12, 1)];
        let cuts = filled(&weights, 1000).unwrap();
        let mut next = 0;
        for cut in &cuts {
            assert_eq!(cut.first, next);
            next += cut.points;
        }
        assert_eq!(next, 12);
        let full: Vec<(u64, u64)> = cuts.iter().map(|cut| (cut.points, cut.weight_ns)).collect();
        assert_eq!(full, [(2, 800), (7, 400 + 6 * 100), (2, 100 + 5000), (1, 1)]);
    }

    #[test]
    fn cheap_points_do_not_make_endless_chunks() {
        let cuts = filled(&[(10_000, 1)], 1_000_000).unwrap();
        assert!(cuts.iter().all(|cut| cut.points <= MOST_POINTS));
        assert_eq!(cuts.iter().map(|cut| cut.points).sum::<u64>(), 10_000);
    }
}
