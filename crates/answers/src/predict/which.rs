//! Which control to take on a path, from what was measured on typical ones.
//!
//! `cargo xtask choice` measures, and writes `measured.json` and the tables of
//! `docs/which-control.md` from it. The model of slow start has no part in this answer.

use firstflight_outside::short;
use firstflight_runner::RunError;
use firstflight_scenario::{Loss, Rate, Size, Time};
use serde::{Deserialize, Serialize};

use crate::unsaid;

/// A path as far as it decides among controls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) rate_bps: f64,
    pub(super) rtt_s: f64,
    /// The bottleneck's buffer over the BDP.
    pub(super) buffer_bdp: f64,
    /// Mean of the random losses, 0 to 1.
    pub(super) loss: f64,
    /// Size of the transfer; `None` for one without end.
    pub(super) size_bytes: Option<u64>,
    /// Flows that share the path.
    pub(super) flows: u64,
}

/// The answer, as `--json` has it.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Which {
    /// The measured path that is nearest to the one asked about.
    pub nearest: Nearest,
    /// Whether it is near in everything. Where it is not, no control is named.
    pub near: bool,
    /// For every transport and size that was measured there, if it is near.
    pub choices: Vec<Choice>,
    /// What to know before taking one.
    pub caveats: Vec<String>,
}

/// A measured path, beside the one asked about.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Nearest {
    /// The bottleneck's rate.
    pub rate: String,
    /// The RTT without a queue.
    pub rtt: String,
    /// The bottleneck's buffer.
    pub buffer: String,
    /// The random loss.
    pub loss: String,
    /// The rate of the path asked about over that of this one.
    pub rate_ratio: f64,
    /// The RTT of the path asked about over that of this one.
    pub rtt_ratio: f64,
    /// The buffer of the path asked about over that of this one.
    pub buffer_ratio: f64,
    /// The random loss of the path asked about over that of this one; 1 where neither loses, and
    /// `None` where this one alone does not.
    pub loss_ratio: Option<f64>,
}

/// What to take for a transfer, and what there is beside it.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The transport.
    pub on: String,
    /// The size of the transfer.
    pub size: String,
    /// The quickest that lost little; `None` if all lost more.
    pub take: Option<Outcome>,
    /// What the stack takes by itself.
    pub own: Option<Outcome>,
    /// Whatever it lost.
    pub quickest: Option<Outcome>,
}

/// What was measured of a control.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The control.
    pub control: String,
    /// Time until all was acknowledged; `None` if that took longer than was measured.
    pub seconds: Option<f64>,
    /// Packets that the bottleneck dropped.
    pub drops: u64,
}

/// A line of the measurements.
#[derive(Debug, Deserialize)]
struct MeasuredRun {
    asked: Asked,
    control: String,
    seconds: Option<f64>,
    drops: u64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Asked {
    on: String,
    size: String,
    rate: String,
    rtt: String,
    buffer: String,
    loss: String,
}

impl Which {
    /// The answer for a path.
    ///
    /// # Errors
    /// The measurements cannot be read, which a test excludes.
    pub(super) fn of(path: Path) -> Result<Self, RunError> {
        let measured: Vec<MeasuredRun> = serde_json::from_str(MEASURED).map_err(unsaid)?;
        let ranked = measured.iter().filter_map(|run| Some((run.asked.distance(&path)?, run)));
        let nearest = ranked.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, run)| run);
        let Some(nearest) = nearest.map(|run| &run.asked) else {
            return Err(RunError::Failed("no path was measured".to_owned()));
        };
        let there: Vec<&MeasuredRun> =
            measured.iter().filter(|run| run.asked.is_over(nearest)).collect();
        let mut rows: Vec<&Asked> = there.iter().map(|run| &run.asked).collect();
        rows.dedup();
        let nearest = nearest.beside(&path);
        let near = nearest.is_near();
        let choices = rows.iter().filter(|asked| near && asked.is_of(&rows, path.size_bytes));
        let choices = choices.map(|asked| choice(asked, &there, &measured)).collect();
        Ok(Self { caveats: caveats(&nearest, &path), nearest, near, choices })
    }
}

impl Asked {
    /// How far a path is from this one: the sum of the logarithms of the ratios, with a path that
    /// loses at random far from one that does not. `None` if this one cannot be read.
    fn distance(&self, path: &Path) -> Option<f64> {
        let own = self.path()?;
        let apart = |one: f64, other: f64| (one / other).ln().abs();
        let loss = match (own.loss > 0.0, path.loss > 0.0) {
            (true, true) => apart(own.loss, path.loss),
            (false, false) => 0.0,
            _ => apart(LOSSY, 1.0),
        };
        let shape = apart(own.rate_bps, path.rate_bps) + apart(own.rtt_s, path.rtt_s);
        Some(shape + apart(own.buffer_bdp, path.buffer_bdp) + loss)
    }

    fn path(&self) -> Option<Path> {
        Some(Path {
            rate_bps: self.rate.parse::<Rate>().ok()?.bps() as f64,
            rtt_s: self.rtt.parse::<Time>().ok()?.ns() as f64 / 1e9,
            buffer_bdp: self.buffer.strip_suffix("bdp")?.parse().ok()?,
            loss: self.loss.parse::<Loss>().ok()?.mean().ppb() as f64 / 1e9,
            size_bytes: Some(self.bytes()),
            flows: 1,
        })
    }

    fn bytes(&self) -> u64 {
        self.size.parse::<Size>().map_or(0, Size::bytes)
    }

    /// It is the same path, whatever crosses it.
    fn is_over(&self, other: &Self) -> bool {
        let path =
            |asked: &Self| [&asked.rate, &asked.rtt, &asked.buffer, &asked.loss].map(String::clone);
        path(self) == path(other)
    }

    /// Whether it has the measured size that is nearest to this, or any if none is asked for.
    fn is_of(&self, all: &[&Self], size: Option<u64>) -> bool {
        let Some(size) = size else { return true };
        let apart = |asked: &Self| (asked.bytes() as f64 / size.max(1) as f64).ln().abs();
        all.iter().all(|other| apart(self) <= apart(other))
    }

    fn beside(&self, path: &Path) -> Nearest {
        let ratio =
            |value: fn(&Path) -> f64| self.path().map_or(f64::NAN, |own| value(path) / value(&own));
        Nearest {
            rate: self.rate.clone(),
            rtt: self.rtt.clone(),
            buffer: self.buffer.clone(),
            loss: self.loss.clone(),
            rate_ratio: ratio(|path| path.rate_bps),
            rtt_ratio: ratio(|path| path.rtt_s),
            buffer_ratio: ratio(|path| path.buffer_bdp),
            loss_ratio: self.path().and_then(|own| match (path.loss, own.loss) {
                (0.0, 0.0) => Some(1.0),
                (_, 0.0) => None,
                (yours, its) => Some(yours / its),
            }),
        }
    }
}

impl Nearest {
    fn is_near(&self) -> bool {
        let loss = self.loss_ratio.unwrap_or(f64::INFINITY);
        let ratios = [self.rate_ratio, self.rtt_ratio, self.buffer_ratio, loss];
        ratios.iter().all(|ratio| (1.0 / NEAR..=NEAR).contains(ratio))
    }

    /// How the path asked about differs from it.
    fn apart(&self) -> String {
        let [rate, rtt, buffer] = [self.rate_ratio, self.rtt_ratio, self.buffer_ratio].map(short);
        let loss = match self.loss_ratio {
            Some(ratio) => format!("{} times its random loss", short(ratio)),
            None => "random loss, which it has not".to_owned(),
        };
        format!(
            "{rate} times its rate, {rtt} times its RTT, {buffer} times its buffer in BDP and \
             {loss}"
        )
    }
}

/// What to take there: of the controls that lost little of every size, and not much on any path
/// that was measured, the quickest; the stack's own if it is as quick.
fn choice(asked: &Asked, there: &[&MeasuredRun], everywhere: &[MeasuredRun]) -> Choice {
    let here: Vec<&MeasuredRun> =
        there.iter().copied().filter(|run| run.asked.on == asked.on).collect();
    let own = OWN.iter().find(|(on, _)| *on == asked.on).map(|(_, control)| *control);
    let loses_little = |control: &str| {
        let is_it = |run: &&MeasuredRun| run.asked.on == asked.on && run.control == control;
        let mut all = here.iter().copied().filter(is_it);
        let mut anywhere = everywhere.iter().filter(is_it);
        all.all(|run| run.lost_at_most(LITTLE)) && anywhere.all(|run| run.lost_at_most(MUCH))
    };
    let runs = || here.iter().copied().filter(|run| run.asked == *asked);
    let seconds = |run: &MeasuredRun| run.seconds.unwrap_or(f64::INFINITY);
    let quickest = |runs: &mut dyn Iterator<Item = &&MeasuredRun>| {
        runs.copied().map(seconds).min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    };
    let fit: Vec<&MeasuredRun> = runs().filter(|run| loses_little(&run.control)).collect();
    let least = quickest(&mut fit.iter()) * (1.0 + EQUAL);
    let equal = fit.iter().copied().filter(|run| seconds(run) <= least);
    let rank = |run: &&MeasuredRun| (Some(run.control.as_str()) != own, run.drops);
    let take = equal.min_by_key(rank);
    let all: Vec<&MeasuredRun> = runs().collect();
    let first = quickest(&mut all.iter());
    Choice {
        on: asked.on.clone(),
        size: asked.size.clone(),
        take: take.map(MeasuredRun::outcome),
        own: runs().find(|run| Some(run.control.as_str()) == own).map(MeasuredRun::outcome),
        quickest: all.into_iter().find(|run| seconds(run) <= first).map(MeasuredRun::outcome),
    }
}

impl MeasuredRun {
    /// Beyond what the path loses by itself, this share of the transfer.
    fn lost_at_most(&self, share: f64) -> bool {
        let loss = self.asked.path().map_or(0.0, |path| path.loss);
        self.drops as f64 <= (loss + share) * self.asked.bytes() as f64 / PACKET
    }

    fn outcome(&self) -> Outcome {
        Outcome { control: self.control.clone(), seconds: self.seconds, drops: self.drops }
    }
}

impl Outcome {
    /// `cubic 1.53 s (12)`.
    pub fn text(&self) -> String {
        let time = self.seconds.map_or("over 120 s".to_owned(), |time| format!("{time:.2} s"));
        format!("{} {time} ({})", self.control, self.drops)
    }
}

fn caveats(nearest: &Nearest, path: &Path) -> Vec<String> {
    let mut said = Vec::new();
    if nearest.is_near() {
        said.push(
            "To take is the quickest of those that lost at most 1 % of either transfer beyond the \
             path's own loss, and at most 20 % on every other path that was measured, since yours \
             is not quite this one; the stack's own if it is as quick."
                .to_owned(),
        );
    } else {
        let Nearest { rate, rtt, buffer, loss, .. } = nearest;
        said.push(format!(
            "Which control is not said, because controls were not measured on a path near yours. \
             The nearest has {rate}, {rtt}, buffer {buffer}, loss {loss}: yours has {}. \
             `firstflight compare --all` with your flags measures every start-up on yours.",
            nearest.apart()
        ));
    }
    if path.flows > 1 && nearest.is_near() {
        said.push(format!("One flow had the path to itself; {} share yours.", path.flows));
    }
    said.push(
        "On a link that others share, what a control loses in start-up they lose too. Behind a \
         proxy that splits TCP connections the path ends at the proxy. `firstflight measure --to \
         HOST` compares controls on the path itself; docs/which-control.md has every control."
            .to_owned(),
    );
    said
}

/// What was measured, a run in a line.
const MEASURED: &str = include_str!("measured.json");
/// What each stack takes by itself: Linux's HyStart and CUBIC, quinn's CUBIC.
const OWN: [(&str, &str); 3] =
    [("sim", "hystart"), ("quic", "quinn-cubic"), ("linux", "linux-cubic")];
/// Random loss moves a path as far away as this factor in its rate: it decides more than those.
const LOSSY: f64 = 1_000.0;
/// The share of a transfer that a control may lose beyond the path's own loss. Ours: CUBIC's slow
/// start loses 2 to 11 % of the 20 MB wherever it overflows, and what avoids that below 1 %.
const LITTLE: f64 = 0.01;
/// The share that it may lose on any path. Ours: `mstart` and `rapid-start` lose a quarter of 20 MB
/// and more on some, the others at most 14 %, but for Linux's BBR with 19 %.
const MUCH: f64 = 0.2;
/// QUIC's smallest packet, bytes; the larger ones of TCP make the bound a little wider.
const PACKET: f64 = 1_200.0;
/// Times that differ by less are equal.
const EQUAL: f64 = 0.01;
/// A path within this factor in everything is near.
const NEAR: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn which(rate_bps: f64, rtt_s: f64, buffer_bdp: f64, loss: f64) -> Which {
        let path = Path { rate_bps, rtt_s, buffer_bdp, loss, size_bytes: None, flows: 1 };
        Which::of(path).unwrap()
    }

    #[test]
    fn the_nearest_path_is_found_and_loss_decides_first() {
        let of = |which: &Which| [which.nearest.rate.clone(), which.nearest.rtt.clone()];
        assert_eq!(of(&which(90e6, 0.025, 1.0, 0.0)), ["100Mbps", "20ms"]);
        assert_eq!(of(&which(30e6, 0.5, 1.0, 0.0)), ["50Mbps", "600ms"]);
        assert_eq!(of(&which(90e6, 0.025, 1.0, 0.001)), ["12Mbps", "600ms"]);
        assert!(which(90e6, 0.025, 1.0, 0.0).near && !which(90e6, 0.025, 1.0, 0.001).near);
    }

    /// A loss ten times that of the measured path, and one that is a five hundredth of it: what
    /// was measured there answers neither.
    #[test]
    fn a_path_that_is_far_in_anything_is_told_and_no_control_named() {
        for (rate_bps, rtt_s, buffer_bdp, loss, told) in [
            (12e6, 0.6, 1.0, 0.05, "10 times its random loss"),
            (12e6, 0.6, 1.0, 0.00001, "0.002 times its random loss"),
            (20e6, 0.209, 1.0, 0.05, "10 times its random loss"),
            (10e6, 0.6, 0.067, 0.0, "0.067 times its buffer in BDP and 1 times"),
        ] {
            let found = which(rate_bps, rtt_s, buffer_bdp, loss);
            assert!(!found.near && found.choices.is_empty(), "{found:?}");
            assert!(found.caveats[0].contains(told), "{found:?}");
        }
        for loss in [0.0025, 0.005, 0.01] {
            let found = which(12e6, 0.6, 1.0, loss);
            assert!(found.near && !found.choices.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn every_line_can_be_read_and_a_size_leaves_one_row_a_transport() {
        let measured: Vec<MeasuredRun> = serde_json::from_str(MEASURED).unwrap();
        assert!(measured.iter().all(|run| run.asked.path().is_some() && run.asked.bytes() > 0));
        let all = which(40e6, 0.15, 1.0, 0.0).choices.len();
        let path = Path {
            rate_bps: 4e7,
            rtt_s: 0.15,
            buffer_bdp: 1.0,
            loss: 0.0,
            flows: 1,
            size_bytes: Some(3_000_000),
        };
        let one = Which::of(path).unwrap().choices;
        assert_eq!(one.len() * 2, all);
        assert!(one.iter().all(|choice| choice.size == "1MB"), "{one:?}");
    }

    #[test]
    fn what_is_taken_lost_little_and_was_quickest_of_those() {
        let run = |control: &str, size: &str, seconds, drops| MeasuredRun {
            asked: Asked {
                on: "sim".to_owned(),
                size: size.to_owned(),
                rate: "40Mbps".to_owned(),
                rtt: "150ms".to_owned(),
                buffer: "1bdp".to_owned(),
                loss: "0%".to_owned(),
            },
            control: control.to_owned(),
            seconds,
            drops,
        };
        // 12 MB are 10,000 packets, of which 100 may be lost.
        let runs = [
            run("wild", "1.2MB", Some(1.0), 0),
            run("wild", "12MB", Some(5.0), 101),
            run("calm", "1.2MB", Some(2.0), 0),
            run("calm", "12MB", Some(7.95), 100),
            run("hystart", "1.2MB", Some(2.5), 0),
            run("hystart", "12MB", Some(8.0), 100),
            run("slow", "1.2MB", Some(4.0), 0),
            run("slow", "12MB", None, 0),
        ];
        let there: Vec<&MeasuredRun> = runs.iter().collect();
        let of = |size: usize| choice(&runs[size].asked, &there, &runs);
        let name = |outcome: Option<Outcome>| outcome.map(|it| it.control).unwrap_or_default();
        assert_eq!((name(of(0).take), name(of(0).quickest)), ("calm".into(), "wild".into()));
        assert_eq!((name(of(1).take), name(of(1).own)), ("hystart".into(), "hystart".into()));
        let mut elsewhere = run("calm", "12MB", Some(1.0), 2_101);
        elsewhere.asked.rate = "100Mbps".to_owned();
        let take = choice(&runs[0].asked, &there, &[elsewhere]).take;
        assert_eq!(name(take), "hystart", "calm lost too much elsewhere");
    }
}
