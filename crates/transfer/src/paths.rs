//! The file in which the sender keeps what it learned of paths, for the next transfer to the same
//! address (RFC 9959 section 4.1): private, of bounded size, and forgotten after a day.
//!
//! Two transfers that end at once may each write the file; the later one's view of the other
//! addresses wins. What is lost by that is a hint.

use std::fs::{self, DirBuilder};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use firstflight_core::hint::Learned;
use firstflight_core::units::{Bytes, Rate, Span};
use firstflight_core::view::Window;
use firstflight_outside::AtomicFile;
use firstflight_quic::quinn::{PathMemory, Remembered, Visit};
use serde::{Deserialize, Serialize};

use crate::error::TransferError;
use crate::private;

/// The memory of one such file.
pub(crate) struct Paths {
    file: PathBuf,
    memory: PathMemory,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    paths: Vec<Line>,
}

/// One address.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    remote: IpAddr,
    ended_unix_s: u64,
    cwnd_bytes: u64,
    /// The threshold; absent while unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh_bytes: Option<u64>,
    /// The smoothed RTT, ns.
    rtt_ns: u64,
    /// The smallest RTT, ns.
    min_rtt_ns: u64,
    /// Payload that was delivered.
    delivered_bytes: u64,
    /// Payload that was delivered in a round.
    per_round_bytes: u64,
    /// The rate that was measured; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_bytes_per_s: Option<u64>,
}

impl Paths {
    /// Reads what earlier transfers wrote to `file`; without such a file nothing is known.
    ///
    /// # Errors
    /// A file that cannot be read, that others can read, or that is not of this kind.
    pub(crate) fn open(file: PathBuf) -> Result<Self, TransferError> {
        let memory = read(&file)?;
        Ok(Self { file, memory })
    }

    /// Begins a connection to `remote`: see [`PathMemory::visit`].
    pub(crate) fn visit(&self, remote: IpAddr) -> Visit {
        self.memory.visit(remote)
    }

    /// Writes what is now known of `remote`, and keeps what the file has of others.
    ///
    /// # Errors
    /// A file that cannot be read again or written.
    pub(crate) fn save(&self, remote: IpAddr) -> Result<(), TransferError> {
        let remote = remote.to_canonical();
        let others = read(&self.file)?;
        let mut lines = others.remembered();
        lines.retain(|(other, _)| *other != remote);
        lines.extend(self.memory.remembered().into_iter().filter(|(known, _)| *known == remote));
        lines.sort_unstable_by_key(|(_, known)| known.at);
        let skipped = lines.len().saturating_sub(MOST);
        let paths = lines.iter().skip(skipped).map(Line::of).collect();
        let written = serde_json::to_string_pretty(&Written { version: VERSION, paths });
        let text = written.map_err(io::Error::other).map_err(|error| self.wrong(error))?;
        replace(&self.file, &text).map_err(|error| self.wrong(error))
    }

    fn wrong(&self, source: io::Error) -> TransferError {
        TransferError::File { path: self.file.clone(), source }
    }
}

fn read(file: &Path) -> Result<PathMemory, TransferError> {
    let memory = PathMemory::new(LIFETIME, MOST);
    if fs::symlink_metadata(file).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(memory);
    }
    let wrong = |problem: String| {
        let accepted = "accepted: what `firstflight send` wrote; or delete it, and it begins anew";
        TransferError::Input(format!("{FLAG} {}: {problem}; {accepted}", file.display()))
    };
    let text = private::read(file, FLAG, "what was learned of paths")?;
    let written: Written =
        serde_json::from_slice(&text).map_err(|problem| wrong(problem.to_string()))?;
    if written.version != VERSION {
        return Err(wrong(format!("version {}, not {VERSION}", written.version)));
    }
    for line in written.paths {
        let remembered = line
            .remembered()
            .ok_or_else(|| wrong(format!("{}: an RTT of 0 or a time out of range", line.remote)))?;
        memory.remember(line.remote, remembered);
    }
    Ok(memory)
}

/// A new file takes the old one's place at once, so that nobody reads half of it. A link stays one.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.exists()) {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let new = AtomicFile::private(file)?;
    new.write(text.as_bytes())?;
    new.write(b"\n")?;
    new.finish()
}

impl Line {
    fn of((remote, known): &(IpAddr, Remembered)) -> Self {
        let Learned { window, rtt, min_rtt, delivered, per_round, rate, .. } = known.learned;
        let ended = known.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            remote: *remote,
            ended_unix_s: ended.as_secs(),
            cwnd_bytes: window.cwnd.0,
            ssthresh_bytes: (window.ssthresh != Bytes::MAX).then_some(window.ssthresh.0),
            rtt_ns: rtt.0,
            min_rtt_ns: min_rtt.0,
            delivered_bytes: delivered.0,
            per_round_bytes: per_round.0,
            rate_bytes_per_s: rate.map(|rate| rate.0),
        }
    }

    /// `None` of an RTT of zero, or a time that no clock has.
    fn remembered(&self) -> Option<Remembered> {
        let ssthresh = self.ssthresh_bytes.map_or(Bytes::MAX, Bytes);
        let learned = Learned {
            window: Window { cwnd: Bytes(self.cwnd_bytes), ssthresh },
            rtt: Span(self.rtt_ns),
            min_rtt: Span(self.min_rtt_ns),
            delivered: Bytes(self.delivered_bytes),
            per_round: Bytes(self.per_round_bytes),
            rate: self.rate_bytes_per_s.map(Rate),
            age: Span(0),
        };
        let at: SystemTime = UNIX_EPOCH.checked_add(Duration::from_secs(self.ended_unix_s))?;
        (self.rtt_ns > 0 && self.min_rtt_ns > 0).then_some(Remembered { learned, at })
    }
}

const VERSION: u32 = 1;

/// The flag that names the file; without it there is a usual one.
const FLAG: &str = "--paths";

/// Longer than any start-up believes a hint (`careful-resume` ten minutes, by default).
const LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Addresses in a file, some 60 KB at most.
const MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn line(last: u8, ended_unix_s: u64) -> Line {
        Line {
            remote: IpAddr::from([192, 0, 2, last]),
            ended_unix_s,
            cwnd_bytes: 120_000,
            ssthresh_bytes: None,
            rtt_ns: 100_000_000,
            min_rtt_ns: 90_000_000,
            delivered_bytes: 5_000_000,
            per_round_bytes: 110_000,
            rate_bytes_per_s: Some(1_000_000),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "as in the file")]
    fn now_s() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    /// A folder of this test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = format!("firstflight-paths-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(folder))
        }

        fn write(&self, written: &Written) -> PathBuf {
            let file = self.0.join("paths.json");
            replace(&file, &serde_json::to_string(written).unwrap()).unwrap();
            file
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_what_others_wrote_meanwhile_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new("again");
        let now = now_s();
        let file = folder.write(&Written { version: 1, paths: vec![line(1, now - 60)] });
        let paths = Paths::open(file.clone()).unwrap();
        let newer = vec![line(1, now - 60), line(2, now - 30)];
        folder.write(&Written { version: 1, paths: newer });
        paths.save(line(1, 0).remote).unwrap();
        let again = Paths::open(file.clone()).unwrap().memory.remembered();
        assert_eq!(again.len(), 2);
        assert_eq!(again[0].1.learned.per_round, Bytes(110_000));
        assert_eq!(again[0].1.learned.rate, Some(Rate(1_000_000)));
        assert_eq!(again[0].1.learned.window.ssthresh, Bytes::MAX);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // Nothing known any more: the line goes.
        let paths = Paths { file: file.clone(), memory: PathMemory::new(LIFETIME, MOST) };
        paths.save(line(1, 0).remote).unwrap();
        assert_eq!(Paths::open(file).unwrap().memory.remembered().len(), 1);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no other file is left");
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_refused_with_what_to_do() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new("wrong");
        let zero = Line { rtt_ns: 0, ..line(1, 1) };
        let late = line(1, u64::MAX);
        for (written, says) in [
            (Written { version: 2, paths: Vec::new() }, "version 2, not 1"),
            (Written { version: 1, paths: vec![zero] }, "192.0.2.1: an RTT of 0"),
            (Written { version: 1, paths: vec![late] }, "or a time out of range"),
        ] {
            let problem = Paths::open(folder.write(&written)).err().unwrap().to_string();
            assert!(problem.contains(says) && problem.contains("delete it"), "{problem}");
        }
        let file = folder.0.join("paths.json");
        fs::write(&file, "{\"version\": 1").unwrap();
        assert!(Paths::open(file.clone()).err().unwrap().to_string().contains("EOF"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Paths::open(file).err().unwrap().to_string().contains("others can read it"));
        assert!(Paths::open(folder.0.join("none")).unwrap().memory.remembered().is_empty());
    }
}
