//! The start of picoquic's CUBIC and Reno (Huitema, `cc_common.c`, 2026): slow start with a filter
//! of the RTT that forgives jitter, and one of losses.
//!
//! What it believes: jitter shows in the largest RTTs of a few samples, so that only smallest ones
//! above the calmest largest are a queue. What it does with one sample a millisecond at most:
//!
//! ```text
//! ring of the last 7 samples;  base = smallest maximum that the ring has had
//! excess:  the ring's minimum > base + max(base/4, the time to pace one packet)
//! at or below the base:  the count begins anew
//! 7 of them:   leave;  cwnd /= 2                      where base <= 100 ms
//!                      cwnd -= (cwnd - f cwnd)/2      otherwise, f = 100 ms/base up to 610 ms,
//!                                                     610 ms/base beyond
//! loss:  ends it once a mean of lost per packet (gain 1/16) exceeds 15 %
//! ```
//!
//! Published: all of it. Inferred: picoquic takes one-way delays where the packets carry time
//! stamps, and RTTs otherwise; there are only RTTs here. The mean counts what is acknowledged and
//! what is found lost, packet by packet, where picoquic looks back at most 32 packet numbers. The
//! window it raises to half an RTT of a train's peak rate is not here, as no sample shows that
//! rate. Later starts have it too.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Answer, Entry, Exit, Observer, Startup, Step};
use crate::units::{Bytes, Instant, Span};
use crate::view::{View, Window};

/// Slow start that leaves when seven RTTs are beyond what jitter has been.
#[derive(Clone, Copy, Debug)]
pub struct Picoquic {
    opening: Opening,
    /// Part of the base by which the RTT may rise, in millionths.
    rise: u64,
    /// Part of the packets that may be lost, in millionths.
    loss: u64,
    /// The last samples.
    ring: [Span; RING],
    /// How many samples have come.
    samples: u64,
    /// When the newest came.
    sampled_at: Instant,
    /// The smallest maximum that the ring has had (`rtt_filtered_min`).
    rtt_filtered_min: Span,
    /// Samples whose RTT was too long, since the last at or below the base (`nb_rtt_excess`).
    nb_rtt_excess: u64,
    /// The mean of lost packets, in millionths, while it is in charge.
    smoothed_drop_rate: u64,
    /// Why it ends with the next decision.
    ends: Option<Exit>,
}

impl Picoquic {
    /// Takes a sample in; whether the RTT has been too long seven times in a row.
    fn looks_full(&mut self, now: Instant, rtt: Span, view: &View) -> bool {
        // `picoquic_filter_rtt_min_max()`: one sample a millisecond at most, seven of them in a
        // ring.
        if self.samples > 0 && now.since(self.sampled_at) <= Span::from_millis(1) {
            return false;
        }
        self.sampled_at = now;
        self.ring[(self.samples % RING as u64) as usize] = rtt;
        self.samples += 1;
        if self.samples < RING as u64 {
            return false;
        }
        let (mut least, mut most) = (Span::MAX, Span(0));
        for sample in self.ring {
            (least, most) = (least.min(sample), most.max(sample));
        }
        self.rtt_filtered_min = self.rtt_filtered_min.min(most);
        // `picoquic_hystart_test()`: a quarter above the base, or one packet at the rate of the
        // window.
        let packet = view.rtt.smoothed.scaled(view.mss.0, view.window.cwnd.0);
        let limit =
            self.rtt_filtered_min + self.rtt_filtered_min.scaled(self.rise, RATIO_ONE).max(packet);
        // Between the base and the limit the count stands.
        if least > limit {
            self.nb_rtt_excess += 1;
        } else if least <= self.rtt_filtered_min {
            self.nb_rtt_excess = 0;
        }
        self.nb_rtt_excess >= RING as u64
    }

    /// The window it leaves for a base RTT.
    fn left(&self, cwnd: Bytes) -> Bytes {
        // picoquic's `cc_common.c`, on leaving: half of the window, or for long paths less, by the
        // RTT that starts are made for or that of a satellite over theirs.
        let base = self.rtt_filtered_min;
        if base <= SHORT {
            return cwnd / 2;
        }
        let of = if base <= LONG { SHORT } else { LONG };
        cwnd - (cwnd - cwnd.scaled(of.0, base.0)) / 2
    }

    fn count_lost(&mut self, loss: &Loss, view: &View) {
        // `picoquic_hystart_loss_test()`: a mean over packets with gain 1/16.
        let packets = loss.lost.0.div_ceil(view.mss.0.max(1)).min(MOST_COUNTED);
        for _ in 0..packets {
            self.smoothed_drop_rate += (RATIO_ONE - self.smoothed_drop_rate) / GAIN;
        }
    }
}

impl Listed for Picoquic {
    const CARD: Card = Card::new(
        "picoquic",
        "slow start that leaves after seven RTTs beyond the jitter, deaf to less than 15 % loss",
        "picoquic, cc_common.c",
    )
    .with("cubic")
    .about(
        "The smallest and the largest of seven RTT samples, and the share of packets lost.",
        "Jitter shows in the largest samples, so that only smallest ones above the calmest \
         largest are a queue.",
        "It halves the window as it leaves, right only at twice the BDP; and it goes on into a \
         full buffer until 15 % are lost.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for Picoquic {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::RECOVERY_WINDOW)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let packets = ack.credited.0.div_ceil(view.mss.0.max(1)).min(MOST_COUNTED);
        for _ in 0..packets {
            self.smoothed_drop_rate -= self.smoothed_drop_rate / GAIN;
        }
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.count_lost(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.count_lost(loss, view);
        if self.smoothed_drop_rate > self.loss {
            self.ends = Some(Exit::Loss);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("picoquic_base", self.rtt_filtered_min.reported());
        report("picoquic_excess", self.nb_rtt_excess);
        report("picoquic_lost", self.smoothed_drop_rate);
    }
}

impl Startup for Picoquic {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        let Self { opening, rise, loss, .. } = *self;
        *self = Self { opening, rise, loss, ..Self::default() };
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        if ack.rtt.is_some_and(|rtt| self.looks_full(ack.now, rtt, view)) {
            let cwnd = self.left(window.cwnd).max(view.mss * 2).min(window.cwnd);
            return Window { cwnd, ssthresh: cwnd }.hold().exit(Exit::Heuristic);
        }
        // `picoquic_hystart_increase()`: by what is delivered.
        window.grow_to_threshold(ack.acked)
    }

    fn answer(&mut self, loss: &Loss, _view: &View) -> Answer {
        // A loss ends the start only once that mean exceeds 15 %; timeouts and marks do at once.
        let few = loss.kind == LossKind::Recovery && self.smoothed_drop_rate <= self.loss;
        if few { Answer::Ignore } else { Answer::Leave }
    }

    /// The window stays while few losses are repaired; where more follow, it is halved.
    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        let Some(why) = self.ends.take() else { return view.window.hold() };
        let ssthresh = view.window.cwnd.scaled(view.beta, RATIO_ONE).max(view.mss * 2);
        Window { cwnd: ssthresh.min(view.window.cwnd), ssthresh }.hold().exit(why)
    }
}

impl Default for Picoquic {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            rise: RATIO_ONE / 4,
            loss: LOSS,
            ring: [Span(0); RING],
            samples: 0,
            sampled_at: Instant(0),
            rtt_filtered_min: Span::MAX,
            nb_rtt_excess: 0,
            smoothed_drop_rate: 0,
            ends: None,
        }
    }
}

impl Knobs for Picoquic {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("rise")
            .means("part of the base RTT by which the RTT may rise")
            .ratio(0..=RATIO_ONE, |p| &mut p.rise),
        Knob::new("loss")
            .means("mean share of packets lost that does not end it")
            .ratio(0..=RATIO_ONE, |p| &mut p.loss),
    ];
}

/// Samples of the filter, and how many must be too long in a row.
const RING: usize = 7;

/// The RTT that starts are made for, and that of a geostationary satellite.
const SHORT: Span = Span::from_millis(100);
const LONG: Span = Span::from_millis(610);

/// Mean share of lost packets that ends it, in millionths.
const LOSS: u64 = 150_000;

/// One over the gain of that mean.
const GAIN: u64 = 16;

/// After so many packets in a row the mean does not change any more.
const MOST_COUNTED: u64 = 400;

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};

    /// ACKs two milliseconds apart with these RTTs: which of them ends it, and with what window.
    fn leaves(policy: &mut Picoquic, rtts_ms: &[u64]) -> Option<(usize, Bytes)> {
        let mut view = view(100, Bytes::MAX);
        view.now = Instant(1_000_000_000);
        rtts_ms.iter().enumerate().find_map(|(at, rtt)| {
            view.now = view.now + Span::from_millis(2);
            view.rtt.latest = Span::from_millis(*rtt);
            let step = policy.step(&ack(&view, 1), &view);
            step.exit.map(|_| (at, step.window.cwnd))
        })
    }

    /// A ring of 100 ms, then seven samples until the ring's minimum is longer, and six more.
    #[test]
    fn seven_rtts_in_a_row_a_quarter_beyond_the_calmest_ring_end_it() {
        let calm = [100; 10];
        let after = |rtt| {
            let rtts: std::vec::Vec<u64> = calm.iter().copied().chain([rtt; 20]).collect();
            leaves(&mut Picoquic::default(), &rtts)
        };
        assert_eq!(after(126), Some((10 + 12, MSS * 50)));
        assert_eq!(after(125), None);
        let mut spiky = std::vec![100; 10];
        spiky.extend([150, 150, 150, 150, 150, 100].repeat(20));
        assert_eq!(leaves(&mut Picoquic::default(), &spiky), None);
    }

    /// Three excesses, a ring between the base and the limit, and the fourth; a ring at the base
    /// begins anew.
    #[test]
    fn only_a_ring_at_or_below_the_base_begins_the_count_anew() {
        let after = |between: u64| {
            let mut rtts = std::vec![100; 10];
            rtts.extend([130; 9]);
            rtts.push(between);
            rtts.extend([130; 10]);
            leaves(&mut Picoquic::default(), &rtts).map(|(at, _)| at)
        };
        // The ring is full of 130 with the 17th, so that 17 to 19 are three. While the 20th is in
        // the ring, seven samples do not count; the next four end it.
        assert_eq!(after(110), Some(9 + 9 + 1 + 7 + 4 - 1));
        assert_eq!(after(100), None);
    }

    #[test]
    fn what_it_leaves_depends_on_the_base() {
        let left = |ms| {
            let rtt_filtered_min = Span::from_millis(ms);
            Picoquic { rtt_filtered_min, ..Picoquic::default() }.left(MSS * 1_000).0 / 1_000
        };
        // 1000 - (1000 - 500)/2; 1000 - (1000 - 1000 * 610/1220)/2.
        assert_eq!([left(100), left(200), left(610), left(1_220)], [500, 750, 581, 750]);
    }

    #[test]
    fn samples_of_one_millisecond_count_once() {
        let (mut policy, mut view) = (Picoquic::default(), view(100, Bytes::MAX));
        for us in [0, 500, 1_000, 1_001, 1_500] {
            view.now = Instant(1_000_000_000 + us * 1_000);
            let _ = policy.step(&ack(&view, 1), &view);
        }
        assert_eq!(policy.samples, 2);
    }

    #[test]
    fn the_base_is_the_largest_of_a_full_ring_from_the_first_sample_on() {
        let (mut policy, mut view) = (Picoquic::default(), view(100, Bytes::MAX));
        for (at, rtt) in [50, 100, 60, 60, 60, 60, 60].into_iter().enumerate() {
            assert_eq!((policy.samples, policy.rtt_filtered_min), (at as u64, Span::MAX));
            view.now = Instant(at as u64 * 2_000_000);
            view.rtt.latest = Span::from_millis(rtt);
            let _ = policy.step(&ack(&view, 1), &view);
        }
        assert_eq!(policy.rtt_filtered_min, Span::from_millis(100));
        assert!(policy.set("rise", KnobValue::Ratio(2 * RATIO_ONE)));
        assert!(policy.set("loss", KnobValue::Ratio(2 * RATIO_ONE)));
        let iw = KnobValue::Window(crate::knob::Amount::Segments(3));
        assert!(policy.set("iw", iw) && !policy.set("no such knob", iw));
        policy.enter(Entry::Connect, &view);
        assert_eq!((policy.samples, policy.rtt_filtered_min), (0, Span::MAX), "begun anew");
        assert_eq!((policy.rise, policy.loss), (RATIO_ONE, RATIO_ONE), "all, at the most");
        assert_eq!(policy.open(view.window, MSS).cwnd, MSS * 3);
    }

    #[test]
    fn it_leaves_two_segments_at_least() {
        let seven = Span::from_millis(200);
        let mut policy = Picoquic {
            ring: [seven; RING],
            samples: RING as u64,
            rtt_filtered_min: Span::from_millis(10),
            nb_rtt_excess: RING as u64 - 1,
            ..Picoquic::default()
        };
        let mut small = view(3, Bytes::MAX);
        (small.now, small.rtt.latest) = (Instant(1_000_000_000), seven);
        let step = policy.step(&ack(&small, 1), &small);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 2, Some(Exit::Heuristic)));
        policy.ends = Some(Exit::Loss);
        assert_eq!(policy.recovering(&ack(&small, 1), &small).window.ssthresh, MSS * 2);
    }

    /// A sixteenth of the way for each packet.
    #[test]
    fn the_mean_goes_to_one_with_each_packet_lost_and_to_zero_with_each_acknowledged() {
        let (mut policy, view) = (Picoquic::default(), view(100, Bytes::MAX));
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS);
        policy.loss = 62_500;
        policy.on_further_loss(&loss, &view);
        assert_eq!(
            (policy.smoothed_drop_rate, policy.ends),
            (62_500, None),
            "no more than may be lost"
        );
        policy.on_further_loss(&loss, &view);
        assert_eq!((policy.smoothed_drop_rate, policy.ends), (62_500 + 58_593, Some(Exit::Loss)));
        policy.on_ack(&ack(&view, 1), &view);
        assert_eq!(policy.smoothed_drop_rate, 121_093 - 7_568);
    }

    #[test]
    fn a_mean_of_15_percent_lost_ends_it() {
        let answers = |packets: u64| {
            let (mut policy, view) = (Picoquic::default(), view(100, Bytes::MAX));
            let loss = Loss::of(Instant(0), LossKind::Recovery, MSS * packets, MSS);
            policy.on_loss(&loss, &view);
            policy.answer(&loss, &view)
        };
        // 1 - (15/16)^2 = 12.1 %, 1 - (15/16)^3 = 17.6 %.
        assert_eq!([answers(2), answers(3)], [Answer::Ignore, Answer::Leave]);
        let (mut policy, view) = (Picoquic::default(), view(100, Bytes::MAX));
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS * 2, MSS);
        policy.on_loss(&loss, &view);
        policy.on_ack(&ack(&view, 100), &view);
        policy.on_further_loss(&loss, &view);
        assert_eq!(policy.recovering(&ack(&view, 1), &view).exit, None, "forgotten");
        policy.on_further_loss(&loss, &view);
        let step = policy.recovering(&ack(&view, 1), &view);
        assert_eq!((step.exit, step.window.cwnd), (Some(Exit::Loss), MSS * 50));
        assert_eq!(policy.answer(&Loss { kind: LossKind::Timeout, ..loss }, &view), Answer::Leave);
    }
}
