//! What was measured, as lines and as JSON.

use serde::Serialize;

use crate::cases::{Case, KEPT_BAR};
use crate::memory::{LONG_SLACK, THOUSAND_BAR};
use crate::speed::Speed;

/// Everything measured.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    pub(crate) kept: Vec<Kept>,
    pub(crate) peaks: Vec<Peak>,
}

/// One scenario under one control.
#[derive(Serialize)]
pub(crate) struct Row {
    scenario: &'static str,
    flows: u64,
    rate_mbps: u64,
    rtt_ms: (u64, u64),
    duration_s: u64,
    control: &'static str,
    delivered_packets: u64,
    utilization: f64,
    events: u64,
    runs: u32,
    calm_cpu_s: f64,
    best_cpu_s: f64,
    /// Delivered packets per second of CPU in an undisturbed run.
    packets_per_s: f64,
    /// That of the best run.
    best_packets_per_s: f64,
    /// That of the worst run.
    worst_packets_per_s: f64,
    /// What is wanted, if anything is.
    bar_packets_per_s: Option<f64>,
    /// Whether an undisturbed run reaches it.
    met: Option<bool>,
}

/// One control over a small and a large BDP.
#[derive(Serialize)]
pub(crate) struct Kept {
    control: &'static str,
    small: Row,
    large: Row,
    /// Speed at the large BDP over that at the small one.
    kept: f64,
    /// What is wanted of it.
    bar: f64,
    /// Whether it is reached.
    met: bool,
}

/// A peak of memory, absolute or against a shorter run.
#[derive(Serialize)]
pub(crate) struct Peak {
    what: &'static str,
    control: &'static str,
    /// `null` where the system does not tell.
    bytes: Option<u64>,
    /// The peak of a shorter run, where two are compared.
    shorter_run_bytes: Option<u64>,
    /// What is allowed.
    bar_bytes: Option<u64>,
    /// Whether the peak stays within it.
    met: Option<bool>,
}

impl Report {
    /// One document.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and names only")
    }
}

impl Row {
    pub(crate) fn new(
        case: &Case,
        control: &'static str,
        speed: Speed,
        bar_millions: Option<f64>,
    ) -> Self {
        let carried = (case.rate_mbps * case.duration_s * 125) as f64;
        Self {
            scenario: case.id,
            flows: case.flows,
            rate_mbps: case.rate_mbps,
            rtt_ms: case.rtt_ms,
            duration_s: case.duration_s,
            control,
            delivered_packets: speed.delivered,
            utilization: speed.delivered as f64 / carried,
            events: speed.events,
            runs: speed.runs,
            calm_cpu_s: speed.calm_s,
            best_cpu_s: speed.best_s,
            packets_per_s: speed.packets_per(speed.calm_s),
            best_packets_per_s: speed.packets_per(speed.best_s),
            worst_packets_per_s: speed.packets_per(speed.worst_s),
            bar_packets_per_s: bar_millions.map(|bar| bar * 1e6),
            met: bar_millions.map(|bar| speed.packets_per(speed.calm_s) >= bar * 1e6),
        }
    }

    pub(crate) fn line(&self) -> String {
        let bar = self.bar_packets_per_s.map_or("-".to_owned(), |bar| format!("{:.0}", bar / 1e6));
        format!(
            "    {:<13} {:>8.1} {:>8.1} {:>8.1} {:>5} {:>9.3} {:>12} {:>6.3} {:>8.2}   {bar:>4}  \
             {}",
            self.control,
            self.packets_per_s / 1e6,
            self.best_packets_per_s / 1e6,
            self.worst_packets_per_s / 1e6,
            self.runs,
            self.calm_cpu_s,
            self.delivered_packets,
            self.utilization,
            self.events as f64 / self.delivered_packets.max(1) as f64,
            verdict(self.met),
        )
        .trim_end()
        .to_owned()
    }
}

impl Kept {
    pub(crate) fn new(control: &'static str, small: Row, large: Row) -> Self {
        let kept = large.packets_per_s / small.packets_per_s;
        Self { control, small, large, kept, bar: KEPT_BAR, met: kept >= KEPT_BAR }
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "    {:<13} {:>8.1} {:>8.1} M/s, delivered {:.3} and {:.3} of the link; \
             {:.0} % of the speed kept, bar {:.0} %  {}",
            self.control,
            self.large.packets_per_s / 1e6,
            self.small.packets_per_s / 1e6,
            self.large.utilization,
            self.small.utilization,
            self.kept * 100.0,
            self.bar * 100.0,
            verdict(Some(self.met)),
        )
    }
}

impl Peak {
    /// The peak of a thousand flows.
    pub(crate) fn thousand(control: &'static str, bytes: Option<u64>) -> Self {
        Self {
            what: "(d), a thousand flows",
            control,
            bytes,
            shorter_run_bytes: None,
            bar_bytes: Some(THOUSAND_BAR),
            met: bytes.map(|bytes| bytes <= THOUSAND_BAR),
        }
    }

    /// The peak of twenty minutes of (a), against twenty seconds.
    pub(crate) fn long(control: &'static str, short: Option<u64>, long: Option<u64>) -> Self {
        let bar_bytes = short.map(|bytes| bytes + LONG_SLACK);
        Self {
            what: "(a) for 20 minutes",
            control,
            bytes: long,
            shorter_run_bytes: short,
            bar_bytes,
            met: long.zip(bar_bytes).map(|(long, bar)| long <= bar),
        }
    }

    pub(crate) fn line(&self) -> String {
        let megabytes = |bytes: Option<u64>| {
            bytes.map_or("not known here".to_owned(), |bytes| {
                format!("{:.1} MB", bytes as f64 / f64::from(1 << 20))
            })
        };
        let shorter = self.shorter_run_bytes;
        let against =
            shorter.map_or(String::new(), |_| format!(", for 20 s {}", megabytes(shorter)));
        format!(
            "    {:<13} {:<22} {}{against}, bar {}  {}",
            self.control,
            self.what,
            megabytes(self.bytes),
            megabytes(self.bar_bytes),
            verdict(self.met),
        )
    }
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        None => "",
        Some(true) => "met",
        Some(false) => "NOT MET",
    }
}

pub(crate) const SPEED_HEAD: &str = "\
millions of delivered data packets per second of CPU, one thread, no tracing
                      calm     best    worst  runs  calm, s    delivered   util events/p   bar";
