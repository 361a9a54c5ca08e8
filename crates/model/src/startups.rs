//! Which start-up fits a path, by the conditions on the buffer (sections 3, 4.2, 4.3 and 5.1).

use serde::Serialize;

use crate::aggressiveness::Aggressiveness;
use crate::packets::{Packets, float, whole};
use crate::prediction::Case;
use crate::slow_start::SlowStart;
use crate::words::{duration, number, packets};

/// What the model says of a start-up on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It comes near the BDP without overflowing the buffer.
    Fits,
    /// It overflows the buffer.
    Overflows,
    /// It overflows nothing but ends far below the BDP.
    StopsShort,
    /// Neither the model nor a publication says.
    Unknown,
}

/// A start-up and how it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StartupFit {
    /// The control, as users write it.
    pub control: String,
    /// How it fits.
    pub verdict: Verdict,
    /// Why, in a sentence without a full stop.
    pub why: String,
}

impl StartupFit {
    fn new(control: impl Into<String>, verdict: Verdict, why: String) -> Self {
        Self { control: control.into(), verdict, why }
    }
}

/// The start-ups of the papers, each against this path.
pub(crate) fn fits(case: &Case) -> Vec<StartupFit> {
    let mut fits = vec![with_threshold("slow-start", case, &case.model)];
    if case.packets_per_ack > 1
        && let Ok(d) = Aggressiveness::byte_counting(case.packets_per_ack, BYTE_COUNTING_LIMIT)
    {
        fits.push(with_threshold("bc", case, &case.model.with_aggressiveness(d)));
    }
    fits.extend([decreasing(case), hoe(case), astart(case)]);
    if case.model.first_burst_overflows() {
        for fit in &mut fits {
            fit.verdict = Verdict::Overflows;
            fit.why = "its first window does not fit the buffer".to_owned();
        }
    }
    fits
}

/// Slow start of some aggressiveness up to the ssthresh of the path.
fn with_threshold(control: &str, case: &Case, model: &SlowStart) -> StartupFit {
    let overflow = case.overflow_window(model);
    let Some(threshold) = case.threshold.as_ref().filter(|threshold| **threshold < overflow) else {
        let at = packets(float(&overflow));
        let why = match &case.threshold {
            Some(_) => format!("its ssthresh is not below the overflow window of {at}"),
            None => format!("without an ssthresh it goes on until the buffer overflows at {at}"),
        };
        return StartupFit::new(control, Verdict::Overflows, why);
    };
    let missing = float(&(model.bdp() - threshold));
    if missing > FEW_ROUNDS {
        let rest = duration(missing * case.rtt_s);
        let why = format!(
            "it ends at {} of {}; the rest takes a round trip a packet, {rest}",
            number(float(threshold)),
            packets(float(model.bdp())),
        );
        return StartupFit::new(control, Verdict::StopsShort, why);
    }
    let why = format!("its ssthresh is below the overflow window of {}", packets(float(&overflow)));
    StartupFit::new(control, Verdict::Fits, why)
}

/// Decreasing Byte Counting up to one BDP, with the dmax that the buffer asks for.
fn decreasing(case: &Case) -> StartupFit {
    let bdp = case.model.bdp();
    let whole_bdp = bdp.floor().to_integer().max(1.into());
    let found = case.model.least_safe_d(bdp).filter(|_| !case.joins_others() || case.has_room(bdp));
    let share = number(float(&(whole(case.model.buffer()) / bdp)));
    match found.map(|dmax| dmax.max(PAPER_DMAX)) {
        Some(PAPER_DMAX) => StartupFit::new(
            format!("dbc(ssthresh={whole_bdp}pkt)"),
            Verdict::Fits,
            format!("its dmax of 2 is enough for one BDP over a buffer of {share} BDP"),
        ),
        Some(dmax) if dmax <= MOST_DMAX => StartupFit::new(
            format!("dbc(dmax={dmax},ssthresh={whole_bdp}pkt)"),
            Verdict::Fits,
            format!(
                "it slows down to d = {dmax}, with which this buffer takes a window of one BDP"
            ),
        ),
        Some(dmax) => StartupFit::new(
            format!("dbc(ssthresh={whole_bdp}pkt)"),
            Verdict::Overflows,
            format!(
                "this buffer would take dmax = {dmax}, and above {MOST_DMAX} the window grows too \
                 slowly: take a larger buffer or another start-up"
            ),
        ),
        None => StartupFit::new(
            format!("dbc(ssthresh={whole_bdp}pkt)"),
            Verdict::Overflows,
            match case.model.buffer() {
                0 => "nothing can wait".to_owned(),
                _ => "one BDP does not fit beside the packets of the other flows".to_owned(),
            },
        ),
    }
}

/// Hoe's threshold, one BDP (section 3).
fn hoe(case: &Case) -> StartupFit {
    let (model, needs) = (&case.model, case.model.buffer_needs());
    let share = float(&(whole(model.buffer()) / model.bdp()));
    if case.joins_others() {
        return match case.has_room(model.bdp()) && model.bdp_threshold_is_safe() {
            true => StartupFit::new("hoe", Verdict::Fits, "one BDP fits among others".to_owned()),
            false => StartupFit::new(
                "hoe",
                Verdict::Overflows,
                format!(
                    "among other flows one BDP needs a buffer above one BDP; this one has {} BDP",
                    number(share)
                ),
            ),
        };
    }
    let divisor = number(float(&(model.aggressiveness().d() + whole(1))));
    let why = format!(
        "it needs a buffer above BDP/{divisor}, {}; this one has {} BDP",
        packets(float(&needs.bdp_threshold)),
        number(share),
    );
    let verdict = if model.bdp_threshold_is_safe() { Verdict::Fits } else { Verdict::Overflows };
    StartupFit::new("hoe", verdict, why)
}

/// Astart is not in the model: its growth above the measured rate is linear, so no single threshold
/// has to be right. Its paper shows it down to a quarter of the BDP (section V.A, Figures 5 and
/// 10).
fn astart(case: &Case) -> StartupFit {
    let needed = case.model.bdp() / whole(4);
    if whole(case.model.buffer()) >= needed {
        let why = "its threshold follows the measured rate and growth above it is linear; its \
                   paper shows it down to a buffer of BDP/4";
        return StartupFit::new("astart", Verdict::Fits, why.to_owned());
    }
    let why = format!("its paper shows it down to a buffer of BDP/4, {}", packets(float(&needed)));
    StartupFit::new("astart", Verdict::Unknown, why)
}

/// Packets that one ACK may add: RFC 3465's limit, and the paper's.
const BYTE_COUNTING_LIMIT: u32 = 2;
/// A start-up that ends so many round trips of linear growth below the BDP is not called short.
const FEW_ROUNDS: f64 = 10.0;
/// `dmax` in the paper and by default.
const PAPER_DMAX: u64 = 2;
/// A window grown with d = 8 gains an eighth per round trip: the slowest we call a start-up.
const MOST_DMAX: u64 = 8;

impl Case {
    /// Whether the window fits into what other flows leave at their best (equation 7), with growth
    /// that is slow enough.
    fn has_room(&self, window: &Packets) -> bool {
        *window < self.model.pipe() / whole(2)
    }
}
