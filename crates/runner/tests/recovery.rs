//! `recovery` is a recovery: timer, receiver, pacing and the segments around data are keys of their
//! own, which the profile sets.

use firstflight_results::{FlowResult, RunResult};
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

/// A third of a BDP of buffer, and 6,000 packets.
fn result(control: &str, more: &str) -> RunResult {
    let text = format!(
        "controls = ['{control}']\nduration = '20s'\n{more}\n\
         [path]\nrate = '20Mbps'\nrtt = '300ms'\nbuffer = '0.3bdp'\n[[flow]]\nsize = '6MB'"
    );
    let scenario = Scenario::parse(&text, "x.toml").unwrap();
    run(&scenario, &Options::default()).unwrap().runs.remove(0).result
}

fn flow(control: &str, more: &str) -> FlowResult {
    result(control, more).flows.remove(0)
}

/// A recovery with nothing to repair.
fn lossless(recovery: &str) -> FlowResult {
    flow(
        "slow-start(ssthresh=300pkt)+newreno",
        &format!("delayed_ack = 2\nrecovery = '{recovery}'"),
    )
}

#[test]
fn a_recovery_changes_the_repair_of_losses_and_nothing_else() {
    let rack = lossless("rack");
    assert_eq!(rack.counts.retransmitted_packets, 0);
    for recovery in ["sack", "newreno", "reno", "tahoe"] {
        assert_eq!(lossless(recovery), rack, "{recovery}");
    }
    // Where something is lost it decides.
    let lossy = |recovery| flow("slow-start+newreno", &format!("recovery = '{recovery}'"));
    let rack = lossy("rack");
    assert!(rack.counts.retransmitted_packets > 0);
    assert_ne!(lossy("newreno"), rack);
}

#[test]
fn what_the_profile_sets_a_scenario_can_set_with_either_recovery() {
    for recovery in ["rack", "sack"] {
        let with = |control: &str, more: &str| {
            flow(control, &format!("delayed_ack = 2\nrecovery = '{recovery}'\n{more}"))
        };
        let usual = with("slow-start+newreno", "");
        for key in ["receiver = 'rfc5681'", "handshake_ack = false"] {
            assert_ne!(with("slow-start+newreno", key), usual, "{recovery}, {key}");
        }
        let own = with("paced", "pacer = 'exact'");
        assert_ne!(own, with("paced", ""), "{recovery}");
    }
}

/// The keys that the profile `linux` sets make an endpoint of Linux under any recovery.
#[test]
fn the_profile_is_what_its_keys_say() {
    let linux = "receiver = 'linux'\ntimer = 'linux'\npacer = 'linux'\nhandshake_ack = true\n\
                 fin = true\nwake_up = true\nrecovery = 'sack'";
    assert_eq!(flow("paced", linux), flow("paced", "recovery = 'sack'"));
}
