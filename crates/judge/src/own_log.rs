//! What a log of one's own shows of its start-up on a known path: early, late, lossy, limited by
//! the application, or fine. Numbers in, findings out.

use firstflight_report::digits;
use serde::Serialize;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The application, or the receiver's window, and not the start-up held the packets back.
    LimitedByApplication,
    /// Start-up ended while the path was not full.
    Early,
    /// Start-up went on beyond what path and buffer hold.
    Late,
    /// More packets were lost than slow start loses there.
    Lossy,
    /// The log shows no end of start-up.
    NotEnded,
    /// None of these.
    Fine,
}

impl Finding {
    /// In words, as `early`.
    pub fn name(self) -> &'static str {
        match self {
            Self::LimitedByApplication => "limited by the application",
            Self::Early => "early",
            Self::Late => "late",
            Self::Lossy => "lossy",
            Self::NotEnded => "not ended",
            Self::Fine => "fine",
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

/// What a log tells, and what is known of its path. Windows are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// The bandwidth-delay product of the path.
    pub bdp: f64,
    /// Its buffer.
    pub buffer: f64,
    /// The window at the end of start-up, before any cut; `None` if it did not end.
    pub exit_window: Option<f64>,
    /// The most bytes in flight until then, or at all; `None` if the log does not tell.
    pub most_in_flight: Option<f64>,
    /// The largest window in that time.
    pub largest_window: Option<f64>,
    /// The share of the time until then in which nothing was in flight; `None` if it is not known.
    pub idle_share: Option<f64>,
    /// Packets lost; `None` if the log has no packets.
    pub lost: Option<f64>,
    /// Packets that slow start loses on this path with as many bytes.
    pub slow_start_lost: Option<f64>,
}

/// All that is found, or that nothing is.
pub fn findings(seen: &Seen) -> Vec<Found> {
    let found = |finding, why| Found { finding, why };
    if let Some(why) = unused(seen) {
        // How an unused window ends says nothing of the path.
        return vec![found(Finding::LimitedByApplication, why)];
    }
    let mut all = Vec::new();
    match seen.exit_window {
        None => all.push(found(
            Finding::NotEnded,
            "the log shows no end of start-up, or the transfer was done before".to_owned(),
        )),
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
        Some(_) => {}
    }
    if let (Some(lost), Some(slow_start)) = (seen.lost, seen.slow_start_lost)
        && lost > slow_start
    {
        let why = format!("{lost} packets were lost; slow start loses {slow_start} here");
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
            None => String::new(),
        };
        all.push(found(Finding::Fine, why));
    }
    all
}

/// Why the window was not what held the packets back, if it was not. A start-up at most doubles its
/// window in a round trip, so a sender that fills it has had more than half of it in flight; RFC
/// 9002 section 7.8 calls less underutilised.
fn unused(seen: &Seen) -> Option<String> {
    if let Some(idle) = seen.idle_share.filter(|idle| *idle > IDLE) {
        let share = digits(idle * 100.0, 0);
        return Some(format!(
            "nothing was in flight for {share} % of the time until start-up's end"
        ));
    }
    let (flight, window) = (seen.most_in_flight?, seen.largest_window?);
    (flight < window / 2.0 && flight < FULL * seen.bdp).then(|| {
        format!("no more than {} were in flight, and the window was {}", kb(flight), kb(window))
    })
}

fn kb(bytes: f64) -> String {
    format!("{} kB", digits(bytes / 1e3, 1))
}

/// The share of the BDP at which a path counts as full, as in `startup.time_to_bdp_s`.
const FULL: f64 = 0.9;
/// The share of the time without anything in flight above which the application sent too little: a
/// sender with data rests only while its first packet's ACK is on the way.
const IDLE: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 100 kB and a buffer of 50, and a log of a start-up that fitted.
    const FITS: Seen = Seen {
        bdp: 100e3,
        buffer: 50e3,
        exit_window: Some(120e3),
        most_in_flight: Some(118e3),
        largest_window: Some(120e3),
        idle_share: None,
        lost: Some(3.0),
        slow_start_lost: Some(40.0),
    };

    fn found(seen: &Seen) -> Vec<Finding> {
        findings(seen).iter().map(|found| found.finding).collect()
    }

    #[test]
    fn what_fits_and_loses_no_more_than_slow_start_is_fine() {
        assert_eq!(found(&FITS), [Finding::Fine]);
        let edge = Seen { exit_window: Some(90e3), ..FITS };
        assert_eq!(found(&edge), [Finding::Fine]);
        let edge = Seen { exit_window: Some(150e3), lost: Some(40.0), ..FITS };
        assert_eq!(found(&edge), [Finding::Fine]);
    }

    #[test]
    fn a_window_below_the_bdp_is_early_and_one_beyond_the_buffer_late() {
        assert_eq!(found(&Seen { exit_window: Some(89e3), ..FITS }), [Finding::Early]);
        assert_eq!(found(&Seen { exit_window: Some(151e3), ..FITS }), [Finding::Late]);
        let both = Seen { exit_window: Some(200e3), lost: Some(41.0), ..FITS };
        assert_eq!(found(&both), [Finding::Late, Finding::Lossy]);
    }

    #[test]
    fn a_window_that_nobody_used_says_nothing_else() {
        let idle = Seen { most_in_flight: Some(20e3), exit_window: Some(50e3), ..FITS };
        assert_eq!(found(&idle), [Finding::LimitedByApplication]);
        // A full path is no application's doing, however large the window grew.
        let full = Seen { most_in_flight: Some(95e3), largest_window: Some(400e3), ..FITS };
        assert_eq!(found(&full), [Finding::Fine]);
    }

    #[test]
    fn what_a_log_does_not_tell_is_not_found() {
        let bare = Seen { bdp: 100e3, buffer: 50e3, ..Seen::default() };
        assert_eq!(found(&bare), [Finding::NotEnded]);
        assert_eq!(found(&Seen { lost: None, ..FITS }), [Finding::Fine]);
    }

    #[test]
    fn a_sender_that_rests_for_most_of_the_time_has_nothing_to_send() {
        let rests = Seen { idle_share: Some(0.6), ..FITS };
        assert_eq!(found(&rests), [Finding::LimitedByApplication]);
        assert!(findings(&rests)[0].why.contains("60 %"), "{:?}", findings(&rests));
        assert_eq!(found(&Seen { idle_share: Some(0.4), ..FITS }), [Finding::Fine]);
    }
}
