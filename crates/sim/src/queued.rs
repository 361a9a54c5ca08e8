//! The queue of a link that is not a plain drop-tail buffer ([`firstflight_link`]).
//!
//! A drop-tail buffer decides a packet's fate when it arrives. Such a queue decides later: it may
//! drop a packet that waits, or serve another flow first. So packets wait here, with what they
//! carry, and the link has events: one for what arrives at an instant, and one whenever it has sent
//! a packet. A flow over such a link takes no fast path.

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Crossing, Ecn, Happened, Packet, Server, Totals};
use rand_pcg::Pcg64Mcg;

use crate::event::{Event, Kind};
use crate::link::Link;
use crate::network::LinkSpec;
use crate::path::{Fabric, FlowPath};
use crate::route;
use crate::router::{EcnBits, Header};
use crate::run::Engine;

/// A packet that waits in a link's queue: whose it is, and how it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// A packet of our TCP.
    Tcp {
        flow: u16,
        /// The link's place on its way.
        hop: usize,
        packet: route::Packet,
        /// What it says to routers and receiver, if it does.
        header: Option<Header>,
    },
    /// A packet of a constant-rate source, by the source's number and the link's place.
    Udp { source: u16, hop: usize },
    /// A datagram of another protocol, by the flow's number, the link's place and its own number.
    Foreign { flow: u16, hop: usize, number: u64 },
}

/// What became of a packet: where it goes on, and whether it was marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) what: Waiting,
    /// When it reaches the far end of the link; `None` if it is gone.
    pub(crate) far_end: Option<Instant>,
    /// When it was dropped, or its transmission began.
    pub(crate) at: Instant,
    pub(crate) marked: bool,
}

/// A queue with its link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Queued {
    server: Server<(Waiting, Crossing)>,
    /// What has arrived at this instant.
    arrived: Vec<(Crossing, Ecn, Waiting)>,
    /// When the pending event comes; `u64::MAX` without one.
    event_at: u64,
    end_of_run: u64,
    pub(crate) totals: Totals,
    /// Packets that wait or are sent, and the sum of when they came.
    inside: (u64, u128),
}

impl Queued {
    /// The queue of a link, with random numbers of its own; `None` for one with a plain buffer.
    pub(crate) fn of(spec: &LinkSpec, random: Pcg64Mcg, end_of_run: Instant) -> Option<Self> {
        let server =
            Server::new(spec.queue.clone()?, spec.rate_bps, random, spec.in_service_counts);
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

    /// A packet arrives.
    pub(crate) fn arrive(&mut self, crossing: Crossing, ecn: Ecn, what: Waiting) {
        self.arrived.push((crossing, ecn, what));
    }

    /// What happens by `now`, in order: packets are sent, then those that have come are queued.
    /// `sent_at` may say when a transmission ends ([`crate::Element::sent_at`]).
    fn serve(
        &mut self,
        now: Instant,
        sent_at: &mut dyn FnMut(u64, Instant) -> Option<Instant>,
    ) -> Vec<(Waiting, Crossing, Packet, Happened)> {
        let mut out = Vec::new();
        let mut report = |(what, crossing), packet, happened| {
            out.push((what, crossing, packet, happened));
        };
        let server = &mut self.server;
        let mut sent_at = |bytes, start| sent_at(bytes, Instant(start)).map(|at| at.0);
        server.serve(now.0, &mut sent_at, &mut report);
        for (crossing, ecn, what) in std::mem::take(&mut self.arrived) {
            let (bytes, flow) = (crossing.bytes, crossing.flow as u64);
            let packet = Packet { id: 0, bytes, flow, ecn, marked: false, at: now.0 };
            server.arrive(packet, (what, crossing), &mut report);
            self.inside = (self.inside.0 + 1, self.inside.1 + u128::from(now.0));
            server.serve(now.0, &mut sent_at, &mut report);
            self.totals.peak_packets = self.totals.peak_packets.max(server.held(now.0));
        }
        for (_, _, packet, happened) in &out {
            self.count(packet, *happened);
        }
        out
    }

    fn count(&mut self, packet: &Packet, happened: Happened) {
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
    /// A packet arrives at the link's queue, unless an element drops it: whether it does.
    pub(crate) fn queue_up(&mut self, mut crossing: Crossing, ecn: Ecn, what: Waiting) -> bool {
        let marked = crossing.marked;
        if !self.let_in(&mut crossing) {
            return false;
        }
        let newly = crossing.marked && !marked;
        let Some(queued) = self.queued() else { return false };
        queued.totals.marks += u64::from(newly);
        queued.arrive(crossing, if crossing.marked { Ecn::Ce } else { ecn }, what);
        true
    }
}

impl Fabric {
    /// A packet reaches a link with a queue: whether it is not gone at once. Otherwise it leaves by
    /// an event of the link.
    pub(crate) fn queue_up(
        &mut self,
        link: usize,
        crossing: Crossing,
        ecn: Ecn,
        what: Waiting,
    ) -> bool {
        let waits = self.links[link].queue_up(crossing, ecn, what);
        if waits {
            self.wake_link(link, crossing.at);
        }
        waits
    }

    /// The link's event comes no later than `at`.
    fn wake_link(&mut self, link: usize, at: Instant) {
        let end = self.end;
        let Some(queued) = self.links[link].queued() else { return };
        if at.0 < queued.event_at && at <= end {
            queued.event_at = at.0;
            self.queue.push_out_of_order(Event::new(at, Kind::Other, number_of(link), 0));
        }
    }

    /// The link's event: what left its queue by now.
    fn serve_link(&mut self, link: usize, now: Instant) -> Vec<Left> {
        let Some(queued) = self.links[link].queued() else { return Vec::new() };
        if queued.event_at != now.0 {
            return Vec::new();
        }
        queued.event_at = u64::MAX;
        let left = self.links[link].send_queued(now);
        let next = self.links[link].queued().and_then(|queued| queued.server.next_at());
        if let Some(at) = next {
            self.wake_link(link, Instant(at));
        }
        left
    }
}

impl Link {
    fn send_queued(&mut self, now: Instant) -> Vec<Left> {
        let Some(mut queued) = self.take_queued() else { return Vec::new() };
        let out = queued.serve(now, &mut |bytes, start| self.sent_at(bytes, start));
        let left = out.into_iter().map(|(what, crossing, packet, happened)| {
            let marked = crossing.marked | packet.marked;
            let (at, far_end) = match happened {
                Happened::Dropped(at) => (Instant(at), None),
                Happened::Sent(start, end) => {
                    let (crossing, start) = (Crossing { marked, ..crossing }, Instant(start));
                    (start, self.let_out(&crossing, (start, Instant(end)), what.is_bare()))
                }
            };
            Left { what, far_end, at, marked }
        });
        let left = left.collect();
        self.sample_queue(now, queued.held(now), &queued.totals);
        self.put_queued(queued);
        left
    }
}

impl Waiting {
    /// It is the third packet of a handshake.
    fn is_bare(&self) -> bool {
        matches!(self, Self::Tcp { packet, .. } if packet.tagged == crate::handshake::BARE)
    }
}

impl Engine<'_> {
    /// An event of the link of that number: packets leave its queue.
    #[cold]
    pub(crate) fn on_link(&mut self, number: usize, now: Instant) {
        let link = usize::from(u16::MAX) - number;
        for left in self.fabric.serve_link(link, now) {
            let fabric = &mut self.fabric;
            match left.what {
                Waiting::Tcp { flow, .. } => {
                    self.flows[usize::from(flow)].path.leave_queue(fabric, left);
                }
                Waiting::Udp { source, hop } => {
                    self.udp[usize::from(source)].leave_queue(fabric, hop, left.far_end);
                }
                Waiting::Foreign { flow, hop, number } => {
                    let flow = usize::from(flow) - self.udp.len();
                    self.foreign[flow].leave_queue(fabric, (hop, number), left);
                }
            }
        }
    }
}

impl FlowPath {
    /// A packet reaches the link of `hop`, which has a queue.
    #[cold]
    pub(crate) fn queue_up(
        &mut self,
        fabric: &mut Fabric,
        (hop, packet): (usize, route::Packet),
        crossing: Crossing,
    ) {
        let link = self.route.hop(hop).link;
        let is_bare = packet.tagged == crate::handshake::BARE;
        let dialogue = self.dialogue.as_mut().filter(|_| !is_bare);
        let header = dialogue.and_then(|dialogue| dialogue.take_passed(hop));
        let ecn = header.as_ref().map_or(Ecn::NotCapable, |header| Ecn::from(header.ecn));
        let what = Waiting::Tcp { flow: self.id, hop, packet, header };
        if !fabric.queue_up(link, crossing, ecn, what) {
            self.lose_queued(packet, crossing.at);
        }
    }

    /// A packet leaves the queue of a link.
    fn leave_queue(&mut self, fabric: &mut Fabric, left: Left) {
        let Waiting::Tcp { hop, packet, header, .. } = left.what else { return };
        let Some(far_end) = left.far_end else { return self.lose_queued(packet, left.at) };
        if let (Some(mut header), Some(dialogue)) = (header, &mut self.dialogue) {
            header.ecn.marked |= left.marked;
            dialogue.put_passed(hop, packet.tagged, header);
        }
        let is_bare = packet.tagged == crate::handshake::BARE;
        if !(is_bare && self.route.is_last(hop)) {
            self.come_later(fabric, (hop, packet), far_end);
        }
    }

    fn lose_queued(&mut self, packet: route::Packet, at: Instant) {
        match packet.tagged == crate::handshake::BARE {
            true => self.watch.on_drop(at),
            false => self.lost(packet, at),
        }
    }
}

impl From<EcnBits> for Ecn {
    fn from(bits: EcnBits) -> Self {
        match bits {
            EcnBits { capable: false, .. } => Self::NotCapable,
            EcnBits { marked: true, .. } => Self::Ce,
            EcnBits { l4s: true, .. } => Self::Ect1,
            _ => Self::Ect0,
        }
    }
}

/// The number of a link's events: behind those of sources and flows, from the end.
fn number_of(link: usize) -> u16 {
    u16::MAX - u16::try_from(link).unwrap_or(u16::MAX)
}
