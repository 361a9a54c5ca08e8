//! A heat map: a row of colours for each of many things, so that they are seen at once.

use plotters::style::{RGBColor, text_anchor::HPos};

use crate::picture::{Sketch, Words};
use crate::{ReportError, digits, svg};

/// A table of colours.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeatMap {
    /// One line above the picture.
    pub title: String,
    /// What the colours mean, below the title.
    pub subtitle: String,
    /// Names of the groups of columns, each over as many columns.
    pub groups: Vec<String>,
    /// Names of the columns of a group, the same in every group.
    pub columns: Vec<String>,
    /// Each row's name, and a value per column; `None` is drawn grey.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// How values become colours.
    pub colors: Colors,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colors {
    /// From white at 0 to the darkest at this value and above it.
    UpTo(f64),
    /// White at 1, blue below it, orange above it, the darkest at this factor and beyond.
    Around(f64),
}

impl HeatMap {
    /// An empty map.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>, colors: Colors) -> Self {
        Self {
            title: title.into(),
            subtitle: subtitle.into(),
            groups: Vec::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            colors,
        }
    }

    /// Names the columns: those of one group, and the groups.
    #[must_use]
    pub fn columns(mut self, groups: Vec<String>, columns: Vec<String>) -> Self {
        (self.groups, self.columns) = (groups, columns);
        self
    }

    /// Adds a row below those already there.
    #[must_use]
    pub fn row(mut self, name: impl Into<String>, values: Vec<Option<f64>>) -> Self {
        self.rows.push((name.into(), values));
        self
    }

    /// The SVG text, of the width of half a page, or wider where letters would touch.
    ///
    /// # Errors
    /// [`ReportError::Render`] with the title.
    pub fn svg(&self) -> Result<String, ReportError> {
        svg::picture(&self.sketch())
    }

    /// The width of the whole and of a column.
    fn widths(&self) -> (f64, f64) {
        let count = (self.groups.len() * self.columns.len()).max(1) as f64;
        let margins = LEFT + RIGHT + GAP * self.groups.len().saturating_sub(1) as f64;
        let whole = (margins + count * LETTER).max(WIDTH);
        (whole, (whole - margins) / count)
    }

    fn bottom(&self) -> f64 {
        TOP + ROW * self.rows.len() as f64
    }

    /// The subtitle and the names of the columns.
    fn head<'a>(&'a self, sketch: &mut Sketch<'a>) {
        sketch.write((6.0, 34.0), self.subtitle.as_str(), Words::small(HPos::Left));
        let (columns, (_, width)) = (self.columns.len(), self.widths());
        for (at, group) in self.groups.iter().enumerate() {
            let left = LEFT + width * (at * columns) as f64 + GAP * at as f64;
            let middle = left + width * columns as f64 / 2.0;
            sketch.write((middle, TOP - 20.0), group.as_str(), MIDDLE);
            for (place, column) in self.columns.iter().enumerate() {
                let middle = left + width * (place as f64 + 0.5) - 0.5;
                sketch.write((middle, TOP - 6.0), column.as_str(), MIDDLE);
            }
        }
    }

    /// What a few colours stand for.
    fn scale<'a>(&'a self, sketch: &mut Sketch<'a>, top: f64) {
        let steps = self.colors.steps();
        let width = (WIDTH - LEFT - RIGHT) / steps.len() as f64;
        for (at, value) in steps.iter().enumerate() {
            let left = LEFT + width * at as f64;
            sketch.fill((left, top), (left + width, top + 12.0), self.colors.of(*value));
            sketch.write((left + width / 2.0, top + 25.0), digits(*value, 2), MIDDLE);
        }
    }

    pub(crate) fn sketch(&self) -> Sketch<'_> {
        let size = (self.widths().0, self.bottom() + FOOT);
        let mut sketch = Sketch::new(size, &self.title, (6.0, 18.0));
        self.head(&mut sketch);
        let (_, width) = self.widths();
        for (at, (name, values)) in self.rows.iter().enumerate() {
            let top = TOP + ROW * at as f64;
            sketch.write((LEFT - 6.0, top + 11.0), name.as_str(), Words::small(HPos::Right));
            for (place, value) in values.iter().enumerate() {
                let gap = (place / self.columns.len().max(1)) as f64;
                let left = LEFT + width * place as f64 + GAP * gap;
                let (right, low) = (left + width - 1.0, top + ROW - 1.0);
                let color = value.map_or(NONE, |value| self.colors.of(value));
                // White ones would not be seen without an edge.
                sketch.fill((left - 0.25, top - 0.25), (right + 0.25, low + 0.25), EDGE);
                sketch.fill((left + 0.25, top + 0.25), (right - 0.25, low - 0.25), color);
            }
        }
        self.scale(&mut sketch, self.bottom() + 14.0);
        sketch
    }
}

impl Colors {
    fn of(self, value: f64) -> RGBColor {
        let (share, dark) = match self {
            Self::UpTo(most) => (value / most, WARM),
            Self::Around(factor) if value < 1.0 => (-value.ln() / factor.ln(), COOL),
            Self::Around(factor) => (value.ln() / factor.ln(), WARM),
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let part = |dark: u8| (255.0 - (255.0 - f64::from(dark)) * share).round() as u8;
        let [red, green, blue] = dark.map(part);
        RGBColor(red, green, blue)
    }

    /// The values that the scale shows.
    fn steps(self) -> [f64; 5] {
        match self {
            Self::UpTo(most) => [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| most * share),
            Self::Around(factor) => [-1.0, -0.5, 0.0, 0.5, 1.0].map(|power| factor.powf(power)),
        }
    }
}

/// Pixels, as the rest.
const WIDTH: f64 = 440.0;
const LEFT: f64 = 104.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 78.0;
const ROW: f64 = 15.0;
const FOOT: f64 = 46.0;
/// Between groups of columns.
const GAP: f64 = 8.0;
/// The least width of a column: that of a letter above it and of some room.
const LETTER: f64 = 14.0;

const MIDDLE: Words = Words::small(HPos::Center);
/// Around every cell.
const EDGE: RGBColor = RGBColor(0xd5, 0xd9, 0xdf);
const NONE: RGBColor = RGBColor(0xc9, 0xce, 0xd6);
/// Two of Okabe and Ito's colours, darkened.
const WARM: [u8; 3] = [0xb3, 0x45, 0x00];
const COOL: [u8; 3] = [0x00, 0x55, 0x90];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_two_groups_do_not_touch() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let map = HeatMap::new("t", "s", Colors::UpTo(1.0));
        let map = map.columns(names("R1 R2 R3 R4 R5"), names("A B C D E F G"));
        let svg = map.svg().unwrap();
        let texts = svg.split("<text ").skip(1);
        let letters = texts.filter(|text| {
            let words = text.split_once('>').map_or("", |(_, rest)| rest).trim_start();
            words.starts_with(|letter: char| ('A'..='G').contains(&letter))
        });
        let place = |text: &str| text.strip_prefix("x=\"")?.split('"').next()?.parse().ok();
        let places: Vec<f64> = letters.filter_map(place).collect();
        assert_eq!(places.len(), 35, "{svg}");
        let apart = |two: &[f64]| (two[1] - two[0]) / 10.0;
        assert!(places.windows(2).all(|two| apart(two) >= LETTER - 0.2), "{places:?}");
        assert!(apart(&places[6..8]) >= LETTER + GAP - 0.2, "a gap between groups");
    }

    #[test]
    fn colours_are_white_where_nothing_is_remarkable_and_darkest_at_the_ends() {
        let around = Colors::Around(4.0);
        assert_eq!(around.of(1.0), RGBColor(0xff, 0xff, 0xff));
        assert_eq!(around.of(4.0), RGBColor(0xb3, 0x45, 0x00));
        assert_eq!(around.of(99.0), RGBColor(0xb3, 0x45, 0x00));
        assert_eq!(around.of(0.25), RGBColor(0x00, 0x55, 0x90));
        assert_eq!(
            around.of(0.5),
            RGBColor(0x80, 0xaa, 0xc8),
            "half of the way on a scale of ratios"
        );
        assert_eq!(Colors::UpTo(2.0).of(0.0), RGBColor(0xff, 0xff, 0xff));
        assert_eq!(Colors::UpTo(2.0).of(2.0), RGBColor(0xb3, 0x45, 0x00));
        assert_eq!(around.steps(), [0.25, 0.5, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn a_map_has_a_cell_per_value_and_escapes_names() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let map = HeatMap::new("a < b", "at 20 ms", Colors::UpTo(1.0))
            .columns(names(["20 ms", "100 ms"]), names(["0.1", "1"]))
            .row("one", vec![Some(0.0), Some(1.0), None, Some(0.5)]);
        let svg = map.svg().unwrap();
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        // 3 * 556 (a, 2, 0), 3 * 278 (t and blanks), 833 (m) and 500 (s) thousandths of 110 units.
        assert!(svg.contains("textLength=\"422\""), "{svg}");
        // Ground, cells with their edges, and scale.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 * 4 + 5, "{svg}");
        assert!(svg.to_lowercase().contains("fill=\"#c9ced6\""), "{svg}");
    }
}
