//! How start-up goes on this host's connections, whatever their control: `c/bpf/watch.bpf.c`
//! writes one record for each connection of a cgroup when it closes, `c/bpf/traced.bpf.c` for each
//! connection of the host.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libbpf_rs::{Link, MapCore as _, MapFlags, Object, ObjectBuilder};

use crate::cgroup::other_programs;
use crate::fields::Fields;
use crate::load::Complaints;
use crate::requirements::{self, Lack};
use crate::ring::drain;

/// The programs, attached until this is dropped; connections go on undisturbed then.
#[derive(Debug)]
pub struct Watch {
    // Dropped first: what it stands for is in the object.
    _links: Vec<Link>,
    object: Object,
}

/// Why a cgroup could not be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The machine lacks something.
    #[error(transparent)]
    Lack(#[from] Lack),
    /// Not a folder of a cgroup2 file system.
    #[error("{0}: {1}; accepted: a folder of a cgroup2 file system, such as {2}")]
    Cgroup(PathBuf, io::Error, String),
    /// libbpf or the kernel refused.
    #[error("the kernel refused: {0}")]
    Refused(String),
    /// A program that shares the cgroup with no other is there already.
    #[error(
        "{0}: another program is attached there that admits no second one{1}; \
         `bpftool cgroup show {0}` names it"
    )]
    Alone(PathBuf, String),
}

/// One connection that has closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its control's name at the end.
    pub control: String,
    /// This host's address and port.
    pub local: SocketAddr,
    /// The other host's.
    pub remote: SocketAddr,
    /// A listener of this host accepted it.
    pub accepted: bool,
    /// From the end of the handshake to its close.
    pub duration: Duration,
    /// How its first slow start ended.
    pub slow_start: SlowStart,
    /// Bytes that were acknowledged; SYN and FIN may count.
    pub acked: u64,
    /// Bytes that were sent again.
    pub sent_again: u64,
    /// Segments that were sent again.
    pub sent_again_segments: u32,
    /// Segments that the kernel took for lost.
    pub lost: u32,
    /// Segments that were delivered with a mark (ECN).
    pub marked: u32,
    /// The payload of a segment in bytes.
    pub mss: u32,
    /// The longest window that was seen, in segments.
    pub longest_cwnd: u32,
    /// The window at the close, in segments.
    pub cwnd: u32,
    /// The least RTT of late, as the kernel keeps it.
    pub min_rtt: Duration,
    /// The smoothed RTT.
    pub srtt: Duration,
}

/// How a connection's first slow start ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowStart {
    /// Why.
    pub end: End,
    /// The window before the reduction, in segments; where the control decided, its threshold or a
    /// longer window before; the longest where slow start did not end.
    pub cwnd: u32,
    /// When, since the handshake: between these two, where it was seen before the close.
    pub between: Option<(Duration, Duration)>,
    /// The delivery rate then, in bytes per second.
    pub rate: Option<u64>,
    /// The smoothed RTT then.
    pub srtt: Option<Duration>,
    /// Timeouts until then; tracepoints do not tell them.
    pub timeouts: Option<u32>,
}

/// Why a first slow start ended, or why it did not until the connection closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A loss that fast recovery repaired.
    Loss,
    /// A mark of ECN.
    Mark,
    /// A retransmission timeout.
    Timeout,
    /// The control decided, without a loss or a mark.
    Heuristic,
    /// This host's own queue was full.
    Local,
    /// Not at all: the application had no more to send.
    Application,
    /// Not at all: the receiver's window was full for most of the time.
    ReceiverWindow,
    /// Not at all: the send buffer was full for most of the time.
    SendBuffer,
}

impl End {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Loss,
        Self::Mark,
        Self::Timeout,
        Self::Heuristic,
        Self::Local,
        Self::Application,
        Self::ReceiverWindow,
        Self::SendBuffer,
    ];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Mark => "mark",
            Self::Timeout => "timeout",
            Self::Heuristic => "heuristic",
            Self::Local => "local-queue",
            Self::Application => "application",
            Self::ReceiverWindow => "receiver-window",
            Self::SendBuffer => "send-buffer",
        }
    }

    /// `enum slow_start_end` (c/bpf/exit.h); none where it did not end.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().take(5).nth(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// Whether slow start has ended.
    pub const fn is_left(self) -> bool {
        !matches!(self, Self::Application | Self::ReceiverWindow | Self::SendBuffer)
    }
}

/// Counts of connections since the program was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that began.
    pub began: u64,
    /// Connections that closed.
    pub closed: u64,
    /// Closed connections whose records are lost, because the ring buffer was full.
    pub dropped: u64,
}

impl Watch {
    /// Watches the connections of a cgroup that begin from now on. Programs of others stay
    /// attached.
    ///
    /// # Errors
    /// What the machine lacks, or why the kernel refused; nothing stays behind.
    pub fn attach(cgroup: &Path) -> Result<Self, WatchError> {
        requirements::check_connections()?;
        let folder = cgroup2(cgroup)?;
        Complaints::listen();
        let object = load("ff_watch", PROGRAM)?;
        let links = object.progs_mut().map(|program| program.attach_cgroup(folder.as_raw_fd()));
        let links = links.collect::<Result<_, _>>().map_err(|error| unattached(cgroup, error))?;
        Ok(Self { _links: links, object })
    }

    /// Watches the connections of this host that begin from now on by tracepoints, without cgroups.
    /// Where the control left slow start by itself, the time is known no better than until the
    /// first loss after it or the close, and neither rate nor RTT then; timeouts are not counted,
    /// and the longest window is as long as it was at a loss or at the close.
    ///
    /// # Errors
    /// What the machine lacks, or why the kernel refused; nothing stays behind.
    pub fn trace() -> Result<Self, WatchError> {
        requirements::check_tracepoints()?;
        Complaints::listen();
        let object = load("ff_traced", TRACED)?;
        let links = object.progs_mut().map(|program| program.attach());
        let links = links.collect::<Result<_, _>>().map_err(refused)?;
        Ok(Self { _links: links, object })
    }

    /// Takes what has closed since the last time, in order; waits so long for a first one. The
    /// buffer holds some 6,000 connections.
    ///
    /// # Errors
    /// libbpf cannot read the buffer.
    pub fn take(&self, patience: Duration) -> Result<Vec<Connection>, WatchError> {
        let mut found = Vec::new();
        let Some(map) = self.object.maps().find(|map| map.name() == "records") else {
            return Ok(found);
        };
        let drained = drain(&map, patience, |bytes| {
            found.extend(Fields::of(bytes).connection());
            true
        });
        drained.map(|()| found).map_err(refused)
    }

    /// Reads the counts.
    pub fn counts(&self) -> Counts {
        let map = self.object.maps().find(|map| map.name().as_encoded_bytes().ends_with(b".bss"));
        let value = map.and_then(|map| map.lookup(&[0; 4], MapFlags::ANY).ok().flatten());
        let value = value.unwrap_or_default();
        let mut fields = Fields::of(&value);
        let mut next = || fields.long().unwrap_or_default();
        Counts { began: next(), closed: next(), dropped: next() }
    }
}

fn load(name: &str, program: &[u8]) -> Result<Object, WatchError> {
    let mut builder = ObjectBuilder::default();
    let opened = builder.name(name).and_then(|builder| builder.open_memory(program));
    opened.and_then(libbpf_rs::OpenObject::load).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what closures are given")]
fn refused(error: libbpf_rs::Error) -> WatchError {
    let refused = || WatchError::Refused(Complaints::with(&error));
    Complaints::lack().map_or_else(refused, WatchError::Lack)
}

/// The cgroup2 file system of this machine, where there is one.
pub fn default_cgroup() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let folder = words.next()?;
        (words.next()? == "cgroup2").then(|| folder.into())
    })
}

/// Why a program could not be attached.
pub(crate) fn unattached(cgroup: &Path, error: libbpf_rs::Error) -> WatchError {
    match error.kind() == libbpf_rs::ErrorKind::PermissionDenied {
        true => {
            let others = other_programs();
            let among = if others.is_empty() { String::new() } else { ", among ".to_owned() };
            WatchError::Alone(cgroup.to_owned(), among + &others.join(", "))
        }
        false => refused(error),
    }
}

/// Opens a folder that has what every cgroup2 folder has.
pub(crate) fn cgroup2(folder: &Path) -> Result<File, WatchError> {
    let opened = fs::metadata(folder.join("cgroup.procs")).and_then(|_| File::open(folder));
    opened.map_err(|error| {
        let such = default_cgroup().unwrap_or_else(|| "/sys/fs/cgroup".into());
        WatchError::Cgroup(folder.to_owned(), error, such.display().to_string())
    })
}

/// The fields of `struct watched` (c/bpf/watch.h).
impl Fields<'_> {
    fn connection(&mut self) -> Option<Connection> {
        let [duration, still_in, ended_by] = [self.nanos()?, self.nanos()?, self.nanos()?];
        let [rate, acked, sent_again] = [self.long()?, self.long()?, self.long()?];
        let [local, remote] = self.ends()?;
        let accepted = self.word()? != 0;
        let (end, end_cwnd, end_srtt) = (self.word()?, self.word()?, self.micros()?);
        let timeouts = Some(self.word()?).filter(|count| *count != u32::MAX);
        let [longest_cwnd, cwnd, mss] = [self.word()?, self.word()?, self.word()?];
        let [min_rtt, srtt] = [self.micros()?, self.micros()?];
        let [sent_again_segments, lost, marked] = [self.word()?, self.word()?, self.word()?];
        let end = read_end(end, [self.word()?, self.word()?, self.word()?])?;
        let control = self.name()?;
        let seen = !ended_by.is_zero();
        Some(Connection {
            control,
            local,
            remote,
            accepted,
            duration,
            slow_start: SlowStart {
                end,
                cwnd: if end.is_left() { end_cwnd } else { longest_cwnd },
                between: (end.is_left() && seen).then_some((still_in, ended_by)),
                rate: (end.is_left() && rate > 0).then_some(rate),
                srtt: (end.is_left() && !end_srtt.is_zero()).then_some(end_srtt),
                timeouts,
            },
            acked,
            sent_again,
            sent_again_segments,
            lost,
            marked,
            mss,
            longest_cwnd,
            cwnd,
            min_rtt,
            srtt,
        })
    }
}

/// Why slow start ended; where it did not, what held the sender back for most of the time in
/// which data waited.
fn read_end(end: u32, [network, receiver, buffer]: [u32; 3]) -> Option<End> {
    match end {
        0 if receiver >= buffer && receiver > network => Some(End::ReceiverWindow),
        0 if buffer > network => Some(End::SendBuffer),
        0 => Some(End::Application),
        _ => End::from_number(end),
    }
}

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/watch.o"));
const TRACED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/traced.o"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_held_the_sender_back_is_named_where_slow_start_went_on() {
        assert_eq!(read_end(0, [5, 0, 0]), Some(End::Application));
        assert_eq!(read_end(0, [0, 0, 0]), Some(End::Application));
        assert_eq!(read_end(0, [5, 9, 2]), Some(End::ReceiverWindow));
        assert_eq!(read_end(0, [5, 2, 9]), Some(End::SendBuffer));
        assert_eq!(read_end(1, [5, 2, 9]), Some(End::Loss));
        assert_eq!(read_end(99, [0; 3]), None);
    }

    #[test]
    fn a_short_record_is_none() {
        assert_eq!(Fields::of(&[0; 100]).connection(), None);
    }
}
