//! What a log of one's own shows of its start-up on a known path: what limited it, whether it was
//! early, late, slow or lossy, or that the log cannot show it. Numbers in, findings out.

use firstflight_outside::digits;
use firstflight_qlog::{Limit, Limits};
use serde::Serialize;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The log cannot show the start-up.
    NotInRecord,
    /// The application, and not the start-up, held the packets back.
    LimitedByApplication,
    /// The receiver's window did.
    LimitedByReceiver,
    /// The sender's own buffer did.
    LimitedBySendBuffer,
    /// Start-up ended while the path was not full.
    Early,
    /// Start-up went on beyond what path and buffer hold.
    Late,
    /// Start-up took far longer than that of the references.
    Slow,
    /// More packets were lost than slow start loses there.
    Lossy,
    /// None of these.
    Fine,
}

impl Finding {
    /// In words, as `early`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotInRecord => "not in this record",
            Self::LimitedByApplication => "limited by the application",
            Self::LimitedByReceiver => "limited by the receiver's window",
            Self::LimitedBySendBuffer => "limited by the send buffer",
            Self::Early => "early",
            Self::Late => "late",
            Self::Slow => "slow",
            Self::Lossy => "lossy",
            Self::Fine => "fine",
        }
    }
}

impl From<Limit> for Finding {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Application => Self::LimitedByApplication,
            Limit::Receiver => Self::LimitedByReceiver,
            Limit::SendBuffer => Self::LimitedBySendBuffer,
        }
    }
}

/// A finding and the numbers behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What was found.
    pub finding: Finding,
    /// By which numbers, in a sentence.
    pub why: String,
}

/// What a log tells, and what is known of its path. Windows are in bytes, times in seconds after
/// the first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Why the log cannot show the start-up; `None` if it can.
    pub hidden: Option<String>,
    /// The bandwidth-delay product of the path.
    pub bdp: f64,
    /// Its buffer.
    pub buffer: f64,
    /// Its RTT.
    pub rtt_s: f64,
    /// How long the log is.
    pub duration_s: f64,
    /// When start-up ended; `None` if the log shows no end.
    pub exit_s: Option<f64>,
    /// The window then, before any cut.
    pub exit_window: Option<f64>,
    /// The most bytes in flight until then, or at all; `None` if the log does not tell.
    pub most_in_flight: Option<f64>,
    /// The largest window in that time.
    pub largest_window: Option<f64>,
    /// What limited the sender other than its window.
    pub limits: Limits,
    /// Packets lost; `None` if the log does not tell.
    pub lost: Option<f64>,
    /// Packets that slow start loses on this path with as many bytes.
    pub slow_start_lost: Option<f64>,
    /// When the slowest start-up of the references ended; `None` if one did not.
    pub slowest_reference_s: Option<f64>,
}

/// All that is found, or that nothing is.
pub fn findings(seen: &Evidence) -> Vec<Found> {
    let found = |finding, why| Found { finding, why };
    if let Some(why) = &seen.hidden {
        return vec![found(Finding::NotInRecord, why.clone())];
    }
    if let Some(limited) = limited(seen) {
        // How a window that is not used ends says nothing of the path.
        return vec![limited];
    }
    let mut all = Vec::new();
    match seen.exit_window {
        Some(window) if window < FULL * seen.bdp => all.push(found(
            Finding::Early,
            format!(
                "the window was {} then, {} of a BDP of {}; below 0.9 the path is not full",
                kb(window),
                digits(window / seen.bdp, 2),
                kb(seen.bdp)
            ),
        )),
        Some(window) if window > seen.bdp + seen.buffer => all.push(found(
            Finding::Late,
            format!(
                "the window was {} then; the path holds {} and its buffer {}",
                kb(window),
                kb(seen.bdp),
                kb(seen.buffer)
            ),
        )),
        Some(_) | None => {}
    }
    all.extend(slow(seen));
    if let (Some(lost), Some(slow_start)) = (seen.lost, seen.slow_start_lost)
        && lost > slow_start
    {
        let why = match lost {
            1.0 => format!("a packet was lost; slow start loses {slow_start} here"),
            _ => format!("{lost} packets were lost; slow start loses {slow_start} here"),
        };
        all.push(found(Finding::Lossy, why));
    }
    if all.is_empty() {
        let why = match seen.exit_window {
            Some(window) => format!(
                "start-up ended at {}, between 0.9 BDP ({}) and what path and buffer hold ({})",
                kb(window),
                kb(FULL * seen.bdp),
                kb(seen.bdp + seen.buffer)
            ),
            None => {
                "the transfer was over before start-up was, and nothing held it back".to_owned()
            }
        };
        all.push(found(Finding::Fine, why));
    }
    all
}

/// What else than the window held the sender back: for most of its start-up, or when it ended
/// before the path was full.
fn limited(seen: &Evidence) -> Option<Found> {
    let until_s = seen.exit_s.unwrap_or(seen.duration_s);
    let share = |limit: Limit| seen.limits.held_s(limit, 0.0, until_s) / until_s.max(1e-9);
    let all = [Limit::Receiver, Limit::SendBuffer, Limit::Application];
    let most = all.into_iter().max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
    let why_of = |limit: Limit| {
        let of = seen.limits.intervals().iter().filter(|it| it.by == limit && it.from_s < until_s);
        let longest = of.max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)));
        let numbers = longest.map_or(String::new(), |longest| format!(": {}", longest.why));
        format!("for {} % of {} s{numbers}", digits(share(limit) * 100.0, 0), digits(until_s, 3))
    };
    if share(most) > MOSTLY {
        return Some(Found { finding: most.into(), why: why_of(most) });
    }
    let early = seen.exit_window.is_some_and(|window| window < FULL * seen.bdp);
    if let (Some(exit_s), true) = (seen.exit_s, early)
        && let Some(then) = seen.limits.within(exit_s - 2.0 * seen.rtt_s, exit_s + seen.rtt_s)
    {
        let why = format!("when start-up ended, after {} s: {}", digits(exit_s, 3), then.why);
        return Some(Found { finding: then.by.into(), why });
    }
    let (flight, window) = (seen.most_in_flight?, seen.largest_window?);
    (flight < window / 2.0 && flight < FULL * seen.bdp).then(|| {
        // A start-up at most doubles its window in a round trip, so a sender that fills it has had
        // more than half of it in flight; RFC 9002 section 7.8 calls less underutilised.
        let why = format!(
            "no more than {} were in flight, and the window was {}",
            kb(flight),
            kb(window)
        );
        Found { finding: Finding::LimitedByApplication, why }
    })
}

/// Start-up that took, or had taken when the log ended, far longer than that of every reference.
fn slow(seen: &Evidence) -> Option<Found> {
    let slowest_s = seen.slowest_reference_s?;
    let took_s = seen.exit_s.unwrap_or(seen.duration_s);
    // A start-up without an end in the log is slow only if the path was never full.
    let unfinished = seen.exit_s.is_none();
    let full = seen.most_in_flight.is_none_or(|flight| flight >= FULL * seen.bdp);
    if took_s <= SLOW * slowest_s + seen.rtt_s || (unfinished && full) {
        return None;
    }
    let took = if unfinished { "had not ended after" } else { "took" };
    let why = format!(
        "start-up {took} {} s; the slowest of the references took {} s",
        digits(took_s, 3),
        digits(slowest_s, 3)
    );
    Some(Found { finding: Finding::Slow, why })
}

fn kb(bytes: f64) -> String {
    format!("{} kB", digits(bytes / 1e3, 1))
}

/// The share of the BDP at which a path counts as full, as in `startup.time_to_bdp_s`.
const FULL: f64 = 0.9;
/// The share of start-up's time above which a limit explains it.
const MOSTLY: f64 = 0.5;
/// How many times the slowest reference's time is slow: each doubles its window in a round trip, so
/// that half as fast is another rule of growth, or another window to begin with.
const SLOW: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 100 kB and a buffer of 50, and a log of a start-up that fitted.
    fn fits() -> Evidence {
        Evidence {
            bdp: 100e3,
            buffer: 50e3,
            rtt_s: 0.1,
            duration_s: 5.0,
            exit_s: Some(1.0),
            exit_window: Some(120e3),
            most_in_flight: Some(118e3),
            largest_window: Some(120e3),
            lost: Some(3.0),
            slow_start_lost: Some(40.0),
            slowest_reference_s: Some(0.9),
            ..Evidence::default()
        }
    }

    fn found(seen: &Evidence) -> Vec<Finding> {
        findings(seen).iter().map(|found| found.finding).collect()
    }

    /// A log that something else limited for a time.
    fn held(by: Limit, from_s: f64, to_s: f64) -> Evidence {
        let mut limits = Limits::default();
        limits.add(by, from_s * 1e3, to_s * 1e3, 0.0, "numbers".to_owned());
        Evidence { limits, ..fits() }
    }

    #[test]
    fn what_fits_and_loses_no_more_than_slow_start_is_fine() {
        assert_eq!(found(&fits()), [Finding::Fine]);
        let edge = Evidence { exit_window: Some(90e3), ..fits() };
        assert_eq!(found(&edge), [Finding::Fine]);
        let edge = Evidence { exit_window: Some(150e3), lost: Some(40.0), ..fits() };
        assert_eq!(found(&edge), [Finding::Fine]);
    }

    #[test]
    fn a_window_below_the_bdp_is_early_and_one_beyond_the_buffer_late() {
        assert_eq!(found(&Evidence { exit_window: Some(89e3), ..fits() }), [Finding::Early]);
        assert_eq!(found(&Evidence { exit_window: Some(151e3), ..fits() }), [Finding::Late]);
        let both = Evidence { exit_window: Some(200e3), lost: Some(41.0), ..fits() };
        assert_eq!(found(&both), [Finding::Late, Finding::Lossy]);
    }

    #[test]
    fn a_window_that_nobody_used_says_nothing_else() {
        let idle = Evidence { most_in_flight: Some(20e3), exit_window: Some(50e3), ..fits() };
        assert_eq!(found(&idle), [Finding::LimitedByApplication]);
        // A full path is no application's doing, however large the window grew.
        let full = Evidence { most_in_flight: Some(95e3), largest_window: Some(400e3), ..fits() };
        assert_eq!(found(&full), [Finding::Fine]);
    }

    #[test]
    fn what_a_log_does_not_tell_is_not_found() {
        let bare = Evidence { bdp: 100e3, buffer: 50e3, ..Evidence::default() };
        assert_eq!(found(&bare), [Finding::Fine]);
        assert_eq!(found(&Evidence { lost: None, ..fits() }), [Finding::Fine]);
        let hidden = Evidence { hidden: Some("it begins later".to_owned()), ..fits() };
        assert_eq!(found(&hidden), [Finding::NotInRecord]);
        assert_eq!(findings(&hidden)[0].why, "it begins later");
    }

    #[test]
    fn what_held_the_sender_for_most_of_start_up_is_named() {
        for (by, finding) in [
            (Limit::Application, Finding::LimitedByApplication),
            (Limit::Receiver, Finding::LimitedByReceiver),
            (Limit::SendBuffer, Finding::LimitedBySendBuffer),
        ] {
            assert_eq!(found(&held(by, 0.2, 0.8)), [finding]);
            let why = &findings(&held(by, 0.2, 0.8))[0].why;
            assert_eq!(why, "for 60 % of 1 s: numbers");
            assert_eq!(found(&held(by, 0.2, 0.6)), [Finding::Fine]);
            assert_eq!(found(&held(by, 1.5, 5.0)), [Finding::Fine], "after start-up");
        }
    }

    #[test]
    fn early_is_said_only_where_the_sender_could_have_sent_more() {
        let early = |seen: Evidence| Evidence { exit_window: Some(50e3), ..seen };
        assert_eq!(found(&early(held(Limit::Receiver, 0.9, 1.2))), [Finding::LimitedByReceiver]);
        assert_eq!(found(&early(held(Limit::Receiver, 0.1, 0.3))), [Finding::Early]);
    }

    #[test]
    fn twice_the_time_of_every_reference_is_slow() {
        let exit = |exit_s: f64| Evidence { exit_s: Some(exit_s), ..fits() };
        assert_eq!(found(&exit(1.9)), [Finding::Fine]);
        assert_eq!(found(&exit(2.0)), [Finding::Slow]);
        let lossy = Evidence { lost: Some(50.0), ..exit(4.0) };
        assert_eq!(found(&lossy), [Finding::Slow, Finding::Lossy]);
        let unfinished = Evidence { exit_s: None, exit_window: None, ..fits() };
        assert_eq!(found(&unfinished), [Finding::Fine], "the path was full");
        let small =
            Evidence { most_in_flight: Some(60e3), largest_window: Some(80e3), ..unfinished };
        assert_eq!(found(&small), [Finding::Slow]);
    }
}
