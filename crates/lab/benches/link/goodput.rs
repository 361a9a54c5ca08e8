//! Goodput over 40 ms of round trip with the kernel's own CUBIC, start-up included.

use firstflight_lab::{Lab, run};
use firstflight_runner::Options;
use firstflight_runner::RunError;
use firstflight_scenario::Scenario;

pub(crate) fn measure(rate: &str, bar: &str) -> Result<(), RunError> {
    let text = format!(
        "controls = ['linux-cubic']\nduration = '10s'\npacket = '1448B'\nheaders = '52B'\n\
         [path]\nrate = '{rate}'\nrtt = '40ms'\nbuffer = '1bdp'"
    );
    let scenario = Scenario::parse(&text, "goodput")?;
    let report = run(&scenario, &Options::default(), Lab::TUN)?;
    let result = &report.runs[0].result;
    let lab = result.lab.clone().unwrap_or_default();
    let what = format!("CUBIC, {rate} x 40 ms: goodput over 10 s");
    let goodput = format!("{:.1} Mbit/s", result.total_throughput_bps / 1e6);
    crate::row(&what, &goodput, &lab, bar);
    let share = format!("{:.2} %", 100.0 * lab.late_over_1ms);
    crate::row("    packets a millisecond late", &share, &lab, "");
    Ok(())
}
