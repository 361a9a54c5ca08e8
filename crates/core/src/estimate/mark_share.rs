//! The share of marked bytes, smoothed once per window of data: DCTCP's `alpha` (RFC 8257 section
//! 3.3).

use crate::event::Ack;
use crate::units::{Bytes, mul_div};
use crate::view::View;

/// `alpha`, and what the window of data at hand has brought so far.
#[derive(Clone, Copy, Debug)]
pub struct MarkShare {
    /// `DCTCP.Alpha`, in parts of `one`.
    alpha: u64,
    /// What stands for an `alpha` of 1.
    one: u64,
    /// Linux's end of a window: any ACK at `window_end`, a duplicate too (`dctcp_update_alpha`).
    /// RFC 8257 wants data beyond `window_end`. That ACK is counted first in both; in Linux before
    /// `tcp_in_ack_event` was moved behind `tcp_clean_rtx_queue` (6.1.192 has it there) it was not.
    by_linux: bool,
    /// `DCTCP.WindowEnd`.
    window_end: Bytes,
    /// `DCTCP.BytesAcked`.
    bytes_acked: Bytes,
    /// `DCTCP.BytesMarked`.
    bytes_marked: Bytes,
    /// Nothing counts before what is outstanding now is acknowledged.
    waits: bool,
}

impl MarkShare {
    /// `alpha` begins at this many 1024ths.
    pub const fn new(of_1024: u64) -> Self {
        Self {
            alpha: of_1024 * (FINE / COARSE),
            one: FINE,
            by_linux: false,
            window_end: Bytes(0),
            bytes_acked: Bytes(0),
            bytes_marked: Bytes(0),
            waits: false,
        }
    }

    /// With Linux's windows, and in its 1024ths, whose rounding makes small shares vanish.
    pub const fn as_linux(of_1024: u64) -> Self {
        Self { alpha: of_1024, one: COARSE, by_linux: true, ..Self::new(0) }
    }

    /// `alpha`, in parts of [`MarkShare::one`].
    pub const fn alpha(&self) -> u64 {
        self.alpha
    }

    /// What stands for an `alpha` of 1.
    pub const fn one(&self) -> u64 {
        self.one
    }

    /// `alpha` is 0, and counts again from the data that leaves from now on.
    pub fn restart(&mut self, view: &View) {
        (self.alpha, self.bytes_acked, self.bytes_marked) = (0, Bytes(0), Bytes(0));
        (self.window_end, self.waits) = (view.snd_nxt, true);
    }

    /// An ACK, for new data or not. If it ends a window of data: the share of that window that was
    /// marked, in parts of [`MarkShare::one`].
    pub fn on_ack(&mut self, ack: &Ack, view: &View) -> Option<u64> {
        self.bytes_acked += ack.credited;
        self.bytes_marked += ack.marked.min(ack.credited);
        let ends = match self.by_linux {
            true => view.acked >= self.window_end,
            false => view.acked > self.window_end,
        };
        if ends { self.end_window(view) } else { None }
    }

    fn end_window(&mut self, view: &View) -> Option<u64> {
        // RFC 8257 section 3.3: `M = BytesMarked / BytesAcked`, `alpha = alpha (1 - g) + g M`.
        let share = mul_div(self.bytes_marked.0, self.one, self.bytes_acked.0.max(1)).min(self.one);
        let counts = !self.waits;
        if counts {
            // `dctcp_update_alpha()`: what the shift rounds to nothing goes at once
            // (`min_not_zero()`).
            let decay = self.alpha >> GAIN_SHIFT;
            self.alpha -= if decay == 0 { self.alpha } else { decay };
            let gain =
                mul_div(self.bytes_marked.0, self.one >> GAIN_SHIFT, self.bytes_acked.0.max(1));
            self.alpha = self.alpha.saturating_add(gain).min(self.one);
        }
        (self.bytes_acked, self.bytes_marked, self.waits) = (Bytes(0), Bytes(0), false);
        self.window_end = view.snd_nxt;
        counts.then_some(share)
    }
}

/// `g` = 1/16 (RFC 8257 section 4.2).
const GAIN_SHIFT: u32 = 4;
const COARSE: u64 = 1 << 10;
const FINE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, MSS};

    /// ACKs up to this position, of which the last is for so many segments, so many of them marked.
    fn acknowledge(share: &mut MarkShare, acked: u64, segments: u64, marked: u64) -> Option<u64> {
        let (acked, snd_nxt) = (MSS * acked, MSS * (acked + 10));
        let view = View { acked, snd_nxt, ..testing::view(10, Bytes::MAX) };
        share.on_ack(&Ack { marked: MSS * marked, ..testing::ack(&view, segments) }, &view)
    }

    /// The first ACK ends the empty first window: 15/16 and 1/16 of what it brought, nothing. The
    /// window that begins with it ends behind segment 11: of ten segments and one, five are marked.
    #[test]
    fn alpha_is_smoothed_once_per_window_of_data() {
        let mut share = MarkShare::new(1_024);
        assert_eq!(acknowledge(&mut share, 1, 1, 0), Some(0));
        assert_eq!(share.alpha(), FINE * 15 / 16);
        assert_eq!(acknowledge(&mut share, 11, 10, 5), None, "up to WindowEnd, not beyond");
        assert_eq!(acknowledge(&mut share, 12, 1, 0), Some(FINE * 5 / 11));
        assert_eq!(share.alpha(), FINE * 225 / 256 + FINE / 16 * 5 / 11);
    }

    /// Linux: 1024, then 960 (the first ACK ends the empty first window). The next ends with the
    /// ACK for segment 11, whose ten count: 960 - 60 + 64 * 5 / 10 = 932. Then none of ten is
    /// marked: 932 - 58 = 874.
    #[test]
    fn in_linux_a_window_ends_at_its_end_with_the_ack_for_it() {
        let mut share = MarkShare::as_linux(1_024);
        acknowledge(&mut share, 1, 1, 0);
        assert_eq!(share.alpha(), 960);
        assert_eq!(acknowledge(&mut share, 11, 10, 5), Some(512));
        assert_eq!(share.alpha(), 932);
        assert_eq!(acknowledge(&mut share, 21, 10, 0), Some(0));
        assert_eq!(share.alpha(), 874);
    }

    /// `dctcp_update_alpha` looks at SND.UNA alone: before the first data is acknowledged a
    /// duplicate ACK ends the empty first window. RFC 8257 section 3.3 wants data beyond
    /// `DCTCP.WindowEnd`.
    #[test]
    fn a_duplicate_ack_at_the_windows_end_ends_it_in_linux_alone() {
        let mut linux = MarkShare::as_linux(1_024);
        assert_eq!((acknowledge(&mut linux, 0, 0, 0), linux.alpha()), (Some(0), 960));
        assert_eq!(
            (acknowledge(&mut linux, 0, 0, 0), linux.alpha()),
            (None, 960),
            "the next ends at 10"
        );
        let mut rfc = MarkShare::new(1_024);
        assert_eq!((acknowledge(&mut rfc, 0, 0, 0), rfc.alpha()), (None, FINE));
    }

    #[test]
    fn what_is_less_than_a_sixteenth_of_1024_vanishes_in_linux() {
        let mut share = MarkShare::as_linux(15);
        acknowledge(&mut share, 1, 1, 0);
        assert_eq!(share.alpha(), 0);
        let mut share = MarkShare::as_linux(16);
        acknowledge(&mut share, 1, 1, 0);
        assert_eq!(share.alpha(), 15);
    }

    #[test]
    fn after_a_restart_what_was_outstanding_does_not_count() {
        let mut share = MarkShare::new(1_024);
        share.restart(&View { snd_nxt: MSS * 10, ..testing::view(10, Bytes::MAX) });
        assert_eq!(acknowledge(&mut share, 10, 10, 10), None);
        assert_eq!((acknowledge(&mut share, 11, 1, 1), share.alpha()), (None, 0));
        assert_eq!(acknowledge(&mut share, 22, 11, 11), Some(FINE));
        assert_eq!(share.alpha(), FINE / 16);
    }
}
