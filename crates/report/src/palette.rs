//! Which series gets which colour, which grey reference which dash, and which stand in the legend.

use crate::{Figure, Series, Style};

/// The slots of a figure, of colours and of the grey references' dashes: a name keeps its slot in
/// all panels.
pub(crate) struct Slots<'a> {
    colors: Vec<&'a str>,
    greys: Vec<&'a str>,
}

impl<'a> Slots<'a> {
    pub(crate) fn of(figure: &'a Figure) -> Self {
        let (mut colors, mut greys): (Vec<&str>, Vec<&str>) = Default::default();
        let all = figure.panels.iter().flat_map(|panel| &panel.series);
        for series in all.filter(|series| series.like.is_none()) {
            let names = if series.style == Style::Reference { &mut greys } else { &mut colors };
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        Self { colors, greys }
    }

    /// The slot of a series; `None` for a reference line without a colour, which is drawn grey.
    pub(crate) fn slot(&self, series: &Series) -> Option<usize> {
        let name = series.like.as_deref().unwrap_or(&series.name);
        self.colors.iter().position(|known| *known == name)
    }

    /// The place of a grey reference among the figure's, which tells its dash.
    pub(crate) fn dash(&self, series: &Series) -> usize {
        self.greys.iter().position(|known| *known == series.name).unwrap_or(0)
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

    #[test]
    fn grey_references_are_told_apart_by_their_dashes() {
        let reference = |name: &str| Series::reference(name, vec![]);
        let panel = Panel::new(Axis::new("y", ""));
        let figure = Figure::new("f", "F", Axis::new("x", ""))
            .panel(panel.clone().with(reference("BDP")).with(Series::line("a", vec![])))
            .panel(panel.with(reference("a, paper").like("a")).with(reference("capacity")));
        let slots = Slots::of(&figure);
        assert_eq!(["BDP", "capacity"].map(|name| slots.dash(&reference(name))), [0, 1]);
    }
}
