//! Flows whose ends are not the simulator's TCP but another protocol's stack, which sends real
//! datagrams over the network's links, in the network's time.
//!
//! The ends are woken when they asked to be, and when a datagram reaches one of them. Datagrams
//! have any size. On the forward path they queue, and are lost, among the packets of all flows. On
//! the reverse path they take a fixed delay and their time on every link, as ACKs do, and are not
//! lost. If the reverse path has links ([`FlowSpec::return_path`]), they queue there and may be
//! lost. Every datagram has an event at every link: nothing is computed
//! ahead.

use std::fmt;

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{Ecn, serialisation};
use firstflight_results::{FileOutcome, FlowOutcome};

use crate::end::End;
use crate::event::{self, Event};
use crate::flow::access::Access;
use crate::flow::route::return_delay;
use crate::net::{Net, Path, Wait};
use crate::network::{FlowSpec, Network};
use crate::packet::{AT_END, Kind, Label, Packet, Way};
use crate::topology::other_path;
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
    fn totals(&mut self) -> FlowOutcome;
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

/// A flow of another protocol while the simulation runs.
pub(crate) struct OtherFlow<'a> {
    /// The flow's number in its events.
    id: u16,
    /// Its path.
    pub(crate) path: u32,
    /// Its place among the network's flows.
    pub(crate) flow: usize,
    /// The flow as the network describes it.
    spec: &'a FlowSpec,
    /// Both ends, which another protocol's stack drives.
    ends: Box<dyn Ends + 'a>,
    /// What is kept for the outcome.
    watch: Watch,
    /// The sender's access link and the receiver's, with the data.
    out: [Access; 2],
    /// The receiver's access link and the sender's, on the reverse path, if that has a link.
    back: Option<[Access; 2]>,
    /// When the newest datagram on a reverse path without a link arrives.
    last_back: Instant,
    /// The receiver sends nothing before this time, the answer delay after its first one was due.
    held_until: Option<Instant>,
    /// When the timer is due for which there is an event; `u64::MAX` without one.
    timer_at: u64,
    /// What the ends send in one call, kept for its memory.
    sends: Vec<Datagram>,
}

impl<'a> OtherFlow<'a> {
    pub(crate) fn new(
        id: u16,
        flow: usize,
        spec: &'a FlowSpec,
        ends: Box<dyn Ends + 'a>,
        sample_every: Option<Span>,
    ) -> Self {
        Self {
            id,
            path: 0,
            flow,
            spec,
            ends,
            watch: Watch::new(spec.bdp_bytes, sample_every),
            out: [Access::new(spec, false), Access::to_receiver(spec, false)],
            back: None,
            last_back: Instant(0),
            held_until: None,
            timer_at: u64::MAX,
            sends: Vec::new(),
        }
    }

    /// Its path; on the reverse path there are links only if they are of their own kind.
    pub(crate) fn lay_out(&mut self, network: &Network, path: u32) -> Path {
        let spec = self.spec;
        let own = |link: &&usize| network.direction(**link).is_some();
        let back: Vec<usize> = spec.return_path.iter().filter(own).copied().collect();
        self.path = path;
        self.back = (!back.is_empty()).then(|| [(); 2].map(|()| Access::new(spec, false)));
        other_path((&spec.path, &back), self.id, self.flow)
    }

    /// The events that set the flow going.
    pub(crate) fn schedule(&self, net: &mut Net) {
        net.queue.push_out_of_order(self.event(self.spec.start, What::Start));
        if let Some(stop) = self.spec.stop {
            net.queue.push_out_of_order(self.event(stop, What::Stop));
        }
    }

    /// After every event of the ends: sends what they sent, looks at them, and sees to their timer.
    fn after_event(&mut self, now: Instant, net: &mut Net) {
        let mut sends = std::mem::take(&mut self.sends);
        sends.drain(..).for_each(|datagram| self.send(now, datagram, net));
        self.sends = sends;
        self.watch.look(now, self.ends.as_ref());
        let Some(deadline) = self.ends.deadline() else { return };
        let at = deadline.max(now);
        if at.0 < self.timer_at {
            self.timer_at = at.0;
            net.queue.push_out_of_order(self.event(at, What::Timer));
        }
    }

    fn send(&mut self, now: Instant, datagram: Datagram, net: &mut Net) {
        let Datagram { way, payload, ecn } = datagram;
        let bytes = payload.len() as u64 + self.spec.header_bytes;
        let ecn = if self.spec.endpoint.ecn { ecn } else { Ecn::NotCapable };
        let packet = Packet {
            path: self.path,
            way,
            hop: 0,
            connection: 0,
            bytes,
            kind: Kind::Datagram(payload),
            label: Label { ecn, ..Label::NONE },
        };
        let time = self.access_time(bytes);
        if way == Way::Forward {
            return net.send(packet, self.out[0].pass_after(now, time));
        }
        let left = now.max(*self.held_until.get_or_insert(now + self.spec.handshake_delay));
        match &mut self.back {
            Some([out, _]) => net.send(packet, out.pass_after(left, time)),
            None => {
                let at = self.arrives_back(left, bytes);
                self.bring(net, packet, at);
            }
        }
    }

    /// A datagram will come to the end that it goes to.
    fn bring(&self, net: &mut Net, packet: Packet, at: Instant) {
        net.send_by(Wait::Other(self.id), Packet { hop: AT_END, ..packet }, at);
    }

    /// When a datagram that leaves the receiver now reaches the sender, where the reverse path has
    /// no link. None overtakes another.
    fn arrives_back(&mut self, now: Instant, bytes: u64) -> Instant {
        self.last_back = self.last_back.max(now + return_delay(self.spec, bytes));
        self.last_back
    }

    /// How long an access link sends so many bytes.
    fn access_time(&self, bytes: u64) -> Span {
        serialisation(bytes, self.spec.access_rate_bps)
    }

    fn event(&self, at: Instant, what: What) -> Event {
        Event::at_any_time(at, event::Kind::Other, self.id, what as u64)
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
            lost_at: self.watch.lost_at,
            gauge_names: self.watch.gauge_names,
            ..totals
        }
    }
}

impl End for OtherFlow<'_> {
    fn arrive(&mut self, net: &mut Net, packet: Packet, at: Instant) {
        let (time, delay) = (self.access_time(packet.bytes), self.spec.return_delay);
        let at = match (packet.way, &mut self.back) {
            (Way::Back, Some([_, home])) => home.pass_after(at + delay, time),
            _ => self.out[1].pass_after(at, time),
        };
        self.bring(net, packet, at);
    }

    fn lose(&mut self, _net: &mut Net, packet: Packet, at: Instant) {
        if packet.way == Way::Forward {
            self.watch.on_drop(at);
        }
    }

    fn receive(&mut self, net: &mut Net, packet: Packet, now: Instant) {
        let Kind::Datagram(payload) = packet.kind else { return };
        let datagram = Datagram { way: packet.way, payload, ecn: packet.label.ecn };
        self.ends.receive(now, datagram, &mut self.sends);
        self.after_event(now, net);
    }

    fn wake(&mut self, net: &mut Net, what: u64, now: Instant) {
        match what {
            what if what == What::Start as u64 => self.ends.start(now, &mut self.sends),
            what if what == What::Stop as u64 => self.ends.stop(),
            _ if now.0 == self.timer_at => {
                self.timer_at = u64::MAX;
                self.ends.on_timer(now, &mut self.sends);
            }
            _ => return,
        }
        self.after_event(now, net);
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

/// What an event of such a flow is, but for those of its datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Start = 0,
    Stop = 1,
    Timer = 2,
}
