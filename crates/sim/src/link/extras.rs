//! What few links have: losses on purpose, a router that serves flows, samples of the queue over
//! time, elements, a queue that is not drop-tail.

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Elements, LossChain, LossSpec};
use rand_pcg::Pcg64Mcg;

use crate::link::LinkSpec;
use crate::link::queued::Queued;
use crate::outcome::LinkSample;
use crate::router::{Arrival, Router};

/// What a link has beyond its rate, its delay and its buffer.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    losses: Option<Losses>,
    /// The router at the link's entry.
    pub(crate) router: Option<Router>,
    /// The series of its queue.
    pub(crate) samples: Option<Samples>,
    /// What happens to packets besides being sent.
    pub(crate) elements: Option<Elements>,
    /// What stands in place of the drop-tail buffer.
    pub(crate) queued: Option<Box<Queued>>,
}

/// Packets lost on purpose.
#[derive(Debug)]
struct Losses {
    random: LossChain,
    /// Packets that have reached this link, except the third packets of handshakes.
    number: u64,
    /// Those still to come of the chosen ones, the next one last.
    nth: Vec<u64>,
}

/// One sample of each interval in which a packet was taken in.
#[derive(Debug)]
pub(crate) struct Samples {
    every: Span,
    pub(crate) series: Vec<LinkSample>,
}

impl Extras {
    /// The losses of a link that loses packets on purpose; `None` for one that does not.
    pub(crate) fn new(spec: &LinkSpec, rng: Pcg64Mcg) -> Option<Self> {
        let mut nth = spec.drop.clone();
        nth.sort_unstable_by(|a, b| b.cmp(a));
        let loses = spec.loss != LossSpec::NONE || !nth.is_empty();
        let losses = Losses { random: LossChain::new(spec.loss, rng), number: 0, nth };
        loses.then(|| Self { losses: Some(losses), ..Self::default() })
    }

    /// The link has taken in a packet. Returns whether it is lost.
    pub(crate) fn loses(&mut self, packet: Arrival) -> bool {
        self.carry(packet);
        self.losses.as_mut().is_some_and(Losses::take)
    }

    /// The link has taken in a packet, and its router counts it.
    pub(crate) fn carry(&mut self, packet: Arrival) {
        if let Some(router) = &mut self.router {
            router.carry(packet);
        }
    }
}

impl Samples {
    /// With this spacing.
    pub(crate) fn new(every: Span) -> Self {
        Self { every: Span(every.0.max(1)), series: Vec::new() }
    }

    /// Notes how many packets are held, the one that came at `at` included, and the packets and
    /// bytes carried so far.
    pub(crate) fn take(&mut self, at: Instant, held: u64, (carried, bytes): (u64, u64)) {
        let at = Instant(at.0 - at.0 % self.every.0);
        match self.series.last_mut() {
            Some(last) if last.at == at => {
                let held = last.held.max(held);
                *last = LinkSample { held, carried, bytes, ..*last };
            }
            _ => self.series.push(LinkSample { at, held, carried, bytes }),
        }
    }
}

impl Losses {
    /// Whether the next packet is lost.
    fn take(&mut self) -> bool {
        self.number += 1;
        if self.nth.last() == Some(&self.number) {
            self.nth.pop();
            return true;
        }
        self.random.loses_next()
    }
}
