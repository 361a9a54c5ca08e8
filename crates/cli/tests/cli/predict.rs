//! `predict`: the page, the document, and what is refused.

use serde_json::Value;

use crate::process::run;

/// The path of the short-transfers paper's Figure 4.
const PATH: [&str; 9] =
    ["predict", "--rate", "1.5Mbps", "--rtt", "190ms", "--packet", "512B", "--buffer", "20pkt"];

/// Its endpoints.
const RFC: [&str; 4] = ["--profile", "rfc", "--ssthresh", "none"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PATH.iter().chain(more).copied().collect()
}

#[test]
fn the_document_begins_with_the_keys_of_the_contract() {
    let outcome = run(&words(&[&RFC[..], &["--json"]].concat()));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let document: Value = serde_json::from_str(&outcome.stdout).expect("one document");
    assert!((document["bdp_packets"].as_f64().unwrap() - 69.58).abs() < 0.01);
    let number = |key: &str| document[key].as_f64().unwrap_or_else(|| panic!("{key}"));
    assert_eq!(number("overflow_window_packets"), 52.0);
    assert_eq!(number("overflow_window_approx_packets"), 40.0);
    assert_eq!(number("detection_window_packets"), 104.0);
    assert_eq!(number("threshold_after_packets"), 13.0);
    assert_eq!(number("safe_ssthresh_packets"), 51.0);
    assert_eq!(document["fills_pipe"], false);
    assert!(document["advice"].as_str().unwrap().contains("hoe (it needs a buffer above BDP/2"));
    let place = |key: &str| outcome.stdout.find(&format!("\"{key}\"")).unwrap();
    assert!(place("advice") < place("overflows"), "further keys come after");
}

#[test]
fn the_ends_of_a_long_path_are_told_what_their_socket_buffers_must_be() {
    let path = ["predict", "--rate", "50Mbps", "--rtt", "600ms", "--buffer", "1bdp"];
    let document: Value =
        serde_json::from_str(&run(&[&path[..], &["--json"]].concat()).stdout).unwrap();
    let needed = serde_json::json!({
        "bdp_bytes": 3_750_000, "tcp_wmem_bytes": 7_500_000, "tcp_rmem_bytes": 15_000_000
    });
    assert_eq!(document["socket_buffers"], needed);
    let page = run(&path).stdout.replace("\n  ", " ");
    assert!(page.contains("net.ipv4.tcp_wmem must be 7500000 or more"), "{page}");
}

#[test]
fn the_page_shows_the_numbers_the_rounds_and_the_advice() {
    let outcome = run(&words(&RFC));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for part in ["1500kbps, 190ms, buffer 20 packets of 512B", "overflow window, Theorem 1"] {
        assert!(outcome.stdout.contains(part), "no {part:?} in {}", outcome.stdout);
    }
    let drawn = "32 to 64  |##############################| overflows at 52";
    assert!(outcome.stdout.contains(drawn), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Slow start overflows the buffer"), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 100), "{}", outcome.stdout);
}

#[test]
fn the_profile_and_the_endpoint_flags_count() {
    let of = |more: &[&str]| -> Value {
        let outcome = run(&words(&[more, &["--json"]].concat()));
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"))
    };
    assert_eq!(of(&["--profile", "rfc"])["ssthresh_packets"], 32.0);
    for today in [of(&[]), of(&["--profile", "linux"])] {
        assert_eq!(
            (&today["ssthresh_packets"], &today["initial_window_packets"]),
            (&Value::Null, &10.into())
        );
    }
    // RFC 5681 counts ACKs, Linux and QUIC what they acknowledge.
    let delayed = |profile| of(&["--delayed-ack", "2", "--profile", profile])["d"].clone();
    assert_eq!(["rfc", "ns2", "linux", "quic"].map(delayed), [2.0, 2.0, 1.0, 1.0]);
    let quic = ["--delayed-ack", "2", "--recovery", "quic", "--profile", "rfc"];
    assert_eq!(of(&quic)["d"], 1.0);
    assert_eq!(of(&["--buffer-counts-in-service", "true"])["buffer_packets"], 19);
    assert_eq!(of(&["--access-delay", "10ms"])["bdp_packets"].as_f64().unwrap().round(), 84.0);
}

/// Every start-up that is said to fit is one that runs, and loses nothing in its exit round.
#[test]
fn what_fits_runs_and_loses_nothing_as_it_ends() {
    for buffer in ["18pkt", "30pkt", "50pkt", "80pkt"] {
        let path = ["--rate", "1.5Mbps", "--rtt", "190ms", "--packet", "512B", "--buffer", buffer];
        let flags = [&path[..], &["--ssthresh", "none", "--json"]].concat();
        let predicted = run(&[&["predict"], &flags[..]].concat());
        let document: Value = serde_json::from_str(&predicted.stdout).expect("one document");
        let fits = document["startups"].as_array().unwrap().iter();
        let fits: Vec<&str> = fits
            .filter(|fit| fit["verdict"] == "fits")
            .map(|fit| fit["control"].as_str().unwrap())
            .collect();
        assert!(!fits.is_empty(), "{document}");
        let measured = run(&[&["compare"], &fits[..], &flags[..]].concat());
        assert_eq!(measured.code, 0, "{measured:?}");
        let results: Value = serde_json::from_str(&measured.stdout).expect("one document");
        for run in results["runs"].as_array().unwrap() {
            let startup = &run["flows"][0]["startup"];
            let lost = startup["drops_in_exit_round"].as_u64().unwrap_or(0);
            assert!(lost <= 1, "{buffer}: {} lost {lost}", run["control"]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    for (flag, value, part) in [
        ("--delayed-ack", "1001", "from 1 to 1000"),
        ("--rate", "5", "accepted: 9600bps"),
        ("--buffer", "0pkt", "zero"),
    ] {
        let outcome = run(&["predict", "--json", flag, value]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
        assert!(outcome.stderr.contains(flag) && outcome.stderr.contains(part), "{outcome:?}");
    }
    let outcome = run(&["predict", "--delayed-ack", "100", "--profile", "rfc"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("accepted: 1 to 64"), "{outcome:?}");
    assert_eq!(run(&["predict", "newreno"]).code, 2);
}

#[test]
fn random_loss_is_said_to_be_unknown_to_the_model() {
    for loss in ["1%", "ge:1%,20%"] {
        let outcome = run(&["predict", "--loss", loss, "--json"]);
        assert_eq!(outcome.code, 0);
        assert!(outcome.stderr.contains("no random loss"), "{outcome:?}");
        serde_json::from_str::<Value>(&outcome.stdout).expect("the note is not on standard output");
    }
}
