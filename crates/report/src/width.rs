//! How wide a figure is on paper.

use std::{fmt, str::FromStr};

use crate::drawing::PX;

/// The width of a figure as a file: a column of a paper, or a page's 720 pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// The width in CSS pixels, 96 to the inch.
    pixels: f64,
    /// The unit in which it was given.
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Px,
    Mm,
    Cm,
    In,
}

impl Default for Width {
    fn default() -> Self {
        Self { pixels: 720.0, unit: Unit::Px }
    }
}

impl Width {
    /// A width in pixels, of a picture that has one of its own.
    pub(crate) fn px(pixels: f64) -> Self {
        Self { pixels, unit: Unit::Px }
    }

    /// The width in drawing units.
    pub(crate) fn tenths(self) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "between NARROWEST and WIDEST")]
        let units = (self.pixels * f64::from(PX)).round() as i32;
        units
    }

    /// Width and height as attributes of an SVG, of a picture so many pixels high.
    pub(crate) fn attributes(self, height: f64) -> (String, String) {
        let length = |pixels: f64| {
            let value = format!("{:.2}", pixels / self.unit.pixels());
            let value = value.trim_end_matches('0').trim_end_matches('.');
            format!("{value}{}", if self.unit == Unit::Px { "" } else { self.unit.name() })
        };
        (length(self.pixels), length(height))
    }
}

impl Unit {
    const ALL: [Self; 4] = [Self::Px, Self::Mm, Self::Cm, Self::In];

    fn name(self) -> &'static str {
        match self {
            Self::Px => "px",
            Self::Mm => "mm",
            Self::Cm => "cm",
            Self::In => "in",
        }
    }

    /// CSS pixels per unit.
    fn pixels(self) -> f64 {
        match self {
            Self::Px => 1.0,
            Self::Mm => 96.0 / 25.4,
            Self::Cm => 96.0 / 2.54,
            Self::In => 96.0,
        }
    }
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = |unit: &Unit| Some((text.strip_suffix(unit.name())?.trim_end(), *unit));
        let Some((number, unit)) = Unit::ALL.iter().find_map(parts) else {
            return Err(format!("a width with its unit is wanted; accepted: {ACCEPTED}"));
        };
        let value: f64 =
            number.parse().map_err(|_| format!("not a width; accepted: {ACCEPTED}"))?;
        let pixels = value * unit.pixels();
        if !(NARROWEST..=WIDEST).contains(&pixels) {
            return Err("out of range; accepted: 60mm to 500mm".to_owned());
        }
        Ok(Self { pixels, unit })
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.pixels / self.unit.pixels(), self.unit.name())
    }
}

const ACCEPTED: &str = "88mm, 18cm, 3.5in, 720px";
/// 60 mm and 500 mm, with room for what rounding does to them.
const NARROWEST: f64 = 226.0;
const WIDEST: f64 = 1_890.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_carry_their_unit_into_the_file() {
        let attributes = |text: &str| text.parse::<Width>().unwrap().attributes(96.0);
        assert_eq!(attributes("88mm"), ("88mm".to_owned(), "25.4mm".to_owned()));
        assert_eq!(attributes("3.5in"), ("3.5in".to_owned(), "1in".to_owned()));
        assert_eq!(attributes("720px"), ("720".to_owned(), "96".to_owned()));
        assert_eq!("720px".parse(), Ok(Width::default()));
    }

    #[test]
    fn what_is_no_width_is_answered_with_what_is() {
        for text in ["88", "mm", "-88mm", "1mm", "9m", "nanmm", "infpx", "501mm"] {
            let problem = text.parse::<Width>().unwrap_err();
            assert!(problem.contains("accepted: "), "{text}: {problem}");
        }
    }
}
