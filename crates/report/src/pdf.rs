//! A figure as PDF of one page, of its own size: lines stay lines and text stays text.

use std::convert::Infallible;

use pdf_writer::{
    Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr,
    types::{LineCapStyle, LineJoinStyle},
};
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, VPos},
};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle,
    FontTransform,
};

use crate::{
    Figure, ReportError, Width,
    drawing::{PX, Sheet},
    font::{Font, packed},
    helvetica::text_width,
    picture::Picture,
};

/// The bytes of a PDF with the figure on its only page.
///
/// # Errors
/// [`ReportError::Render`] with the figure's id.
pub fn render(figure: &Figure, width: Width) -> Result<Vec<u8>, ReportError> {
    let drawn = drawn(&Sheet::new(figure, width));
    drawn.map_err(|error| ReportError::render(&figure.id, &*error))
}

/// The bytes of a PDF with a picture on its only page.
pub(crate) fn picture(picture: &impl Picture) -> Result<Vec<u8>, ReportError> {
    drawn(picture).map_err(|error| ReportError::render(picture.title(), &*error))
}

fn drawn(picture: &impl Picture) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let (across, down) = picture.size();
    let size = (across.unsigned_abs(), down.unsigned_abs());
    let page = Rect::new(0.0, 0.0, points(across), points(down));
    let mut content = Content::new();
    // From drawing units that count downwards to points that count upwards.
    content.transform([POINT, 0.0, 0.0, -POINT, 0.0, page.y2]);
    content.set_line_join(LineJoinStyle::RoundJoin).set_line_cap(LineCapStyle::ButtCap);
    let mut fonts = Font::both();
    {
        let paper = Paper { content: &mut content, fonts: &mut fonts, size };
        let root = paper.into_drawing_area();
        picture.draw(&root)?;
    }
    Ok(document(picture.title(), page, &content.finish(), &fonts))
}

fn document(title: &str, size: Rect, drawn: &[u8], [plain, heavy]: &[Font; 2]) -> Vec<u8> {
    let [catalog, pages, page, content, about] = [1, 2, 3, 4, 5].map(Ref::new);
    let [regular, bold] = [[10, 11, 12, 13, 14], [20, 21, 22, 23, 24]].map(|all| all.map(Ref::new));
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut only = pdf.page(page);
    only.media_box(size).parent(pages).contents(content);
    only.resources().fonts().pair(REGULAR, regular[0]).pair(BOLD, bold[0]);
    only.finish();
    pdf.stream(content, &packed(drawn)).filter(Filter::FlateDecode);
    plain.write(&mut pdf, regular);
    heavy.write(&mut pdf, bold);
    pdf.document_info(about).title(TextStr(title)).creator(TextStr("firstflight"));
    pdf.finish()
}

/// Points in a drawing unit: 72 to the inch, where pixels are 96.
const POINT: f32 = 0.75 / PX as f32;
const REGULAR: Name<'static> = Name(b"F");
const BOLD: Name<'static> = Name(b"B");

#[expect(clippy::cast_precision_loss, reason = "drawing units of a page are few")]
fn points(units: i32) -> f32 {
    units as f32 * POINT
}

/// The backend on which the drawing library draws.
struct Paper<'a> {
    content: &'a mut Content,
    /// The regular one and the bold.
    fonts: &'a mut [Font; 2],
    size: (u32, u32),
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl Paper<'_> {
    fn stroke_with(&mut self, style: &impl BackendStyle) -> bool {
        let color = style.color();
        let [r, g, b] = rgb(color);
        #[expect(clippy::cast_precision_loss, reason = "widths are small")]
        let width = style.stroke_width() as f32;
        self.content.set_stroke_rgb(r, g, b).set_line_width(width);
        color.alpha > 0.0
    }

    fn fill_with(&mut self, color: BackendColor) -> bool {
        let [r, g, b] = rgb(color);
        self.content.set_fill_rgb(r, g, b);
        color.alpha > 0.0
    }

    /// Moves along the points; false if there are fewer than two.
    fn trace(&mut self, points: impl IntoIterator<Item = BackendCoord>) -> bool {
        let mut count = 0;
        for point in points {
            let (x, y) = at(point);
            if count == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
            count += 1;
        }
        count > 1
    }
}

impl DrawingBackend for Paper<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let ((left, top), (right, bottom)) = (at(from), at(to));
        let seen = if fill { self.fill_with(style.color()) } else { self.stroke_with(style) };
        if seen {
            self.content.rect(left, top, right - left, bottom - top);
            if fill {
                self.content.fill_nonzero()
            } else {
                self.content.stroke()
            };
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if self.stroke_with(style) {
            if self.trace(path) {
                self.content.stroke()
            } else {
                self.content.end_path()
            };
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if self.fill_with(style.color()) {
            if self.trace(path) {
                self.content.fill_nonzero()
            } else {
                self.content.end_path()
            };
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let seen = if fill { self.fill_with(style.color()) } else { self.stroke_with(style) };
        if !seen {
            return Ok(());
        }
        let (x, y) = at(center);
        #[expect(clippy::cast_precision_loss, reason = "radii are small")]
        let r = radius as f32;
        let k = QUARTER * r;
        self.content
            .move_to(x + r, y)
            .cubic_to(x + r, y + k, x + k, y + r, x, y + r)
            .cubic_to(x - k, y + r, x - r, y + k, x - r, y)
            .cubic_to(x - r, y - k, x - k, y - r, x, y - r)
            .cubic_to(x + k, y - r, x + r, y - k, x + r, y)
            .close_path();
        if fill {
            self.content.fill_nonzero()
        } else {
            self.content.stroke()
        };
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        point: BackendCoord,
    ) -> Drawn {
        if !self.fill_with(style.color()) {
            return Ok(());
        }
        let bold = matches!(style.style(), FontStyle::Bold);
        // As the SVG has it, whose backend divides by the same number.
        #[expect(clippy::cast_possible_truncation, reason = "a font's size")]
        let size = (style.size() / 1.24) as f32;
        #[expect(clippy::cast_possible_truncation, reason = "a text's width")]
        let length = text_width(text, bold) as f32 / 1000.0 * size;
        let along = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -length / 2.0,
            HPos::Right => -length,
        };
        let down = match style.anchor().v_pos {
            VPos::Top => 0.76 * size,
            VPos::Center => HALF_X * size,
            VPos::Bottom => -HALF_X * size,
        };
        // The direction of the line; letters stand upright on it.
        let (dx, dy) = match style.transform() {
            FontTransform::Rotate90 => (0.0, 1.0),
            FontTransform::Rotate180 => (-1.0, 0.0),
            FontTransform::Rotate270 => (0.0, -1.0),
            _ => (1.0, 0.0),
        };
        let (x, y) = at(point);
        let start = (x + along * dx - down * dy, y + along * dy + down * dx);
        let letters = self.fonts[usize::from(bold)].shown(text);
        self.content
            .begin_text()
            .set_font(if bold { BOLD } else { REGULAR }, size)
            .set_text_matrix([dx, dy, dy, -dx, start.0, start.1])
            .show(Str(&letters))
            .end_text();
        Ok(())
    }
}

/// Half the height of an x, in sizes of the font.
const HALF_X: f32 = 0.26;
/// How far the handles of a cubic curve stand from the ends of a quarter of a circle of radius 1.
const QUARTER: f32 = 0.552_28;

#[expect(clippy::cast_precision_loss, reason = "drawing units of a page are few")]
fn at((x, y): BackendCoord) -> (f32, f32) {
    (x as f32, y as f32)
}

fn rgb(color: BackendColor) -> [f32; 3] {
    let (r, g, b) = color.rgb;
    [r, g, b].map(|part| f32::from(part) / 255.0)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::font::not_embedded;
    use crate::{Axis, Panel, Series};

    fn figure() -> Figure {
        let line = Series::line("newreno", vec![(0.0, 1.0), (1.0, 2.0)]);
        Figure::new("f", "Window", Axis::new("time", "s"))
            .subtitle("40Mbps; profile linux")
            .panel(Panel::new(Axis::new("cwnd", "packets")).with(line))
    }

    /// What is drawn, unpacked.
    fn drawn(pdf: &[u8]) -> String {
        let find = |from: usize, word: &[u8]| {
            from + pdf[from..].windows(word.len()).position(|seen| seen == word).unwrap()
        };
        let start = find(0, b"stream\n") + 7;
        let end = find(start, b"endstream");
        let mut text = Vec::new();
        flate2::read::ZlibDecoder::new(&pdf[start..end]).read_to_end(&mut text).unwrap();
        text.into_iter().map(char::from).collect()
    }

    #[test]
    fn a_page_has_the_size_of_the_column_and_text_as_text() {
        let pdf = render(&figure(), "88mm".parse().unwrap()).unwrap();
        let text: String = pdf.iter().copied().map(char::from).collect();
        assert!(text.starts_with("%PDF-"), "{}", &text[..20]);
        // 88 mm are 249.4 points.
        assert!(text.contains("/MediaBox [0 0 249.4"), "{text}");
        let drawn = drawn(&pdf);
        // With a font of the machine letters are the numbers of its glyphs.
        let words = ["(Window) Tj", "(newreno) Tj", "(cwnd (packets)) Tj", "profile linux"];
        for words in words.into_iter().filter(|_| not_embedded().is_some()) {
            assert!(drawn.contains(words), "no {words} in {drawn}");
        }
        assert!(drawn.matches(" Tj").count() > words.len(), "{drawn}");
        assert!(drawn.contains("0 0.44705883 0.69803923 RG"), "the first colour: {drawn}");
    }

    #[test]
    fn the_same_figure_gives_the_same_bytes() {
        let pdf = || render(&figure(), Width::default()).unwrap();
        assert_eq!(pdf(), pdf());
    }
}
