//! Captures of transfers as they would be: written packet by packet, headers only.

/// A pcap of raw IP with times in microseconds.
pub(crate) struct Wire {
    packets: Vec<(u64, Vec<u8>)>,
}

/// A segment; the sender of data is 198.51.100.5:5202, its receiver 198.51.100.9.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) to_receiver: bool,
    pub(crate) port: u16,
    pub(crate) flags: u8,
    pub(crate) sequence: u32,
    pub(crate) ack: u32,
    pub(crate) window: u16,
    pub(crate) options: &'a [u8],
    pub(crate) payload: usize,
}

/// A transfer in rounds of slow start, from a sender that opens the connection.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) rtt_us: u64,
    /// Where the capture is taken: 0 at the sender, 1 at the receiver.
    pub(crate) at: f64,
    pub(crate) segments: u32,
    /// The most segments in flight.
    pub(crate) most: u32,
    /// The window that the receiver offers, and its scale; without one it has no such option.
    pub(crate) window: u16,
    pub(crate) scale: Option<u8>,
    /// Rests so long after each round, with nothing in flight.
    pub(crate) rest_us: u64,
    pub(crate) receiver_opens: bool,
    pub(crate) port: u16,
}

pub(crate) const MSS: u32 = 1448;
pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;

impl Default for Segment<'_> {
    fn default() -> Self {
        Self {
            to_receiver: true,
            port: 40_000,
            flags: ACK,
            sequence: 0,
            ack: 0,
            window: 65_535,
            options: &[],
            payload: 0,
        }
    }
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            rtt_us: 100_000,
            at: 0.0,
            segments: 1000,
            most: u32::MAX,
            window: 50_000,
            scale: Some(7),
            rest_us: 0,
            receiver_opens: false,
            port: 40_000,
        }
    }
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self { packets: Vec::new() }
    }

    pub(crate) fn push(&mut self, at_us: u64, segment: Segment<'_>) {
        let (sender, receiver) = ([198, 51, 100, 5], [198, 51, 100, 9]);
        let (from, to) = if segment.to_receiver { (sender, receiver) } else { (receiver, sender) };
        let ports = if segment.to_receiver { [5202, segment.port] } else { [segment.port, 5202] };
        let header = 20 + segment.options.len();
        let length = (20 + header + segment.payload) as u16;
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(from.into_iter().chain(to));
        ports.iter().for_each(|port| packet.extend(port.to_be_bytes()));
        packet.extend(segment.sequence.to_be_bytes());
        packet.extend(segment.ack.to_be_bytes());
        packet.extend([(header as u8 / 4) << 4, segment.flags]);
        packet.extend(segment.window.to_be_bytes());
        packet.extend([0; 4]);
        packet.extend(segment.options);
        self.packets.push((at_us, packet));
    }

    /// The segments of a transfer that begins then.
    pub(crate) fn transfer(&mut self, begin_us: u64, it: Transfer) {
        let way_us = it.rtt_us / 2;
        let near_us = (it.at * way_us as f64) as u64;
        let far_us = it.rtt_us - near_us;
        let mss = [2, 4, (1460_u16 >> 8) as u8, 1460_u16 as u8, 1, 1, 8, 10];
        let options = [&mss[..], &[0; 8]].concat();
        let scale = |bits: u8| [&options[..], &[1, 3, 3, bits]].concat();
        let scaled = it.scale.map_or(options.clone(), scale);
        let syn = Segment { flags: SYN, port: it.port, options: &scaled, ..Segment::default() };
        let back = Segment { to_receiver: false, flags: SYN, ack: 1, ..syn };
        // The end that opens sends its SYN at `begin_us`.
        let (first, second) = if it.receiver_opens { (back, syn) } else { (syn, back) };
        let (out_us, home_us) = if it.receiver_opens {
            (way_us - near_us, way_us + near_us)
        } else {
            (near_us, far_us)
        };
        self.push(begin_us + out_us, Segment { flags: SYN, ..first });
        self.push(begin_us + home_us, Segment { flags: SYN | ACK, ..second });
        let plain = Segment { flags: ACK, options: &[], ..first };
        self.push(begin_us + it.rtt_us + out_us, Segment { sequence: 1, ack: 1, ..plain });
        let mut now_us = begin_us + it.rtt_us + if it.receiver_opens { way_us } else { 0 };
        let (mut sent, mut window) = (0, 10);
        while sent < it.segments {
            let round = window.min(it.most).min(it.segments - sent);
            for place in 0..round {
                let sequence = 1 + (sent + place) * MSS;
                let left_us = now_us + u64::from(place) * 10;
                let data = Segment { sequence, ack: 1, payload: MSS as usize, ..plain };
                self.push(left_us + near_us, Segment { to_receiver: true, ..data });
                let ack = Segment { ack: sequence + MSS, sequence: 1, window: it.window, ..plain };
                self.push(left_us + far_us, Segment { to_receiver: false, ..ack });
            }
            (sent, window) = (sent + round, window * 2);
            now_us += it.rtt_us + it.rest_us;
        }
    }

    /// Leaves out what does not fit.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u64, &[u8]) -> bool) {
        self.packets.sort_by_key(|(at_us, _)| *at_us);
        self.packets.retain(|(at_us, packet)| keep(*at_us, packet));
    }

    /// Each packet as often as that, as a capture of several interfaces has it.
    pub(crate) fn repeat(&mut self, times: u64, apart_us: u64) {
        let all = std::mem::take(&mut self.packets);
        let times = |(at_us, packet): (u64, Vec<u8>)| {
            (0..times).map(move |time| (at_us + time * apart_us, packet.clone()))
        };
        self.packets = all.into_iter().flat_map(times).collect();
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.packets.sort_by_key(|(at_us, _)| *at_us);
        let mut file = Vec::new();
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
            file.extend(word.to_le_bytes());
        }
        for (at_us, packet) in self.packets {
            let length = u16::from_be_bytes([packet[2], packet[3]]).into();
            for word in [(at_us / 1_000_000) as u32, (at_us % 1_000_000) as u32] {
                file.extend(word.to_le_bytes());
            }
            file.extend((packet.len() as u32).to_le_bytes());
            file.extend(u32::to_le_bytes(length));
            file.extend(packet);
        }
        file
    }
}
