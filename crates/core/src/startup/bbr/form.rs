//! What the versions of BBR's start differ in.

use crate::knob::RATIO_ONE;

/// A version. Gains and shares are in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The pace of Startup, in bandwidths.
    pub(super) gain: u64,
    /// The window of Startup, in BDP.
    pub(super) cwnd_gain: u64,
    /// The pace of Drain, in bandwidths.
    pub(super) drain: u64,
    /// What a round may lose; all of it for no exit by loss.
    pub(super) loss: u64,
    /// In how many gaps, or with how many ACKs, at least.
    pub(super) gaps: u64,
    /// Which rate must grow from round to round.
    pub(super) plateau: Plateau,
    /// Which losses end Startup.
    pub(super) losses: Losses,
    /// What quanta add to the largest window.
    pub(super) budget: Budget,
    /// What ACKs that run ahead add to it.
    pub(super) extra: Extra,
    /// Rounds after which Drain ends at the latest.
    pub(super) drain_rounds: u64,
    /// Begins with another pace, grows to two initial windows at the least, keeps one, and paces
    /// slower after losses.
    pub(super) quiche: bool,
    /// Answers a recovery with its window (Linux, `bbr_set_cwnd_to_recover_or_restore`).
    pub(super) linux: bool,
}

/// Which rate must grow from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plateau {
    /// That of the ACK which begins the round.
    Sample,
    /// The largest so far.
    Largest,
}

/// Which losses end Startup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Losses {
    /// Losses of a whole round in a recovery, as a share of what it delivered and lost, in gaps.
    Recovery,
    /// Losses of a round without growth, as a share of what was in flight as its last packet left,
    /// found by so many ACKs.
    Round,
}

/// What quanta add to the largest window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// The window is no smaller than three of them, and four segments (`QuantizationBudget`).
    Larger,
    /// Three of them are added (Linux, `bbr_quantization_budget`).
    Sum,
    /// Nothing.
    None,
}

/// What ACKs that run ahead add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// The most of one round.
    Round,
    /// The most of ten.
    TenRounds,
    /// Nothing before Startup is over.
    AfterStartup,
}

impl Form {
    /// draft-ietf-ccwg-bbr, its tags -03 to -06 and its text of August 2026.
    pub(super) const DRAFT: Self = Self {
        gain: 2_770_000,
        cwnd_gain: 2_000_000,
        drain: 500_000,
        loss: 20_000,
        gaps: 6,
        plateau: Plateau::Sample,
        losses: Losses::Recovery,
        budget: Budget::Larger,
        extra: Extra::Round,
        drain_rounds: 3,
        quiche: false,
        linux: false,
    };
    /// draft-cardwell-iccrg-bbr-congestion-control-02. The code of its authors for Linux, Chromium
    /// and s2n ask for eight gaps (knob `gaps`) where the text asks for three.
    pub(super) const V2: Self = Self {
        gaps: 3,
        plateau: Plateau::Largest,
        extra: Extra::TenRounds,
        drain_rounds: u64::MAX,
        ..Self::DRAFT
    };
    /// Cloudflare's quiche of August 2026 (`gcongestion/bbr2`), a port of Google's. An exit after
    /// rounds of standing queue is in it, and switched off.
    pub(super) const QUICHE: Self = Self {
        gain: 2_773_000,
        cwnd_gain: 2_000_000,
        drain: 346_620,
        loss: 15_000,
        gaps: 8,
        plateau: Plateau::Largest,
        losses: Losses::Round,
        budget: Budget::None,
        extra: Extra::AfterStartup,
        drain_rounds: u64::MAX,
        quiche: true,
        linux: false,
    };
    /// BBR of 2017 (Linux, `tcp_bbr.c`), which no loss ends. In the first round of a recovery no
    /// more leaves than arrives.
    pub(super) const V1: Self = Self {
        gain: 2_885_000,
        cwnd_gain: 2_885_000,
        drain: 346_620,
        loss: RATIO_ONE,
        gaps: 0,
        plateau: Plateau::Largest,
        losses: Losses::Recovery,
        budget: Budget::Sum,
        extra: Extra::AfterStartup,
        drain_rounds: u64::MAX,
        quiche: false,
        linux: true,
    };
}
