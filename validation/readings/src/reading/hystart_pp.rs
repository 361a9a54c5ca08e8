//! HyStart++, RFC 9406 section 4.2 and 4.3.

use crate::peer::Frame;

/// Slow start, then conservative slow start (CSS).
#[derive(Debug)]
pub(crate) struct HystartPp {
    /// L, packets for which one ACK opens the window.
    limit: f64,
    /// windowEnd: the packet that was next as the round began. The round ends when *it* is
    /// acknowledged.
    window_end: u64,
    /// lastRoundMinRTT.
    last_min: f64,
    /// currentRoundMinRTT.
    current_min: f64,
    /// rttSampleCount.
    samples: u32,
    /// Conservative slow start, while it lasts.
    css: Option<Css>,
    /// Slow start has ended.
    over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Css {
    baseline: f64,
    rounds: u32,
}

impl HystartPp {
    pub(crate) fn new(limit: f64) -> Self {
        Self {
            limit,
            window_end: 0,
            last_min: f64::INFINITY,
            current_min: f64::INFINITY,
            samples: 0,
            css: None,
            over: false,
        }
    }

    /// CSS lasted for its rounds.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// An ACK of so many packets; by how much the window grows.
    pub(crate) fn on_ack(&mut self, frame: &Frame, packets: f64) -> f64 {
        let growth = packets.min(self.limit);
        let growth = if self.css.is_some() { growth / CSS_GROWTH_DIVISOR } else { growth };
        self.current_min = self.current_min.min(frame.rtt() as f64 / 1e6);
        self.samples += 1;
        if self.samples >= N_RTT_SAMPLE {
            self.look();
        }
        // The ACK that ends the round belongs to it.
        if frame.newest().number >= self.window_end {
            self.end_round(frame.next);
        }
        growth
    }

    fn end_round(&mut self, next: u64) {
        if let Some(css) = &mut self.css {
            // The round in which CSS began counts, though it was a part of one.
            css.rounds += 1;
            self.over = css.rounds >= CSS_ROUNDS;
        }
        self.window_end = next;
        (self.last_min, self.current_min) = (self.current_min, f64::INFINITY);
        self.samples = 0;
    }

    fn look(&mut self) {
        match self.css {
            None if self.last_min.is_finite() => {
                let allowed =
                    (self.last_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_min >= self.last_min + allowed {
                    self.css = Some(Css { baseline: self.current_min, rounds: 0 });
                }
            }
            Some(css) if self.current_min < css.baseline => self.css = None,
            _ => {}
        }
    }
}

/// RFC 9406 section 4.3; times in milliseconds.
const MIN_RTT_THRESH: f64 = 4.0;
const MAX_RTT_THRESH: f64 = 16.0;
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
