//! The ways of packets and ACKs, for a picture in slow motion.

use firstflight_core::units::Instant;
use firstflight_runner::{AckJourney, Followed, Journey, RunError, follow};
use firstflight_scenario::Scenario;
use serde::Serialize;

use crate::question::compact;

/// What a control sends.
#[derive(Debug, Serialize)]
struct Ways {
    name: String,
    /// Whether more has been sent than is listed here.
    is_full: bool,
    packets: Vec<Packet>,
    acks: Vec<Ack>,
}

/// Flow, number, and when it left, came to the slowest link, left its queue, was lost, and was
/// received, in seconds.
type Packet = (usize, u32, f64, Option<f64>, Option<f64>, Option<f64>, Option<f64>);
/// Flow, the next packet expected, and when it left and reached the sender, in seconds.
type Ack = (usize, u32, f64, f64);

/// The ways of the first packets of each control.
pub(crate) fn followed(scenario: &Scenario, most: usize) -> Result<String, RunError> {
    let ways = follow(scenario, most.min(MOST_PACKETS))?.into_iter();
    compact(&ways.map(Ways::from).collect::<Vec<_>>())
}

impl From<Followed> for Ways {
    fn from(Followed { name, journal, .. }: Followed) -> Self {
        let seconds = |at: Instant| at.0 as f64 / 1e9;
        let packet = |it: &Journey| {
            let [came, sent, lost, received] =
                [it.came, it.sent, it.lost, it.received].map(|at| at.map(seconds));
            (it.flow, it.seq, seconds(it.left), came, sent, lost, received)
        };
        let ack = |it: &AckJourney| (it.flow, it.next, seconds(it.left), seconds(it.home));
        Self {
            name,
            is_full: journal.is_full,
            packets: journal.packets.iter().map(packet).collect(),
            acks: journal.acks.iter().map(ack).collect(),
        }
    }
}

/// More of one control nobody looks at one by one.
const MOST_PACKETS: usize = 20_000;
