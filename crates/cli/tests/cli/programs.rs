//! `judge --server --client` and `--interop`: programs that are not ours, in a guest, and what
//! becomes of those that come to nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::lab::able;
use crate::process::{Outcome, Place, run};

const JUDGE: [&str; 5] = ["judge", "--on", "linux", "--virtual-time", "--json"];
/// 1 MB over 10 Mbit/s and 600 ms.
const B4: [&str; 2] = ["--only", "B4"];
const SERVER: &str = "iperf3 -s -1 -p {port}";
const CLIENT: &str = "iperf3 -c {address} -p {port} -C cubic -R -n {bytes}";

fn judged(server: &str, client: &str, more: &[&str]) -> Outcome {
    judged_on(&B4, server, client, more)
}

fn judged_on(only: &[&str], server: &str, client: &str, more: &[&str]) -> Outcome {
    let words = [&JUDGE[..], only, &["--server", server, "--client", client], more].concat();
    Place::new().run(&words)
}

fn scenario(outcome: &Outcome) -> Value {
    let judgement: Value = serde_json::from_str(&outcome.stdout).unwrap();
    judgement["scenarios"][0].clone()
}

#[test]
fn iperf3_is_judged_by_what_the_link_saw_and_two_runs_are_equal_to_the_byte() {
    let first = judged(SERVER, CLIENT, &[]);
    if !able(&first) {
        return;
    }
    let scenario = scenario(&first);
    // The kernel's CUBIC as the simulator's, and iperf3 sends eight blocks of 128 KiB.
    let measured = &scenario["measured"];
    let took = measured["completion_s"].as_f64().unwrap();
    let reference = scenario["references"]["hystart"]["completion_s"].as_f64().unwrap();
    assert!((reference..reference + 0.06).contains(&took), "{took}, {reference}");
    assert_eq!(
        (&measured["lost_packets"], &scenario["verdicts"]["R1"]),
        (&0.0.into(), &"pass".into())
    );
    assert_eq!(judged(SERVER, CLIENT, &[]).stdout, first.stdout);
}

/// The line of docs/judge.md, with the configuration of `examples/web`; none without the programs.
fn curl_and_nginx(only: &[&str]) -> Option<Outcome> {
    let programs = ["/usr/bin/curl", "/usr/sbin/nginx"];
    if let Some(missing) = programs.iter().find(|program| !Path::new(program).exists()) {
        let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_LAB").is_some();
        assert!(!required, "the lab is required here, but there is no {missing}");
        eprintln!("skipped: no {missing} (Debian: apt install curl nginx-light)");
        return None;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web/nginx.conf");
    let example = example.canonicalize().unwrap();
    let server = format!("/usr/sbin/nginx -e stderr -p {{folder}} -c {}", example.display());
    let client = "curl -sSf -o /dev/null http://{address}:{port}/{file}";
    let with = ["--with", "/etc/passwd", "--with", "/etc/group"];
    let outcome = judged_on(only, &server, client, &with);
    able(&outcome).then_some(outcome)
}

#[test]
fn curl_is_judged_while_it_fetches_a_file_from_nginx() {
    let Some(outcome) = curl_and_nginx(&B4) else { return };
    let scenario = scenario(&outcome);
    // A round of the simulator's time is the handshake's, of which the SYN-ACK is measured.
    let measured = &scenario["measured"];
    let took = measured["completion_s"].as_f64().unwrap_or_else(|| panic!("{scenario}"));
    let reference = scenario["references"]["hystart"]["completion_s"].as_f64().unwrap();
    assert!((reference - 0.06..reference + 0.06).contains(&took), "{took}, {reference}");
    assert_eq!(
        (&measured["lost_packets"], &measured["peak_queue_packets"]),
        (&0.0.into(), &160.0.into())
    );
}

/// A CUBIC that is loaded into the guest's kernel, which takes `--features kernel`.
#[test]
fn others_share_the_path_with_programs() {
    let Some(outcome) = curl_and_nginx(&["--only", "F4"]) else { return };
    let judgement: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let Some(scenario) = judgement["scenarios"].as_array().and_then(|all| all.first()) else {
        let loads = cfg!(feature = "kernel");
        assert!(!loads && outcome.stdout.contains("--features kernel"), "{outcome:?}");
        return;
    };
    // Two transfers of 5 MB take 4.2 s of 20 Mbit/s together, whoever has more of it.
    let number = |name: &str| scenario["measured"][name].as_f64().unwrap();
    let last = number("completion_s").max(number("others_completion_s"));
    assert!((4.2..4.7).contains(&last), "{scenario}");
    assert!((0.2..0.8).contains(&number("others_share")), "{scenario}");
}

/// A stack that shares no line with ours, and logs what it does.
#[test]
fn aioquic_is_judged_by_the_link_and_by_its_qlog() {
    let Some(python) = std::env::var_os("FIRSTFLIGHT_AIOQUIC").map(PathBuf::from) else {
        eprintln!("skipped: FIRSTFLIGHT_AIOQUIC names no Python that has aioquic");
        return;
    };
    // The interpreter behind an environment, so that the guest needs nothing of the latter.
    let asked = "import os, sys, sysconfig as s; \
        print(os.path.realpath(sys.executable), s.get_path('stdlib'), s.get_path('platlib'))";
    let output = Command::new(&python).args(["-c", asked]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let [python, library, packages] = words[..] else { panic!("{text}") };
    // What it imports, and not the tests and packages of a whole Python.
    let part = |entry: &std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        let left_out = ["test", "site-packages", "dist-packages", "idlelib", "tkinter"];
        !left_out.contains(&name.as_str()) && !name.starts_with("config-")
    };
    let parts = std::fs::read_dir(library).unwrap().flatten().filter(part);
    let parts = parts.map(|entry| entry.path().into_os_string().into_string().unwrap());
    let with = parts.chain([packages.to_owned()]);
    let with: Vec<String> = with.flat_map(|path| ["--with".to_owned(), path]).collect();
    let with: Vec<&str> = with.iter().map(String::as_str).collect();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aioquic");
    let example = example.canonicalize().unwrap();
    let line = |script: &str, words: &str| {
        format!("PYTHONPATH={packages} {python} {} {words}", example.join(script).display())
    };
    let server = line("serve.py", "{address} {port} cubic {qlog}");
    let outcome = judged(&server, &line("fetch.py", "{address} {port} {bytes}"), &with);
    if !able(&outcome) {
        return;
    }
    let scenario = scenario(&outcome);
    let measured = &scenario["measured"];
    // Its slow start takes as many rounds as any, and Python some time besides.
    let took = measured["completion_s"].as_f64().unwrap_or_else(|| panic!("{scenario}"));
    assert!((4.5..5.5).contains(&took), "{measured}");
    assert!(measured["peak_queue_packets"].as_f64().unwrap() > 1.0, "{measured}");
    assert!(scenario["reasons"]["R1"].is_string() && scenario["broken"].is_null(), "{scenario}");
}

/// The endpoint of `examples/interop`, whose programs speak HTTP/3 and end at once when they are
/// told any other test case.
#[test]
fn an_endpoint_of_the_interop_runner_is_judged() {
    let programs = ["/usr/sbin/gtlsserver", "/usr/bin/gtlsclient"];
    if let Some(missing) = programs.iter().find(|program| !Path::new(program).exists()) {
        eprintln!("skipped: no {missing} (Debian: apt install ngtcp2-client ngtcp2-server)");
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/interop/ngtcp2");
    let example = example.canonicalize().unwrap().into_os_string().into_string().unwrap();
    let words = ["ngtcp2", "--interop", &example, "--testcase", "http3"];
    let outcome = Place::new().run(&[&JUDGE[..], &B4, &words].concat());
    if !able(&outcome) {
        return;
    }
    // Its slow start takes as many rounds as any, and the handshake is one more.
    let scenario = scenario(&outcome);
    let measured = &scenario["measured"];
    let took = measured["completion_s"].as_f64().unwrap_or_else(|| panic!("{scenario}"));
    assert!((5.1..5.5).contains(&took), "{measured}");
    assert_eq!(measured["lost_packets"], 0.0, "{measured}");
}

/// In the guest, whose disk, memory and processes are its own.
#[test]
fn programs_that_die_hang_or_never_end_are_ended_and_told_with_their_last_words() {
    let dies = "echo full of words; cat /dev/zero > full; tail /dev/zero; no-such-program";
    let words = [
        "the client ended with code 127: a program is missing, or an endpoint",
        "the server ended with code 7; 0 of 1000000 bytes came",
        "full of words",
        "No space",
        "Killed",
    ];
    let hangs = "sleep 9999 & while :; do sleep 9; done";
    let forks = "b() { b | b & }; b; while :; do :; done";
    for (server, client, more, parts) in [
        ("exit 7", dies, &[][..], &words[..]),
        (SERVER, hangs, &[], &["the client had not ended after 60 s of its time"]),
        (SERVER, forks, &["--limit", "10s"], &["took longer than 10 s of this machine's time"]),
    ] {
        let outcome = judged(server, client, more);
        if !able(&outcome) {
            return;
        }
        assert_eq!(outcome.code, 1, "{client}: {outcome:?}");
        let scenario = scenario(&outcome);
        let broken = scenario["broken"].as_str().unwrap();
        assert!(parts.iter().all(|part| broken.contains(part)), "{client}: {broken}");
        assert_eq!(["R1", "R2", "R5"].map(|rule| &scenario["verdicts"][rule]), ["fail"; 3]);
    }
}

#[test]
fn what_no_guest_can_be_given_is_refused_before_one_is_booted() {
    let cases: &[(&[&str], &str)] = &[
        (&["judge", "--server", "a", "--client", "b"], "--on linux --virtual-time"),
        (&["judge", "--server", "a"], "--client"),
        (&["judge"], "CONTROL"),
        (&["judge", "cubic", "--upload"], "--server"),
        (&["judge", "--interop", "x"], "--interop: programs run in a guest"),
        (&["judge", "--interop", "x", "--server", "a", "--client", "b"], "cannot be used with"),
        (&["judge", "cubic", "--testcase", "http3"], "--interop"),
        (
            &["judge", "--on", "linux", "--virtual-time", "--interop", "no-such"],
            "accepted: a folder that has run_endpoint.sh",
        ),
    ];
    for (words, part) in cases {
        let outcome = run(words);
        assert_eq!(outcome.code, 2, "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(part), "{words:?}: {}", outcome.stderr);
    }
    let unknown = judged("no-such-server -p 1", CLIENT, &[]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("--server: found `no-such-server`"), "{}", unknown.stderr);
    let named =
        Place::new().run(&[&JUDGE[..], &["hystart", "--server", "sh", "--client", "sh"]].concat());
    assert!(named.code == 2 && named.stderr.contains("a name of the programs' own"), "{named:?}");
}
