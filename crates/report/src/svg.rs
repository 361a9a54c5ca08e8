//! A figure as SVG: a picture of a given width, in the fonts of the reader.

use plotters::prelude::*;

use crate::{
    Figure, ReportError, Width,
    drawing::{PX, Sheet},
    helvetica::text_width,
    picture::Picture,
};

/// The SVG text of a figure.
///
/// # Errors
/// [`ReportError::Render`] with the figure's id.
pub fn render(figure: &Figure, width: Width) -> Result<String, ReportError> {
    let drawn = drawn(&Sheet::new(figure, width), width);
    drawn.map_err(|error| ReportError::render(&figure.id, &*error))
}

/// The SVG text of a picture of its own width.
pub(crate) fn picture(picture: &impl Picture) -> Result<String, ReportError> {
    let width = Width::px(f64::from(picture.size().0) / f64::from(PX));
    drawn(picture, width).map_err(|error| ReportError::render(picture.title(), &*error))
}

fn drawn(picture: &impl Picture, width: Width) -> Result<String, Box<dyn std::error::Error>> {
    let (across, down) = picture.size();
    let mut text = String::new();
    {
        let size = (across.unsigned_abs(), down.unsigned_abs());
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        picture.draw(&root)?;
        root.present()?;
    }
    Ok(sized(&with_text_lengths(&text), (across, down), width, picture.title()))
}

/// Says of every text how wide it is in Helvetica, so that a reader without that font, whose own
/// may be wider, draws it as wide and cuts nothing off.
fn with_text_lengths(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(begin) = rest.find("<text ") {
        let (before, element) = rest.split_at(begin);
        out.push_str(before);
        let Some((tag, after)) = element.split_once('>') else {
            rest = element;
            break;
        };
        let words = after.split("</text>").next().unwrap_or_default().trim();
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        let words = words.replace("&apos;", "'").replace("&amp;", "&");
        let size = tag.split("font-size=\"").nth(1).and_then(|text| text.split('"').next());
        let size: f64 = size.and_then(|size| size.parse().ok()).unwrap_or_default();
        let wide = text_width(&words, tag.contains("font-weight=\"bold\"")) * size / 1000.0;
        out.push_str(tag);
        if wide >= 1.0 {
            out.push_str(&format!(" textLength=\"{wide:.0}\" lengthAdjust=\"spacingAndGlyphs\""));
        }
        out.push('>');
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Gives the picture its size on paper and its name, and rounds the corners of lines, which else
/// grow spikes.
fn sized(text: &str, (across, down): (i32, i32), width: Width, title: &str) -> String {
    let drawn = format!("width=\"{across}\" height=\"{down}\"");
    let (across, down) = width.attributes(f64::from(down) / f64::from(PX));
    let paper = format!("width=\"{across}\" height=\"{down}\" stroke-linejoin=\"round\"");
    let named = format!(
        "role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>",
        escaped(title)
    );
    let end = "xmlns=\"http://www.w3.org/2000/svg\">";
    text.replacen(&drawn, &paper, 1).replacen(end, &named, 1)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Panel, Series};

    fn figure(series: Series) -> Figure {
        Figure::new("f", "T <&>", Axis::new("time", "s"))
            .panel(Panel::new(Axis::new("cwnd", "packets")).with(series))
    }

    #[test]
    fn text_is_escaped_and_the_size_is_that_of_the_paper() {
        let figure = figure(Series::line("a<b", vec![(0.0, 1.0), (1.0, 2.0)]))
            .subtitle("40Mbps, profile <linux>");
        let svg = render(&figure, Width::default()).unwrap();
        assert!(svg.contains("<title>T &lt;&amp;&gt;</title>") && svg.contains("a&lt;b"), "{svg}");
        assert!(svg.contains("40Mbps, profile &lt;linux&gt;"), "{svg}");
        assert!(svg.starts_with("<svg width=\"720\""), "{}", &svg[..80]);
        assert!(svg.contains("viewBox=\"0 0 7200 "), "{}", &svg[..120]);
        let column = render(&figure, "88mm".parse().unwrap()).unwrap();
        assert!(column.starts_with("<svg width=\"88mm\" height=\""), "{}", &column[..80]);
        assert!(column.contains("viewBox=\"0 0 3326 "), "{}", &column[..140]);
    }

    #[test]
    fn a_text_is_as_wide_as_in_the_font_it_was_laid_out_for() {
        let figure = figure(Series::line("a<b & c", vec![(0.0, 1.0), (1.0, 2.0)]));
        let svg = render(&figure, Width::default()).unwrap();
        assert_eq!(svg.matches("<text ").count(), svg.matches(" textLength=\"").count());
        // The axis's name in 12 px, by the metrics of Helvetica, in tenths of a pixel.
        let wide = text_width("cwnd (packets)", false) * 0.12;
        let named = format!("textLength=\"{wide:.0}\" lengthAdjust=\"spacingAndGlyphs\">\ncwnd (p");
        assert!(svg.contains(&named), "{wide} {svg}");
        let legend = format!("textLength=\"{:.0}\"", text_width("a<b & c", false) * 0.12);
        assert!(svg.contains(&legend), "{legend}");
    }

    #[test]
    fn figures_without_points_panels_or_range_still_make_a_file() {
        for points in [vec![], vec![(1.0, 0.0)], vec![(f64::NAN, f64::INFINITY)]] {
            render(&figure(Series::line("a", points)), Width::default()).unwrap();
        }
        render(&Figure::new("f", "no panel", Axis::new("x", "")), Width::default()).unwrap();
    }
}
