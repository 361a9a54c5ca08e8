//! The round trip of an idle link of 2 x 50 ms, by ping.

use std::process::Command;

use firstflight_lab::link::{DirectionSpec, LinkSpec};
use firstflight_lab::path::far_address;
use firstflight_lab::{LinkKind, Path, lab_figures};
use firstflight_runner::RunError;

pub(crate) fn measure(spin_ns: u64) -> Result<(), RunError> {
    let way = DirectionSpec { delay_ns: 50_000_000, ..DirectionSpec::default() };
    let spec = LinkSpec {
        forward: way.clone(),
        backward: way,
        mtu: 1_500,
        spin_ns,
        ..LinkSpec::default()
    };
    let path = Path::new(&spec)?;
    let mut ping = Command::new("ping");
    ping.args(["-q", "-c", "200", "-i", "0.05", &far_address(0).to_string()]);
    path.near.confine(&mut ping);
    let output = ping.output().map_err(|_| RunError::Lacks("`ping` is missing".to_owned()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // rtt min/avg/max/mdev = 100.1/100.2/100.3/0.1 ms
    let numbers = text.lines().find_map(|line| line.strip_prefix("rtt ")?.split(" = ").nth(1));
    let numbers: Vec<f64> = numbers
        .and_then(|numbers| numbers.split(' ').next())
        .into_iter()
        .flat_map(|numbers| numbers.split('/').filter_map(|number| number.parse().ok()))
        .collect();
    let [_, mean, _, deviation] = numbers[..] else {
        return Err(RunError::Failed(format!("ping printed: {text}")));
    };
    let lab = lab_figures(&path.stop(), LinkKind::Tun, "ping", 100_000_000);
    let spin = format!("spin {} us", spin_ns / 1_000);
    let error = format!("{:+.3} ms", mean - 100.0);
    // The bars are for the lab's own links, which spin.
    let [mean, spread] = if spin_ns > 0 { ["0.2 ms", "0.1 ms"] } else { [""; 2] };
    crate::row(&format!("idle 2 x 50 ms, {spin}: mean RTT error"), &error, &lab, mean);
    crate::row("    mean deviation", &format!("{deviation:.3} ms"), &lab, spread);
    Ok(())
}
