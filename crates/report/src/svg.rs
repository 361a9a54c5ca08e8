//! A figure as SVG for papers: white ground, legend above the drawing, fonts of the reader.

use std::ops::Range;

use plotters::{
    coord::{
        Shift,
        ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
        types::RangedCoordf64,
    },
    element::DashedPathElement,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::{
    Figure, Panel, ReportError, Series, Style,
    palette::{Slots, legend},
    path::{pieces, stairs},
    span::{Span, tick_label},
};

/// The SVG text of a figure, 720 units wide.
///
/// # Errors
/// [`ReportError::Render`] with the figure's id.
pub fn render(figure: &Figure) -> Result<String, ReportError> {
    let entries = Legend::of(figure);
    let head = TITLE + entries.height();
    let height = head + figure.panels.iter().map(|_| panel_height(figure)).sum::<i32>() + FOOT;
    let mut text = String::new();
    {
        let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(figure, &entries, head, &root)
            .map_err(|error| ReportError::render(&figure.id, &*error))?;
    }
    Ok(in_pixels(&text, height))
}

/// Drawing units in a pixel: the backend knows whole numbers only, curves need finer ones.
const PX: i32 = 10;
const WIDTH: i32 = 720 * PX;
const TITLE: i32 = 30 * PX;
/// Room below the lowest panel for ticks and the name of the x axis.
const FOOT: i32 = 46 * PX;
const LEFT: i32 = 64 * PX;
/// Keeps the names of the y axes, which stand half outside their area, in the picture.
const EDGE: i32 = 8 * PX;
const RIGHT: i32 = 18 * PX;
const GAP: i32 = 14 * PX;
const ENTRY: i32 = 20 * PX;
const SWATCH: i32 = 22 * PX;
const FONT: &str = "Helvetica, Arial, sans-serif";
/// A lowest and a highest point for each half pixel: more cannot be seen.
const POINTS: usize = 2_800;

const INK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
const SOFT: RGBColor = RGBColor(0x5a, 0x64, 0x72);
const GRID: RGBColor = RGBColor(0xe3, 0xe6, 0xeb);

/// Okabe and Ito's palette without black, the pale yellow darkened for white paper.
/// The page's style sheet has the same colours.
const COLORS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xb8, 0xa8, 0x00),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn panel_height(figure: &Figure) -> i32 {
    let drawing = if figure.panels.len() == 1 { 300 } else { 130 };
    drawing * PX + GAP
}

fn draw(figure: &Figure, entries: &Legend<'_>, head: i32, root: &Area<'_>) -> Drawn {
    root.fill(&WHITE)?;
    let title = font(15).style(FontStyle::Bold).color(&INK);
    let title = title.pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(figure.title.as_str(), (LEFT, TITLE / 2 + PX), title))?;
    entries.draw(root)?;
    let slots = Slots::of(figure);
    let x = Span::of_x(&figure.x, &figure.panels);
    let (_, mut rest) = root.split_vertically(head);
    for (index, panel) in figure.panels.iter().enumerate() {
        let last = index + 1 == figure.panels.len();
        let foot = if last { FOOT } else { 0 };
        let (area, below) = rest.split_vertically(panel_height(figure) + foot);
        draw_panel(panel, &x, last.then(|| figure.x.label()), &slots, &area)?;
        rest = below;
    }
    Ok(root.present()?)
}

/// Draws one panel; the lowest one has the name of the x axis and its ticks.
fn draw_panel(
    panel: &Panel,
    x: &Span,
    x_name: Option<String>,
    slots: &Slots<'_>,
    area: &Area<'_>,
) -> Drawn {
    let y = Span::of_y(panel);
    let mut chart = ChartBuilder::on(area)
        .margin_top(GAP)
        .margin_right(RIGHT)
        .margin_left(EDGE)
        .x_label_area_size(if x_name.is_some() { FOOT } else { 0 })
        .y_label_area_size(LEFT - EDGE)
        .build_cartesian_2d(Scaled(*x), Scaled(y))?;
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(PX.unsigned_abs()))
        .light_line_style(TRANSPARENT)
        .axis_style(SOFT.stroke_width(PX.unsigned_abs()))
        .set_all_tick_mark_size(5 * PX)
        .x_labels(8)
        .y_labels(if area.dim_in_pixel().1 > 2500 { 7 } else { 4 })
        .label_style(font(11).color(&INK))
        .axis_desc_style(font(12).color(&INK))
        .x_desc(x_name.unwrap_or_default())
        .y_desc(panel.y.label())
        .draw()?;
    for series in &panel.series {
        let look = Look::of(series, slots.slot(series));
        for piece in pieces(series, x, &y, POINTS) {
            if series.has_markers() {
                chart.draw_series(piece.iter().map(|point| look.marker(*point)))?;
            }
            let path = match series.style {
                Style::Points => continue,
                Style::Steps => stairs(&piece),
                Style::Line | Style::Reference => piece,
            };
            match look.dash {
                None => chart.draw_series([PathElement::new(path, look.line)])?,
                Some((on, off)) => chart.draw_series([DashedPathElement::new(
                    path,
                    on * PX,
                    off * PX,
                    look.line,
                )])?,
            };
        }
    }
    Ok(())
}

/// How a series is drawn: colour, width and dashes (pixels on and off).
struct Look {
    line: ShapeStyle,
    dash: Option<(i32, i32)>,
    open: bool,
}

impl Look {
    fn of(series: &Series, slot: Option<usize>) -> Self {
        let color = slot.map_or(SOFT, |slot| COLORS[slot % COLORS.len()]);
        let reference = series.style == Style::Reference;
        let width = if reference { 12 } else { 17 };
        let dash = match slot.unwrap_or(0) / COLORS.len() {
            _ if reference => Some((6, 4)),
            0 => None,
            1 => Some((2, 2)),
            _ => Some((9, 3)),
        };
        Self { line: color.stroke_width(width), dash, open: reference }
    }

    fn marker<C>(&self, at: C) -> Circle<C, i32> {
        let style = ShapeStyle { filled: !self.open, ..self.line };
        Circle::new(at, 28, style)
    }
}

/// The legend's entries and where they stand.
struct Legend<'a> {
    entries: Vec<(&'a Series, Look, (i32, i32))>,
    rows: i32,
}

impl<'a> Legend<'a> {
    fn of(figure: &'a Figure) -> Self {
        let slots = Slots::of(figure);
        let (mut x, mut row) = (LEFT, 0);
        let mut entries = Vec::new();
        for series in legend(figure) {
            // Reader's fonts differ; sans-serif letters are seldom wider than this on average.
            let letters = i32::try_from(series.name.chars().count()).unwrap_or(i32::MAX / 1000);
            let width = SWATCH + 6 * PX + letters * 13 * PX / 2 + 14 * PX;
            if x + width > WIDTH - RIGHT && x > LEFT {
                (x, row) = (LEFT, row + 1);
            }
            entries.push((series, Look::of(series, slots.slot(series)), (x, row)));
            x += width;
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        Self { entries, rows }
    }

    fn height(&self) -> i32 {
        self.rows * ENTRY
    }

    fn draw(&self, root: &Area<'_>) -> Drawn {
        let words = font(12).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (series, look, (x, row)) in &self.entries {
            let y = TITLE + row * ENTRY + ENTRY / 2;
            let ends = [(*x, y), (x + SWATCH, y)];
            match (series.style, look.dash) {
                (Style::Points, _) => root.draw(&look.marker((x + SWATCH / 2, y)))?,
                (_, None) => root.draw(&PathElement::new(ends, look.line))?,
                (_, Some((on, off))) => {
                    root.draw(&DashedPathElement::new(ends, on * PX, off * PX, look.line))?
                }
            }
            let at = (x + SWATCH + 6 * PX, y);
            root.draw(&Text::new(series.name.as_str(), at, words.clone()))?;
        }
        Ok(())
    }
}

fn font(pixels: i32) -> FontDesc<'static> {
    // The backend divides sizes by 1.24, which its bitmap sibling needs.
    FontDesc::new(FontFamily::Name(FONT), f64::from(pixels * PX) * 1.24, FontStyle::Normal)
}

/// Shrinks the picture to pixels, and rounds the corners of lines, which else grow spikes.
fn in_pixels(text: &str, height: i32) -> String {
    let size = format!("width=\"{WIDTH}\" height=\"{height}\"");
    let (width, pixels) = (WIDTH / PX, height / PX);
    text.replacen(
        &size,
        &format!("width=\"{width}\" height=\"{pixels}\" stroke-linejoin=\"round\""),
        1,
    )
}

/// A [`Span`] in the drawing library's terms.
struct Scaled(Span);

impl Ranged for Scaled {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(0.0..1.0).map(&self.0.share(*value), limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.0.ticks(hint.max_num_points())
    }

    fn range(&self) -> Range<f64> {
        self.0.lo..self.0.hi
    }
}

impl ValueFormatter<f64> for Scaled {
    fn format_ext(&self, value: &f64) -> String {
        tick_label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn figure(series: Series) -> Figure {
        Figure::new("f", "T <&>", Axis::new("time", "s"))
            .panel(Panel::new(Axis::new("cwnd", "packets")).with(series))
    }

    #[test]
    fn text_is_escaped_and_the_size_is_in_pixels() {
        let svg = render(&figure(Series::line("a<b", vec![(0.0, 1.0), (1.0, 2.0)]))).unwrap();
        assert!(svg.contains("T &lt;&amp;&gt;") && svg.contains("a&lt;b"), "{svg}");
        assert!(svg.starts_with("<svg width=\"720\""), "{}", &svg[..80]);
        assert!(svg.contains("viewBox=\"0 0 7200 "), "{}", &svg[..120]);
    }

    #[test]
    fn figures_without_points_panels_or_range_still_make_a_file() {
        for points in [vec![], vec![(1.0, 0.0)], vec![(f64::NAN, f64::INFINITY)]] {
            render(&figure(Series::line("a", points))).unwrap();
        }
        render(&Figure::new("f", "no panel", Axis::new("x", ""))).unwrap();
    }

    #[test]
    fn paper_and_page_have_the_same_colours() {
        let sheet = include_str!("../assets/report.css");
        for (slot, RGBColor(r, g, b)) in COLORS.iter().enumerate() {
            let rule = format!("--c{slot}: #{r:02x}{g:02x}{b:02x};");
            assert!(sheet.contains(&rule), "{rule}");
        }
    }
}
