//! What the numbers of a comparison say, in words: which control does best, how each one's start-up
//! ended and whether that was early or late, and what of the set-up decides more than any control.

use firstflight_core::policy::Startup as _;
use firstflight_core::units::Bytes;
use firstflight_core::view::Window;
use firstflight_outside::{count, short};
use firstflight_results::statistics::mean_and_interval;
use firstflight_results::{FlowResult, RunResult};
use firstflight_runner::{Control, Report, Run};
use firstflight_scenario::{Size, Time};

use crate::endpoints;
use crate::measure::{Scale, bottleneck_bps, over_files, throughput};

/// One sentence or two each, without line breaks; of many controls only what holds for all.
pub fn sentences(report: &Report) -> Vec<String> {
    let by_control = report.runs.chunk_by(|one, next| one.result.alias == next.result.alias);
    let controls: Vec<Vec<&RunResult>> =
        by_control.map(|runs| runs.iter().map(|run| &run.result).collect()).collect();
    let mut sentences: Vec<String> = no_round_trip(report).into_iter().collect();
    sentences.extend(ranking(report, &controls).filter(|_| sentences.is_empty()));
    for runs in controls.iter().filter(|_| controls.len() <= MOST_SAID) {
        // Of several flows or seeds the table has the means.
        if let [run] = runs[..]
            && let [flow] = &run.flows[..]
            && flow.files.is_none()
        {
            sentences.push(format!("{}: {}.", run.alias, start_up(flow)));
        }
    }
    sentences.extend(controls.iter().filter_map(|runs| own_window(report, runs.first()?)));
    sentences.extend(endpoints::without_sack(report));
    sentences.extend(set_up(report));
    sentences
}

/// A control that opens with a window of its own, where the user asked for another.
fn own_window(report: &Report, run: &RunResult) -> Option<String> {
    let mut first = 0;
    for group in &report.scenario.flows {
        let flow = run.flows.get(first)?;
        first += usize::try_from(group.count).ok()?;
        let given = Window { cwnd: Bytes(group.iw.value.bytes()), ssthresh: Bytes::MAX };
        // What quinn brings itself has other names, and no such knob.
        let Ok(control) = Control::named(&flow.control) else { continue };
        let own = control.startup.open(given, Bytes(report.scenario.packet.bytes())).cwnd;
        if group.iw.given && own != given.cwnd {
            let [own, asked] = [own, given.cwnd].map(|window| Size::from_bytes(window.0));
            let (alias, name) = (&run.alias, control.startup_name);
            return Some(format!(
                "{alias} begins with a window of its own, {own}, not with {asked} as asked for: \
                 it takes {name}(iw=...)."
            ));
        }
    }
    None
}

/// A control as the ranking sees it.
struct Ranked<'a> {
    name: &'a str,
    value: f64,
    /// Half the interval of the table, where there is one.
    half: Option<f64>,
}

impl Ranked<'_> {
    /// Whether the intervals of the two have no value in common; single runs have none, and what
    /// they say holds for their seed.
    fn is_apart(&self, other: &Self) -> bool {
        match (self.half, other.half) {
            (None, None) => true,
            (one, two) => {
                let halves = one.unwrap_or(0.0) + two.unwrap_or(0.0);
                (self.value - other.value).abs() > halves
            }
        }
    }
}

/// Which control is done first, or carries most, and what the others are beside it, as far as the
/// intervals of the table show it.
fn ranking(report: &Report, controls: &[Vec<&RunResult>]) -> Option<String> {
    if controls.len() < 2 {
        return None;
    }
    let measure = Measure::of(report);
    let (mut found, mut late): (Vec<Ranked<'_>>, Vec<String>) = (Vec::new(), Vec::new());
    for runs in controls {
        let name = runs.first()?.alias.as_str();
        let values: Vec<f64> = runs.iter().filter_map(|run| measure.value(run)).collect();
        match (values.len(), mean_and_interval(&values)) {
            (done, (Some(value), half)) if done == runs.len() => {
                found.push(Ranked { name, value, half });
            }
            (0, _) => late.push(format!("{name} {NOT_ONE}")),
            (done, _) => late.push(format!("{name} finished in {done} of {}", runs.len())),
        }
    }
    found.sort_by(|one, other| one.value.total_cmp(&other.value));
    if measure == Measure::Throughput {
        found.reverse();
    }
    let duration = report.scenario.duration;
    let short = match late.is_empty() {
        true => String::new(),
        false => format!(" {duration} were too short for what did not finish; see --duration."),
    };
    let Some((best, rest)) = found.split_first() else {
        if late.iter().all(|one| one.ends_with(NOT_ONE)) {
            return Some(format!(
                "Nothing was finished in the {duration} measured; see --duration."
            ));
        }
        return Some(format!("No control finished in all runs: {}.{short}", late.join(", ")));
    };
    if best.value <= 0.0 {
        return Some(format!("Nothing was delivered in the {duration} measured; see --duration."));
    }
    let (equal, behind): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) =
        rest.iter().partition(|other| !best.is_apart(other));
    let first = match &equal[..] {
        [] if rest.is_empty() => format!(
            "{} alone finished in all runs; its mean is {}",
            best.name,
            measure.mean(best, &Scale::of(report))
        ),
        [] => measure.leads(best, &Scale::of(report)),
        equal => {
            let names: Vec<&str> = equal.iter().map(|it| it.name).collect();
            format!(
                "{} has the best mean, {}, but the intervals show no difference to {}",
                best.name,
                measure.mean(best, &Scale::of(report)),
                listed(&names)
            )
        }
    };
    // The order of many stands in the table.
    let shown = if controls.len() > MOST_SAID { &[] } else { &behind[..] };
    let others = shown.iter().map(|it| measure.compared(it.name, it.value / best.value));
    let others: Vec<String> = others.chain(late).collect();
    match others.is_empty() {
        true => Some(format!("{first}.")),
        false => Some(format!("{first}; {}.{short}", others.join(", "))),
    }
}

/// `a, b and c`; of many how many they are.
fn listed(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= MOST_NAMED => {
            format!("{} and {last}", first.join(", "))
        }
        many => format!("{} others", many.len()),
    }
}

/// By what the runs of a control are put in order, the best first: the time they take, or what
/// they carry, as a negative number. What was not done comes last.
pub fn cost(report: &Report, runs: &[Run]) -> f64 {
    let measure = Measure::of(report);
    let values: Option<Vec<f64>> = runs.iter().map(|run| measure.value(&run.result)).collect();
    match values.and_then(|values| mean_and_interval(&values).0) {
        Some(value) if measure == Measure::Throughput => -value,
        Some(value) => value,
        None => f64::INFINITY,
    }
}

/// By what controls are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Throughput,
    /// The mean time until flows of a size are done.
    Completion,
    /// The mean time of a file.
    Files,
}

impl Measure {
    fn of(report: &Report) -> Self {
        let flows = &report.scenario.flows;
        if flows.iter().all(|group| group.size.is_some()) {
            return Self::Completion;
        }
        let files = flows.iter().all(|group| group.files.is_some());
        if files { Self::Files } else { Self::Throughput }
    }

    /// `None` if a flow was not done, or no file.
    fn value(self, run: &RunResult) -> Option<f64> {
        let times: Option<Vec<f64>> = match self {
            Self::Throughput => return Some(throughput(run)),
            Self::Files => return over_files(run, |files| files.mean_time_s),
            Self::Completion => run.flows.iter().map(|flow| flow.completion_time_s).collect(),
        };
        mean_and_interval(&times?).0
    }

    /// That a control is shown to be the best.
    fn leads(self, best: &Ranked<'_>, scale: &Scale) -> String {
        let Ranked { name, value, .. } = best;
        match self {
            Self::Throughput => {
                format!("{name} carries most, {:.2} {}", value / scale.bps, scale.unit)
            }
            Self::Completion => format!("{name} finishes first, after {} s", short(*value)),
            Self::Files => format!("{name} is the fastest, {} s a file", short(*value)),
        }
    }

    /// Its mean: `9.31 s`.
    fn mean(self, of: &Ranked<'_>, scale: &Scale) -> String {
        match self {
            Self::Throughput => format!("{:.2} {}", of.value / scale.bps, scale.unit),
            Self::Completion => format!("{} s", short(of.value)),
            Self::Files => format!("{} s a file", short(of.value)),
        }
    }

    fn compared(self, name: &str, ratio: f64) -> String {
        match self {
            _ if (ratio - 1.0).abs() < EQUAL => format!("{name} the same within 1 %"),
            Self::Throughput => format!("{name} {:.0} % of it", ratio * 100.0),
            _ => format!("{name} takes {ratio:.1} times as long"),
        }
    }
}

/// How start-up ended, and whether the window was right then.
fn start_up(flow: &FlowResult) -> String {
    let startup = &flow.startup;
    let full = startup.time_to_bdp_s.at_90;
    // The sender hears of the end half a round trip later, or finds a loss at it.
    let done = flow.completion_time_s.zip(startup.exit_time_s);
    let in_time = done.is_none_or(|(done, exit)| exit <= done);
    let Some(reason) = startup.exit_reason.as_ref().filter(|_| in_time) else {
        return match full {
            _ if flow.control == SILENT => "how its start-up ended it does not tell".to_owned(),
            Some(after) => {
                format!("90 % of the BDP after {} s, and start-up did not end", short(after))
            }
            None if flow.completion_time_s.is_some() => "done before start-up ended".to_owned(),
            None => "start-up did not end, and did not reach 90 % of the BDP".to_owned(),
        };
    };
    let by = match reason.as_str() {
        "ssthresh" => "at ssthresh",
        "loss" => "by a loss",
        "timeout" => "by a timeout",
        "ecn" => "by a mark",
        "heuristic" => "by its own sign of a full path",
        other => other,
    };
    let mut text = format!("start-up ended {by}");
    if let Some(share) = startup.exit_window_over_bdp {
        text.push_str(&format!(", at {share:.2} BDP"));
    }
    if let Some(after) = startup.exit_time_s {
        text.push_str(&format!(" after {} s", short(after)));
    }
    // Without a share nothing is known of what the path holds.
    let share = startup.exit_window_over_bdp.unwrap_or(1.0);
    match full {
        _ if share >= EARLY => {}
        Some(after) if startup.exit_time_s.is_some_and(|exit| after <= exit) => {
            text.push_str(&format!(", having been at 90 % at {} s", short(after)));
        }
        Some(after) => text.push_str(&format!(": early, 90 % came only at {} s", short(after))),
        None => text.push_str(": too early, 90 % was never reached"),
    }
    let dropped = startup.drops_in_exit_round.unwrap_or(0);
    let cuts = startup.reductions_next_10_rtt.unwrap_or(0);
    if dropped > 0 {
        let late = if share > LATE && dropped > LONE { ": too late, " } else { "; " };
        let (dropped, cuts) = (count(dropped, "packet"), count(cuts, "further cut"));
        text.push_str(&format!("{late}{dropped} dropped in that round, {cuts} in ten RTTs"));
    }
    if flow.counts.timeouts > 0 {
        text.push_str(&format!("; {} in all", count(flow.counts.timeouts, "timeout")));
    }
    text
}

/// That the time measured is over before the first answer can come: nothing else is worth saying.
pub fn no_round_trip(report: &Report) -> Option<String> {
    let complete = &report.scenario;
    let (duration, rtt) = (complete.duration, complete.flows.iter().map(|flow| flow.rtt).min()?);
    (duration <= rtt).then(|| {
        let enough = Time::from_ns(rtt.ns().saturating_mul(FEW_RTTS));
        format!(
            "{duration} are less than one round trip of {rtt}, so no answer came back and there \
             is nothing to compare; --duration {enough} measures {FEW_RTTS} round trips."
        )
    })
}

/// What makes a path say little about start-up, as reports of such tests show again and again.
fn set_up(report: &Report) -> Vec<String> {
    let complete = &report.scenario;
    let ([link], [group]) = (&complete.links[..], &complete.flows[..]) else { return Vec::new() };
    let wire = complete.wire_bytes();
    // A path that holds less than a packet is filled by one.
    let bdp = (bottleneck_bps(report) as f64 * group.rtt.ns() as f64 / 8e9).max(wire as f64);
    let buffer = link.buffer.bytes_of(wire) as f64;
    let mut sentences = Vec::new();
    if buffer > DEEP * bdp {
        sentences.push(format!(
            "The buffer holds {} BDP: what waits for a loss ends late here.",
            short((buffer / bdp).round())
        ));
    }
    let window = group.receiver_window.map(|window| window.bytes() as f64 / bdp);
    if let Some(share) = window.filter(|share| *share < 1.0) {
        sentences.push(format!("The receiver's window is {share:.2} BDP: it is the limit here."));
    }
    if let Some(size) = group.size.filter(|size| (size.bytes() as f64) < bdp) {
        sentences.push(format!(
            "{size} are less than one BDP: only the first round trips are measured."
        ));
    }
    let rtts = complete.duration.ns() / group.rtt.ns().max(1);
    if (1..FEW_RTTS).contains(&rtts) {
        let duration = complete.duration;
        sentences.push(format!(
            "{duration} are {rtts} round trips: little beyond start-up is measured."
        ));
    }
    sentences
}

/// With more controls than these none has a sentence of its own.
const MOST_SAID: usize = 12;
/// What is said of a control that finished in no run.
const NOT_ONE: &str = "did not finish";
/// More names than these make no sentence.
const MOST_NAMED: usize = 5;
/// It has no ssthresh, and says nothing else of its states.
const SILENT: &str = "quinn-bbr";
/// Differences below this are none.
const EQUAL: f64 = 0.01;
/// The smallest of the shares of a BDP at which start-ups are timed (60, 80 and 90 %).
const EARLY: f64 = 0.6;
/// Above the BDP a window only queues; a tenth is left to how the BDP is rounded.
const LATE: f64 = 1.1;
/// Drops that congestion avoidance costs when it fills a buffer: growth was linear then.
const LONE: u64 = 3;
/// Buffers in BDP beyond which slow start hardly meets a loss.
const DEEP: f64 = 8.0;
/// Slow start from one packet takes as many to a window of a thousand.
const FEW_RTTS: u64 = 10;

#[cfg(test)]
mod tests {
    use firstflight_results::{Startup, TimeToBdp};

    use super::*;

    /// What is said of a start-up that ended after 2 s at this share of a BDP, of which 90 %
    /// came then.
    fn exit_of(share: Option<f64>, full: Option<f64>) -> String {
        start_up(&FlowResult {
            completion_time_s: Some(5.0),
            startup: Startup {
                exit_reason: Some("ssthresh".to_owned()),
                exit_time_s: Some(2.0),
                exit_window_over_bdp: share,
                time_to_bdp_s: TimeToBdp { at_90: full, ..TimeToBdp::default() },
                ..Startup::default()
            },
            ..FlowResult::default()
        })
    }

    /// What is said first of a comparison.
    fn first(text: &str) -> String {
        let scenario = firstflight_scenario::Scenario::parse(text, "x.toml").unwrap();
        let report = firstflight_runner::run(&scenario, &Default::default()).unwrap();
        sentences(&report).remove(0)
    }

    const NOISY: &str = "runs = 3\n[path]\nrate = '50Mbps'\nrtt = '600ms'\nloss = '0.1%'\n\
                         [[flow]]\nsize = '10MB'\ndelayed_ack = 2\n";

    #[test]
    fn what_finished_sometimes_did_not_fail_to_finish_and_no_order_is_said_that_is_not_shown() {
        let sentence = first(&format!("controls = ['scout', 'rapid-start', 'hystart']\n{NOISY}"));
        assert!(
            sentence.contains("rapid-start finished in 2 of 3, hystart did not finish"),
            "{sentence}"
        );
        assert!(sentence.starts_with("scout alone finished in all runs"), "{sentence}");
        assert!(sentence.ends_with(" 20s were too short for what did not finish; see --duration."));
        let sentence = first(&format!("controls = ['scout', 'astart']\nduration = '60s'\n{NOISY}"));
        assert!(sentence.contains(", but the intervals show no difference to "), "{sentence}");
        // Equal seeds and no noise: what differs is shown.
        let sentence = first("controls = ['hoe', 'newreno']\nruns = 3\n[[flow]]\nsize = '1MB'");
        assert!(sentence.contains("no difference"), "{sentence}");
        let sentence = first("controls = ['hystart', 'liw']\nruns = 3\n[[flow]]\nsize = '5MB'");
        assert!(sentence.starts_with("hystart finishes first, after "), "{sentence}");
    }

    #[test]
    fn a_time_below_one_round_trip_is_said_first() {
        let sentence =
            first("controls = ['hoe', 'astart']\nduration = '20s'\n[path]\nrtt = '100s'");
        assert!(sentence.starts_with("20s are less than one round trip of 100s"), "{sentence}");
        assert!(sentence.contains("--duration 1000s"), "{sentence}");
    }

    #[test]
    fn an_exit_is_told_however_little_is_known_of_it() {
        assert_eq!(exit_of(None, None), "start-up ended at ssthresh after 2 s");
        assert_eq!(exit_of(Some(1.0), None), "start-up ended at ssthresh, at 1.00 BDP after 2 s");
        let silent = FlowResult { control: SILENT.to_owned(), ..FlowResult::default() };
        assert_eq!(start_up(&silent), "how its start-up ended it does not tell");
    }

    #[test]
    fn a_start_up_that_ends_after_the_last_byte_came_did_not_end_before() {
        let ended = |exit_time_s| {
            let exit_reason = Some("loss".to_owned());
            let exit_time_s = Some(exit_time_s);
            let startup = Startup { exit_reason, exit_time_s, ..Startup::default() };
            start_up(&FlowResult {
                completion_time_s: Some(6.093),
                startup,
                ..FlowResult::default()
            })
        };
        assert_eq!(ended(6.302), "done before start-up ended");
        assert_eq!(ended(6.093), "start-up ended by a loss after 6.093 s");
    }

    #[test]
    fn it_was_early_only_if_the_path_was_filled_later_or_never() {
        assert!(exit_of(Some(0.3), None).ends_with(": too early, 90 % was never reached"));
        assert!(exit_of(Some(0.3), Some(3.0)).ends_with(": early, 90 % came only at 3 s"));
        assert!(exit_of(Some(0.3), Some(1.0)).ends_with(", having been at 90 % at 1 s"));
    }
}
