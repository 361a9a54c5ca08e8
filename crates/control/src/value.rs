//! The values of knobs: what each kind takes, and its text as a value.

use firstflight_core::card::Card;
use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue, RATIO_ONE};
use firstflight_core::units::Span;

use crate::quantity::{Threshold, Time, Window};

/// What a knob takes, in words.
pub fn accepted(kind: KnobKind) -> String {
    match kind {
        KnobKind::Count(low, high) => format!("a whole number from {low} to {high}"),
        KnobKind::Window => {
            format!("a window such as 10pkt or 64KiB, from 1pkt to {MOST_SEGMENTS}pkt")
        }
        KnobKind::Threshold => {
            format!("a window such as 32pkt or 64KiB, from 1pkt to {MOST_SEGMENTS}pkt, or none")
        }
        KnobKind::Time(low, high) => {
            format!("a time from {} to {}", Time::from_ns(low.0), Time::from_ns(high.0))
        }
        KnobKind::Ratio(low, high) => {
            let show = |ratio: u64| ratio as f64 / RATIO_ONE as f64;
            format!("a number from {} to {}", show(low), show(high))
        }
        KnobKind::Word(words) => words.join(", "),
    }
}

/// What holds while a knob is not set, in words: its own, or the value that the policy begins with.
pub fn default_text(knob: &Knob, begins_with: Option<KnobValue>) -> String {
    match begins_with {
        _ if !knob.default.is_empty() => knob.default.to_owned(),
        Some(KnobValue::Count(number)) => number.to_string(),
        Some(KnobValue::Ratio(millionths)) => (millionths as f64 / RATIO_ONE as f64).to_string(),
        Some(KnobValue::Time(span)) => Time::from_ns(span.0).to_string(),
        Some(KnobValue::Word(word)) => word.to_owned(),
        Some(KnobValue::Window(Amount::Segments(count))) => format!("{count} segments"),
        Some(KnobValue::Window(Amount::Bytes(bytes))) => match (bytes % 1024, bytes % 1000) {
            (0, _) => format!("{} KiB", bytes / 1024),
            (_, 0) => format!("{} kB", bytes / 1000),
            _ => format!("{bytes} B"),
        },
        Some(KnobValue::Window(Amount::Unlimited)) => "none".to_owned(),
        None => String::new(),
    }
}

/// The value that a text is to a knob of this kind; `None` if it takes none such.
pub(crate) fn read(kind: KnobKind, text: &str) -> Option<KnobValue> {
    Some(match kind {
        KnobKind::Count(low, high) => {
            KnobValue::Count(text.parse().ok().filter(|n| (low..=high).contains(n))?)
        }
        KnobKind::Window => KnobValue::Window(amount(text.parse().ok()?)?),
        KnobKind::Threshold => KnobValue::Window(match text.parse().ok()? {
            Threshold::None => Amount::Unlimited,
            Threshold::At(window) => amount(window)?,
        }),
        KnobKind::Time(low, high) => {
            let span = Span(text.parse::<Time>().ok()?.ns());
            KnobValue::Time(Some(span).filter(|span| (low..=high).contains(span))?)
        }
        KnobKind::Ratio(low, high) => {
            KnobValue::Ratio(millionths(text).filter(|n| (low..=high).contains(n))?)
        }
        KnobKind::Word(words) => {
            // A switch is `on` or `off` here, and `true` or `false` in scenario files.
            let text = match text {
                "true" if words.contains(&"on") => "on",
                "false" if words.contains(&"off") => "off",
                _ => text,
            };
            KnobValue::Word(words.iter().find(|word| **word == text)?)
        }
    })
}

/// A window in segments or bytes; `None` for one in BDP, because a control knows no path, and for
/// one that no path holds.
fn amount(window: Window) -> Option<Amount> {
    match window {
        Window::Packets(packets) if packets <= MOST_SEGMENTS => Some(Amount::Segments(packets)),
        Window::Bytes(bytes) if bytes <= MOST_BYTES => Some(Amount::Bytes(bytes)),
        _ => None,
    }
}

/// 10 Gbit/s over 80 s in segments of 1000 bytes, as for the paths of scenarios.
const MOST_SEGMENTS: u64 = 100_000_000;
const MOST_BYTES: u64 = MOST_SEGMENTS * 1000;

/// A plain decimal number in millionths, exactly; `None` if it is none or has more digits.
fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(RATIO_ONE)?.checked_add(part)
}

/// The knob of a policy that `key` names: by its own name, by that after the policy's
/// (`mstart.P`), or, for ssthresh, as the first of several that it will have (`ssthresh0`).
pub(crate) fn knob(policy: &'static Card, key: &str) -> Option<&'static Knob> {
    let bare = key.strip_prefix(policy.name).and_then(|rest| rest.strip_prefix('.'));
    let name = match bare.unwrap_or(key) {
        "ssthresh0" => "ssthresh",
        name => name,
    };
    policy.knobs.iter().find(|knob| knob.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_threshold_can_be_none() {
        assert_eq!(read(KnobKind::Window, "none"), None);
        let unlimited = Some(KnobValue::Window(Amount::Unlimited));
        assert_eq!(read(KnobKind::Threshold, "none"), unlimited);
        assert_eq!(read(KnobKind::Threshold, "1bdp"), None);
    }

    #[test]
    fn a_ratio_has_six_places_at_most() {
        let ratio = KnobKind::Ratio(0, RATIO_ONE);
        assert_eq!(read(ratio, "0.123456"), Some(KnobValue::Ratio(123_456)));
        assert_eq!(read(ratio, "0.1234567"), None);
    }

    #[test]
    fn a_switch_takes_the_words_of_scenario_files_too() {
        let switch = KnobKind::Word(&["off", "on"]);
        assert_eq!(read(switch, "true"), Some(KnobValue::Word("on")));
        assert_eq!(read(switch, "false"), Some(KnobValue::Word("off")));
        assert_eq!(read(KnobKind::Word(&["ack", "rtt"]), "true"), None);
    }
}
