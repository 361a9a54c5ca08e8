//! What a link does besides sending packets: how it is read, completed and named, and every
//! refusal.

use firstflight_scenario::{Complete, Scenario};

/// The complete scenario, which is equal after it has been written and read again.
fn equal_when_written_again(text: &str) -> Complete {
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let again = Scenario::parse(&scenario.to_toml(), "x.toml").unwrap();
    let complete = scenario.complete().unwrap();
    assert_eq!(complete, again.complete().unwrap());
    complete
}

/// What results say of the link behind its losses.
fn elements_of(complete: &Complete) -> String {
    let link = serde_json::to_string(&complete.links[0]).unwrap();
    format!("{{{}", link.split_once("\"drop\":[],").unwrap().1)
}

#[test]
fn what_else_a_link_does_is_read_completed_and_said() {
    let text = "[path]\njitter = '2ms'\nwifi = '7ms'\n\
        policer = { rate = '10Mbps', bucket = '64kB' }\n\
        rates = [{ rate = '8Mbps' }, { at = '2s', rate = 'none' }]\nrates_period = '3s'";
    let complete = equal_when_written_again(text);
    let elements = elements_of(&complete);
    assert_eq!(
        elements,
        "{\"jitter_ns\":2000000,\"wifi_ns\":7000000,\
         \"policer\":{\"rate_bps\":10000000,\"bucket_bytes\":64000},\
         \"rates\":[{\"at_ns\":0,\"rate_bps\":8000000},{\"at_ns\":2000000000,\"rate_bps\":0}],\
         \"rates_period_ns\":3000000000}"
    );
    let words: Vec<String> = complete.links[0].words().collect();
    let policer = "policer of 10Mbps and 64KB";
    let expected = ["jitter up to 2ms", "WiFi of 7ms", policer, "2 rates in turn"];
    assert_eq!(words, expected);
    assert!(complete.path().contains("WiFi of 7ms"), "{}", complete.path());
}

#[test]
fn delays_jitter_and_the_way_back_are_read_completed_and_said() {
    let text = "[path]\nrate = '10Mbps'\nrtt = '100ms'\njitter = 'normal:20ms,5ms'\n\
        delays = [{ delay = '15ms' }, { at = '1s', delay = '50ms' }]\ndelays_period = '3s'\n\
        reorder = { share = '1%', by = '3ms' }\nrelease = '5ms'\n\
        [path.back]\nrate = '100kbps'\nbuffer = '1bdp'\nloss = '1%'\n\
        jitter = 'uniform:1ms,3ms'";
    let complete = equal_when_written_again(text);
    let elements = elements_of(&complete);
    assert_eq!(
        elements,
        "{\"jitter_normal_ns\":[20000000,5000000],\
         \"delays\":[{\"at_ns\":0,\"delay_ns\":15000000},\
         {\"at_ns\":1000000000,\"delay_ns\":50000000}],\"delays_period_ns\":3000000000,\
         \"reorder\":{\"share_ppb\":10000000,\"by_ns\":3000000},\"release_ns\":5000000,\
         \"back\":{\"rate_bps\":100000,\"buffer\":{\"bytes\":1250},\"loss_ppb\":10000000,\
         \"jitter_uniform_ns\":[1000000,3000000]}}"
    );
    let words: Vec<String> = complete.links[0].words().collect();
    let expected = [
        "normal jitter of 20ms with deviation 5ms",
        "2 delays in turn",
        "1% later by 3ms",
        "released every 5ms",
        "back at 100kbps with loss 1% with jitter of 1ms to 3ms",
    ];
    assert_eq!(words, expected);
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (text, expected) in REFUSED {
        let read = Scenario::parse(text, "x.toml").and_then(|scenario| scenario.complete());
        assert_eq!(read.unwrap_err().to_string(), *expected, "for {text:?}");
    }
}

const REFUSED: &[(&str, &str)] = &[
    (
        "[path]\nrates = [{ rate = '1Mbps' }]\nrates_period = '2ns'",
        "x.toml:3: path.rates_period = \"2ns\": out of range; accepted: at least 100us, at most 1h",
    ),
    (
        "rto_min = '1ns'\nrto_max = '1ns'",
        "x.toml:1: rto_min = \"1ns\": out of range; accepted: at least 100us, at most 1h",
    ),
    (
        "[[udp]]\nrate='1Mbps'\non='1ns'\noff='1s'",
        "x.toml:3: udp[0].on = \"1ns\": out of range; accepted: at least 100us, at most 1h",
    ),
    (
        "[path]\npolicer = { rate = '1Mbps' }",
        "x.toml:2: path.policer: `bucket` is missing; accepted: bucket = \"64kB\"",
    ),
    (
        "[path]\nrates = [{ at = '1s' }]",
        "x.toml:2: path.rates[0]: `rate` is missing; accepted: rate = \"10Mbps\", or \"none\"",
    ),
    (
        "[path]\njitter = '0ms'",
        "x.toml:2: path.jitter = \"0ms\": out of range; accepted: more than 0s, at most 1h",
    ),
    (
        "[path]\npolicer = { rate = '1Mbps', bucket = '999B' }",
        "x.toml:2: path.policer.bucket = \"999B\": it holds no packet of 1000 bytes, so that none \
         would pass; accepted: one packet or more",
    ),
    (
        "[path]\nrates = [{ at = '1s', rate = '1Mbps' }]",
        "x.toml:2: path.rates = [a table]: times do not rise from 0s; accepted: `at` later than \
         the one before",
    ),
    (
        "[path]\nrates = [{ rate = 'none' }]",
        "x.toml:2: path.rates = [a table]: nothing would ever be sent; accepted: a rate above none",
    ),
    (
        "[path]\nrates = [{ rate = '1Mbps' }, { at = '2s', rate = 'none' }]\nrates_period = '2s'",
        "x.toml:3: path.rates_period = \"2s\": a step is not before its end; accepted: a longer \
         period",
    ),
    (
        "[path]\nrates_period = '2s'",
        "x.toml:2: path.rates_period = \"2s\": no rates repeat; accepted: `rates` beside it",
    ),
    (
        "[path]\njitter = 'normal:5ms'",
        "x.toml:2: path.jitter = \"normal:5ms\": no jitter; accepted: 2ms (up to), \
         uniform:1ms,3ms, normal:20ms,5ms (mean, deviation) or recorded:FILE",
    ),
    (
        "[path]\ndelays = [{ delay = '1ms' }, { delay = '2ms' }]",
        "x.toml:2: path.delays = [a table, a table]: times do not rise from 0s; accepted: `at` \
         later than the one before",
    ),
    (
        "[path]\nreorder = { share = '0%', by = '1ms' }",
        "x.toml:2: path.reorder.share = \"0%\": no packet would be late; accepted: more than 0%",
    ),
    (
        "[path]\nback = { delays = [{ delay = '1ms' }] }",
        "x.toml:2: path.back.delays = [a table]: not of a reverse path: those of the link hold for \
         both directions; accepted: without it",
    ),
    (
        "[[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'\nback={ rate='1Mbps' }\n\
         [[link]]\nname='b'\nrate='1Mbps'\ndelay='1ms'\ndelays=[{ delay='1ms' }]\n\
         [[flow]]\npath=['a','b']",
        "x.toml:10: link[1].delays = [a table]: a path has two links with `back` or `delays`; \
         accepted: one of them",
    ),
    (
        "[path]\nframing = { atm = false }",
        "x.toml:2: path.framing: it adds nothing; accepted: overhead, mpu or atm",
    ),
    (
        "[path]\nframing = { overhead = '1MB' }",
        "x.toml:2: path.framing.overhead = \"1MB\": out of range; accepted: 0B to 65535B",
    ),
    (
        "[path]\npolicer = { rate = '1Mbps', bucket = '1040B' }\nframing = { overhead = '42B' }",
        "x.toml:2: path.policer.bucket = \"1040B\": it holds no packet of 1042 bytes, so that none \
         would pass; accepted: one packet or more",
    ),
    (
        "delayed_ack = 4\nacks_per_rtt = 4",
        "x.toml:2: acks_per_rtt = 4: ACKs come by packets or by time; accepted: delayed_ack or \
         acks_per_rtt",
    ),
    (
        "[[flow]]\nsend_buffer = '999B'",
        "x.toml:2: flow[0].send_buffer = \"999B\": less than a packet of 1000B; accepted: 1pkt or \
         more",
    ),
    ("ack_size = '0B'", "x.toml:1: ack_size = \"0B\": out of range; accepted: 1B to 65535B"),
    (
        "[[flow]]\nreverse = true",
        "x.toml:2: flow[0].reverse = true: no link of its path has a rate in that direction; \
         accepted: `back = { rate = \"10Mbps\", buffer = \"100pkt\" }` on one of them",
    ),
    (
        "path = { back = { rate = '1Mbps' } }\n[[flow]]\nreverse = true",
        "x.toml:3: flow[0].reverse = true: `back` has room for all that comes, so that no queue \
         would end; accepted: `buffer = \"100pkt\"` in `back`",
    ),
    (
        "path = { back = { rate = '1Mbps', buffer = '999B' } }\n[[flow]]\nreverse = true",
        "x.toml:3: flow[0].reverse = true: the buffer of `back` holds no packet of 1000 bytes; \
         accepted: `buffer = \"100pkt\"` in `back`",
    ),
    (
        "[[udp]]\nrate='1Mbps'\non='1s'",
        "x.toml:3: udp[0].on = \"1s\": `off` is missing; accepted: both, such as \"100ms\"",
    ),
    (
        "[[udp]]\nrate='1Mbps'\non='1s'\noff='1s'\npoisson=true",
        "x.toml:5: udp[0].poisson = true: a source pauses or is a Poisson process; accepted: one \
         of the two",
    ),
    (
        "[[flow]]\nwrites = [{ size = '1KB', count = 3 }]",
        "x.toml:2: flow[0].writes[0]: `every` is missing; accepted: `every` and `count` together",
    ),
    (
        "[[flow]]\nsize = '1MB'\nwrites = [{ size = '1KB' }]",
        "x.toml:3: flow[0].writes = [a table]: a flow has one of size, files and writes; accepted: \
         one of them",
    ),
    (
        "[[flow]]\nwrites = [{ at = '1s', size = '1KB' }]",
        "x.toml:2: flow[0].writes[0]: times do not rise from 0s; accepted: `at` later than those \
         before",
    ),
    (
        "[[flow]]\nwrites = [{ size = '1KB', every = '5s', count = 5 }]",
        "x.toml:2: flow[0].writes[0]: the run is over at 20s; accepted: a start before it",
    ),
    (
        "[[flow]]\nreceiver_window_until = '1s'",
        "x.toml:2: flow[0].receiver_window_until = \"1s\": no window would open; accepted: \
         `receiver_window` with it",
    ),
];
