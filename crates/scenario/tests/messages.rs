//! Every refusal of a scenario, word for word: the messages are part of the interface.

use std::collections::BTreeSet;

use firstflight_scenario::{ControlSpec, Document, PathFlags, Scenario};

#[test]
fn a_file_is_refused_at_the_line_with_what_was_found_and_what_is_accepted() {
    for (text, expected) in FILES {
        let found = Scenario::parse(text, "x.toml").unwrap_err().to_string();
        assert_eq!(found, *expected, "for {text:?}");
    }
}

/// Every key of its table, which the JSON Schema has from the readers.
#[test]
fn an_unknown_key_lists_every_key_of_its_table() {
    let schema = firstflight_scenario::schema();
    for (text, words, table) in [
        ("rtt = \"40ms\"", "1: rtt: unknown key, did you mean `path.rtt`", ""),
        (
            "[path]\nbuffr = \"1bdp\"",
            "2: path.buffr: unknown key, did you mean `buffer`",
            "Dumbbell",
        ),
        (
            "[[link]]\nname='a'\nrat='1Mbps'",
            "3: link[0].rat: unknown key, did you mean `rate`",
            "Link",
        ),
    ] {
        let found = Scenario::parse(text, "x.toml").unwrap_err().to_string();
        let (before, accepted) = found.split_once("; accepted: ").unwrap();
        assert_eq!(before, format!("x.toml:{words}"));
        let of = if table.is_empty() { &schema } else { &schema["$defs"][table] };
        let keys: BTreeSet<&str> =
            of["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(accepted.split(", ").collect::<BTreeSet<_>>(), keys, "{found}");
        assert!(table.is_empty() || keys.contains("buffer") && keys.contains("policer"));
    }
}

#[test]
fn a_flag_is_refused_by_its_name() {
    for (name, text, expected) in FLAGS {
        let flags = PathFlags::from_iter([(*name, *text)]);
        let found = Scenario::from_flags(&flags, &[]).unwrap_err().to_string();
        assert_eq!(found, *expected);
    }
}

#[test]
fn an_agent_of_ns2_is_refused_elsewhere() {
    let refused = |text: &str| {
        let text = format!("controls = ['cubic']\n{text}");
        let read = Scenario::parse(&text, "x.toml").and_then(|scenario| scenario.complete());
        read.err().map(|error| error.to_string())
    };
    assert_eq!(refused("profile = 'ns2'\nrecovery = 'ns2-linux'"), None);
    assert_eq!(
        refused("recovery = 'ns2-linux'").unwrap(),
        "x.toml:2: recovery = \"ns2-linux\": found profile linux; accepted: ns2"
    );
    assert_eq!(
        refused("profile = 'rfc'\n[[flow]]\nrecovery = 'ns2-linux'").unwrap(),
        "x.toml:4: flow[0].recovery = \"ns2-linux\": found profile rfc; accepted: ns2"
    );
    assert_eq!(
        refused("profile = 'ns2'\nrecovery = 'ns2-linux'\nfast_open = 'on'").unwrap(),
        "x.toml:4: fast_open = \"on\": with recovery ns2-linux data leaves with the SYN; \
         accepted: off"
    );
}

#[test]
fn a_control_is_refused_where_it_was_given() {
    let error = Scenario::from_flags(&PathFlags::default(), &["astart(".to_owned()]).unwrap_err();
    let expected = "control astart(: expected a knob like `iw=10pkt` at column 8 of `astart(`;";
    assert!(error.to_string().starts_with(expected), "{error}");

    let text = "controls = ['astart']\n[[flow]]\n[[flow]]\ncontrol = 'vega'";
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let known = |control: &ControlSpec| match control.startup.name.as_str() {
        "astart" => Ok(()),
        _ => Err("unknown control; accepted: astart".to_owned()),
    };
    let expected = "x.toml:4: flow[1].control = \"vega\": unknown control; accepted: astart";
    assert_eq!(scenario.check_controls(known).unwrap_err().to_string(), expected);
}

#[test]
fn a_scenario_needs_a_control_for_every_flow_and_a_use_for_every_control() {
    let problem =
        |text: &str| Scenario::parse(text, "x.toml").unwrap().plans().unwrap_err().to_string();
    assert_eq!(
        problem("[[flow]]\ncontrol = 'hoe'\n[[flow]]\ncount = 2"),
        "x.toml:3: flow[1]: no control; accepted: `control` in each flow, or `controls` at the \
         top for one run each"
    );
    assert_eq!(
        problem("controls = ['hoe']\n[[flow]]\ncontrol = 'vegas'"),
        "x.toml:1: controls = [\"hoe\"]: every flow has a control of its own; accepted: one or \
         the other"
    );
}

#[test]
fn what_is_no_readable_file_is_said_to_be_so() {
    let folder = std::env::temp_dir().join(format!("firstflight-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = folder.join("bytes.toml");
    std::fs::write(&bytes, b"seed = 1\nname = \"\xff\"\n").unwrap();
    let cases = [
        (folder.join("none.toml"), "no such file"),
        (folder.clone(), "this is a directory"),
        (bytes, "line 2 is not UTF-8 text"),
    ];
    for (path, problem) in cases {
        let found = Scenario::load(&path).unwrap_err().to_string();
        let expected = format!("{}: {problem}; accepted: a scenario file in TOML", path.display());
        assert_eq!(found, expected);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_key_set_by_a_program_must_have_a_place() {
    let mut document = Document::new("sweep");
    for key in ["flow[2].count", "flow[x]", "flow]"] {
        let error = document.set(key, "3");
        assert_eq!(error.is_err(), key != "flow]", "{key}");
    }
    document.set("seed", "3").unwrap();
    assert!(document.set("seed.more", "3").is_err());
}

const FLAGS: &[(&str, &str, &str)] = &[
    (
        "--rate",
        "40",
        "--rate 40: a rate needs a unit; accepted: 9600bps, 500kbps, 40Mbps, 40Mbit/s, 1Gbps",
    ),
    ("--rtt", "2h", "--rtt 2h: out of range; accepted: more than 0s, at most 1h"),
    ("--access-delay", "2h", "--access-delay 2h: out of range; accepted: 0s, at most 1h"),
    ("--flows", "x", "--flows x: no number; accepted: a whole number from 1 to 65535"),
    ("--flows", "0", "--flows 0: out of range; accepted: a whole number from 1 to 65535"),
    (
        "--buffer",
        "0bdp",
        "--buffer 0bdp: a buffer of zero holds nothing; accepted: 500pkt, 64KiB, 64KB, 1bdp, \
         0.25bdp",
    ),
    ("--iw", "10", "--iw 10: a window needs a unit; accepted: 10pkt, 64KiB, 64KB, 1bdp"),
    ("--syn", "maybe", "--syn maybe: neither true nor false; accepted: true, false"),
    (
        "--start-jitter",
        "1h",
        "--start-jitter 1h: the run is over at 20s; accepted: a start before it",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "[path]\n\nrate = \"40\"",
        "x.toml:3: path.rate = \"40\": a rate needs a unit; accepted: 9600bps, 500kbps, 40Mbps, \
         40Mbit/s, 1Gbps",
    ),
    (
        "[path]\nrate = 40",
        "x.toml:2: path.rate = 40: a rate needs a unit; accepted: 9600bps, 500kbps, 40Mbps, \
         40Mbit/s, 1Gbps",
    ),
    (
        "[path]\nrate = 40.5",
        "x.toml:2: path.rate = 40.5: a rate needs a unit; accepted: 9600bps, 500kbps, 40Mbps, \
         40Mbit/s, 1Gbps",
    ),
    ("[path]\nrtt = true", "x.toml:2: path.rtt = true: not a text; accepted: a value in quotes"),
    (
        "[path]\nrtt = \"2h\"",
        "x.toml:2: path.rtt = \"2h\": out of range; accepted: more than 0s, at most 1h",
    ),
    (
        "duration = \"0s\"",
        "x.toml:1: duration = \"0s\": out of range; accepted: more than 0s, at most 12h",
    ),
    (
        "seed = -1",
        "x.toml:1: seed = -1: out of range; accepted: a whole number from 0 to \
         9223372036854775807",
    ),
    (
        "seed = 1.5",
        "x.toml:1: seed = 1.5: no number; accepted: a whole number from 0 to 9223372036854775807",
    ),
    (
        "profile = \"lnux\"",
        "x.toml:1: profile = \"lnux\": unknown profile, did you mean `linux`; accepted: rfc, ns2, \
         linux, quic",
    ),
    (
        "recovery = 3",
        "x.toml:1: recovery = 3: unknown recovery; accepted: tahoe, reno, newreno, sack, rack, \
         quic, ns2-linux",
    ),
    (
        "controls = \"astart\"",
        "x.toml:1: controls = \"astart\": not a list; accepted: values in [brackets], or \
         [[tables]]",
    ),
    (
        "controls = [\"astart(\"]",
        "x.toml:1: controls[0] = \"astart(\": expected a knob like `iw=10pkt` at column 8 of \
         `astart(`; accepted: astart, astart(preset=paper), \
         slow-start(iw=64KiB,ssthresh=64KiB)+newreno",
    ),
    ("name = 3", "x.toml:1: name = 3: not a text; accepted: a text in quotes"),
    ("syn = \"yes\"", "x.toml:1: syn = \"yes\": neither true nor false; accepted: true, false"),
    ("packet = \"70KB\"", "x.toml:1: packet = \"70KB\": out of range; accepted: 1B to 65535B"),
    ("iw=\"10B\"", "x.toml:1: iw = \"10B\": less than a packet of 1000B; accepted: 1pkt or more"),
    (
        "[path]\ndrop = [3, 0]",
        "x.toml:2: path.drop[1] = 0: out of range; accepted: a whole number from 1 to \
         9223372036854775807",
    ),
    (
        "[path]\nloss = \"100%\"",
        "x.toml:2: path.loss = \"100%\": a loss is at most just under 100%; accepted: 0%, 0.1%, \
         2.5%, 100ppm, or in bursts ge:0.5%,20% (good to bad, bad to good)",
    ),
    (
        "[path]\nloss = \"ge:1%\"",
        "x.toml:2: path.loss = \"ge:1%\": bursts of loss take two probabilities or four; accepted: \
         ge:0.5%,20% (good to bad, bad to good), ge:0.5%,20%,0%,50% (loss in good, in bad)",
    ),
    (
        "[[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'\nloss='ge:1%,0%'",
        "x.toml:5: link[0].loss = \"ge:1%,0%\": bursts of loss that never end carry nothing; \
         accepted: ge:0.5%,20% (good to bad, bad to good), ge:0.5%,20%,0%,50% (loss in good, \
         in bad)",
    ),
    (
        "[path]\nbuffer = \"10B\"",
        "x.toml:2: path.buffer = \"10B\": the buffer holds no packet of 1000 bytes; accepted: \
         room for one packet or more",
    ),
    (
        "rto_min = \"3min\"",
        "x.toml:1: rto_min = \"3min\": rto_min is above rto_max; accepted: at most rto_max",
    ),
    (
        "rto_max=\"1ms\"",
        "x.toml:1: rto_max = \"1ms\": rto_min is above rto_max; accepted: at least rto_min",
    ),
    (
        "[[flow]]\ncount=0",
        "x.toml:2: flow[0].count = 0: out of range; accepted: a whole number from 1 to 65535",
    ),
    (
        "[[flow]]\ncount=60000\n[[flow]]\ncount=60000",
        "x.toml:4: flow[1].count = 60000: 120000 flows in all; accepted: 1 to 65535",
    ),
    ("path = 3", "x.toml:1: path = 3: not a table; accepted: keys with values under a [header]"),
    (
        "[path]\nrtt = {a=1}",
        "x.toml:2: path.rtt = a table: not a text; accepted: a value in quotes",
    ),
    ("flow = 3", "x.toml:1: flow = 3: not a list; accepted: values in [brackets], or [[tables]]"),
    (
        "flow = [3]",
        "x.toml:1: flow[0] = 3: not a table; accepted: keys with values under a [header]",
    ),
    (
        "[path]\n[[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'",
        "x.toml:1: path: a scenario has either [path] or [[link]]; accepted: one of the two",
    ),
    (
        "[[link]]\nname='a'\nrate='1Mbps'",
        "x.toml:1: link[0]: `delay` is missing; accepted: delay = \"50ms\", one way",
    ),
    (
        "[[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'\n\
         [[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'\n",
        "x.toml:6: link[1].name = \"a\": no name of its own; accepted: a name that no other link \
         has",
    ),
    (
        "[[link]]\nname='a'\nrate='1Mbps'\ndelay='1ms'\n\
         [[link]]\nname='b'\nrate='1Mbps'\ndelay='1ms'\n",
        "x.toml: flow[0]: `path` is missing; accepted: a list of a, b",
    ),
    (
        "[[link]]\nname='first'\nrate='1Mbps'\ndelay='1ms'\n[[flow]]\npath=['frst']",
        "x.toml:6: flow[0].path[0] = \"frst\": no such link, did you mean `first`; accepted: \
         first",
    ),
    (
        "[[link]]\nname='first'\nrate='1Mbps'\ndelay='1ms'\n[[flow]]\npath=['first','first']",
        "x.toml:6: flow[0].path[1] = \"first\": the path takes this link twice; accepted: each \
         link once",
    ),
    (
        "[[flow]]\nstart='2s'\nstop='1s'",
        "x.toml:3: flow[0].stop = \"1s\": stops before or as it starts (2s); accepted: a stop \
         after it",
    ),
    (
        "[[flow]]\nstart='20s'",
        "x.toml:2: flow[0].start = \"20s\": the run is over at 20s; accepted: a start before it",
    ),
    (
        "[[flow]]\nstart='2s'\nstarts='uniform 1s..2s'",
        "x.toml:3: flow[0].starts = \"uniform 1s..2s\": a flow has either start or starts; \
         accepted: one of the two",
    ),
    (
        "[[flow]]\nfiles = { pause = '1s' }",
        "x.toml:2: flow[0].files: `size` is missing; accepted: size = \"100KB..1MB\"",
    ),
    (
        "[[flow]]\nfiles = { size = '1MB..100KB' }",
        "x.toml:2: flow[0].files.size = \"1MB..100KB\": the larger value comes first; accepted: \
         smallest..largest",
    ),
    (
        "[[flow]]\nfiles = { size = '0B..1KB' }",
        "x.toml:2: flow[0].files.size = \"0B..1KB\": a file has one byte or more; accepted: \
         100KB..1MB",
    ),
    (
        "[[flow]]\nsize='1MB'\nfiles = { size = '1MB' }",
        "x.toml:3: flow[0].files: a flow has either size or files; accepted: one of the two",
    ),
    (
        "[[flow]]\nstarts='1s..2s'",
        "x.toml:2: flow[0].starts = \"1s..2s\": not a span of starts; accepted: uniform 0s..1170s",
    ),
    (
        "[[flow]]\nstarts='uniform 3s..2s'",
        "x.toml:2: flow[0].starts = \"uniform 3s..2s\": the span ends before it begins; accepted: \
         uniform 0s..1170s",
    ),
    (
        "[[flow]]\nstarts='uniform 3..4s'",
        "x.toml:2: flow[0].starts = \"uniform 3..4s\": a time needs a unit; accepted: uniform \
         0s..1170s",
    ),
    (
        "[[flow]]\nlifetime='0s'",
        "x.toml:2: flow[0].lifetime = \"0s\": a flow lives longer than no time; accepted: 30s, or \
         no lifetime",
    ),
    (
        "[[flow]]\nsize='0B'",
        "x.toml:2: flow[0].size = \"0B\": a flow sends one byte or more; accepted: 30KB, 5MB, or \
         no size",
    ),
    (
        "[[flow]]\nlifetime='1s'\nstop='3s'",
        "x.toml:2: flow[0].lifetime = \"1s\": a flow has either stop or lifetime; accepted: one \
         of the two",
    ),
    (
        "[[flow]]\nrtt='50ms'",
        "x.toml:2: flow[0].rtt = \"50ms\": shorter than its path's own 100ms; accepted: 100ms or \
         more",
    ),
    (
        "[[flow]]\nrtt='150ms'\naccess_delay='1ms'",
        "x.toml:2: flow[0].rtt = \"150ms\": a flow has either rtt or access_delay; accepted: one \
         of the two",
    ),
    (
        "[[flow]]\nstart_jitter='30s'",
        "x.toml:2: flow[0].start_jitter = \"30s\": the run is over at 20s; accepted: a start \
         before it",
    ),
    ("[[udp]]\nstart='1s'", "x.toml:1: udp[0]: `rate` is missing; accepted: rate = \"20Mbps\""),
    (
        "[[udp]]\nrate='1Mbps'\nstart='1s'\nstop='1s'",
        "x.toml:4: udp[0].stop = \"1s\": stops before or as it starts (1s); accepted: a stop \
         after it",
    ),
    (
        "[path]\nrate='1Tbps'\nrtt='1h'",
        "x.toml:1: path: 450000000000 packets fill the path and 450000000000 its buffer; \
         accepted: at most 100000000 together",
    ),
    (
        "[path]\nrate = \"40Mbps",
        "x.toml:2: invalid basic string, expected `\"`; accepted: TOML, such as `rate = \
         \"40Mbps\"`",
    ),
    (
        "[path\nrate",
        "x.toml:1: unclosed table, expected `]`; accepted: TOML, such as `rate = \"40Mbps\"`",
    ),
    ("", "x.toml: the file is empty; accepted: a scenario file in TOML"),
    ("# only\n", "x.toml: the file is empty; accepted: a scenario file in TOML"),
    ("a = 1\na = 2", "x.toml:2: duplicate key: a; accepted: TOML, such as `rate = \"40Mbps\"`"),
    (
        "\0",
        "x.toml:1: key with no value, expected `=`; accepted: TOML, such as `rate = \"40Mbps\"`",
    ),
    (
        "x = [[[[",
        "x.toml:1: unclosed array, expected `]`; accepted: TOML, such as `rate = \"40Mbps\"`",
    ),
    (
        "seed = 99999999999999999999",
        "x.toml:1: seed = 99999999999999999999: out of range; accepted: a whole number from 0 to \
         9223372036854775807",
    ),
];
