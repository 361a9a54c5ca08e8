//! What is particular to ns-2.35 and not to any protocol: details of its Vegas agent, and where its
//! ACKs wait. The phases of its agents' clocks are in [`crate::ns2_clocks`].

use firstflight_control::Control;
use firstflight_scenario::{Complete, Profile, complete};
use firstflight_sim::ACK_BYTES;

/// Makes a control what ns-2.35's agent of that name is. Its Vegas counts the SYN as the
/// first round, which holds the window, but takes no RTT sample of it, so that its first round of
/// data always grows. Its Hoe is an option of its NewReno agent.
pub(crate) fn adapt(control: &mut Control) {
    control.suggest_avoidance("sums", "double");
    match control.startup_name {
        "vegas" => control.suggest_startup("first", "grows"),
        "hoe" => control.suggest_startup("preset", "ns2"),
        _ => {}
    }
}

/// ns-2.35's Vegas sends its SYN as large as data; everybody else as large as an ACK.
pub(crate) fn syn_bytes(complete: &Complete, control: &Control) -> u64 {
    if complete.endpoint.profile == Profile::Ns2 && control.startup_name == "vegas" {
        complete.wire_bytes()
    } else {
        ACK_BYTES
    }
}

/// Whether ACKs wait for each other on the reverse path, as on ns-2's duplex links: those of
/// several flows do. Those of one flow are as far apart as its packets and do not, unless a timer
/// sends some.
pub(crate) fn acks_queue(complete: &Complete, flow: &complete::Flow) -> bool {
    let several = complete.flows.len() > 1 || flow.count > 1;
    let they_may_meet = several || flow.delayed_ack.value > 1;
    complete.endpoint.profile == Profile::Ns2 && they_may_meet
}
