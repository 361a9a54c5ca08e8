//! ACK frames of QUIC: what a frame acknowledges is reported to the sender packet by packet.
//!
//! In QUIC the window grows by what was acknowledged, however many packets a frame covers (RFC 9002
//! section 7.3.1). What left before the last recovery period began does not open it (section
//! 7.3.2): it counts as acknowledged with the packet that ends the period, like data that TCP's
//! cumulative ACK covers late, or at once where a policy sets the window of the period.

use crate::event::Ack;
use crate::pair::Policies;
use crate::sender::Sender;
use crate::units::{Bytes, Span};

/// How long a receiver of QUIC holds an ACK back at most where it does not say it (`max_ack_delay`,
/// RFC 9000 section 18.2).
pub const MAX_ACK_DELAY: Span = Span::from_millis(25);

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
        let share = self.bytes / self.packets;
        self.packets -= 1;
        self.bytes -= share;
        share
    }
}

impl<T: Copy + PartialOrd> Period<T> {
    /// Before the first.
    pub const NONE: Self = Self { began: None, withholds: false, withheld: Bytes(0) };

    /// Whether the period began when, or after, what left at `sent` left.
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

/// A transport that reports ACK frames to its sender, by the clock `T`.
pub trait Reports<T> {
    /// The policies of the sender.
    type Policies: Policies;

    /// The sender to which the frame is reported.
    fn sender(&mut self) -> &mut Sender<Self::Policies>;

    /// The last recovery period.
    fn period(&mut self) -> &mut Period<T>;

    /// Reports one ACK to the sender. Where that begins another period, as the first ACK of a frame
    /// with marks does, [`Reports::period`] is up to date when this returns.
    fn report(&mut self, ack: &Ack);

    /// Reports `frame` packet by packet; `ack` holds everything but [`Ack::acked`] and
    /// [`Ack::to_come`], and is changed from one packet to the next.
    ///
    /// The frame counts as delivered, and is a sample, with the first packet; the others continue
    /// it ([`Ack::continues`]). What left before the period comes first, then what left after,
    /// which ends the recovery. Where the marks of the frame have begun another period, all that it
    /// still has to report left before that.
    #[inline]
    fn report_frame(&mut self, ack: &mut Ack, frame: &Frame)
    where
        T: Copy + PartialOrd,
    {
        let began = self.period().began;
        ack.to_come = Bytes(frame.before.bytes) + Bytes(frame.after.bytes);
        if frame.before.packets > 0 {
            report_before(self, ack, frame.before, began);
        }
        if frame.after.packets > 0 {
            if self.sender().view().recovering {
                self.sender().on_recovered(None);
            }
            report_packets(self, ack, frame.after, began);
        }
        if !ack.continues {
            // Every packet is withheld: an ACK that acknowledges nothing.
            self.report(ack);
        }
    }
}

/// Reports what left before the last recovery period began, or withholds it.
#[cold]
fn report_before<T: Copy + PartialOrd>(
    to: &mut (impl Reports<T> + ?Sized),
    ack: &mut Ack,
    before: Count,
    began: Option<T>,
) {
    let period = to.period();
    if !period.withholds {
        return report_packets(to, ack, before, began);
    }
    period.withheld += Bytes(before.bytes);
    ack.to_come -= Bytes(before.bytes);
}

/// Reports packets of a frame that came in the period that `began` then.
#[inline(always)]
fn report_packets<T: Copy + PartialOrd>(
    to: &mut (impl Reports<T> + ?Sized),
    ack: &mut Ack,
    mut left: Count,
    began: Option<T>,
) {
    while left.packets > 0 {
        let period = to.period();
        if period.withholds && period.began != began {
            period.withheld += Bytes(left.bytes);
            return;
        }
        if ack.continues {
            (ack.credited, ack.rtt, ack.sample, ack.packet) = (Bytes(0), None, None, None);
        }
        let packet = Bytes(left.take_one());
        ack.to_come -= packet;
        ack.acked = packet + core::mem::take(&mut period.withheld);
        to.report(ack);
        ack.continues = true;
    }
}
