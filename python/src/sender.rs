//! A sender of the core's for aioquic, whose events become the core's here.
//! `firstflight/aioquic.py` has the class that aioquic calls.
//!
//! Times are aioquic's, seconds of a clock; bytes are those of QUIC packets, as aioquic counts
//! them. Only packets of application data are reported: the handshake's leave within the first
//! window.

use std::sync::Arc;

use firstflight_c::abi::{Ack, Config, Error, FIRSTFLIGHT_RECOVERY, FIRSTFLIGHT_TIMEOUT};
use firstflight_c::abi::{Loss, Packet, Sent};
use firstflight_c::{Adapter, calls};
use firstflight_control::Control;
use firstflight_control::policy::ChosenStartup;
use firstflight_core::conformance::Recorder;
use firstflight_core::needs::Facilities;
use firstflight_core::pair::{self, Pair};
use firstflight_core::units::{Bytes, Rate};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::startup::{self, Faults};

/// What aioquic tells its congestion control and asks of it, and what the adapter makes of that.
/// Nothing wakes the control, and marks are not reported.
const PROVIDES: Facilities = Facilities::TIMES
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::PACING)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::GAPS)
    .and(Facilities::SENT);

/// aioquic's pacer lets one window leave per smoothed RTT where the control sets no rate.
const OWN_PACER: u32 = 100;

/// What leaves before the first packet is reported, with which the control begins: aioquic's pacer
/// has a quarter of the first window and one packet then.
const FIRST_PACKETS: u64 = 4;

type Policies = Box<dyn pair::Policies + Send + Sync>;

/// A packet that has left, as it is remembered beside aioquic's own.
#[pyclass(frozen, module = "firstflight")]
pub(crate) struct Left {
    /// Counted from the first one reported.
    number: u64,
    bytes: u64,
    state: Packet,
}

/// The sender of one connection.
#[pyclass(module = "firstflight")]
pub(crate) struct Sender {
    adapter: Adapter<Policies>,
    faults: Arc<Faults>,
    recorder: Option<Recorder<ChosenStartup>>,
    /// The recorder sets a rate.
    paced: bool,
    /// The control with its avoidance and its knobs.
    #[pyo3(get)]
    control: String,
    /// What it would use and does not get, in words.
    #[pyo3(get)]
    missing: Vec<&'static str>,
    /// Bytes of the packets reported.
    #[pyo3(get)]
    in_flight: u64,
    reported: u64,
    begun: bool,
    /// The handshake's RTT has been reported.
    shaken: bool,
    /// The newest packet of the ACK frame that aioquic is reporting.
    newest: Option<(u64, Packet)>,
    /// When the last packet in flight was acknowledged, if nothing has left since.
    rests: Option<u64>,
    /// The newest time reported, in nanoseconds.
    now: u64,
}

#[pymethods]
impl Sender {
    #[new]
    #[pyo3(signature = (control, mss, checks=false, paced=None))]
    fn new(control: &str, mss: u64, checks: bool, paced: Option<u64>) -> PyResult<Self> {
        let refused =
            |problem: firstflight_control::ControlProblem| error::input(&problem.to_string());
        let faults = Arc::new(Faults::default());
        let made = startup::with(&faults, || Control::named(control));
        let mut control = made.map_err(refused)?;
        // The receiver acknowledges every other packet, and packets are paced.
        control.suggest_weights_per_packet();
        let (control, missing) = control.on("aioquic", PROVIDES).map_err(refused)?;
        let full = control.full.clone();
        let recorder = checks.then(|| {
            let first = Bytes(FIRST_PACKETS * mss);
            let recorder = Recorder::around(control.startup.clone(), PROVIDES).in_bursts_of(first);
            paced.map_or(recorder.clone(), |rate| recorder.paced(Rate(rate)))
        });
        let policies: Policies = match recorder.clone() {
            Some(recorder) => Box::new(Pair::new(recorder, control.avoidance)),
            None => Box::new(control.policies()),
        };
        let config = calls::firstflight_quic(mss);
        let config = Config { provides: PROVIDES.bits(), own_pacer: OWN_PACER, ..config };
        config.check().map_err(wrong)?;
        Ok(Self {
            adapter: Adapter::new(policies, &config),
            faults,
            recorder,
            control: full,
            missing: missing.words().collect(),
            paced: paced.is_some(),
            in_flight: 0,
            reported: 0,
            begun: false,
            shaken: false,
            newest: None,
            rests: None,
            now: 0,
        })
    }

    /// A packet of the handshake was acknowledged after so long, before data left.
    fn on_handshake(&mut self, now: f64, rtt: f64) -> PyResult<()> {
        let now = self.at(now);
        let rtt = nanoseconds(rtt);
        if self.begun || rtt == 0 || std::mem::replace(&mut self.shaken, true) {
            return Ok(());
        }
        let answer = self.adapter.on_handshake(now, rtt);
        self.done(answer)
    }

    /// A packet leaves; the first one begins.
    fn on_sent(&mut self, now: f64, bytes: u64) -> PyResult<Left> {
        let now = self.at(now);
        if !std::mem::replace(&mut self.begun, true) {
            let begun = self.adapter.begin(now);
            self.done(begun)?;
        }
        if let Some(idle) = self.rests.take().map(|since| now - since).filter(|idle| *idle > 0) {
            let answer = self.adapter.on_rest(now, idle, None);
            self.done(answer)?;
        }
        self.in_flight += bytes;
        let sent = Sent { now, bytes, in_flight: self.in_flight, ..Sent::default() };
        let mut state = Packet::default();
        let answer = self.adapter.on_sent(&sent, Some(&mut state));
        self.done(answer)?;
        self.reported += 1;
        Ok(Left { number: self.reported, bytes, state })
    }

    /// An ACK frame acknowledges a packet; what it does comes with `on_frame`.
    fn on_acked(&mut self, left: &Left) -> PyResult<()> {
        self.in_flight -= left.bytes.min(self.in_flight);
        if self.newest.is_none_or(|(number, _)| number < left.number) {
            self.newest = Some((left.number, left.state));
        }
        let answer = self.adapter.on_packet_acked(left.state.sent_at, left.bytes);
        self.done(answer)
    }

    /// All packets of a frame have been reported. `rtt` is aioquic's sample, if it took one.
    #[pyo3(signature = (now, rtt=None))]
    fn on_frame(&mut self, now: f64, rtt: Option<f64>) -> PyResult<()> {
        let now = self.at(now);
        let Some((_, state)) = self.newest.take() else { return Ok(()) };
        let took = now - state.sent_at.min(now);
        // It may be of a packet that is nothing but an ACK, which is not reported.
        let ours = rtt.is_some_and(|rtt| nanoseconds(rtt).abs_diff(took) <= 1_000);
        let ack = Ack {
            now,
            acked: 0,
            credited: 0,
            in_flight: self.in_flight,
            snd_nxt: 0,
            rtt: if ours { took } else { 0 },
            marked: 0,
            packet: std::ptr::null(),
            sample_delivered: 0,
            sample_interval: 0,
            sample_app_limited: 0,
            app_limited: 0,
        };
        // aioquic does not tell whether there is more to send. If there is, it leaves at once.
        self.rests = (self.in_flight == 0).then_some(now);
        let answer = self.adapter.on_frame(&ack, Some(&state));
        self.done(answer)
    }

    /// Packets were found lost, in the order in which they had left.
    fn on_lost(&mut self, now: f64, packets: Vec<PyRef<'_, Left>>) -> PyResult<()> {
        let now = self.at(now);
        let Some(last) = packets.last() else { return Ok(()) };
        let lost = packets.iter().map(|packet| packet.bytes).sum::<u64>();
        let apart = packets.windows(2).filter(|pair| pair[0].number + 1 != pair[1].number).count();
        self.in_flight -= lost.min(self.in_flight);
        let loss = Loss {
            now,
            kind: FIRSTFLIGHT_RECOVERY,
            lost,
            gaps: u32::try_from(apart + 1).unwrap_or(u32::MAX),
            sent_at: last.state.sent_at,
            ..Loss::default()
        };
        let answer = self.adapter.on_loss(&loss);
        self.done(answer)
    }

    /// The losses before were persistent congestion.
    fn on_persistent_congestion(&mut self) -> PyResult<()> {
        if !self.begun {
            return Ok(());
        }
        let loss = Loss { now: self.now, kind: FIRSTFLIGHT_TIMEOUT, ..Loss::default() };
        let answer = self.adapter.on_loss(&loss);
        self.done(answer)
    }

    /// aioquic no longer waits for an ACK of a packet, and does not call it lost.
    fn on_expired(&mut self, left: &Left) {
        self.in_flight -= left.bytes.min(self.in_flight);
    }

    /// Bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.adapter.sender().cwnd().0
    }

    /// Bytes; `None` until something sets it.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        let ssthresh = self.adapter.sender().ssthresh();
        (ssthresh != Bytes::MAX).then_some(ssthresh.0)
    }

    /// The rate that the control sets for the next packet, bytes per second, and what may leave at
    /// once, bytes; `None` where it sets none.
    #[getter]
    fn pacing(&self) -> Option<(u64, u64)> {
        let pacing = self.adapter.pacing();
        let rate = if pacing.first_bytes > 0 { pacing.first_rate } else { pacing.rate };
        (rate > 0).then_some((rate, pacing.burst))
    }

    /// How the first start-up ended: why, when, and the window just before.
    #[getter]
    fn exit(&self) -> Option<(&'static str, f64, u64)> {
        let exit = self.adapter.exit()?;
        Some((exit.why.name(), exit.at.0 as f64 / 1e9, exit.cwnd.0))
    }

    /// What aioquic reported, and what was wrong with it, of a sender that checks.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let report = recorder.report();
        let only = |one: Facilities, seen: bool| if seen { one } else { Facilities::NONE };
        let always = Facilities::TIMES | Facilities::RATES | Facilities::PACKETS | Facilities::SENT;
        let occasion = always
            | only(Facilities::GAPS, report.losses > 0)
            | only(Facilities::RECOVERY_WINDOW, report.recovery_steps > 0)
            | only(Facilities::PACING, self.paced);
        let dict = PyDict::new(py);
        dict.set_item("wrong", report.check(occasion).err())?;
        for (key, value) in [
            ("begins", report.begins),
            ("handshakes", report.handshakes),
            ("sent", report.sent.0),
            ("acks", report.acks),
            ("ack_parts", report.ack_parts),
            ("acked", report.acked.0),
            ("credited", report.credited.0),
            ("rtts", report.rtts),
            ("lost", report.lost.0),
            ("losses", report.losses),
            ("gaps", report.gaps),
            ("recovery_steps", report.recovery_steps),
        ] {
            dict.set_item(key, value)?;
        }
        Ok(Some(dict))
    }
}

impl Sender {
    /// In nanoseconds, on a clock that never goes back.
    fn at(&mut self, seconds: f64) -> u64 {
        self.now = self.now.max(nanoseconds(seconds));
        self.now
    }

    /// What the adapter answered, and what went wrong in a start-up that is written in Python.
    fn done(&self, answer: Result<(), Error>) -> PyResult<()> {
        answer.map_err(wrong)?;
        self.faults.take().map_or(Ok(()), Err)
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn wrong(problem: Error) -> PyErr {
    error::input(&format!("aioquic told what cannot be: {problem:?}"))
}
