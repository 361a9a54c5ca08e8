//! Trials of connections that are drawn: how often one is stopped that should not be, and how soon
//! one that should.

use super::*;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Two of a normal distribution (Box and Muller 1958).
    fn normal(&mut self) -> [f64; 2] {
        let radius = (-2. * self.uniform().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        [radius * cos, radius * sin]
    }
}

/// What the treated control does: to a time, and to the probability of a loss.
#[derive(Clone, Copy)]
struct Effect {
    slower: f64,
    losses: f64,
}

#[derive(Clone, Copy, Debug)]
struct Deal {
    by: By,
    share: f64,
}

const fn each(share: f64) -> Deal {
    Deal { by: By::Connection, share }
}

const NONE: Effect = Effect { slower: 1., losses: 1. };

/// Connections of prefixes whose popularity falls as 1/rank, 50 in a minute. Times and RTTs have a
/// mean of their prefix, of the minute there, and of the connection; a connection in ten loses up
/// to a tenth.
fn connection(random: &mut Random, seed: u64, number: u64, deal: Deal, effect: Effect) -> Outcome {
    let prefix = 200_f64.powf(random.uniform()) as u64;
    let minute = number / 50;
    let dealt = match deal.by {
        By::Connection => random.uniform(),
        By::Prefix => Random(!seed ^ (prefix << 20) ^ ((minute + 1) << 40)).uniform(),
        By::Time => Random(!seed ^ ((minute + 1) << 40)).uniform(),
    };
    let treated = dealt < deal.share;
    let of_prefix = Random(seed ^ (prefix << 20)).normal();
    let there = Random(seed ^ (prefix << 20) ^ ((minute + 1) << 40)).normal();
    let [own, other] = random.normal();
    let time = -1.5 + 0.7 * of_prefix[0] + 0.3 * there[0] + 0.5 * own;
    let (slower, losses) = if treated { (effect.slower, effect.losses) } else { (1., 1.) };
    let loses = random.uniform() < 0.1 * losses;
    let values = [
        (random.uniform() < 0.7).then_some(time + slower.ln()),
        Some(11. - 1.5 * own + 0.5 * other - slower.ln()),
        Some(-3. + 0.7 * of_prefix[1] + 0.1 * there[1]),
        Some(if loses { 0.1 * random.uniform() } else { 0. }),
        Some(f64::from(u8::from(loses && random.uniform() < 0.3))),
        Some(f64::from(u8::from(random.uniform() < 0.01))),
    ];
    Outcome { treated, prefix: prefix.into(), minute, values }
}

/// Looks after every 50 connections until it is stopped. After how many, and why; at the end
/// whether anything is better.
fn trial(seed: u64, deal: Deal, effect: Effect, most: u64) -> (Option<(u64, Stop)>, bool) {
    let mut random = Random(seed);
    let mut judge = Judge::new(deal.by, deal.share, 0.02);
    for number in 0..most {
        judge.take(&connection(&mut random, seed, number, deal, effect));
        if number % 50 == 49
            && let Some(why) = judge.stop()
        {
            return (Some((number + 1, why)), false);
        }
    }
    let better = |at| judge.finding(at).is_some_and(|it| it.verdict == Verdict::Better);
    (None, (0..MEASURES.len()).any(better))
}

/// After how many connections fifteen trials were stopped, the eighth of them; all were, by one of
/// these measures.
fn stopped_by(measures: &[usize], share: f64, effect: Effect) -> u64 {
    let mut after: Vec<u64> = (0..15)
        .map(|seed| match trial(1000 + seed, each(share), effect, 200_000).0 {
            Some((after, Stop::Harm(by))) if measures.contains(&by) => after,
            other => panic!("trial {seed}: {other:?}"),
        })
        .collect();
    after.sort_unstable();
    println!("{measures:?} at {share}: stopped after {after:?}");
    after[7]
}

/// How many of so many trials of 10,000 connections between two equal controls end in a call.
fn calls(deal: Deal, trials: u64) -> usize {
    let outcomes = (0..trials).map(|seed| trial(seed, deal, NONE, 10_000));
    let called: Vec<_> = outcomes.filter(|(stop, better)| stop.is_some() || *better).collect();
    println!("two equal controls, {deal:?}: of {trials} trials {called:?}");
    called.len()
}

const SLOWER: Effect = Effect { slower: 1.1, ..NONE };
const RUDE: Effect = Effect { losses: 2., ..NONE };

#[test]
fn of_many_trials_of_equal_controls_at_most_two_in_a_hundred_end_in_a_call() {
    let by = |by| Deal { by, share: 0.2 };
    for (deal, trials) in [(each(0.05), 400), (by(By::Prefix), 100), (by(By::Time), 100)] {
        assert!(calls(deal, trials) * 50 <= trials as usize, "{deal:?}");
    }
}

#[test]
fn trials_stop_a_tenth_more_time_and_twice_the_loss_after_so_many_connections() {
    for (share, slower, rude) in [(0.05, 28_750, 8600), (0.5, 5850, 1150)] {
        assert_eq!(stopped_by(&[0, 1], share, SLOWER), slower);
        assert_eq!(stopped_by(&[3, 4], share, RUDE), rude);
    }
}

#[test]
fn a_control_that_takes_less_time_is_called_better_at_the_end() {
    let (stop, better) = trial(3, each(0.5), Effect { slower: 0.7, ..NONE }, 10_000);
    assert!(stop.is_none() && better, "{stop:?}");
}

#[test]
fn a_share_that_is_not_dealt_stops_the_trial() {
    let mut judge = Judge::new(By::Connection, 0.05, 0.02);
    let outcome =
        |treated, prefix| Outcome { treated, prefix, minute: 0, values: Default::default() };
    (0..1000).for_each(|number| judge.take(&outcome(number % 20 == 0, number)));
    assert_eq!((judge.stop(), judge.connections()), (None, [950, 50]));
    (0..200).for_each(|number| judge.take(&outcome(true, number)));
    assert!(matches!(judge.stop(), Some(Stop::Share(share)) if share > 0.2), "{judge:?}");
    // Two connections of a prefix that is dealt at once are one draw.
    let mut judge = Judge::new(By::Prefix, 0.05, 0.02);
    (0..1000).for_each(|_| judge.take(&outcome(true, 7)));
    assert_eq!((judge.stop(), judge.share().0), (None, 1.));
}
