//! A capture: pcap or pcapng, read block by block.
//!
//! The file is read twice, so that memory does not grow with it: once to see which connections it
//! has, and once for the packets of the one that is chosen.

mod flight;
mod flows;
mod limits;
mod packet;
mod place;
mod sent;
mod tcp;
mod write;

use std::io::{Read, Seek};

use firstflight_qlog::Skipped;
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use crate::{Form, RecordError, Recorded};
use flows::Flows;
use packet::{KNOWN, Packet, is_known, packet};
use tcp::Direction;
pub use write::{Pcap, Segment};

/// Reads the connection of this number, from 1; without one that with the most bytes.
pub(crate) fn read<R: Read + Seek + Send>(
    file: &str,
    source: &mut R,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    let mut flows = Flows::default();
    let mut ended = blocks(file, source, |at_ns, packet| {
        flows.take(at_ns, packet);
    })?;
    let (number, chosen) = flows.choose(file, number)?;
    let all = flows.listed();
    if flows.left_out() > 0 {
        let more = flows.left_out();
        ended.skipped.add(|| format!("{file}: {more} packets of further connections"));
    }
    let id = chosen.id;
    let mut direction = Direction::new(chosen);
    // The same packets are assigned to connections in the same way.
    flows = Flows::default();
    blocks(file, source, |at_ns, packet| {
        if flows.take(at_ns, packet) == Some(id) {
            direction.take(at_ns, packet);
        }
    })?;
    let recorded = Recorded { form: Form::Capture, number, all, ..direction.recorded() };
    Ok(Recorded { truncated: ended.truncated, skipped: ended.skipped, ..recorded })
}

/// Passes every packet of the file to `take`.
fn blocks<R: Read + Seek + Send>(
    file: &str,
    source: &mut R,
    take: impl FnMut(u64, &Packet),
) -> Result<Ended, RecordError> {
    source.rewind().map_err(RecordError::unreadable(file))?;
    Blocks::new(file, source)?.each(take)
}

/// How a file ended.
#[derive(Default)]
struct Ended {
    truncated: bool,
    skipped: Skipped,
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
                        match packet(frame.link, frame.bytes, frame.original) {
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
                    ended.skipped.add(|| format!("{}, byte {offset}: {problem}", self.file));
                    ended.truncated = true;
                    break;
                }
            }
        }
        if unknown > 0 {
            ended.skipped.add(|| {
                format!(
                    "{}: {unknown} of {packets} packets are neither TCP nor UDP, fragments, or \
                     cut within their headers",
                    self.file
                )
            });
        }
        Ok(ended)
    }
}

/// A captured frame.
struct Frame<'a> {
    at_ns: u64,
    link: Linktype,
    bytes: &'a [u8],
    /// Its bytes before it was cut.
    original: u64,
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
            let frame = interfaces.first().map(|interface| {
                let unit = 1_000_000_000 / interface.resolution;
                let at_ns = u64::from(packet.ts_sec) * 1_000_000_000;
                let at_ns = at_ns + u64::from(packet.ts_usec) * unit;
                let (bytes, original) = (packet.data, packet.origlen.into());
                Frame { at_ns, link: interface.link, bytes, original }
            });
            Ok(frame)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else {
                let problem = "a packet of an interface that was not described";
                return Err(wrong(file, offset, problem));
            };
            let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
            let at_ns = ticks * 1_000_000_000 / u128::from(interface.resolution.max(1));
            let at_ns = u64::try_from(at_ns).unwrap_or(u64::MAX);
            let (bytes, original) = (packet.packet_data(), packet.origlen.into());
            Ok(Some(Frame { at_ns, link: interface.link, bytes, original }))
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

/// The largest block, bytes: packets of 64 KB and more are handed over by some cards.
const BUFFER: usize = 1 << 20;
