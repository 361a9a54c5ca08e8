//! Which words of a scenario hold for a flow of quinn's. What is TCP's is refused rather than
//! ignored, so that nobody takes a result for that of a key that had no effect.

use firstflight_scenario::resolved::{ResolvedEndpoint, ResolvedFlow};
use firstflight_scenario::{Carrier, EcnFeedback, FastOpen, Profile, Recovery, Resolved, Scenario};

/// Whether quinn can do what the scenario says of this flow, and the constants of TCP that it sets
/// have a flow of TCP to hold for.
///
/// # Errors
/// The key that does not apply, what was found, and what is accepted over QUIC.
pub fn applies(resolved: &Resolved, flow: &ResolvedFlow) -> Result<(), String> {
    if flow.files.is_some_and(|files| files.keep_alive) {
        let accepted = "keep_alive = false: each file has a connection of its own";
        return no("files", "keep_alive = true", accepted);
    }
    if flow.split_acks != 1 {
        let found = format!("split_acks = {}", flow.split_acks);
        return no("split_acks", &found, "1: a packet of QUIC is acknowledged whole");
    }
    if flow.recovery.given && flow.recovery.value != Recovery::Quic {
        let found = format!("recovery = \"{}\"", flow.recovery.value);
        return no("recovery", &found, "quic, or none: quinn repairs by RFC 9002");
    }
    // The profile and its constants are those of TCP's endpoints, of which there may be some.
    if resolved.flows.iter().any(|flow| flow.transport == Some(Carrier::Tcp)) {
        return Ok(());
    }
    constants(&resolved.endpoint)
}

/// Whether the scenario gives no constant of TCP's endpoints, be it the usual one, where all flows
/// go over QUIC, so that none has a meaning.
///
/// # Errors
/// The first key that has no effect, and what is accepted over QUIC.
pub fn given(scenario: &Scenario) -> Result<(), String> {
    if scenario.groups().iter().any(|flow| flow.transport == Some(Carrier::Tcp)) {
        return Ok(());
    }
    let own = &scenario.endpoint;
    let keys = [
        ("syn", own.syn.is_some()),
        ("fast_open", own.fast_open.is_some()),
        ("rto_initial", own.rto_initial.is_some()),
        ("rto_min", own.rto_min.is_some()),
        ("rto_max", own.rto_max.is_some()),
        ("rto_granularity", own.rto_granularity.is_some()),
        ("delayed_ack_timer", own.delayed_ack_timer.is_some()),
        ("limited_transmit", own.limited_transmit.is_some()),
        ("impatient", own.impatient.is_some()),
        ("progress_ends_backoff", own.progress_ends_backoff.is_some()),
        ("ack_compression", own.ack_compression.is_some()),
        ("growth_limit", own.growth_limit.is_some()),
        ("slow_start_after_idle", own.slow_start_after_idle.is_some()),
        ("ecn_feedback", own.ecn_feedback.is_some()),
        ("pacing", own.pacing.is_some()),
        ("tso", own.tso.is_some()),
    ];
    match keys.iter().find(|(_, given)| *given) {
        Some((key, _)) => no(key, "a value", "none: a constant of TCP's endpoints, no effect here"),
        None => Ok(()),
    }
}

fn constants(endpoint: &ResolvedEndpoint) -> Result<(), String> {
    if endpoint.profile != Profile::default() && endpoint.profile != Profile::Quic {
        let found = format!("profile = \"{}\"", endpoint.profile);
        let none = "no profile: profiles are of TCP's endpoints, but quic, quinn has constants of \
                    its own; iw and ssthresh can be set alone";
        return no("profile", &found, none);
    }
    if endpoint.fast_open != FastOpen::Off {
        let found = format!("fast_open = \"{}\"", endpoint.fast_open);
        return no("fast_open", &found, "off: QUIC has a handshake of its own");
    }
    if endpoint.ecn_feedback != EcnFeedback::default() {
        let found = endpoint.ecn_feedback.to_string();
        return no("ecn_feedback", &found, "none: ACK frames of QUIC count marks");
    }
    if endpoint.tso {
        return no("tso", "true", "false: quinn hands packets over one by one here");
    }
    let usual = endpoint.profile.constants();
    if endpoint.pacing != usual.pacing {
        let found = endpoint.pacing.to_string();
        return no("pacing", &found, "none: quinn always paces, by a rule of its own");
    }
    let set = [
        ("rto_initial", endpoint.rto_initial_ns != usual.rto_initial.ns()),
        ("rto_min", endpoint.rto_min_ns != usual.rto_min.ns()),
        ("rto_max", endpoint.rto_max_ns != usual.rto_max.ns()),
        ("rto_granularity", endpoint.rto_granularity_ns != usual.rto_granularity.ns()),
        ("delayed_ack_timer", endpoint.delayed_ack_timer_ns != usual.delayed_ack_timer.ns()),
        ("limited_transmit", endpoint.limited_transmit != usual.limited_transmit),
        ("impatient", endpoint.impatient != usual.impatient),
        ("partial_deflation", endpoint.partial_deflation != usual.partial_deflation),
        ("ack_compression", endpoint.ack_compression != usual.ack_compression),
        ("quick_acks", endpoint.quick_acks != usual.quick_acks),
        ("slow_start_after_idle", endpoint.slow_start_after_idle != usual.slow_start_after_idle),
        ("growth_limit", endpoint.growth_limit != usual.growth_limit),
    ];
    match set.iter().find(|(_, differs)| *differs) {
        Some((key, _)) => no(key, "a value of its own", "none: a constant of TCP's endpoints"),
        None => Ok(()),
    }
}

fn no(key: &str, found: &str, accepted: &str) -> Result<(), String> {
    Err(format!("{key}: found {found}; accepted over QUIC: {accepted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Result<(), String> {
        let scenario = Scenario::parse(&format!("controls = ['hoe']\n{text}"), "test.toml");
        let resolved = scenario.unwrap().resolve().unwrap();
        resolved.flows.iter().try_for_each(|flow| applies(&resolved, flow))
    }

    #[test]
    fn what_is_tcps_is_refused_by_its_key() {
        for (text, key) in [
            ("split_acks = 2", "split_acks: found split_acks = 2"),
            ("[[flow]]\nfiles = { size = '1MB', keep_alive = true }", "files: found keep_alive"),
            ("recovery = 'sack'", "recovery: found recovery = \"sack\""),
            ("recovery = 'reno'", "recovery: found recovery = \"reno\""),
            ("profile = 'rfc'", "profile: found profile = \"rfc\""),
            ("profile = 'ns2'", "profile: found profile = \"ns2\""),
            ("syn = true\nfast_open = 'on'", "fast_open: found fast_open = \"on\""),
            ("rto_min = '1s'", "rto_min: "),
            ("growth_limit = false", "growth_limit: "),
            ("ack_compression = false", "ack_compression: "),
            ("quick_acks = false", "quick_acks: "),
            ("ecn = true\necn_feedback = 'accecn'", "ecn_feedback: found accecn"),
            ("tso = true", "tso: found true"),
            ("slow_start_after_idle = false", "slow_start_after_idle: "),
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
            "ecn = true",
            "[[flow]]\nfiles = { size = '1MB' }",
        ] {
            assert_eq!(judged(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_constant_of_tcp_is_refused_even_where_it_is_the_usual_one() {
        let judged = |text: &str| {
            let text = format!("controls = ['hoe']\n{text}");
            given(&Scenario::parse(&text, "test.toml").unwrap())
        };
        let usual = ["syn = true", "pacing = false", "tso = false", "rto_min = '200ms'"];
        for text in usual {
            let key = text.split(' ').next().unwrap();
            let problem = judged(text).unwrap_err();
            assert!(problem.starts_with(&format!("{key}: found a value; ")), "{problem}");
        }
        assert_eq!(judged("profile = 'quic'\nrecovery = 'quic'\ndelayed_ack = 2"), Ok(()));
        assert_eq!(judged("syn = true\n[[flow]]\ntransport = 'tcp'"), Ok(()));
    }

    #[test]
    fn beside_a_flow_of_tcp_its_constants_have_a_meaning() {
        let flows = "[[flow]]\ntransport = 'tcp'\n[[flow]]\ntransport = 'quic'";
        assert_eq!(judged(&format!("profile = 'rfc'\n{flows}")), Ok(()));
        assert!(judged("profile = 'rfc'\n[[flow]]\ntransport = 'quic'").is_err());
    }
}
