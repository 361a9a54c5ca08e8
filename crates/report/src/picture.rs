//! A picture as a whole, and one of shapes whose places are pixels.

use std::borrow::Cow;

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::drawing::{Area, Drawn, INK, PX, font};

/// What a backend draws.
pub(crate) trait Picture {
    /// One line above it, and for those who do not see it.
    fn title(&self) -> &str;

    /// Width and height in drawing units.
    fn size(&self) -> (i32, i32);

    /// Draws it on a backend of [`Self::size`].
    fn draw<D: DrawingBackend>(&self, root: &Area<D>) -> Drawn
    where
        D::ErrorType: 'static;
}

/// A place in pixels, from the left and from the top.
pub(crate) type At = (f64, f64);

/// Shapes on white, one above the other.
pub(crate) struct Sketch<'a> {
    title: &'a str,
    size: At,
    shapes: Vec<Shape<'a>>,
}

enum Shape<'a> {
    Path(Vec<(i32, i32)>, ShapeStyle),
    Fill([(i32, i32); 2], RGBColor),
    Dot((i32, i32), i32, RGBColor),
    Words((i32, i32), Cow<'a, str>, TextStyle<'static>),
}

/// How words look.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) pixels: i32,
    pub(crate) bold: bool,
    pub(crate) color: RGBColor,
    /// Which part of them is at their place.
    pub(crate) part: HPos,
    pub(crate) upwards: bool,
}

impl Words {
    /// Small and black, of which this part is at their place.
    pub(crate) const fn small(part: HPos) -> Self {
        Self { pixels: 11, bold: false, color: INK, part, upwards: false }
    }
}

impl<'a> Sketch<'a> {
    /// A picture of this size in pixels, whose title stands on a line there.
    pub(crate) fn new(size: At, title: &'a str, line: At) -> Self {
        let mut sketch = Self { title, size, shapes: Vec::new() };
        sketch.write(line, title, Words { pixels: 14, bold: true, ..Words::small(HPos::Left) });
        sketch
    }

    /// Adds a line through the points that have a place.
    pub(crate) fn path(
        &mut self,
        points: impl IntoIterator<Item = At>,
        color: RGBColor,
        width: f64,
    ) {
        let points = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let style = color.stroke_width(units((width, 0.0)).0.unsigned_abs());
        self.shapes.push(Shape::Path(points.map(units).collect(), style));
    }

    /// Adds a filled rectangle between two corners.
    pub(crate) fn fill(&mut self, from: At, until: At, color: RGBColor) {
        self.shapes.push(Shape::Fill([units(from), units(until)], color));
    }

    /// Adds a filled circle.
    pub(crate) fn dot(&mut self, at: At, radius: f64, color: RGBColor) {
        self.shapes.push(Shape::Dot(units(at), units((radius, 0.0)).0, color));
    }

    /// Adds words on a line at this height.
    pub(crate) fn write(&mut self, (x, line): At, words: impl Into<Cow<'a, str>>, look: Words) {
        let above = HALF_X * f64::from(look.pixels);
        let at = if look.upwards { (x - above, line) } else { (x, line - above) };
        let style = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let turn = if look.upwards { FontTransform::Rotate270 } else { FontTransform::None };
        let font = font(look.pixels).style(style).transform(turn).color(&look.color);
        let place = Pos { h_pos: look.part, v_pos: VPos::Center };
        self.shapes.push(Shape::Words(units(at), words.into(), font.pos(place)));
    }
}

impl Picture for Sketch<'_> {
    fn title(&self) -> &str {
        self.title
    }

    fn size(&self) -> (i32, i32) {
        units(self.size)
    }

    fn draw<D: DrawingBackend>(&self, root: &Area<D>) -> Drawn
    where
        D::ErrorType: 'static,
    {
        root.fill(&WHITE)?;
        for shape in &self.shapes {
            match shape {
                Shape::Path(points, style) => root.draw(&PathElement::new(&points[..], *style))?,
                Shape::Fill(corners, color) => {
                    root.draw(&Rectangle::new(*corners, color.filled()))?
                }
                Shape::Dot(at, radius, color) => {
                    root.draw(&Circle::new(*at, *radius, color.filled()))?
                }
                Shape::Words(at, words, style) => {
                    root.draw(&Text::new(&**words, *at, style.clone()))?
                }
            }
        }
        Ok(())
    }
}

/// Drawing units, in which backends count.
#[expect(clippy::cast_possible_truncation, reason = "pixels of a page are few")]
fn units((x, y): At) -> (i32, i32) {
    let unit = f64::from(PX);
    ((x * unit).round() as i32, (y * unit).round() as i32)
}

/// Half the height of an x, in sizes of the font: backends put the middle of an x at a height.
const HALF_X: f64 = 0.26;
