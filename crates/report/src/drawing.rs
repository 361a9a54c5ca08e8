//! The layout of a figure for SVG and PDF: white ground, title and conditions, a legend above the
//! panels. The size of type does not depend on the figure's width.

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
    Figure, Panel, Series, Style, Width,
    helvetica::text_width,
    palette::{Slots, legend},
    path::{pieces, stairs},
    picture::Picture,
    span::{Span, tick_label},
};

/// The positions of a figure's parts, in drawing units.
pub(crate) struct Sheet<'a> {
    figure: &'a Figure,
    width: i32,
    title: Vec<String>,
    subtitle: Vec<String>,
    legend: Legend<'a>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(figure: &'a Figure, width: Width) -> Self {
        let width = width.tenths();
        let room = width - LEFT - RIGHT;
        Self {
            figure,
            width,
            title: lines(&figure.title, room, TITLE_FONT, true),
            subtitle: lines(&figure.subtitle, room, SMALL_FONT, false),
            legend: Legend::of(figure, width),
        }
    }

    /// Room above the panels.
    fn head(&self) -> i32 {
        self.subtitle_end() + self.legend.height()
    }

    fn title_end(&self) -> i32 {
        TOP + rows(&self.title, TITLE_LINE)
    }

    fn subtitle_end(&self) -> i32 {
        self.title_end() + rows(&self.subtitle, SUBTITLE_LINE) + TOP / 2
    }

    fn panel_height(&self) -> i32 {
        // A single panel stays high enough to be read in a column of a paper.
        let single = (self.width * 9 / 16).clamp(180 * PX, 300 * PX);
        let stacked = (self.width / 4).clamp(95 * PX, 130 * PX).max(self.longest_name() + GAP);
        (if self.figure.panels.len() == 1 { single } else { stacked }) + GAP
    }

    /// How long the longest name of a y axis is, which runs along the height of its panel.
    fn longest_name(&self) -> i32 {
        let unit = f64::from(NAME_FONT * PX) / 1000.0;
        let wide = |panel: &Panel| text_width(&panel.y.label(), false) * unit;
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred pixels")]
        let longest = self.figure.panels.iter().map(wide).fold(0.0, f64::max).ceil() as i32;
        longest
    }
}

impl Picture for Sheet<'_> {
    fn title(&self) -> &str {
        &self.figure.title
    }

    fn size(&self) -> (i32, i32) {
        let panels: i32 = self.figure.panels.iter().map(|_| self.panel_height()).sum();
        (self.width, self.head() + panels + FOOT)
    }

    fn draw<D: DrawingBackend>(&self, root: &Area<D>) -> Drawn
    where
        D::ErrorType: 'static,
    {
        let figure = self.figure;
        root.fill(&WHITE)?;
        let title = font(TITLE_FONT).style(FontStyle::Bold).color(&INK).pos(LINE);
        for (row, line) in (0..).zip(&self.title) {
            let at = (LEFT, TOP + row * TITLE_LINE + TITLE_LINE / 2);
            root.draw(&Text::new(line.as_str(), at, title.clone()))?;
        }
        let small = font(SMALL_FONT).color(&SOFT).pos(LINE);
        for (row, line) in (0..).zip(&self.subtitle) {
            let at = (LEFT, self.title_end() + row * SUBTITLE_LINE + SUBTITLE_LINE / 2);
            root.draw(&Text::new(line.as_str(), at, small.clone()))?;
        }
        self.legend.draw(root, self.subtitle_end())?;
        let slots = Slots::of(figure);
        let x = Span::of_x(&figure.x, &figure.panels);
        let (_, mut rest) = root.split_vertically(self.head());
        for (index, panel) in figure.panels.iter().enumerate() {
            let last = index + 1 == figure.panels.len();
            let foot = if last { FOOT } else { 0 };
            let (area, below) = rest.split_vertically(self.panel_height() + foot);
            draw_panel(panel, &x, last.then(|| figure.x.label()), &slots, &area)?;
            rest = below;
        }
        Ok(())
    }
}

/// The height of so many lines.
fn rows(lines: &[String], line: i32) -> i32 {
    i32::try_from(lines.len()).unwrap_or(0) * line
}

/// A text in lines that fit; empty without text.
fn lines(text: &str, room: i32, pixels: i32, bold: bool) -> Vec<String> {
    let unit = f64::from(pixels * PX) / 1000.0;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| text_width(line, bold) * unit <= f64::from(room)) {
            Some(line) => *lines.last_mut().unwrap_or(&mut String::new()) = line,
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Drawing units per pixel. Backends take whole numbers only, which are too coarse for curves.
pub(crate) const PX: i32 = 10;
const TOP: i32 = 6 * PX;
const TITLE_FONT: i32 = 15;
const TITLE_LINE: i32 = 20 * PX;
const SMALL_FONT: i32 = 11;
const NAME_FONT: i32 = 12;
const SUBTITLE_LINE: i32 = 15 * PX;
const LINE: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
/// Room below the lowest panel for ticks and the name of the x axis.
const FOOT: i32 = 46 * PX;
const LEFT: i32 = 64 * PX;
/// Keeps the names of the y axes, which stand half outside their area, in the picture.
const EDGE: i32 = 8 * PX;
const RIGHT: i32 = 18 * PX;
const GAP: i32 = 14 * PX;
const ENTRY: i32 = 20 * PX;
const SWATCH: i32 = 22 * PX;
/// Room for a tick of the x axis and its number.
const TICK_WIDTH: u32 = 800;
const FONT: &str = "Helvetica, Arial, sans-serif";
/// Points per series: the lowest and the highest for each half pixel; more cannot be seen.
const POINTS: usize = 2_800;

pub(crate) const INK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
pub(crate) const SOFT: RGBColor = RGBColor(0x5a, 0x64, 0x72);
const GRID: RGBColor = RGBColor(0xe3, 0xe6, 0xeb);

/// Okabe and Ito's palette without black, the pale yellow darkened for white paper.
/// The page's style sheet has these colours too.
const COLORS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xb8, 0xa8, 0x00),
];

pub(crate) type Area<D> = DrawingArea<D, Shift>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws one panel; the lowest one has the name of the x axis and its ticks.
fn draw_panel<D: DrawingBackend>(
    panel: &Panel,
    x: &Span,
    x_name: Option<String>,
    slots: &Slots<'_>,
    area: &Area<D>,
) -> Drawn
where
    D::ErrorType: 'static,
{
    let y = Span::of_y(panel);
    let (width, height) = area.dim_in_pixel();
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
        .x_labels((width / TICK_WIDTH).clamp(3, 8) as usize)
        .y_labels(if height > 2500 { 7 } else { 4 })
        .label_style(font(11).color(&INK))
        .axis_desc_style(font(NAME_FONT).color(&INK))
        .x_desc(x_name.unwrap_or_default())
        .y_desc(panel.y.label())
        .draw()?;
    for series in &panel.series {
        let look = Look::of(series, slots);
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
    fn of(series: &Series, slots: &Slots<'_>) -> Self {
        let slot = slots.slot(series);
        let color = slot.map_or(SOFT, |slot| COLORS[slot % COLORS.len()]);
        let reference = series.style == Style::Reference;
        let width = if reference { 12 } else { 17 };
        let dash = match slot.unwrap_or(0) / COLORS.len() {
            _ if reference => Some(REFERENCE_DASHES[slots.dash(series) % REFERENCE_DASHES.len()]),
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

/// The dashes of grey references in their order; a reference with a colour has the first.
const REFERENCE_DASHES: [(i32, i32); 3] = [(6, 4), (2, 3), (12, 4)];

/// The legend's entries and where they stand.
struct Legend<'a> {
    entries: Vec<(&'a Series, Look, (i32, i32))>,
    rows: i32,
}

impl<'a> Legend<'a> {
    fn of(figure: &'a Figure, width: i32) -> Self {
        let slots = Slots::of(figure);
        let (mut x, mut row) = (LEFT, 0);
        let mut entries = Vec::new();
        for series in legend(figure) {
            // Readers' fonts differ; sans-serif letters are seldom wider than this on average.
            let letters = i32::try_from(series.name.chars().count()).unwrap_or(i32::MAX / 1000);
            let own = SWATCH + 6 * PX + letters * 13 * PX / 2 + 14 * PX;
            if x + own > width - RIGHT && x > LEFT {
                (x, row) = (LEFT, row + 1);
            }
            entries.push((series, Look::of(series, &slots), (x, row)));
            x += own;
        }
        let rows = if entries.is_empty() { 0 } else { row + 1 };
        Self { entries, rows }
    }

    fn height(&self) -> i32 {
        self.rows * ENTRY
    }

    fn draw<D: DrawingBackend>(&self, root: &Area<D>, top: i32) -> Drawn
    where
        D::ErrorType: 'static,
    {
        let words = font(12).color(&INK).pos(LINE);
        for (series, look, (x, row)) in &self.entries {
            let y = top + row * ENTRY + ENTRY / 2;
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

pub(crate) fn font(pixels: i32) -> FontDesc<'static> {
    // The backend divides sizes by 1.24, which its bitmap sibling needs.
    FontDesc::new(FontFamily::Name(FONT), f64::from(pixels * PX) * 1.24, FontStyle::Normal)
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

    #[test]
    fn long_texts_become_lines_that_fit() {
        let text = "40Mbps, 100ms, buffer 500 packets, 20s; profile linux: IW 10 packets";
        let wide = lines(text, 6_000, SMALL_FONT, false);
        let narrow = lines(text, 2_000, SMALL_FONT, false);
        assert_eq!((wide.len(), wide[0].as_str()), (1, text));
        assert_eq!(narrow.join(" "), text);
        let unit = f64::from(SMALL_FONT * PX) / 1000.0;
        assert!(narrow.len() > 1);
        assert!(narrow.iter().all(|line| text_width(line, false) * unit <= 2_000.0), "{narrow:?}");
        assert!(lines("", 100, SMALL_FONT, false).is_empty());
    }

    #[test]
    fn the_names_of_stacked_y_axes_do_not_meet() {
        let panel = |name| Panel::new(crate::Axis::new(name, "Mbps"));
        let figure = Figure::new("f", "F", crate::Axis::new("time", "s"));
        let figure = figure.panel(panel("on the link of a long name")).panel(panel("throughput"));
        let sheet = Sheet::new(&figure, "88mm".parse().unwrap());
        assert!(sheet.longest_name() > 95 * PX);
        assert!(sheet.panel_height() >= sheet.longest_name() + GAP, "{}", sheet.panel_height());
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
