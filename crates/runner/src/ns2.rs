//! What is particular to ns-2.35's agents and not to any protocol: details of its Vegas agent, and
//! the phases of its agents' clocks.
//!
//! Every TCP agent of ns-2 sees time in ticks whose phase it draws at random, from a generator that
//! starts the same in every run. Where several flows time out, the phases decide results. The draws
//! below were read from ns-2.35 itself.

use firstflight_control::Control;
use firstflight_core::units::Span;
use firstflight_scenario::{Profile, Resolved};
use firstflight_sim::ACK_BYTES;

/// Makes a control what ns-2.35's agent of that name is. Its Vegas takes its SYN for the first
/// round, which holds, but not for an RTT sample; so its first round of data grows whatever the
/// handshake said. Its Hoe is an option of its NewReno agent.
pub(crate) fn adapt(control: &mut Control) {
    control.suggest_avoidance("sums", "double");
    match control.startup_name {
        "vegas" => control.suggest_startup("first", "grows"),
        "hoe" => control.suggest_startup("preset", "ns2"),
        _ => {}
    }
}

/// ns-2.35's Vegas sends its SYN as large as data; everybody else as large as an ACK.
pub(crate) fn syn_bytes(resolved: &Resolved, control: &Control) -> u64 {
    if resolved.endpoint.profile == Profile::Ns2 && control.startup_name == "vegas" {
        resolved.wire_bytes()
    } else {
        ACK_BYTES
    }
}

/// The phase of the clock of flow `id` among `flows`. An agent draws when it is made and again when
/// the run starts; a Vegas agent draws twice when it is made. Later flows than were read reuse
/// draws.
pub(crate) fn clock_phase(id: usize, flows: usize, vegas: bool) -> Span {
    let made = flows.saturating_mul(if vegas { 2 } else { 1 });
    let place = RESET_ORDER
        .get(flows.saturating_sub(1))
        .and_then(|order| order.iter().position(|flow| *flow == id))
        .unwrap_or(id);
    Span(DRAWS_NS[made.saturating_add(place) % DRAWS_NS.len()])
}

/// The order in which ns-2 resets the agents of one to ten flows when the run starts: that of its
/// nodes in a hash table.
const RESET_ORDER: [&[usize]; 10] = [
    &[0],
    &[1, 0],
    &[1, 2, 0],
    &[3, 1, 2, 0],
    &[0, 1, 2, 3, 4],
    &[0, 1, 2, 3, 4, 5],
    &[0, 1, 2, 3, 4, 5, 6],
    &[0, 1, 2, 3, 4, 5, 6, 7],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8],
    &[8, 9, 0, 1, 2, 3, 4, 5, 6, 7],
];

/// The first draws, in nanoseconds of a 10 ms tick.
const DRAWS_NS: [u64; 24] = [
    3_396, 5_558_807, 142_047, 881_227, 4_411_734, 7_991_555, 3_129_618, 8_164_761, 2_346_018,
    6_388_651, 3_090_791, 8_363_235, 1_641_454, 427_946, 6_400_677, 1_138_082, 8_597_277,
    4_236_567, 1_748_053, 941_389, 8_070_286, 3_487_410, 2_580_879, 4_086_857,
];
