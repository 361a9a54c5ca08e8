//! `--on noq`: noq's stack in virtual time.

use serde_json::Value;

use crate::commands::json;
use crate::process::run;

#[test]
fn noq_runs_our_controls_and_its_own_and_is_found_in_the_lists() {
    let path = ["--rate", "16.6Mbps", "--rtt", "45ms", "--buffer", "0.18bdp", "--size", "600KB"];
    let compare = ["compare", "scout", "noq-cubic", "--on", "noq"];
    let whole = run(&[&compare[..], &path].concat()).stdout.replace("\n  ", " ");
    assert!(whole.contains("noq's endpoints: IW 10 packets"), "{whole}");
    let document = json(&run(&[&compare[..], &path, &["--json"]].concat()));
    let [scout, theirs] = &document["runs"].as_array().unwrap()[..] else { panic!("{document}") };
    let time = |run: &Value| run["flows"][0]["completion_time_s"].as_f64().unwrap();
    // docs/quic.md: its trains leave at their rate, and none of their packets is lost.
    assert_eq!(scout["bottleneck"]["drops"], 0);
    assert!(time(scout) < 0.85 * time(theirs), "{document}");
    assert!(run(&["list", "noq-cubic"]).stdout.contains("runs on: noq"));
    assert!(run(&["list", "noq"]).stdout.contains("the number of gaps of a loss"));
    assert!(run(&["list", "bbr"]).stdout.contains("sim, quic (degraded), noq"));
    for (words, message) in [
        (&["compare", "noq-cubic"][..], "which `--on noq` may have"),
        (&["compare", "quinn-cubic", "--on", "noq"], "which `--on quic` may have"),
        (&["compare", "noq-cubix", "--on", "noq"], "did you mean `noq-cubic`"),
        (&["compare", "prague", "--on", "noq"], "which noq does not provide"),
        (&["compare", "hoe", "--on", "noq", "--real-time"], "--real-time belongs to `--on quic`"),
    ] {
        let refused = run(words);
        assert!(refused.code == 2 && refused.stderr.contains(message), "{words:?}: {refused:?}");
    }
}
