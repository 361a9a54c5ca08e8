//! The simulator and a kernel's TCP on the same paths.

use firstflight_runner::Options;
use firstflight_scenario::Scenario;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::{Back, File, Lab, Pair, Route};
use crate::Stop;
use crate::compared::percent;
use crate::explained::{Accepted, Finding};
use crate::runs::{Run, in_real_time, on, simulated};

/// The points of one pair of controls that are measured.
pub(super) struct Table {
    pub(super) pair: Pair,
    pub(super) points: Vec<Point>,
}

/// One path with both.
pub(super) struct Point {
    pub(super) route: Route,
    pub(super) sim: Run,
    pub(super) linux: Run,
    finding: Finding,
}

impl Route {
    /// Rate, RTT and buffer, the way back if it is more than a delay, and whether data takes it.
    pub(super) fn name(&self, between: &str) -> String {
        let mut parts = vec![self.rate.clone(), self.rtt.clone(), self.buffer.clone()];
        if let Some(Back { rate, buffer }) = &self.back {
            parts.push(format!("back {rate} {buffer}"));
        }
        parts.extend(self.framing.clone());
        parts.extend(self.upload.then(|| "upload".to_owned()));
        parts.join(between)
    }

    /// The path under a control, with what real receivers do and a full packet of an Ethernet.
    fn scenario(&self, control: &str) -> Result<Scenario, Stop> {
        let Self { rate, rtt, buffer, duration, back, upload, framing } = self;
        let back = back.as_ref().map_or(String::new(), |Back { rate, buffer }| {
            let framing = framing.as_ref().map_or(String::new(), |it| format!(", framing = {it}"));
            format!("back = {{ rate = '{rate}', buffer = '{buffer}'{framing} }}\n")
        });
        let (sizes, framing) = match framing {
            None => ("", String::new()),
            Some(framing) => (REAL_SIZES, format!("framing = {framing}\n")),
        };
        let flows = if *upload { UPLOAD } else { "" };
        let text = format!(
            "controls = ['{control}']\nduration = '{duration}'\ndelayed_ack = 2\n\
             packet = '1448B'\n{sizes}[path]\nrate = '{rate}'\nrtt = '{rtt}'\nbuffer = '{buffer}'\n\
             {back}{framing}{flows}"
        );
        let scenario = Scenario::parse(&text, &self.name(" "));
        scenario.map_err(|error| Stop::failed(&error.to_string()))
    }
}

impl Point {
    /// By how much the kernel carries more, per cent, of the flow that differs most.
    pub(super) fn percent(&self) -> f64 {
        let percents = self.flows().map(|(linux, sim)| percent(linux, sim));
        percents.fold(0.0, |most, each| if each.abs() > f64::abs(most) { each } else { most })
    }

    /// The throughputs of each flow in the kernel and in the simulator.
    fn flows(&self) -> impl Iterator<Item = (f64, f64)> {
        flows(&self.linux, &self.sim)
    }

    /// Whether the difference is large and nobody has said why.
    pub(super) fn is_unexplained(&self) -> bool {
        self.finding == Finding::Unexplained
    }

    /// A word on a difference that is large.
    pub(super) fn remark(&self) -> &str {
        match &self.finding {
            Finding::Equal | Finding::Needless => "",
            Finding::Unexplained => "NOT EXPLAINED",
            Finding::Explained(reason) => reason,
        }
    }
}

fn flows(linux: &Run, sim: &Run) -> impl Iterator<Item = (f64, f64)> {
    rates(linux).into_iter().zip(rates(sim))
}

fn differ(linux: &Run, sim: &Run) -> bool {
    flows(linux, sim).any(|(linux, sim)| !ACCEPTED.holds(linux, sim))
}

/// The throughput of each flow, Mbit/s.
fn rates(run: &Run) -> Vec<f64> {
    match &run.result.flows[..] {
        flows @ [_, _, ..] => flows.iter().map(|flow| flow.throughput_bps / 1e6).collect(),
        _ => vec![run.result.total_throughput_bps / 1e6],
    }
}

/// They in words.
pub(super) fn mbps(run: &Run) -> String {
    let words: Vec<String> = rates(run).iter().map(|rate| format!("{rate:.3}")).collect();
    words.join(", ")
}

/// 99 % of the link's packets were at most this late.
pub(super) fn late_p99_us(run: &Run) -> f64 {
    run.result.lab.as_ref().map_or(0.0, |lab| lab.late_p99_us)
}

/// Measures the pair's points, as far as there is time.
pub(super) fn measure(lab: &Lab<'_>, file: &File, pair: &Pair) -> Result<Table, Stop> {
    println!("{:<28} {:>9} {:>9} {:>7} {:>13}", "", "simulator", "kernel", "", "drops");
    // In virtual time guests side by side do not disturb each other.
    let threads = if lab.guests.is_some() { 0 } else { 1 };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Stop::failed(&error.to_string()))?;
    let points: Result<Vec<Option<Point>>, Stop> = pool.install(|| {
        let paths = file.paths(pair);
        paths.par_iter().with_max_len(1).map(|route| point(lab, pair, route)).collect()
    });
    Ok(Table { pair: pair.clone(), points: points?.into_iter().flatten().collect() })
}

/// One point, `None` if there is no time for it or other work disturbed every try.
fn point(lab: &Lab<'_>, pair: &Pair, route: &Route) -> Result<Option<Point>, Stop> {
    let sim = simulated(&route.scenario(&pair.sim)?, None)?.remove(0);
    let name = route.name(" ");
    let Some(linux) = on_linux(lab, pair, route)? else {
        println!("{name:<28} {:>9}", mbps(&sim));
        return Ok(None);
    };
    let finding = lab.explained.finding(&pair.linux, &name, differ(&linux, &sim));
    let point = Point { route: route.clone(), sim, linux, finding };
    let Point { sim, linux, .. } = &point;
    let drops = format!("{}/{}", sim.result.bottleneck.drops, linux.result.bottleneck.drops);
    let (sim, linux) = (mbps(sim), mbps(linux));
    let (percent, remark) = (point.percent(), point.remark());
    let line = format!("{name:<28} {sim:>9} {linux:>9} {percent:>+6.1}% {drops:>13} {remark}");
    println!("{}", line.trim_end());
    Ok(Some(point))
}

/// The kernel's side, kept or new; `None` if time is over or other work disturbed every try.
fn on_linux(lab: &Lab<'_>, pair: &Pair, route: &Route) -> Result<Option<Run>, Stop> {
    let scenario = route.scenario(&pair.linux)?;
    let key = format!("{} {}", lab.kernel, scenario.to_toml());
    if let Some(kept) = lab.cache.get(&key) {
        return Ok(Some(kept));
    }
    for _ in 0..lab.tries {
        if lab.is_over() {
            return Ok(None);
        }
        let run = match &lab.guests {
            Some(guests) => on(guests, &scenario, Options::default())?.remove(0),
            None => in_real_time(&lab.program, &scenario)?,
        };
        let timing = run.result.lab.as_ref().map_or("valid", |lab| &lab.timing);
        // In virtual time the next try would be the same; the page says how late packets were.
        if timing == "valid" || lab.guests.is_some() {
            lab.cache.put(&key, &run)?;
            return Ok(Some(run));
        }
        println!("{}: timing {timing}", route.name(" "));
    }
    Ok(None)
}

/// IP and TCP with time stamps.
const REAL_SIZES: &str = "headers = '52B'\nack_size = '52B'\n";

/// An upload, and a download that begins a second later.
const UPLOAD: &str = "[[flow]]\nstart = '1s'\n[[flow]]\nreverse = true\n";

/// How far throughputs may be apart.
pub(super) const ACCEPTED: Accepted = Accepted { percent: 5.0, least: 0.0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_difference_needs_a_reason() {
        let of = |mbps: f64| {
            let mut run = Run::default();
            run.result.total_throughput_bps = mbps * 1e6;
            run
        };
        let route = "rate = ''\nrtt = ''\nbuffer = ''\nduration = ''";
        let route: Route = toml::from_str(route).unwrap();
        let (sim, linux) = (of(10.0), of(9.4));
        assert!(differ(&linux, &sim) && !differ(&of(9.6), &sim));
        let mut point = Point { route, sim, linux, finding: Finding::Unexplained };
        assert_eq!((point.is_unexplained(), point.remark()), (true, "NOT EXPLAINED"));
        point.finding = Finding::Explained("why".to_owned());
        assert_eq!((point.is_unexplained(), point.remark()), (false, "why"));
    }
}
