//! Watches a flow while it runs: how its start-up goes, and samples over time.

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::{FlowSample, StartupOutcome};

/// A sender that can be watched.
pub(crate) trait Watched {
    /// Its congestion window.
    fn cwnd(&self) -> Bytes;

    /// Payload in flight.
    fn in_flight(&self) -> Bytes;

    /// How the first start-up ended, once it has.
    fn exit(&self) -> Option<StartupExit>;

    /// What is looked at less often.
    fn state(&self) -> SenderState;

    /// The quantities of its policies.
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64));
}

/// A sender at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub ssthresh: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packets acknowledged so far.
    pub acked_packets: u64,
    /// How often the window was cut.
    pub cuts: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
}

/// What is kept of one flow for its outcome.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Watch {
    pub(crate) startup: StartupOutcome,
    pub(crate) series: Vec<FlowSample>,
    pub(crate) gauge_names: Vec<&'static str>,
    /// When packets were lost, where samples are kept.
    pub(crate) lost_at: Vec<Instant>,
    /// How the flight grew, where the BDP changes.
    pub(crate) flights: Vec<(Instant, Bytes)>,
    sample_every: Option<Span>,
    /// `None` if it changes.
    bdp: Option<Bytes>,
    /// Packets acknowledged to connections before the present one.
    acked_before: u64,
    /// Shares of the BDP (`BDP_PERCENT`) that the flight has reached.
    marks_reached: usize,
    /// When the next sample of the series is due.
    next_sample: Instant,
    /// Times of losses, kept until the round of the exit is judged.
    drop_times: Vec<Instant>,
    /// Packets that the network lost.
    pub(crate) drops: u64,
    /// Where the watch over the first start-up stands.
    exit: ExitWatch,
    /// Nothing but the peak needs looking at before then, unless the flight reaches `next_mark`.
    next_look: Instant,
    /// The flight that reaches the next share of the BDP.
    next_mark: Bytes,
    /// The largest window.
    pub(crate) peak_cwnd: Bytes,
}

/// Where the watch over the first start-up stands.
#[derive(Clone, Copy, Debug)]
enum ExitWatch {
    Running,
    /// Exit seen: one smoothed RTT, and the cuts counted then.
    Ended {
        exit: StartupExit,
        rtt: Span,
        cuts: u64,
    },
    Judged,
}

impl Watch {
    pub(crate) fn new(bdp_bytes: Option<u64>, sample_every: Option<Span>) -> Self {
        let bdp = bdp_bytes.map(Bytes);
        Self {
            drops: 0,
            lost_at: Vec::new(),
            peak_cwnd: Bytes(0),
            startup: StartupOutcome::default(),
            series: Vec::new(),
            gauge_names: Vec::new(),
            flights: Vec::new(),
            sample_every,
            next_look: Instant(0),
            next_mark: bdp.map_or(Bytes(1), |bdp| bdp.scaled(BDP_PERCENT[0], 100)),
            bdp,
            acked_before: 0,
            marks_reached: 0,
            next_sample: Instant(0),
            exit: ExitWatch::Running,
            drop_times: Vec::new(),
        }
    }

    /// A packet of the flow was lost at a link.
    pub(crate) fn on_drop(&mut self, at: Instant) {
        self.drops += 1;
        if self.sample_every.is_some() && self.lost_at.len() < MAX_DROP_TIMES {
            self.lost_at.push(at);
        }
        if !matches!(self.exit, ExitWatch::Judged) && self.drop_times.len() < MAX_DROP_TIMES {
            self.drop_times.push(at);
        }
    }

    /// The flow has handled an event.
    #[inline]
    pub(crate) fn look(&mut self, now: Instant, sender: &(impl Watched + ?Sized)) {
        if sender.cwnd() > self.peak_cwnd {
            self.peak_cwnd = sender.cwnd();
        }
        let in_flight = sender.in_flight();
        if in_flight >= self.next_mark {
            self.reach_marks(now, in_flight);
        }
        let ended = matches!(self.exit, ExitWatch::Running) && sender.exit().is_some();
        if ended || now >= self.next_look {
            self.look_closely(now, sender);
        }
    }

    /// The flow goes on with a new connection after `sender`.
    pub(crate) fn change_connection(&mut self, sender: &(impl Watched + ?Sized)) {
        self.acked_before += sender.state().acked_packets;
    }

    /// The run is over: judges what is still open.
    pub(crate) fn finish(&mut self, sender: &(impl Watched + ?Sized)) {
        self.follow_exit(Instant(u64::MAX), sender);
        self.follow_exit(Instant(u64::MAX), sender);
        // Losses that were computed ahead were recorded ahead, out of order.
        self.lost_at.sort_unstable();
    }

    #[cold]
    fn reach_marks(&mut self, now: Instant, in_flight: Bytes) {
        let Some(bdp) = self.bdp else {
            self.flights.push((now, in_flight));
            self.next_mark = in_flight + in_flight.scaled(1, FLIGHT_STEPS) + Bytes(1);
            return;
        };
        while self.marks_reached < BDP_PERCENT.len() && in_flight >= self.next_mark {
            self.startup.time_to_bdp[self.marks_reached] = Some(now);
            self.marks_reached += 1;
            self.next_mark = BDP_PERCENT
                .get(self.marks_reached)
                .map_or(Bytes::MAX, |percent| bdp.scaled(*percent, 100));
        }
    }

    #[cold]
    fn look_closely(&mut self, now: Instant, sender: &(impl Watched + ?Sized)) {
        self.follow_exit(now, sender);
        self.next_look = match self.exit {
            ExitWatch::Running => Instant(u64::MAX),
            ExitWatch::Ended { exit, rtt, .. } => exit.at + rtt * 10,
            ExitWatch::Judged => Instant(u64::MAX),
        };
        let Some(every) = self.sample_every else { return };
        if now >= self.next_sample {
            self.sample(now, sender);
            self.next_sample = Instant(now.0 - now.0 % every.0.max(1)) + every;
        }
        self.next_look = self.next_look.min(self.next_sample);
    }

    fn follow_exit(&mut self, now: Instant, sender: &(impl Watched + ?Sized)) {
        match self.exit {
            ExitWatch::Running => {
                let Some(exit) = sender.exit() else { return };
                let SenderState { srtt: rtt, cuts, .. } = sender.state();
                self.startup.exit = Some(exit);
                self.exit = ExitWatch::Ended { exit, rtt, cuts };
            }
            ExitWatch::Ended { exit, rtt, cuts } if now >= exit.at + rtt * 10 => {
                // The loss that ended start-up lies a round trip and some ACKs back, and srtt lags
                // behind a queue that grows.
                let from = exit.at.0.saturating_sub(2 * rtt.0);
                let to = (exit.at + rtt).0;
                let near = self.drop_times.iter().filter(|t| (from..=to).contains(&t.0));
                self.startup.drops_in_exit_round = Some(near.count() as u64);
                self.startup.reductions_next_10_rtt = Some(sender.state().cuts - cuts);
                self.drop_times = Vec::new();
                self.exit = ExitWatch::Judged;
            }
            _ => {}
        }
    }

    fn sample(&mut self, now: Instant, sender: &(impl Watched + ?Sized)) {
        let state = sender.state();
        let mut gauges = Vec::with_capacity(self.gauge_names.len());
        let first = self.series.is_empty();
        let names = &mut self.gauge_names;
        sender.gauges(&mut |name, value| {
            gauges.push(value);
            if first {
                names.push(name);
            }
        });
        self.series.push(FlowSample {
            at: now,
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
            in_flight: state.in_flight,
            srtt: state.srtt,
            acked_packets: self.acked_before + state.acked_packets,
            timeouts: state.timeouts,
            gauges,
        });
    }
}

/// Where the BDP changes, a flight is noted that is larger by one part of so many than the one
/// noted last: about a thousand from a packet to a gigabyte.
const FLIGHT_STEPS: u64 = 64;

/// Parts of the BDP whose reaching is timed, in per cent.
const BDP_PERCENT: [u64; 3] = [60, 80, 90];

/// Losses remembered for the exit round; a start-up that loses more is counted up to here.
const MAX_DROP_TIMES: usize = 65_536;
