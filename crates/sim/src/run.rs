//! Runs a network: takes events in order of time and lets the elements act.
//!
//! A flow takes a fast path where the outcome is the same as on the general path ([`FastPaths`]).

use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_core::units::{Bytes, Instant};
use firstflight_results::FlowOutcome;

use crate::control::Wants;
use crate::dialogue::Dialogue;
use crate::event::{Event, Kind};
use crate::fast_paths::FastPaths;
use crate::files::{FileDraws, FileSource};
use crate::flow_wire::FlowWire;
use crate::foreign::{Ends, ForeignFlow};
use crate::memory::Memory;
use crate::network::{FlowSpec, Network};
use crate::outcome::Outcome;
use crate::path::{Arriving, Fabric, FlowPath, unpack_ack};
use crate::queue::Next;
use crate::route::{Route, lay_out};
use crate::tcp::Tcp;
use crate::timer::{Timer, timer};
use crate::udp::UdpSource;
use crate::watch::Watch;

/// The run was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Runs `network` to its end.
pub fn run(network: &Network) -> Outcome {
    match run_until(network, FastPaths::On, &AtomicBool::new(false)) {
        Ok(outcome) => outcome,
        Err(Interrupted) => unreachable!("nobody else holds the flag"),
    }
}

/// Runs `network` to its end, or until `stop` becomes true.
///
/// # Errors
/// [`Interrupted`] if `stop` became true first.
pub fn run_until(
    network: &Network,
    fast_paths: FastPaths,
    stop: &AtomicBool,
) -> Result<Outcome, Interrupted> {
    run_with(network, Vec::new(), fast_paths, stop)
}

/// Runs `network` with flows of another protocol, like [`run_until`] otherwise: each names a flow
/// of the network by index, whose path and times it takes. An index that is none, or is there
/// twice, has no effect.
///
/// # Errors
/// As of [`run_until`].
pub fn run_with<'a>(
    network: &'a Network,
    foreign: Vec<(usize, Box<dyn Ends + 'a>)>,
    fast_paths: FastPaths,
    stop: &AtomicBool,
) -> Result<Outcome, Interrupted> {
    let mut engine = Engine::new(network, foreign, fast_paths);
    engine.run(&mut || !stop.load(Ordering::Relaxed))?;
    Ok(engine.outcome())
}

/// Runs `network` to its end, and asks before the first event and again after every 2^18 events
/// whether to go on.
///
/// # Errors
/// [`Interrupted`] if not.
pub fn run_watched(
    network: &Network,
    fast_paths: FastPaths,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Interrupted> {
    let mut engine = Engine::new(network, Vec::new(), fast_paths);
    engine.run(go_on)?;
    Ok(engine.outcome())
}

pub(crate) struct Engine<'a> {
    /// The flows of our TCP, in the network's order.
    pub(crate) flows: Vec<Flow<'a>>,
    /// What flows share: links, queue of events, memory.
    pub(crate) fabric: Fabric,
    /// The sources of UDP.
    pub(crate) udp: Vec<UdpSource<'a>>,
    /// The flows of other protocols.
    pub(crate) foreign: Vec<ForeignFlow<'a>>,
    /// How many events have been handled.
    events: u64,
}

/// A flow's two ends and what lies between.
///
/// The flows of a large network do not stay in the nearest cache, so every event pays for the cache
/// lines it touches. This struct and those below it fix their order: what every ACK touches stands
/// together, at the end of [`Watch`], at the beginning of the parts of `path` and `tcp` and in
/// front of `tcp`.
#[repr(C, align(64))]
pub(crate) struct Flow<'a> {
    pub(crate) spec: &'a FlowSpec,
    pub(crate) path: FlowPath,
    /// Boxed because few flows have one.
    pub(crate) files: Option<Box<FileSource<'a>>>,
    /// A later timer event that is pending all the same: it was the earliest before `timer_at`.
    later_timer_at: u64,
    /// Its SYN has not been acknowledged, and ACKs queue on the reverse path.
    opening: bool,
    /// When the pending timer event fires; `u64::MAX` if none is pending.
    timer_at: u64,
    /// `timer_at`, if its event is not pending because an ACK of the flow comes before it, or
    /// `u64::MAX`.
    owed_at: u64,
    /// Something follows when all there is to send has been acknowledged, or the SYN.
    pub(crate) ends: bool,
    /// The sender.
    pub(crate) tcp: Tcp,
}

impl<'a> Engine<'a> {
    fn new(
        network: &'a Network,
        foreign: Vec<(usize, Box<dyn Ends + 'a>)>,
        fast_paths: FastPaths,
    ) -> Self {
        let foreign = foreign_flows(network, foreign);
        let mut is_foreign = vec![false; network.flows.len()];
        foreign.iter().for_each(|flow| is_foreign[flow.flow] = true);
        let mut ours: Vec<_> = network.flows.iter().enumerate().collect();
        ours.retain(|(place, _)| !is_foreign[*place]);
        let (routes, queue) = lay_out(network, &ours, fast_paths);
        let files = |place: usize, spec: &'a FlowSpec| {
            let draws = |files| FileDraws::new(files, network.seed, place as u64);
            spec.files.map(|files| Box::new(FileSource::new(spec, draws(files))))
        };
        let flow = |(id, ((place, spec), route)): (usize, ((usize, &'a FlowSpec), Route))| Flow {
            tcp: Tcp::new(spec, fast_paths.serve(network, spec)),
            spec,
            files: files(place, spec),
            ends: spec.files.is_some() || spec.packets.is_some(),
            path: FlowPath {
                id: id as u16,
                route,
                dialogue: Dialogue::of(
                    Wants::of(&spec.control),
                    spec.endpoint.feedback(),
                    spec.path.len(),
                ),
                watch: Watch::new(spec.bdp_bytes, network.sample_every),
            },
            timer_at: u64::MAX,
            owed_at: u64::MAX,
            later_timer_at: u64::MAX,
            opening: false,
        };
        let memory = Memory::new(ours.iter().map(|(_, spec)| *spec));
        let mut fabric = Fabric::new(network, queue, memory, fast_paths);
        foreign.iter().for_each(|flow| flow.schedule(&mut fabric));
        let flows: Vec<Flow<'a>> = ours.into_iter().zip(routes).enumerate().map(flow).collect();
        schedule_application(&flows, &mut fabric);
        for (id, spec) in network.udp.iter().enumerate() {
            fabric.queue.push_out_of_order(Event::at_any_time(
                spec.start,
                Kind::Other,
                id as u16,
                0,
            ));
        }
        Self {
            flows,
            fabric,
            udp: (0..)
                .zip(&network.udp)
                .map(|(id, spec)| {
                    UdpSource::new(spec, (network.flows.len() + id, id as u16), network.seed)
                })
                .collect(),
            foreign,
            events: 0,
        }
    }

    fn run(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), Interrupted> {
        loop {
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && !go_on() {
                return Err(Interrupted);
            }
            let Some(next) = self.fabric.queue.pop() else { return Ok(()) };
            self.events += 1;
            match next {
                Next::Ack(ack) => {
                    let flow = &mut self.flows[ack.number() as usize];
                    let now = ack.at();
                    let fabric = &mut self.fabric;
                    let mut wire = FlowWire { now, path: &mut flow.path, fabric };
                    flow.tcp.on_ack_in_order(now, &mut wire);
                    flow.after_event(now, fabric);
                    if flow.ends && flow.tcp.is_done() {
                        flow.end(now, fabric);
                    }
                }
                Next::Any(kind, event) => self.handle(kind, event),
            }
        }
    }

    #[inline(always)]
    fn handle(&mut self, kind: Kind, event: Event) {
        let now = event.at();
        let number = event.number() as usize;
        let fabric = &mut self.fabric;
        match kind {
            Kind::Arrive => {
                let arriving = Arriving::unpack(event.payload);
                self.flows[arriving.flow as usize].path.arrive_now(fabric, arriving, now);
            }
            Kind::Ack => {
                let flow = &mut self.flows[number];
                let (next, cause) = unpack_ack(event.payload);
                let Some(next) = flow.path.route.untagged(next) else { return };
                let mut wire = FlowWire { now, path: &mut flow.path, fabric };
                flow.tcp.on_ack(now, next, cause, &mut wire);
                flow.after_event(now, fabric);
                if flow.ends {
                    flow.after_ack(event, fabric);
                }
            }
            Kind::Timer => self.flows[number].on_timer(event, now, fabric),
            Kind::Other => match number.checked_sub(self.udp.len()) {
                None => self.udp[number].handle(event, now, fabric),
                Some(id) => match self.foreign.get_mut(id) {
                    Some(flow) => flow.handle(event, now, fabric),
                    None => self.on_link(number, now),
                },
            },
        }
    }

    fn outcome(mut self) -> Outcome {
        let mut flows: Vec<FlowOutcome> = self.flows.iter_mut().map(Flow::outcome).collect();
        self.foreign.sort_unstable_by_key(|foreign| foreign.flow);
        for foreign in self.foreign {
            flows.insert(foreign.flow, foreign.outcome());
        }
        Outcome { flows, links: self.fabric.outcome(), events: self.events }
    }
}

/// The events that the flows' specifications name: start, stop, writes, and a window that opens.
fn schedule_application(flows: &[Flow<'_>], fabric: &mut Fabric) {
    for (id, Flow { spec, .. }) in flows.iter().enumerate() {
        let mut push = |at, what| fabric.queue.push_out_of_order(timer(at, id, what));
        push(spec.start, Timer::Start);
        if let Some(stop) = spec.stop {
            push(stop, Timer::Stop);
        }
        for (after, _) in &spec.writes {
            push(spec.start + *after, Timer::Write);
        }
        if let Some(after) = spec.window_opens {
            push(spec.start + after, Timer::Open);
        }
    }
}

/// The flows of another protocol, numbered behind the constant-rate sources.
fn foreign_flows<'a>(
    network: &'a Network,
    given: Vec<(usize, Box<dyn Ends + 'a>)>,
) -> Vec<ForeignFlow<'a>> {
    let mut flows: Vec<ForeignFlow<'a>> = Vec::with_capacity(given.len());
    let mut taken = vec![false; network.flows.len()];
    for (place, ends) in given {
        let Some(spec) = network.flows.get(place).filter(|_| !taken[place]) else { continue };
        taken[place] = true;
        let id = (network.udp.len() + flows.len()) as u16;
        flows.push(ForeignFlow::new(id, place, spec, ends, network.sample_every));
    }
    flows
}

impl Flow<'_> {
    #[cold]
    fn on_timer(&mut self, event: Event, now: Instant, fabric: &mut Fabric) {
        if event.payload == Timer::Start as u64 {
            if self.write_again(now, fabric) {
                return self.after_event(now, fabric);
            }
            if !self.begin(now, fabric) {
                return;
            }
        }
        if event.payload == Timer::Start as u64 && self.spec.endpoint.syn && self.files.is_none() {
            self.opening = self.path.opens(fabric);
            self.ends |= self.opening;
        }
        if event.payload == Timer::Write as u64 {
            self.write_more(now, fabric);
            return self.after_event(now, fabric);
        }
        let mut wire = FlowWire { now, path: &mut self.path, fabric };
        match event.payload {
            payload if payload == Timer::Open as u64 => self.tcp.open_window(now, &mut wire),
            payload if payload == Timer::Start as u64 => self.tcp.start(now, &mut wire),
            payload if payload == Timer::Stop as u64 => {
                self.tcp.stop();
                self.files.iter_mut().for_each(|files| files.stop());
            }
            payload if payload == Timer::DelayedAck as u64 => {
                return self.path.on_wake(fabric, now);
            }
            _ => {
                let at = event.at().0;
                if at == self.later_timer_at {
                    self.later_timer_at = u64::MAX;
                }
                if at != self.timer_at {
                    return;
                }
                self.timer_at = u64::MAX;
                self.tcp.on_timer(now, &mut wire);
                self.path.watch.look(now, &self.tcp);
                return self.go_on_at_pace(now, fabric);
            }
        }
        self.after_event(now, fabric);
    }

    /// After an event of a paced sender: its next packets leave here, without an event for each, as
    /// long as no other event comes before them. Where an ACK of the flow itself is the next event,
    /// the sender comes back here after it and needs no timer until then. Without fast paths each
    /// packet has its event.
    #[inline(never)]
    fn go_on_at_pace(&mut self, mut now: Instant, fabric: &mut Fabric) {
        let mut owed = std::mem::replace(&mut self.owed_at, u64::MAX);
        let mut next = self.tcp.next_at_pace().filter(|_| self.path.route.fast_paths);
        while let Some(at) = next.filter(|at| *at > now) {
            let first = fabric.queue.would_be_next(at);
            if !first && (self.ends || !fabric.queue.ack_is_next(self.path.id, at)) {
                break;
            }
            if owed != at.0 && (owed != u64::MAX || !self.note_timer(at)) {
                break;
            }
            if !first {
                self.owed_at = at.0;
                return;
            }
            (self.timer_at, owed, now) = (u64::MAX, u64::MAX, at);
            let mut wire = FlowWire { now, path: &mut self.path, fabric };
            self.tcp.leave_at_pace(now, &mut wire);
            self.path.watch.look(now, &self.tcp);
            next = self.tcp.next_at_pace();
        }
        if owed != u64::MAX {
            self.push_timer(Instant(owed), fabric);
        }
        // If the window is full and nothing is due before the pending timer, that timer stays.
        // `Flow::set_timer` would leave it too, but would compute the deadline first.
        let pending = if self.timer_at == u64::MAX { self.later_timer_at } else { self.timer_at };
        match self.tcp.no_deadline_before_while_full(Instant(pending)) {
            true => self.timer_at = pending,
            false => self.set_timer(now, fabric),
        }
    }

    /// An ACK may have been the first one, or the last.
    #[inline(never)]
    fn after_ack(&mut self, ack: Event, fabric: &mut Fabric) {
        let (next, _) = unpack_ack(ack.payload);
        if self.opening && next > 0 {
            self.opening = false;
            self.ends = self.files.is_some() || self.spec.packets.is_some();
            self.path.opened(fabric);
        }
        if self.ends && self.tcp.is_done() {
            self.end(ack.at(), fabric);
        }
    }

    /// After every event of the sender: looks at it, and sees that a timer event is pending no
    /// later than its deadline. Most deadlines only move away, so most of the time one is.
    #[inline(always)]
    fn after_event(&mut self, now: Instant, fabric: &mut Fabric) {
        self.path.watch.look(now, &self.tcp);
        let owes = self.owed_at != u64::MAX;
        if owes || !self.tcp.no_deadline_before(Instant(self.timer_at)) {
            // What follows the last ACK of a flow that ends comes first.
            match !owes && (self.ends || self.tcp.core().acts_on_acks_only()) {
                true => self.set_timer(now, fabric),
                false => self.go_on_at_pace(now, fabric),
            }
        }
    }

    #[inline(never)]
    fn set_timer(&mut self, now: Instant, fabric: &mut Fabric) {
        let at = self.tcp.deadline().map(|deadline| deadline.max(now));
        if let Some(at) = at.filter(|at| self.note_timer(*at)) {
            self.push_timer(at, fabric);
        }
    }

    /// The sender is to be woken at that time: whether that takes another event than those pending.
    fn note_timer(&mut self, at: Instant) -> bool {
        if at.0 >= self.timer_at {
            return false;
        }
        // A paced sender goes to and fro between its pace and its retransmission timer.
        if self.timer_at == u64::MAX && self.later_timer_at <= at.0 {
            self.timer_at = self.later_timer_at;
            return false;
        }
        if self.timer_at != u64::MAX {
            self.later_timer_at = self.timer_at;
        }
        self.timer_at = at.0;
        true
    }

    fn push_timer(&self, at: Instant, fabric: &mut Fabric) {
        fabric.queue.push_out_of_order(timer(at, self.path.id as usize, Timer::Retransmit));
    }

    /// What became of the flow, which is over. It stays where it is: a flow is kilobytes large.
    fn outcome(&mut self) -> FlowOutcome {
        self.path.watch.finish(&self.tcp);
        let watch = &mut self.path.watch;
        let receiver = &self.path.route.receiver;
        let finished_at = receiver.finished_at().filter(|_| self.files.is_none());
        let before = self.files.as_ref().map_or(0, |files| files.delivered_before);
        let delivered_packets = before + u64::from(receiver.delivered());
        FlowOutcome {
            delivered_packets,
            delivered_bytes: Bytes(delivered_packets * self.spec.data_bytes()),
            counts: self.tcp.counts(),
            drops: watch.drops,
            finished_at,
            failure: None,
            files: self.files.take().map_or(Vec::new(), |files| files.done),
            peak_cwnd: watch.peak_cwnd,
            final_cwnd: self.tcp.core().cwnd(),
            startup: watch.startup,
            flights: std::mem::take(&mut watch.flights),
            reprobes: self.tcp.core().reprobes(),
            series: std::mem::take(&mut watch.series),
            gauge_names: std::mem::take(&mut watch.gauge_names),
        }
    }
}

/// How often a run looks whether it should stop: a few milliseconds.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 18;
