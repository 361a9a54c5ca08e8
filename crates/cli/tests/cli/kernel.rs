//! `kernel`: what needs no kernel at all, and where it can be had the whole way from load to
//! unload.

use crate::process::{Place, run};

#[test]
fn a_control_is_checked_before_the_machine_is() {
    for (control, wanted) in [
        ("nonsense", "unknown start-up `nonsense`"),
        ("slow-start+fast", "no kernel version of slow-start+fast"),
        ("newreno(sums=double)", "eBPF has no floating point; accepted: exact"),
    ] {
        let outcome = run(&["kernel", "load", control]);
        assert_eq!(outcome.code, 2, "{control}: {outcome:?}");
        assert!(outcome.stderr.contains(wanted), "{control}: {}", outcome.stderr);
    }
}

/// As for `kernel load`: nothing that could be added to the machine would help.
#[cfg(target_os = "linux")]
#[test]
fn a_control_without_a_kernel_version_is_wrong_input_for_the_lab_too() {
    let outcome = run(&["compare", "limited", "--on", "linux"]);
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (2, 1), "{outcome:?}");
    assert!(outcome.stderr.contains("no kernel version of limited+newreno"), "{outcome:?}");
}

#[test]
fn help_tells_which_controls_there_are_and_how_to_use_one() {
    let help = run(&["kernel", "load", "--help"]).stdout;
    for wanted in ["astart", "newreno", "tcpw-a", "congctl", "tcp_congestion_control"] {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
}

/// A connection as `kernel watch --json` writes it, on a path of 20 Mbit/s and 100 ms.
fn watched(control: &str, end: &str, bytes: u64, cwnd: u64) -> String {
    let left = matches!(end, "loss" | "heuristic");
    let rate = if left { "20000000" } else { "null" };
    format!(
        "{{\"schema\":\"firstflight/connection@1\",\"duration_s\":9.5,\"control\":\"{control}\",\
         \"slow_start_end\":\"{end}\",\"slow_start_ended\":{left},\"end_rate_bps\":{rate},\
         \"acked_bytes\":{bytes},\"sent_again_bytes\":0,\"mss_bytes\":1448,\
         \"longest_cwnd_packets\":{cwnd},\"min_rtt_s\":0.1,\"srtt_s\":0.11}}\n"
    )
}

fn of_control<'a>(answer: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let mut controls = answer["controls"].as_array().unwrap().iter();
    controls.find(|control| control["control"] == name).unwrap()
}

#[test]
fn what_if_counts_what_no_control_changes_and_simulates_the_rest() {
    let place = Place::new();
    let lines = [
        watched("cubic", "application", 9_000, 10).repeat(6),
        watched("cubic", "receiver-window", 900_000, 40),
        watched("cubic", "application", 100_000, 80),
        watched("cubic", "heuristic", 1_000_000, 180).repeat(2),
        watched("bbr", "heuristic", 1_000_000, 180),
    ];
    place.write("connections.jsonl", lines.concat());
    let words = ["kernel", "what-if", "connections.jsonl", "--control", "scout"];
    let outcome = place.run(&[&words[..], &["--json"]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["schema"], "firstflight/what-if@1");
    assert_eq!((&answer["control"], &answer["others"]["bbr"]), (&"linux-cubic".into(), &1.into()));
    let parts = answer["parts"].as_array().unwrap().iter();
    let parts: Vec<u64> = parts.map(|part| part["connections"].as_u64().unwrap()).collect();
    assert_eq!(parts, [6, 1, 1, 2]);
    let scout = of_control(&answer, "scout");
    let number = |of: &serde_json::Value| of.as_f64().unwrap();
    assert!(number(&scout["over_own"]) < 0.9, "{scout}");
    for kind in ["stayed", "left"] {
        let saved = &scout[kind]["saved_median_s"];
        let [least, median, most] = ["least", "median", "most"].map(|key| number(&saved[key]));
        assert!(least <= median && median <= most && median > 0.0, "{kind}: {saved}");
    }
    assert_eq!(answer["waited"], 1.0, "9.5 s are recorded");
    let text = place.run(&words).stdout;
    assert!(text.contains("70 % of 10 connections under linux-cubic"), "{text}");
    assert!(text.contains("With scout, of the 20 % that left slow start half save"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// A transfer runs as it was recorded: where all is known but how many packets an ACK is for, the
/// times saved are those between the controls in `compare`.
#[test]
fn what_if_saves_what_compare_shows() {
    let place = Place::new();
    place.write("log.csv", "bytes,rtt_s,rate_bps\n2000000,0.08,30000000\n");
    let path = ["--buffer", "1bdp", "--loss", "0%", "--jitter", "1ns"];
    let words = [&["kernel", "what-if", "log.csv", "--control", "scout", "--json"], &path[..]];
    let answer = place.run(&words.concat());
    let answer: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    let saved = |acks: &str| {
        let flow = ["--rate", "30Mbps", "--rtt", "80ms", "--size", "2MB", "--buffer", "1bdp"];
        let ends = ["--packet", "1448B", "--headers", "52B", "--delayed-ack", acks, "--json"];
        let words = ["compare", "hystart", "scout", "--jitter", "1ns"];
        let compared = run(&[&words[..], &flow, &ends].concat());
        let document: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
        let flow = |at: usize| &document["runs"][at]["flows"][0];
        let [own, other] = [0, 1].map(|at| flow(at)["completion_time_s"].as_f64().unwrap());
        own - other
    };
    let mut saved = ["2", "4", "8"].map(saved);
    saved.sort_by(f64::total_cmp);
    let scout = of_control(&answer, "scout");
    let kind = if scout["left"].is_null() { "stayed" } else { "left" };
    let found = ["least", "most"].map(|key| scout[kind]["saved_median_s"][key].as_f64().unwrap());
    let differ = [found[0] - saved[0], found[1] - saved[2]].map(f64::abs);
    assert!(differ.iter().all(|by| *by < 1e-6), "{saved:?} {found:?}");
}

#[test]
fn what_if_says_what_a_recording_lacks() {
    let place = Place::new();
    let line = "::1 - - [1/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 90000\n";
    place.write("access.log", line);
    for (more, wanted) in [
        (&[][..], "a transfer of 90000 bytes tells no RTT; accepted: --rtt TIME"),
        (&["--rtt", "50ms"], "a transfer of 90000 bytes tells no rate; accepted: --rate RATE"),
        (&["--of", "bbr"], "access.log: --of bbr: no transfer under bbr; accepted: cubic"),
        (&["--control", "nix"], "--control nix: no control; accepted: linux-cubic, "),
    ] {
        let outcome = place.run(&[&["kernel", "what-if", "access.log"], more].concat());
        assert_eq!((outcome.code, outcome.stderr.lines().count()), (2, 1), "{outcome:?}");
        assert!(outcome.stderr.contains(wanted), "{}", outcome.stderr);
    }
    place.write("other", "hello\n");
    let refused = place.run(&["kernel", "what-if", "other"]);
    assert!(refused.stderr.contains("accepted: the lines of kernel watch --json, "), "{refused:?}");
}

#[cfg(not(feature = "kernel"))]
#[test]
fn a_build_without_it_says_what_to_install() {
    for words in [&["load", "astart"][..], &["unload", "--all"], &["status"]] {
        let outcome = run(&[&["kernel"], words].concat());
        assert_eq!((outcome.code, outcome.stderr.lines().count()), (3, 1), "{outcome:?}");
        assert!(outcome.stderr.contains("--features kernel"), "{}", outcome.stderr);
    }
}

#[cfg(feature = "kernel")]
mod loaded {
    use firstflight_control::Control;
    use firstflight_kernel::catalogue::available;
    use firstflight_kernel::load::Options;
    use firstflight_kernel::{KernelControl, Prepared, pinned, requirements};

    use serde_json::{Value, json};
    use socket2::SockRef;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::PermissionsExt as _;

    use crate::process::{Place, run, wait_until};

    /// Whether this machine can load; says why not.
    fn able() -> bool {
        match requirements::check().and_then(|_| requirements::check_pinning()) {
            Ok(()) => true,
            Err(lack) => {
                eprintln!("skipped: {lack}");
                let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some();
                assert!(!required, "BPF is required here: {lack}");
                false
            }
        }
    }

    fn name(what: &str) -> String {
        format!("ff_{what}_{}", std::process::id() % 100_000)
    }

    #[test]
    fn a_loaded_control_outlives_the_command_until_unloaded() {
        if able() {
            from_load_to_unload(&name("cli"), &[]);
        }
    }

    #[test]
    fn so_it_does_where_the_kernel_has_no_links() {
        if able() {
            from_load_to_unload(&name("old"), &["--without-link"]);
        }
    }

    fn from_load_to_unload(name: &str, how: &[&str]) {
        let control = format!("{name}=astart(ere.N=7)");
        let loaded = run(&[&["kernel", "load", &control, "--json"], how].concat());
        assert_eq!(loaded.code, 0, "{loaded:?}");
        let known = |name: &str| available().iter().any(|known| known == name);
        assert!(known(name));
        let document: serde_json::Value = serde_json::from_str(&loaded.stdout).unwrap();
        let buffers = &document["socket_buffers"];
        let here = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap();
        let most: u64 = here.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert_eq!(buffers["tcp_wmem_bytes"], most);
        assert_eq!(buffers["sends_up_to_bdp_bytes"], most / 2, "two windows");
        let status = run(&["kernel", "status", "--json"]);
        let document: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
        let entries = document["loaded"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!(entry["control"], "astart(ere.N=7)+westwood");
        assert_eq!(entry["registered"], true);
        // As it was written at load.
        let unloaded = run(&["kernel", "unload", &control, "--json"]);
        assert_eq!(unloaded.code, 0, "{unloaded:?}");
        assert!(!known(name));
        let document: serde_json::Value = serde_json::from_str(&unloaded.stdout).unwrap();
        let of = |list: &str| {
            document[list].as_array().unwrap().iter().any(|entry| entry["name"] == name)
        };
        assert_eq!((of("loaded"), of("unloaded")), (false, true), "{document}");
        assert_eq!(document["unloaded"][0]["registered"], false);
        let again = run(&["kernel", "unload", name]);
        assert_eq!(again.code, 2, "{again:?}");
    }

    #[test]
    fn connections_from_before_a_reload_keep_their_knobs_and_status_tells_them() {
        if !able() {
            return;
        }
        let name = name("again");
        let load = |knob: u32| {
            let control = format!("{name}=astart(ere.N={knob})");
            assert_eq!(run(&["kernel", "load", &control]).code, 0, "{control}");
        };
        let entry = |list: &str| {
            let status = run(&["kernel", "status", "--json"]);
            let document: Value = serde_json::from_str(&status.stdout).unwrap();
            let entries = document[list].as_array().cloned().unwrap_or_default();
            entries.into_iter().find(|entry| entry["name"] == *name)
        };
        load(7);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let old = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        SockRef::from(&old).set_tcp_congestion(name.as_bytes()).unwrap();
        assert_eq!(entry("loaded").unwrap()["earlier"], json!([]));
        assert_eq!(run(&["kernel", "unload", &name]).code, 0);
        let (loaded, unloaded) = (entry("loaded"), entry("unloaded").unwrap());
        assert_eq!((loaded, &unloaded["control"]), (None, &"astart(ere.N=7)+westwood".into()));
        assert_eq!(unloaded["connections"].as_array().unwrap().len(), 1, "{unloaded}");
        load(9);
        let again = entry("loaded").unwrap();
        assert_eq!(again["control"], "astart(ere.N=9)+westwood");
        assert_eq!(again["earlier"], json!(["astart(ere.N=7)+westwood"]));
        assert!(entry("unloaded").is_none());
        let status = run(&["kernel", "status"]).stdout;
        let earlier = "loaded before, and kept by users from then: astart(ere.N=7)+westwood";
        assert!(status.contains(earlier), "{status}");
        // With its last user it is gone.
        drop((old, listener));
        wait_until("its end", || entry("loaded").unwrap()["earlier"] == json!([]));
        assert_eq!(run(&["kernel", "unload", &name]).code, 0);
    }

    /// The command refuses a name given twice; here it shows when two are registered.
    #[test]
    fn of_several_controls_all_are_loaded_or_none() {
        if !able() {
            return;
        }
        let (first, second) = (name("one"), name("two"));
        for without_link in [false, true] {
            let prepare = |(name, text): (&str, &str)| {
                let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
                let name = Some(name.to_owned());
                Prepared::load(&control, &Options { name, without_link, ..Options::default() })
            };
            let all = [(&*first, "newreno"), (&*second, "astart"), (&*first, "newreno")];
            let error = pinned::pin(all.map(|one| prepare(one).unwrap()).into()).unwrap_err();
            assert!(error.to_string().contains(&first), "{error}");
            nothing_is_left(&first, &second);
        }
    }

    /// A command that was killed before it registered anything.
    #[test]
    fn what_a_killed_command_left_is_cleared_away_by_the_next() {
        if !able() {
            return;
        }
        let folder = format!("/sys/fs/bpf/firstflight/{}", name("half"));
        // The common folder may go with another test's last control meanwhile.
        assert!((0..10).any(|_| std::fs::create_dir_all(&folder).is_ok()));
        // As `load` makes one.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o1700)).unwrap();
        let status = run(&["kernel", "status"]);
        assert_eq!(status.code, 0, "{status:?}");
        assert!(!std::path::Path::new(&folder).exists());
    }

    #[test]
    fn what_tells_who_uses_a_control_may_be_missing_but_it_can_be_unloaded() {
        if !able() {
            return;
        }
        let name = name("bare");
        let place = Place::new();
        let bare = |words: &[&str]| {
            let mut command = place.command(words);
            let output = command.env("PATH", place.path("")).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        assert_eq!(run(&["kernel", "load", &format!("{name}=newreno")]).code, 0);
        let (code, text) = bare(&["kernel", "unload", &name]);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("is missing") && text.contains(": install "), "{text}");
        let (code, text) = bare(&["kernel", "unload", &name, "--force"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("who uses it is not known"), "{text}");
        assert!(!available().contains(&name));
    }

    /// The kernel's own and those of a running comparison are not for it to take out.
    #[test]
    fn what_others_registered_is_told_apart_from_what_nobody_did() {
        if !able() {
            return;
        }
        let outcome = run(&["kernel", "unload", "reno"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains("`reno` was not loaded by `kernel load`"), "{outcome:?}");
        let nobody = run(&["kernel", "unload", "never"]);
        assert!(nobody.stderr.contains("no control `never` is loaded"), "{nobody:?}");
    }

    fn nothing_is_left(first: &str, second: &str) {
        let known = available();
        assert!(!known.iter().any(|name| name == first || name == second), "{known:?}");
        let status = run(&["kernel", "status"]);
        assert!(!status.stdout.contains(first), "{}", status.stdout);
    }
}
