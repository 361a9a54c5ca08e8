//! Slow start (RFC 5681 section 3.1): the window grows by what ACKs acknowledge until it reaches
//! ssthresh.
//!
//! What it believes: the path holds ssthresh. What it does: doubles the window every RTT. The
//! presets are the initial windows TCP has had: one segment (RFC 2001), two (RFC 2581), about 4 KB
//! (RFC 3390, RFC 5681), ten (RFC 6928).
//!
//! How much one ACK may count for is the endpoint's ([`View::slow_start_growth`]), unless the knob
//! `count` says it:
//!
//! - `bytes`: what it acknowledges, one segment at most, as RFC 5681 has it. With an ACK for every
//!   second segment the window grows by half in an RTT, with one for a hundred by a hundredth. An
//!   ACK for part of a segment grows the window by that part, since an ACK costs a receiver
//!   nothing: one that acknowledges each segment in k pieces would make the sender k times as fast
//!   ("ACK division", Savage and others, 1999).
//! - `all`: all that it acknowledges, as Linux has it since 3.13 (`tcp_slow_start()`). QUIC has it
//!   too (RFC 9002 section 7.3.1): there every acknowledged packet counts for itself, so that
//!   `bytes` and `all` are one.
//! - `acks`: the older rule, one segment for every ACK for new data, which a receiver that divides
//!   ACKs can abuse.
//!
//! Between `bytes` and `all` lies RFC 3465, whose L is a knob of `bc`.

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
    count: Count,
}

/// What an ACK counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Count {
    /// What the endpoint says.
    #[default]
    Endpoint,
    /// What it acknowledges, one segment at most.
    Bytes,
    /// All that it acknowledges.
    All,
    /// One segment.
    Acks,
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
        Card::new("slow-start", "twice the window per RTT until ssthresh", "RFC 5681 section 3.1")
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
        let (ack, segment_per_ack) = match self.count {
            Count::Endpoint => return double(ack, view),
            // RFC 5681 section 3.1, equation 2.
            Count::Bytes => (*ack, true),
            // `tcp_slow_start()`.
            Count::All => (*ack, false),
            // RFC 2581 section 3.1: a segment for every ACK for new data.
            Count::Acks => (Ack { acked: view.mss, ..*ack }, true),
        };
        double(&ack, &View { segment_per_ack, ..*view })
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
            .means(
                "growth per ACK: the endpoint's (`segment_per_ack`); what it acknowledges, a \
                 segment at most; all of it; or a segment always",
            )
            .word(words!(
                |p| p.count,
                [
                    "endpoint" = Count::Endpoint,
                    "bytes" = Count::Bytes,
                    "all" = Count::All,
                    "acks" = Count::Acks
                ]
            )),
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

/// The rule itself, which other policies use below their thresholds.
#[inline(always)]
pub(crate) fn double(ack: &Ack, view: &View) -> Step {
    let window = view.window;
    if window.cwnd >= window.ssthresh {
        return window.hold().until_threshold();
    }
    window.grow(view.slow_start_growth(ack)).until_threshold()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Exit;

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
    fn an_ack_of_many_segments_counts_for_one_for_all_or_as_the_endpoint_says() {
        use crate::testing::{MSS, ack, view};
        let grown = |count, segment_per_ack, acked| {
            let view = View { segment_per_ack, ..view(20, MSS * 64) };
            let mut policy = SlowStart::default();
            assert!(policy.set("count", KnobValue::Word(count)));
            let step = policy.step(&ack(&view, acked), &view);
            (step.window.cwnd.0 / MSS.0, step.exit)
        };
        for (endpoint, many) in [(true, (21, None)), (false, (32, None))] {
            assert_eq!(grown("endpoint", endpoint, 12), many);
            assert_eq!(grown("bytes", endpoint, 12), (21, None));
            assert_eq!(grown("all", endpoint, 12), (32, None));
            assert_eq!(grown("acks", endpoint, 12), (21, None));
        }
        // `tcp_slow_start()` does not pass ssthresh.
        assert_eq!(grown("all", true, 44), (64, Some(Exit::Threshold)));
        assert_eq!(grown("all", true, 50), (64, Some(Exit::Threshold)));
    }

    #[test]
    fn what_sack_had_reported_counts_once() {
        use crate::testing::{MSS, ack, view};
        let view = View { segment_per_ack: false, ..view(4, MSS * 32) };
        let of = |credited| Ack { credited: MSS * credited, ..ack(&view, 20) };
        let grown = |credited| view.slow_start_growth(&of(credited)).0 / MSS.0;
        // A gap is filled, and 19 segments beyond it had been reported; or 16 of them.
        assert_eq!([grown(1), grown(4)], [1, 4]);
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
