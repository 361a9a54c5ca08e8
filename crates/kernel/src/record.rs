//! The events of the senders of a recording control, and their windows after each.

use std::time::Duration;

use libbpf_rs::MapCore as _;

use crate::fields::Fields;
use crate::load::{RECORDS, Registered};
use crate::ring::drain;
use crate::watch::End;

/// One event of one connection: `struct record` of `c/bpf/record.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Local and peer port.
    pub ports: (u32, u32),
    /// What happened.
    pub kind: Kind,
    /// The kernel's cwnd in segments, as it stands.
    pub snd_cwnd: u32,
    /// The kernel's ssthresh in segments, as it stands.
    pub snd_ssthresh: u32,
    /// Segment payload in bytes.
    pub mss: u32,
    /// The event's numbers, in the order of its struct in `c/view.h`.
    pub numbers: [u64; 7],
    /// The sender's cwnd afterwards, in bytes.
    pub cwnd: u64,
    /// The sender's ssthresh afterwards, in bytes.
    pub ssthresh: u64,
    /// Payload that the socket has sent, retransmissions included: `tcpi_bytes_sent`.
    pub sent: u64,
    /// The part of it that is acknowledged: `tcpi_bytes_acked`.
    pub acked: u64,
    /// The rate at which the socket sends where it paces, in bytes per second.
    pub pacing_rate: u64,
    /// How start-up ended, if it has.
    pub exit: Option<Exit>,
}

/// How start-up ended, as the control writes it into the socket (`c/bpf/exit.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Why.
    pub end: End,
    /// The window before it in segments.
    pub cwnd: u32,
}

/// `enum record_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A connection began: the configuration.
    New,
    /// Time, RTT.
    Handshake,
    /// Time: the first data may leave.
    Begin,
    /// Time, bytes, what is in flight, whether again: what has left since the last ACK, before a
    /// loss, or before every ACK for a control that needs it.
    Sent,
    /// An ACK.
    Ack,
    /// Time, bytes newly lost, flight, whether a timeout, whether again, whether answered.
    Loss,
    /// The window taken over from the kernel, or all ones.
    Recovered,
    /// A spurious loss.
    Spurious,
    /// The new MSS.
    Mss,
    /// The window was written to the socket.
    Wrote,
    /// Time, and what an earlier connection learned: cwnd, ssthresh, RTT, smallest RTT, payload
    /// delivered in a round, age.
    Hint,
    /// Time: start-up was woken.
    Wake,
    /// Whether the socket paces from now on.
    Paced,
    /// Time, how long the source had nothing to send.
    Rest,
}

const KINDS: [Kind; 14] = [
    Kind::New,
    Kind::Handshake,
    Kind::Begin,
    Kind::Sent,
    Kind::Ack,
    Kind::Loss,
    Kind::Recovered,
    Kind::Spurious,
    Kind::Mss,
    Kind::Wrote,
    Kind::Hint,
    Kind::Wake,
    Kind::Paced,
    Kind::Rest,
];

impl Record {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(bytes);
        // In the order of the struct.
        Some(Self {
            ports: (fields.word()?, fields.word()?),
            kind: *KINDS.get(usize::try_from(fields.word()?).ok()?)?,
            snd_cwnd: fields.word()?,
            snd_ssthresh: fields.word()?,
            mss: fields.word()?,
            numbers: fields.longs()?,
            cwnd: fields.long()?,
            ssthresh: fields.long()?,
            sent: fields.long()?,
            acked: fields.long()?,
            pacing_rate: fields.long()?,
            exit: Exit::read(fields.long()?),
        })
    }
}

impl Exit {
    fn read(word: u64) -> Option<Self> {
        let [why, _, _, _, cwnd @ ..] = word.to_le_bytes();
        let end = End::from_number(why.into())?;
        Some(Self { end, cwnd: u32::from_le_bytes(cwnd) })
    }
}

impl Registered {
    /// Takes what has been recorded since the last time, in order; empty where the control was
    /// loaded without recording. The buffer holds some 150,000 records; what comes when it is full
    /// is lost.
    ///
    /// # Errors
    /// libbpf cannot read the buffer.
    pub fn records(&self) -> Result<Vec<Record>, libbpf_rs::Error> {
        let mut found = Vec::new();
        let Some(map) = self.object().maps().find(|map| map.name() == RECORDS) else {
            return Ok(found);
        };
        let drained = drain(&map, Duration::ZERO, |bytes| {
            found.extend(Record::read(bytes));
            true
        });
        drained.map(|()| found)
    }
}
