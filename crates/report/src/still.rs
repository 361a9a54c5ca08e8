//! Pictures without axes to move: many small ones side by side, and a plane of names.

use std::fmt::Write as _;

use crate::element::{heading, label, opened};
use crate::names::{NAME_FONT, NAME_HIGH, Names};
use crate::{digits, helvetica::text_width, svg::escaped};

/// A picture as SVG that stands on a page as it is, and beside it as a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Still {
    /// File name and anchor, as a figure's.
    pub id: String,
    /// One line above the picture.
    pub title: String,
    /// Sentences below the picture; may be empty.
    pub caption: String,
    /// The picture, on white.
    pub svg: String,
}

impl Still {
    /// A picture without a caption.
    pub fn new(id: impl Into<String>, title: impl Into<String>, svg: String) -> Self {
        Self { id: id.into(), title: title.into(), caption: String::new(), svg }
    }

    /// Sets the sentences below the picture.
    #[must_use]
    pub fn caption(mut self, text: impl Into<String>) -> Self {
        self.caption = text.into();
        self
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

    /// The SVG text, of the width of a page.
    pub fn svg(&self) -> String {
        let rows = self.cells.len().div_ceil(ACROSS).max(1);
        let height = HEAD + rows as f64 * (CELL.1 + NAME) + MARGIN;
        let mut text = opened(&self.title, WIDE, height);
        heading(&mut text, (8, 20), &self.title);
        for (place, cell) in self.cells.iter().enumerate() {
            let left = MARGIN + (place % ACROSS) as f64 * (CELL.0 + BETWEEN);
            let top = HEAD + (place / ACROSS) as f64 * (CELL.1 + NAME);
            cell.draw(&mut text, (left, top));
        }
        text.push_str("</svg>\n");
        text
    }
}

impl Small {
    fn draw(&self, text: &mut String, (left, top): (f64, f64)) {
        let all = || self.behind.iter().chain([&self.curve]).flatten();
        let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(0.0, f64::max).max(1e-9);
        let (right, high) = (most(|point| point.0), most(|point| point.1));
        let at = |(x, y): (f64, f64)| {
            (left + x / right * CELL.0, top + NAME + (1.0 - y / high) * (CELL.1 - 4.0))
        };
        let color = if self.bad { BAD } else { GOOD };
        let name = escaped(&self.name);
        let _ = writeln!(
            text,
            "<text x=\"{left:.1}\" y=\"{:.1}\" font-weight=\"bold\" fill=\"{color}\">{name}</text>",
            top + 10.0
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"8\" \
             fill=\"{SOFT}\">{}</text>",
            left + CELL.0,
            top + 10.0,
            escaped(&self.ends)
        );
        let _ = writeln!(
            text,
            "<path d=\"M{left:.1} {:.1}V{:.1}H{:.1}\" fill=\"none\" stroke=\"{SOFT}\" \
             stroke-width=\"0.6\"/>",
            top + NAME,
            top + NAME + CELL.1 - 4.0,
            left + CELL.0
        );
        for curve in &self.behind {
            path(text, curve.iter().map(|point| at(*point)), FAINT, 1.0);
        }
        path(text, self.curve.iter().map(|point| at(*point)), color, 1.4);
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
    pub fn svg(&self) -> String {
        let mut text = opened(&self.title, WIDE, PLANE);
        heading(&mut text, (8, 20), &self.title);
        let (x, y) = (Scale::of(self.points.iter().map(|of| of.1)), self.up());
        let (left, bottom) = (52.0, PLANE - 40.0);
        let at = |(right, up): (f64, f64)| {
            let height = bottom - HEAD;
            (left + x.share(right) * (WIDE - left - 90.0), bottom - y.share(up) * height)
        };
        for tick in x.ticks() {
            let (at_x, _) = at((tick, y.from));
            let words = digits(tick, 2);
            line(&mut text, (at_x, HEAD), (at_x, bottom));
            label(&mut text, (at_x, bottom + 14.0), "middle", &words);
        }
        for tick in y.ticks() {
            let (_, at_y) = at((x.from, tick));
            line(&mut text, (left, at_y), (WIDE - 90.0, at_y));
            label(&mut text, (left - 6.0, at_y + 4.0), "end", &digits(tick, 2));
        }
        label(&mut text, (WIDE / 2.0, PLANE - 8.0), "middle", &self.axes.0);
        let up = escaped(&self.axes.1);
        let middle = f64::midpoint(HEAD, bottom);
        let _ = writeln!(
            text,
            "<text transform=\"translate(14 {middle:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{up}</text>"
        );
        path(&mut text, self.front.iter().map(|point| at(*point)), BAD, 1.4);
        // The names of the front are placed first, and so stand nearest to their points.
        let best = |point: &&(String, f64, f64)| self.front.contains(&(point.1, point.2));
        let (front, others): (Vec<_>, Vec<_>) = self.points.iter().partition(best);
        let places = self.points.iter().map(|of| at((of.1, of.2))).collect();
        let mut names = Names::new((left, HEAD), (WIDE, bottom), places);
        for (name, right, above) in front.into_iter().chain(others) {
            let point = at((*right, *above));
            let best = self.front.contains(&(*right, *above));
            let color = if best { BAD } else { GOOD };
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{color}\"/>",
                point.0, point.1
            );
            let of = names.place(point, text_width(name, best) * NAME_FONT / 1000.0);
            if let Some(end) = of.leader(point) {
                path(&mut text, [point, end].into_iter(), SOFT, 0.4);
            }
            let weight = if best { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{NAME_FONT}\"{weight}>{}</text>",
                of.left,
                of.top + NAME_HIGH - 2.5,
                escaped(name)
            );
        }
        text.push_str("</svg>\n");
        text
    }

    fn up(&self) -> Scale {
        Scale::of(self.points.iter().map(|of| of.2))
    }
}

/// From the smallest to the largest value, with some room.
#[derive(Clone, Copy)]
struct Scale {
    from: f64,
    until: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let from = values.clone().fold(f64::INFINITY, f64::min);
        let until = values.fold(f64::NEG_INFINITY, f64::max);
        if !(from.is_finite() && until.is_finite()) {
            return Self { from: 0.0, until: 1.0 };
        }
        let room = ((until - from) * 0.05).max(1e-6);
        Self { from: from - room, until: until + room }
    }

    fn share(self, value: f64) -> f64 {
        (value - self.from) / (self.until - self.from)
    }

    /// Round values between the ends, about six.
    fn ticks(self) -> Vec<f64> {
        let rough = (self.until - self.from) / 6.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.from / step).ceil();
        let at = |place: u32| (first + f64::from(place)) * step;
        (0..12).map(at).take_while(|tick| *tick <= self.until).collect()
    }
}

fn path(text: &mut String, points: impl Iterator<Item = (f64, f64)>, color: &str, width: f64) {
    let mut line = String::new();
    for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
        let _ = write!(line, "{}{x:.1} {y:.1}", if line.is_empty() { "M" } else { "L" });
    }
    if !line.is_empty() {
        let _ = writeln!(
            text,
            "<path d=\"{line}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>"
        );
    }
}

fn line(text: &mut String, from: (f64, f64), to: (f64, f64)) {
    path(text, [from, to].into_iter(), FAINT, 0.7);
}

/// Pixels, as the rest.
const WIDE: f64 = 880.0;
const PLANE: f64 = 520.0;
const HEAD: f64 = 34.0;
const MARGIN: f64 = 10.0;
/// A small drawing, the room above it for its name, and that between two.
const CELL: (f64, f64) = (100.0, 58.0);
const NAME: f64 = 16.0;
const BETWEEN: f64 = 8.0;
const ACROSS: usize = 8;

const SOFT: &str = "#5a6472";
const FAINT: &str = "#c9ced6";
/// Two of Okabe and Ito's colours.
const GOOD: &str = "#0072b2";
const BAD: &str = "#d55e00";

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
        let svg = all.svg();
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert_eq!(svg.matches(&format!("stroke=\"{FAINT}\"")).count(), 2, "{svg}");
        assert_eq!(svg.matches(&format!("stroke=\"{GOOD}\"")).count(), 2, "{svg}");
        // Half of the way to the right and up, on the scale of what is behind.
        assert!(svg.contains("L60.0 77.0"), "{svg}");
    }

    #[test]
    fn every_point_of_a_plane_has_its_name_and_those_of_the_front_are_bold() {
        let mut plane = Plane::new("plane", "time", "lost");
        plane.points = ["one", "two"].map(|name| (name.to_owned(), 1.0, 2.0)).to_vec();
        plane.points.push(("three".to_owned(), 2.0, 1.0));
        plane.front = vec![(1.0, 2.0), (2.0, 1.0)];
        let svg = plane.svg();
        assert_eq!(svg.matches("font-size=\"9\"").count(), 3);
        assert_eq!(svg.matches("font-weight=\"bold\">").count(), 1 + 3, "{svg}");
    }

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = Scale { from: 0.93, until: 1.61 }.ticks();
        assert_eq!(ticks.len(), 4);
        assert!((ticks[0] - 1.0).abs() < 1e-9 && (ticks[3] - 1.6).abs() < 1e-9, "{ticks:?}");
        assert!(Plane::default().svg().ends_with("</svg>\n"), "without a point");
    }
}
