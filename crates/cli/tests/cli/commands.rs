//! What the commands print and write when all is well, and how they end when it is not.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{Outcome, Place, run, wait_until};

pub(crate) fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).expect("standard output is one JSON document")
}

#[test]
fn compare_runs_the_controls_of_the_paper_side_by_side() {
    let outcome = run(&["compare"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for word in ["newreno", "hoe", "vegas", "astart", "cwnd (packets)", "throughput", "drops"] {
        assert!(outcome.stdout.contains(word), "no {word} in {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains('\x1b'), "no colours where there is no terminal");
}

#[test]
fn every_start_up_that_the_transport_carries_is_compared_and_the_others_say_why_not() {
    let names = |document: &Value, key: &str, name: &str| -> Vec<String> {
        let all = document[key].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one[name].as_str().unwrap_or_default().to_owned()).collect()
    };
    let cards = names(&json(&run(&["list", "--json"])), "startups", "name");
    let words = ["compare", "--all", "--json", "--size", "200KB"];
    let document = json(&run(&words));
    let simulated = names(&document, "runs", "alias");
    let startup = |one: &String| one.split('+').next().unwrap_or_default().to_owned();
    let startups: Vec<String> = simulated.iter().map(startup).collect();
    let refused: Vec<String> = names(&document, "refused", "control").iter().map(startup).collect();
    let rest: Vec<String> = cards.iter().filter(|it| !refused.contains(it)).cloned().collect();
    assert_eq!(startups[..rest.len()], rest, "all but those refused, in the order of the list");
    let pairs = &simulated[rest.len()..];
    assert!(pairs.contains(&"slow-start+cubic".to_owned()), "{pairs:?}");
    assert!(pairs.iter().all(|one| one.starts_with("slow-start+")), "{pairs:?}");
    assert!(startups.len() > refused.len() && refused.iter().all(|one| cards.contains(one)));
    let document = json(&run(&[&words[..], &["--on", "quic"]].concat()));
    let refused = names(&document, "refused", "control");
    assert!(refused.contains(&"xcp+xcp".to_owned()), "{refused:?}");
    assert!(document["refused"][0]["reason"].as_str().unwrap().contains("does not provide"));
    let over_quic: Vec<String> = names(&document, "runs", "alias").iter().map(startup).collect();
    let own = over_quic.iter().position(|one| one == "slow-start");
    let pairs = over_quic.iter().filter(|one| *one == "slow-start").count() - 1;
    assert!(own.is_some() && pairs > 0, "{over_quic:?}");
    assert_eq!(over_quic.len() - pairs + refused.len(), cards.len());

    let text = run(&["compare", "--all", "--size", "200KB", "--on", "quic"]).stdout;
    assert!(text.contains("Refused: control `xcp+xcp`: xcp needs routers"), "{text}");
    let seconds = |name: &str| -> f64 {
        let row = text.lines().find(|line| line.starts_with(name));
        let last = row.and_then(|row| row.split_whitespace().last()?.parse().ok());
        last.unwrap_or_else(|| panic!("no time of {name} in {text}"))
    };
    let place = |name: &str| text.find(&format!("\n{name}")).unwrap();
    assert!(seconds("packet-pair+") < seconds("gallop-vegas+"), "{text}");
    assert!(place("packet-pair+") < place("gallop-vegas+"), "the best first: {text}");
    let both = run(&["compare", "--all", "newreno"]);
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn a_window_that_a_control_does_not_take_is_said() {
    let own = run(&["compare", "liw", "newreno", "--iw", "2pkt", "--duration", "1s"]).stdout;
    assert!(own.contains("liw begins with a window of its own, 64KB, not with 2000B"), "{own}");
    assert!(!own.contains("newreno begins with"), "{own}");
    let usual = run(&["compare", "liw", "--duration", "1s"]).stdout;
    assert!(!usual.contains("of its own"), "{usual}");
}

#[test]
fn json_is_one_document_with_a_run_per_control_in_order() {
    let document = json(&run(&["compare", "hoe", "newreno", "--json", "--rate", "10Mbps"]));
    assert_eq!(document["schema"], "firstflight/results@1");
    assert_eq!(document["runs"][0]["alias"], "hoe");
    assert_eq!(document["runs"][1]["alias"], "newreno");
    assert_eq!(document["scenario"]["links"][0]["rate_bps"], 10_000_000);
    let utilization = document["runs"][0]["flows"][0]["utilization"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&utilization), "{utilization}");
}

#[test]
fn quic_runs_beside_tcp_in_one_file_and_measures_the_same_every_time() {
    let place = Place::new();
    let text = "duration = '2s'\n[[flow]]\ncontrol = 'newreno'\n[[flow]]\ncontrol = 'astart'\n\
        transport = 'quic'\n[[flow]]\ncontrol = 'quinn-cubic'\n";
    place.write("mix.toml", text);
    let file = place.path("mix.toml");
    let words = ["run", file.to_str().unwrap(), "--json"];
    let [mut first, mut second] = [(); 2].map(|()| json(&run(&words)));
    assert_eq!(first["runs"][0]["transport"], "sim, quic");
    assert_eq!(first["scenario"]["packet_bytes"], 1200);
    assert!(first["runs"][0]["flows"][2]["delivered_packets"].as_u64() > Some(100));
    for document in [&mut first, &mut second] {
        document["runs"][0]["cost"] = Value::Null;
    }
    assert_eq!(first, second);
}

#[test]
fn the_same_words_measure_the_same() {
    let words = ["compare", "newreno", "--loss", "0.5%", "--flows", "3", "--json"];
    let measured = || {
        let mut document = json(&run(&words));
        document["runs"][0]["cost"].take();
        document
    };
    assert_eq!(measured(), measured());
}

#[test]
fn out_holds_the_report_its_figures_data_and_results() {
    let place = Place::new();
    let words = ["compare", "newreno", "slow-start(iw=10pkt)", "--json", "--out", "a/b"];
    let outcome = place.run(&words);
    let printed = json(&outcome);
    assert!(outcome.stderr.contains("a/b/report.html"), "{}", outcome.stderr);
    let read = |name: &str| fs::read_to_string(place.path("a/b").join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&read("results.json")).unwrap(), printed);
    let page = read("report.html");
    let command = "compare newreno &#39;slow-start(iw=10pkt)&#39; --json --out a/b";
    assert!(page.matches(command).count() >= 2, "the command is in footer and caption");
    assert!(read("figures/over-time.svg").starts_with("<svg"));
    assert!(read("data/over-time.csv").starts_with("series,kind,time_s,cwnd_packets,"));
    assert!(read("data/summary.csv").contains("slow-start(iw=10pkt)"));
}

#[test]
fn a_size_adds_the_completion_time_and_flows_add_fairness() {
    let outcome = run(&["compare", "newreno", "--size", "100KB", "--flows", "2"]);
    assert!(outcome.stdout.contains("completion"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Jain"), "{}", outcome.stdout);
    assert!(!run(&["compare", "newreno"]).stdout.contains("completion"));
}

#[test]
fn runs_are_one_per_seed_and_the_table_shows_their_mean_and_interval() {
    let words = ["compare", "newreno", "astart", "--runs", "3", "--seed", "5", "--loss", "0.1%"];
    let outcome = run(&[&words[..], &["--json", "--duration", "5s"]].concat());
    let document = json(&outcome);
    let runs = document["runs"].as_array().unwrap();
    let found: Vec<String> =
        runs.iter().map(|run| format!("{} {}", run["alias"], run["seed"])).collect();
    let wanted = ["newreno", "astart"].map(|name| [5, 6, 7].map(|i| format!("\"{name}\" {i}")));
    assert_eq!(found, wanted.concat());
    let mbps: Vec<f64> =
        runs.iter().map(|run| run["total_throughput_bps"].as_f64().unwrap() / 1e6).collect();
    assert!(mbps[0] != mbps[1] && mbps[1] != mbps[2], "{mbps:?}");

    let table = run(&[&words[..], &["--duration", "5s"]].concat()).stdout;
    let mean = mbps[..3].iter().sum::<f64>() / 3.0;
    let squares: f64 = mbps[..3].iter().map(|value| (value - mean).powi(2)).sum();
    let half = 4.303 * (squares / 2.0 / 3.0).sqrt();
    let shown = match half > mean {
        true => format!("{mean:.2} (0 to {:.2})", mean + half),
        false => format!("{mean:.2} ± {half:.2}"),
    };
    assert!(table.contains(&shown), "{shown}\n{table}");
    assert!(table.contains("mean of 3 runs"), "{table}");
}

#[test]
fn an_expectation_is_for_every_run_and_names_the_seed_that_fails() {
    let place = Place::new();
    let text = "controls = ['newreno']\nruns = 3\nduration = '5s'\npath = { loss = '0.1%' }\n\
        [expect]\nflows.delivered_packets = '<= 1'\nbottleneck.utilization = '< 1'";
    fs::write(place.path("s.toml"), text).unwrap();
    let outcome = place.run(&["run", "s.toml", "--trace", "traces"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("newreno, seed 2: flows.0"), "{outcome:?}");
    assert!(place.path("traces/newreno.seed-3.flow-0.csv").is_file());
}

#[test]
fn sources_of_files_show_how_many_how_fast_and_how_long() {
    let place = Place::new();
    let text = "controls = ['newreno']\n[[flow]]\nfiles = { size = '100KB' }";
    fs::write(place.path("s.toml"), text).unwrap();
    let outcome = place.run(&["run", "s.toml", "--ssthresh", "1bdp"]);
    for part in ["files", "file throughput (Mbps)", "time of a file (s)"] {
        assert!(outcome.stdout.contains(part), "no {part} in {}", outcome.stdout);
    }
}

#[test]
fn the_longest_duration_comes_to_its_end() {
    let words = ["compare", "newreno", "--rate", "1kbps", "--duration", "12h", "--json"];
    assert_eq!(json(&run(&words))["runs"][0]["duration_s"], 43_200.0);
}

#[test]
fn run_ends_with_1_and_names_each_unmet_expectation() {
    let place = Place::new();
    let scenario = |limit: &str| {
        format!(
            "controls = ['newreno']\nprofile = 'rfc'\n[expect]\nutilization = '{limit}'\n\
             flows.timeouts = '== 0'"
        )
    };
    place.write("met.toml", scenario("< 0.9"));
    place.write("unmet.toml", scenario("> 0.9"));
    let met = place.run(&["run", "met.toml"]);
    assert_eq!((met.code, met.stderr.as_str()), (0, ""));
    let unmet = place.run(&["run", "unmet.toml"]);
    assert_eq!(unmet.code, 1);
    assert!(unmet.stderr.contains("newreno: utilization is 0.24"), "{}", unmet.stderr);
    assert!(unmet.stderr.contains("expected > 0.9"), "{}", unmet.stderr);
    assert!(unmet.stdout.contains("fail"), "{}", unmet.stdout);
    let unmet = place.run(&["run", "unmet.toml", "--json"]);
    assert_eq!(unmet.code, 1);
    assert!(serde_json::from_str::<Value>(&unmet.stdout).is_ok());
}

/// Files of before had other endpoints where they named none.
#[test]
fn a_failed_expectation_is_told_alone_and_by_no_profile_that_was_not_asked_for() {
    let place = Place::new();
    place.write("s.toml", "controls = ['hoe']\n[expect]\nutilization = '< 0.5'");
    let outcome = place.run(&["run", "s.toml"]);
    assert_eq!(outcome.code, 1);
    let line: Vec<&str> = outcome.stderr.lines().collect();
    let [line] = line[..] else { panic!("{outcome:?}") };
    assert!(line.starts_with("firstflight: not as expected: hoe: utilization is 0."), "{line}");
}

#[test]
fn the_endpoints_in_force_stand_in_every_header_table_and_figure() {
    let place = Place::new();
    let words = ["compare", "hoe", "liw", "--duration", "1s", "--out", "o"];
    let printed = place.run(&words).stdout.replace("\n  ", " ");
    let all = "profile linux: IW 10 packets, no ssthresh, recovery RACK, no pacing";
    assert_eq!(printed.matches(all).count(), 1, "above plot and table: {printed}");
    assert_eq!(printed.matches("liw: IW 64 packets").count(), 1, "below them: {printed}");
    let common = format!("{all}; liw: IW 64");
    let common = common.as_str();
    let read = |name: &str| fs::read_to_string(place.path("o").join(name)).unwrap();
    assert_eq!(read("report.html").matches(common).count(), 1, "below the page's heading");
    assert!(read("figures/over-time.svg").contains("profile linux: IW 10 packets"));
    let quic = run(&["compare", "hoe", "--on", "quic", "--duration", "1s"]).stdout;
    assert!(quic.contains("quinn's endpoints: IW 10 packets"), "{quic}");
    let predicted = run(&["predict"]).stdout;
    assert!(predicted.contains("profile linux: IW 10 packets, no ssthresh"), "{predicted}");
}

#[test]
fn path_flags_replace_what_the_file_says() {
    let place = Place::new();
    place.write("s.toml", "controls = ['newreno']\nseed = 1\n[path]\nrate = '10Mbps'");
    let document = json(&place.run(&["run", "s.toml", "--json", "--rate", "5Mbps", "--seed", "7"]));
    assert_eq!(document["scenario"]["links"][0]["rate_bps"], 5_000_000);
    assert_eq!(document["runs"][0]["seed"], 7);
}

#[test]
fn trace_writes_one_table_per_flow_and_link() {
    let place = Place::new();
    place.write("s.toml", "controls = ['newreno']\nduration = '2s'");
    let outcome = place.run(&["run", "s.toml", "--trace", "traces", "--flows", "2", "--json"]);
    json(&outcome);
    let flow = fs::read_to_string(place.path("traces/newreno.flow-1.csv")).unwrap();
    assert!(flow.starts_with("time_s,flow,cwnd_packets,"), "{flow}");
    let queue = fs::read_to_string(place.path("traces/newreno.link-bottleneck.csv")).unwrap();
    assert!(queue.lines().count() > 10);
}

#[test]
fn list_names_everything_that_runs() {
    let text = run(&["list"]).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 100), "a line per name: {text}");
    let document = json(&run(&["list", "--json"]));
    assert_eq!(document["schema"], "firstflight/list@1");
    for kind in ["startups", "avoidances", "around", "aliases", "profiles", "path_flags"] {
        for entry in document[kind].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            assert!(text.contains(name), "`list` does not name {name}");
            let alone = json(&run(&["list", name.trim_start_matches('-'), "--json"]));
            assert!(!alone[kind].as_array().unwrap().is_empty(), "`list {name}` is empty");
        }
    }
    for alias in document["aliases"].as_array().unwrap() {
        let name = alias["name"].as_str().unwrap();
        json(&run(&["compare", name, "--duration", "1s", "--json"]));
    }
    let knobs = document["startups"][0]["knobs"].as_array().unwrap();
    assert!(knobs.iter().all(|knob| knob["accepted"].is_string() && knob["doc"].is_string()));
}

#[test]
fn help_has_examples_everywhere() {
    for command in ["reproduce", "compare", "run", "list", "show", "completions", "manual"] {
        let help = run(&[command, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.stdout.contains("Examples:"), "{}", help.stdout);
    }
    let compare = run(&["compare", "--help"]).stdout;
    assert!(compare.contains("\nPath:\n") && compare.contains("\nEndpoints:\n"), "{compare}");
    assert!(compare.contains("--access-delay <TIME>"), "{compare}");
    assert!(run(&["--version"]).stdout.starts_with("firstflight 0."));
}

#[test]
fn completions_know_the_path_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = run(&["completions", shell]);
        assert_eq!(outcome.code, 0);
        assert!(outcome.stdout.contains("access-delay"), "{shell}");
    }
}

/// As `firstflight list | head -1`.
#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    for words in [&["list"][..], &["list", "--json"], &["compare", "newreno"], &["--help"]] {
        let mut command = place.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}: {stderr}");
        assert_eq!(stderr, "", "{words:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_told() {
    let place = Place::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "not wrong usage");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("firstflight: cannot write"));
}

/// By a limit on the size of files, which every Unix has.
#[cfg(unix)]
#[test]
fn a_report_without_room_is_no_wrong_usage() {
    let place = Place::new();
    let program = place.command(&["compare", "hoe", "--duration", "1s", "--out", "o"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "sh"]);
    shell.arg(program.get_program()).args(program.get_args());
    let output = shell.current_dir(program.get_current_dir().unwrap()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("cannot write o") && errors.contains("make room there"), "{errors}");
}

#[test]
fn figures_take_the_width_of_a_column_and_come_as_pdf_too() {
    let place = Place::new();
    let words = ["compare", "hoe", "--duration", "1s", "--out", "o", "--figure-width"];
    assert_eq!(place.run(&[&words[..], &["88mm"]].concat()).code, 0);
    let svg = fs::read_to_string(place.path("o/figures/over-time.svg")).unwrap();
    assert!(svg.starts_with("<svg width=\"88mm\""), "{}", &svg[..60]);
    let pdf = fs::read(place.path("o/figures/over-time.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let wrong = place.run(&[&words[..], &["88"]].concat());
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("accepted: 88mm, 18cm"), "{}", wrong.stderr);
    assert_eq!(run(&["compare", "hoe", "--figure-width", "88mm"]).code, 2, "nothing to draw");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_ends_a_run_soon_and_leaves_nothing_half_written() {
    let place = Place::new();
    let words = ["compare", "newreno", "--rate", "1Gbps", "--duration", "12h", "--out", "out"];
    let mut command = place.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    wait_until("a handler of Ctrl-C", || catches_ctrl_c(&id));
    std::thread::sleep(Duration::from_millis(300));
    let before = Instant::now();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(before.elapsed() < Duration::from_secs(20), "it stops soon");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(output.stdout, b"");
    let stderr = BufReader::new(&output.stderr[..]).lines().next().unwrap().unwrap();
    assert!(stderr.contains("interrupted"), "{stderr}");
    assert_eq!(place.files(), [""; 0], "nothing half-written");
}

/// The second bit of `SigCgt` is SIGINT's (proc_pid_status(5)).
#[cfg(target_os = "linux")]
fn catches_ctrl_c(id: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
}

#[test]
fn a_list_says_what_a_start_up_goes_on_with_and_checks_knobs() {
    let hystart = run(&["list", "hystart"]);
    assert!(hystart.stdout.contains("goes on with: cubic"), "{hystart:?}");
    assert!(run(&["list", "quic"]).stdout.contains("profile quic"));
    for (control, part) in [("astart(ere.eps=2)", "ere.eps"), ("astart+nosuch", "nosuch")] {
        let outcome = run(&["list", control]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(
            outcome.stderr.contains(part) && outcome.stderr.contains("accepted"),
            "{outcome:?}"
        );
    }
    assert_eq!(run(&["list", "astart(ere.eps=0.5)+cubic"]).code, 0);
}

#[test]
fn a_start_up_with_another_landing_is_named_so_in_lists_and_results() {
    let control = "landed(hystart-pp(css_rounds=3))+cubic";
    let list = run(&["list", control]).stdout;
    assert!(list.contains("landed(<start-up>)") && list.contains("start-up hystart-pp"), "{list}");
    let document = json(&run(&["compare", control, "--duration", "1s", "--json"]));
    assert_eq!(document["runs"][0]["control"], control);
    let over_quic = run(&["compare", control, "--on", "quic", "--duration", "1s", "--json"]);
    assert_eq!(json(&over_quic)["runs"][0]["transport"], "quic");
    for wrong in ["landed", "landed()", "landed(nosuch)", "landed(linux-cubic)"] {
        let outcome = run(&["compare", wrong]);
        assert!(outcome.code == 2 && outcome.stderr.contains("accepted"), "{outcome:?}");
    }
}

#[test]
fn results_over_quic_name_quics_recovery() {
    let outcome = run(&["compare", "newreno", "--on", "quic", "--duration", "1s", "--json"]);
    assert!(outcome.stdout.contains("\"recovery\": \"quic\""), "{outcome:?}");
}
