//! The closed-form model's functions, as formulas of paper files call them.

use firstflight_model::{Aggressiveness, Packets, SlowStart};
use num_traits::ToPrimitive as _;

/// The value of `name(bdp, buffer, d)`, in packets; with a fourth argument, the threshold, where
/// one matters.
///
/// # Errors
/// There is no such function, the number of arguments is wrong, or the model does not take them.
pub(crate) fn call(name: &str, arguments: &[f64]) -> Result<f64, String> {
    let (path, threshold) = match *arguments {
        [bdp, buffer, d] => (path(bdp, buffer, d)?, None),
        [bdp, buffer, d, threshold] => (path(bdp, buffer, d)?, Some(exact(threshold)?)),
        _ => return Err(format!("{name} takes (bdp, buffer, d) or (bdp, buffer, d, threshold)")),
    };
    let threshold = threshold.as_ref();
    let needs = path.buffer_needs();
    let value = match (name, threshold) {
        ("overflow_window", None) => path.overflow_window(),
        ("overflow_window_approx", None) => path.overflow_window_approx(),
        ("most_overflow_window_among", None) => path.most_overflow_window_among(),
        ("buffer_that_fills_pipe", None) => needs.fills_pipe,
        ("buffer_for_bdp_threshold", None) => needs.bdp_threshold,
        ("buffer_for_several_flows", None) => needs.several_flows,
        ("detection_window", _) => path.detection_window(threshold),
        ("threshold_after", _) => path.threshold_after(threshold),
        ("threshold_after_one_fast_retransmit", _) => {
            path.threshold_after_one_fast_retransmit(threshold)
        }
        _ => return Err(format!("no function {name} of so many arguments; see papers/README.md")),
    };
    value.to_f64().ok_or_else(|| format!("{name} is beyond all numbers here"))
}

fn path(bdp: f64, buffer: f64, d: f64) -> Result<SlowStart, String> {
    let d = Aggressiveness::delayed_acks(whole(d)?).map_err(|error| error.to_string())?;
    Ok(SlowStart::new(exact(bdp)?, whole(buffer)?, d))
}

fn exact(value: f64) -> Result<Packets, String> {
    Packets::from_float(value).ok_or_else(|| format!("{value} is no number of packets"))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
fn whole(value: f64) -> Result<u64, String> {
    if value.fract() == 0.0 && (0.0..1e9).contains(&value) {
        return Ok(value as u64);
    }
    Err(format!("{value} is no whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_model() {
        assert_eq!(call("overflow_window", &[70.0, 20.0, 1.0]), Ok(52.0));
        assert_eq!(call("overflow_window_approx", &[70.0, 20.0, 1.0]), Ok(40.0));
        assert_eq!(call("most_overflow_window_among", &[350.0, 70.0, 2.0]), Ok(210.0));
        assert_eq!(call("buffer_for_several_flows", &[350.0, 0.0, 2.0]), Ok(70.0));
        assert_eq!(call("threshold_after", &[70.0, 20.0, 1.0]), Ok(13.0));
        assert_eq!(call("detection_window", &[70.0, 20.0, 1.0, 60.0]), Ok(60.0));
    }

    #[test]
    fn what_the_model_does_not_take_is_refused() {
        assert!(call("overflow_window", &[70.0, 20.0]).unwrap_err().contains("takes (bdp"));
        assert!(call("overflow", &[70.0, 20.0, 1.0]).unwrap_err().contains("no function overflow"));
        assert!(call("overflow_window", &[70.0, 20.5, 1.0]).is_err());
        assert!(call("overflow_window", &[70.0, 20.0, 0.0]).is_err());
    }
}
