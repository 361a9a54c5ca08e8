//! Goodput over 40 ms of round trip, by iperf3 with the kernel's own CUBIC.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use firstflight_lab::link::{DirectionSpec, LinkSpec, Rate};
use firstflight_lab::path::far_address;
use firstflight_lab::{LabError, Path};
use firstflight_scenario::ResolvedBuffer;

pub(crate) fn measure(rate_bps: u64) -> Result<(), LabError> {
    let delay_ns = 20_000_000;
    let bdp = rate_bps / 8 * 40 / 1_000;
    let forward = DirectionSpec {
        rate: Some(Rate::constant(rate_bps)),
        delay_ns,
        buffer: Some(ResolvedBuffer::Bytes(bdp)),
        ..DirectionSpec::default()
    };
    let backward = DirectionSpec { delay_ns, ..DirectionSpec::default() };
    let spin_ns = crate::SPIN_NS;
    let spec = LinkSpec { forward, backward, mtu: 1_500, spin_ns, ..LinkSpec::default() };
    let path = Path::new(&spec)?;
    let iperf = |end: &firstflight_lab::Namespace, words: &str| {
        let mut command = Command::new("iperf3");
        command.args(words.split(' ')).stdin(Stdio::null());
        end.confine(&mut command);
        command
    };
    let missing = |_| LabError::Lacks("`iperf3` is missing".to_owned());
    let mut server = iperf(&path.far, "-s -1").stdout(Stdio::null()).spawn().map_err(missing)?;
    thread::sleep(Duration::from_millis(300));
    let words = format!("-c {} -C cubic -t {SECONDS} -O 2 -J", far_address(0));
    let output = iperf(&path.near, &words).output().map_err(missing)?;
    let _ = server.wait();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| LabError::Failed(format!("iperf3: {error}")))?;
    let bps = said["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or_default();
    let late = path.stop().lateness;
    let what = format!("CUBIC, {} Mbit/s x 40 ms: goodput", rate_bps / 1_000_000);
    let bar = if rate_bps == 1_000_000_000 { "850 Mbit/s" } else { "" };
    crate::row(&what, &format!("{:.1} Mbit/s", bps / 1e6), late.p99_us, bar);
    let share = format!("{:.2} %", 100.0 * late.over_1ms);
    crate::row("    packets a millisecond late", &share, late.p99_us, "");
    Ok(())
}

const SECONDS: u32 = 10;
