//! `firstflight show`, on logs of simulated flows and of other stacks.

use std::fs;

use serde_json::Value;

use crate::process::{Outcome, Place};
use crate::qlog_rules::validate;
use crate::small_disk::on_small_disk;

/// A place with the log of a flow that leaves start-up by a loss.
fn traced() -> (Place, Value) {
    let place = Place::new();
    place.write("s.toml", "controls = ['newreno']\nduration = '20s'\n[path]\nbuffer = '0.5bdp'");
    let outcome = place.run(&["run", "s.toml", "--trace", "t", "--json", "--ssthresh", "none"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let results = serde_json::from_str(&outcome.stdout).unwrap();
    (place, results)
}

#[test]
fn the_log_of_a_simulated_flow_tells_the_start_up_that_the_results_tell() {
    let (place, results) = traced();
    let log = fs::read(place.path("t/newreno.flow-0.sqlog")).unwrap();
    let events = validate(&log).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(events > 100, "{events} events");
    let outcome = place.run(&["show", "t/newreno.flow-0.sqlog", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(shown["schema"], "firstflight/show@1");
    assert_eq!((&shown["qlog_version"], &shown["vantage"]), (&"0.3".into(), &"client".into()));
    let (exit, startup) = (&shown["startup"]["exit"], &results["runs"][0]["flows"][0]["startup"]);
    assert_eq!((&exit["reason"], &exit["evidence"]), (&startup["exit_reason"], &"state".into()));
    assert_eq!(exit["reason"], "loss");
    let apart = exit["time_s"].as_f64().unwrap() - startup["exit_time_s"].as_f64().unwrap();
    assert!(apart.abs() < 1e-6, "{apart}");
    let packets = startup["exit_cwnd_packets"].as_u64().unwrap();
    assert_eq!(exit["cwnd_bytes"], packets * 1_000);
}

#[test]
fn show_draws_windows_and_rtt_and_writes_a_report() {
    let (place, _) = traced();
    let outcome = place.run(&["show", "t/newreno.flow-0.sqlog", "--out", "report"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for word in ["window (kB)", "RTT (ms)", "cwnd", "ssthresh", "end of start-up", "loss"] {
        assert!(outcome.stdout.contains(word), "no {word} in {}", outcome.stdout);
    }
    let read = |name: &str| fs::read_to_string(place.path("report").join(name)).unwrap();
    assert!(read("figures/startup.svg").starts_with("<svg"));
    assert!(read("report.html").contains("firstflight show t/newreno.flow-0.sqlog"));
    assert!(serde_json::from_str::<Value>(&read("show.json")).is_ok());
}

#[test]
fn the_drawing_ends_where_it_is_told_to() {
    let (place, results) = traced();
    let last = |words: &[&str]| {
        let outcome = place.run(words);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let data = fs::read_to_string(place.path("r/data/startup.csv")).unwrap();
        let times = data.lines().skip(1).filter_map(|line| line.split(',').nth(2)?.parse().ok());
        times.fold(0.0, f64::max)
    };
    let log = "t/newreno.flow-0.sqlog";
    assert_eq!(last(&["show", log, "--out", "r", "--until", "1500ms"]), 1.5);
    assert!(last(&["show", log, "--out", "r", "--all"]) > 19.0);
    let exit = results["runs"][0]["flows"][0]["startup"]["exit_time_s"].as_f64().unwrap();
    let drawn = last(&["show", log, "--out", "r"]);
    assert!(drawn > exit && drawn < 19.0, "{drawn}");
}

#[test]
fn a_log_that_breaks_off_is_drawn_as_far_as_it_goes() {
    let (place, _) = traced();
    let log = fs::read(place.path("t/newreno.flow-0.sqlog")).unwrap();
    let record = log[..log.len() / 2].iter().rposition(|byte| *byte == 0x1e).unwrap();
    place.write("cut.sqlog", &log[..record + 20]);
    let outcome = place.run(&["show", "cut.sqlog"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.starts_with("firstflight: left out: cut.sqlog, record "));
    assert!(outcome.stderr.contains("EOF while parsing"), "{}", outcome.stderr);
}

#[test]
fn one_document_that_breaks_off_is_drawn_as_far_as_it_goes_and_said_to_be_truncated() {
    let place = Place::new();
    let whole = include_bytes!("../../../qlog/tests/logs/aioquic.qlog");
    place.write("whole.qlog", whole);
    place.write("cut.qlog", &whole[..whole.len() * 9 / 10]);
    let shown = |file: &str| {
        let outcome = place.run(&["show", file, "--json"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        (serde_json::from_str::<Value>(&outcome.stdout).unwrap(), outcome.stderr)
    };
    let ((whole, quiet), (cut, errors)) = (shown("whole.qlog"), shown("cut.qlog"));
    assert_eq!((&whole["truncated"], quiet.as_str()), (&false.into(), ""));
    assert_eq!((&cut["truncated"], &cut["skipped_records"]), (&true.into(), &1.into()));
    assert_eq!(cut["startup"]["exit"], whole["startup"]["exit"]);
    assert!(cut["startup"]["bytes_sent"].as_u64() < whole["startup"]["bytes_sent"].as_u64());
    for part in ["left out: cut.qlog, the end: EOF while parsing", "cut.qlog is truncated; "] {
        assert!(errors.contains(part), "no `{part}` in {errors}");
    }
}

#[test]
fn what_cannot_be_shown_is_told_in_one_line() {
    let place = Place::new();
    place.write("table.csv", "time_s,cwnd\n");
    place.write(
        "receiver.sqlog",
        "\u{1e}{\"qlog_version\":\"0.3\",\"trace\":{}}\n\
         \u{1e}{\"time\":1,\"name\":\"transport:packet_received\",\"data\":{}}\n",
    );
    let refused = |words: &[&str], part: &str| {
        let outcome = place.run(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "no `{part}` in {}", outcome.stderr);
    };
    refused(&["show", "none.sqlog"], "none.sqlog: no such file");
    refused(
        &["show", "table.csv"],
        "table.csv: no record that is known, begins with \"time_s,cwnd\\n\";",
    );
    refused(&["show", "receiver.sqlog"], "only `transport:packet_received`; accepted: a log with");
    refused(&["show", "receiver.sqlog", "--connection", "2"], "--connection 2: the log has 1");
    refused(&["show", "receiver.sqlog", "--connection", "0"], "accepted: 1 to 1");
    refused(&["show", "receiver.sqlog", "--until", "5"], "--until");
    refused(&["show"], "<FILE>");
}

/// What `show` finds in the log of a control on 20 Mbit/s, 100 ms and half a BDP, which really
/// was that path.
fn findings(control: &str, flags: &[&str], named: [&str; 3]) -> Vec<String> {
    let place = Place::new();
    let [rate, rtt, buffer] = named;
    let path = ["--rate", "20Mbps", "--rtt", "100ms", "--buffer", "0.5bdp", "--profile", "quic"];
    let all = [&["compare", control, "--trace", "t", "--json"][..], &path, flags].concat();
    let outcome = place.run(&all);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let file = format!("t/{control}.flow-0.sqlog");
    let words = ["show", &file, "--rate", rate, "--rtt", rtt, "--buffer", buffer, "--json"];
    let outcome = place.run(&words);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = shown["judged"]["findings"].as_array().unwrap().iter();
    found.map(|found| found["finding"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_log_on_a_known_path_is_early_late_or_fine() {
    let here = ["20Mbps", "100ms", "0.5bdp"];
    // Scout asks five more rounds on the full path.
    let size = &["--size", "6MB"];
    assert_eq!(findings("slow-start", size, here), ["late"]);
    assert_eq!(findings("scout", size, here), ["fine"]);
    // The same log on a path that holds five times as much.
    assert_eq!(findings("scout", size, ["100Mbps", "100ms", "0.5bdp"]), ["early"]);
    assert_eq!(findings("slow-start", &["--size", "300kB"], here), ["fine"]);
    assert_eq!(findings("slow-start", &["--size", "30kB"], here), ["limited-by-application"]);
}

#[test]
fn show_sets_a_log_beside_the_references_and_says_where_the_path_is_another() {
    let (place, _) = traced();
    let log = "t/newreno.flow-0.sqlog";
    let outcome = place.run(&["show", log, "--rate", "10Mbps", "--rtt", "7ms", "--out", "r"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for word in ["Beside the references", "this log", "slow-start+cubic", "hystart-pp", "late: "] {
        assert!(outcome.stdout.contains(word), "no {word} in {}", outcome.stdout);
    }
    assert!(outcome.stderr.contains("--rtt says 7 ms"), "{outcome:?}");
    let page = fs::read_to_string(place.path("r/report.html")).unwrap();
    assert!(page.contains("Beside the references") && page.contains("late: "));
    for (wrong, says) in [
        (&["show", log, "--rate", "10Mbps"][..], "--rtt"),
        (&["show", log, "--rate", "10", "--rtt", "1s"], "--rate"),
        (&["show", log, "--rate", "1Mbps", "--rtt", "1s", "--buffer", "x"], "--buffer"),
    ] {
        let outcome = place.run(wrong);
        assert_eq!((outcome.code, outcome.stderr.contains(says)), (2, true), "{outcome:?}");
    }
}

/// The words are those for a qlog: 21 packets were lost, which is more than slow start loses there.
#[test]
fn a_capture_of_the_kernel_is_set_beside_the_references() {
    let place = Place::new();
    place.write("sent.pcap", include_bytes!("../../../record/tests/records/cubic.pcap"));
    let path = ["--rate", "20Mbps", "--rtt", "40ms", "--buffer", "0.25bdp"];
    let words = [&["show", "sent.pcap", "--json"][..], &path].concat();
    let outcome = place.run(&words);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&shown["form"], &shown["startup"]["packets_lost"]), (&"pcap".into(), &21.into()));
    assert_eq!(shown["startup"]["exit"]["evidence"], "flight");
    let slow_start = shown["judged"]["references"][0]["lost_packets"].as_u64().unwrap();
    assert!((15..=27).contains(&slow_start), "Linux lost 21, the simulator {slow_start}");
    let of = |found: &Value| found["finding"].as_str().unwrap().to_owned();
    let findings: Vec<String> =
        shown["judged"]["findings"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(findings, [if slow_start < 21 { "lossy" } else { "fine" }]);
    let drawn = place.run(&["show", "sent.pcap"]);
    assert!(drawn.stdout.contains("window (kB)"), "{}", drawn.stdout);
    assert!(drawn.stdout.contains("in flight"), "{}", drawn.stdout);
}

#[test]
fn the_output_of_ss_is_set_beside_the_references() {
    let place = Place::new();
    place.write("ss.txt", include_bytes!("../../../record/tests/records/cubic.txt"));
    let path = ["--rate", "20Mbps", "--rtt", "40ms", "--buffer", "0.5bdp"];
    let outcome = place.run(&[&["show", "ss.txt"][..], &path].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(outcome.stdout.contains("fine: start-up ended at 110 kB"), "{}", outcome.stdout);
}

/// Every packet of the capture made UDP by its IP header.
#[test]
fn of_udp_only_bytes_over_time_are_shown_and_no_verdict() {
    let place = Place::new();
    let mut udp = include_bytes!("../../../record/tests/records/cubic.pcap").to_vec();
    let mut at = 24;
    while at + 16 <= udp.len() {
        udp[at + 16 + 9] = 17;
        at += 16 + u32::from_le_bytes(udp[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    place.write("udp.pcap", &udp);
    let shown = place.run(&["show", "udp.pcap"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stderr.contains("only bytes over time can be seen of UDP"), "{}", shown.stderr);
    assert!(shown.stdout.contains("sending (Mbps)"), "{}", shown.stdout);
    let judged = place.run(&["show", "udp.pcap", "--rate", "20Mbps", "--rtt", "40ms"]);
    assert_eq!((judged.code, judged.stdout.as_str()), (2, ""));
    assert!(judged.stderr.contains("--rate: udp.pcap is a capture of UDP"), "{}", judged.stderr);
}

/// A log of a sender that rests for most of the time, as an application's messages let it.
#[test]
fn a_log_with_pauses_is_the_application_s() {
    let place = Place::new();
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}"#;
    let mut text = format!("{header}\n");
    let mut cwnd = 12_000;
    for burst in 0..10 {
        let begin = burst * 10_000;
        for packet in 0..40 {
            let number = burst * 40 + packet;
            let sent = format!(
                r#"{{"time":{},"name":"transport:packet_sent","data":{{"header":{{"packet_type":
                "1RTT","packet_number":{number}}},"raw":{{"length":1250}}}}}}"#,
                begin + packet
            );
            text += &(sent.replace('\n', "") + "\n");
        }
        cwnd = (cwnd * 2).min(100_000);
        let line = format!(
            r#"{{"time":{},"name":"recovery:metrics_updated","data":{{"congestion_window":{cwnd},
            "ssthresh":100000,"bytes_in_flight":9000,"smoothed_rtt":30,"min_rtt":30}}}}"#,
            begin + 60
        );
        text += &(line.replace('\n', "") + "\n");
    }
    place.write("pauses.sqlog", text);
    let outcome =
        place.run(&["show", "pauses.sqlog", "--rate", "20Mbps", "--rtt", "30ms", "--json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let finding = &shown["judged"]["findings"][0]["finding"];
    assert_eq!(finding, "limited-by-application", "{shown}");
    let limits = shown["limits"].as_array().unwrap();
    assert!(limits.iter().all(|it| it["by"] == "application"), "{limits:?}");
    let lasted = |it: &Value| it["to_s"].as_f64().unwrap() - it["from_s"].as_f64().unwrap();
    assert!(limits.iter().map(lasted).sum::<f64>() > 85.0, "{limits:?}");
}

#[test]
fn a_file_names_its_connections_and_which_one_is_shown() {
    let place = Place::new();
    let header = r#"{"qlog_version":"0.3","title":"t","trace":{}}"#;
    let window = |path: u32, at: u32| {
        format!(
            r#"{{"time":{at},"path_id":{path},"name":"recovery:metrics_updated","data":{{
            "congestion_window":{}}}}}"#,
            12_000 * at
        )
        .replace('\n', "")
    };
    let lines = [header.to_owned(), window(0, 1), window(7, 2), window(7, 3)];
    place.write("two.sqlog", lines.join("\n"));
    let shown = place.run(&["show", "two.sqlog"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let first = "t path 7, number 2 of 2 (--connection N shows another, --list names all)\n";
    assert!(shown.stdout.starts_with(first), "{}", shown.stdout);
    let listed = place.run(&["show", "two.sqlog", "--list"]);
    assert!(listed.stdout.contains("2 (shown)     t path 7"), "{}", listed.stdout);
    let listed = place.run(&["show", "two.sqlog", "--list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["connections"][0]["title"], "t path 0");
    assert_eq!(listed["connections"][1]["events"], 2);
}

/// A log of a start-up that grew by a packet in a round, and got there.
#[test]
fn a_start_up_that_took_far_longer_than_the_references_is_slow() {
    let place = Place::new();
    let mut text = "{\"qlog_version\":\"0.3\",\"trace\":{}}\n".to_owned();
    for round in 0..60_u32 {
        let (at, cwnd) = (round * 100, 12_000 + round * 4_200);
        let line = format!(
            r#"{{"time":{at},"name":"recovery:metrics_updated","data":{{"congestion_window":{cwnd},
            "ssthresh":252000,"bytes_in_flight":{cwnd},"smoothed_rtt":100}}}}"#
        );
        text += &(line.replace('\n', "") + "\n");
    }
    place.write("slow.sqlog", text);
    let outcome =
        place.run(&["show", "slow.sqlog", "--rate", "20Mbps", "--rtt", "100ms", "--json"]);
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(shown["judged"]["findings"][0]["finding"], "slow", "{shown}");
}

/// What comes through a pipe and is long is kept in the folder for temporary files.
#[test]
fn a_full_disk_is_told_where_a_pipe_is_kept() {
    let place = Place::new();
    let script = "head -c 20000000 /dev/zero | TMPDIR=small \"$0\" show -";
    let Some(outcome) = on_small_disk(&place, "64k", script) else { return };
    let Outcome { code, stderr, .. } = outcome;
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("standard input: no room to unpack or to keep it in"), "{stderr}");
}

/// A recording of `kernel watch`: two connections and the summary.
const WATCHED: &str = concat!(
    r#"{"schema":"firstflight/connection@1","began_s":1.5,"duration_s":2.0,"#,
    r#""local":"192.0.2.1:443","remote":"[2001:db8::1]:5000","accepted":true,"control":"cubic","#,
    r#""slow_start_end":"loss","slow_start_ended":true,"end_cwnd_packets":294,"#,
    r#""end_after_s":[0.25,0.296],"end_rate_bps":40000000,"end_srtt_s":0.041,"timeouts":null,"#,
    r#""acked_bytes":6000000,"sent_again_bytes":9000,"sent_again_packets":7,"lost_packets":6,"#,
    r#""marked_packets":0,"mss_bytes":1448,"longest_cwnd_packets":300,"cwnd_packets":150,"#,
    r#""min_rtt_s":0.04,"srtt_s":0.05}"#,
    "\n",
);

#[test]
fn a_recording_of_a_host_is_a_table_and_one_of_its_connections_tells_all() {
    let place = Place::new();
    let open = WATCHED
        .replace("\"loss\",\"slow_start_ended\":true", "\"application\",\"slow_start_ended\":false")
        .replace("[0.25,0.296]", "null");
    let summary = "{\"schema\":\"firstflight/watch@1\",\"began\":2}\n";
    place.write("c.jsonl", [WATCHED, &open, "{\"schema\":1}\n", summary].concat());
    let outcome = place.run(&["show", "c.jsonl"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("1 line was left out; the first: c.jsonl:3: "), "{outcome:?}");
    for wanted in ["not at all:", "application", "294", " 6000 ", " 40"] {
        assert!(outcome.stdout.contains(wanted), "{wanted}: {outcome:?}");
    }
    let one = place.run(&["show", "c.jsonl", "--connection", "1"]);
    assert!(one.stdout.contains("Retransmission timeouts until its end"), "{one:?}");
    let shown: Value = serde_json::from_str(
        &place.run(&["show", "c.jsonl", "--connection", "2", "--json"]).stdout,
    )
    .unwrap();
    let [connection] = &shown["connections"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!(connection["end_not_after_s"], Value::Null);
    assert_eq!(connection["slow_start_end"], "application");
    let none = place.run(&["show", "c.jsonl", "--connection", "3"]);
    assert!(none.stderr.contains("--connection 3: the file has 2; accepted: 1 to 2"), "{none:?}");
    let curve = place.run(&["show", "c.jsonl", "--all"]);
    assert_eq!(curve.code, 2);
    assert!(curve.stderr.contains("no curve to draw or judge; accepted: --connection, --list"));
    assert_eq!(place.run(&["show", "c.jsonl", "--out", "tables"]).code, 0);
    let table = fs::read_to_string(place.path("tables/connections.csv")).unwrap();
    let line = "1.5,2,192.0.2.1:443,[2001:db8::1]:5000,true,cubic,loss,true,294,0.25,0.296,";
    assert!(table.lines().nth(1).unwrap().starts_with(line), "{table}");
    assert_eq!(table.lines().count(), 3);
}

/// A recording of `kernel trial`: what it is, and a connection.
const TRIED: [&str; 2] = [
    concat!(
        r#"{"schema":"firstflight/trial-recording@1","control":"ff_scout","against":"cubic","#,
        r#""share":0.05,"to":"::/0","port":443,"by":"connection","bytes":100000,"age_s":1.0,"#,
        r#""tolerance":0.02,"seed":7}"#,
        "\n"
    ),
    concat!(
        r#"{"after_s":1.5,"minute":7,"local":"192.0.2.1:443","remote":"192.0.2.9:5000","#,
        r#""tried":true,"control":"ff_scout","refused":false,"time_to_bytes_s":null,"#,
        r#""bytes_at_age":120000.5,"srtt_s":0.04,"acked_bytes":150000,"sent_again_bytes":50,"#,
        r#""timeouts":1,"broken_off":false}"#,
        "\n"
    ),
];

#[test]
fn a_recording_of_a_trial_is_read_without_a_kernel_and_its_connections_are_a_table() {
    let place = Place::new();
    let [head, line] = TRIED;
    // More than are in memory at a time, and what a command that was killed wrote.
    let (count, cut) = (8_200, &line[..line.len() / 2]);
    place.write("t.jsonl", [head, &line.repeat(count), cut].concat());
    let outcome = place.run(&["show", "t.jsonl", "--json", "--out", "page"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let shown: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(shown["connections"], serde_json::json!([0, count]));
    assert!(fs::read_to_string(place.path("page/report.html")).unwrap().contains("ff_scout"));
    let table = fs::read_to_string(place.path("page/connections.csv")).unwrap();
    let row = "1.5,7,192.0.2.1:443,192.0.2.9:5000,true,ff_scout,false,,120000.5,0.04,150000,50,1,";
    assert!(table.lines().nth(count).unwrap().starts_with(row), "{table:.2000}");
    assert_eq!(table.lines().count(), count + 1);
    place.write("t.jsonl", [head, line, "{}\n"].concat());
    let outcome = place.run(&["show", "t.jsonl", "--out", "other"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("t.jsonl: after "), "{outcome:?}");
    assert!(!place.path("other/connections.csv").exists());
    place.write("t.jsonl", head.replace("recording@1", "recording@2"));
    let outcome = place.run(&["show", "t.jsonl"]);
    assert!(outcome.stderr.contains("accepted: \"firstflight/trial-recording@1\""), "{outcome:?}");
}
