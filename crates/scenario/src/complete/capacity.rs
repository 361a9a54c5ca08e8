//! What links let pass, whatever key limits them: the rate, a schedule or a trace in its place, the
//! token buckets of a policer and of a shaper.
//!
//! A path carries what its slowest link carries. Where rates change, the capacity is what passes
//! between two instants.

use std::iter::repeat_n;

use firstflight_control::quantity::{Rate, Time};
use firstflight_results::FlowResult;
use firstflight_results::statistics::{ratio, throughput_bps};

use super::{Complete, Link, bdp_packets, frame_bytes};
use crate::scenario::Elements;
use crate::trace::Rates;

/// What the links of a network let pass over time, in both directions: a path names the other
/// direction of a link by its number behind the links.
#[derive(Clone, Debug)]
pub struct Capacity {
    links: Vec<Limits>,
}

/// What limits a link.
#[derive(Clone, Debug)]
struct Limits {
    line: Line,
    /// Rates in bit/s at which token buckets fill, and what they hold in bytes.
    buckets: Vec<(u64, u64)>,
}

/// What a link sends over time if there always is something to send.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// From when on, in ns; what has been sent until then; the rate from then on, in bit/s.
    steps: Vec<(u64, u128, u64)>,
    /// After so many ns the steps begin again.
    period_ns: Option<u64>,
    /// What is sent in that time.
    of_period: u128,
}

impl Complete {
    /// What the links let pass.
    pub fn capacity(&self) -> Capacity {
        let forward = self.links.iter().map(Limits::of);
        Capacity { links: forward.chain(self.links.iter().map(Limits::of_back)).collect() }
    }

    /// What a path lets pass on average over the whole run, in bit/s.
    pub fn path_bps(&self, path: &[usize]) -> u64 {
        self.capacity().mean_bps(path, 0, self.duration.ns())
    }

    /// What fills a path, in bytes of payload: whole packets, of this rate and the propagation of
    /// its links.
    pub fn bdp_bytes(&self, path: &[usize], rate_bps: u64) -> u64 {
        let links = path.iter().filter_map(|link| self.links.get(link % self.links.len().max(1)));
        let rtt_ns = links.map(|link| link.delay.ns() + link.return_delay.ns()).sum();
        let wire = frame_bytes(&self.links, path, self.wire_bytes());
        let (rate, rtt) = (Rate::from_bps(rate_bps), Time::from_ns(rtt_ns));
        bdp_packets(rate, rtt, wire, 1000) * self.packet.bytes()
    }

    /// The share that flows have of what the network lets pass: of a single one over its own time,
    /// of several together over the run, at the link of which they use the largest share.
    pub fn utilization(&self, flows: &[FlowResult]) -> f64 {
        if let [flow] = flows {
            return flow.utilization;
        }
        let capacity = self.capacity();
        let mut delivered = vec![0_u64; 2 * self.links.len()];
        let paths = self.flows.iter().flat_map(|g| repeat_n(&g.data_path, g.count as usize));
        for (flow, path) in flows.iter().zip(paths) {
            path.iter().for_each(|link| delivered[*link] += flow.delivered_bytes);
        }
        let shares = delivered.iter().enumerate().map(|(link, bytes)| {
            let most = capacity.most_bps(&[link], 0, self.duration.ns());
            ratio(throughput_bps(*bytes, self.duration.ns()), most as f64)
        });
        shares.fold(0.0, f64::max)
    }
}

impl Capacity {
    /// The mean rate between two times (ns) at which a path lets data pass, in bit/s: the least of
    /// its links'. What a full bucket lets pass at once is not in it.
    pub fn mean_bps(&self, path: &[usize], from: u64, until: u64) -> u64 {
        let links = path.iter().filter_map(|link| self.links.get(*link));
        links.map(|limits| limits.mean_bps(from, until)).min().unwrap_or(0)
    }

    /// The most that a path lets pass between two times (ns), as a rate in bit/s: also what full
    /// buckets let pass besides [`Self::mean_bps`]. No flow can have more delivered in that time,
    /// nor can several together that share a link.
    pub fn most_bps(&self, path: &[usize], from: u64, until: u64) -> u64 {
        let links = path.iter().filter_map(|link| self.links.get(*link));
        let most = links.map(|limits| limits.most(from, until)).min().unwrap_or(0);
        let time = u128::from(until.saturating_sub(from)).max(1);
        u64::try_from(most.div_ceil(time)).unwrap_or(u64::MAX)
    }

    /// The link of a path that lets the least pass over a time (ns), the first of equals; 0 for an
    /// empty path.
    pub fn bottleneck(&self, path: &[usize], from: u64, until: u64) -> usize {
        let bps = |link: &&usize| self.mean_bps(&[**link], from, until);
        path.iter().min_by_key(bps).copied().unwrap_or(0)
    }

    /// Whether the rate of any link of the path changes.
    pub fn changes(&self, path: &[usize]) -> bool {
        let mut links = path.iter().filter_map(|link| self.links.get(*link));
        links.any(|limits| limits.line.steps.len() > 1 || limits.line.period_ns.is_some())
    }
}

impl Limits {
    fn of(link: &Link) -> Self {
        let shaper = link.queue.as_ref().and_then(|queue| queue.discipline.bucket());
        Self::with(&link.elements, link.rate, shaper)
    }

    /// The other direction.
    fn of_back(link: &Link) -> Self {
        match &link.back {
            Some(back) => Self::with(&back.elements, back.rate, None),
            None => Self { line: Line::constant(link.rate), buckets: Vec::new() },
        }
    }

    fn with(elements: &super::Elements, rate: Rate, shaper: Option<(u64, u64)>) -> Self {
        let line = Line::written(&elements.written).unwrap_or_else(|| Line::constant(rate));
        Self { line, buckets: elements.buckets().chain(shaper).collect() }
    }

    fn mean_bps(&self, from: u64, until: u64) -> u64 {
        let buckets = self.buckets.iter().map(|(bps, _)| *bps);
        buckets.fold(self.line.mean_bps(from, until), u64::min)
    }

    /// In bits times 10^9.
    fn most(&self, from: u64, until: u64) -> u128 {
        let time = u128::from(until.saturating_sub(from));
        let of_bucket =
            |(bps, bytes): &(u64, u64)| u128::from(*bps) * time + u128::from(*bytes) * 8 * SECOND;
        self.buckets.iter().map(of_bucket).fold(self.line.between(from, until), u128::min)
    }
}

impl Line {
    /// One rate at all times.
    fn constant(rate: Rate) -> Self {
        Self { steps: vec![(0, 0, rate.bps())], period_ns: None, of_period: 0 }
    }

    /// The rates of a schedule or of a trace; `None` without either.
    pub(crate) fn written(elements: &Elements) -> Option<Self> {
        let period = elements.rates_period.map(Time::ns);
        let steps = elements.rates.iter().map(|step| (step.at.ns(), step.rate.bps()));
        match &elements.rate_trace {
            Some(trace) => Some(Self::of_rates(&trace.content, period)),
            None => (steps.len() > 0).then(|| Self::of_steps(steps, period)),
        }
    }

    /// The rates of a trace, which begin again after its own time or after this.
    pub(crate) fn of_rates(rates: &Rates, period: Option<u64>) -> Self {
        match rates {
            Rates::Opportunities(trace) => Self::of_opportunities(trace),
            Rates::Steps { steps, period_ns } => {
                Self::of_steps(steps.iter().copied(), period_ns.or(period))
            }
        }
    }

    fn of_steps(rates: impl Iterator<Item = (u64, u64)>, period_ns: Option<u64>) -> Self {
        let mut steps: Vec<(u64, u128, u64)> = Vec::with_capacity(rates.size_hint().0);
        for (at, bps) in rates {
            let sent = steps.last().map_or(0, |last| sent_by(*last, at));
            steps.push((at, sent, bps));
        }
        let of_period = match (steps.last(), period_ns) {
            (Some(last), Some(period)) => sent_by(*last, period),
            _ => 0,
        };
        Self { steps, period_ns, of_period }
    }

    /// What can be sent at an instant counts from that instant on.
    fn of_opportunities(trace: &[(u64, u32)]) -> Self {
        let mut sent = 0;
        let step = |(at_ms, count): &(u64, u32)| {
            sent += u128::from(*count) * OPPORTUNITY_BITS * SECOND;
            (at_ms * MILLISECOND, sent, 0)
        };
        let steps: Vec<_> = trace.iter().map(step).collect();
        let period_ns = steps.last().map(|(at, ..)| *at);
        Self { steps, period_ns, of_period: sent }
    }

    /// The mean rate over a time, in bit/s.
    pub(crate) fn mean_bps(&self, from: u64, until: u64) -> u64 {
        let time = u128::from(until.saturating_sub(from)).max(1);
        u64::try_from(self.between(from, until) / time).unwrap_or(u64::MAX)
    }

    /// The mean rate over a period, or over so many ns from the beginning if there is none.
    pub(crate) fn usual_bps(&self, duration_ns: u64) -> u64 {
        self.mean_bps(0, self.period_ns.unwrap_or(duration_ns))
    }

    /// The mean rate over a period, or until the last step if there is none.
    pub(crate) fn own_mean_bps(&self) -> u64 {
        match self.steps[..] {
            [(_, _, only)] if self.period_ns.is_none() => only,
            _ => self.usual_bps(self.steps.last().map_or(0, |(at, ..)| *at)),
        }
    }

    /// What is sent after one time and until another, in bits times 10^9.
    fn between(&self, from: u64, until: u64) -> u128 {
        self.until(until).saturating_sub(self.until(from))
    }

    fn until(&self, at: u64) -> u128 {
        let (rounds, within) = match self.period_ns {
            Some(period) => (at / period.max(1), at % period.max(1)),
            None => (0, at),
        };
        let next = self.steps.partition_point(|(from, ..)| *from <= within);
        let last = next.checked_sub(1).and_then(|step| self.steps.get(step));
        u128::from(rounds) * self.of_period + last.map_or(0, |last| sent_by(*last, within))
    }
}

/// What has been sent by a time not before a step and not after the next, in bits times 10^9.
fn sent_by((from, sent, bps): (u64, u128, u64), at: u64) -> u128 {
    sent + u128::from(bps) * u128::from(at.saturating_sub(from))
}

/// Nanoseconds: a bit per second times a nanosecond is the unit.
const SECOND: u128 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// What Mahimahi sends with one line of a trace.
const OPPORTUNITY_BITS: u128 = 12_000;

#[cfg(test)]
mod tests {
    use super::FlowResult;
    use crate::Scenario;
    use crate::complete::Complete;

    const S: u64 = 1_000_000_000;

    fn complete(text: &str) -> Complete {
        let text = format!("controls = ['hoe']\n{text}");
        Scenario::parse(&text, "x.toml").and_then(|scenario| scenario.complete()).unwrap()
    }

    #[test]
    fn the_least_of_rate_policer_and_shaper_is_what_passes() {
        let rate = |path: &str| complete(path).path_bps(&[0]);
        let line = "[path]\nrate = '1Gbps'\n";
        assert_eq!(rate(line), 1_000_000_000);
        let policer = "policer = { rate = '100Mbps', bucket = '64kB' }";
        assert_eq!(rate(&format!("{line}{policer}")), 100_000_000);
        let tbf = "queue = 'tbf(rate=50Mbps, burst=64kB)'";
        assert_eq!(rate(&format!("{line}{policer}\n{tbf}")), 50_000_000);
        assert_eq!(rate(&format!("[path]\nrate = '10Mbps'\n{policer}")), 10_000_000);
    }

    #[test]
    fn a_full_bucket_passes_once() {
        let capacity =
            complete("[path]\nrate = '1Gbps'\npolicer = { rate = '8Mbps', bucket = '1MB' }")
                .capacity();
        // 8 Mbit of the bucket and 8 Mbit in the second; the line's own rate in the first 4 ms.
        assert_eq!(capacity.most_bps(&[0], 0, S), 16_000_000);
        assert_eq!(capacity.most_bps(&[0], 0, S / 250), 1_000_000_000);
        assert_eq!(capacity.mean_bps(&[0], 0, S), 8_000_000);
    }

    #[test]
    fn a_schedule_passes_what_its_steps_do_between_two_times() {
        let rates = "rates = [{ rate = '8Mbps' }, { at = '1s', rate = 'none' }, \
                     { at = '2s', rate = '4Mbps' }]";
        let once = complete(&format!("[path]\nrate = '40Mbps'\n{rates}")).capacity();
        let of = |from, until| once.mean_bps(&[0], from, until);
        assert_eq!([of(0, S), of(S, 2 * S), of(2 * S, 9 * S)], [8_000_000, 0, 4_000_000]);
        assert_eq!([of(S / 2, 3 * S / 2), of(0, 4 * S)], [4_000_000, 4_000_000]);
        let again = complete(&format!("[path]\nrate = '40Mbps'\n{rates}\nrates_period = '4s'"));
        let of = |from, until| again.capacity().mean_bps(&[0], from, until);
        assert_eq!([of(0, 400 * S), of(8 * S, 9 * S)], [4_000_000, 8_000_000]);
        assert!(once.changes(&[0]) && !complete("").capacity().changes(&[0]));
    }

    #[test]
    fn the_link_that_lets_the_least_pass_is_the_bottleneck() {
        let links = "[[link]]\nname = 'a'\nrate = '50Mbps'\ndelay = '1ms'\n\
                     policer = { rate = '5Mbps', bucket = '9kB' }\n\
                     [[link]]\nname = 'b'\nrate = '10Mbps'\ndelay = '1ms'\n\
                     [[flow]]\npath = ['b', 'a']";
        let complete = complete(links);
        let capacity = complete.capacity();
        assert_eq!(capacity.bottleneck(&complete.flows[0].path, 0, S), 0);
        assert_eq!(complete.path_bps(&[0, 1]), 5_000_000);
    }

    #[test]
    fn flows_together_use_no_more_than_the_link_that_they_share() {
        let delivered = |mbits: u64| FlowResult {
            delivered_bytes: mbits * 125_000,
            // Over its own life of a second.
            utilization: mbits as f64 / 10.0,
            ..FlowResult::default()
        };
        let dumbbell =
            complete("duration = '10s'\npath = { rate = '10Mbps' }\n[[flow]]\ncount = 3");
        let shares = [delivered(9), delivered(8), delivered(0)];
        assert_eq!(dumbbell.utilization(&shares), 0.17, "of 100 Mbit in the run");
        assert_eq!(dumbbell.utilization(&shares[..1]), 0.9, "one is measured over its own time");
        // A parking lot: no link carries all.
        let link = |name| format!("[[link]]\nname = '{name}'\nrate = '10Mbps'\ndelay = '1ms'\n");
        let flow = |path| format!("[[flow]]\npath = [{path}]\n");
        let (links, flows) =
            (link("a") + &link("b"), flow("'a', 'b'") + &flow("'a'") + &flow("'b'"));
        let lot = complete(&format!("duration = '10s'\n{links}{flows}"));
        assert_eq!(lot.utilization(&[delivered(50), delivered(40), delivered(20)]), 0.9);
    }
}
