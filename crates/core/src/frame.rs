//! ACK frames of QUIC: a sender hears of what one acknowledges packet by packet.
//!
//! In QUIC the window grows by what was acknowledged, however many packets a frame covers (RFC 9002
//! section 7.3.1). What left before the last recovery period began does not open it (section
//! 7.3.2): it counts as acknowledged with the packet that ends the period, like data that TCP's
//! cumulative ACK covers late, or at once where a policy sets the window of the period.

use crate::event::Ack;
use crate::pair::Policies;
use crate::sender::Sender;
use crate::units::Bytes;

/// Packets of data, and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many packets.
    pub packets: u64,
    /// Their payload together, in bytes.
    pub bytes: u64,
}

/// What one ACK frame is the first to acknowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Packets that left after the last recovery period began.
    pub after: Count,
    /// Packets that left before.
    pub before: Count,
}

/// The last recovery period (RFC 9002 section 7.3.2), by the clock `T` of the transport.
#[derive(Clone, Copy, Debug)]
pub struct Period<T> {
    began: Option<T>,
    /// What left before does not open the window.
    withholds: bool,
    /// Payload acknowledged since, of what left before, that has not counted yet.
    withheld: Bytes,
}

impl Count {
    /// One packet more.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Takes a packet out, and its share of the payload.
    fn take_one(&mut self) -> u64 {
        let share = if self.packets == 1 { self.bytes } else { self.bytes / self.packets };
        self.packets -= 1;
        self.bytes -= share;
        share
    }

    fn take_all(&mut self) -> u64 {
        core::mem::take(self).bytes
    }
}

impl<T: Copy + PartialOrd> Period<T> {
    /// Before the first.
    pub const NONE: Self = Self { began: None, withholds: false, withheld: Bytes(0) };

    /// What left at `sent` left before the period began.
    #[inline]
    pub fn is_after(&self, sent: T) -> bool {
        self.began.is_some_and(|began| sent <= began)
    }

    /// After a loss or an undo: when the last period began ([`Sender::recovery_began`]), and
    /// whether the window has just been cut, by no start-up that stays in charge.
    pub fn note(&mut self, began: Option<T>, cut: bool) {
        if cut || began != self.began {
            self.withholds = cut;
        }
        self.began = began;
    }

    /// Something acknowledged has not counted yet.
    pub fn has_withheld(&self) -> bool {
        self.withheld > Bytes(0)
    }
}

/// The ACKs that a sender hears of one frame, one after another.
///
/// The frame counts as delivered, and is a sample, with the first; the others continue it
/// ([`Ack::continues`]). What left before the period comes first, then what left after, which ends
/// the recovery.
#[derive(Debug)]
pub struct Parts<T> {
    ack: Ack,
    before: Count,
    after: Count,
    /// The period in which the frame came.
    period: Option<T>,
    /// A packet sent during the period has been reported, which ends it (RFC 9002 section 7.3.2).
    ended: bool,
    told: bool,
}

impl<T: Copy + PartialOrd> Parts<T> {
    /// The parts of `frame`, of which `ack` tells everything but [`Ack::acked`].
    pub fn new(ack: Ack, frame: &Frame, period: &Period<T>) -> Self {
        let Frame { before, after } = *frame;
        Self { ack, before, after, period: period.began, ended: false, told: false }
    }

    /// The next ACK to report. Where the marks of the frame have begun another period, all that it
    /// still has to tell of left before that.
    pub fn next<P: Policies>(
        &mut self,
        sender: &mut Sender<P>,
        period: &mut Period<T>,
    ) -> Option<&Ack> {
        if self.told {
            let Ack { credited, rtt, sample, packet, continues, .. } = &mut self.ack;
            (*credited, *rtt, *sample, *packet) = (Bytes(0), None, None, None);
            *continues = true;
        }
        if period.withholds {
            period.withheld += Bytes(self.before.take_all());
        }
        if self.before.packets > 0 {
            self.ack.acked = Bytes(self.before.take_one());
        } else if self.after.packets > 0 {
            if !self.ended && sender.view().recovering {
                sender.on_recovered(None);
            }
            self.ended = true;
            if period.withholds && period.began != self.period {
                period.withheld += Bytes(self.after.take_all());
                return None;
            }
            self.ack.acked = Bytes(self.after.take_one());
        } else {
            // An ACK of its own where every packet is withheld: it acknowledges nothing.
            return (!core::mem::replace(&mut self.told, true)).then_some(&self.ack);
        }
        self.ack.acked += core::mem::take(&mut period.withheld);
        self.told = true;
        Some(&self.ack)
    }
}
