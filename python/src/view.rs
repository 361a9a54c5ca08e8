//! What a start-up in Python sees, and how its answers are read.

use firstflight_core::event::Ack;
use firstflight_core::policy::Step;
use firstflight_core::units::{Bytes, Rate, Span};
use firstflight_core::view::View as Seen;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

use crate::error::{input, shown};
use crate::startup::LEAVES;

/// The connection as a start-up sees it; windows in packets, times in seconds.
#[pyclass(frozen, module = "firstflight")]
pub(crate) struct View {
    seen: Seen,
    acked: Bytes,
    rtt: Option<Span>,
    event: &'static str,
}

impl View {
    pub(crate) fn new(seen: &Seen, ack: &Ack, event: &'static str) -> Self {
        Self { seen: *seen, acked: ack.acked, rtt: ack.rtt, event }
    }

    fn packets(&self, bytes: Bytes) -> f64 {
        bytes.0 as f64 / self.seen.mss.0.max(1) as f64
    }
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

/// Before the first sample it is zero or the largest there is.
fn known(span: Span) -> Option<f64> {
    (span != Span(0) && span != Span::MAX).then(|| seconds(span))
}

#[pymethods]
impl View {
    /// Time of the event, seconds of the run.
    #[getter]
    fn now_s(&self) -> f64 {
        self.seen.now.0 as f64 / 1e9
    }

    /// cwnd, packets.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.packets(self.seen.window.cwnd)
    }

    /// ssthresh, packets; infinite until something sets it.
    #[getter]
    fn ssthresh(&self) -> f64 {
        match self.seen.window.ssthresh {
            Bytes::MAX => f64::INFINITY,
            bytes => self.packets(bytes),
        }
    }

    /// Largest payload of a segment, bytes.
    #[getter]
    fn mss_bytes(&self) -> u64 {
        self.seen.mss.0
    }

    /// What this ACK acknowledges for the first time, packets; 0 where there is no ACK.
    #[getter]
    fn acked(&self) -> f64 {
        self.packets(self.acked)
    }

    /// The RTT sample of this ACK, seconds; None without one.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.rtt.map(seconds)
    }

    /// The smallest RTT so far, seconds; None before the first sample.
    #[getter]
    fn rtt_min_s(&self) -> Option<f64> {
        known(self.seen.rtt.min)
    }

    /// The smoothed RTT (RFC 6298, gain 1/8), seconds; None before the first sample.
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        known(self.seen.rtt.smoothed)
    }

    /// In flight, packets.
    #[getter]
    fn in_flight(&self) -> f64 {
        self.packets(self.seen.in_flight)
    }

    /// Delivered since the connection began, packets.
    #[getter]
    fn delivered(&self) -> f64 {
        self.packets(self.seen.delivered)
    }

    /// Sent since the connection began, retransmissions included, packets.
    #[getter]
    fn sent(&self) -> f64 {
        self.packets(self.seen.sent)
    }

    /// Round trips begun.
    #[getter]
    fn round(&self) -> u64 {
        self.seen.round
    }

    /// Whether this ACK is the first of its round.
    #[getter]
    fn round_start(&self) -> bool {
        self.seen.round_start
    }

    /// What a loss is: "loss", "timeout" or "mark"; empty where there is none.
    #[getter]
    fn event(&self) -> &'static str {
        self.event
    }

    fn __repr__(&self) -> String {
        let (now, cwnd, ssthresh) = (self.now_s(), self.cwnd(), self.ssthresh());
        format!(
            "<View at {now} s: cwnd {cwnd}, ssthresh {ssthresh}, in flight {}>",
            self.in_flight()
        )
    }
}

/// An answer as a step of the core: a number is the new cwnd, in packets, and a `Step` says more.
pub(crate) fn step(py: Python<'_>, answer: &Bound<'_, PyAny>, seen: &Seen) -> PyResult<Step> {
    if is_number(answer) {
        let mut step = seen.window.hold();
        step.window.cwnd = window("a window", answer, seen)?;
        return Ok(step);
    }
    let attribute = |name: &str| answer.getattr(name).ok();
    let all =
        (attribute("cwnd"), attribute("ssthresh"), attribute("pacing_bps"), attribute("leave"));
    let (Some(cwnd), Some(ssthresh), Some(pacing), Some(leave)) = all else {
        return Err(input(&format!("returned {}; accepted: {ACCEPTED}", shown(answer))));
    };
    let mut step = seen.window.hold();
    if !cwnd.is_none() {
        step.window.cwnd = window("cwnd =", &cwnd, seen)?;
    }
    if !ssthresh.is_none() {
        step.window.ssthresh = window("ssthresh =", &ssthresh, seen)?;
    }
    if !pacing.is_none() {
        let bps = number("pacing_bps =", &pacing, MOST_BPS)?;
        step = step.paced(Rate((bps / 8.0) as u64));
    }
    let _ = py;
    Ok(if leave.is_truthy()? { step.exit(LEAVES) } else { step })
}

fn is_number(value: &Bound<'_, PyAny>) -> bool {
    let numeric = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
    numeric && !value.is_instance_of::<PyBool>()
}

fn window(what: &str, value: &Bound<'_, PyAny>, seen: &Seen) -> PyResult<Bytes> {
    let packets = number(what, value, MOST_PACKETS)?;
    Ok(Bytes((packets * seen.mss.0 as f64) as u64))
}

fn number(what: &str, value: &Bound<'_, PyAny>, most: f64) -> PyResult<f64> {
    let number = value.extract::<f64>().ok().filter(|_| is_number(value));
    match number.filter(|number| (0.0..=most).contains(number)) {
        Some(number) => Ok(number),
        None => Err(input(&format!("returned {what} {}; accepted: {ACCEPTED}", shown(value)))),
    }
}

const ACCEPTED: &str = "None, the new cwnd in packets (0 to 1e9), or a Step (ssthresh in packets \
    too, pacing_bps 0 to 1e13)";
const MOST_PACKETS: f64 = 1e9;
const MOST_BPS: f64 = 1e13;
