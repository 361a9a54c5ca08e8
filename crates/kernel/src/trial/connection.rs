//! What the program reports of one connection (`struct outcome`, c/bpf/trial.h).

use std::net::SocketAddr;
use std::time::Duration;

use crate::fields::Fields;

/// A connection of a trial that has closed, or has reached [`super::dealing::REPORT_AGE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// When its handshake ended, since the machine was started.
    pub began: Duration,
    /// This host's address and port.
    pub local: SocketAddr,
    /// The other host's.
    pub remote: SocketAddr,
    /// It was dealt the control that is tried.
    pub treated: bool,
    /// Its control when it was reported.
    pub control: String,
    /// The `errno` with which the kernel refused the control, 0 for none.
    pub error: u32,
    /// Bytes that were acknowledged; the SYN may count.
    pub acked: u64,
    /// Bytes that were sent again.
    pub sent_again: u64,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// It closed before both sides had finished.
    pub broken: bool,
    /// The smoothed RTT at the age at which bytes are counted, or at the close before.
    pub srtt: Duration,
    bytes: [Snapshot; 2],
    age: [Snapshot; 2],
}

/// Its state at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Snapshot {
    /// Since the handshake.
    at: Duration,
    acked: u64,
    in_flight: u64,
    srtt: Duration,
}

impl Connection {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(bytes);
        let (began, acked, sent_again) = (fields.nanos()?, fields.long()?, fields.long()?);
        let mut snapshot = || {
            let (at, acked) = (fields.nanos()?, fields.long()?);
            Some(Snapshot { at, acked, in_flight: fields.word()?.into(), srtt: fields.micros()? })
        };
        let (bytes, age) = ([snapshot()?, snapshot()?], [snapshot()?, snapshot()?]);
        let [local, remote] = fields.ends()?;
        let treated = fields.word()? != 0;
        let (error, timeouts) = (fields.word()?, fields.word()?);
        let broken = fields.word()? != 0;
        let control = fields.name()?;
        // Where it did not reach that age, the last snapshot stands in place of the one before it.
        let srtt = age[usize::from(!age[1].at.is_zero())].srtt;
        Some(Self {
            began,
            local,
            remote,
            treated,
            control,
            error,
            acked,
            sent_again,
            timeouts,
            broken,
            srtt,
            bytes,
            age,
        })
    }

    /// When so many bytes had been acknowledged, since the handshake, interpolated between two
    /// snapshots; `None` where fewer were.
    pub fn time_to(&self, bytes: u64) -> Option<Duration> {
        let [before, after] = self.bytes;
        let part = bytes.saturating_sub(before.acked) as f64;
        let whole = after.acked.checked_sub(before.acked).filter(|whole| *whole > 0)? as f64;
        Some(before.at + span(before, after).mul_f64((part / whole).min(1.)))
    }

    /// Bytes that were acknowledged by that age; all of a connection that did not live so long.
    pub fn bytes_at(&self, age: Duration) -> f64 {
        let [before, after] = self.age;
        if after.at.is_zero() {
            return self.acked as f64;
        }
        let more = after.acked.saturating_sub(before.acked) as f64;
        let part = age.saturating_sub(before.at).as_secs_f64();
        let whole = span(before, after).as_secs_f64();
        before.acked as f64 + more * if whole > 0. { (part / whole).min(1.) } else { 1. }
    }
}

/// The time in which the bytes between two snapshots were acknowledged. Snapshots come once per RTT
/// while data flows. Where no more was acknowledged than was in flight, the pause after it is the
/// application's.
fn span(before: Snapshot, after: Snapshot) -> Duration {
    let all = after.at.saturating_sub(before.at);
    match after.acked - before.acked <= before.in_flight {
        true => all.min(before.srtt),
        false => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn snapshot(at: u64, acked: u64, in_flight: u64) -> Snapshot {
        let (at, srtt) = (Duration::from_millis(at), Duration::from_millis(40));
        Snapshot { at, acked, in_flight, srtt }
    }

    fn connection(bytes: [Snapshot; 2], age: [Snapshot; 2]) -> Connection {
        Connection { bytes, age, acked: 90_000, ..Connection::read(&[0; 192]).unwrap() }
    }

    #[test]
    fn between_two_snapshots_bytes_come_evenly() {
        let two = [snapshot(80, 30_000, 60_000), snapshot(120, 90_000, 0)];
        let connection = connection(two, two);
        assert_eq!(connection.time_to(60_000), Some(Duration::from_millis(100)));
        assert_eq!(connection.bytes_at(Duration::from_millis(90)), 45_000.);
    }

    #[test]
    fn a_pause_after_the_data_is_the_applications() {
        let two = [snapshot(80, 30_000, 60_000), snapshot(9_000, 90_000, 0)];
        let connection = connection(two, two);
        assert_eq!(connection.time_to(60_000), Some(Duration::from_millis(100)));
        assert_eq!(connection.bytes_at(Duration::from_secs(5)), 90_000.);
        // More came than was in flight: the data came late.
        let late = [snapshot(80, 30_000, 10_000), snapshot(9_000, 90_000, 0)];
        assert!(self::connection(late, late).time_to(60_000) > Some(Duration::from_secs(4)));
    }

    #[test]
    fn a_short_connection_has_no_time_and_all_its_bytes() {
        let connection =
            connection([Snapshot::default(); 2], [snapshot(50, 90_000, 0), Snapshot::default()]);
        assert_eq!(connection.time_to(100_000), None);
        assert_eq!(connection.bytes_at(Duration::from_secs(1)), 90_000.);
        assert_eq!(Connection::read(&[0; 100]), None);
    }
}
