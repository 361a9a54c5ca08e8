//! What became of the files of one connection: its sender writes them and its receiver takes them,
//! each in a thread of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use firstflight_core::units::Instant;
use firstflight_results::FileOutcome;

/// The files of one connection so far.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<Vec<File>>);

#[derive(Clone, Copy, Debug)]
struct File {
    packets: u32,
    /// All bytes of the connection up to its end.
    until: u64,
    /// When it was written, ns.
    began: u64,
    /// When all of it had been acknowledged, ns.
    delivered: Option<u64>,
    /// Packets sent for it, once all are acknowledged.
    sent: Option<u32>,
}

impl Files {
    fn lock(&self) -> MutexGuard<'_, Vec<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one is about to be written at `now`, ns of the run.
    pub(super) fn begin(&self, now: u64, packets: u32, packet_bytes: u64) {
        let mut files = self.lock();
        let before = files.last().map_or(0, |file| file.until);
        let until = before + u64::from(packets) * packet_bytes;
        files.push(File { packets, until, began: now, delivered: None, sent: None });
    }

    /// The receiver has had so many bytes at `now`.
    pub(super) fn receive(&self, bytes: u64, now: u64) {
        if let Some(file) = self.lock().last_mut().filter(|file| file.until <= bytes) {
            file.delivered.get_or_insert(now);
        }
    }

    /// All of the newest has been acknowledged.
    pub(super) fn end(&self, sent: u32) {
        self.lock().iter_mut().last().into_iter().for_each(|file| file.sent = Some(sent));
    }

    /// Those that are over.
    pub(super) fn take(&self) -> Vec<FileOutcome> {
        let over = |file: &File| {
            Some(FileOutcome {
                packets: file.packets,
                sent: file.sent?.into(),
                began: Instant(file.began),
                delivered: Instant(file.delivered?),
            })
        };
        self.lock().iter().filter_map(over).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_when_it_has_arrived_whole_and_is_acknowledged() {
        let files = Files::default();
        files.begin(5, 3, 1000);
        files.receive(2_999, 6);
        files.receive(3_000, 7);
        assert_eq!(files.take(), []);
        files.end(4);
        files.begin(20, 1, 1000);
        files.receive(3_500, 30);
        files.end(1);
        let (began, delivered) = (Instant(5), Instant(7));
        assert_eq!(files.take(), [FileOutcome { packets: 3, sent: 4, began, delivered }]);
    }
}
