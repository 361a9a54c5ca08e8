//! Foreign flows: their ends are not the simulator's TCP but another protocol's, which sends real
//! datagrams over the network's links, in the network's time.
//!
//! The ends are woken when they asked to be, and when a datagram reaches one of them. Datagrams
//! have any size. On the forward path they queue, and are lost, among the packets of all flows. On
//! the reverse path they take a fixed delay and their time on every link, as ACKs do, and are not
//! lost. If the reverse path has a link of its own ([`LinkSpec::back`](crate::LinkSpec::back)),
//! they queue there and may be lost. Every datagram has an event at every link: nothing is computed
//! ahead.

use std::collections::HashMap;
use std::fmt;

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{Crossing, Ecn, Tie, serialisation};
use firstflight_results::{FileOutcome, FlowOutcome};

use crate::access::Access;
use crate::event::{Event, Kind};
use crate::network::FlowSpec;
use crate::path::Fabric;
use crate::queued::{Left, Waiting};
use crate::watch::{SenderState, Watch, Watched};

/// The two ends of a flow of another protocol.
///
/// Whenever one of the first three is called, the ends put what they send into `out`, in order.
/// Times never go backwards.
pub trait Ends {
    /// The flow starts.
    fn start(&mut self, now: Instant, out: &mut Vec<Datagram>);

    /// A datagram arrives at the end it was going to.
    fn receive(&mut self, now: Instant, datagram: Datagram, out: &mut Vec<Datagram>);

    /// The time of [`Ends::deadline`] has come.
    fn on_timer(&mut self, now: Instant, out: &mut Vec<Datagram>);

    /// When the ends want to be woken, whether or not anything arrives.
    fn deadline(&self) -> Option<Instant>;

    /// The source falls silent: what has not left yet does not leave, and what arrives from now on
    /// is not counted as delivered.
    fn stop(&mut self);

    /// The sender's congestion window.
    fn cwnd(&self) -> Bytes;

    /// What it has in flight.
    fn in_flight(&self) -> Bytes;

    /// How its first start-up ended, once it has.
    fn exit(&self) -> Option<StartupExit>;

    /// The rest of what is sampled.
    fn state(&self) -> SenderState;

    /// The quantities of its policies, by name.
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64));

    /// Why the flow ended before its time, if it did.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What became of the files of a source of files.
    fn files(&self) -> Vec<FileOutcome> {
        Vec::new()
    }

    /// What was delivered and counted so far, as far as the ends know.
    fn totals(&self) -> FlowOutcome;
}

/// A datagram under way.
#[derive(Clone, PartialEq, Eq)]
pub struct Datagram {
    /// Where it goes.
    pub way: Way,
    /// What it holds. Headers below come on top, as the flow's `header_bytes`.
    pub payload: Vec<u8>,
    /// Its ECN field. Of a flow without ECN ([`crate::Endpoint::ecn`]) it is cleared.
    pub ecn: Ecn,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With the data: over the flow's path.
    Forward,
    /// With the ACKs: the reverse path.
    Back,
}

/// A flow of another protocol while the simulation runs.
pub(crate) struct ForeignFlow<'a> {
    /// The flow's number in its events.
    id: u16,
    /// Its place among the network's flows.
    pub(crate) flow: usize,
    /// The flow as the network describes it.
    spec: &'a FlowSpec,
    /// Both ends, which another protocol's stack drives.
    ends: Box<dyn Ends + 'a>,
    /// What is kept for the outcome.
    watch: Watch,
    /// The sender's access link.
    ingress: Access,
    /// The receiver's access link.
    egress: Access,
    /// When the newest datagram on the reverse path arrives, or has left the last link before the
    /// sender's access link.
    last_back: Instant,
    /// When the receiver's access link has sent the newest datagram, where that matters.
    last_out: Instant,
    /// The receiver sends nothing before this time, the answer delay after its first one was due.
    held_until: Option<Instant>,
    /// Datagrams in the network, by number.
    under_way: HashMap<u64, Datagram>,
    /// Datagrams sent both ways: the number of the next.
    sent: u64,
    /// When the timer is due for which there is an event; `u64::MAX` without one.
    timer_at: u64,
    /// What the ends send in one call, kept for its memory.
    out: Vec<Datagram>,
}

impl<'a> ForeignFlow<'a> {
    pub(crate) fn new(
        id: u16,
        flow: usize,
        spec: &'a FlowSpec,
        ends: Box<dyn Ends + 'a>,
        sample_every: Option<Span>,
    ) -> Self {
        Self {
            id,
            flow,
            spec,
            ends,
            watch: Watch::new(spec.bdp_bytes, sample_every),
            ingress: Access::new(spec, false),
            egress: Access::new(spec, false),
            last_back: Instant(0),
            last_out: Instant(0),
            held_until: None,
            under_way: HashMap::new(),
            sent: 0,
            timer_at: u64::MAX,
            out: Vec::new(),
        }
    }

    /// The events that set the flow going.
    pub(crate) fn schedule(&self, fabric: &mut Fabric) {
        fabric.queue.push_out_of_order(self.event(self.spec.start, What::Start, 0, 0));
        if let Some(stop) = self.spec.stop {
            fabric.queue.push_out_of_order(self.event(stop, What::Stop, 0, 0));
        }
    }

    #[inline(never)]
    pub(crate) fn handle(&mut self, event: Event, now: Instant, fabric: &mut Fabric) {
        let (what, hop, number) = unpack(event.payload);
        match what {
            What::Start => self.ends.start(now, &mut self.out),
            What::Stop => self.ends.stop(),
            What::Timer if now.0 == self.timer_at => {
                self.timer_at = u64::MAX;
                self.ends.on_timer(now, &mut self.out);
            }
            What::Timer => return,
            What::Arrive => return self.arrive(hop, number, now, fabric),
            What::CrossBack => return self.cross_back(number, now, fabric),
            What::Deliver => {
                let Some(datagram) = self.under_way.remove(&number) else { return };
                self.ends.receive(now, datagram, &mut self.out);
            }
        }
        self.after_event(now, fabric);
    }

    /// After every event of the ends: sends what they sent, looks at them, and sees to their timer.
    fn after_event(&mut self, now: Instant, fabric: &mut Fabric) {
        let mut out = std::mem::take(&mut self.out);
        out.drain(..).for_each(|datagram| self.dispatch(now, datagram, fabric));
        self.out = out;
        self.watch.look(now, self.ends.as_ref());
        let Some(deadline) = self.ends.deadline() else { return };
        let at = deadline.max(now);
        if at.0 < self.timer_at {
            self.timer_at = at.0;
            fabric.queue.push_out_of_order(self.event(at, What::Timer, 0, 0));
        }
    }

    fn dispatch(&mut self, now: Instant, mut datagram: Datagram, fabric: &mut Fabric) {
        if !self.spec.endpoint.ecn {
            datagram.ecn = Ecn::NotCapable;
        }
        let bytes = self.bytes(&datagram);
        let number = self.sent;
        self.sent += 1;
        let left = match datagram.way {
            Way::Forward => now,
            Way::Back => now.max(*self.held_until.get_or_insert(now + self.spec.answer_delay)),
        };
        let (at, what) = match datagram.way {
            Way::Forward => (self.ingress.pass_after(now, self.access_time(bytes)), What::Arrive),
            Way::Back => match self.own_way_back(fabric) {
                Some(_) => (self.set_out_back(left, bytes), What::CrossBack),
                None => (self.back(left, bytes), What::Deliver),
            },
        };
        let event = self.event(at, what, 0, number);
        self.under_way.insert(number, datagram);
        fabric.queue.push_out_of_order(event);
    }

    /// A datagram reaches the shared link of `hop`.
    fn arrive(&mut self, hop: usize, number: u64, now: Instant, fabric: &mut Fabric) {
        let Some(datagram) = self.under_way.get(&number) else { return };
        let (bytes, ecn) = (self.bytes(datagram), datagram.ecn);
        let Some(link) = self.spec.path.get(hop).copied() else {
            return self.leave(number, bytes, now, fabric);
        };
        let (tie, ecn_capable) = (Tie::DEPARTURE_FIRST, ecn != Ecn::NotCapable);
        let marks = ecn_capable && fabric.links[link].is_congested(now, tie);
        let packet = Crossing::of(now, bytes, self.flow);
        let packet = Crossing { ecn_capable, marked: marks || ecn == Ecn::Ce, ..packet };
        if fabric.links[link].has_queue() {
            let what = Waiting::Foreign { flow: self.id, hop, number };
            if !fabric.queue_up(link, packet, ecn, what) {
                self.lose(number, now);
            }
            return;
        }
        let Some((at, marked)) = fabric.cross(link, packet, tie) else {
            return self.lose(number, now);
        };
        if marks || marked {
            fabric.links[link].count_mark();
            self.under_way.entry(number).and_modify(|datagram| datagram.ecn = Ecn::Ce);
        }
        let next = hop + 1;
        if next < self.spec.path.len() || fabric.links[link].has_elements() {
            fabric.queue.push_out_of_order(self.event(at, What::Arrive, next, number));
        } else {
            self.leave(number, bytes, at, fabric);
        }
    }

    /// A datagram leaves the queue of the link of `hop`.
    pub(crate) fn leave_queue(
        &mut self,
        fabric: &mut Fabric,
        (hop, number): (usize, u64),
        left: Left,
    ) {
        let Some(at) = left.far_end else { return self.lose(number, left.at) };
        if left.marked {
            self.under_way.entry(number).and_modify(|datagram| datagram.ecn = Ecn::Ce);
        }
        fabric.queue.push_out_of_order(self.event(at, What::Arrive, hop + 1, number));
    }

    fn lose(&mut self, number: u64, at: Instant) {
        self.under_way.remove(&number);
        self.watch.on_drop(at);
    }

    /// A datagram has left the last shared link at `at`.
    fn leave(&mut self, number: u64, bytes: u64, at: Instant, fabric: &mut Fabric) {
        let at = self.egress.pass_after(at, self.access_time(bytes));
        fabric.queue.push_out_of_order(self.event(at, What::Deliver, 0, number));
    }

    /// When a datagram that leaves the receiver now reaches the sender. None overtakes another.
    fn back(&mut self, now: Instant, bytes: u64) -> Instant {
        let spec = self.spec;
        let sending = self.access_time(bytes) * 2 + serialisation(bytes, spec.return_rate_bps);
        let at = now + spec.return_delay + spec.access_delay * 2 + sending;
        self.last_back = self.last_back.max(at);
        self.last_back
    }

    /// The link that the reverse path has of its own, if it has one.
    fn own_way_back(&self, fabric: &Fabric) -> Option<usize> {
        self.spec.return_link.filter(|link| fabric.returns[*link].is_own())
    }

    /// When a datagram that leaves the receiver now reaches the link of the reverse path.
    fn set_out_back(&mut self, now: Instant, bytes: u64) -> Instant {
        self.last_out = self.last_out.max(now) + self.access_time(bytes);
        self.last_out + self.spec.access_delay
    }

    /// A datagram reaches the link of the reverse path.
    fn cross_back(&mut self, number: u64, now: Instant, fabric: &mut Fabric) {
        let Some(link) = self.own_way_back(fabric) else { return };
        let Some(datagram) = self.under_way.get(&number) else { return };
        let bytes = self.bytes(datagram);
        let Some(at) = fabric.returns[link].carry_own(now, bytes, self.flow) else {
            self.under_way.remove(&number);
            return;
        };
        let at = (at + self.spec.return_delay).max(self.last_back) + self.access_time(bytes);
        self.last_back = at;
        let event = self.event(at + self.spec.access_delay, What::Deliver, 0, number);
        fabric.queue.push_out_of_order(event);
    }

    /// How long an access link sends so many bytes.
    fn access_time(&self, bytes: u64) -> Span {
        serialisation(bytes, self.spec.access_rate_bps)
    }

    fn bytes(&self, datagram: &Datagram) -> u64 {
        datagram.payload.len() as u64 + self.spec.header_bytes
    }

    fn event(&self, at: Instant, what: What, hop: usize, number: u64) -> Event {
        let payload = (what as u64) << 60 | (hop as u64) << 48 | number & NUMBER;
        Event::at_any_time(at, Kind::Other, self.id, payload)
    }

    pub(crate) fn outcome(mut self) -> FlowOutcome {
        self.watch.finish(self.ends.as_ref());
        let totals = self.ends.totals();
        FlowOutcome {
            delivered_packets: totals.delivered_bytes.0 / self.spec.payload_bytes.max(1),
            drops: self.watch.drops,
            failure: self.ends.failure(),
            files: self.ends.files(),
            peak_cwnd: self.watch.peak_cwnd,
            final_cwnd: self.ends.cwnd(),
            startup: self.watch.startup,
            flights: self.watch.flights,
            series: self.watch.series,
            gauge_names: self.watch.gauge_names,
            ..totals
        }
    }
}

impl Watched for dyn Ends + '_ {
    fn cwnd(&self) -> Bytes {
        Ends::cwnd(self)
    }

    fn in_flight(&self) -> Bytes {
        Ends::in_flight(self)
    }

    fn exit(&self) -> Option<StartupExit> {
        Ends::exit(self)
    }

    fn state(&self) -> SenderState {
        Ends::state(self)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        Ends::gauges(self, report);
    }
}

impl fmt::Debug for Datagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} bytes", self.way, self.payload.len())
    }
}

/// What an event of such a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Start = 0,
    Stop = 1,
    Timer = 2,
    /// A datagram reaches a shared link.
    Arrive = 3,
    /// A datagram reaches the end it goes to.
    Deliver = 4,
    /// A datagram reaches the link of the reverse path.
    CrossBack = 5,
}

fn unpack(payload: u64) -> (What, usize, u64) {
    let what = match payload >> 60 {
        0 => What::Start,
        1 => What::Stop,
        2 => What::Timer,
        3 => What::Arrive,
        4 => What::Deliver,
        _ => What::CrossBack,
    };
    (what, (payload >> 48 & 0xfff) as usize, payload & NUMBER)
}

/// Datagrams are numbered in 48 bits.
const NUMBER: u64 = (1 << 48) - 1;
