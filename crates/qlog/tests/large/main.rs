//! Memory does not grow with a log, nor time with the square of it. One test in this file: what is
//! measured is of the whole process.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use firstflight_qlog::Log;

/// A record of a number, as JSON.
type Record = fn(u64) -> String;

/// A log that is as long as it is read, and nowhere in memory.
struct Endless {
    records: u64,
    next: u64,
    record: Record,
    rest: Cursor<Vec<u8>>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.rest.read(buffer)?;
            if read > 0 || self.next > self.records {
                return Ok(read);
            }
            let header = || r#"{"qlog_version":"0.3","trace":{}}"#.to_owned();
            let text = if self.next == 0 { header() } else { (self.record)(self.next) };
            self.rest = Cursor::new(format!("{text}\n").into_bytes());
            self.next += 1;
        }
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        assert_eq!(to, SeekFrom::Start(0), "a log is read from its begin");
        (self.next, self.rest) = (0, Cursor::default());
        Ok(0)
    }
}

/// The most memory that this process had, KiB.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_and_time_follow_the_file() {
    let before = peak_kib();
    let packet = |number: u64| {
        format!(
            r#"{{"time":{},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT",
            "packet_number":{number}}},"raw":{{"length":1200}}}}}}"#,
            number as f64 / 100.0
        )
        .replace('\n', "")
    };
    // An RTT that is longer than the log: every loss is within it.
    let metrics = |number: u64| {
        format!(
            r#"{{"time":{},"name":"recovery:metrics_updated","data":{{"smoothed_rtt":1e9,
            "congestion_window":{}}}}}"#,
            number as f64 / 100.0,
            20_000 + number % 3
        )
        .replace('\n', "")
    };
    let another = |number: u64| {
        format!(r#"{{"time":1,"group_id":"{number}","name":"recovery:packet_lost","data":{{}}}}"#)
    };
    let nothing = |_| "1".to_owned();
    let all: [(Record, u64); 4] =
        [(packet, 50_000), (metrics, 50_000), (another, 20_000), (nothing, 200_000)];
    for (record, records) in all {
        let log = Endless { records, next: 0, record, rest: Cursor::default() };
        let log = Log::read("large.sqlog", log, None).unwrap();
        assert!(log.connection.events <= records);
        let taken = peak_kib() - before;
        assert!(taken < 30 << 10, "{taken} KiB for {records} records like {}", record(1));
    }
}
