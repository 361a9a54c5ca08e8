//! Slow start (RFC 5681 section 3.1): one segment more for every ACK until cwnd reaches ssthresh.
//!
//! What it believes: the path holds ssthresh. What it does: doubles the window every RTT when every
//! segment is acknowledged, and grows by half with delayed ACKs. The presets are the initial
//! windows TCP has had: one segment (RFC 2001), two (RFC 2581), about 4 KB (RFC 3390, RFC 5681),
//! ten (RFC 6928).
//!
//! An ACK for part of a segment grows the window by that part, as RFC 5681 recommends since an ACK
//! costs a receiver nothing: one that acknowledges each segment in k pieces would make the sender
//! k times as fast ("ACK division", Savage and others, 1999). `count=acks` is the older rule, a
//! segment for every ACK for new data, which such a receiver can abuse.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobOf, KnobValue, Knobs, Words, words};
use crate::needs::Needs;
use crate::opening::{IW, SSTHRESH};
use crate::policy::{Observer, Startup, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start with an initial window and an initial ssthresh of its own, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowStart {
    iw: InitialWindow,
    ssthresh: Option<Amount>,
    /// Every ACK counts for a segment.
    counts_acks: bool,
}

/// Where the initial window comes from.
#[derive(Clone, Copy, Debug, Default)]
enum InitialWindow {
    #[default]
    Endpoint,
    Fixed(Amount),
    /// This many segments, but no more than these bytes, and never less than two segments.
    Limited(u64, Bytes),
}

impl Listed for SlowStart {
    const CARD: Card =
        Card::new("slow-start", "one segment more per ACK until ssthresh", "RFC 5681 section 3.1")
            .with("newreno")
            .about(
                "Nothing but the ACKs.",
                "The path holds ssthresh.",
                "Without an ssthresh only a loss tells it that the path is full, a round trip \
                 after the window has passed the BDP and the buffer; by then up to a window is \
                 lost. An ssthresh that is too low leaves a long path to linear growth.",
            )
            .in_kernel("slow_start")
            .knobs(Self::KNOBS);
}

impl Observer for SlowStart {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for SlowStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        let cwnd = match self.iw {
            InitialWindow::Endpoint => default.cwnd,
            InitialWindow::Fixed(iw) => iw.bytes(mss),
            // RFC 3390 section 1, RFC 6928 section 2: `min(k MSS, max(2 MSS, bytes))`.
            InitialWindow::Limited(segments, bytes) => (mss * segments).min(bytes.max(mss * 2)),
        };
        Window { cwnd, ssthresh: self.ssthresh.map_or(default.ssthresh, |it| it.bytes(mss)) }
    }

    #[inline(always)]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // RFC 2581 section 3.1: a segment for every ACK for new data.
        if self.counts_acks {
            return double(&Ack { acked: view.mss, ..*ack }, view);
        }
        double(ack, view)
    }
}

impl Knobs for SlowStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("preset")
            .means(
                "initial window: the endpoint's, or 1, 2, up to 4 or 10 segments as in these RFCs",
            )
            .word(Words {
                all: &["endpoint", "rfc2001", "rfc2581", "rfc3390", "rfc6928"],
                get: |p| {
                    Some(match p.iw {
                        InitialWindow::Limited(4, _) => "rfc3390",
                        InitialWindow::Limited(..) => "rfc6928",
                        _ => "endpoint",
                    })
                },
                set: |p, word| p.iw = preset(word),
            }),
        IW.derived(
            |p| match p.iw {
                InitialWindow::Fixed(iw) => Some(KnobValue::Window(iw)),
                _ => None,
            },
            |p, value| {
                if let KnobValue::Window(iw) = value {
                    p.iw = InitialWindow::Fixed(iw);
                }
            },
        ),
        SSTHRESH.if_set(|p| &mut p.ssthresh),
        Knob::new("count")
            .means("growth per ACK: what it acknowledges, a segment at most; or a segment always")
            .word(words!(|p| p.counts_acks, ["bytes" = false, "acks" = true])),
    ];
}

fn preset(word: &str) -> InitialWindow {
    match word {
        "rfc2001" => InitialWindow::Fixed(Amount::Segments(1)),
        "rfc2581" => InitialWindow::Fixed(Amount::Segments(2)),
        "rfc3390" => InitialWindow::Limited(4, Bytes(4_380)),
        "rfc6928" => InitialWindow::Limited(10, Bytes(14_600)),
        _ => InitialWindow::Endpoint,
    }
}

/// The rule itself, which other policies use below their thresholds: at most one segment an ACK.
#[inline(always)]
pub(crate) fn double(ack: &Ack, view: &View) -> Step {
    let window = view.window;
    if window.cwnd >= window.ssthresh {
        return window.hold().until_threshold();
    }
    // RFC 5681 section 3.1, equation 2: `cwnd += min(N, SMSS)`.
    window.grow(ack.acked.min(view.mss)).until_threshold()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_window(preset: &'static str, mss: u64) -> u64 {
        let mut policy = SlowStart::default();
        assert!(policy.set("preset", KnobValue::Word(preset)));
        policy.open(Window { cwnd: Bytes(7), ssthresh: Bytes::MAX }, Bytes(mss)).cwnd.0
    }

    #[test]
    fn an_ack_for_part_of_a_segment_counts_for_that_part_unless_acks_are_counted() {
        use crate::testing::{MSS, ack, view};
        let view = view(4, MSS * 32);
        let quarter = Ack { acked: MSS / 4, ..ack(&view, 1) };
        let mut policy = SlowStart::default();
        assert_eq!(policy.step(&quarter, &view).window.cwnd, MSS * 4 + MSS / 4);
        assert!(policy.set("count", KnobValue::Word("acks")));
        assert_eq!(policy.step(&quarter, &view).window.cwnd, MSS * 5);
    }

    #[test]
    fn presets_are_the_initial_windows_of_the_rfcs() {
        assert_eq!(first_window("endpoint", 1_000), 7);
        assert_eq!(first_window("rfc2001", 1_460), 1_460);
        assert_eq!(first_window("rfc2581", 1_460), 2_920);
        // RFC 3390: 4 segments of 1000 bytes, 3 of 1460, 2 of 4000.
        assert_eq!(
            [1_000, 1_460, 4_000].map(|mss| first_window("rfc3390", mss)),
            [4_000, 4_380, 8_000]
        );
        assert_eq!(
            [1_000, 1_460, 9_000].map(|mss| first_window("rfc6928", mss)),
            [10_000, 14_600, 18_000]
        );
    }
}
