//! The names that the four papers print for a system, in their text, related work and references,
//! and what each is called here.

use schemars::JsonSchema;
use serde::Serialize;

/// A name that a paper prints.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct PaperName {
    /// The name as printed; of two spellings the more usual one.
    pub(crate) name: &'static str,
    /// The papers, as their directories under `papers/` are called.
    pub(crate) papers: &'static [&'static str],
    /// The control that runs it, or the path flag that sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<&'static str>,
    /// What else there is to say: of a name without a control, why it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
}

const fn runs(
    name: &'static str,
    papers: &'static [&'static str],
    here: &'static str,
) -> PaperName {
    PaperName { name, papers, here: Some(here), note: None }
}

/// An estimator or a mechanism that is part of that control.
const fn part(
    name: &'static str,
    papers: &'static [&'static str],
    here: &'static str,
    note: &'static str,
) -> PaperName {
    PaperName { name, papers, here: Some(here), note: Some(note) }
}

const fn not(name: &'static str, papers: &'static [&'static str], why: &'static str) -> PaperName {
    PaperName { name, papers, here: None, note: Some(why) }
}

const S0: &str = "astart";
const S1: &str = "short-transfers";
const S2: &str = "agile-probing";
const S4: &str = "m-start";

/// All of them: slow start and what it belongs to, what replaces it, avoidances, estimators and
/// mechanisms, and what is no control.
pub(crate) const NAMED: &[PaperName] = &[
    runs("Slow Start", &[S0, S1, S2, S4], "slow-start"),
    runs("Jacobson's congestion control", &[S4], "tahoe"),
    runs("TCP Tahoe", &[S1], "tahoe"),
    runs("TCP Reno", &[S0, S1, S2], "reno"),
    runs("TCP NewReno", &[S0, S2], "newreno"),
    runs("SACK", &[S1], "--recovery"),
    runs("Standard TCP (STCP)", &[S1], "stcp"),
    runs("Delayed ACK", &[S1], "--delayed-ack"),
    runs("Byte Counting (BC)", &[S1], "bc"),
    runs("Decreasing Byte Counting (DBC)", &[S1], "dbc"),
    runs("Hoe's modification", &[S0, S1, S2, S4], "hoe"),
    runs("Hoe's retransmission on the second ACK", &[S4], "hoe-early"),
    runs("larger initial window, 4 KB", &[S0, S2], "iw4k"),
    runs("Large Initial Window (LIW)", &[S0], "liw"),
    runs("initial window of 10", &[S4], "iw10"),
    runs("Fast Start", &[S0, S2], "fast-start"),
    runs("SPAND", &[S0, S2], "spand"),
    runs("Smooth-start", &[S0, S4], "smooth-start"),
    runs("TCP Pacing", &[S0, S2], "paced"),
    runs("timer-driven slow start", &[S4], "paced"),
    runs("Adaptive Start (Astart)", &[S0, S2], "astart"),
    runs("Agile Probing", &[S2], "astart"),
    runs("TCPW-A", &[S2], "tcpw-a"),
    runs("M-Start", &[S4], "mstart"),
    runs("AFStart", &[S4], "afstart"),
    runs("Gallop-Vegas", &[S4], "gallop-vegas"),
    runs("HyStart", &[S4], "hystart"),
    runs("P-TCP", &[S4], "p-tcp"),
    runs("Novel Quick Start", &[S4], "packet-pair"),
    runs("e-speed", &[S4], "e-speed"),
    runs("Conservative Slow Start", &[S4], "conservative"),
    runs("ACK splitting", &[S4], "--split-acks"),
    runs("TCP Fast Open", &[S4], "--fast-open"),
    runs("TCP Westwood (TCPW)", &[S0, S2], "tcpw"),
    runs("TCP Vegas", &[S0, S2, S4], "vegas"),
    runs("Stabilized Vegas", &[S2], "stabilized-vegas"),
    runs("FAST TCP", &[S2, S4], "fast-tcp"),
    runs("CUBIC", &[S4], "cubic"),
    runs("Scalable TCP", &[S2], "scalable-tcp"),
    runs("HighSpeed TCP", &[S2], "highspeed-tcp"),
    runs("XCP", &[S2], "xcp"),
    runs("TCP-EBN", &[S2], "tcp-ebn"),
    part("Eligible Rate Estimate (ERE)", &[S0, S2], "tcpw", "its estimator; knobs `ere.*`"),
    part("Rate Estimate (RE)", &[S0, S2], "tcpw-a", "its estimator of the achieved rate"),
    part("Load Gauge (LG)", &[S2], "tcpw-a", "its way back into start-up; knobs `lg.*`"),
    part("packet pair", &[S0, S2], "hoe", "its estimator; `packet-pair` has one of its own"),
    part("packet train", &[S0, S2, S4], "afstart", "its estimator; that of `hystart` too"),
    part("ImTCP", &[S4], "afstart", "the inline measurement that it takes its rate from"),
    not("Active Queue Management", &[S0, S2], "a rule of routers; the key `queue` has some"),
    not("RED", &[S2], "an AQM, in the title of a reference; `queue = \"red\"` is it"),
    not(
        "The War between Mice and Elephants",
        &[S2],
        "an AQM by flow size (RIO), cited for web traffic; no queue here is it",
    ),
];

impl PaperName {
    /// Whether a user may mean it by `text`: its name or the short one in parentheses, in any case.
    pub(crate) fn is_meant_by(&self, text: &str) -> bool {
        let (long, short) = self.name.split_once(" (").unwrap_or((self.name, self.name));
        let short = short.trim_end_matches(')');
        [self.name, long, short].iter().any(|name| name.eq_ignore_ascii_case(text))
    }
}
