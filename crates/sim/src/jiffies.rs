//! The clock of Linux's timers, at 250 Hz as Debian builds it. A timer counts from the last tick,
//! by a time rounded up to ticks, and fires with a tick (`usecs_to_jiffies`).

use firstflight_core::units::{Instant, Span};

/// From one tick to the next.
pub(crate) const TICK: Span = Span::from_millis(4);

/// Linux's `TCP_TIMEOUT_MIN`: it adds this to times that are shorter than a timeout.
pub(crate) const TWO_TICKS: Span = Span(2 * TICK.0);

/// When a timer fires that is started at `now` for `span`.
pub(crate) fn fires_at(now: Instant, span: Span) -> Instant {
    let ticks = (now.0 / TICK.0).saturating_add(span.0.div_ceil(TICK.0));
    Instant(ticks.saturating_mul(TICK.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_counts_whole_ticks_from_the_last() {
        let ms = |ms: u64| Instant(ms * 1_000_000);
        let fires = |at: u64, span: u64| fires_at(ms(at), Span::from_millis(span));
        assert_eq!(fires(0, 4), ms(4));
        assert_eq!(fires(3, 4), ms(4));
        assert_eq!(fires(3, 5), ms(8));
        assert_eq!(fires(4, 200), ms(204));
    }
}
