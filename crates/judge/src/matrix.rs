//! Scenarios that are a matrix of paths: one number for all of them, and how far they are apart.

use firstflight_outside::digits;
use firstflight_results::statistics::{mean, median};
use firstflight_scenario::Scenario;

use crate::measured::{KeptRun, Measured};

/// The geometric mean of the completion times; none if one of them has none.
pub(crate) fn geometric(points: &[Measured]) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        points.iter().map(|point| point.completion_s.map(libm::log)).collect();
    Some(libm::exp(mean(logs?)?))
}

/// Completion over that of the better reference, point by point: the median, and the worst with its
/// place, in words.
pub(crate) fn spread(
    points: &[Scenario],
    ours: &[&KeptRun],
    better: &[Vec<&KeptRun>],
) -> Option<String> {
    let time = |kept: Option<&&KeptRun>| kept.and_then(|kept| kept.measured.completion_s);
    let best = |place: usize| better.iter().filter_map(|of| time(of.get(place))).reduce(f64::min);
    let mut ratios: Vec<(f64, &Scenario)> = points
        .iter()
        .enumerate()
        .filter_map(|(place, point)| Some((time(ours.get(place))? / best(place)?, point)))
        .collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (worst, at) = ratios.last()?;
    let median = median(ratios.iter().map(|(ratio, _)| *ratio).collect())?;
    let within = ratios.iter().filter(|(ratio, _)| *ratio <= crate::rules::SLOWER).count();
    Some(format!(
        "of {} points {within} hold, the median is {} of the better one's time and the worst {} \
         at {}",
        points.len(),
        digits(median, 3),
        digits(*worst, 2),
        place(at)
    ))
}

/// A point in words: `10Mbps, 50ms, 0.25bdp, 300KB`.
fn place(point: &Scenario) -> String {
    let path = point.path.as_ref();
    let parts = [
        path.and_then(|path| path.link.rate).map(|rate| rate.to_string()),
        path.and_then(|path| path.rtt).map(|rtt| rtt.to_string()),
        path.and_then(|path| path.link.buffer).map(|buffer| buffer.to_string()),
        point.flows.first().and_then(|flow| flow.size).map(|size| size.to_string()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(times: &[f64]) -> Vec<KeptRun> {
        let one = |time: &f64| {
            let measured = Measured { completion_s: Some(*time), ..Measured::default() };
            KeptRun { measured, ..KeptRun::default() }
        };
        times.iter().map(one).collect()
    }

    #[test]
    fn twice_as_long_and_half_as_long_are_no_difference() {
        let all: Vec<Measured> = took(&[2.0, 8.0]).iter().map(|kept| kept.measured).collect();
        assert!((geometric(&all).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric(&[Measured::default()]), None, "one that was not done");
        assert_eq!(geometric(&[]), None);
    }

    #[test]
    fn the_worst_point_is_named_with_its_path() {
        let text = "controls = ['cubic']\n[path]\nrate = '1Mbps'\nrtt = '10ms'\n[[flow]]\n\
                    size = '30kB'";
        let point = Scenario::parse(text, "A8.toml").unwrap();
        let mut slow = point.clone();
        slow.flows[0].size = Some("5MB".parse().unwrap());
        let (ours, one, other) = (took(&[1.0, 6.0]), took(&[1.0, 4.0]), took(&[2.0, 3.0]));
        let better = [one.iter().collect(), other.iter().collect()];
        let text = spread(&[point, slow], &ours.iter().collect::<Vec<_>>(), &better).unwrap();
        // 1 and 2 times as long as the better one.
        assert!(text.starts_with("of 2 points 1 hold, the median is 1.5 of"), "{text}");
        assert!(text.ends_with("the worst 2 at 1Mbps, 10ms, 5MB"), "{text}");
    }
}
