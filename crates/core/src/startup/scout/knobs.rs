//! What can be chosen of Scout, and what it is by default.

use super::{Full, Resume, Scout, Spread, Train, Verdicts};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, words};
use crate::landing::BETA;
use crate::opening::{Opening, opening_of_own_end};
use crate::units::{Bytes, Span};

impl Default for Scout {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            train_gain: 4 * RATIO_ONE,
            first_window: 2 * RATIO_ONE,
            spacing: SPACING,
            share: 8,
            pass_part: PASS_PART,
            least_room: LEAST_ROOM,
            after_lengths: AFTER_LENGTHS,
            keeps: BETA,
            least_acks: LEAST_ACKS,
            polite: true,
            paces: true,
            reopened: false,
            target: Bytes(0),
            train: Train::FIRST,
            spread: Spread::NEVER,
            after_train: None,
            full: Full::default(),
            landing: None,
            pipe: None,
            verdicts: Verdicts::default(),
            resume: Resume::OFF,
        }
    }
}

impl Knobs for Scout {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("look")
            .means("a train's rate in that of its round, and the largest growth in a round")
            .ratio(3 * RATIO_ONE / 2..=8 * RATIO_ONE, |p| &mut p.train_gain),
        Knob::new("first")
            .means("first window where the RTT is known, in ordinary ones; what is more is spread")
            .ratio(RATIO_ONE..=2 * RATIO_ONE, |p| &mut p.first_window),
        Knob::new("spacing")
            .means("a first window beyond an ordinary one has RTT/spacing packets at most; 0s: any")
            .time(Span(0)..=LONGEST_SPACING, |p| &mut p.spacing),
        Knob::new("share")
            .means("a train is this part of the target: 1/8")
            .count(2..=64, |p| &mut p.share),
        Knob::new("pass")
            .means("a train passes if the RTT rises by no more than this part of its time: 1/8")
            .count(2..=64, |p| &mut p.pass_part),
        Knob::new("room")
            .means("from how much more than the target on a train that slowed down shows room")
            .ratio(RATIO_ONE..=2 * RATIO_ONE, |p| &mut p.least_room),
        Knob::new("behind")
            .means("how far to look behind a train that slowed down, in its lengths; 0: not at all")
            .ratio(0..=8 * RATIO_ONE, |p| &mut p.after_lengths),
        Knob::new("keeps")
            .means("what a landing leaves of what arrived")
            .ratio(RATIO_ONE / 2..=RATIO_ONE, |p| &mut p.keeps),
        Knob::new("acks")
            .means("the fewest ACKs by which a train is judged")
            .count(1..=16, |p| &mut p.least_acks),
        Knob::new("polite")
            .means("the window grows to what the queue behind a train shows to be free, no further")
            .word(words!(|p| p.polite, ["off" = false, "on" = true])),
        Knob::new("pace")
            .means("trains and rounds have rates of their own; off: all leaves as ACKs let it")
            .word(words!(|p| p.paces, ["off" = false, "on" = true])),
        Knob::new("resume")
            .means("what an earlier connection knew of the path is tested by a train (RFC 9959)")
            .word(words!(|p| p.resume.on, ["off" = false, "on" = true])),
    ];
}

/// What a packet of 1500 bytes takes at 10 Mbit/s, to which every household in the UK has a right
/// (Digital Economy Act 2017, section 1).
const SPACING: Span = Span::from_micros(1_200);
/// A packet takes as long at 120 kbit/s.
const LONGEST_SPACING: Span = Span::from_millis(100);
/// A train passes if its ACKs came at 7/8 of its rate or more: `rise <= time/8`.
const PASS_PART: u64 = 8;
/// A train that slowed down shows room from a tenth more than the target on: delayed ACKs of ten
/// segments can be wrong by one.
const LEAST_ROOM: u64 = 1_100_000;
/// A single ACK has a rate, because what left before the train has told the RTT.
const LEAST_ACKS: u64 = 1;
/// Four lengths of a train that slowed down are judged behind it: the prototype's value. An eighth
/// more or less of it makes no difference (papers/scout/README.md).
const AFTER_LENGTHS: u64 = 4_000_000;
