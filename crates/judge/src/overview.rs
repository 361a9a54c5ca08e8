//! Pictures of a judgement that show all scenarios at once: a heat map and a strip of small ones.

use firstflight_report::{Colors, HeatMap, Multiples, Small, StaticContent, StaticFigure, digits};

use crate::judgement::{Judged, Judgement};
use crate::measured::Measured;
use crate::rules::{REFERENCES, Verdict};

/// Time, loss and queue of every scenario over slow start's, the control first.
pub(crate) fn over_slow_start(judgement: &Judgement) -> StaticFigure {
    let [slow_start, ..] = REFERENCES;
    let others = judgement.references.iter().map(String::as_str);
    let mut names = vec![judgement.control.as_str()];
    names.extend(others.filter(|name| *name != slow_start && *name != judgement.control));
    let title = "Every scenario beside slow start";
    let mut map = HeatMap::new(
        title,
        "T completion time, L packets lost, Q longest queue; blue: less, orange: more",
        Colors::Around(MOST),
    )
    .columns(
        names.iter().map(|name| (*name).to_owned()).collect(),
        ["T", "L", "Q"].map(str::to_owned).to_vec(),
    );
    for judged in &judgement.scenarios {
        let of = |name: &str| match name == judgement.control {
            true => Some(&judged.measured),
            false => judged.references.get(name),
        };
        let base = of(slow_start);
        let cells = names.iter().flat_map(|name| ratios(of(name), base)).collect();
        map = map.row(judged.id.as_str(), cells);
    }
    StaticFigure::new("beside-slow-start", title, StaticContent::HeatMap(map)).caption(
        "Completion time, packets lost and the longest queue of the control and of the references, \
         each over slow start's; a packet is added to both numbers of the last two, so that none \
         lost by both is no difference. Grey: not done, or not measured.",
    )
}

fn ratios(of: Option<&Measured>, base: Option<&Measured>) -> [Option<f64>; 3] {
    let ratio = |get: fn(&Measured) -> Option<f64>, more: f64| {
        Some((get(of?)? + more) / (get(base?)? + more)).filter(|ratio| ratio.is_finite())
    };
    [
        ratio(|of| of.completion_s, 0.0),
        ratio(|of| of.lost_packets, 1.0),
        ratio(|of| of.peak_queue_packets, 1.0),
    ]
}

/// The window over time of every scenario, small, with the references faint behind it.
pub(crate) fn strip(judgement: &Judgement) -> Option<StaticFigure> {
    let title = format!("{} on every scenario: the window", judgement.control);
    let mut all = Multiples::new(title.as_str());
    all.cells = judgement.scenarios.iter().filter_map(small).collect();
    if all.cells.is_empty() {
        return None;
    }
    let figure = StaticFigure::new("strip", title, StaticContent::Multiples(all)).caption(
        "cwnd over time with the first seed, each on a scale of its own, whose ends stand above \
         it: packets and seconds. Faint: the references. Orange: a rule does not hold.",
    );
    Some(figure)
}

fn small(judged: &Judged) -> Option<Small> {
    let (control, references) = judged.curves.split_first()?;
    let mut small = Small::new(judged.id.as_str(), control.1.window.clone());
    small.behind = references.iter().map(|(_, curves)| curves.window.clone()).collect();
    small.bad = judged.verdicts.values().any(|verdict| *verdict == Verdict::Fail);
    let all = || small.behind.iter().chain([&small.curve]).flatten();
    let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(0.0, f64::max);
    small.ends = format!("{}, {} s", digits(most(|at| at.1), 0), digits(most(|at| at.0), 1));
    Some(small)
}

/// The factor of the darkest colours.
const MOST: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lost_by_both_is_no_difference() {
        let of = |time, lost| Measured {
            completion_s: Some(time),
            lost_packets: Some(lost),
            ..Measured::default()
        };
        let found = ratios(Some(&of(2.0, 0.0)), Some(&of(4.0, 0.0)));
        assert_eq!(found, [Some(0.5), Some(1.0), None]);
        assert_eq!(ratios(Some(&of(2.0, 7.0)), Some(&of(2.0, 1.0)))[1], Some(4.0));
        assert_eq!(ratios(None, Some(&of(1.0, 1.0))), [None; 3]);
    }
}
