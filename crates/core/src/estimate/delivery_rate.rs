//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1): how fast data was delivered between the
//! sending and the acknowledgement of a packet.
//!
//! A transport keeps one [`Sampler`] per connection and one [`AtSending`] per packet in flight, or
//! per group of packets that left in the same state. The sampler is mechanism, shared by all
//! transports; which samples count for what is for the policies to decide.

use crate::event::{Departure, RateSample};
use crate::units::{Bytes, Instant};

/// What a connection keeps to take samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampler {
    /// Payload delivered since the connection began (`C.delivered`).
    delivered: Bytes,
    /// When something was delivered last (`C.delivered_time`).
    delivered_time: Instant,
    /// When the newest packet acknowledged had left (`C.first_send_time`).
    first_send_time: Instant,
    /// Everything delivered up to this counts as limited by the source (`C.app_limited`); zero if
    /// nothing does.
    limited_until: Bytes,
}

/// The state of the connection when a packet left; the transport keeps it until the packet is
/// acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtSending {
    /// When it left, how much had been delivered and how much was in flight.
    pub departure: Departure,
    /// `P.first_send_time`.
    pub first_send_time: Instant,
    /// `P.delivered_time`.
    pub delivered_time: Instant,
    /// `P.is_app_limited`.
    pub app_limited: bool,
}

impl Sampler {
    /// A packet leaves; `in_flight` includes it, `idle` if nothing else was in flight.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, in_flight: Bytes, idle: bool) -> AtSending {
        // Section 4.1.2: with nothing in flight an interval begins.
        if idle {
            (self.first_send_time, self.delivered_time) = (now, now);
        }
        AtSending {
            departure: Departure { sent_at: now, delivered: self.delivered, in_flight },
            first_send_time: self.first_send_time,
            delivered_time: self.delivered_time,
            app_limited: self.limited_until > Bytes(0),
        }
    }

    /// The source has nothing to send although the window has room: what is in flight now, and all
    /// before it, counts as limited by the source.
    #[inline]
    pub fn on_app_limited(&mut self, in_flight: Bytes) {
        self.limited_until = (self.delivered + in_flight).max(Bytes(1));
    }

    /// An ACK says that so much has been delivered, the newest of it the packet that left `then`
    /// at `sent_at`. Its sample, unless no time has passed.
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Instant,
        credited: Bytes,
        sent_at: Instant,
        then: &AtSending,
    ) -> Option<RateSample> {
        self.count(now, credited);
        // Section 4.1.2: `interval = max(send_elapsed, ack_elapsed)`.
        let sending = sent_at.since(then.first_send_time);
        let acknowledging = now.since(then.delivered_time);
        let sample = RateSample {
            delivered: self.delivered - then.departure.delivered,
            interval: sending.max(acknowledging),
            app_limited: then.app_limited,
        };
        self.first_send_time = sent_at;
        (sample.interval.0 > 0).then_some(sample)
    }

    /// Counts what an ACK delivers whose newest packet is not known; it yields no sample.
    #[inline]
    pub fn count(&mut self, now: Instant, credited: Bytes) {
        self.delivered += credited;
        self.delivered_time = now;
        if self.delivered > self.limited_until {
            self.limited_until = Bytes(0);
        }
    }

    /// Payload delivered since the connection began.
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const MS: u64 = 1_000_000;

    /// A sample of so many bytes in so many milliseconds.
    fn of(bytes: u64, ms: u64) -> RateSample {
        RateSample { delivered: Bytes(bytes), interval: Span(ms * MS), app_limited: false }
    }

    #[test]
    fn a_steady_flow_is_sampled_at_its_rate() {
        let mut sampler = Sampler::default();
        let mut left: [Option<AtSending>; 200] = [None; 200];
        // 1000 bytes a millisecond over 50 ms.
        for ms in 0..200_usize {
            let now = Instant(ms as u64 * MS);
            if ms >= 50 {
                let sample = left[ms - 50].and_then(|then| {
                    sampler.on_delivered(now, Bytes(1_000), then.departure.sent_at, &then)
                });
                if ms >= 100 {
                    assert_eq!(sample, Some(of(50_000, 50)));
                }
            }
            left[ms] = Some(sampler.on_sent(now, Bytes(1_000), ms == 0));
        }
        assert_eq!(sampler.delivered(), Bytes(150_000));
    }

    #[test]
    fn a_burst_that_is_acknowledged_slowly_is_sampled_at_the_slow_rate() {
        let mut sampler = Sampler::default();
        let then = sampler.on_sent(Instant(0), Bytes(8_000), true);
        let sample = sampler.on_delivered(Instant(40 * MS), Bytes(8_000), Instant(0), &then);
        assert_eq!(sample, Some(of(8_000, 40)));
    }

    #[test]
    fn a_source_that_had_nothing_to_send_limits_what_leaves_until_it_is_delivered() {
        let mut sampler = Sampler::default();
        let first = sampler.on_sent(Instant(0), Bytes(1_000), true);
        sampler.on_app_limited(Bytes(1_000));
        let second = sampler.on_sent(Instant(MS), Bytes(2_000), false);
        let mut limited = |at, sent, then| {
            let sample = sampler.on_delivered(Instant(at * MS), Bytes(1_000), Instant(sent), then);
            sample.map(|sample| sample.app_limited)
        };
        assert_eq!(limited(50, 0, &first), Some(false));
        assert_eq!(limited(50, MS, &second), Some(true));
        let third = sampler.on_sent(Instant(60 * MS), Bytes(1_000), true);
        let sent = Instant(60 * MS);
        let sample = sampler.on_delivered(Instant(110 * MS), Bytes(1_000), sent, &third);
        assert_eq!(sample, Some(of(1_000, 50)));
    }

    #[test]
    fn the_limit_of_the_source_ends_when_more_than_was_in_flight_is_delivered() {
        let at = |ms: u64| Instant(ms * MS);
        let mut sampler = Sampler::default();
        let first = sampler.on_sent(at(0), Bytes(1_000), true);
        let _ = sampler.on_delivered(at(50), Bytes(1_000), at(0), &first);
        // 1000 delivered and 2000 in flight: the limit ends beyond 3000.
        let second = sampler.on_sent(at(60), Bytes(2_000), true);
        sampler.on_app_limited(Bytes(2_000));
        sampler.count(at(70), Bytes(1_000));
        let _ = sampler.on_delivered(at(110), Bytes(1_000), at(60), &second);
        assert_eq!(sampler.delivered(), Bytes(3_000));
        let mut limited = |sent, acked| {
            let then = sampler.on_sent(at(sent), Bytes(1_000), true);
            let sample = sampler.on_delivered(at(acked), Bytes(1_000), at(sent), &then);
            sample.map(|sample| sample.app_limited)
        };
        assert_eq!(limited(120, 170), Some(true), "sent before anything more was delivered");
        assert_eq!(limited(180, 230), Some(false));
        // What is delivered without a packet known ends it too.
        sampler.on_app_limited(Bytes(500));
        sampler.count(at(240), Bytes(501));
        assert!(!sampler.on_sent(at(250), Bytes(1_000), true).app_limited);
    }

    #[test]
    fn a_sample_takes_the_longer_of_the_sending_and_the_acknowledging_time() {
        let at = |ms: u64| Instant(ms * MS);
        let mut sampler = Sampler::default();
        let first = sampler.on_sent(at(0), Bytes(1_000), true);
        let second = sampler.on_sent(at(30), Bytes(2_000), false);
        assert_eq!(sampler.on_delivered(at(50), Bytes(1_000), at(0), &first), Some(of(1_000, 50)));
        // Sent 30 ms after the first, delivered 52 ms after the flight began.
        let sample = sampler.on_delivered(at(52), Bytes(1_000), at(30), &second);
        assert_eq!(sample, Some(of(2_000, 52)));
        // ACKs that were held up come at once: sent over 40 ms, acknowledged within 10.
        let third = sampler.on_sent(at(70), Bytes(1_000), false);
        let sample = sampler.on_delivered(at(53), Bytes(1_000), at(70), &third);
        assert_eq!(sample, Some(of(1_000, 40)));
    }

    #[test]
    fn no_sample_is_taken_where_no_time_has_passed() {
        let mut sampler = Sampler::default();
        let then = sampler.on_sent(Instant(0), Bytes(1_000), true);
        assert_eq!(sampler.on_delivered(Instant(0), Bytes(1_000), Instant(0), &then), None);
    }
}
