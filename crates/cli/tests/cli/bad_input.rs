//! Wrong words and wrong files: one message on standard error, nothing on standard output,
//! nothing written.

use std::fs::File;

use crate::process::{Outcome, Place, run};

/// One line, from the program, naming all of `parts`; nothing else anywhere.
pub(crate) fn refused(outcome: &Outcome, code: i32, parts: &[&str]) {
    assert_eq!(outcome.code, code, "{outcome:?}");
    assert_eq!(outcome.stdout, "", "{outcome:?}");
    assert!(outcome.stderr.starts_with("firstflight: "), "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    for part in parts {
        assert!(outcome.stderr.contains(part), "no {part:?} in {outcome:?}");
    }
}

#[test]
fn quantities_that_cannot_be_are_refused_with_the_accepted_forms() {
    let cases: &[(&str, &str, &str)] = &[
        ("--rate", "40", "accepted: 9600bps, 500kbps, 40Mbps"),
        ("--rate", "-5Mbps", "negative"),
        ("--rate", "0Mbps", "zero"),
        ("--rate", "1e99Mbps", "unit"),
        ("--rate", "99999999999999999999Mbps", "accepted: "),
        ("--rate", "", "accepted: "),
        ("--rate", "NaNMbps", "accepted: "),
        ("--rtt", "100", "accepted: 5us, 100ms"),
        ("--rtt", "99999h", "at most"),
        ("--buffer", "0pkt", "zero"),
        ("--buffer", "500", "accepted: 500pkt"),
        ("--loss", "100%", "accepted: 0%"),
        ("--loss", "0.01", "accepted: 0%"),
        ("--loss", "ge:1%", "accepted: ge:0.5%,20%"),
        ("--loss", "ge:1%,120%", "a probability is at most 100%"),
        ("--loss", "ge:1%,0%", "never end"),
        ("--packet", "0B", "accepted: "),
        ("--packet", "1000", "accepted: "),
        ("--duration", "0s", "accepted: "),
        ("--flows", "0", "from 1 to 65535"),
        ("--flows", "2.5", "from 1 to 65535"),
        ("--size", "0B", "accepted: "),
        ("--iw", "0pkt", "accepted: "),
        ("--ssthresh", "-1pkt", "accepted: "),
        ("--delayed-ack", "0", "accepted: "),
        ("--seed", "x", "accepted: "),
        ("--profile", "bsd", "accepted: rfc, ns2, linux, quic"),
        ("--recovery", "sak", "did you mean `sack`"),
        ("--syn", "maybe", "accepted: true, false"),
    ];
    for (flag, value, part) in cases {
        refused(&run(&["compare", "newreno", flag, value]), 2, &[flag, part]);
        refused(&run(&["compare", "newreno", "--json", flag, value]), 2, &[flag, part]);
    }
}

#[test]
fn controls_that_do_not_exist_are_refused_with_the_nearest_name() {
    let cases: &[(&str, &[&str])] = &[
        ("vegass", &["vegass", "did you mean `vegas`", "accepted: "]),
        ("newreno+westwod", &["unknown avoidance", "did you mean `westwood`"]),
        ("astart(presett=paper)", &["no knob `presett`", "did you mean `preset`"]),
        ("linux-cubic", &["the kernel's own", "`--on linux`", "accepted: "]),
        ("astart(preset=papers)", &["preset", "papers", "accepted: figures, paper"]),
        ("astart(preset=paper", &["column"]),
        ("astart(preset=paper,preset=paper)", &["twice"]),
        ("slow-start(iw=-3pkt)", &["iw", "-3pkt", "accepted: "]),
        ("slow-start(iw=10)", &["iw", "10", "accepted: "]),
        ("slow-start(iw=none)", &["iw", "none", "accepted: a window such as 10pkt or 64KiB"]),
        ("westwood", &["an avoidance", "did you mean `slow-start+westwood`"]),
        ("", &["start-up"]),
        ("+", &["start-up"]),
        ("🛫", &["start-up"]),
    ];
    for (control, parts) in cases {
        refused(&run(&["compare", control]), 2, parts);
    }
    refused(&run(&["compare", "newreno", "newreno"]), 2, &["control newreno", "given twice"]);
    let same_name = ["kernel", "load", "ff_a=astart", "ff_a=newreno"];
    refused(&run(&same_name), 2, &["loaded as ff_a", "astart", "newreno", "NAME=CONTROL"]);
    refused(&run(&["compare", "newreno\nvegas"]), 2, &["`newreno\\nvegas`"]);
}

#[test]
fn unknown_words_are_answered_with_the_nearest_one() {
    refused(&run(&["compar"]), 2, &["'compar'", "'compare'"]);
    refused(&run(&["compare", "--rat", "1Mbps"]), 2, &["'--rat'", "'--rate'", "compare --help"]);
    refused(&run(&["compare", "--rate"]), 2, &["--rate", "value is required"]);
    refused(&run(&["compare", "--rate", "1Mbps", "--rate", "2Mbps"]), 2, &["multiple times"]);
    refused(&run(&["list", "astrt"]), 2, &["`astrt`", "did you mean `astart`"]);
    refused(&run(&["completions", "csh"]), 2, &["csh", "bash"]);
    refused(&run(&["run"]), 2, &["SCENARIO"]);
    let bare = run(&[]);
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
    assert!(bare.stderr.contains("Examples:"));
}

#[test]
fn what_quic_cannot_carry_is_refused_with_what_it_can() {
    let small = run(&["compare", "astart", "--on", "quic", "--packet", "1000B"]);
    refused(&small, 2, &["--packet 1000B: no packet of quic; accepted over quic: 1200B to 16383B"]);
    let place = Place::new();
    place.write(
        "p.toml",
        "controls = [\"hoe\"]\npacket = \"1kB\"\n[[flow]]\ntransport = \"quic\"\n",
    );
    let small = place.run(&["run", "p.toml"]);
    refused(&small, 2, &["p.toml:2: packet = \"1kB\": no packet of quic; accepted over quic"]);
    let slip = run(&["compare", "quinn-cubix", "--on", "quic"]);
    refused(&slip, 2, &["did you mean `quinn-cubic`"]);
}

#[test]
fn an_unknown_transport_is_answered_with_the_nearest() {
    refused(&run(&["compare", "--on", "sin"]), 2, &["did you mean `sim`", "accepted: sim"]);
}

#[test]
fn files_that_are_no_scenario_are_refused_by_name() {
    let place = Place::new();
    place.write("empty.toml", "");
    place.write("binary.toml", (0..=255).collect::<Vec<u8>>());
    place.write("cut.toml", "controls = [\"newreno\"]\n[path\nrate = \"40M");
    place.write("no-control.toml", "duration = \"1s\"\n");
    place.write("twice.toml", "controls = [\"newreno\", \"newreno\"]\n");
    place.write("unknown.toml", "controls = [\"newreno\", \"vegass\"]\n");
    place.write("key.toml", "controls = [\"newreno\"]\ndurration = \"2s\"\n");
    place.write("unit.toml", "controls = [\"newreno\"]\n[path]\nrtt = 100\n");
    place.write(
        "both.toml",
        "controls = [\"newreno\"]\n[path]\nrtt = \"1s\"\n[[link]]\nname = \"a\"\n\
         rate = \"1Mbps\"\ndelay = \"1ms\"\n",
    );
    place.write(
        "nobody.toml",
        "controls = [\"newreno\"]\n[[expect]]\ncontrol = \"astart\"\nutilization = \">= 0.5\"\n",
    );
    place.write("key-twice.toml", "controls = [\"newreno\"]\ncontrols = [\"vegas\"]\n");
    let many = "controls = [\"newreno\"]\n".to_owned() + &"[[flow]]\n".repeat(100_000);
    place.write("too-many.toml", many);
    place.write("nothing.toml", "controls = [\"newreno\"]\n[expect]\n");
    let no_unit = "controls = [\"newreno\"]\n[expect]\ntotal_throughput_bps = \">= 36\"\n";
    place.write("no-unit.toml", no_unit);
    let early = "controls = [\"newreno\"]\n[[flow]]\nstop = \"10ms\"\nstart_jitter = \"500ms\"\n";
    place.write("early-stop.toml", early);
    place.write("eighth.toml", "controls = [\"newreno\"]\n[expect]\nflows.7.timeouts = \"== 0\"\n");
    place.write("long.toml", " ".repeat((4 << 20) + 1));
    let cases: &[(&str, &[&str])] = &[
        ("missing.toml", &["no such file"]),
        ("long.toml", &["larger than 4 MiB"]),
        (".", &["directory"]),
        ("empty.toml", &["empty"]),
        ("binary.toml", &["UTF-8"]),
        ("cut.toml", &["cut.toml:2"]),
        ("no-control.toml", &["no control"]),
        ("twice.toml", &["twice.toml:1: controls[1] = \"newreno\"", "given twice"]),
        ("key-twice.toml", &["key-twice.toml:2: duplicate key: controls"]),
        ("too-many.toml", &["100000 flows in all", "1 to 65535"]),
        ("unknown.toml", &["unknown.toml:1", "did you mean `vegas`"]),
        ("key.toml", &["key.toml:2", "did you mean `duration`"]),
        ("unit.toml", &["unit.toml:3", "path.rtt", "accepted: 5us"]),
        ("both.toml", &["both.toml"]),
        ("nobody.toml", &["nobody.toml:3: expect[0].control = \"astart\"", "accepted: newreno"]),
        ("eighth.toml", &["eighth.toml:3", "flows.7.timeouts", "no flow 7", "accepted: flows.0"]),
        ("nothing.toml", &["nothing.toml:2: expect", "expects nothing"]),
        ("no-unit.toml", &["no-unit.toml:3", "has no unit, and is a rate", "36Mbps"]),
        ("early-stop.toml", &["early-stop.toml:3: flow[0].stop", "stops before", "(500ms)"]),
    ];
    let before = place.files();
    for (file, parts) in cases {
        for words in [&["run", file][..], &["run", file, "--json", "--out", "out"]] {
            refused(&place.run(words), 2, parts);
        }
    }
    assert_eq!(place.files(), before, "nothing is written for a scenario that does not run");
}

#[test]
fn output_that_cannot_be_written_is_refused_before_the_run() {
    let place = Place::new();
    place.write("file", "kept");
    place.write("ok.toml", "controls = [\"newreno\"]\nduration = \"1s\"\n");
    for out in ["file", "file/below", "/dev/null", "/dev/null/below", "/proc/nowhere"] {
        refused(&place.run(&["compare", "newreno", "--out", out]), 2, &["--out", out]);
        refused(&place.run(&["run", "ok.toml", "--trace", out]), 2, &["--trace", out]);
        refused(&place.run(&["run", "ok.toml", "--out", out, "--json"]), 2, &["--out", out]);
    }
    let nowhere = place.run(&["compare", "newreno", "--out", "/proc/nowhere"]);
    refused(&nowhere, 2, &["--out /proc/nowhere: /proc takes no files; accepted: a directory"]);
    assert_eq!(place.files(), ["file", "ok.toml"]);
    assert_eq!(std::fs::read_to_string(place.path("file")).unwrap(), "kept");
}

/// The second would overwrite what the first writes.
#[test]
fn two_commands_do_not_write_into_one_directory_at_once() {
    let place = Place::new();
    place.write("ok.toml", "controls = [\"newreno\"]\nduration = \"1s\"\n");
    std::fs::create_dir(place.path("out")).unwrap();
    let held = File::open(place.path("out")).unwrap();
    held.lock().unwrap();
    for words in [
        &["compare", "newreno", "--duration", "1s", "--out", "out"][..],
        &["run", "ok.toml", "--out", "out"],
        &["judge", "hoe", "--only", "A1", "--out", "out"],
        &["reproduce", "table1", "--out", "out"],
        &["measure", "--to", "9", "--controls", "hoe,hoe", "--iperf3", "--out", "out"],
        &["show", "ok.toml", "--out", "out"],
    ] {
        let outcome = place.run(words);
        refused(&outcome, 2, &["--out out: another program writes there now", "accepted: another"]);
    }
    assert_eq!(place.files(), ["ok.toml", "out"]);
    assert_eq!(std::fs::read_dir(place.path("out")).unwrap().count(), 0);
    drop(held);
    assert_eq!(place.run(&["run", "ok.toml", "--out", "out"]).code, 0);
}

#[test]
fn reproduce_refuses_unknown_names_and_outputs_before_it_runs() {
    let place = Place::new();
    place.write("file", "kept");
    refused(&place.run(&["reproduce", "tabl1"]), 2, &["`tabl1`", "did you mean `table1`"]);
    refused(&place.run(&["reproduce", "table1", "--json", "S9"]), 2, &["`S9`", "accepted: "]);
    refused(&place.run(&["reproduce", "--out", "file"]), 2, &["--out", "file"]);
    refused(&place.run(&["reproduce", "--markdown", "."]), 2, &["--markdown", "accepted: a file"]);
    refused(&place.run(&["reproduce", "--markdown", "file/a.md"]), 2, &["--markdown", "file"]);
    refused(&place.run(&["reproduce", "--cache", "file/below"]), 2, &["--cache", "file"]);
    assert_eq!(place.files(), ["file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_rate_trace_that_never_ends_is_refused() {
    let outcome = Place::new().run(&["link", "--rate-trace", "/dev/zero"]);
    refused(&outcome, 2, &["--rate-trace /dev/zero: no regular file", "accepted: "]);
    let place = Place::new();
    place.write("long", "0 1\n");
    let long = File::options().write(true).open(place.path("long")).unwrap();
    long.set_len((256 << 20) + 1).unwrap();
    let outcome = place.run(&["link", "--rate-trace", "long"]);
    refused(&outcome, 2, &["--rate-trace long:1: the file is larger than 256 MiB", "accepted: "]);
}

/// Whoever reads standard output gets a document or nothing, and the message says what to type.
#[test]
fn no_command_prints_anything_but_what_is_wrong_and_accepted_where_json_was_asked_for() {
    let pin = ["sha256:", &"5f".repeat(32)].concat();
    let to = ["send", "127.0.0.1:9", "--pin", &pin];
    let send = |more: &[&'static str]| [&to[..], more].concat();
    let place = Place::new();
    place.write("rates.txt", "0s often\n");
    place.write("grid.toml", "scenario.controls = ['hoe']\ngrid.seed = [1, 2]\n");
    let cases: &[(&[&str], &[&str])] = &[
        (&["reproduce", "tabl1"], &["`tabl1`", "did you mean `table1`"]),
        (&["compare", "--rate", "40"], &["--rate", "40", "accepted: "]),
        (&["run", "none.toml"], &["none.toml", "no such file", "accepted: "]),
        (&["sweep", "none.toml"], &["none.toml: no such file", "accepted: a grid file"]),
        (&["sweep", "."], &[".: this is a directory", "accepted: a grid file"]),
        (&["sweep", "grid.toml", "--out", "rates.txt"], &["--out rates.txt: ", "accepted: "]),
        (&["compare", "--csv", "rates.txt/x"], &["--csv rates.txt/x: ", "accepted: a file"]),
        (
            &["compare", "hoe,astart"],
            &["found a comma", "words with a blank between them, as in `hoe astart`"],
        ),
        (&["compare", "astrt"], &["accepted: astart, afstart, ", "which `firstflight list` shows"]),
        (&["compare", "--rate", "40Mbp"], &["did you mean `Mbps`"]),
        (&["compare", "--rate", "40Mbps,80Mbps"], &["--rate", "`firstflight sweep`"]),
        (&["judge", "hoee"], &["firstflight: control `hoee`: ", "accepted: "]),
        (&["advise", "--rate", "4", "--rtt", "1ms"], &["--rate 4: ", "accepted: "]),
        (&["advise", "--rate", "4Mbps", "--rtt", "9ms", "--on", "lnux"], &["did you mean `linux`"]),
        (&["predict", "--rtt", "100"], &["--rtt", "100", "accepted: "]),
        (&["show", "none.qlog"], &["none.qlog", "no such file", "accepted: "]),
        (&["show", "none.qlog", "--connection", "x"], &["--connection", "'x'", "accepted: "]),
        (&["send", "4433", "--size", "5B"], &["--pin: missing", "--trust", "accepted: --pin"]),
        (&["send", "4433", "--size", "5", "--pin", &pin], &["--size", "'5'", "accepted: "]),
        (&["send", "4433", "--size", "5B", "--pin", "5f"], &["--pin", "`5f`", "accepted: "]),
        (&["send", "4433", "--size", "5B", "--trust", "none"], &["none: ", "accepted: "]),
        (&["send", "nowhere", "--size", "5B", "--pin", &pin], &["nowhere: ", "accepted: "]),
        (&send(&["none"]), &["none: ", "accepted: "]),
        (&send(&["--size", "5B", "--control", "hoee"]), &["`hoee`", "accepted: "]),
        (&send(&["--size", "5B", "--qlog", "none/q"]), &["--qlog none/q", "accepted: "]),
        (&send(&["--size", "5B", "--timeout", "1ms"]), &["--timeout 1ms", "accepted: "]),
        (&send(&["--size", "5B", "--secret", "5"]), &["--secret: ", "1 bytes", "accepted: "]),
        (&send(&["--size", "5B", "--secret-file", "none"]), &["none: ", "accepted: "]),
        (&["recv", "--listen", "nowhere"], &["nowhere: ", "accepted: "]),
        (&["recv", "--max-size", "5"], &["--max-size", "'5'", "accepted: "]),
        (&["recv", "--serve", "--max-files", "0"], &["--max-files", "'0'"]),
        (&["recv", "--serve", "--concurrent", "65"], &["--concurrent", "65 is not in 1..=64"]),
        (&["recv", "--allow-anyone", "--force"], &["--allow-anyone", "--force"]),
        (&["recv", "--window", "5"], &["--window", "'5'", "accepted: "]),
        (&["recv", "--pin", "5f"], &["--pin", "`5f`", "accepted: "]),
        (&["link", "--rate", "40"], &["--rate 40: ", "accepted: "]),
        (&["link", "--rate-trace", "none"], &["--rate-trace none", "accepted: "]),
        (&["link", "--rate-trace", "rates.txt"], &["rates.txt:1: ", "accepted: "]),
        (&["link", "--loss", "1"], &["--loss", "1", "accepted: "]),
        (&["link", "--back-buffer", "1"], &["--back-buffer 1: ", "accepted: "]),
        (&["link", "--mtu", "x"], &["--mtu", "'x'", "accepted: "]),
        (&["link", "--seed", "x"], &["--seed", "'x'", "accepted: "]),
        (&["link", "--spin", "5"], &["--spin 5: ", "accepted: "]),
        (&["link", "--duration", "5"], &["--duration 5: ", "accepted: "]),
        (&["kernel", "load", "nothing"], &["`nothing`", "accepted: "]),
        (&["kernel", "load", "xcp"], &["xcp", "accepted: "]),
        (&["kernel", "unload"], &["CONTROL"]),
        (&["kernel", "status", "x"], &["'x'", "kernel --help"]),
        (&["list", "astrt"], &["`astrt`", "did you mean `astart`", "accepted: "]),
    ];
    for (words, parts) in cases {
        refused(&place.run(&[words, &["--json"][..]].concat()), 2, parts);
    }
    assert_eq!(place.files(), ["grid.toml", "rates.txt"]);
}

#[test]
fn wrong_input_leaves_no_output_directory() {
    let place = Place::new();
    refused(&place.run(&["compare", "vegass", "--out", "out"]), 2, &["vegass"]);
    refused(&place.run(&["compare", "--rate", "40", "--out", "out"]), 2, &["--rate"]);
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn a_key_without_effect_is_refused_by_its_name() {
    let refused = |words: &[&str], message: &str| {
        let outcome = run(&[&["compare", "newreno", "--duration", "1s"], words].concat());
        assert_eq!(outcome.code, 2, "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{words:?}: {outcome:?}");
    };
    refused(&["--ecn-threshold", "20pkt"], "--ecn-threshold 20pkt: no flow has packets to mark");
    refused(&["--on", "quic", "--recovery", "sack"], "recovery: found recovery = ");
    for (flag, value) in
        [("--syn", "true"), ("--pacing", "false"), ("--tso", "false"), ("--rto-min", "200ms")]
    {
        let message = format!("{flag} {value}: no effect with quinn's QUIC; accepted: with ");
        refused(&["--on", "quic", flag, value], &message);
    }
    for (flag, value, support) in [
        ("--impatient", "true", "recovery newreno"),
        ("--limited-transmit", "false", "recovery tahoe, reno, newreno, sack of ns2"),
        ("--duplicate-acks", "4", "recovery tahoe, reno, newreno, quic, or quinn's QUIC"),
        ("--quick-acks", "false", "the simulator's TCP, where delayed_ack is 2 or more"),
        ("--pacer", "linux", "the simulator's TCP, where pacing is false"),
    ] {
        let message =
            format!("{flag} {value}: no effect with recovery rack; accepted: with {support}");
        let paces = if flag == "--pacer" { &["--pacing", "true"][..] } else { &[] };
        refused(&[paces, &[flag, value]].concat(), &message);
    }
    refused(&["--ns2-release", "2.26"], "no effect with profile linux; accepted: with profile ns2");
    refused(&["--seed", "18446744073709551615"], "out of range; accepted: a whole number from 0");
}

#[test]
fn who_is_sent_to_is_asked_for_with_both_of_its_flags() {
    let outcome = run(&["send", "127.0.0.1:9", "--size", "1MB"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("--pin ") && outcome.stderr.contains("--trust "),
        "{outcome:?}"
    );
    let place = Place::new();
    place.write("empty.pem", "");
    let outcome = place.run(&["send", "127.0.0.1:9", "--size", "1MB", "--trust", "empty.pem"]);
    assert!(outcome.stderr.contains("found no certificates in it; accepted: "), "{outcome:?}");
}

#[test]
fn a_receiver_that_cannot_listen_leaves_no_folder_behind() {
    let place = Place::new();
    // TEST-NET-1 is nobody's address.
    let outcome = place.run(&["recv", "--listen", "192.0.2.1:4433", "--dir", "a/b"]);
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(place.files().is_empty(), "{:?}", place.files());
}
