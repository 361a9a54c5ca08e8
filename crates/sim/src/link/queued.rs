//! The queue of a link that is not a plain drop-tail buffer ([`firstflight_link`]).
//!
//! A drop-tail buffer decides a packet's fate when it arrives. Such a queue decides later: it may
//! drop a packet that waits, or serve another flow first. So packets wait here, and the link has
//! events: one for what arrives at an instant, and one whenever it has sent
//! a packet. A flow over such a link takes no fast path.

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Crossing, Ecn, Happened, Packet as Queueing, Server, Totals};
use rand_pcg::Pcg64Mcg;

use crate::link::Link;
use crate::link::LinkSpec;
use crate::packet::Packet;

/// A packet that a queue holds no longer.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) packet: Packet,
    /// When it reaches the far end of the link; `None` if it is gone.
    pub(crate) far_end: Option<Instant>,
    /// When it was dropped, or its transmission began.
    pub(crate) at: Instant,
}

/// A queue with its link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Queued {
    server: Server<(Crossing, Packet)>,
    /// What has arrived at this instant.
    arrived: Vec<(Crossing, Packet)>,
    /// When the pending event comes; `u64::MAX` without one.
    pub(crate) event_at: u64,
    end_of_run: u64,
    pub(crate) totals: Totals,
    /// Packets that wait or are sent, and the sum of when they came.
    inside: (u64, u128),
}

impl Queued {
    /// The queue of a link, with random numbers of its own; `None` for one with a plain buffer.
    pub(crate) fn of(spec: &LinkSpec, random: Pcg64Mcg, end_of_run: Instant) -> Option<Self> {
        let server =
            Server::new(spec.queue.clone()?, spec.rate_bps, random, spec.buffer_counts_in_service);
        Some(Self {
            server,
            arrived: Vec::new(),
            event_at: u64::MAX,
            end_of_run: end_of_run.0,
            totals: Totals::default(),
            inside: (0, 0),
        })
    }

    /// Packets held, the one in service included.
    pub(crate) fn held(&self, now: Instant) -> u64 {
        self.server.held(now.0)
    }

    /// How long they take to be sent.
    pub(crate) fn waits(&self, now: Instant) -> Span {
        Span(self.server.waits(now.0))
    }

    /// When the link has sent what it sends, if more waits.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.server.next_at().map(Instant)
    }

    /// What happens by `now`, in order: packets are sent, then those that have come are queued.
    /// `sent_at` may say when a transmission ends ([`crate::Element::sent_at`]).
    fn serve(
        &mut self,
        now: Instant,
        sent_at: &mut dyn FnMut(u64, Instant) -> Option<Instant>,
    ) -> Vec<((Crossing, Packet), Queueing, Happened)> {
        let mut out = Vec::new();
        let mut report = |whole, packet, happened| out.push((whole, packet, happened));
        let server = &mut self.server;
        let mut sent_at = |bytes, start| sent_at(bytes, Instant(start)).map(|at| at.0);
        server.serve(now.0, &mut sent_at, &mut report);
        for (crossing, packet) in std::mem::take(&mut self.arrived) {
            let ecn = if crossing.marked { Ecn::Ce } else { packet.label.ecn };
            let (bytes, flow) = (crossing.bytes, crossing.flow as u64);
            let queueing = Queueing { id: 0, bytes, flow, ecn, marked: false, at: now.0 };
            server.arrive(queueing, (crossing, packet), &mut report);
            self.inside = (self.inside.0 + 1, self.inside.1 + u128::from(now.0));
            server.serve(now.0, &mut sent_at, &mut report);
            self.totals.peak_packets = self.totals.peak_packets.max(server.held(now.0));
        }
        for (_, packet, happened) in &out {
            self.count(packet, *happened);
        }
        out
    }

    fn count(&mut self, packet: &Queueing, happened: Happened) {
        let (totals, end_of_run) = (&mut self.totals, self.end_of_run);
        let until = match happened {
            Happened::Dropped(at) => {
                totals.drops += 1;
                at
            }
            Happened::Sent(start, end) => {
                totals.packets += 1;
                totals.bytes += packet.bytes;
                totals.marks += u64::from(packet.marked);
                totals.busy_ns += end.min(end_of_run).saturating_sub(start);
                end
            }
        };
        totals.held_ns += u128::from(until.min(end_of_run).saturating_sub(packet.at));
        self.inside = (self.inside.0 - 1, self.inside.1 - u128::from(packet.at));
    }

    /// What happened until the end of the run.
    pub(crate) fn totals(&self) -> Totals {
        let still = u128::from(self.inside.0) * u128::from(self.end_of_run) - self.inside.1;
        Totals { held_ns: self.totals.held_ns + still, ..self.totals }
    }
}

impl Link {
    /// A packet arrives at the link's queue; it comes back if an element drops it.
    pub(crate) fn queue_up(&mut self, mut crossing: Crossing, packet: Packet) -> Option<Packet> {
        let marked = crossing.marked;
        if !self.let_in(&mut crossing) {
            return Some(packet);
        }
        let newly = crossing.marked && !marked;
        let queued = self.queued()?;
        queued.totals.marks += u64::from(newly);
        queued.arrived.push((crossing, packet));
        None
    }

    /// What leaves the queue by `now`.
    pub(crate) fn send_queued(&mut self, now: Instant) -> Vec<Left> {
        let Some(mut queued) = self.take_queued() else { return Vec::new() };
        let out = queued.serve(now, &mut |bytes, start| self.sent_at(bytes, start));
        let left = out.into_iter().map(|((crossing, mut packet), sent, happened)| {
            let marked = crossing.marked | sent.marked;
            let (at, far_end) = match happened {
                Happened::Dropped(at) => (Instant(at), None),
                Happened::Sent(start, end) => {
                    let (crossing, start) = (Crossing { marked, ..crossing }, Instant(start));
                    (
                        start,
                        self.let_out(&crossing, (start, Instant(end)), packet.is_handshake_ack()),
                    )
                }
            };
            if marked {
                packet.label.ecn = Ecn::Ce;
            }
            Left { packet, far_end, at }
        });
        let left = left.collect();
        self.sample_queue(now, queued.held(now), &queued.totals);
        self.put_queued(queued);
        left
    }
}
