//! The types that cross the border, as C sees them. Their docs are the header's.
//!
//! Zero means "none" or "not known" in every field whose value may be missing, so that a C program
//! writes only the fields it means.

use firstflight_core::needs::Facilities;

/// The number of this interface; `firstflight_config.abi` holds it. While it is 0, any release may
/// change anything.
pub const FIRSTFLIGHT_ABI: u32 = 0;

/// No limit, and no time: an ssthresh that nothing has set, a wake-up that nobody wants.
pub const FIRSTFLIGHT_NEVER: u64 = u64::MAX;

/// What a call answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Error {
    /// Done.
    Ok = 0,
    /// A pointer is null that must not be.
    Null = 1,
    /// The memory holds no sender: it was never made, or is freed.
    Sender = 2,
    /// The program was compiled with the header of another version of the interface.
    Abi = 3,
    /// The text names no control that this library has.
    Control = 4,
    /// The control needs what the stack does not declare to provide.
    Lacks = 5,
    /// A field of the configuration has no meaning.
    Config = 6,
    /// The memory is too small for a sender, or not aligned for it, or the heap is full.
    Memory = 7,
    /// The call does not follow those before it.
    Order = 8,
    /// The event is older than the one before it.
    Time = 9,
    /// The numbers contradict what was told before.
    Number = 10,
    /// The library was built without what the call takes.
    Build = 11,
}

/// Every ACK has its time and, where one can be taken, an RTT.
pub const FIRSTFLIGHT_TIMES: u32 = 1;
/// ACKs carry delivery-rate samples.
pub const FIRSTFLIGHT_RATES: u32 = 1 << 1;
/// ACKs say when their newest packet left, and what was delivered and in flight then.
pub const FIRSTFLIGHT_PACKETS: u32 = 1 << 2;
/// The stack reports how much was marked with congestion experienced.
pub const FIRSTFLIGHT_MARKS: u32 = 1 << 3;
/// Packets leave at the rate of `firstflight_pacing`.
pub const FIRSTFLIGHT_PACING: u32 = 1 << 4;
/// `firstflight_on_wake` is called at the time of `firstflight_wake_at`.
pub const FIRSTFLIGHT_WAKE_UPS: u32 = 1 << 5;
/// The window counts inside a recovery too.
pub const FIRSTFLIGHT_RECOVERY_WINDOW: u32 = 1 << 6;
/// The number of separate gaps that a loss made is exact.
pub const FIRSTFLIGHT_GAPS: u32 = 1 << 7;
/// What earlier connections learned is handed over by `firstflight_on_hint`.
pub const FIRSTFLIGHT_MEMORY: u32 = 1 << 8;
/// Everything that leaves is reported before the next ACK or loss, repeats included.
pub const FIRSTFLIGHT_SENT: u32 = 1 << 12;
/// What `firstflight_repeats` asks for is sent again.
pub const FIRSTFLIGHT_REPEATS: u32 = 1 << 13;
/// `firstflight_on_wake` is called while data waits, as the timer of a pacer can do it.
pub const FIRSTFLIGHT_PACED_WAKE_UPS: u32 = 1 << 14;
/// Packets leave as ECT(1) (RFC 9331).
pub const FIRSTFLIGHT_L4S: u32 = 1 << 15;

/// The numbers are the core's.
const _: () = {
    let words = [
        (FIRSTFLIGHT_TIMES, Facilities::TIMES),
        (FIRSTFLIGHT_RATES, Facilities::RATES),
        (FIRSTFLIGHT_PACKETS, Facilities::PACKETS),
        (FIRSTFLIGHT_MARKS, Facilities::MARKS),
        (FIRSTFLIGHT_PACING, Facilities::PACING),
        (FIRSTFLIGHT_WAKE_UPS, Facilities::WAKE_UPS),
        (FIRSTFLIGHT_RECOVERY_WINDOW, Facilities::RECOVERY_WINDOW),
        (FIRSTFLIGHT_GAPS, Facilities::GAPS),
        (FIRSTFLIGHT_MEMORY, Facilities::MEMORY),
        (FIRSTFLIGHT_SENT, Facilities::SENT),
        (FIRSTFLIGHT_REPEATS, Facilities::REPEATS),
        (FIRSTFLIGHT_PACED_WAKE_UPS, Facilities::PACED_WAKE_UPS),
        (FIRSTFLIGHT_L4S, Facilities::L4S),
    ];
    let (mut at, mut all) = (0, 0);
    while at < words.len() {
        assert!(words[at].0 == words[at].1.bits());
        all |= words[at].0;
        at += 1;
    }
    assert!(CARRIES.bits() == all);
};

/// What the interface can carry: all but what routers tell, of which no stack in C hears.
pub(crate) const CARRIES: Facilities = match Facilities::from_bits(0xffff) {
    Some(all) => all
        .without(Facilities::GRANTS)
        .without(Facilities::ROUTER_CHANGES)
        .without(Facilities::ROUTER_SHARES),
    None => Facilities::NONE,
};

/// The window grows only as far as the largest flight justifies
/// (draft-ietf-ccwg-ratelimited-increase).
pub const FIRSTFLIGHT_LIMITS_GROWTH: u32 = 1;
/// An ACK opens the window by one segment at most in slow start (RFC 5681 section 3.1); without it
/// by all that it acknowledges.
pub const FIRSTFLIGHT_SEGMENT_PER_ACK: u32 = 1 << 1;
/// Packets are paced where no policy sets a rate: 2 windows per RTT in start-up, 1.25 after it.
pub const FIRSTFLIGHT_PACES: u32 = 1 << 2;
/// Packets are paced as Linux does it, once a policy has set a rate.
pub const FIRSTFLIGHT_PACES_AS_LINUX: u32 = 1 << 3;
/// A loss halves the window and not the flight, as in Linux and RFC 9002.
pub const FIRSTFLIGHT_HALVES_WINDOW: u32 = 1 << 4;
/// The receiver does not acknowledge every packet, or packets are paced: rate estimates have
/// weights per packet, unless the control says otherwise.
pub const FIRSTFLIGHT_PER_PACKET: u32 = 1 << 5;

/// All of them.
pub(crate) const ALL_RULES: u32 = (1 << 6) - 1;

/// What a stack is, and what it fixes for a sender. `firstflight_tcp` or `firstflight_quic`
/// fills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// `FIRSTFLIGHT_ABI`.
    pub abi: u32,
    /// What the stack provides: facilities such as `FIRSTFLIGHT_TIMES`, joined by `|`. What is
    /// declared must arrive.
    pub provides: u32,
    /// Rules of the endpoint such as `FIRSTFLIGHT_LIMITS_GROWTH`, joined by `|`.
    pub rules: u32,
    /// A pacer of the stack's own that nothing turns off, in hundredths of a window per RTT; 0
    /// without one.
    pub own_pacer: u32,
    /// Largest payload of one packet, in bytes, from 1 to 2^32.
    pub mss: u64,
    /// First window, in bytes, where the control has none of its own.
    pub initial_window: u64,
    /// First ssthresh, in bytes; `FIRSTFLIGHT_NEVER` for no limit.
    pub initial_ssthresh: u64,
    /// Largest window, in bytes.
    pub max_cwnd: u64,
}

/// Data leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sent {
    /// When, in nanoseconds by a clock of the stack's that never goes back.
    pub now: u64,
    /// Payload, in bytes.
    pub bytes: u64,
    /// Payload in flight, in bytes, this packet included.
    pub in_flight: u64,
    /// 1 for TCP's retransmission, 0 for new data. QUIC never sends a packet again.
    pub again: u32,
    /// 0.
    pub reserved: u32,
}

/// The state in which a packet left: `firstflight_on_sent` fills it, the stack keeps it beside the
/// packet, and hands it back with the ACK. A stack that measures by itself may fill it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// When it left, in nanoseconds.
    pub sent_at: u64,
    /// Payload delivered by then, in bytes.
    pub delivered: u64,
    /// Payload in flight then, in bytes, this packet included.
    pub in_flight: u64,
    /// When the packet had left that was acknowledged last by then.
    pub first_sent_at: u64,
    /// When that was acknowledged.
    pub delivered_at: u64,
    /// Not 0 if the source, not the window, limited sending then.
    pub app_limited: u64,
}

/// An acknowledgement arrived.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ack {
    /// When, in nanoseconds.
    pub now: u64,
    /// Payload newly acknowledged cumulatively, in bytes; 0 for a duplicate ACK, and for
    /// `firstflight_on_frame`.
    pub acked: u64,
    /// Payload that this ACK is the first to tell of as received, in bytes, cumulatively,
    /// selectively or by a duplicate ACK; 0 for `firstflight_on_frame`.
    pub credited: u64,
    /// Payload in flight after it, in bytes.
    pub in_flight: u64,
    /// SND.NXT as an offset from the first byte of the connection; 0 for `firstflight_on_frame`.
    pub snd_nxt: u64,
    /// RTT of the newest packet acknowledged, in nanoseconds; 0 without a sample (Karn).
    pub rtt: u64,
    /// Payload newly reported as marked, in bytes.
    pub marked: u64,
    /// The state in which the newest packet acknowledged had left, or null. The delivery-rate
    /// sample is then made of it.
    pub packet: *const Packet,
    /// Where the stack takes delivery-rate samples itself: payload delivered in the interval, in
    /// bytes.
    pub sample_delivered: u64,
    /// The interval, in nanoseconds; 0 without a sample.
    pub sample_interval: u64,
    /// Not 0 if the source limited sending within the interval.
    pub sample_app_limited: u32,
    /// Not 0 if the source, not the window, limited sending when the acknowledged data left.
    pub app_limited: u32,
}

/// Found by duplicate ACKs, SACK or a packet threshold.
pub const FIRSTFLIGHT_RECOVERY: u32 = 0;
/// Found by TCP's retransmission timer, or QUIC's persistent congestion.
pub const FIRSTFLIGHT_TIMEOUT: u32 = 1;
/// Nothing was lost: marks of congestion, from a stack that does not know how much was marked.
pub const FIRSTFLIGHT_MARK: u32 = 2;

/// What is lost had been sent again before.
pub const FIRSTFLIGHT_AGAIN: u32 = 1;
/// An earlier answer covers the loss: a timeout during a recovery, or after another of the same
/// data.
pub const FIRSTFLIGHT_ANSWERED: u32 = 1 << 1;
/// A timeout is being repaired whose cut covers the loss.
pub const FIRSTFLIGHT_AFTER_TIMEOUT: u32 = 1 << 2;

/// Data was found lost, or marks came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Loss {
    /// When it was found, in nanoseconds.
    pub now: u64,
    /// `FIRSTFLIGHT_RECOVERY`, `FIRSTFLIGHT_TIMEOUT` or `FIRSTFLIGHT_MARK`.
    pub kind: u32,
    /// What is known of the loss, such as `FIRSTFLIGHT_AGAIN`, joined by `|`.
    pub flags: u32,
    /// Payload newly found lost, in bytes.
    pub lost: u64,
    /// Into how many separate gaps it falls; 0 for one.
    pub gaps: u32,
    /// 0.
    pub reserved: u32,
    /// What a halving halves, in bytes (RFC 5681: FlightSize); not read where
    /// `FIRSTFLIGHT_HALVES_WINDOW` is set.
    pub flight: u64,
    /// When the newest lost packet had left, in nanoseconds, from a stack that tells recoveries
    /// apart by time (RFC 9002 section 7.3.1); 0 from others.
    pub sent_at: u64,
}

/// The last connection between the same two hosts learned it.
pub const FIRSTFLIGHT_OWN: u32 = 0;
/// Any connection over the same path learned it.
pub const FIRSTFLIGHT_SHARED: u32 = 1;

/// What a connection knows of its path when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Learned {
    /// cwnd, in bytes.
    pub cwnd: u64,
    /// ssthresh, in bytes; `FIRSTFLIGHT_NEVER` if no loss ever set it.
    pub ssthresh: u64,
    /// Smoothed RTT, in nanoseconds; not 0.
    pub rtt: u64,
    /// Smallest RTT, in nanoseconds; not 0.
    pub min_rtt: u64,
    /// Payload that was delivered, in bytes.
    pub delivered: u64,
    /// Payload that was delivered in a round, in bytes.
    pub per_round: u64,
    /// The rate of the path that its start-up measured, in bytes per second; 0 if it measures none.
    pub rate: u64,
    /// How long ago the connection ended, in nanoseconds.
    pub age: u64,
}

/// How packets leave within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Pacing {
    /// Payload per second, in bytes; 0 sends as the window allows.
    pub rate: u64,
    /// What may leave at once, in bytes; one packet where this is less.
    pub burst: u64,
    /// How many of the next bytes leave at `first_rate`; the others leave at `rate`.
    pub first_bytes: u64,
    /// The rate of the next bytes, in bytes per second.
    pub first_rate: u64,
    /// Nothing leaves before this time, in nanoseconds.
    pub not_before: u64,
}

/// How the first start-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Exit {
    /// When, in nanoseconds.
    pub at: u64,
    /// The window just before, in bytes.
    pub cwnd: u64,
    /// Payload in flight then, in bytes.
    pub in_flight: u64,
    /// Why, in a word: `ssthresh`, `heuristic`, `loss`, `timeout` or `ecn`. It is never freed.
    pub why: *const core::ffi::c_char,
}
