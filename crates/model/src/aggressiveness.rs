//! How fast slow start grows (section 2.1).

use num_bigint::BigInt;

use crate::error::ModelError;
use crate::packets::Packets;

/// `d`: the packets that must be acknowledged for the window to grow by one. A round trip adds
/// `W/d` to the window `W`, so a *smaller* d is more aggressive. From 1 to
/// [`Aggressiveness::MOST`], not necessarily whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggressiveness {
    numerator: u32,
    denominator: u32,
}

impl Aggressiveness {
    /// Every packet is acknowledged and adds a packet: the window doubles. The paper's most
    /// aggressive case.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Delayed ACKs, one for every other packet: the window grows by half.
    pub const TWO: Self = Self { numerator: 2, denominator: 1 };

    /// The largest d the model takes. Receivers hold back an ACK for two packets or a few.
    pub const MOST: u32 = 64;

    /// Standard TCP with one ACK for so many packets: a packet of growth per ACK.
    ///
    /// # Errors
    /// Zero, or more than [`Aggressiveness::MOST`].
    pub fn delayed_acks(packets_per_ack: u64) -> Result<Self, ModelError> {
        match u32::try_from(packets_per_ack) {
            Ok(d @ 1..=Self::MOST) => Ok(Self { numerator: d, denominator: 1 }),
            _ => Err(ModelError::Aggressiveness {
                found: packets_per_ack.to_string(),
                most: Self::MOST,
            }),
        }
    }

    /// Byte Counting (section 4.2, RFC 3465): an ACK adds what it acknowledges, but at most
    /// `limit` packets. Two are enough to make up for delayed ACKs, so that d is 1 again.
    ///
    /// # Errors
    /// Packets per ACK as in [`Aggressiveness::delayed_acks`]; a limit of zero.
    pub fn byte_counting(packets_per_ack: u64, limit: u32) -> Result<Self, ModelError> {
        let Self { numerator, .. } = Self::delayed_acks(packets_per_ack)?;
        if limit == 0 {
            return Err(ModelError::Zero { key: "limit" });
        }
        Ok(Self { numerator, denominator: limit.min(numerator) })
    }

    /// `d` itself.
    pub fn d(self) -> Packets {
        Packets::new(BigInt::from(self.numerator), BigInt::from(self.denominator))
    }

    /// `alpha = (d + 1)/d`: growth of the window per round trip.
    pub fn alpha(self) -> Packets {
        let grown = u64::from(self.numerator) + u64::from(self.denominator);
        Packets::new(BigInt::from(grown), BigInt::from(self.numerator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: i64, denominator: i64) -> Packets {
        Packets::new(numerator.into(), denominator.into())
    }

    #[test]
    fn one_ack_per_packet_doubles_and_delayed_acks_grow_by_half() {
        assert_eq!(Aggressiveness::delayed_acks(1).unwrap(), Aggressiveness::ONE);
        assert_eq!(Aggressiveness::ONE.alpha(), ratio(2, 1));
        assert_eq!(Aggressiveness::TWO.alpha(), ratio(3, 2));
    }

    #[test]
    fn byte_counting_undoes_delayed_acks_up_to_its_limit() {
        let d = |n, limit| Aggressiveness::byte_counting(n, limit).unwrap().d();
        assert_eq!([d(1, 2), d(2, 2), d(3, 2)], [ratio(1, 1), ratio(1, 1), ratio(3, 2)]);
        assert_eq!(d(2, 1), ratio(2, 1));
    }

    #[test]
    fn what_the_model_does_not_cover_is_refused_with_what_it_does() {
        let message = Aggressiveness::delayed_acks(65).unwrap_err().to_string();
        assert!(message.contains("65") && message.contains("1 to 64"), "{message}");
        assert!(Aggressiveness::delayed_acks(0).is_err());
        assert!(Aggressiveness::byte_counting(2, 0).is_err());
    }
}
