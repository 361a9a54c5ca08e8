//! Figures and tables as text for a terminal or a log.
//!
//! Curves are told apart by colour where there is colour; else by letters, unless there is but one.

use std::{env, fmt::Write as _};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Grid, Width, presets,
};

use crate::{
    Align, Cell, Figure, Panel, Series, Style, Table, Verdict,
    palette::{Slots, legend},
    path::{pieces, stairs},
    raster::{Raster, braille},
    span::{Span, tick_label},
    wrapped,
};

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its width, in columns of characters.
    pub width: usize,
    /// Whether colours may be used.
    pub color: bool,
    /// Whether characters beyond ASCII may be used.
    pub unicode: bool,
}

impl Screen {
    /// No colours and no characters beyond ASCII.
    pub fn plain(width: usize) -> Self {
        Self { width: width.min(WIDEST), color: false, unicode: false }
    }

    /// What the stream shows: colours as the program's global choice says, and if it leaves that
    /// open on a terminal unless `NO_COLOR` is set and anywhere if `CLICOLOR_FORCE` is; characters
    /// beyond ASCII if the locale is UTF-8, and 100 columns where no width is known.
    pub fn of(stream: &impl RawStream) -> Self {
        let terminal = stream.is_terminal();
        let measured = terminal.then(terminal_size::terminal_size).flatten();
        let stated = || env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = measured.map(|(width, _)| usize::from(width.0)).or_else(stated);
        Self {
            width: width.unwrap_or(100).min(WIDEST),
            color: AutoStream::choice(stream) != ColorChoice::Never,
            unicode: cfg!(windows) || locale_is_utf8(),
        }
    }
}

fn locale_is_utf8() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.into_iter().filter_map(|name| env::var(name).ok()).find(|v| !v.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// The narrowest drawing, in columns; on narrower screens lines are too long.
const NARROWEST: usize = 40;
/// The widest drawing, in columns: wider ones are hard to read.
const WIDEST: usize = 1_000;
/// Rows of a figure's only panel, and of each of several.
const ROWS: (usize, usize) = (16, 8);
/// Longer words may be broken to make a table fit.
const LONGEST: u16 = 24;
/// Points per series: more than the widest screen has dots.
const POINTS: usize = 2_000;
/// Okabe and Ito's palette among the 256 colours of terminals.
const COLORS: [u8; 7] = [32, 166, 36, 175, 214, 74, 185];
const GREY: u8 = 245;
/// The characters that stand for each slot where there is no colour: of its curve, and of the
/// published values beside it.
const LETTERS: [char; 7] = ['*', 'o', '+', 'x', '#', '@', '%'];
const REFERENCES: [char; 7] = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/// The text of a figure, with a line break at its end.
pub fn figure(figure: &Figure, screen: Screen) -> String {
    let pen = Pen::of(figure, screen);
    let conditions = match figure.subtitle.as_str() {
        "" => String::new(),
        subtitle => wrapped(subtitle, screen.width.max(NARROWEST), "  "),
    };
    let head = heading(&figure.title, screen);
    let mut text = format!("{head}{conditions}{}\n", pen.legend(figure));
    let spans: Vec<Span> = figure.panels.iter().map(Span::of_y).collect();
    let rows = if figure.panels.len() == 1 { ROWS.0 } else { ROWS.1 };
    let ticks = |span: &Span| span.ticks(rows / 2);
    let labels = spans.iter().flat_map(|span| ticks(span).into_iter().map(tick_label));
    let margin = labels.map(|label| label.len()).max().unwrap_or(1) + 1;
    let columns = screen.width.max(NARROWEST) - margin - 2;
    let x = Span::of_x(&figure.x, &figure.panels);
    for (panel, y) in figure.panels.iter().zip(&spans) {
        let _ = writeln!(text, "\n{}", panel.y.label());
        let raster = pen.draw(panel, &x, y, (columns, rows));
        let marks: Vec<_> = ticks(y).iter().map(|tick| row_of(*tick, y, rows)).collect();
        for row in 0..rows {
            let mark = marks.iter().find(|(place, _)| *place == row);
            let label = mark.map_or("", |(_, label)| label);
            let line = pen.row(&raster, row);
            let _ = writeln!(text, "{label:>margin$}{}{line}", pen.edge(mark.is_some()));
        }
        let _ = writeln!(text, "{:margin$}{}", "", pen.floor(columns));
    }
    let _ = writeln!(text, "{:margin$} {}", "", x_labels(&x, columns));
    let _ = writeln!(text, "{:margin$} {:^columns$}", "", figure.x.label());
    text.lines().map(str::trim_end).fold(String::new(), |text, line| text + line + "\n")
}

/// The text of a table, with a line break at its end. Wide cells are wrapped to fit the screen.
pub fn table(table: &Table, screen: Screen) -> String {
    let rule = LineStyle::none().fill(if screen.unicode { '─' } else { '-' });
    let rule = rule.junction(if screen.unicode { '─' } else { '-' });
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING.header_separator(rule))
        .set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(screen.width.max(NARROWEST)).unwrap_or(u16::MAX));
    grid.set_header(table.columns.iter().map(|column| clipped(column.label())));
    for row in &table.rows {
        grid.add_row(row.iter().map(|cell| words(cell, screen)));
    }
    for (index, head) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        let whole = |text: &str| u16::try_from(text.chars().count() + 1).unwrap_or(u16::MAX);
        let needed = cells.map(|cell| match cell {
            // A sign without its word, or in another line, is no verdict.
            Cell::Verdict(_) => whole(&words(cell, screen)),
            _ => longest_word(&words(cell, screen)),
        });
        let longest = needed.chain([longest_word(&head.label())]).max().unwrap_or(0);
        let Some(column) = grid.column_mut(index) else { continue };
        column.set_padding((0, 1));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(longest)));
        if head.align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let drawn = grid.trim_fmt().replace(JOINED, " ");
    let mut text = format!("{}{drawn}\n", heading(&table.title, screen));
    if screen.color {
        for verdict in Verdict::ALL {
            let shown = words(&Cell::Verdict(verdict), screen);
            text = text.replace(&shown, &painted(&shown, hue(verdict)));
        }
    }
    text
}

fn words(cell: &Cell, screen: Screen) -> String {
    match cell {
        Cell::Verdict(verdict) if screen.unicode => format!("{} {verdict}", verdict.sign()),
        _ => clipped(unbroken(cell)),
    }
}

/// A text that a terminal can hold: the grid counts its characters in 16 bits.
fn clipped(text: String) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// What people read in the cell, with blanks at which no line is broken in what belongs together:
/// a mean and its interval, and words in brackets behind a number or a name.
fn unbroken(cell: &Cell) -> String {
    let text = cell.to_string();
    match cell {
        Cell::Mean(_) => {
            let parts = text.replace(" ± ", &format!("{JOINED}±{JOINED}"));
            let mut depth = 0;
            let joined = parts.chars().map(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                if c == ' ' && depth > 0 { JOINED } else { c }
            });
            joined.collect()
        }
        Cell::Text(_) => text.replace(" *", &format!("{JOINED}*")),
        _ => text,
    }
}

/// The most letters of a cell that stand in one line.
pub fn widest_piece(cell: &Cell) -> usize {
    unbroken(cell).split(' ').map(|word| word.chars().count()).max().unwrap_or(0)
}

/// A blank at which no line is broken.
const JOINED: char = '\u{a0}';

/// The columns that the longest word needs together with what follows it in its cell.
fn longest_word(text: &str) -> u16 {
    let longest = text.split([' ', '\n']).map(|word| word.chars().count()).max().unwrap_or(0);
    u16::try_from(longest).unwrap_or(u16::MAX).min(LONGEST) + 1
}

/// A title in as many lines as it needs, each ending with a line break.
fn heading(title: &str, screen: Screen) -> String {
    let lines = wrapped(title, screen.width.max(NARROWEST), "  ");
    if !screen.color {
        return lines;
    }
    lines.lines().map(|line| format!("\x1b[1m{line}\x1b[0m\n")).collect()
}

fn hue(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => COLORS[2],
        Verdict::Fail => COLORS[1],
        Verdict::RefutedConfirmed => COLORS[3],
        Verdict::Fitted => COLORS[4],
        Verdict::NotRun => GREY,
    }
}

fn painted(text: &str, color: u8) -> String {
    format!("\x1b[38;5;{color}m{text}\x1b[0m")
}

/// Knows how each series of a figure is told apart on the screen.
struct Pen<'a> {
    slots: Slots<'a>,
    screen: Screen,
    letters: bool,
}

impl<'a> Pen<'a> {
    fn of(figure: &'a Figure, screen: Screen) -> Self {
        let crowded = legend(figure).len() > 1;
        let letters = !screen.unicode || (crowded && !screen.color);
        Self { slots: Slots::of(figure), screen, letters }
    }

    /// The number of the pen: a colour slot, or one that is no slot for neutral lines.
    fn number(&self, series: &Series) -> usize {
        self.slots.slot(series).map_or(0, |slot| slot + 1) * 2
            + usize::from(series.style == Style::Reference)
    }

    fn letter(number: usize) -> char {
        match (number / 2, number % 2) {
            (0, _) => '.',
            (slot, 0) => LETTERS[(slot - 1) % LETTERS.len()],
            (slot, _) => REFERENCES[(slot - 1) % REFERENCES.len()],
        }
    }

    fn color(number: usize) -> u8 {
        if number < 2 { GREY } else { COLORS[(number / 2 - 1) % COLORS.len()] }
    }

    fn legend(&self, figure: &Figure) -> String {
        let mut lines = String::new();
        let mut used = 0;
        for series in legend(figure) {
            let number = self.number(series);
            let swatch = match (self.letters, series.style) {
                (true, _) => Self::letter(number).to_string(),
                (false, Style::Reference) => "╌╌".to_owned(),
                (false, Style::Points) => "••".to_owned(),
                (false, _) => "──".to_owned(),
            };
            let width = swatch.chars().count() + 1 + series.name.chars().count();
            if used > 0 {
                let wraps = used + 3 + width > self.screen.width;
                lines.push_str(if wraps { "\n" } else { "   " });
                used = if wraps { 0 } else { used + 3 };
            }
            used += width;
            let swatch =
                if self.screen.color { painted(&swatch, Self::color(number)) } else { swatch };
            let _ = write!(lines, "{swatch} {}", series.name);
        }
        lines
    }

    fn draw(&self, panel: &Panel, x: &Span, y: &Span, size: (usize, usize)) -> Raster {
        let mut raster = Raster::new(size.0, size.1);
        // References first: what was measured stays visible.
        let is_reference = |series: &&Series| series.style == Style::Reference;
        let (references, measured): (Vec<_>, Vec<_>) = panel.series.iter().partition(is_reference);
        for series in references.into_iter().chain(measured) {
            let number = self.number(series);
            let dashed = series.style == Style::Reference && !self.letters;
            for piece in pieces(series, x, y, POINTS) {
                let path = if series.style == Style::Steps { stairs(&piece) } else { piece };
                let path: Vec<_> = path.iter().map(|(a, b)| (x.share(*a), y.share(*b))).collect();
                if series.style == Style::Points || path.len() == 1 {
                    path.iter().for_each(|at| raster.line(*at, *at, false, number));
                    continue;
                }
                path.windows(2).for_each(|ends| raster.line(ends[0], ends[1], dashed, number));
            }
        }
        raster
    }

    /// The characters of a row, colours changing only where the owner does.
    fn row(&self, raster: &Raster, row: usize) -> String {
        let glyph = |dots, number| {
            if self.letters { Self::letter(number) } else { braille(dots) }
        };
        let mut line = String::new();
        let mut last = None;
        for (glyph, owner) in raster.row(row, glyph) {
            if self.screen.color && owner.is_some() && owner != last {
                let _ = write!(line, "\x1b[38;5;{}m", Self::color(owner.unwrap_or(0)));
                last = owner;
            }
            line.push(glyph);
        }
        let line = line.trim_end().to_owned();
        if last.is_some() { line + "\x1b[0m" } else { line }
    }

    fn edge(&self, tick: bool) -> char {
        match (self.screen.unicode, tick) {
            (true, true) => '┤',
            (true, false) => '│',
            (false, true) => '+',
            (false, false) => '|',
        }
    }

    fn floor(&self, columns: usize) -> String {
        let (corner, line) = if self.screen.unicode { ('└', "─") } else { ('+', "-") };
        format!("{corner}{}", line.repeat(columns))
    }
}

/// In which row a tick of the y axis stands, with its label.
fn row_of(tick: f64, y: &Span, rows: usize) -> (usize, String) {
    (dot(1.0 - y.share(tick), rows * 4) / 4, tick_label(tick))
}

/// The tick labels of the x axis, each centred on its place, leaving out what would touch.
fn x_labels(x: &Span, columns: usize) -> String {
    let mut line = String::new();
    for tick in x.ticks(columns / 12) {
        let (place, label) = (dot(x.share(tick), columns * 2) / 2, tick_label(tick));
        let start = place.saturating_sub(label.len() / 2).min(columns - label.len().min(columns));
        if line.is_empty() || start > line.len() {
            line = format!("{line:start$}{label}");
        }
    }
    line
}

/// Which of `count` dots in a row is nearest to the share of their length.
fn dot(share: f64, count: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let dot = (share.clamp(0.0, 1.0) * (count - 1) as f64).round() as usize;
    dot
}

/// Characters of a cell: more than a screen.
const MOST_CHARACTERS: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Column};

    fn rising(names: &[&str]) -> Figure {
        let series = |name: &&str| Series::line(*name, vec![(0.0, 0.0), (10.0, 100.0)]);
        let panel = names
            .iter()
            .fold(Panel::new(Axis::new("cwnd", "packets")), |panel, name| panel.with(series(name)));
        Figure::new("f", "Rising", Axis::new("time", "s")).panel(panel)
    }

    #[test]
    fn a_plain_figure_is_ascii_and_fits_its_width() {
        let text = figure(&rising(&["a", "b"]), Screen::plain(60));
        assert!(text.is_ascii(), "{text}");
        assert!(text.lines().all(|line| line.len() <= 60), "{text}");
        assert!(text.contains("* a   o b"), "{text}");
    }

    #[test]
    fn an_absurd_width_is_cut_to_what_text_can_be_padded_to() {
        let text = figure(&rising(&["a", "b"]), Screen::plain(1_000_000));
        assert!(text.lines().all(|line| line.len() <= WIDEST), "{}", text.len());
    }

    #[test]
    fn a_mean_stays_with_its_interval() {
        let mean = crate::Mean { value: 343.511, half: Some(47.215), decimals: 3, runs: (3, 3) };
        let mut table = Table::new("t", "T", [Column::text("a"), Column::number("drops", "")]);
        table.push(["a name of many words that has to be broken".into(), Cell::Mean(mean)]);
        let text = super::table(&table, Screen::plain(40));
        assert!(text.lines().any(|line| line.ends_with("343.511 ± 47.215")), "{text}");
        assert_eq!(widest_piece(&Cell::Mean(mean)), "343.511 ± 47.215".chars().count());
    }

    #[test]
    fn a_single_curve_needs_no_letters() {
        let screen = Screen { width: 60, color: false, unicode: true };
        let text = figure(&rising(&["a"]), screen);
        assert!(text.contains('⡠') && !text.contains('\x1b'), "{text}");
    }

    #[test]
    fn colours_come_only_where_they_are_wanted_and_always_end() {
        let screen = Screen { width: 60, color: true, unicode: true };
        let text = figure(&rising(&["a", "b"]), screen);
        assert!(text.lines().filter(|line| line.contains('\x1b')).all(|l| l.contains("\x1b[0m")));
        assert!(text.contains("\x1b[38;5;166m"));
    }

    #[test]
    fn ticks_stand_at_both_ends_of_the_curve() {
        let text = figure(&rising(&["a"]), Screen::plain(60));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().any(|line| line.starts_with("   0+*")), "{text}");
        assert!(
            lines.iter().any(|line| line.starts_with(" 100+") && line.ends_with('*')),
            "{text}"
        );
    }

    #[test]
    fn words_of_a_table_are_not_broken() {
        let heads = [Column::text("what"), Column::number("expected", ""), Column::text("verdict")];
        let mut data = Table::new("t", "Claims", heads);
        let what = "mean throughput over the first twenty seconds of the connection";
        data.push([what.into(), Cell::number(1.0, 2), Verdict::RefutedConfirmed.into()]);
        data.title =
            "Every claim of every paper, with its verdict and what was measured".to_owned();
        let text = table(&data, Screen::plain(50));
        assert!(text.contains("expected") && text.contains("refuted-confirmed"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 50), "{text}");
    }

    #[test]
    fn a_name_of_a_hundred_thousand_letters_is_clipped() {
        let long = "hoe(beta=1)+newreno, ".repeat(10_000);
        let mut data = Table::new("t", "Controls", [Column::text(long.as_str())]);
        data.push([long.as_str().into()]);
        assert!(table(&data, Screen::plain(80)).contains("..."));
    }

    #[test]
    fn a_figure_without_points_still_has_axes() {
        let text = figure(&rising(&[]), Screen::plain(80));
        assert!(text.contains("time (s)"), "{text}");
    }
}
