//! Packets as a kernel with segmentation offload hands them over: several behind one header, cut
//! here into those that it would have sent one by one.
//!
//! Whatever is read from a device or written to it begins with a `virtio_net_hdr`
//! (linux/virtio_net.h), in the machine's byte order: what the kernel has left to do.

/// Bytes of a `virtio_net_hdr`.
pub(crate) const HEADER: usize = 10;

/// What was read at once, a packet at a time.
pub(crate) struct Segments<'a> {
    frame: &'a [u8],
    /// Lengths of the IP header and of both headers, and the payload of each packet but the last;
    /// `None` of what is one packet.
    layout: Option<(usize, usize, usize)>,
    /// Payload that is done.
    at: usize,
    count: u16,
}

/// A packet is larger than the room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl<'a> Segments<'a> {
    /// What was read from a device.
    pub(crate) fn of(frame: &'a [u8]) -> Self {
        Self { frame, layout: layout(frame), at: 0, count: 0 }
    }

    /// Writes the next packet with its `virtio_net_hdr`; their length, or `None` after the last.
    pub(crate) fn write_next(&mut self, room: &mut [u8]) -> Option<Result<usize, NoRoom>> {
        let Some((ip, headers, size)) = self.layout else {
            let frame = std::mem::take(&mut self.frame);
            return (!frame.is_empty()).then(|| {
                room.get_mut(..frame.len()).ok_or(NoRoom)?.copy_from_slice(frame);
                Ok(frame.len())
            });
        };
        let packet = &self.frame[HEADER..];
        let payload = packet[headers..].get(self.at..).filter(|payload| !payload.is_empty())?;
        let last = payload.len() <= size;
        let payload = payload.get(..size).unwrap_or(payload);
        let (at, count) = (self.at, self.count);
        self.at += payload.len();
        self.count += 1;
        let length = headers + payload.len();
        let Some(room) = room.get_mut(..HEADER + length) else { return Some(Err(NoRoom)) };
        let (left, out) = room.split_at_mut(HEADER);
        left.fill(0);
        left[0] = NEEDS_CHECKSUM;
        left[6..8].copy_from_slice(&(ip as u16).to_ne_bytes());
        left[8..10].copy_from_slice(&(TCP_CHECKSUM as u16).to_ne_bytes());
        out[..headers].copy_from_slice(&packet[..headers]);
        out[headers..].copy_from_slice(payload);

        put(out, 2, length as u16);
        let id = word(out, 4);
        put(out, 4, id.wrapping_add(count));
        put(out, 10, 0);
        let sum = !sum(&out[..ip], 0);
        put(out, 10, sum);
        let number = u32::from_be_bytes([out[ip + 4], out[ip + 5], out[ip + 6], out[ip + 7]]);
        let number = number.wrapping_add(at as u32);
        out[ip + 4..ip + 8].copy_from_slice(&number.to_be_bytes());
        out[ip + FLAGS] &= if last { u8::MAX } else { !(FIN | PSH) };
        out[ip + FLAGS] &= if count == 0 { u8::MAX } else { !CWR };
        // What the payload's sum is to be added to: the pseudo-header's, RFC 9293, 3.1.
        let pseudo = self::sum(&out[12..20], u32::from(TCP) + (length - ip) as u32);
        put(out, ip + TCP_CHECKSUM, pseudo);

        Some(Ok(HEADER + length))
    }
}

/// Where the parts are of a frame that is several packets of TCP over IPv4, as its header says.
fn layout(frame: &[u8]) -> Option<(usize, usize, usize)> {
    let (left, packet) = frame.split_at_checked(HEADER)?;
    let size = usize::from(u16::from_ne_bytes([left[4], left[5]]));
    let first = *packet.first()?;
    let ip = usize::from(first & 15) * 4;
    if left[1] != TCP_OVER_IPV4 || size == 0 || first >> 4 != 4 || ip < 20 {
        return None;
    }
    let tcp = usize::from(packet.get(ip + 12)? >> 4) * 4;
    (tcp >= 20 && packet.len() > ip + tcp).then_some((ip, ip + tcp, size))
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The sum of an even number of bytes and of `more`, in the arithmetic of internet checksums
/// (RFC 1071).
fn sum(bytes: &[u8], more: u32) -> u16 {
    let mut sum = more;
    for at in (0..bytes.len()).step_by(2) {
        sum += u32::from(word(bytes, at));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum from one place on goes to another.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4`.
const TCP_OVER_IPV4: u8 = 1;
const TCP: u8 = 6;
/// Places in a TCP header.
const FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;
const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 128;

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
        packet[33] = FIN | PSH | CWR | 16;
        packet[40..].iter_mut().enumerate().for_each(|(at, byte)| *byte = (at / 1_000) as u8);
        [frame, packet].concat()
    }

    /// What fits in so many bytes.
    fn cut_into(room: usize, frame: &[u8]) -> Vec<Result<Vec<u8>, NoRoom>> {
        let mut segments = Segments::of(frame);
        let next = || {
            let mut room = vec![0xaa; room];
            let written = segments.write_next(&mut room)?;
            Some(written.map(|length| room[..length].to_vec()))
        };
        std::iter::from_fn(next).collect()
    }

    fn cut(frame: &[u8]) -> Vec<Vec<u8>> {
        cut_into(1_100, frame).into_iter().flatten().collect()
    }

    #[test]
    fn a_large_packet_becomes_those_that_would_have_been_sent() {
        let frames = cut(&large());
        let packets: Vec<&[u8]> = frames.iter().map(|frame| &frame[HEADER..]).collect();
        let of = |read: fn(&[u8]) -> u64| packets.iter().map(|p| read(p)).collect::<Vec<_>>();
        assert_eq!(of(|p| p.len() as u64), [1_040, 1_040, 540]);
        assert_eq!(of(|p| word(p, 2).into()), [1_040, 1_040, 540]);
        assert_eq!(of(|p| word(p, 4).into()), [0xffff, 0, 1]);
        assert_eq!(
            of(|p| u64::from(word(p, 24)) << 16 | u64::from(word(p, 26))),
            [u64::from(u32::MAX) - 499, 500, 1_500]
        );
        assert_eq!(of(|p| p[33].into()), [u64::from(CWR | 16), 16, u64::from(FIN | PSH | 16)]);
        for (index, packet) in packets.iter().enumerate() {
            assert!(packet[40..].iter().all(|byte| usize::from(*byte) == index));
            assert_eq!(sum(&packet[..20], 0), 0xffff);
        }
    }

    /// RFC 9293, 3.1: source, destination, 6 and the length of TCP.
    #[test]
    fn the_checksum_is_left_to_the_receiving_kernel() {
        for frame in cut(&large()) {
            assert_eq!(frame[..6], [NEEDS_CHECKSUM, 0, 0, 0, 0, 0]);
            let place = [6, 8].map(|at| u16::from_ne_bytes([frame[at], frame[at + 1]]));
            assert_eq!(place, [20, 16]);
            let length = frame.len() as u16 - 30;
            // 10.0.0.1 and 10.0.0.2
            let pseudo = 0x0a00 + 1 + 0x0a00 + 2 + 6 + length;
            assert_eq!(word(&frame[HEADER..], 36), pseudo);
        }
    }

    /// What kernels send: TCP with timestamps, and an IP header that may be longer too.
    #[test]
    fn options_of_both_headers_are_in_every_packet() {
        let mut frame = large();
        let (ip, tcp) = ([1, 1, 1, 0], [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        frame.splice(HEADER + 40..HEADER + 40, tcp);
        frame.splice(HEADER + 20..HEADER + 20, ip);
        (frame[HEADER], frame[HEADER + 36]) = (0x46, 8 << 4);
        let frames = cut(&frame);
        let lengths: Vec<usize> = frames.iter().map(Vec::len).collect();
        assert_eq!(lengths, [HEADER + 1_056, HEADER + 1_056, HEADER + 556]);
        for (index, frame) in frames.iter().enumerate() {
            let packet = &frame[HEADER..];
            assert_eq!((&packet[20..24], &packet[44..56]), (&ip[..], &tcp[..]));
            assert!(packet[56..].iter().all(|byte| usize::from(*byte) == index));
            assert_eq!((sum(&packet[..24], 0), word(packet, 2)), (0xffff, packet.len() as u16));
            let number = (u32::MAX - 499).wrapping_add(1_000 * index as u32);
            assert_eq!(packet[28..32], number.to_be_bytes());
            assert_eq!(u16::from_ne_bytes([frame[6], frame[7]]), 24);
            assert_eq!(word(packet, 40), 0x0a00 + 1 + 0x0a00 + 2 + 6 + packet.len() as u16 - 24);
        }
    }

    #[test]
    fn a_last_packet_may_be_a_full_one_and_the_only_one() {
        let frame = large();
        for (payload, packets) in [(2_000, 2), (1_000, 1), (1, 1)] {
            let frames = cut(&frame[..HEADER + 40 + payload]);
            let ends: Vec<u8> = frames.iter().map(|frame| frame[HEADER + 33]).collect();
            assert_eq!((ends.len(), ends[0] & CWR), (packets, CWR));
            assert_eq!(ends[packets - 1] & (FIN | PSH), FIN | PSH);
            let lengths = frames.iter().map(|frame| frame.len() - HEADER - 40);
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
        // What says that it is to be cut, and not how.
        frame[1] = TCP_OVER_IPV4;
        assert_eq!(cut(&frame), [frame.clone()]);
    }

    #[test]
    fn a_packet_without_room_is_told_from_the_end_and_takes_no_other_with_it() {
        let last = cut(&large()).pop().unwrap();
        assert_eq!(cut_into(1_000, &large()), [Err(NoRoom), Err(NoRoom), Ok(last)]);
        let one = [vec![0; HEADER], tcp(500)].concat();
        assert_eq!(cut_into(549, &one), [Err(NoRoom)]);
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
