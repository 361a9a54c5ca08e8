//! `--on linux --virtual-time`: what it refuses, that equal runs are equal to the byte, and that
//! nothing is left behind. Over the other link two runs are compared in `programs.rs`.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::lab::{able, children, signal};
use crate::process::{Place, run, wait_until};

#[test]
fn wrong_words_are_refused_before_anything_is_booted() {
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "newreno", "--virtual-time"], "--virtual-time belongs to `--on linux`"),
        (&["compare", "linux-reno", "--on", "linux", "--kernel", "x"], "--virtual-time"),
        (
            &["compare", "linux-reno", "--on", "linux", "--virtual-time", "--recovery", "reno"],
            "tcp_sack",
        ),
        (&["compare", "linux-reno(iw=4pkt)", "--on", "linux", "--virtual-time"], "take no knobs"),
    ];
    for (words, part) in cases {
        let outcome = run(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(part), "{words:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_machine_without_qemu_says_in_a_line_how_to_get_it() {
    let place = Place::new();
    let words = ["compare", "linux-reno", "--on", "linux", "--virtual-time"];
    let output = place.command(&words).env("PATH", "/no-such-folder").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), errors.lines().count()), (Some(3), 1), "{errors}");
    assert!(errors.contains("apt install qemu-system-x86"), "{errors}");
}

/// A path that the lab's link and the simulator make of the same elements: what it has beside rate,
/// delay and buffer, and how long a transfer of 1.5 MB takes, seconds.
fn took(control: &str, keys: &[&str], flags: &[&str]) -> Option<f64> {
    let place = Place::new();
    let head = format!("controls = [\"{control}\"]\nduration = \"20s\"\n{PATH}");
    place.write("path.toml", format!("{head}{}\n[[flow]]\nsize = \"1500kB\"\n", keys.join("\n")));
    let outcome = place.run(&[&["run", "path.toml", "--json"], flags].concat());
    if !able(&outcome) {
        return None;
    }
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let run = &results["runs"][0];
    assert_eq!(run["bottleneck"]["drops"], 0, "{run}");
    if !flags.is_empty() {
        assert_eq!((&run["transport"], &run["lab"]["link"]), (&"linux".into(), &"tun".into()));
        for hash in ["kernel_sha256", "initramfs_sha256"] {
            assert_eq!(run["lab"]["guest"][hash].as_str().unwrap().len(), 64, "{hash}");
        }
        assert_eq!(run["lab"]["stolen_share"], 0.0);
    }
    Some(run["flows"][0]["completion_time_s"].as_f64().unwrap())
}

#[test]
fn the_labs_link_has_schedules_jitter_and_a_slow_way_back_as_the_simulator_has() {
    let flags = ["--on", "linux", "--virtual-time", "--link", "tun"];
    let Some(kernel) = took("linux-reno", &KEYS, &flags) else { return };
    let simulated = |keys: &[&str]| took("newreno", keys, &[]).unwrap();
    let apart = |one: f64, other: f64| (one / other - 1.0).abs();
    let whole = simulated(&KEYS);
    assert!(apart(kernel, whole) < 0.03, "{kernel} s in the kernel, {whole} s simulated");
    // Each of the keys tells more than that: a link without it would be seen.
    for left_out in 0..KEYS.len() {
        let mut keys = KEYS.to_vec();
        let key = keys.remove(left_out);
        let without = simulated(&keys);
        assert!(apart(without, kernel) > 0.06, "{kernel} s, without {key} {without} s");
    }
}

/// One ACK comes back for a hundred packets, and each counts for all of them, in Linux as in the
/// simulator (`tcp_slow_start`); `validation/kernel.toml` has ten such paths.
#[test]
fn slow_start_counts_all_that_a_thinned_ack_acknowledges_as_linux_does() {
    let place = Place::new();
    let took = |control: &str, more: &str, flags: &[&str]| -> Option<f64> {
        place.write("thinned.toml", format!("controls = ['{control}']\n{more}\n{THINNED}"));
        let outcome = place.run(&[&["run", "thinned.toml", "--json"], flags].concat());
        if !able(&outcome) {
            return None;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
        results["runs"][0]["flows"][0]["completion_time_s"].as_f64()
    };
    let simulated = |more| took("slow-start+newreno", more, &[]).unwrap();
    let (all, one) = (simulated(""), simulated("segment_per_ack = true"));
    assert!(one > 1.5 * all, "{all} s, a segment per ACK {one} s");
    let flags = ["--on", "linux", "--virtual-time", "--link", "tun"];
    let Some(kernel) = took("linux-reno", "", &flags) else { return };
    assert!((kernel / all - 1.0).abs() < 0.02, "{kernel} s in the kernel, {all} s simulated");
}

const THINNED: &str = "
packet = '1448B'
headers = '52B'
[path]
rate = '50Mbps'
rtt = '60ms'
buffer = '4bdp'
back = { rate = '50kbps', buffer = '3pkt' }
[[flow]]
size = '2MB'
";

const PATH: &str = "
packet = \"1448B\"
headers = \"52B\"
[path]
rate = \"10Mbps\"
rtt = \"60ms\"
buffer = \"1000pkt\"
";
const KEYS: [&str; 3] = [
    r#"rates = [{ rate = "10Mbps" }, { at = "1s", rate = "4Mbps" },
        { at = "2s", rate = "10Mbps" }]"#,
    r#"jitter = "uniform:0ms,100ms""#,
    r#"back = { rate = "50kbps", buffer = "20pkt" }"#,
];

#[test]
fn a_control_that_the_guests_kernel_has_not_is_told_by_it() {
    let outcome = run(&["compare", "linux-qubic", "--on", "linux", "--virtual-time", "--json"]);
    if able(&outcome) || !outcome.stderr.contains("qubic") {
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("did you mean `linux-cubic`"), "{}", outcome.stderr);
    }
}

#[test]
fn nothing_is_left_after_ctrl_c_nor_after_a_kill() {
    let place = Place::new();
    for (name, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let words =
            ["compare", "linux-reno", "--on", "linux", "--virtual-time", "--duration", "600s"];
        let mut command: Command = place.command(&words);
        let scratch = place.path("scratch");
        std::fs::create_dir_all(&scratch).unwrap();
        command.env("TMPDIR", &scratch);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_guest = |pid: &String| {
            let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
            words.is_ok_and(|words| words.contains("qemu-system") && words.contains("-icount"))
        };
        let mut guests = Vec::new();
        while guests.is_empty() {
            std::thread::sleep(Duration::from_millis(50));
            guests = children(&child).into_iter().filter(is_guest).collect();
            if let Some(status) = child.try_wait().unwrap() {
                let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_LAB").is_some();
                assert!(status.code() == Some(3) && !required, "it ended: {status}");
                eprintln!("skipped: no guest can be booted here");
                return;
            }
        }
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), code, "{name}");
        wait_until("the end of the guests", || !guests.iter().any(is_guest));
        let left: Vec<_> = std::fs::read_dir(&scratch).unwrap().flatten().collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

/// Every run boots a guest of its own. Equal runs give equal bytes, and the seed decides which
/// packets are lost at random.
#[test]
fn the_shards_of_a_sweep_in_guests_give_the_table_of_one_run() {
    let place = Place::new();
    let grid = "[scenario]
        controls = ['linux-reno']
        duration = '1500ms'
        path = { rate = '20Mbps', rtt = '40ms', buffer = '0.5bdp', loss = '0.1%' }
        [grid]
        seed = [1, 2]";
    place.write("grid.toml", grid);
    let words = ["sweep", "grid.toml", "--on", "linux", "--virtual-time", "--link", "netem"];
    let sweep = |more: &[&str]| place.run(&[&words[..], &["--format", "csv"], more].concat());
    let first = sweep(&["--out", "parts", "--shard", "1/2"]);
    if !able(&first) {
        return;
    }
    assert_eq!((first.code, sweep(&["--out", "parts", "--merge"]).code), (0, 1), "{first:?}");
    let codes = [&["--out", "parts", "--shard", "2/2"][..], &["--out", "parts", "--merge"]];
    assert_eq!(codes.map(|more| sweep(more).code), [0, 0]);
    assert_eq!(sweep(&["--out", "whole"]).code, 0);
    let table = |folder| std::fs::read_to_string(place.path(folder).join("flows.csv")).unwrap();
    let whole = table("whole");
    assert_eq!(table("parts"), whole);
    assert_eq!(whole.matches(",linux,linux,").count(), 2, "transport and profile");
    let rows: Vec<Vec<&str>> = whole.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let at = rows[0].iter().position(|column| *column == name).unwrap();
        [rows[1][at], rows[2][at]]
    };
    let delivered = column("delivered_bytes").map(|bytes| bytes.parse::<u64>().unwrap());
    // 3.75 MB at most; a random loss may end slow start after a few windows.
    assert!(delivered.iter().all(|bytes| (300_000..3_750_000).contains(bytes)), "{whole}");
    assert!(delivered[0] != delivered[1], "seeds lose other packets: {whole}");
    assert_eq!(column("peak_queue_packets"), [""; 2], "netem tells nothing of its queue: {whole}");
    let other = place.run(&["sweep", "grid.toml", "--out", "whole", "--on", "quic"]);
    assert_eq!(other.code, 2, "{other:?}");
}

/// Its references are loaded into the guest's kernel.
#[cfg(feature = "kernel")]
#[test]
fn a_control_is_judged_in_the_guest_and_what_was_measured_is_kept() {
    let place = Place::new();
    let words =
        ["judge", "hystart", "--on", "linux", "--virtual-time", "--only", "B4,B8", "--json"];
    let begun = std::time::Instant::now();
    let judged = place.run(&words);
    let took = begun.elapsed();
    if !able(&judged) {
        return;
    }
    // HyStart++'s queue is a packet shorter, so that R5 does not hold.
    assert!([0, 1].contains(&judged.code), "{judged:?}");
    let judgement: Value = serde_json::from_str(&judged.stdout).unwrap();
    let [satellite, late] = [0, 1].map(|at| &judgement["scenarios"][at]);
    // 1 MB over 10 Mbit/s and 600 ms: a handshake, seven rounds of slow start, nothing lost.
    let measured = &satellite["measured"];
    let completion = measured["completion_s"].as_f64().unwrap();
    assert!((4.5..4.7).contains(&completion), "{measured}");
    // This link tells of its queue: what a round sends in one burst waits there.
    assert!(measured["peak_queue_packets"].as_f64().unwrap() > 10.0, "{measured}");
    assert_eq!(measured["lost_packets"], 0.0);
    assert_eq!(["R1", "R2"].map(|rule| &satellite["verdicts"][rule]), ["pass", "pass"]);
    let why = late["not_carried"].as_str().unwrap();
    assert!(why.contains("on linux flows have no `handshake_delay`"), "{why}");
    let begun = std::time::Instant::now();
    assert_eq!(place.run(&words).stdout, judged.stdout);
    assert!(begun.elapsed() < took / 2, "it booted again: {:?}, {took:?}", begun.elapsed());
    let refused = place.run(&[&words[..], &["--link", "netem"]].concat());
    assert_eq!((refused.code, refused.stderr.contains("tells nothing of its queue")), (2, true));
}

/// Its trains leave as blocks of TCP's with gaps behind them, which misled it on short paths. The
/// device has `fq_codel`, which does not pace: TCP does by itself, or the queue would be a window.
#[cfg(feature = "kernel")]
#[test]
fn scout_loses_nothing_on_short_paths_and_queues_no_more_than_trains() {
    let place = Place::new();
    let paths = [
        ("--rate 20Mbps --rtt 40ms --buffer 0.25bdp --size 1MB", 69.0),
        ("--rate 50Mbps --rtt 20ms --buffer 1bdp --size 2MB", 86.0),
    ];
    for (path, bdp) in paths {
        let words = "compare scout --on linux --virtual-time --link tun --duration 3s --json \
                     --packet 1448B";
        let words: Vec<&str> = words.split_whitespace().chain(path.split_whitespace()).collect();
        let outcome = place.run(&words);
        if !able(&outcome) {
            return;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let (run, flow) = (&results["runs"][0], &results["runs"][0]["flows"][0]);
        let lost = [&run["bottleneck"]["drops"], &flow["retransmitted_packets"]];
        assert_eq!(lost, [0, 0], "{path}: {flow}");
        assert_eq!(flow["startup"]["exit_reason"], "heuristic", "{path}");
        let left = flow["startup"]["exit_window_over_bdp"].as_f64().unwrap();
        assert!((0.9..1.3).contains(&left), "{path}: left at {left} BDP");
        // docs/scout.md: at most 2/7 BDP.
        let queue = run["bottleneck"]["peak_queue_packets"].as_f64().unwrap();
        assert!(queue <= bdp * 2.0 / 7.0, "{path}: a queue of {queue}");
    }
}

/// After start-up TCP goes on pacing, and takes as long as the simulator's `rapid-start`, which
/// does. Unpaced, the two packets that a delayed ACK allows leave together, a buffer of one packet
/// loses one of them, and the transfer takes 1.6 times as long.
#[cfg(feature = "kernel")]
#[test]
fn scout_is_paced_after_start_up_too() {
    let place = Place::new();
    let path = "--duration 40s --json --packet 1448B --rate 7361kbps --rtt 13821us --buffer 1pkt \
                --size 5MB";
    let took = |words: &str| -> Option<f64> {
        let words: Vec<&str> = words.split(' ').chain(path.split_whitespace()).collect();
        let outcome = place.run(&words);
        if !able(&outcome) {
            return None;
        }
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
        results["runs"][0]["flows"][0]["completion_time_s"].as_f64()
    };
    let flags = "compare scout --on linux --virtual-time --link tun";
    let Some(scout) = took(flags) else { return };
    let paced = took("compare rapid-start").unwrap();
    assert!(scout < 1.2 * paced, "scout {scout} s, rapid-start {paced} s");
}
