//! Quantities with units, as people write them (`40Mbps`, `100ms`, `1bdp`), held as integers.
//!
//! Parsing is exact: decimals are scaled as integers, and what does not come out whole in the base
//! unit is an error rather than a rounding. A bare number is an error that lists the forms.
//!
//! ```
//! use firstflight_control::quantity::Rate;
//!
//! assert_eq!("1.5Mbit/s".parse::<Rate>()?.to_string(), "1500kbps");
//! let problem = "40".parse::<Rate>().unwrap_err().to_string();
//! assert!(problem.starts_with("a rate needs a unit; accepted: 9600bps, "));
//! # Ok::<(), firstflight_control::quantity::QuantityError>(())
//! ```

mod loss;
mod number;
mod scalar;
mod window;

pub use loss::{Bursts, Loss};
pub use number::QuantityError;
pub use scalar::{Fraction, Rate, Size, Time};
pub use window::{Buffer, MarkFrom, Threshold, Window};

/// Text in files and flags: serialised by `Display`, read by `FromStr`.
macro_rules! serde_as_text {
    ($($name:ty),+) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(|error| {
                    serde::de::Error::custom(format_args!("\"{text}\": {error}"))
                })
            }
        }
    )+};
}

serde_as_text!(Rate, Time, Size, Fraction, Loss, Buffer, MarkFrom, Window, Threshold);
