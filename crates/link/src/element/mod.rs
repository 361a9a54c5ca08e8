//! Elements of the network: what happens to packets on a link besides its rate, its delay and its
//! drop-tail buffer. One file each; `CONTRIBUTING.md` tells how to add one.
//!
//! An element sees packets one after the other, in order of time. For that, a flow that crosses a
//! link with elements takes no fast path (`FastPaths` of the simulator): each of its packets has
//! an event wherever it arrives.

pub(crate) mod card;
pub(crate) mod delay_schedule;
pub(crate) mod framing;
pub(crate) mod jitter;
pub(crate) mod opportunities;
pub(crate) mod policer;
pub(crate) mod rate_schedule;
pub(crate) mod release;
pub(crate) mod reorder;
pub(crate) mod steps;
pub(crate) mod wifi;

use std::fmt::Debug;

use dyn_clone::DynClone;
use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use self::card::Entry;
use crate::random::stream;

/// Every kind of element, in the order in which results name them.
pub const ELEMENTS: &[Entry] = &[
    Entry::Jitter,
    Entry::Card(&wifi::CARD),
    Entry::Card(&framing::CARD),
    Entry::Card(&policer::CARD),
    Entry::Rates,
    Entry::Delays,
    Entry::Card(&reorder::CARD),
    Entry::Card(&release::CARD),
];

/// What a link does with packets besides sending them. Every run begins with a copy of it.
///
/// The default of each method changes nothing.
pub trait Element: DynClone + Debug + Send + Sync {
    /// What a packet of so many bytes takes on the link. What follows sees that size alone.
    fn frames(&self, bytes: u64) -> u64 {
        bytes
    }

    /// A packet arrives at the link, in order of time. Nothing is known yet of whether the buffer
    /// has room.
    fn arrive(&mut self, _packet: &Crossing, _random: &mut Pcg64Mcg) -> Fate {
        Fate::Pass
    }

    /// When the link has sent a packet of `bytes` whose transmission begins at `start`, if this
    /// element and not the link's rate says it. No earlier than `start`.
    fn sent_at(&mut self, _bytes: u64, _start: Instant) -> Option<Instant> {
        None
    }

    /// A packet that found room would reach the far end at `at`: when it does. What is earlier
    /// counts as `at`.
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, _random: &mut Pcg64Mcg) -> Instant {
        at
    }

    /// Whether packets may overtake each other by [`Element::pass_on`]. Otherwise none reaches the
    /// far end before one that left the link earlier. In the simulator those of a source of files
    /// (`FlowSpec::files`) and of QUIC's recovery (`Recovery::Quic`) keep their order in any case:
    /// their receivers there know no other.
    fn reorders(&self) -> bool {
        false
    }

    /// The rate in bits per second above which it lets only a burst pass, and the burst in bytes.
    fn bucket(&self) -> Option<(u64, u64)> {
        None
    }
}

/// A packet of data, a SYN, or the third packet of a handshake, as it arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it arrives.
    pub at: Instant,
    /// Its size on the link, in bytes.
    pub bytes: u64,
    /// The flow it belongs to: in the simulator a place in `Network::flows`, continued by
    /// `Network::udp`.
    pub flow: usize,
    /// It is ECN-capable: [`Fate::Mark`] marks it.
    pub ecn_capable: bool,
    /// It has been marked on its way.
    pub marked: bool,
    /// Packets that the link holds, the one in service included.
    pub held: u64,
    /// How long what is held takes to be sent at the link's rate.
    pub waits: Span,
}

impl Crossing {
    /// A packet that is not ECN-capable.
    pub fn of(at: Instant, bytes: u64, flow: usize) -> Self {
        Self { at, bytes, flow, ecn_capable: false, marked: false, held: 0, waits: Span(0) }
    }
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Pass,
    /// It goes on, marked if it is ECN-capable.
    Mark,
    /// It is dropped.
    Drop,
}

dyn_clone::clone_trait_object!(Element);

/// The elements of a link while it runs, each with its stream of random numbers: the simulator's
/// link, and any other that packets cross in order of time.
#[derive(Debug)]
pub struct Elements {
    all: Vec<(Box<dyn Element>, Pcg64Mcg)>,
    /// When the last packet reached the far end, where none overtakes another.
    last: Option<Instant>,
}

impl Elements {
    /// The elements of link `link`, or, with a number from [`BACK_STREAMS`](crate::BACK_STREAMS)
    /// on, of a link's reverse path; `None` if it has none.
    pub fn new(specs: &[Box<dyn Element>], seed: u64, link: u64) -> Option<Self> {
        let numbered = (ELEMENTS_STREAM + link * MOST_ELEMENTS..).zip(specs);
        let all: Vec<_> =
            numbered.map(|(number, spec)| (spec.clone(), stream(seed, number))).collect();
        let keeps_order = !all.iter().any(|(element, _)| element.reorders());
        (!all.is_empty()).then(|| Self { all, last: keeps_order.then_some(Instant(0)) })
    }

    /// A packet arrives: the first that does not let it pass decides.
    pub fn arrive(&mut self, packet: &mut Crossing) -> Fate {
        let mut fate = Fate::Pass;
        packet.bytes = self.all.iter().fold(packet.bytes, |bytes, (it, _)| it.frames(bytes));
        for (element, random) in &mut self.all {
            match element.arrive(packet, random) {
                Fate::Drop => return Fate::Drop,
                Fate::Mark if packet.ecn_capable => {
                    (fate, packet.marked) = (Fate::Mark, true);
                }
                Fate::Mark | Fate::Pass => {}
            }
        }
        fate
    }

    /// See [`Element::sent_at`].
    pub fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        let says = self.all.iter_mut().find_map(|(element, _)| element.sent_at(bytes, start));
        says.map(|at| at.max(start))
    }

    /// See [`Element::pass_on`].
    pub fn pass_on(&mut self, packet: &Crossing, mut at: Instant) -> Instant {
        for (element, random) in &mut self.all {
            at = element.pass_on(packet, at, random).max(at);
        }
        if let Some(last) = &mut self.last {
            *last = at.max(*last);
            at = *last;
        }
        at
    }
}

/// Streams of elements begin here; below are those of links, starts of flows, sources of files and
/// other stacks.
const ELEMENTS_STREAM: u64 = 1 << 35;

/// Elements of a link that have streams of their own.
const MOST_ELEMENTS: u64 = 1 << 8;
