//! What others record of a connection, read for what it shows of start-up.
//!
//! [`open`] finds out what a file is and reads one connection of it:
//!
//! - a qlog, by the crate `firstflight-qlog`;
//! - a pcap or pcapng: what was sent, acknowledged and sent again, what was in flight, RTTs, the
//!   window that the receiver offered. A capture shows no congestion window, so that what is in
//!   flight is taken for it;
//! - the output of `ss -tin`, taken again and again with the time: what the kernel says of a
//!   sender;
//! - the JSON of iperf3.
//!
//! Each may be packed as .gz or .zst, and come through a pipe. What a record cannot show of a
//! connection's start-up it says in [`Connection::hidden`]. [`mix`] reads many connections at once.
//! [`Pcap`] writes a capture.

mod capture;
mod error;
mod form;
pub mod iperf;
pub mod mix;
#[cfg(not(target_family = "wasm"))]
mod packed;
mod sockets;
mod source;

/// A page in a browser hands over what it has unpacked.
#[cfg(target_family = "wasm")]
mod packed {
    use crate::RecordError;
    use crate::source::Rewindable;

    pub(crate) fn unpacked<R>(_: &str, _: &mut R) -> Result<Option<Rewindable>, RecordError> {
        Ok(None)
    }
}

use std::io::{Read, Seek};
use std::path::Path;

use firstflight_qlog::{Connection, Listed, Log, Skipped};
use firstflight_results::Table;

pub use capture::{Pcap, Segment};
pub use error::RecordError;
pub use form::Form;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A connection that was recorded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// What the file is.
    pub form: Form,
    /// The version of a qlog or of iperf3; else empty.
    pub version: String,
    /// What is known of the connection. The vantage of a capture is `sender`, `receiver` or
    /// `network`.
    pub connection: Connection,
    /// Which connection of the file it is, from 1, in the order of [`all`](Self::all).
    pub number: usize,
    /// The connections of the file, in the order in which they begin.
    pub all: Vec<Listed>,
    /// Packets, lines or records that were left out.
    pub skipped: Skipped,
    /// The file breaks off.
    pub truncated: bool,
    /// The payload of a full packet of TCP, bytes, if it is known.
    pub mss: Option<u64>,
    /// The connection is UDP's: only bytes over time can be seen.
    pub udp: bool,
    /// Where a capture was taken and how that is known: `at the sender: SYN to SYN-ACK took ...`.
    pub taken: Option<String>,
}

/// Reads a file, and of its connections the one of this number, from 1; without one that with most
/// bytes. `-` is standard input; what is no regular file is read once and whole.
///
/// # Errors
/// As [`read`], and what cannot be opened.
pub fn open(path: &Path, number: Option<usize>) -> Result<Recorded, RecordError> {
    let (file, source) = source::open(path)?;
    read(&file, source, number)
}

/// What a file may be that is shown: one connection of it, or a recording of a whole host.
#[derive(Debug)]
pub enum Opened {
    /// A connection, packet by packet or sample by sample.
    Recorded(Box<Recorded>),
    /// The lines of `kernel watch`.
    Watched(Watched),
}

/// The connections that `kernel watch` has recorded.
#[derive(Debug)]
pub struct Watched {
    /// A row each ([`firstflight_results::table::connections`]).
    pub table: Table,
    /// Lines that were left out.
    pub skipped: Skipped,
}

/// As [`open`], and recordings of `kernel watch`.
///
/// # Errors
/// As [`open`].
pub fn open_any(path: &Path, number: Option<usize>) -> Result<Opened, RecordError> {
    let (file, mut source) = source::open(path)?;
    let watched = match packed::unpacked(&file, &mut source)? {
        None => mix::watched_table(&file, &mut source)?,
        Some(mut kept) => mix::watched_table(&file, &mut kept.content)?,
    };
    match watched {
        Some(watched) => Ok(Opened::Watched(watched)),
        None => Ok(Opened::Recorded(Box::new(read(&file, source, number)?))),
    }
}

/// Reads a record from its begin; `file` is for messages.
///
/// # Errors
/// What cannot be read, or is no record; what has no connection to show, or not the one of this
/// number.
pub fn read<R: Read + Seek + Send>(
    file: &str,
    mut source: R,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    match packed::unpacked(file, &mut source)? {
        None => recorded(file, &mut source, number),
        Some(mut kept) => {
            let recorded = recorded(file, &mut kept.content, number)?;
            Ok(Recorded { truncated: recorded.truncated || kept.truncated, ..recorded })
        }
    }
}

/// Where a record is read from. The readers are compiled for this one alone.
trait Source: Read + Seek + Send {}

impl<R: Read + Seek + Send> Source for R {}

fn recorded(
    file: &str,
    mut source: &mut dyn Source,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    match form::of(&source::first(file, source, FIRST)?) {
        Ok(Form::Qlog) => Ok(of_log(Log::read(file, source, number)?)),
        Ok(Form::Capture) => capture::read(file, &mut source, number),
        Ok(Form::Sockets) => sockets::read(file, &mut source, number),
        Ok(Form::Iperf) => iperf::read(file, &mut source, number),
        Err((found, accepted)) => {
            Err(RecordError::Refused { file: file.to_owned(), found, accepted })
        }
    }
}

fn of_log(log: Log) -> Recorded {
    Recorded {
        form: Form::Qlog,
        version: log.version,
        connection: log.connection,
        number: log.number,
        all: log.all,
        skipped: log.skipped,
        truncated: log.truncated,
        ..Recorded::default()
    }
}

/// The place of the connection of a number; without one of the first with the most.
fn choose<K: Ord>(
    file: &str,
    number: Option<usize>,
    all: usize,
    most: impl Fn(usize) -> K,
) -> Result<usize, RecordError> {
    let place = match number {
        Some(number) => number.checked_sub(1).filter(|place| *place < all),
        None => (0..all).rev().max_by_key(|place| most(*place)),
    };
    let asked = number.unwrap_or_default();
    place.ok_or_else(|| RecordError::NoSuchConnection { file: file.to_owned(), asked, all })
}

/// How much of a file is read to find out what it is, bytes.
const FIRST: u64 = 64 << 10;
