//! Which keys of a scenario have an effect on QUIC's flows. A key that only TCP has is refused, so
//! that nobody takes a result for that of a key without effect.

use firstflight_scenario::keys::Stack;
use firstflight_scenario::{Carrier, Complete, Profile, Recovery, complete};

/// Whether QUIC can do what the scenario says of this flow, and the constants of TCP that it sets
/// have a flow of TCP to hold for.
///
/// # Errors
/// The key that does not apply, what was found, and what is accepted over QUIC.
pub fn applies(complete: &Complete, flow: &complete::Flow) -> Result<(), String> {
    if flow.split_acks != 1 {
        let found = format!("split_acks = {}", flow.split_acks);
        return no("split_acks", &found, "1: a packet of QUIC is acknowledged whole");
    }
    if flow.recovery.given && flow.recovery.value != Recovery::Quic {
        let found = format!("recovery = \"{}\"", flow.recovery.value);
        return no("recovery", &found, "quic, or none: QUIC repairs by RFC 9002");
    }
    // The profile and its constants are those of TCP's endpoints, of which there may be some.
    if complete.flows.iter().any(|flow| flow.transport == Some(Carrier::Tcp)) {
        return Ok(());
    }
    constants(&complete.endpoint)
}

fn constants(endpoint: &complete::Endpoint) -> Result<(), String> {
    if endpoint.profile != Profile::default() && endpoint.profile != Profile::Quic {
        let found = format!("profile = \"{}\"", endpoint.profile);
        let none = "no profile: profiles are of TCP's endpoints, but quic, QUIC has constants of \
                    its own; iw and ssthresh can be set alone";
        return no("profile", &found, none);
    }
    let changed = endpoint.switches.changed(&endpoint.usual().switches);
    match changed.iter().find(|(key, found)| !key.support.allows(Stack::Quinn, found)) {
        Some((key, found)) => no(key.name, found, "none: a constant of TCP's endpoints"),
        None => Ok(()),
    }
}

fn no(key: &str, found: &str, accepted: &str) -> Result<(), String> {
    Err(format!("{key}: found {found}; accepted over QUIC: {accepted}"))
}

#[cfg(test)]
mod tests {
    use firstflight_scenario::Scenario;

    use super::*;

    fn judged(text: &str) -> Result<(), String> {
        let scenario = Scenario::parse(&format!("controls = ['hoe']\n{text}"), "test.toml");
        let complete = scenario.unwrap().complete().unwrap();
        complete.flows.iter().try_for_each(|flow| applies(&complete, flow))
    }

    #[test]
    fn what_is_tcps_is_refused_by_its_key() {
        for (text, key) in [
            ("split_acks = 2", "split_acks: found split_acks = 2"),
            ("recovery = 'sack'", "recovery: found recovery = \"sack\""),
            ("recovery = 'reno'", "recovery: found recovery = \"reno\""),
            ("profile = 'rfc'", "profile: found profile = \"rfc\""),
            ("profile = 'ns2'", "profile: found profile = \"ns2\""),
            ("syn = true\nfast_open = 'on'", "fast_open: found on"),
            ("rto_min = '1s'", "rto_min: "),
            ("growth_limit = false", "growth_limit: "),
            ("ack_compression = false", "ack_compression: "),
            ("ecn = true\necn_feedback = 'dctcp'", "ecn_feedback: found dctcp"),
            ("tso = true", "tso: found true"),
            ("pacing = true", "pacing: found true"),
        ] {
            let problem = judged(text).unwrap_err();
            assert!(problem.starts_with(key), "{text}: {problem}");
            assert!(problem.contains("accepted over QUIC: "), "{text}: {problem}");
        }
    }

    #[test]
    fn what_quinn_can_do_is_taken() {
        for text in [
            "",
            "recovery = 'quic'",
            "profile = 'quic'",
            "duplicate_acks = 4",
            "iw = '4pkt'",
            "delayed_ack = 2",
            "delayed_ack = 10\nquick_acks = false",
            "slow_start_after_idle = false",
            "ecn = true",
            "ecn = true\necn_feedback = 'accecn'",
            "[[flow]]\nfiles = { size = '1MB' }",
            "[[flow]]\nfiles = { size = '1MB', keep_alive = true }",
        ] {
            assert_eq!(judged(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn beside_a_flow_of_tcp_its_constants_have_a_meaning() {
        let flows = "[[flow]]\ntransport = 'tcp'\n[[flow]]\ntransport = 'quic'";
        assert_eq!(judged(&format!("profile = 'rfc'\n{flows}")), Ok(()));
        assert!(judged("profile = 'rfc'\n[[flow]]\ntransport = 'quic'").is_err());
    }
}
