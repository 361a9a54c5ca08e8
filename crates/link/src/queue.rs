//! What a link calls of a queue discipline: it hands over each packet that arrives, and asks for
//! the next one when it is free. The discipline drops and marks by the rules of its source.

use std::fmt::Debug;

use dyn_clone::DynClone;
use rand_pcg::Pcg64Mcg;

/// The ECN field of an IP packet (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECT(0).
    Ect0,
    /// ECT(1): L4S.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// A packet, as a queue sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// A number by which its owner knows it.
    pub id: u64,
    /// Its size on the link, in bytes.
    pub bytes: u64,
    /// The flow's number: packets of one flow have the same, packets of two flows never.
    pub flow: u64,
    /// Its ECN field.
    pub ecn: Ecn,
    /// A queue has marked it here.
    pub marked: bool,
    /// When it arrived, in nanoseconds.
    pub at: u64,
}

impl Packet {
    /// Marks it if it is ECN-capable (`INET_ECN_set_ce`). Whether it is.
    pub fn mark(&mut self) -> bool {
        let capable = self.ecn != Ecn::NotCapable;
        if capable {
            (self.ecn, self.marked) = (Ecn::Ce, true);
        }
        capable
    }
}

/// The moment at which a queue is called, and what it may use.
#[derive(Debug)]
pub struct Moment<'a> {
    /// Now, in nanoseconds. It never goes back from one call to the next.
    pub now: u64,
    /// Size of the packet that the link sends, in bytes, where that packet counts as waiting; 0 if
    /// it does not count, or there is none.
    pub in_service: u64,
    /// The queue's own random numbers.
    pub random: &'a mut Pcg64Mcg,
    /// Packets that the queue drops are pushed here.
    pub dropped: &'a mut Vec<Packet>,
}

/// What a queue has for a link that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This packet is sent.
    Send(Packet),
    /// Nothing before this time, in nanoseconds.
    Wait(u64),
    /// Nothing waits.
    Empty,
}

/// A queue discipline.
///
/// A discipline makes up for its timers at the next call: between two calls nothing changes that
/// they could see.
pub trait Queue: DynClone + Debug + Send + Sync {
    /// A packet arrives. It is kept, or it or others are dropped for it.
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>);

    /// The link is free: what it is to send.
    fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next;

    /// Packets that wait.
    fn packets(&self) -> u64;

    /// Their bytes.
    fn bytes(&self) -> u64;
}

dyn_clone::clone_trait_object!(Queue);
