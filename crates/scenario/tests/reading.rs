//! What a scenario means once read, and that no text can do harm.

use firstflight_scenario::keys::{Stack, StackInUse};
use firstflight_scenario::{Document, PathFlags, Recovery, Scenario, Size, complete};
use proptest::prelude::*;

const README: &str = include_str!("../KEYS.md");

/// The scenarios shown in the reference, so that it cannot fall behind.
fn shown() -> Vec<&'static str> {
    README.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn every_scenario_of_the_reference_reads_and_reads_back() {
    assert_eq!(shown().len(), 3);
    for text in shown() {
        let scenario = Scenario::parse(text, "readme.toml").unwrap();
        let again = Scenario::parse(&scenario.to_toml(), "readme.toml").unwrap();
        assert_eq!(again.to_toml(), scenario.to_toml());
        assert_eq!(again.complete(), scenario.complete());
        assert_eq!(scenario.plans().unwrap().len(), 2);
    }
}

#[test]
fn the_edges_of_what_is_accepted_belong_to_it() {
    for text in
        ["packet = '1B'", "packet = '65535B'", "duration = '12h'", "flow = [{ count = 65535 }]"]
    {
        let scenario = Scenario::parse(&format!("controls = ['hoe']\n{text}"), "x.toml").unwrap();
        assert!(scenario.complete().is_ok(), "{text}");
    }
}

#[test]
fn nothing_written_is_the_path_of_the_astart_paper_between_todays_endpoints() {
    let flags = Scenario::from_flags(&PathFlags::default(), &[]).unwrap().complete().unwrap();
    assert_eq!(flags.duration.ns(), 20_000_000_000);
    assert_eq!((flags.packet.bytes(), flags.headers.bytes()), (1000, 0));
    let link = &flags.links[0];
    assert_eq!(
        (link.rate.bps(), link.delay.ns() + link.return_delay.ns()),
        (40_000_000, 100_000_000)
    );
    assert_eq!(link.buffer, complete::Buffer::Packets(500));
    let flow = &flags.flows[0];
    assert_eq!(
        (flow.iw.value.bytes(), flow.ssthresh.value.map(Size::bytes)),
        (10_000, None),
        "today's"
    );
    assert_eq!(flow.access_rate.bps(), 1_000_000_000);
    assert!(!flow.iw.given);
}

#[test]
fn flags_and_file_mean_the_same() {
    let flags = PathFlags::from_iter([
        ("--rate", "10Mbps"),
        ("--buffer", "0.25bdp"),
        ("--flows", "3"),
        ("--size", "5MB"),
        ("--iw", "4KB"),
        ("--delayed-ack", "2"),
        ("--recovery", "sack"),
        ("--syn", "true"),
    ]);
    let file = "name = 'command line'\niw = '4KB'\ndelayed_ack = 2\nrecovery = 'sack'\n\
        syn = true\n[path]\nrate = '10Mbps'\nbuffer = '0.25bdp'\n[[flow]]\ncount = 3\nsize = '5MB'";
    let flags = Scenario::from_flags(&flags, &[]).unwrap().complete().unwrap();
    assert_eq!(flags, Scenario::parse(file, "x.toml").unwrap().complete().unwrap());
    assert_eq!(flags.links[0].buffer, complete::Buffer::Packets(31));
}

#[test]
fn a_flow_takes_its_own_settings_then_the_scenarios_then_the_profiles() {
    let text = "profile = 'linux'\nssthresh = '64KiB'\n[[flow]]\niw = '3pkt'\nrecovery = 'reno'\n\
        [[flow]]\nssthresh = 'none'";
    let flows = Scenario::parse(text, "x.toml").unwrap().complete().unwrap().flows;
    assert_eq!((flows[0].iw.value.bytes(), flows[1].iw.value.bytes()), (3_000, 10_000));
    assert_eq!(flows[0].recovery.value, Recovery::Reno);
    assert_eq!(flows[1].recovery.value, Recovery::Rack);
    assert_eq!(flows[0].ssthresh.value.map(Size::bytes), Some(65_536));
    assert_eq!((flows[1].ssthresh.value.map(Size::bytes), flows[1].ssthresh.given), (None, true));
    // What a control brings of its own yields to what the scenario gave, and wins over defaults.
    assert_eq!(flows[0].iw.or_own(Some(Size::from_bytes(64_000))).bytes(), 3_000);
    assert_eq!(flows[1].iw.or_own(Some(Size::from_bytes(64_000))).bytes(), 64_000);
    assert_eq!(flows[1].iw.or_own(None).bytes(), 10_000);
}

#[test]
fn access_delay_comes_on_top_of_the_rtt_and_a_flows_rtt_is_its_whole() {
    let text = "[path]\nrtt = '100ms'\naccess_delay = '0.75ms'\n[[flow]]\n[[flow]]\n\
        access_delay = '2ms'\n[[flow]]\nrtt = '200ms'";
    let scenario = Scenario::parse(text, "x.toml").unwrap().complete().unwrap();
    let rtts: Vec<_> = scenario.flows.iter().map(|flow| flow.rtt.ns() / 1_000_000).collect();
    assert_eq!(rtts, [103, 108, 200]);
    assert_eq!(scenario.flows[2].access_delay.ns(), 25_000_000);
    assert_eq!(
        scenario.links[0].buffer,
        complete::Buffer::Packets(500),
        "BDP without access links"
    );
}

#[test]
fn a_network_gives_each_link_the_bdp_of_its_longest_path() {
    let text = "[[link]]\nname = 'up'\nrate = '8Mbps'\ndelay = '10ms'\n\
        [[link]]\nname = 'sat'\nrate = '4Mbps'\ndelay = '240ms'\ndrop = [9, 3, 9]\n\
        [[flow]]\npath = ['up', 'sat']\n[[flow]]\npath = ['up']";
    let scenario = Scenario::parse(text, "x.toml").unwrap().complete().unwrap();
    assert_eq!(scenario.links[0].buffer, complete::Buffer::Packets(500));
    assert_eq!(scenario.links[1].buffer, complete::Buffer::Packets(250));
    assert_eq!(scenario.links[1].drop, [3, 9]);
    assert_eq!(scenario.flows[0].rtt.ns(), 500_000_000);
    assert_eq!(scenario.slowest(&scenario.flows[0].path), 1);
    assert_eq!(scenario.slowest(&scenario.flows[1].path), 0);
}

/// What reads `loss_ppb` finds the mean where loss comes in bursts, and the rest beside it.
#[test]
fn a_loss_is_its_mean_and_what_makes_its_bursts() {
    let link = |loss: &str| {
        let text = format!("name = 'x'\n[path]\nloss = '{loss}'");
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        assert!(scenario.to_toml().contains(&format!("loss = \"{loss}\"")), "{loss}");
        serde_json::to_string(&scenario.complete().unwrap().links[0]).unwrap()
    };
    let around = |loss: &str| {
        format!(
            "{{\"name\":\"bottleneck\",\"rate_bps\":40000000,\"delay_ns\":50000000,\
             \"return_delay_ns\":50000000,\"buffer\":{{\"packets\":500}},{loss},\"drop\":[]}}"
        )
    };
    assert_eq!(link("0.1%"), around("\"loss_ppb\":1000000"));
    assert_eq!(
        link("ge:5%,20%,1%,50%"),
        around(
            "\"loss_ppb\":108000000,\"bursts\":{\"to_bad_ppb\":50000000,\
             \"to_good_ppb\":200000000,\"in_good_ppb\":10000000,\"in_bad_ppb\":500000000}"
        )
    );
}

#[test]
fn a_sweep_sets_single_keys() {
    let mut document = Document::parse(shown()[1], "readme.toml").unwrap();
    document.set("link[0].delay", "10ms").unwrap();
    document.set("flow[0].count", "7").unwrap();
    document.apply(&PathFlags::from_iter([("--seed", "5")])).unwrap();
    let scenario = document.scenario().unwrap().complete().unwrap();
    assert_eq!(scenario.flow_count(), 7);
    assert_eq!((scenario.links[0].delay.ns(), scenario.seed), (10_000_000, 5));
    assert_eq!(scenario.name, "readme");
}

#[test]
fn a_file_cut_short_anywhere_is_read_or_refused() {
    for text in shown() {
        for end in 0..text.len() {
            let _ = Scenario::parse(text.get(..end).unwrap_or(""), "x.toml");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".*", at in 0..700_usize, bytes in "[ -~\n]{0,6}") {
        let _ = Scenario::parse(&text, "x.toml");
        for shown in shown() {
            let at = at.min(shown.len());
            if let (Some(head), Some(tail)) = (shown.get(..at), shown.get(at..)) {
                let _ = Scenario::parse(&format!("{head}{bytes}{tail}"), "x.toml");
            }
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Scenario::parse(&String::from_utf8_lossy(&bytes), "x.toml");
    }

    #[test]
    fn no_flag_makes_the_reader_panic(text in ".{0,20}", key in "[a-z.\\[\\]0-9]{0,20}") {
        for flag in PathFlags::all() {
            let flags = PathFlags::from_iter([(flag.name.as_str(), text.as_str())]);
            let _ = Scenario::from_flags(&flags, std::slice::from_ref(&text));
        }
        let mut document = Document::new("x");
        let _ = document.set(&key, &text);
        let _ = document.scenario();
    }

    #[test]
    fn what_is_read_reads_back(
        rate in 1..1_000_000_000_u64,
        rtt in 1..1_000_000_000_u64,
        milli in 1..4_000_u64,
        count in 1..100_u64,
        seed in 0..u64::MAX / 2,
    ) {
        let buffer = firstflight_scenario::Buffer::Bdp(milli);
        let text = format!("seed = {seed}\ncontrols = ['astart']\n[path]\nrate = '{rate}bps'\n\
            rtt = '{rtt}ns'\nbuffer = '{buffer}'\n[[flow]]\ncount = {count}\n");
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        let again = Scenario::parse(&scenario.to_toml(), "x.toml").unwrap();
        prop_assert_eq!(again.complete(), scenario.complete());
        prop_assert_eq!(again.to_toml(), scenario.to_toml());
    }
}

#[test]
fn a_window_in_bdp_is_that_of_the_flows_path_and_runs_are_seeds() {
    let text = "controls = ['newreno']\nssthresh = '0.5bdp'\nseed = 4\nruns = 3\n\
        [[link]]\nname = 'a'\nrate = '40Mbps'\ndelay = '50ms'\n\
        [[link]]\nname = 'b'\nrate = '80Mbps'\ndelay = '25ms'\n\
        [[flow]]\npath = ['a']\n[[flow]]\npath = ['a', 'b']\niw = '0.01bdp'\naccess_delay = '9ms'";
    let complete = Scenario::parse(text, "x.toml").unwrap().complete().unwrap();
    // 40 Mbit/s times 100 and 150 ms: 500 and 750 packets of 1000 bytes.
    assert_eq!(complete.flows[0].ssthresh.value.map(Size::bytes), Some(250_000));
    assert_eq!(complete.flows[1].ssthresh.value.map(Size::bytes), Some(375_000));
    assert_eq!(complete.flows[1].iw.value.bytes(), 8_000);
    assert_eq!(complete.seeds().collect::<Vec<_>>(), [4, 5, 6]);
}

/// 65,535 tables, each with a control and keys of its own. Were each looked for among all others,
/// this test would take an hour.
#[test]
fn as_many_tables_of_flows_as_may_be_take_their_number_and_not_its_square() {
    let flow = |i: u64| {
        let (iw, link) = (1 + i % 9, i % 3_000);
        format!("[[flow]]\ncontrol='hoe(tick={i}ms)'\niw='{iw}pkt'\npath=['l{link}']\n")
    };
    let link = |i: u64| format!("[[link]]\nname='l{i}'\nrate='1Mbps'\ndelay='1ms'\n");
    let text: String = (0..3_000).map(link).chain((0..45_000).map(flow)).collect();
    let scenario = Scenario::parse(&text, "x.toml").unwrap();
    let complete = scenario.complete().unwrap();
    assert_eq!((complete.flow_count(), complete.flows[44_999].path[0]), (45_000, 2_999));
    assert_eq!(scenario.plans().unwrap()[0].controls.len(), 45_000);
    let runs: Vec<StackInUse> = (0..45_000)
        .map(|group| StackInUse {
            group,
            stack: Stack::Rack,
            delayed_ack: 1,
            rests: false,
            switches: complete.endpoint.switches,
        })
        .collect();
    scenario.check_support(&runs).unwrap();
}
