//! A connection over time, ready to be drawn.

use crate::event::What;
use crate::read::Connection;

/// Curves over time in seconds after the first event.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Curves {
    /// Congestion window, bytes.
    pub cwnd: Vec<(f64, f64)>,
    /// Slow-start threshold, bytes.
    pub ssthresh: Vec<(f64, f64)>,
    /// Bytes in flight.
    pub in_flight: Vec<(f64, f64)>,
    /// Smoothed RTT, milliseconds.
    pub smoothed_rtt: Vec<(f64, f64)>,
    /// RTT samples, milliseconds.
    pub latest_rtt: Vec<(f64, f64)>,
    /// Smallest RTT, milliseconds.
    pub min_rtt: Vec<(f64, f64)>,
    /// Packets lost since the start; a point per loss.
    pub lost: Vec<(f64, f64)>,
    /// Bytes sent since the start; a point per packet.
    pub sent: Vec<(f64, f64)>,
}

impl Connection {
    /// The curves up to `until_s` seconds.
    pub fn curves(&self, until_s: f64) -> Curves {
        let mut curves = Curves::default();
        let (mut lost, mut sent) = (0.0, 0.0);
        let answered_ms = self.first_answer_ms();
        for event in self.events.iter().take_while(|event| event.at_ms <= until_s * 1e3) {
            let at = event.at_ms / 1e3;
            let put = |curve: &mut Vec<(f64, f64)>, value: Option<f64>| {
                curve.extend(value.map(|value| (at, value)));
            };
            match &event.what {
                What::Metrics(metrics) => {
                    put(&mut curves.cwnd, metrics.congestion_window.map(|bytes| bytes as f64));
                    put(&mut curves.ssthresh, metrics.ssthresh.map(|bytes| bytes as f64));
                    put(&mut curves.in_flight, metrics.bytes_in_flight.map(|bytes| bytes as f64));
                    if event.at_ms >= answered_ms {
                        put(&mut curves.smoothed_rtt, metrics.smoothed_rtt_ms);
                        put(&mut curves.latest_rtt, metrics.latest_rtt_ms);
                        put(&mut curves.min_rtt, metrics.min_rtt_ms);
                    }
                }
                What::Lost(batch) => {
                    lost += batch.packets as f64;
                    curves.lost.push((at, lost));
                }
                What::Sent(packet) => {
                    sent += packet.length.unwrap_or(0) as f64;
                    curves.sent.push((at, sent));
                }
                What::State(_) | What::Received(_) => {}
            }
        }
        curves
    }
}
