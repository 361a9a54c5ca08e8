//! The range an axis shows, where its ticks are and how they read.

use crate::{Axis, Panel, Scale, Series};

/// An axis' range with its scale; `lo < hi`, both finite, both above zero if logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    scale: Scale,
}

impl Span {
    /// The range of the x values of all panels, with a little room if there are markers.
    pub(crate) fn of_x(axis: &Axis, panels: &[Panel]) -> Self {
        let series = || panels.iter().flat_map(|panel| &panel.series);
        let values = series().flat_map(|series| series.points.iter().map(|(x, _)| *x));
        let span = Self::around(values, axis.scale);
        if series().any(Series::has_markers) { span.padded(0.02, 0.02) } else { span }
    }

    /// The range of the y values of a panel; a linear one starts at zero or below.
    pub(crate) fn of_y(panel: &Panel) -> Self {
        let points = panel.series.iter().flat_map(|series| &series.points);
        let zero = (panel.y.scale == Scale::Linear).then_some(0.0);
        let top = panel.top.unwrap_or(f64::INFINITY);
        let span = Self::around(points.map(|(_, y)| y.min(top)).chain(zero), panel.y.scale);
        let below = if span.lo == 0.0 { 0.0 } else { 0.05 };
        span.padded(below, 0.05)
    }

    /// The range of some values on a linear axis, with a little room.
    pub(crate) fn with_room(values: impl Iterator<Item = f64>) -> Self {
        Self::around(values, Scale::Linear).padded(0.05, 0.05)
    }

    fn around(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let usable = values.filter(|value| is_usable(scale, *value));
        let range = usable.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(lo, hi)| (lo.min(value), hi.max(value))))
        });
        let (lo, hi) = match (range, scale) {
            (None, Scale::Linear) => (0.0, 1.0),
            (None, Scale::Log) => (1.0, 10.0),
            (Some((lo, hi)), Scale::Linear) if lo == hi => (lo, lo + lo.abs().max(1.0)),
            (Some((lo, hi)), Scale::Log) if lo == hi => (lo / 2.0, hi * 2.0),
            (Some(range), _) => range,
        };
        Self { lo, hi, scale }
    }

    /// More room below and above, in shares of the length.
    fn padded(self, below: f64, above: f64) -> Self {
        Self { lo: self.value(-below), hi: self.value(1.0 + above), ..self }
    }

    /// Whether the value has a place on this axis.
    pub(crate) fn shows(&self, value: f64) -> bool {
        is_usable(self.scale, value)
    }

    /// Where the value is: 0 at the low end, 1 at the high end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.lo) / (self.hi - self.lo),
            Scale::Log => (value / self.lo).ln() / (self.hi / self.lo).ln(),
        }
    }

    /// The inverse of [`Span::share`].
    fn value(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.lo + share * (self.hi - self.lo),
            Scale::Log => self.lo * (self.hi / self.lo).powf(share),
        }
    }

    /// Round values inside the range, about `count` of them, rarely more.
    pub(crate) fn ticks(&self, count: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.even_ticks(count),
            Scale::Log => self.decade_ticks(count),
        }
    }

    fn even_ticks(&self, count: usize) -> Vec<f64> {
        let step = round_step((self.hi - self.lo) / count.max(1) as f64);
        let (first, last) = ((self.lo / step - 1e-9).ceil(), (self.hi / step + 1e-9).floor());
        let mut ticks = Vec::new();
        let mut index = first;
        while index <= last {
            ticks.push(index * step);
            index += 1.0;
        }
        ticks
    }

    fn decade_ticks(&self, count: usize) -> Vec<f64> {
        let decades = (self.hi / self.lo).log10();
        if decades < 0.7 {
            return self.even_ticks(count);
        }
        let factors: &[f64] = match decades {
            few if few < count as f64 / 3.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        #[expect(clippy::cast_possible_truncation, reason = "exponents of f64 are small")]
        let (first, last) = (self.lo.log10().floor() as i32, self.hi.log10().ceil() as i32);
        let stride = (decades / count.max(1) as f64).ceil().max(1.0);
        (first..=last)
            .filter(|exponent| f64::from(*exponent).rem_euclid(stride) == 0.0)
            .flat_map(|exponent| factors.iter().map(move |factor| power(*factor, exponent)))
            .filter(|tick| (self.lo..=self.hi).contains(tick))
            .collect()
    }
}

/// How a tick reads: no more digits than it needs.
pub(crate) fn tick_label(tick: f64) -> String {
    if tick == 0.0 {
        return "0".to_owned();
    }
    let rounded: f64 = format!("{tick:.5e}").parse().unwrap_or(tick);
    if (1e-4..1e6).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

fn is_usable(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below the given length.
fn round_step(length: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "exponents of f64 are small")]
    let exponent = length.log10().floor() as i32;
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| power(factor, exponent));
    steps.into_iter().find(|step| *step >= length * (1.0 - 1e-9)).unwrap_or(length)
}

/// `factor` times ten to the power, as exact as its decimal text.
fn power(factor: f64, exponent: i32) -> f64 {
    format!("{factor}e{exponent}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(lo: f64, hi: f64, scale: Scale) -> Span {
        Span { lo, hi, scale }
    }

    fn labels(ticks: &[f64]) -> Vec<String> {
        ticks.iter().map(|tick| tick_label(*tick)).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_inside() {
        let ticks = span(0.0, 1050.0, Scale::Linear).ticks(5);
        assert_eq!(labels(&ticks), ["0", "500", "1000"]);
        let ticks = span(-0.02, 1.02, Scale::Linear).ticks(8);
        assert_eq!(labels(&ticks), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_and_their_parts_while_few() {
        let ticks = span(0.9e-5, 1.1, Scale::Log).ticks(6);
        assert_eq!(labels(&ticks), ["1e-5", "0.0001", "0.001", "0.01", "0.1", "1"]);
        let ticks = span(8.0, 120.0, Scale::Log).ticks(6);
        assert_eq!(labels(&ticks), ["10", "20", "50", "100"]);
    }

    #[test]
    fn an_axis_without_usable_values_still_has_a_range() {
        let none = Span::around([f64::NAN, -1.0].into_iter(), Scale::Log);
        assert_eq!((none.lo, none.hi), (1.0, 10.0));
        for scale in [Scale::Linear, Scale::Log] {
            let one = Span::around([5.0].into_iter(), scale);
            assert!(one.lo < one.hi, "{scale:?}");
        }
    }

    #[test]
    fn a_share_leads_back_to_its_value() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = span(2.0, 300.0, scale);
            assert!((axis.value(axis.share(42.0)) - 42.0).abs() < 1e-9);
        }
    }
}
