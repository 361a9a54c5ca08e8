//! Pictures without axes to move: many small ones side by side, and a plane of names.

use plotters::style::{RGBColor, text_anchor::HPos};

use crate::drawing::SOFT;
use crate::names::{NAME_FONT, NAME_HIGH, Names};
use crate::picture::{At, Sketch, Words};
use crate::span::Span;
use crate::{HeatMap, ReportError, digits, helvetica::text_width, pdf, svg};

/// A picture without axes to move, on a page and as files of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StaticFigure {
    /// File name and anchor, as a figure's.
    pub id: String,
    /// One line above the picture.
    pub title: String,
    /// Sentences below the picture; may be empty.
    pub caption: String,
    /// What it shows.
    pub content: StaticContent,
}

/// What a static figure shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StaticContent {
    /// Small drawings.
    Multiples(Multiples),
    /// Colours.
    HeatMap(HeatMap),
}

impl StaticFigure {
    /// A picture without a caption.
    pub fn new(id: impl Into<String>, title: impl Into<String>, content: StaticContent) -> Self {
        Self { id: id.into(), title: title.into(), caption: String::new(), content }
    }

    /// Sets the sentences below the picture.
    #[must_use]
    pub fn caption(mut self, text: impl Into<String>) -> Self {
        self.caption = text.into();
        self
    }

    /// The SVG text.
    ///
    /// # Errors
    /// [`ReportError::Render`] with the title.
    pub fn svg(&self) -> Result<String, ReportError> {
        svg::picture(&self.sketch())
    }

    /// The bytes of a PDF of one page.
    ///
    /// # Errors
    /// [`ReportError::Render`] with the title.
    pub fn pdf(&self) -> Result<Vec<u8>, ReportError> {
        pdf::picture(&self.sketch())
    }

    fn sketch(&self) -> Sketch<'_> {
        match &self.content {
            StaticContent::Multiples(multiples) => multiples.sketch(),
            StaticContent::HeatMap(map) => map.sketch(),
        }
    }
}

/// Small drawings side by side, each with a scale of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Multiples {
    /// One line above all.
    pub title: String,
    /// The drawings, from left to right and from top to bottom.
    pub cells: Vec<Small>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Small {
    /// Above it, at the left.
    pub name: String,
    /// Above it, at the right: where the scales end.
    pub ends: String,
    /// The curve that it is about.
    pub curve: Vec<(f64, f64)>,
    /// Curves behind it, faint.
    pub behind: Vec<Vec<(f64, f64)>>,
    /// What is wrong is red.
    pub bad: bool,
}

impl Small {
    /// A drawing of one curve.
    pub fn new(name: impl Into<String>, curve: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), curve, ..Self::default() }
    }
}

impl Multiples {
    /// No drawing yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), cells: Vec::new() }
    }

    fn sketch(&self) -> Sketch<'_> {
        let rows = self.cells.len().div_ceil(ACROSS).max(1);
        let size = (WIDE, HEAD + rows as f64 * (CELL.1 + NAME) + MARGIN);
        let mut sketch = Sketch::new(size, &self.title, (8.0, 20.0));
        for (place, cell) in self.cells.iter().enumerate() {
            let left = MARGIN + (place % ACROSS) as f64 * (CELL.0 + BETWEEN);
            let top = HEAD + (place / ACROSS) as f64 * (CELL.1 + NAME);
            cell.draw(&mut sketch, (left, top));
        }
        sketch
    }
}

impl Small {
    fn draw<'a>(&'a self, sketch: &mut Sketch<'a>, (left, top): At) {
        let all = || self.behind.iter().chain([&self.curve]).flatten();
        let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(0.0, f64::max).max(1e-9);
        let (right, high) = (most(|point| point.0), most(|point| point.1));
        let floor = top + NAME + CELL.1 - 4.0;
        let at =
            |(x, y): &(f64, f64)| (left + x / right * CELL.0, floor - y / high * (CELL.1 - 4.0));
        let color = if self.bad { BAD } else { GOOD };
        let name = Words { bold: true, color, ..Words::small(HPos::Left) };
        sketch.write((left, top + 10.0), self.name.as_str(), name);
        let ends = Words { pixels: 8, color: SOFT, ..Words::small(HPos::Right) };
        sketch.write((left + CELL.0, top + 10.0), self.ends.as_str(), ends);
        sketch.path([(left, top + NAME), (left, floor), (left + CELL.0, floor)], SOFT, 0.6);
        for curve in &self.behind {
            sketch.path(curve.iter().map(at), FAINT, 1.0);
        }
        sketch.path(self.curve.iter().map(at), color, 1.4);
    }
}

/// A plane on which names stand where their two numbers are, with a line through the best.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Plane {
    /// One line above the picture.
    pub title: String,
    /// What the axes measure, to the right and upwards.
    pub axes: (String, String),
    /// Names and places.
    pub points: Vec<(String, f64, f64)>,
    /// The line, from left to right.
    pub front: Vec<(f64, f64)>,
}

impl Plane {
    /// An empty plane.
    pub fn new(title: impl Into<String>, right: &str, up: &str) -> Self {
        let axes = (right.to_owned(), up.to_owned());
        Self { title: title.into(), axes, ..Self::default() }
    }

    /// The SVG text, of the width of a page.
    ///
    /// # Errors
    /// [`ReportError::Render`] with the title.
    pub fn svg(&self) -> Result<String, ReportError> {
        svg::picture(&self.sketch())
    }

    /// The grid with its numbers, and what the axes measure; where a point stands on it.
    fn grid<'a>(&'a self, sketch: &mut Sketch<'a>) -> impl Fn(At) -> At + use<> {
        let (x, y) = (self.span(|of| of.1), self.span(|of| of.2));
        let at = move |(right, up): At| {
            let (wide, high) = (RIGHT - LEFT, BOTTOM - HEAD);
            (LEFT + x.share(right) * wide, BOTTOM - y.share(up) * high)
        };
        for tick in x.ticks(TICKS) {
            let (place, _) = at((tick, y.lo));
            sketch.path([(place, HEAD), (place, BOTTOM)], FAINT, 0.7);
            let middle = Words::small(HPos::Center);
            sketch.write((place, BOTTOM + 14.0), digits(tick, 2), middle);
        }
        for tick in y.ticks(TICKS) {
            let (_, place) = at((x.lo, tick));
            sketch.path([(LEFT, place), (RIGHT, place)], FAINT, 0.7);
            sketch.write((LEFT - 6.0, place + 4.0), digits(tick, 2), Words::small(HPos::Right));
        }
        let middle = Words::small(HPos::Center);
        sketch.write((WIDE / 2.0, PLANE - 8.0), self.axes.0.as_str(), middle);
        let upwards = Words { upwards: true, ..middle };
        sketch.write((14.0, f64::midpoint(HEAD, BOTTOM)), self.axes.1.as_str(), upwards);
        at
    }

    fn span(&self, of: fn(&(String, f64, f64)) -> f64) -> Span {
        Span::with_room(self.points.iter().map(of))
    }

    fn sketch(&self) -> Sketch<'_> {
        let mut sketch = Sketch::new((WIDE, PLANE), &self.title, (8.0, 20.0));
        let at = self.grid(&mut sketch);
        sketch.path(self.front.iter().map(|point| at(*point)), BAD, 1.4);
        // The names of the front are placed first, and so stand nearest to their points.
        let best = |point: &&(String, f64, f64)| self.front.contains(&(point.1, point.2));
        let (front, others): (Vec<_>, Vec<_>) = self.points.iter().partition(best);
        let places = self.points.iter().map(|of| at((of.1, of.2))).collect();
        let mut names = Names::new((LEFT, HEAD), (WIDE, BOTTOM), places);
        for point in front.into_iter().chain(others) {
            let (best, (name, right, above)) = (best(&point), point);
            let point = at((*right, *above));
            sketch.dot(point, 2.6, if best { BAD } else { GOOD });
            let wide = text_width(name, best) * f64::from(NAME_FONT) / 1000.0;
            let of = names.place(point, wide);
            if let Some(end) = of.leader(point) {
                sketch.path([point, end], SOFT, 0.4);
            }
            let look = Words { pixels: NAME_FONT, bold: best, ..Words::small(HPos::Left) };
            sketch.write((of.left, of.top + NAME_HIGH - 2.5), name.as_str(), look);
        }
        sketch
    }
}

/// Pixels, as the rest.
const WIDE: f64 = 880.0;
const PLANE: f64 = 520.0;
/// Where the plane's grid begins and ends; names may stand to the right of it.
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDE - 90.0;
const BOTTOM: f64 = PLANE - 40.0;
/// Numbers on an axis, about.
const TICKS: usize = 6;
const HEAD: f64 = 34.0;
const MARGIN: f64 = 10.0;
/// A small drawing, the room above it for its name, and that between two.
const CELL: (f64, f64) = (100.0, 58.0);
const NAME: f64 = 16.0;
const BETWEEN: f64 = 8.0;
const ACROSS: usize = 8;

const FAINT: RGBColor = RGBColor(0xc9, 0xce, 0xd6);
/// Two of Okabe and Ito's colours.
const GOOD: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const BAD: RGBColor = RGBColor(0xd5, 0x5e, 0x00);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_drawn_for_each_with_its_references_behind() {
        let mut all = Multiples::new("a < b");
        for name in ["A1", "A2"] {
            let mut small = Small::new(name, vec![(0.0, 1.0), (1.0, 2.0)]);
            small.behind = vec![vec![(0.0, 0.0), (2.0, 4.0)]];
            all.cells.push(small);
        }
        let svg = svg::picture(&all.sketch()).unwrap().to_lowercase();
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert_eq!(svg.matches("stroke=\"#c9ced6\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("stroke=\"#0072b2\"").count(), 2, "{svg}");
        // Half of the way to the right and up, on the scale of what is behind.
        assert!(svg.contains("600,770"), "{svg}");
        assert!(pdf::picture(&all.sketch()).unwrap().starts_with(b"%PDF"));
    }

    #[test]
    fn every_point_of_a_plane_has_its_name_and_those_of_the_front_are_bold() {
        let mut plane = Plane::new("plane", "time", "lost");
        plane.points = ["one", "two"].map(|name| (name.to_owned(), 1.0, 2.0)).to_vec();
        plane.points.push(("three".to_owned(), 2.0, 1.0));
        plane.front = vec![(1.0, 2.0), (2.0, 1.0)];
        let svg = plane.svg().unwrap();
        assert_eq!(svg.matches("font-size=\"90").count(), 3, "{svg}");
        assert_eq!(svg.matches("font-weight=\"bold\"").count(), 1 + 3, "{svg}");
        assert!(Plane::default().svg().unwrap().ends_with("</svg>\n"), "without a point");
    }
}
