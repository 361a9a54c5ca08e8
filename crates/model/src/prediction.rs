//! The model applied to one path: numbers and advice.

use serde::Serialize;

use crate::advice::advice;
use crate::aggressiveness::Aggressiveness;
use crate::error::ModelError;
use crate::mini_cycle::MiniCycle;
use crate::packets::{Packets, float, whole};
use crate::slow_start::{SlowStart, bdp};
use crate::startups::{StartupFit, fits};

/// What is known of a path and of the endpoints on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Bottleneck rate, in bits per second.
    pub rate_bps: u64,
    /// Round trip of an empty path, in nanoseconds.
    pub rtt_ns: u64,
    /// What a full packet takes on the link, in bytes.
    pub wire_bytes: u64,
    /// Payload of a full packet, in bytes: the unit of windows.
    pub payload_bytes: u64,
    /// Packets that can wait at the bottleneck besides the one being sent.
    pub buffer_packets: u64,
    /// Initial ssthresh, in bytes; `None` is none.
    pub ssthresh_bytes: Option<u64>,
    /// Initial window, in bytes; counted in whole packets, at least one.
    pub initial_window_bytes: u64,
    /// Packets that an ACK stands for and is counted as one: one where slow start grows by all that
    /// an ACK acknowledges.
    pub packets_per_ack: u64,
    /// Flows on the path.
    pub flows: u64,
    /// What the flow has to send, in bytes; `None` is without end.
    pub transfer_bytes: Option<u64>,
}

/// What the model says about a path. Windows are in packets, and about one flow alone unless they
/// say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prediction {
    /// `mu*T`, the bandwidth-delay product, in packets.
    pub bdp_packets: f64,
    /// `W_B` of Theorem 1: the window at which slow start overflows the buffer.
    pub overflow_window_packets: f64,
    /// `W_B` of equation 4, which no first window undercuts.
    pub overflow_window_approx_packets: f64,
    /// `W_D` of equation 5: the window when the overflow is noticed. Where nothing overflows, the
    /// ssthresh, at which slow start ends.
    pub detection_window_packets: f64,
    /// ssthresh once the losses of slow start are over: `W_D/8`. Where nothing overflows,
    /// unchanged.
    pub threshold_after_packets: f64,
    /// The largest whole ssthresh that overflows nothing: by Corollary 1 with an ACK per packet, by
    /// equation 4 with fewer, whose rounds are not those of the theorem. With several flows, half
    /// of the largest overflow window among them, where the paper sees throughput begin to fall.
    pub safe_ssthresh_packets: f64,
    /// The path is full before the buffer overflows: `B >= mu*T/d`.
    pub fills_pipe: bool,
    /// What the numbers mean, in plain words.
    pub advice: String,
    /// Slow start up to the given ssthresh overflows the buffer.
    pub overflows: bool,
    /// `d`: packets acknowledged per packet of growth.
    pub d: f64,
    /// Growth per round trip, `(d + 1)/d`.
    pub alpha: f64,
    /// `B`, the packets that can wait at the bottleneck.
    pub buffer_packets: u64,
    /// Initial window.
    pub initial_window_packets: u64,
    /// The given ssthresh; `None` is none.
    pub ssthresh_packets: Option<f64>,
    /// Flows on the path.
    pub flows: u64,
    /// The largest whole ssthresh below equation 4: safe however the rounds fall.
    pub robust_ssthresh_packets: f64,
    /// `W_D/4`: ssthresh if duplicate ACKs show the first loss only. Where nothing overflows,
    /// unchanged.
    pub threshold_after_one_fast_retransmit_packets: f64,
    /// Packets lost before the overflow is noticed. We derived it; the paper gives no number.
    pub expected_losses_packets: f64,
    /// When `W_B` is reached, from the first packet on, in seconds.
    pub overflow_after_s: f64,
    /// Packets sent when `W_B` is reached.
    pub overflow_after_packets: f64,
    /// The smallest whole d with which the given ssthresh is safe; `None` without one, or if the
    /// path and its buffer do not hold that much.
    pub least_safe_d: Option<u64>,
    /// The smallest whole d with which the path is full before the buffer overflows; `None` if
    /// nothing can wait.
    pub least_pipe_filling_d: Option<u64>,
    /// From this buffer on slow start fills the path: `mu*T/d`.
    pub fills_pipe_from_buffer_packets: f64,
    /// Above this buffer an ssthresh of one BDP is safe: `mu*T/(d + 1)`.
    pub bdp_ssthresh_above_buffer_packets: f64,
    /// Above this buffer a flow that joins others does not overflow it early: `mu*T/(2d + 1)`.
    pub several_flows_above_buffer_packets: f64,
    /// The largest overflow window of a flow that joins others (equation 7).
    pub most_overflow_window_among_flows_packets: f64,
    /// The start-ups of the papers on this path.
    pub startups: Vec<StartupFit>,
    /// Slow start round by round, up to the overflow.
    pub rounds: Vec<MiniCycle>,
}

/// Applies the model to a path.
///
/// # Errors
/// A rate, a round trip or a size of zero; more packets per ACK than the model takes.
pub fn predict(conditions: &Conditions) -> Result<Prediction, ModelError> {
    let case = Case::new(conditions)?;
    let (model, threshold) = (&case.model, case.threshold.as_ref());
    let needs = model.buffer_needs();
    let rounds = model.mini_cycles();
    let float_of = |number| float(&Packets::from_integer(number));
    let mut prediction = Prediction {
        bdp_packets: float(model.bdp()),
        overflow_window_packets: float(&model.overflow_window()),
        overflow_window_approx_packets: float(&model.overflow_window_approx()),
        detection_window_packets: float(&model.detection_window(threshold)),
        threshold_after_packets: float(&model.threshold_after(threshold)),
        safe_ssthresh_packets: if case.joins_others() {
            (float(&model.most_overflow_window_among()) / 2.0).floor()
        } else if model.aggressiveness() == Aggressiveness::ONE {
            float_of(model.safe_threshold())
        } else {
            float_of(model.robust_threshold())
        },
        fills_pipe: model.fills_pipe(),
        advice: String::new(),
        overflows: model.overflows(threshold),
        d: float(&model.aggressiveness().d()),
        alpha: float(&model.aggressiveness().alpha()),
        buffer_packets: model.buffer(),
        initial_window_packets: model.initial_window(),
        ssthresh_packets: threshold.map(float),
        flows: conditions.flows,
        robust_ssthresh_packets: float_of(model.robust_threshold()),
        threshold_after_one_fast_retransmit_packets: float(
            &model.threshold_after_one_fast_retransmit(threshold),
        ),
        expected_losses_packets: float(&model.losses(threshold)),
        overflow_after_s: overflow_after_s(&case, &rounds),
        overflow_after_packets: float(&model.sent_at(&model.overflow_window())),
        least_safe_d: threshold.and_then(|threshold| model.least_safe_d(threshold)),
        least_pipe_filling_d: model.least_pipe_filling_d(),
        fills_pipe_from_buffer_packets: float(&needs.fills_pipe),
        bdp_ssthresh_above_buffer_packets: float(&needs.bdp_threshold),
        several_flows_above_buffer_packets: float(&needs.several_flows),
        most_overflow_window_among_flows_packets: float(&model.most_overflow_window_among()),
        startups: fits(&case),
        rounds,
    };
    prediction.advice = advice(&case, &prediction);
    Ok(prediction)
}

/// Whole mini-cycles before the last, and of the last what it takes to grow up to the overflow.
fn overflow_after_s(case: &Case, rounds: &[MiniCycle]) -> f64 {
    let Some((last, before)) = rounds.split_last() else { return 0.0 };
    let round_trips: f64 = before.iter().map(|round| round.round_trips).sum();
    let growth = (float(&case.model.overflow_window()) - last.from).max(0.0);
    let acked = growth * float(&case.model.aggressiveness().d());
    (round_trips + acked / float(case.model.bdp())) * case.rtt_s
}

/// A path as the model sees it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) model: SlowStart,
    pub(crate) threshold: Option<Packets>,
    pub(crate) packets_per_ack: u64,
    pub(crate) rtt_s: f64,
    pub(crate) flows: u64,
    pub(crate) transfer: Option<Packets>,
}

impl Case {
    fn new(conditions: &Conditions) -> Result<Self, ModelError> {
        let payload = conditions.payload_bytes;
        if payload == 0 {
            return Err(ModelError::Zero { key: "packet" });
        }
        let d = Aggressiveness::delayed_acks(conditions.packets_per_ack)?;
        let bdp = bdp(conditions.rate_bps, conditions.rtt_ns, conditions.wire_bytes)?;
        let in_packets = |bytes| whole(bytes) / whole(payload);
        let initial_window = (conditions.initial_window_bytes / payload).max(1);
        let model = SlowStart::new(bdp, conditions.buffer_packets, d);
        Ok(Self {
            model: model.with_initial_window(initial_window)?,
            threshold: conditions.ssthresh_bytes.map(in_packets),
            packets_per_ack: conditions.packets_per_ack,
            rtt_s: conditions.rtt_ns as f64 / 1e9,
            flows: conditions.flows,
            transfer: conditions.transfer_bytes.map(in_packets),
        })
    }

    /// Whether section 5 applies: a connection that joins others.
    pub(crate) fn joins_others(&self) -> bool {
        self.flows > 1
    }

    /// The window that must not be reached: Theorem 1, or among others equation 7.
    pub(crate) fn overflow_window(&self, model: &SlowStart) -> Packets {
        if self.joins_others() {
            model.most_overflow_window_among()
        } else {
            model.overflow_window()
        }
    }
}
