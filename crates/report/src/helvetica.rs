//! How wide a text in Helvetica is, by the metrics that every PDF reader has built in.

/// The width of a text in thousandths of the font's size. A letter beyond ASCII counts as a digit.
pub(crate) fn text_width(text: &str, bold: bool) -> f64 {
    let widths = if bold { &BOLD } else { &REGULAR };
    let width = |letter: char| {
        let place = u32::from(letter).checked_sub(u32::from(' '))?;
        widths.get(usize::try_from(place).ok()?).copied()
    };
    text.chars().map(|letter| f64::from(width(letter).unwrap_or(FIGURE))).sum()
}

const FIGURE: u16 = 556;

/// Adobe's font metrics of Helvetica, from the blank to the tilde.
const REGULAR: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278,
    278, // blank to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

/// Adobe's font metrics of Helvetica Bold, from the blank to the tilde.
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278,
    278, // blank to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, // 0 to ?
    975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, // P to _
    333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, // ` to o
    611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584, // p to ~
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        assert_eq!(text_width("Av0 ", false), 667.0 + 500.0 + 556.0 + 278.0);
        assert_eq!(text_width("~", true), 584.0);
        assert_eq!(text_width("±", false), 556.0);
    }
}
