//! What children took of the processor.

/// CPU time of all children that have ended, in seconds, to a hundredth (proc(5), `cutime` and
/// `cstime`); none where the system does not tell it.
pub(crate) fn children_s() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold anything; behind it the fields begin with the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS_PER_S)
}

/// Units per second in which Linux tells CPU time (USER_HZ).
pub(crate) const TICKS_PER_S: f64 = 100.0;
