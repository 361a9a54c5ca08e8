//! Points at which a detail of ns-2.35 decides, with what ns-2.35 gives there. `cargo xtask oracle`
//! runs these and many more in ns-2 itself; here they are held where it is not installed.

use firstflight_results::RunResult;
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

fn at(scenario: &str) -> RunResult {
    let text = format!("profile = 'ns2'\n{scenario}");
    let scenario = Scenario::parse(&text, "ns2.toml").unwrap();
    run(&scenario, &Options::default()).unwrap().runs[0].result.clone()
}

/// Drops at the bottleneck, packets sent again and timeouts, and what arrived, in packets.
fn counts(result: &RunResult) -> [u64; 4] {
    let sum = |count: fn(&firstflight_results::FlowResult) -> u64| -> u64 {
        result.flows.iter().map(count).sum()
    };
    [
        result.bottleneck.drops,
        sum(|flow| flow.counts.retransmitted_packets),
        sum(|flow| flow.counts.timeouts),
        sum(|flow| flow.delivered_packets),
    ]
}

/// A packet comes 100 ms after one whose ACK is held for 100 ms: the timer goes first, and the
/// packet begins a wait of its own. Otherwise Vegas leaves slow start a round later and has 24.6 %.
#[test]
fn a_held_ack_goes_before_the_packet_that_comes_as_its_time_is_up() {
    let result = at("controls = ['vegas']\nduration = '28s'\npacket = '1460B'\niw = '2pkt'\n\
        ssthresh = 'none'\nlimited_transmit = false\ndelayed_ack = 2\n[path]\nrate = '17.2Mbps'\n\
        rtt = '483.256ms'\nbuffer = '408pkt'\naccess_delay = '0.686ms'\naccess_rate = '172Mbps'");
    assert_eq!(counts(&result), [0, 0, 0, 7219]);
}

/// Duplicate ACKs from before a timeout still count after it, so that no packet leaves by limited
/// transmit then. Otherwise the third flow has a timeout, and 27 % of the link is used.
#[test]
fn tahoe_goes_on_counting_duplicate_acks_after_a_timeout() {
    let flows = [
        (2.82, 45.676, 8.629),
        (1.595, 16.812, 11.562),
        (8.178, 19.755, 38.465),
        (4.233, 30.184, 25.098),
    ];
    let flow = |(start, delay, rate): (f64, f64, f64)| {
        format!(
            "\n[[flow]]\nstart = '{start}s'\naccess_delay = '{delay}ms'\naccess_rate = '{rate}Mbps'"
        )
    };
    let flows: String = flows.into_iter().map(flow).collect();
    let result = at(&format!(
        "controls = ['tahoe']\nduration = '33s'\npacket = '576B'\niw = '10pkt'\n\
        ssthresh = 'none'\n[path]\nrate = '5.64Mbps'\nrtt = '226.676ms'\nbuffer = '148pkt'{flows}"
    ));
    assert_eq!(counts(&result), [842, 1787, 4, 26299]);
}

/// A duplicate ACK that an old packet causes repeats its blocks. They are new to a scoreboard that
/// an ACK of new data has emptied, so the ACK counts, and a packet leaves by limited transmit.
#[test]
fn repeated_blocks_are_new_to_an_emptied_scoreboard() {
    let result = at("controls = ['newreno']\nrecovery = 'sack'\nduration = '60s'\n\
        packet = '1000B'\niw = '1pkt'\nssthresh = '183pkt'\n[path]\nrate = '1.15Mbps'\n\
        rtt = '287ms'\nbuffer = '17pkt'\naccess_rate = '11.5Mbps'");
    assert_eq!(counts(&result), [46, 107, 2, 6968]);
}

/// TCP/Linux finds losses by its timer alone, and its CUBIC counts ACKs: of 60 s with delayed ACKs
/// over a buffer of six packets no drop differs.
#[test]
fn tcp_linux_waits_for_its_timer() {
    let result = at("controls = ['cubic(preset=ns2)']\nrecovery = 'ns2-linux'\nduration = '60s'\n\
        packet = '1000B'\niw = '10pkt'\nssthresh = 'none'\ndelayed_ack = 2\n[path]\n\
        rate = '2.22Mbps'\nrtt = '49.38ms'\nbuffer = '6pkt'\naccess_delay = '8.38ms'\n\
        access_rate = '1000Mbps'");
    assert_eq!(counts(&result), [39, 50, 28, 9455]);
    assert_eq!(result.flows[0].counts.fast_retransmits, 0);
}

/// The phase of its clock is drawn in ticks of ten milliseconds, before a control makes them one:
/// two flows for 60 s over a buffer of six packets. With phases of a tenth there are 32 drops and
/// 28 timeouts, and 84.2 % of the path instead of 87.5.
#[test]
fn tcp_linux_draws_its_phase_in_longer_ticks() {
    let result = at("controls = ['cubic(preset=ns2)']\nrecovery = 'ns2-linux'\nduration = '60s'\n\
        packet = '1200B'\niw = '2pkt'\nssthresh = '7pkt'\ndelayed_ack = 2\n[path]\n\
        rate = '0.511Mbps'\nrtt = '80.008ms'\nbuffer = '6pkt'\naccess_delay = '14.998ms'\n\
        access_rate = '1000Mbps'\n[[flow]]\naccess_delay = '17.468ms'\n\
        access_rate = '1.359Mbps'\n[[flow]]\naccess_delay = '29.181ms'\n\
        access_rate = '1.359Mbps'");
    assert_eq!(counts(&result), [33, 37, 27, 2794]);
}
