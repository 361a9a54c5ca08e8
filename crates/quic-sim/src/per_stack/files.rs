//! A source of files over QUIC: one after the other on one connection, or each on a connection of
//! its own, which gets what the one before learned of the path.

use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant};
use firstflight_sim::{Datagram, Ends, FileDraws, FileOutcome, FlowOutcome, SenderState};

use super::client_and_server::ClientAndServer;
use super::setup::{QuicControl, Setup, SetupError};

/// The ends of all its connections, of which one is open at a time.
pub(crate) struct Files {
    setup: Setup,
    draws: FileDraws,
    /// All files are sent on the first connection.
    keep_alive: bool,
    /// What a packet of a file carries, in bytes.
    data_bytes: u64,
    /// The connection under way.
    pair: ClientAndServer,
    /// The packets of the file under way.
    packets: u32,
    /// When it began.
    began: Instant,
    /// Packets sent before it.
    sent_before: u64,
    /// When the next one begins, after a pause.
    next_at: Option<Instant>,
    /// The run is over.
    stopped: bool,
    /// What the newest connection that is over has learned, and when it was over.
    learned: Option<(Learned, Instant)>,
    /// Totals of the connections that are over.
    before: FlowOutcome,
    /// Packets acknowledged on them.
    acked_before: u64,
    /// The files that are over.
    done: Vec<FileOutcome>,
}

impl Files {
    /// The source whose files are drawn so, and whose first connection `open` makes.
    ///
    /// # Errors
    /// A packet size that QUIC does not have.
    pub(crate) fn new(
        mut setup: Setup,
        mut draws: FileDraws,
        keep_alive: bool,
        data_bytes: u64,
        open: impl FnOnce(&Setup) -> Result<ClientAndServer, SetupError>,
    ) -> Result<Self, SetupError> {
        let packets = draws.packets(data_bytes);
        setup.size = Some(u64::from(packets) * data_bytes);
        Ok(Self {
            pair: open(&setup)?,
            setup,
            draws,
            keep_alive,
            data_bytes,
            packets,
            began: Instant(0),
            sent_before: 0,
            next_at: None,
            stopped: false,
            learned: None,
            before: FlowOutcome::default(),
            acked_before: 0,
            done: Vec::new(),
        })
    }

    /// The next file begins.
    fn begin_next(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        (self.packets, self.began) = (self.draws.packets(self.data_bytes), now);
        self.sent_before = self.totals().counts.sent_packets;
        let bytes = u64::from(self.packets) * self.data_bytes;
        match self.keep_alive {
            true => self.pair.send_more(bytes, now, out),
            false => self.open(bytes, now, out),
        }
    }

    /// A connection that sends so much.
    fn open(&mut self, bytes: u64, now: Instant, out: &mut Vec<Datagram>) {
        self.setup.size = Some(bytes);
        self.setup.seed = self.setup.seed.wrapping_add(1);
        if let QuicControl::Ours(factory) = &mut self.setup.control {
            let hint = |(learned, at)| PathHint::Own(Learned { age: now.since(at), ..learned });
            **factory = factory.as_ref().clone().hinted(self.learned.map(hint));
        }
        // The first connection has shown that the size of its packets is one.
        let Ok(pair) = ClientAndServer::new(&self.setup) else { return };
        self.before = self.totals();
        self.acked_before += self.pair.state().acked_packets;
        self.pair = pair;
        self.pair.start(now, out);
    }

    /// After every event: the sender may have had the last ACK of the file.
    fn after_event(&mut self, now: Instant) {
        let Some(delivered) = self.pair.over().filter(|_| self.next_at.is_none()) else { return };
        self.learned = self.pair.learned().map(|learned| (learned, now)).or(self.learned);
        let (packets, began) = (self.packets, self.began);
        let sent = self.totals().counts.sent_packets - self.sent_before;
        self.done.push(FileOutcome { packets, sent, began, delivered });
        self.next_at = Some(if self.stopped { NEVER } else { now + self.draws.pause() });
    }
}

impl Ends for Files {
    fn start(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        self.began = now;
        self.pair.start(now, out);
    }

    /// What comes in a pause is of a connection that is over, if each file has its own.
    fn receive(&mut self, now: Instant, datagram: Datagram, out: &mut Vec<Datagram>) {
        if self.keep_alive || self.next_at.is_none() {
            self.pair.receive(now, datagram, out);
            self.after_event(now);
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        match self.next_at {
            Some(at) if at <= now => {
                self.next_at = None;
                self.begin_next(now, out);
            }
            Some(_) if !self.keep_alive => return,
            _ => self.pair.on_timer(now, out),
        }
        self.after_event(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let next = self.next_at.filter(|at| *at != NEVER);
        let lives = self.keep_alive || self.next_at.is_none();
        let pairs = self.pair.deadline().filter(|_| lives);
        [next, pairs].into_iter().flatten().min()
    }

    fn stop(&mut self) {
        self.stopped = true;
        match &mut self.next_at {
            Some(at) => *at = NEVER,
            None => self.pair.stop(),
        }
    }

    fn cwnd(&self) -> Bytes {
        Ends::cwnd(&self.pair)
    }

    fn in_flight(&self) -> Bytes {
        Ends::in_flight(&self.pair)
    }

    fn exit(&self) -> Option<StartupExit> {
        Ends::exit(&self.pair)
    }

    fn state(&self) -> SenderState {
        let state = Ends::state(&self.pair);
        SenderState {
            acked_packets: self.acked_before + state.acked_packets,
            cuts: self.before.counts.cuts + state.cuts,
            timeouts: self.before.counts.timeouts + state.timeouts,
            ..state
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        Ends::gauges(&self.pair, report);
    }

    fn failure(&self) -> Option<String> {
        self.pair.failure()
    }

    fn totals(&mut self) -> FlowOutcome {
        let (before, now) = (&self.before, self.pair.totals());
        FlowOutcome {
            delivered_bytes: before.delivered_bytes + now.delivered_bytes,
            counts: before.counts + now.counts,
            reprobes: before.reprobes + now.reprobes,
            ..FlowOutcome::default()
        }
    }

    fn files(&self) -> Vec<FileOutcome> {
        self.done.clone()
    }
}

/// No other file follows.
const NEVER: Instant = Instant(u64::MAX);
