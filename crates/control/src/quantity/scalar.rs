//! Rate, time, size and fraction: one integer each.

use std::fmt;
use std::str::FromStr;

use super::number::{Kind, QuantityError, show};

/// A rate in bits per second, 1 bit/s to 1 Tbit/s: `40Mbps`, `40Mbit/s`, `9600bps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bits` per second, without a range check.
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match RATE.read(text)? {
            0 => Err(RATE.error("a rate of zero carries nothing")),
            bits => Ok(Self(bits)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, &[("Gbps", GIGA), ("Mbps", MEGA), ("kbps", KILO), ("bps", 1)])
    }
}

/// A time span in nanoseconds, 0 to 24 h: `100ms`, `0.5s`, `20min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// `ns` nanoseconds, without a range check.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// `ms` milliseconds, without a range check.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * MEGA)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds, for printing only.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl FromStr for Time {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        TIME.read(text).map(Self)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        show(f, self.0, &[("s", GIGA), ("ms", MEGA), ("us", KILO), ("ns", 1)])
    }
}

/// A size in bytes, 0 to 1 PB: `1000B`, `64KiB` (binary), `5MB` (decimal).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// `bytes` bytes, without a range check.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        SIZE.read(text).map(Self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Packet sizes read best as plain bytes.
        let units = if self.0 < 10_000 { &SIZE_SHOWN[6..] } else { SIZE_SHOWN };
        show(f, self.0, units)
    }
}

/// A share of packets in parts per billion, 0 to under 100 % as it is written: `0.1%`, `100ppm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fraction(u64);

impl Fraction {
    /// No packet.
    pub const ZERO: Self = Self(0);

    /// Every packet.
    pub const ALL: Self = Self(100 * PERCENT);

    /// `ppb` parts per billion, without a range check.
    pub const fn from_ppb(ppb: u64) -> Self {
        Self(ppb)
    }

    /// Parts per billion.
    pub const fn ppb(self) -> u64 {
        self.0
    }
}

impl FromStr for Fraction {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        FRACTION.read(text).map(Self)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 / PERCENT)?;
        let rest = self.0 % PERCENT;
        if rest != 0 {
            write!(f, ".{}", format!("{rest:07}").trim_end_matches('0'))?;
        }
        f.write_str("%")
    }
}

const KILO: u64 = 1_000;
const MEGA: u64 = 1_000_000;
const GIGA: u64 = 1_000_000_000;
const TERA: u64 = 1_000_000_000_000;

/// One per cent in parts per billion.
const PERCENT: u64 = 10_000_000;

const RATE: Kind = Kind {
    name: "a rate",
    units: &[
        ("bps", 1),
        ("kbps", KILO),
        ("Mbps", MEGA),
        ("Gbps", GIGA),
        ("Tbps", TERA),
        ("bit/s", 1),
        ("kbit/s", KILO),
        ("Mbit/s", MEGA),
        ("Gbit/s", GIGA),
        ("Tbit/s", TERA),
        ("Kbps", KILO),
        ("Kbit/s", KILO),
    ],
    base: "one bit per second",
    accepted: "9600bps, 500kbps, 40Mbps, 40Mbit/s, 1Gbps",
    most: (TERA, "1Tbps"),
};

const TIME: Kind = Kind {
    name: "a time",
    units: &[
        ("ns", 1),
        ("us", KILO),
        ("µs", KILO),
        ("ms", MEGA),
        ("s", GIGA),
        ("min", 60 * GIGA),
        ("h", 3600 * GIGA),
    ],
    base: "one nanosecond",
    accepted: "5us, 100ms, 0.5s, 20s, 20min, 1h",
    most: (24 * 3600 * GIGA, "24h"),
};

pub(crate) const SIZE: Kind = Kind {
    name: "a size",
    units: SIZE_UNITS,
    base: "one byte",
    accepted: "1000B, 64KiB, 64KB, 5MB, 1GiB",
    most: (1000 * TERA, "1000TB"),
};

/// Decimal units by powers of 1000, binary ones by powers of 1024.
pub(crate) const SIZE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", KILO),
    ("kB", KILO),
    ("MB", MEGA),
    ("GB", GIGA),
    ("TB", TERA),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

const SIZE_SHOWN: &[(&str, u64)] = &[
    ("GB", GIGA),
    ("MB", MEGA),
    ("KB", KILO),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

pub(crate) const FRACTION: Kind = Kind {
    name: "a loss",
    units: &[("%", PERCENT), ("ppm", KILO), ("ppb", 1)],
    base: "one part per billion",
    accepted: "0%, 0.1%, 2.5%, 100ppm",
    most: (100 * PERCENT - 1, "just under 100%"),
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem<T: FromStr<Err = QuantityError> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err().to_string()
    }

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!("40Mbps".parse(), Ok(Rate(40_000_000)));
        assert_eq!("40 Mbit/s".parse(), Ok(Rate(40_000_000)));
        assert_eq!("1.544Mbps".parse(), Ok(Rate(1_544_000)));
        assert_eq!("0.5s".parse(), Ok(Time(500_000_000)));
        assert_eq!("20min".parse(), Ok(Time(1_200_000_000_000)));
        assert_eq!("5us".parse(), Ok(Time(5_000)));
        assert_eq!("0ms".parse(), Ok(Time(0)));
        assert_eq!("64KiB".parse(), Ok(Size(65_536)));
        assert_eq!("32KB".parse(), Ok(Size(32_000)));
        assert_eq!("0.1%".parse(), Ok(Fraction(1_000_000)));
        assert_eq!("100ppm".parse(), Ok(Fraction(100_000)));
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        assert_eq!("0.1s".parse(), Ok(Time(100_000_000)));
        assert_eq!("0.0000001%".parse(), Ok(Fraction(1)));
        assert_eq!("1.50000000000000000000000000s".parse(), Ok(Time(1_500_000_000)));
        assert!(problem::<Time>("0.3ns").contains("not finer than one nanosecond"));
        assert!(problem::<Rate>("0.00000000000000000000001Gbps").contains("not finer"));
    }

    #[test]
    fn a_bare_number_lists_the_accepted_forms() {
        let expected = "a rate needs a unit; accepted: 9600bps, 500kbps, 40Mbps, 40Mbit/s, 1Gbps";
        assert_eq!(problem::<Rate>("40"), expected);
        assert!(problem::<Time>("0").starts_with("a time needs a unit"));
        assert!(problem::<Fraction>("0.1").starts_with("a loss needs a unit"));
    }

    #[test]
    fn what_is_negative_zero_absurd_or_no_number_is_named() {
        assert!(problem::<Time>("-5ms").starts_with("a time cannot be negative"));
        assert!(problem::<Rate>("0Mbps").starts_with("a rate of zero"));
        assert!(problem::<Rate>("2Tbps").starts_with("a rate is at most 1Tbps"));
        assert!(problem::<Time>("25h").starts_with("a time is at most 24h"));
        assert!(problem::<Size>("99999999999999999999B").starts_with("a size is at most 1000TB"));
        assert!(problem::<Fraction>("100%").starts_with("a loss is at most just under 100%"));
        assert!(problem::<Rate>("NaN").starts_with("a rate starts with a number"));
        assert!(problem::<Time>("1.2.3s").starts_with("a time starts with a number"));
        assert!(problem::<Time>("").starts_with("nothing where a time was expected"));
    }

    #[test]
    fn an_unknown_unit_is_answered_by_its_right_spelling_or_by_all_units() {
        assert!(problem::<Rate>("40mbps").contains("unknown unit `mbps`, did you mean `Mbps`"));
        let days = "unknown unit `d`; the units are ns, us, µs, ms, s, min, h; accepted: ";
        assert!(problem::<Time>("10d").starts_with(days));
        assert!(problem::<Size>("10EB").starts_with("unknown unit `EB`; the units are B, KB, "));
        assert!(problem::<Time>("1e3ms").contains("unknown unit `e3ms`"));
        assert!(problem::<Rate>("40Mbp").contains("unknown unit `Mbp`, did you mean `Mbps`"));
        let several = "found several values for a rate; several are for a grid file of";
        assert!(problem::<Rate>("40Mbps,80Mbps").starts_with(several));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(n in 1..=TERA) {
            prop_assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
            prop_assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            prop_assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
            prop_assert_eq!(Fraction(n % (100 * PERCENT)).to_string().parse(),
                Ok(Fraction(n % (100 * PERCENT))));
        }

        #[test]
        fn round_numbers_read_back(n in 0..1000_u64, power in 0..6_u32) {
            let n = n * 10_u64.pow(power);
            prop_assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            prop_assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in ".*", digits in "[-+0-9.]{0,40}[a-zA-Z%/]{0,6}") {
            for text in [text, digits] {
                let _ = text.parse::<Rate>();
                let _ = text.parse::<Time>();
                let _ = text.parse::<Size>();
                let _ = text.parse::<Fraction>();
            }
        }
    }
}
