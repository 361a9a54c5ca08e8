//! Numbers of packets: exact, and as floats for people.

use num_bigint::BigInt;
use num_traits::ToPrimitive as _;

/// A number of packets, exact; windows need not be whole.
pub type Packets = num_rational::BigRational;

/// A whole number of packets.
pub(crate) fn whole(packets: u64) -> Packets {
    Packets::from_integer(BigInt::from(packets))
}

/// The number as a float; `f64::MAX` for what is larger than every float.
pub(crate) fn float(packets: &Packets) -> f64 {
    packets.to_f64().unwrap_or(f64::MAX)
}
