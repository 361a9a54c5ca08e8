//! Where a capture was taken, by its handshake: what is in flight and its RTT can be seen at the
//! sender only.

use super::packet::{SynOptions, Tcp};

/// The SYNs of a connection and the first ACK. Ends are places, as in [`super::flows::Flow`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// The end that opens, the number of its SYN, and when the SYN that was answered passed.
    syn: Option<(usize, u32, u64)>,
    /// The end that is opened, and when it answered first and last.
    answer: Option<(usize, u64, u64)>,
    ack_ns: Option<u64>,
    /// What the SYN of each end says, if it was captured; `Some(None)` if its options were cut off.
    options: [Option<Option<SynOptions>>; 2],
}

/// How long a packet from the point of the capture to an end and its answer back took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HandshakeTimes {
    pub(crate) sender_ns: u64,
    pub(crate) receiver_ns: u64,
    /// The sender of the data opened the connection.
    pub(crate) sender_opened: bool,
}

/// A place on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Sender,
    Receiver,
    Between,
}

impl Place {
    /// In a word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "network",
        }
    }
}

impl Handshake {
    pub(crate) fn take(&mut self, at_ns: u64, from: usize, tcp: &Tcp) {
        if tcp.syn {
            self.options[from] = Some(tcp.options);
        }
        match (tcp.syn, tcp.ack.is_some()) {
            (true, false) if self.answer.is_none() => {
                self.syn = Some((from, tcp.sequence, at_ns));
            }
            (true, true) if self.ack_ns.is_none() => {
                let first_ns = self.answer.map_or(at_ns, |(_, first_ns, _)| first_ns);
                self.answer = Some((from, first_ns, at_ns));
            }
            (false, true) if self.answer.is_some_and(|(answering, ..)| answering != from) => {
                self.ack_ns.get_or_insert(at_ns);
            }
            _ => {}
        }
    }

    /// The number of the first SYN.
    pub(crate) fn first_number(&self) -> Option<u32> {
        self.syn.map(|(_, number, _)| number)
    }

    /// Whether a SYN of either end was captured.
    pub(crate) fn has_begin(&self) -> bool {
        self.options.iter().any(Option::is_some)
    }

    /// How long the two parts of the handshake took; `None` if one of its three packets is missing.
    /// Where a SYN was repeated it is the least that they can have taken.
    pub(crate) fn times(&self, sender: usize) -> Option<HandshakeTimes> {
        let ((opening, _, syn_ns), (_, first_ns, last_ns)) = (self.syn?, self.answer?);
        let to_opened_ns = first_ns.saturating_sub(syn_ns);
        let to_opening_ns = self.ack_ns?.saturating_sub(last_ns);
        let sender_opened = opening == sender;
        let (sender_ns, receiver_ns) = if sender_opened {
            (to_opening_ns, to_opened_ns)
        } else {
            (to_opened_ns, to_opening_ns)
        };
        Some(HandshakeTimes { sender_ns, receiver_ns, sender_opened })
    }

    /// By how many bits an end shifts the windows that it offers; `None` if that is not known. Both
    /// SYNs have the option, or no window is shifted (RFC 7323, section 2.2).
    pub(crate) fn scale(&self, of: usize) -> Option<u8> {
        let scale = |end: usize| self.options[end].flatten().map(|options| options.scale);
        match (scale(of), scale(1 - of)) {
            (Some(None), _) | (_, Some(None)) => Some(0),
            (Some(Some(bits)), Some(Some(_))) => Some(bits),
            _ => None,
        }
    }

    /// The payload of a full segment; `None` if no SYN has the largest segment.
    pub(crate) fn full(&self) -> Option<u64> {
        let options = || self.options.iter().filter_map(|options| (*options)?);
        let largest = options().filter_map(|options| options.mss).min()?;
        let stamped = options().count() == 2 && options().all(|options| options.timestamps);
        let options = if stamped { TIME_STAMPS } else { 0 };
        Some(u64::from(largest).max(LEAST_MSS) - options)
    }
}

impl HandshakeTimes {
    /// The RTT of the whole path.
    pub(crate) fn rtt_ns(self) -> u64 {
        self.sender_ns + self.receiver_ns
    }

    pub(crate) fn place(self) -> Place {
        let near = |ns: u64| ns <= (self.rtt_ns() / NEAR).max(PROCESSING_NS);
        if near(self.sender_ns) {
            Place::Sender
        } else if near(self.receiver_ns) {
            Place::Receiver
        } else {
            Place::Between
        }
    }

    /// Where the capture was taken, and how that is known.
    pub(crate) fn words(self) -> String {
        let place = match self.place() {
            Place::Sender => "at the sender",
            Place::Receiver => "at the receiver",
            Place::Between => "between the ends",
        };
        let ms = |ns: u64| ns as f64 / 1e6;
        let (to_opened, to_opening, opened) = if self.sender_opened {
            (self.receiver_ns, self.sender_ns, "that opened the connection")
        } else {
            (self.sender_ns, self.receiver_ns, "that was connected to")
        };
        format!(
            "{place}: SYN to SYN-ACK took {:.2} ms, SYN-ACK to ACK {:.2} ms, and the data come \
             from the end {opened}",
            ms(to_opened),
            ms(to_opening)
        )
    }
}

/// A capture counts as taken at an end if a packet takes at most a tenth of the RTT from there to
/// the end and back. What is in flight is then seen to a tenth: a path counts as full from 0.9 of
/// its BDP on.
const NEAR: u64 = 10;
/// What an end may take to answer, nanoseconds: on short paths that is more than the way.
const PROCESSING_NS: u64 = 100_000;
/// The least segment, bytes with options: a smaller one that a SYN offers is not used
/// (`tcp_min_snd_mss` in Linux' ip-sysctl, since 2019).
const LEAST_MSS: u64 = 48;
/// Bytes of each segment that time stamps take (RFC 7323, appendix A).
const TIME_STAMPS: u64 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn tcp(syn: bool, ack: bool, scale: Option<u8>) -> Tcp {
        let options = SynOptions { mss: Some(1460), scale, timestamps: true };
        let options = syn.then_some(options);
        Tcp { sequence: 7, ack: ack.then_some(1), window: 9, syn, options }
    }

    /// A handshake with its packets at these times; end 0 opens.
    fn handshake(at_ms: [u64; 3]) -> Handshake {
        let mut all = Handshake::default();
        all.take(at_ms[0] * MS, 0, &tcp(true, false, Some(7)));
        all.take(at_ms[1] * MS, 1, &tcp(true, true, Some(9)));
        all.take(at_ms[2] * MS, 0, &tcp(false, true, None));
        all
    }

    #[test]
    fn the_handshake_tells_at_which_end_a_capture_was_taken() {
        for (at_ms, sender, place) in [
            ([0, 100, 100], 0, Place::Sender),
            ([0, 100, 100], 1, Place::Receiver),
            ([0, 0, 100], 1, Place::Sender),
            ([0, 0, 100], 0, Place::Receiver),
            ([0, 9, 100], 1, Place::Sender),
            ([0, 40, 100], 0, Place::Between),
        ] {
            let loops = handshake(at_ms).times(sender).unwrap();
            assert_eq!((loops.place(), loops.rtt_ns()), (place, 100 * MS), "{at_ms:?} {sender}");
        }
        let words = handshake([0, 100, 100]).times(1).unwrap().words();
        assert!(words.starts_with("at the receiver: SYN to SYN-ACK took 100.00 ms"), "{words}");
    }

    #[test]
    fn a_repeated_syn_does_not_count_the_wait() {
        let mut all = Handshake::default();
        all.take(0, 0, &tcp(true, false, None));
        all.take(1000 * MS, 0, &tcp(true, false, None));
        all.take(1100 * MS, 1, &tcp(true, true, None));
        all.take(1101 * MS, 0, &tcp(false, true, None));
        let loops = all.times(0).unwrap();
        assert_eq!((loops.receiver_ns, loops.sender_ns), (100 * MS, MS));
    }

    #[test]
    fn a_scale_is_known_if_both_syns_are_or_one_has_none() {
        assert_eq!(handshake([0, 1, 2]).scale(1), Some(9));
        let mut one = Handshake::default();
        one.take(0, 0, &tcp(true, false, Some(7)));
        assert_eq!((one.scale(0), one.scale(1)), (None, None));
        let mut without = Handshake::default();
        without.take(0, 0, &tcp(true, false, None));
        assert_eq!((without.scale(0), without.scale(1)), (Some(0), Some(0)));
        let mut cut = handshake([0, 1, 2]);
        cut.take(0, 0, &Tcp { options: None, ..tcp(true, false, None) });
        assert_eq!(cut.scale(1), None, "the options were cut off");
    }

    #[test]
    fn a_full_segment_has_a_least_size() {
        assert_eq!(handshake([0, 1, 2]).full(), Some(1448));
        let mut tiny = Handshake::default();
        let options = Some(SynOptions { mss: Some(1), scale: None, timestamps: false });
        tiny.take(0, 0, &Tcp { options, ..tcp(true, false, None) });
        assert_eq!(tiny.full(), Some(48));
        assert_eq!(Handshake::default().full(), None);
    }
}
