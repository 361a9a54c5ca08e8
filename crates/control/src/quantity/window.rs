//! Buffers and windows: packets, bytes or a share of the path's BDP.

use std::fmt;
use std::str::FromStr;

use super::number::{Kind, QuantityError};
use super::scalar::{SIZE_UNITS, Size, Time};

/// The room a bottleneck has for waiting packets; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// `500pkt`: 1 to 10^9 packets.
    Packets(u64),
    /// `64KiB`: at least one byte.
    Bytes(u64),
    /// `0.25bdp`, in thousandths of the bandwidth-delay product, 1 to 1,000,000.
    Bdp(u64),
}

/// How much must wait at a link until it marks packets; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkFrom {
    /// `20pkt`: 1 to 10^9 packets.
    Packets(u64),
    /// `0.25bdp`, in thousandths of the bandwidth-delay product, 1 to 1,000,000.
    Bdp(u64),
    /// `1ms`: as much as the link sends in this time.
    Time(Time),
}

impl FromStr for MarkFrom {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if let Ok(time) = text.parse::<Time>() {
            return if time > Time::ZERO {
                Ok(Self::Time(time))
            } else {
                Err(MARK_FROM.error("a threshold of zero marks everything"))
            };
        }
        match amount(&MARK_FROM, text, "a threshold of zero marks everything")? {
            Window::Packets(n) => Ok(Self::Packets(n)),
            Window::Bdp(n) => Ok(Self::Bdp(n)),
            Window::Bytes(_) => Err(MARK_FROM.error("a link marks by packets waiting")),
        }
    }
}

impl fmt::Display for MarkFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(n) => Window::Packets(n).fmt(f),
            Self::Bdp(n) => Window::Bdp(n).fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl FromStr for Buffer {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Ok(match amount(&BUFFER, text, "a buffer of zero holds nothing")? {
            Window::Packets(n) => Self::Packets(n),
            Window::Bytes(n) => Self::Bytes(n),
            Window::Bdp(n) => Self::Bdp(n),
        })
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(n) => Window::Packets(n),
            Self::Bytes(n) => Window::Bytes(n),
            Self::Bdp(n) => Window::Bdp(n),
        }
        .fmt(f)
    }
}

/// A congestion or receiver window, at least one packet or byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// `10pkt`: 1 to 10^9 packets.
    Packets(u64),
    /// `64KiB`: at least one byte.
    Bytes(u64),
    /// `1bdp`, in thousandths of the path's bandwidth-delay product, 1 to 1,000,000.
    Bdp(u64),
}

impl Window {
    /// The window in bytes, with packets of `packet` bytes of payload; saturates. `bdp` gives the
    /// packets of so many thousandths of the path's bandwidth-delay product.
    pub fn bytes(self, packet: Size, bdp: impl Fn(u64) -> u64) -> u64 {
        match self {
            Self::Packets(n) => n.saturating_mul(packet.bytes()),
            Self::Bytes(n) => n,
            Self::Bdp(milli) => bdp(milli).max(1).saturating_mul(packet.bytes()),
        }
    }
}

impl FromStr for Window {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        amount(&WINDOW, text, "a window of zero sends nothing")
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(n) => write!(f, "{n}pkt"),
            Self::Bytes(n) => write!(f, "{}", Size::from_bytes(n)),
            Self::Bdp(milli) => write_bdp(f, milli),
        }
    }
}

/// An initial ssthresh: a window, or none yet (RFC 5681 section 3.1: "arbitrarily high").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Threshold {
    /// `none` (also read: `unlimited`): slow start ends only by loss or by the policy.
    None,
    /// `32pkt`, `64KiB`.
    At(Window),
}

impl FromStr for Threshold {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "none" | "unlimited" => Ok(Self::None),
            text => text.parse().map(Self::At).map_err(|error: QuantityError| QuantityError {
                accepted: "32pkt, 64KiB, 64KB, 1bdp, none",
                problem: error.problem,
            }),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::At(window) => write!(f, "{window}"),
        }
    }
}

/// `1bdp` or `0.25bdp`.
fn write_bdp(f: &mut fmt::Formatter<'_>, milli: u64) -> fmt::Result {
    write!(f, "{}", milli / 1000)?;
    if !milli.is_multiple_of(1000) {
        let thousandths = format!("{:03}", milli % 1000);
        write!(f, ".{}", thousandths.trim_end_matches('0'))?;
    }
    f.write_str("bdp")
}

/// Reads packets or a share of the BDP when the unit says so, else bytes. `kind` gives the words of
/// errors, `zero` those for an amount of nothing.
fn amount(kind: &Kind, text: &str, zero: &str) -> Result<Window, QuantityError> {
    let (number, unit) = kind.split(text)?;
    let window = match unit {
        "bdp" | "BDP" => {
            let bdp = Kind { units: &[("bdp", 1000)], base: "0.001bdp", most: MOST_BDP, ..*kind };
            Window::Bdp(bdp.read(&format!("{number}bdp"))?)
        }
        "pkt" | "pkts" | "packet" | "packets" => {
            let packets =
                Kind { units: &[("pkt", 1)], base: "one packet", most: MOST_PACKETS, ..*kind };
            Window::Packets(packets.read(&format!("{number}pkt"))?)
        }
        _ => Window::Bytes(kind.read(&format!("{number}{unit}"))?),
    };
    match window {
        Window::Packets(0) | Window::Bytes(0) | Window::Bdp(0) => Err(kind.error(zero)),
        window => Ok(window),
    }
}

/// The largest buffer or window: about 10 s of packets of 1000 bytes at 1 Tbit/s.
const MOST_PACKETS: (u64, &str) = (1_000_000_000, "1000000000pkt");
const MOST_BYTES: (u64, &str) = (1_000_000_000_000, "1TB");
const MOST_BDP: (u64, &str) = (1_000_000, "1000bdp");

const BUFFER: Kind = Kind {
    name: "a buffer",
    units: SIZE_UNITS,
    base: "one byte",
    accepted: "500pkt, 64KiB, 64KB, 1bdp, 0.25bdp",
    most: MOST_BYTES,
};

const MARK_FROM: Kind =
    Kind { name: "a marking threshold", accepted: "20pkt, 0.25bdp, 1ms", ..BUFFER };

const WINDOW: Kind = Kind {
    name: "a window",
    units: SIZE_UNITS,
    base: "one byte",
    accepted: "10pkt, 64KiB, 64KB, 1bdp",
    most: MOST_BYTES,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buffers_read_in_packets_bytes_and_bdp() {
        assert_eq!("500pkt".parse(), Ok(Buffer::Packets(500)));
        assert_eq!("1 packet".parse(), Ok(Buffer::Packets(1)));
        assert_eq!("64KiB".parse(), Ok(Buffer::Bytes(65_536)));
        assert_eq!("0.25bdp".parse(), Ok(Buffer::Bdp(250)));
        assert_eq!("1bdp".parse(), Ok(Buffer::Bdp(1000)));
    }

    #[test]
    fn a_buffer_without_unit_or_of_zero_or_too_fine_is_refused() {
        let problem = |text: &str| text.parse::<Buffer>().unwrap_err().to_string();
        let accepted = "accepted: 500pkt, 64KiB, 64KB, 1bdp, 0.25bdp";
        assert_eq!(problem("500"), format!("a buffer needs a unit; {accepted}"));
        assert_eq!(problem("0bdp"), format!("a buffer of zero holds nothing; {accepted}"));
        assert!(problem("0pkt").starts_with("a buffer of zero"));
        assert!(problem("0.0001bdp").starts_with("a buffer is not finer than 0.001bdp"));
        assert!(problem("1.5pkt").starts_with("a buffer is not finer than one packet"));
        assert!(problem("2000bdp").starts_with("a buffer is at most 1000bdp"));
        assert!(problem("-1pkt").starts_with("a buffer cannot be negative"));
    }

    #[test]
    fn a_link_marks_from_packets_a_share_of_the_bdp_or_a_time_on() {
        assert_eq!("20pkt".parse(), Ok(MarkFrom::Packets(20)));
        assert_eq!("0.25bdp".parse(), Ok(MarkFrom::Bdp(250)));
        assert_eq!("1ms".parse(), Ok(MarkFrom::Time(Time::from_ms(1))));
        assert_eq!("500us".parse::<MarkFrom>().unwrap().to_string(), "500us");
        let problem = |text: &str| text.parse::<MarkFrom>().unwrap_err().to_string();
        let accepted = "accepted: 20pkt, 0.25bdp, 1ms";
        for zero in ["0ms", "0pkt", "0bdp"] {
            assert_eq!(problem(zero), format!("a threshold of zero marks everything; {accepted}"));
        }
        assert_eq!(problem("64KiB"), format!("a link marks by packets waiting; {accepted}"));
        assert_eq!(problem("20"), format!("a marking threshold needs a unit; {accepted}"));
    }

    #[test]
    fn a_threshold_may_be_absent_but_a_window_may_not() {
        assert_eq!("none".parse(), Ok(Threshold::None));
        assert_eq!("unlimited".parse(), Ok(Threshold::None));
        assert_eq!("32pkt".parse(), Ok(Threshold::At(Window::Packets(32))));
        assert!("none".parse::<Window>().is_err());
        assert!("0pkt".parse::<Window>().is_err());
        assert!("32".parse::<Threshold>().unwrap_err().to_string().ends_with("none"));
    }

    #[test]
    fn a_window_in_packets_or_bdp_is_so_many_payloads() {
        let packet = Size::from_bytes(1460);
        let bytes = |text: &str| {
            let window: Window = text.parse().unwrap();
            window.bytes(packet, |milli| 500 * milli / 1000)
        };
        assert_eq!(bytes("2pkt"), 2920);
        assert_eq!(bytes("32KB"), 32_000);
        assert_eq!(bytes("0.5bdp"), 250 * 1460);
        assert_eq!(bytes("0.001bdp"), 1460, "a packet at least");
        assert!("0bdp".parse::<Window>().unwrap_err().to_string().contains("sends nothing"));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(n in 1..=1_000_000_u64) {
            for buffer in [Buffer::Packets(n), Buffer::Bytes(n), Buffer::Bdp(n)] {
                prop_assert_eq!(buffer.to_string().parse(), Ok(buffer));
            }
            let time = MarkFrom::Time(Time::from_ns(n));
            for from in [MarkFrom::Packets(n), MarkFrom::Bdp(n), time] {
                prop_assert_eq!(from.to_string().parse(), Ok(from));
            }
            for window in [Window::Packets(n), Window::Bytes(n), Window::Bdp(n)] {
                prop_assert_eq!(window.to_string().parse(), Ok(window));
                let threshold = Threshold::At(window);
                prop_assert_eq!(threshold.to_string().parse(), Ok(threshold));
            }
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in ".*", digits in "[-0-9.]{0,30}[a-zA-Z]{0,4}") {
            for text in [text, digits] {
                let _ = text.parse::<Buffer>();
                let _ = text.parse::<MarkFrom>();
                let _ = text.parse::<Window>();
                let _ = text.parse::<Threshold>();
            }
        }
    }
}
