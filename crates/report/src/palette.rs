//! Which series gets which colour, and which stand in the legend.

use crate::{Figure, Series, Style};

/// The colour slots of a figure: a name keeps its slot in all panels.
pub(crate) struct Slots<'a>(Vec<&'a str>);

impl<'a> Slots<'a> {
    pub(crate) fn of(figure: &'a Figure) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            let own = series.like.is_none() && series.style != Style::Reference;
            if own && !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        Self(names)
    }

    /// The slot of a series; `None` for a reference line without a colour, which is drawn grey.
    pub(crate) fn slot(&self, series: &Series) -> Option<usize> {
        let name = series.like.as_deref().unwrap_or(&series.name);
        self.0.iter().position(|known| *known == name)
    }
}

/// The series that stand in the legend: the first of each name, in order.
pub(crate) fn legend(figure: &Figure) -> Vec<&Series> {
    let mut entries: Vec<&Series> = Vec::new();
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if entries.iter().all(|known| known.name != series.name) {
            entries.push(series);
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Panel};

    #[test]
    fn a_name_keeps_its_colour_in_every_panel_and_a_reference_borrows_it() {
        let panel = |names: &[&str]| {
            names.iter().fold(Panel::new(Axis::new("y", "")), |panel, name| {
                panel.with(Series::line(*name, vec![]))
            })
        };
        let figure = Figure::new("f", "F", Axis::new("x", ""))
            .panel(panel(&["a", "b"]))
            .panel(panel(&["b"]));
        let slots = Slots::of(&figure);
        assert_eq!(slots.slot(&figure.panels[1].series[0]), Some(1));
        assert_eq!(slots.slot(&Series::reference("b, paper", vec![]).like("b")), Some(1));
        assert_eq!(slots.slot(&Series::reference("capacity", vec![])), None);
        assert_eq!(legend(&figure).len(), 2);
    }
}
