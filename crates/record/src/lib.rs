//! What others record of a TCP connection, read for what it shows of start-up.
//!
//! - [`capture::open`] reads a pcap or pcapng: one connection's direction of data, with what was
//!   sent, acknowledged and sent again, what is in flight, and RTTs.
//! - [`sockets::open`] reads the output of `ss -tin`, taken again and again with the time.
//!
//! Both make [`Recorded`], which holds the events of a [`Connection`] as a qlog has them. A capture
//! shows no window, so that what is in flight is taken for it.

pub mod capture;
mod error;
mod flight;
mod packet;
pub mod sockets;
mod tcp;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use firstflight_qlog::{Connection, Summary};

pub use error::RecordError;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A pcap or pcapng.
    Capture,
    /// The output of `ss`, again and again.
    Sockets,
}

/// A connection that was recorded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// Its events.
    pub connection: Connection,
    /// What they say about start-up and losses.
    pub summary: Summary,
    /// Which connection of the file it is, from 1, in the order of their first packets.
    pub number: usize,
    /// How many the file has.
    pub connections: usize,
    /// Packets or lines that were left out, each with its place and what was wrong.
    pub skipped: Vec<String>,
    /// The file ends within a packet, or has more of the connection than is read.
    pub truncated: bool,
    /// Payload of a full packet, bytes; 0 if there was none.
    pub mss: u64,
    /// The share of the time until start-up ended, or until the last data, in which nothing was in
    /// flight: the application had nothing to send. `None` if the record does not show it.
    pub idle_share: Option<f64>,
    /// The connection is UDP's: only bytes over time can be seen.
    pub udp: bool,
}

/// What the file is by its first bytes; `None` for a qlog, or anything else.
///
/// # Errors
/// As reading the file.
pub fn form(path: &Path) -> std::io::Result<Option<Form>> {
    let mut first = Vec::new();
    File::open(path)?.take(FIRST).read_to_end(&mut first)?;
    Ok(form_of(&first))
}

/// What a file is that begins so.
pub fn form_of(first: &[u8]) -> Option<Form> {
    const MAGIC: [[u8; 4]; 7] = [
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xcd, 0x34],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    if first.get(..4).is_some_and(|magic| MAGIC.iter().any(|known| known == magic)) {
        return Some(Form::Capture);
    }
    let text = String::from_utf8_lossy(first);
    let states = text.lines().any(|line| sockets::is_state(line) || sockets::is_heading(line));
    states.then_some(Form::Sockets)
}

/// How much of a file tells what it is, bytes.
const FIRST: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_what_a_file_is() {
        assert_eq!(form_of(&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0]), Some(Form::Capture));
        assert_eq!(form_of(b"State Recv-Q Send-Q Local Address:Port"), Some(Form::Sockets));
        assert_eq!(form_of(b""), None);
        assert_eq!(form_of(b"\x1e{\"qlog_format\":\"JSON-SEQ\"}"), None);
    }
}
