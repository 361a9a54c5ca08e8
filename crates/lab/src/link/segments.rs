//! Packets as a kernel with segmentation offload hands them over: several behind one header, cut
//! here into those that it would have sent one by one.
//!
//! Whatever is read from a device or written to it begins with a `virtio_net_hdr`
//! (linux/virtio_net.h), in the machine's byte order: what the kernel has left to do.

use std::io::{self, Write as _};

use etherparse::checksum::Sum16BitWords;
use etherparse::{Ipv4Header, TcpHeader, ip_number};

/// Bytes of a `virtio_net_hdr`.
pub(crate) const HEADER: usize = 10;

/// What was read at once, a packet at a time.
pub(crate) struct Segments<'a> {
    /// What is to come: of one packet all of it, of several their payload.
    rest: &'a [u8],
    /// The headers that every packet of several gets.
    headers: Option<Headers>,
}

/// The headers of the next one of several packets.
struct Headers {
    ip: Ipv4Header,
    tcp: TcpHeader,
    /// Payload of each packet but the last.
    size: usize,
    /// FIN and PSH of the last.
    ends: (bool, bool),
}

impl<'a> Segments<'a> {
    /// What was read from a device.
    pub(crate) fn of(frame: &'a [u8]) -> Self {
        match Headers::of(frame) {
            Some((headers, payload)) => Self { rest: payload, headers: Some(headers) },
            None => Self { rest: frame, headers: None },
        }
    }

    /// Writes the next packet with its `virtio_net_hdr`; their length, or that there is no room for
    /// them. `None` after the last.
    pub(crate) fn write_next(&mut self, mut room: &mut [u8]) -> Option<io::Result<usize>> {
        if self.rest.is_empty() {
            return None;
        }
        let size = self.headers.as_ref().map_or(usize::MAX, |headers| headers.size);
        let (now, rest) = self.rest.split_at(size.min(self.rest.len()));
        self.rest = rest;
        Some(match &mut self.headers {
            None => room.write_all(now).map(|()| now.len()),
            Some(headers) => {
                let written = headers.write(now, rest.is_empty(), room);
                headers.advance(now.len());
                written
            }
        })
    }
}

impl Headers {
    /// Headers and payload of several packets of TCP over IPv4 in one, as its `virtio_net_hdr`
    /// describes them.
    fn of(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (left, packet) = frame.split_at_checked(HEADER)?;
        let size = usize::from(u16::from_ne_bytes([left[4], left[5]]));
        if left[1] != TCP_OVER_IPV4 || size == 0 {
            return None;
        }
        let (ip, body) = Ipv4Header::from_slice(packet).ok()?;
        let (tcp, payload) = TcpHeader::from_slice(body).ok()?;
        let ends = (tcp.fin, tcp.psh);
        (!payload.is_empty()).then_some((Self { ip, tcp, size, ends }, payload))
    }

    /// Writes them before this payload, with the TCP checksum left to do.
    fn write(&mut self, payload: &[u8], last: bool, mut room: &mut [u8]) -> io::Result<usize> {
        let (ip, tcp) = (&mut self.ip, &mut self.tcp);
        let length = tcp.header_len() + payload.len();
        ip.total_len = (ip.header_len() + length) as u16;
        (tcp.fin, tcp.psh) = if last { self.ends } else { (false, false) };
        // What the payload's sum is to be added to: the pseudo-header's, RFC 9293, 3.1.
        let pseudo = Sum16BitWords::new()
            .add_4bytes(ip.source)
            .add_4bytes(ip.destination)
            .add_2bytes([0, ip_number::TCP.0])
            .add_2bytes((length as u16).to_be_bytes());
        tcp.checksum = !pseudo.ones_complement().to_be();
        let mut left = [0; HEADER];
        left[0] = NEEDS_CHECKSUM;
        left[6..8].copy_from_slice(&(ip.header_len() as u16).to_ne_bytes());
        left[8..10].copy_from_slice(&TCP_CHECKSUM.to_ne_bytes());
        let before = room.len();
        room.write_all(&left)?;
        ip.write(&mut room)?;
        tcp.write(&mut room)?;
        room.write_all(payload)?;
        Ok(before - room.len())
    }

    /// Makes them those of the packet after this payload.
    fn advance(&mut self, payload: usize) {
        self.ip.identification = self.ip.identification.wrapping_add(1);
        self.tcp.sequence_number = self.tcp.sequence_number.wrapping_add(payload as u32);
        self.tcp.cwr = false;
    }
}

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum from one place on goes to another.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4`.
const TCP_OVER_IPV4: u8 = 1;
/// Its place in a TCP header.
const TCP_CHECKSUM: u16 = 16;

#[cfg(test)]
mod tests {
    use super::super::packet::tests::tcp;
    use super::*;

    /// A payload of 2500 bytes to be cut by 1000, from number 2^32 - 500 on, with FIN, PSH and CWR.
    fn large() -> Vec<u8> {
        let mut frame = vec![0; HEADER];
        (frame[0], frame[1]) = (NEEDS_CHECKSUM, TCP_OVER_IPV4);
        frame[4..6].copy_from_slice(&1_000_u16.to_ne_bytes());
        let mut packet = tcp(2_500);
        packet[4..6].copy_from_slice(&0xffff_u16.to_be_bytes());
        packet[24..28].copy_from_slice(&(u32::MAX - 499).to_be_bytes());
        // CWR, ACK, PSH, FIN
        packet[33] = 0b1001_1001;
        packet[40..].iter_mut().enumerate().for_each(|(at, byte)| *byte = (at / 1_000) as u8);
        [frame, packet].concat()
    }

    /// What fits in so many bytes.
    fn cut_into(room: usize, frame: &[u8]) -> Vec<Result<Vec<u8>, io::ErrorKind>> {
        let mut segments = Segments::of(frame);
        let next = || {
            let mut room = vec![0xaa; room];
            let written = segments.write_next(&mut room)?;
            Some(written.map(|length| room[..length].to_vec()).map_err(|error| error.kind()))
        };
        std::iter::from_fn(next).collect()
    }

    fn cut(frame: &[u8]) -> Vec<Vec<u8>> {
        cut_into(1_100, frame).into_iter().flatten().collect()
    }

    /// Both headers of a packet, its payload, and its length.
    fn parts(frame: &[u8]) -> (Ipv4Header, TcpHeader, &[u8], usize) {
        let (ip, body) = Ipv4Header::from_slice(&frame[HEADER..]).unwrap();
        let (tcp, payload) = TcpHeader::from_slice(body).unwrap();
        (ip, tcp, payload, frame.len() - HEADER)
    }

    #[test]
    fn a_large_packet_becomes_those_that_would_have_been_sent() {
        let frames = cut(&large());
        let lengths: Vec<usize> = frames.iter().map(|frame| frame.len() - HEADER).collect();
        assert_eq!(lengths, [1_040, 1_040, 540]);
        let wanted = [(0xffff, u32::MAX - 499), (0, 500), (1, 1_500)];
        for (index, (frame, wanted)) in frames.iter().zip(wanted).enumerate() {
            let (ip, tcp, payload, length) = parts(frame);
            assert_eq!((ip.identification, tcp.sequence_number), wanted);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(usize::from(ip.total_len), length);
            assert_eq!((tcp.fin, tcp.psh), (index == 2, index == 2));
            assert_eq!((tcp.cwr, tcp.ack), (index == 0, true));
            assert!(payload.iter().all(|byte| usize::from(*byte) == index));
        }
    }

    /// RFC 9293, 3.1: source, destination, 6 and the length of TCP.
    #[test]
    fn the_checksum_is_left_to_the_receiving_kernel() {
        for frame in cut(&large()) {
            assert_eq!(frame[..6], [NEEDS_CHECKSUM, 0, 0, 0, 0, 0]);
            let place = [6, 8].map(|at| u16::from_ne_bytes([frame[at], frame[at + 1]]));
            assert_eq!(place, [20, 16]);
            // 10.0.0.1 and 10.0.0.2
            let pseudo = 0x0a00 + 1 + 0x0a00 + 2 + 6 + frame.len() - HEADER - 20;
            assert_eq!(usize::from(parts(&frame).1.checksum), pseudo);
        }
    }

    /// What kernels send: TCP with timestamps, and an IP header that may be longer too.
    #[test]
    fn options_of_both_headers_are_in_every_packet() {
        let mut frame = large();
        let options = ([1, 1, 1, 0], [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        frame.splice(HEADER + 40..HEADER + 40, options.1);
        frame.splice(HEADER + 20..HEADER + 20, options.0);
        (frame[HEADER], frame[HEADER + 36]) = (0x46, 8 << 4);
        let frames = cut(&frame);
        assert_eq!(frames.len(), 3);
        for (index, frame) in frames.iter().enumerate() {
            let (ip, tcp, payload, length) = parts(frame);
            let bytes = if index == 2 { 500 } else { 1_000 };
            assert_eq!((payload.len(), length), (bytes, 56 + bytes));
            assert_eq!(usize::from(ip.total_len), length);
            assert!(payload.iter().all(|byte| usize::from(*byte) == index));
            assert_eq!((&ip.options[..], tcp.options.as_slice()), (&options.0[..], &options.1[..]));
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(u16::from_ne_bytes([frame[6], frame[7]]), 24);
            let pseudo = 0x0a00 + 1 + 0x0a00 + 2 + 6 + length - 24;
            assert_eq!(usize::from(tcp.checksum), pseudo);
        }
    }

    #[test]
    fn a_last_packet_may_be_a_full_one_and_the_only_one() {
        let frame = large();
        for (payload, packets) in [(2_000, 2), (1_000, 1), (1, 1)] {
            let frames = cut(&frame[..HEADER + 40 + payload]);
            let ends: Vec<TcpHeader> = frames.iter().map(|frame| parts(frame).1).collect();
            assert_eq!((ends.len(), ends[0].cwr), (packets, true));
            assert!(ends[packets - 1].fin && ends[packets - 1].psh);
            let lengths = frames.iter().map(|frame| parts(frame).2.len());
            assert_eq!(lengths.sum::<usize>(), payload);
        }
    }

    #[test]
    fn what_is_one_packet_stays_as_it_is() {
        let mut frame = [vec![0; HEADER], tcp(500)].concat();
        assert_eq!(cut(&frame), [frame.clone()]);
        // UDP, whose checksum is left to do.
        (frame[0], frame[HEADER + 9]) = (NEEDS_CHECKSUM, 17);
        assert_eq!(cut(&frame), [frame.clone()]);
        // Marked as to be cut, but without a size.
        frame[1] = TCP_OVER_IPV4;
        assert_eq!(cut(&frame), [frame.clone()]);
    }

    #[test]
    fn a_packet_without_room_is_an_error_and_affects_no_other() {
        let no_room = Err(io::ErrorKind::WriteZero);
        let last = cut(&large()).pop().unwrap();
        assert_eq!(cut_into(1_000, &large()), [no_room.clone(), no_room.clone(), Ok(last)]);
        let one = [vec![0; HEADER], tcp(500)].concat();
        assert_eq!(cut_into(549, &one), [no_room]);
        assert_eq!(cut_into(550, &one), [Ok(one)]);
    }

    #[test]
    fn garbage_is_no_panic() {
        for length in 0..large().len() {
            cut(&large()[..length]);
        }
        for at in 0..HEADER + 40 {
            for byte in [0, 0x0f, 0xf0, 0xff] {
                let mut frame = large();
                frame[at] = byte;
                cut(&frame);
            }
        }
    }
}
