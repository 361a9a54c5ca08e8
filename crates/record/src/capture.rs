//! A capture: pcap or pcapng, read block by block.
//!
//! The file is read twice, so that memory does not grow with it: once to see which connections it
//! has, and once for the packets of the one that is chosen.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use crate::packet::{Ends, KNOWN, Packet, is_known, packet};
use crate::tcp::Direction;
use crate::{RecordError, Recorded};

/// Reads the connection of this number, from 1; without one that with the most bytes.
///
/// # Errors
/// A file that cannot be read, is no capture, has packets of a link that is not known or none of
/// TCP and UDP, and a number that it does not have.
pub fn open(path: &Path, number: Option<usize>) -> Result<Recorded, RecordError> {
    let file = path.display().to_string();
    let opened = || {
        File::open(path).map_err(|source| RecordError::Unreadable { file: file.clone(), source })
    };
    connection(&file, opened, number)
}

/// Reads a capture that is in memory; `file` is for messages.
///
/// # Errors
/// As [`open`].
pub fn read(file: &str, bytes: &[u8], number: Option<usize>) -> Result<Recorded, RecordError> {
    connection(file, || Ok(bytes), number)
}

fn connection<'a, R: Read + Send + 'a>(
    file: &str,
    open: impl Fn() -> Result<R, RecordError>,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    let mut flows = Flows::default();
    let ended = Blocks::new(file, open()?)?.each(|_, packet| flows.count(packet))?;
    let (number, ends) = flows.choose(file, number)?;
    let mut direction = Direction::new(ends);
    Blocks::new(file, open()?)?.each(|at_ns, packet| direction.take(at_ns, packet))?;
    let mut recorded = direction.recorded();
    (recorded.number, recorded.connections) = (number, flows.order.len());
    recorded.truncated |= ended.truncated;
    recorded.skipped = ended.skipped;
    Ok(recorded)
}

/// How a file ended.
#[derive(Default)]
struct Ended {
    truncated: bool,
    skipped: Vec<String>,
}

/// The blocks of a file in order.
struct Blocks<'a> {
    file: &'a str,
    reader: Box<dyn PcapReaderIterator + Send + 'a>,
    /// What the interfaces of the current section are; a pcap has one.
    interfaces: Vec<Interface>,
}

/// What a file says of an interface.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Units of a time in a second.
    resolution: u64,
}

impl<'a> Blocks<'a> {
    fn new<R: Read + Send + 'a>(file: &'a str, bytes: R) -> Result<Self, RecordError> {
        let reader = create_reader(BUFFER, bytes).map_err(|error| match error {
            PcapError::Eof => wrong(file, 0, "the file is empty"),
            PcapError::ReadError => wrong(file, 0, "the file cannot be read"),
            _ => wrong(file, 0, "no header of a capture"),
        })?;
        Ok(Self { file, reader, interfaces: Vec::new() })
    }

    /// Hands every packet of TCP and UDP on, with its time in nanoseconds. What breaks off is a
    /// truncated file; what is no block ends the reading where packets were read before.
    fn each(mut self, mut take: impl FnMut(u64, &Packet)) -> Result<Ended, RecordError> {
        let (mut ended, mut unknown, mut packets) = (Ended::default(), 0_u64, 0_u64);
        loop {
            let offset = self.reader.consumed() as u64;
            match self.reader.next() {
                Ok((length, block)) => {
                    let frame = frame(self.file, offset, &block, &mut self.interfaces)?;
                    if let Some(frame) = frame {
                        packets += 1;
                        match packet(frame.link, frame.bytes) {
                            Some(packet) => take(frame.at_ns, &packet),
                            None => unknown += 1,
                        }
                    }
                    self.reader.consume(length);
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => {
                    let before = self.reader.data().len();
                    let refilled = self.reader.refill();
                    refilled.map_err(|_| wrong(self.file, offset, "the file cannot be read"))?;
                    if self.reader.data().len() == before && !self.reader.reader_exhausted() {
                        return Err(wrong(self.file, offset, "a block larger than a mebibyte"));
                    }
                }
                Err(PcapError::UnexpectedEof) => {
                    ended.truncated = true;
                    break;
                }
                Err(error) if packets == 0 => {
                    return Err(wrong(self.file, offset, &described(&error)));
                }
                Err(error) => {
                    let problem = described(&error);
                    ended.skipped.push(format!("{}, byte {offset}: {problem}", self.file));
                    ended.truncated = true;
                    break;
                }
            }
        }
        if unknown > 0 {
            ended.skipped.push(format!(
                "{}: {unknown} of {packets} packets are neither TCP nor UDP, fragments, or cut \
                 within their headers",
                self.file
            ));
        }
        Ok(ended)
    }
}

/// A captured frame.
struct Frame<'a> {
    at_ns: u64,
    link: Linktype,
    bytes: &'a [u8],
}

/// The frame of a block, if it has one; what it says of interfaces is kept.
fn frame<'b>(
    file: &str,
    offset: u64,
    block: &'b PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<Frame<'b>>, RecordError> {
    let mut describe = |link: Linktype, resolution: u64| {
        if !is_known(link) {
            let problem = format!("link type {}", link.0);
            return Err(RecordError::Capture {
                file: file.to_owned(),
                offset,
                problem: format!("{problem}; accepted: {KNOWN}"),
            });
        }
        interfaces.push(Interface { link, resolution });
        Ok(None)
    };
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let nanoseconds = header.is_nanosecond_precision();
            describe(header.network, if nanoseconds { 1_000_000_000 } else { 1_000_000 })
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            Ok(None)
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
            describe(interface.linktype, interface.ts_resolution().unwrap_or(1_000_000))
        }
        PcapBlockOwned::Legacy(packet) => {
            let told = interfaces.first().map(|interface| {
                let unit = 1_000_000_000 / interface.resolution;
                let at_ns = u64::from(packet.ts_sec) * 1_000_000_000;
                let at_ns = at_ns + u64::from(packet.ts_usec) * unit;
                Frame { at_ns, link: interface.link, bytes: packet.data }
            });
            Ok(told)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                let problem = "a packet of an interface that was not described";
                return Err(wrong(file, offset, problem));
            };
            let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
            let at_ns = ticks * 1_000_000_000 / u128::from(interface.resolution.max(1));
            let at_ns = u64::try_from(at_ns).unwrap_or(u64::MAX);
            Ok(Some(Frame { at_ns, link: interface.link, bytes: packet.packet_data() }))
        }
        // A simple packet has no time.
        PcapBlockOwned::NG(_) => Ok(None),
    }
}

fn described(error: &PcapError<&[u8]>) -> String {
    match error {
        PcapError::BufferTooSmall => "a packet of more than a mebibyte".to_owned(),
        PcapError::ReadError => "the file cannot be read".to_owned(),
        _ => "no block of a capture".to_owned(),
    }
}

fn wrong(file: &str, offset: u64, found: &str) -> RecordError {
    let problem = format!("{found}; accepted: pcap or pcapng, as tcpdump -w and Wireshark write");
    RecordError::Capture { file: file.to_owned(), offset, problem }
}

/// The connections of a file.
#[derive(Default)]
struct Flows {
    /// Bytes of payload from the end that sent the first packet, and to it.
    bytes: HashMap<Ends, [u64; 2]>,
    /// In the order of their first packets.
    order: Vec<Ends>,
}

impl Flows {
    fn count(&mut self, packet: &Packet) {
        let (ends, back) = (packet.ends, packet.ends.back());
        if let Some(bytes) = self.bytes.get_mut(&ends) {
            bytes[0] += packet.payload;
        } else if let Some(bytes) = self.bytes.get_mut(&back) {
            bytes[1] += packet.payload;
        } else if self.order.len() < MOST_FLOWS {
            self.order.push(ends);
            self.bytes.insert(ends, [packet.payload, 0]);
        }
    }

    /// The number of the connection, and its ends in the direction of the data.
    fn choose(&self, file: &str, number: Option<usize>) -> Result<(usize, Ends), RecordError> {
        let all = self.order.len();
        let nothing = |problem: String| RecordError::Nothing { file: file.to_owned(), problem };
        if all == 0 {
            let accepted = "accepted: a capture of a TCP connection, headers included";
            return Err(nothing(format!("no packet of TCP or UDP; {accepted}")));
        }
        let of = |ends: &Ends| self.bytes.get(ends).copied().unwrap_or_default();
        let place = match number {
            Some(number) => number.checked_sub(1).filter(|place| *place < all),
            None => (0..all).rev().max_by_key(|place| of(&self.order[*place]).iter().sum::<u64>()),
        };
        let Some(place) = place else {
            let asked = number.unwrap_or_default();
            return Err(nothing(format!("connection {asked} of {all}; accepted: 1 to {all}")));
        };
        let ends = self.order[place];
        let [there, back] = of(&ends);
        Ok((place + 1, if back > there { ends.back() } else { ends }))
    }
}

/// The largest block, bytes: packets of 64 KB and more are handed over by some cards.
const BUFFER: usize = 1 << 20;
/// Connections of a file that are told apart.
const MOST_FLOWS: usize = 1 << 20;
