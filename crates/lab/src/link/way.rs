//! One direction while its link runs: it reads one device and writes to the other.

use std::fs::File;
use std::io::{Read as _, Write as _};

use super::direction::Direction;
use super::lateness::Lateness;
use super::packet::{self, Pool};
use super::segments::{HEADER, Segments};
use super::{Clock, Device, DirectionReport, DirectionSpec, LinkSpec};

pub(super) struct Way {
    /// Which end it reads.
    pub(super) end: usize,
    /// What happens to the packets.
    pub(super) direction: Direction,
    /// Buffers of packets that are held.
    pool: Pool,
    /// What was read last.
    read: Vec<u8>,
    /// Packets that the other end's kernel refused.
    refused: u64,
    /// Between two samples of the queue's depth, ns.
    depth_every: Option<u64>,
    /// Packets that came as a part of a larger one.
    offload_packets: u64,
    /// The measured period, ns.
    measured: (u64, u64),
    /// When the device was last found empty.
    read_at: u64,
    /// The longest time between two such reads, ns.
    longest_absence: u64,
}

/// What a direction did.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) report: DirectionReport,
    pub(super) lateness: Lateness,
    pub(super) longest_absence_us: f64,
}

impl Way {
    pub(super) fn new(
        end: usize,
        device: &Device,
        direction: &DirectionSpec,
        spec: &LinkSpec,
        now: u64,
    ) -> Self {
        Self {
            end,
            direction: Direction::new(direction, spec.seed, direction.place.unwrap_or(end as u64)),
            pool: Pool::new(HEADER + spec.mtu.max(576)),
            read: vec![0; HEADER + LARGEST],
            refused: 0,
            depth_every: spec.depth_every_ns,
            offload_packets: device.segments.into(),
            measured: (0, u64::MAX),
            read_at: now,
            longest_absence: 0,
        }
    }

    /// Begins the measured period when one was set.
    pub(super) fn note_measure(&mut self, wanted: (u64, u64)) {
        if wanted == self.measured {
            return;
        }
        self.measured = wanted;
        self.longest_absence = 0;
        self.refused = 0;
        self.direction.measure(wanted.0, wanted.1, self.depth_every);
    }

    /// Takes packets from its device; whether there may be more.
    pub(super) fn read(&mut self, ends: &[File; 2], clock: Clock) -> bool {
        for _ in 0..BATCH {
            let length = (&ends[self.end]).read(&mut self.read).unwrap_or(0);
            let now = clock.now();
            if length == 0 {
                self.note_read(now);
                return false;
            }
            let mut segments = Segments::of(&self.read[..length]);
            let mut slot = self.pool.take();
            while let Some(written) = segments.write_next(self.pool.room(slot)) {
                let Ok(length) = written else {
                    self.refused += 1;
                    continue;
                };
                self.pool.set_length(slot, length);
                let marks = self.direction.marks(now, &self.pool.packet(slot)[HEADER..]);
                if self.direction.arrive(now, slot, &self.pool.packet(slot)[HEADER..]) {
                    if marks {
                        self.direction.count_mark(now);
                        packet::mark(&mut self.pool.room(slot)[HEADER..]);
                    }
                    slot = self.pool.take();
                }
            }
            self.pool.give(slot);
            self.apply_touched();
        }
        true
    }

    /// Marks or frees the packets that the direction has marked or dropped since the last call.
    fn apply_touched(&mut self) {
        let touched = self.direction.take_touched();
        for slot in touched.marked {
            packet::mark(&mut self.pool.room(slot)[HEADER..]);
        }
        touched.gone.into_iter().for_each(|slot| self.pool.give(slot));
    }

    fn note_read(&mut self, now: u64) {
        if (self.measured.0..self.measured.1).contains(&now) {
            let absence = now.saturating_sub(self.read_at.max(self.measured.0));
            self.longest_absence = self.longest_absence.max(absence);
        }
        self.read_at = now;
    }

    /// It slept until now, and missed nothing: a packet would have woken it.
    pub(super) fn woke(&mut self, now: u64) {
        self.read_at = now;
    }

    /// Hands on what is due, at most a batch so that reading is not kept waiting.
    pub(super) fn release(&mut self, ends: &[File; 2], clock: Clock) {
        self.direction.catch_up(clock.now());
        self.apply_touched();
        for _ in 0..BATCH {
            let now = clock.now();
            let Some((due, slot)) = self.direction.take_due(now) else { break };
            let frame = self.pool.packet(slot);
            self.direction.delivered(due, now, frame.len() - HEADER);
            // A kernel that takes no packet now takes none later: it is lost, and counted.
            if (&ends[1 - self.end]).write(frame).is_err() {
                self.refused += 1;
            }
            self.pool.give(slot);
        }
    }

    pub(super) fn finish(mut self, now: u64) -> Done {
        // A period that was given counts as a whole: whoever stops the link before its end has made
        // sure that nothing more would come.
        let end = if self.measured.1 == u64::MAX { now } else { self.measured.1 };
        let length_ns = end.saturating_sub(self.measured.0);
        let report = self.report(now, length_ns);
        Done {
            report,
            lateness: self.direction.lateness,
            longest_absence_us: self.longest_absence as f64 / 1e3,
        }
    }

    fn report(&mut self, now: u64, length_ns: u64) -> DirectionReport {
        let totals = self.direction.totals;
        let mut report = DirectionReport {
            offered_packets: totals.offered,
            lost_packets: totals.lost,
            marked_packets: totals.marked,
            delivered_packets: totals.delivered,
            delivered_bytes: totals.delivered_bytes,
            refused_packets: self.refused,
            offload_packets: self.offload_packets,
            peak_queue_packets: Some(0),
            mean_queue_packets: Some(0.0),
            losses: self.direction.take_losses(),
            flows: self.direction.take_flows(),
            ..DirectionReport::default()
        };
        if let Some((totals, depth)) = self.direction.queue_report(now) {
            let length = length_ns.max(1) as f64;
            report.dropped_packets = totals.drops;
            report.utilization = totals.busy_ns as f64 / length;
            report.peak_queue_packets = Some(totals.peak_waiting);
            report.mean_queue_packets = Some(totals.waited_ns as f64 / length);
            report.depth = depth;
        }
        report
    }
}

/// Packets read or handed on at a time.
const BATCH: usize = 64;
/// The most bytes that an IPv4 packet has.
const LARGEST: usize = 65_535;

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    use super::super::packet::tests::tcp;
    use super::*;

    /// A device that hands over a packet at a time, as TUN does, and where its packets come from.
    fn device() -> (File, UnixDatagram) {
        let (device, kernel) = UnixDatagram::pair().unwrap();
        device.set_nonblocking(true).unwrap();
        (File::from(OwnedFd::from(device)), kernel)
    }

    #[test]
    fn a_packet_too_large_for_the_link_is_counted() {
        let ((near, near_kernel), (far, _far_kernel)) = (device(), device());
        let (spec, clock) = (LinkSpec { mtu: 1_500, ..LinkSpec::default() }, Clock::start());
        let device = Device { file: near.try_clone().unwrap(), segments: 1 };
        let mut way = Way::new(0, &device, &spec.forward, &spec, 0);
        for payload in [1_460, 1_461, 100] {
            near_kernel.send(&[vec![0; HEADER], tcp(payload)].concat()).unwrap();
        }
        assert!(!way.read(&[near, far], clock));
        let report = way.finish(clock.now()).report;
        assert_eq!((report.offered_packets, report.refused_packets), (2, 1));
    }
}
