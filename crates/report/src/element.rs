//! Elements of the SVG texts that are written by hand.

use std::fmt::Write as _;

use crate::{drawing::FONT, svg::escaped};

/// The opening of a picture of this size, with its ground.
pub(crate) fn opened(title: &str, width: f64, height: f64) -> String {
    let title = escaped(title);
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{FONT}\" font-size=\"11\" \
         fill=\"{INK}\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    )
}

/// The bold heading of a picture, at this place.
pub(crate) fn heading(text: &mut String, (x, y): (u32, u32), title: &str) {
    let title = escaped(title);
    let _ = writeln!(
        text,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"14\" font-weight=\"bold\">{title}</text>"
    );
}

/// Words at a place, whose anchor is SVG's.
pub(crate) fn label(text: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let words = escaped(words);
    let _ =
        writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

const INK: &str = "#1b1f24";
