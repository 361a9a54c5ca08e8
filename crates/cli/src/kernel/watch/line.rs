//! A connection's line: JSON, or for people.

use std::time::{Duration, SystemTime};

use firstflight_kernel::watch::Connection;
use firstflight_results::table::connections::LINE;
use serde::Serialize;

/// A connection as `--json` prints it.
#[derive(Serialize)]
pub(super) struct ConnectionLine<'a> {
    schema: &'static str,
    /// When the handshake ended, in seconds since 1970, to some milliseconds.
    began_s: f64,
    duration_s: f64,
    local: String,
    remote: String,
    /// A listener of this host accepted it.
    accepted: bool,
    control: &'a str,
    /// Why the first slow start ended, or what held the sender back until the close.
    slow_start_end: &'static str,
    slow_start_ended: bool,
    /// The window before the reduction, or a heuristic's threshold; the longest where slow start
    /// did not end.
    end_cwnd_packets: u32,
    /// After the handshake: slow start was seen to go on then, and to be over then.
    end_after_s: Option<[f64; 2]>,
    end_rate_bps: Option<u64>,
    end_srtt_s: Option<f64>,
    timeouts: Option<u32>,
    acked_bytes: u64,
    sent_again_bytes: u64,
    sent_again_packets: u32,
    lost_packets: u32,
    marked_packets: u32,
    mss_bytes: u32,
    longest_cwnd_packets: u32,
    cwnd_packets: u32,
    min_rtt_s: f64,
    srtt_s: f64,
}

impl<'a> ConnectionLine<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        let Connection { slow_start, .. } = connection;
        let seconds = |time: Duration| time.as_secs_f64();
        #[expect(clippy::disallowed_methods, reason = "the record of a real connection")]
        let closed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            schema: LINE,
            began_s: seconds(closed.saturating_sub(connection.duration)),
            duration_s: seconds(connection.duration),
            local: connection.local.to_string(),
            remote: connection.remote.to_string(),
            accepted: connection.accepted,
            control: &connection.control,
            slow_start_end: slow_start.end.name(),
            slow_start_ended: slow_start.end.is_left(),
            end_cwnd_packets: slow_start.cwnd,
            end_after_s: slow_start.between.map(|(from, to)| [seconds(from), seconds(to)]),
            end_rate_bps: slow_start.rate.map(|bytes| bytes.saturating_mul(8)),
            end_srtt_s: slow_start.srtt.map(seconds),
            timeouts: slow_start.timeouts,
            acked_bytes: connection.acked,
            sent_again_bytes: connection.sent_again,
            sent_again_packets: connection.sent_again_segments,
            lost_packets: connection.lost,
            marked_packets: connection.marked,
            mss_bytes: connection.mss,
            longest_cwnd_packets: connection.longest_cwnd,
            cwnd_packets: connection.cwnd,
            min_rtt_s: seconds(connection.min_rtt),
            srtt_s: seconds(connection.srtt),
        }
    }

    /// A line for people: `cubic 192.0.2.1:443 loss at 294 packets after 0.25 to 0.30 s, ...`.
    pub(super) fn line(&self) -> String {
        let Self { control, remote, slow_start_end: end, end_cwnd_packets: cwnd, .. } = self;
        let arrow = if self.accepted { "<-" } else { "->" };
        let end = match (self.slow_start_ended, self.end_after_s) {
            (false, _) => format!("still in slow start at {cwnd} packets ({end})"),
            (true, None) => format!("{end} at {cwnd} packets"),
            (true, Some([from, to])) => {
                format!("{end} at {cwnd} packets, {from:.3} to {to:.3} s after the handshake")
            }
        };
        let (bytes, again) = (self.acked_bytes, self.sent_again_packets);
        let (seconds, rtt) = (self.duration_s, self.min_rtt_s * 1e3);
        format!(
            "{arrow} {remote} {control}: {end}; {bytes} bytes in {seconds:.3} s, {again} sent \
             again, RTT {rtt:.3} ms"
        )
    }
}

#[cfg(test)]
mod tests {
    use firstflight_results::Table;
    use firstflight_results::table::connections;

    use super::super::summary;
    use super::*;

    #[test]
    fn a_line_has_what_the_table_of_connections_has() {
        let connection = summary::tests::connection("cubic", 294, 6_000_000);
        let line = serde_json::to_string(&ConnectionLine::new(&connection)).unwrap();
        let mut table = Table::empty(connections::columns());
        connections::push(&mut table, &line).unwrap();
        let keys = serde_json::from_str::<serde_json::Value>(&line).unwrap();
        // The schema is no column, and the interval two.
        assert_eq!(keys.as_object().unwrap().len(), connections::columns().len());
        assert_eq!(table.row(0)["end_not_after_s"], 0.296);
    }

    #[test]
    fn a_line_says_why_slow_start_ended() {
        let connection = summary::tests::connection("cubic", 294, 6_000_000);
        let line = ConnectionLine::new(&connection).line();
        let expected = "-> 192.0.2.1:443 cubic: loss at 294 packets, 0.250 to 0.296 s after the \
                        handshake; 6000000 bytes in 2.000 s, 7 sent again, RTT 40.000 ms";
        assert_eq!(line, expected);
    }
}
