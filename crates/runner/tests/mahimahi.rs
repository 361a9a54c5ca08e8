//! A trace of Mahimahi's, read from a file and played by a link, against the same trace played by
//! hand.

use std::fs;
use std::path::PathBuf;

use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

/// By the rules of `mm-link` (`LinkQueue::rationalize`): at each millisecond of the trace 1504
/// bytes may leave, which are a packet of 1500 with Mahimahi's own header of 4. What one packet
/// leaves of them the next has, and what nobody uses is gone. After the last line the trace begins
/// again at that line's time.
///
/// ```text
/// lines         2  5  5  9 12 20, then 22 25 25 29 32 40, then 42 45 45 ...
/// SYN           comes at 0, leaves at 2, is there at 7.25; its answer is back at 12.5
/// ACK, data     come at 12.5, when 12 is gone: the ACK leaves at 20, and the first packet of data
///               with it but for as many bytes as the ACK had; these leave at 22, and so each next
///               packet ends with the opportunity after: 22 25 25 29 32 40 42 45
/// ```
#[test]
fn a_trace_is_played_as_by_hand() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mahimahi");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hand.trace"), "2\n5\n5\n9\n12\n20\n").unwrap();
    let left_ms = [22, 25, 25, 29, 32, 40, 42, 45];
    for (packets, left) in (1..).zip(left_ms) {
        let text = format!(
            "controls = ['newreno']\nduration = '1s'\npacket = '1500B'\nheaders = '0B'\n\
             delayed_ack = 1\n[path]\nrate = '5Mbps'\nrtt = '10.5ms'\nbuffer = '100pkt'\n\
             rate_trace = 'hand.trace'\n[[flow]]\nsize = '{}B'\n",
            1_500 * packets
        );
        let file = folder.join("x.toml");
        fs::write(&file, text).unwrap();
        let scenario = Scenario::load(&file).unwrap();
        let report = run(&scenario, &Options::default()).unwrap();
        let took = report.runs[0].result.flows[0].completion_time_s.unwrap();
        // The last packet is there half an RTT later, after the receiver's own link of 1 Gbit/s,
        // where another may have been before it.
        let late = took * 1e3 - (f64::from(left) + 5.25);
        assert!((0.011..0.026).contains(&late), "{packets}: {took}");
    }
}
