//! What the closed-form model of slow start says of a path, and what the hosts at its ends need.

use firstflight_model::{Conditions, ModelError, Prediction};
use firstflight_runner::RunError;
use firstflight_scenario::{Complete, Loss, PathFlags, Recovery, Scenario, Size};
use serde::Serialize;

use crate::{Needed, json};

/// The answer of `predict`. Written, it is the document of `--json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Predicted {
    /// The path and its endpoints.
    #[serde(skip)]
    pub complete: Complete,
    /// What the model takes of them.
    #[serde(skip)]
    pub conditions: Conditions,
    /// The model's prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// What the hosts must allow.
    pub socket_buffers: Needed,
}

/// Predicts slow start on the path that the flags describe.
///
/// # Errors
/// A flag that is wrong, or what the model cannot be applied to.
pub fn predict(path: &PathFlags) -> Result<Predicted, RunError> {
    let scenario = Scenario::from_flags(path, &["slow-start".to_owned()])?;
    let complete = scenario.complete()?;
    let conditions = conditions(&complete);
    let prediction = firstflight_model::predict(&conditions).map_err(refused)?;
    let rtt_s = conditions.rtt_ns as f64 / 1e9;
    let size_bytes = conditions.transfer_bytes;
    Ok(Predicted {
        socket_buffers: Needed::of(conditions.rate_bps as f64, rtt_s, size_bytes),
        complete,
        conditions,
        prediction,
    })
}

impl Predicted {
    /// What the model does not know of the path, a sentence each.
    pub fn cautions(&self) -> Vec<String> {
        let link = &self.complete.links[0];
        let loss = "the model knows no random loss: --loss changes nothing; `firstflight advise` \
                    simulates it";
        let loss = (link.loss != Loss::default()).then(|| loss.to_owned());
        let queue = link.beyond_drop_tail().map(|key| {
            format!("the model knows a drop-tail buffer alone: --{key} changes nothing")
        });
        let pacing = "the model knows no pacing: --pacing changes nothing here";
        let pacing = self.complete.endpoint.switches.pacing.then(|| pacing.to_owned());
        [loss, queue, pacing].into_iter().flatten().collect()
    }

    /// The document of `--json`.
    ///
    /// # Errors
    /// A number that is none.
    pub fn to_json(&self) -> Result<String, RunError> {
        json(self)
    }
}

fn refused(error: ModelError) -> RunError {
    let flag = match error {
        ModelError::Aggressiveness { .. } => "--delayed-ack: ",
        ModelError::Zero { .. } => "",
    };
    RunError::Input(format!("{flag}{error}"))
}

/// What the model needs of the scenario that path flags make: one link, one group of flows.
fn conditions(complete: &Complete) -> Conditions {
    let (link, flow) = (&complete.links[0], &complete.flows[0]);
    let places = link.buffer.packets_of(complete.wire_bytes());
    // QUIC's senders count packets, whatever else is said.
    let quic = flow.recovery.value == Recovery::Quic;
    let counts_acks = complete.endpoint.switches.segment_per_ack && !quic;
    let in_service = u64::from(complete.endpoint.switches.buffer_counts_in_service);
    Conditions {
        rate_bps: link.rate.bps(),
        rtt_ns: flow.rtt.ns(),
        wire_bytes: complete.wire_bytes(),
        payload_bytes: complete.packet.bytes(),
        buffer_packets: places.saturating_sub(in_service),
        ssthresh_bytes: flow.ssthresh.value.map(Size::bytes),
        initial_window_bytes: flow.iw.value.bytes(),
        packets_per_ack: if counts_acks { flow.delayed_ack.value } else { 1 },
        flows: complete.flow_count(),
        transfer_bytes: flow.size.map(Size::bytes),
    }
}
