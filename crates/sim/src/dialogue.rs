//! What a flow's packets say to the routers on their way, and what its ACKs bring back from them.
//! Few flows have one, so what is said travels beside the packets: the packets of a flow do not
//! overtake one another, nor do its ACKs, so that the first in a queue belongs to the first to
//! come.

use std::collections::VecDeque;

use firstflight_core::feedback::{Feedback, Signals};
use firstflight_core::units::{Instant, Rate};

use crate::link::Link;
use crate::route::Route;
use crate::router::Header;

/// A flow's talk with the routers.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// What is left of the rate that the connection's SYN asks for; 0 if it does not ask.
    pub(crate) asked_bps: u64,
    listens: Signals,
    /// What packets on the way to each link carry.
    under_way: Vec<VecDeque<Header>>,
    /// What the packet carried that came over the last link last.
    arrived: Option<Header>,
    /// What has reached the receiver since its last ACK.
    received: Told,
    /// What ACKs under way bring back, and for which connection.
    back: VecDeque<(u64, Told)>,
    connection: u64,
}

/// What routers told, on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    change_bps: i64,
    share_bps: Option<u64>,
}

/// A packet at a link of its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// As it is called on the way.
    pub(crate) seq: u32,
    pub(crate) at: Instant,
    pub(crate) flow: u16,
    pub(crate) hop: usize,
}

impl Dialogue {
    /// Of a flow that wants something of the routers over so many links; `None` for one that does
    /// not.
    pub(crate) fn of(asks: bool, listens: Signals, links: usize) -> Option<Box<Self>> {
        let fresh = || Self {
            asked_bps: 0,
            listens,
            under_way: vec![VecDeque::new(); links],
            arrived: None,
            received: Told::default(),
            back: VecDeque::new(),
            connection: 0,
        };
        (asks || listens.any()).then(|| Box::new(fresh()))
    }

    /// A new connection begins. What was told on the one before means nothing to it.
    pub(crate) fn renew(&mut self, asked_bps: u64) {
        self.asked_bps = asked_bps;
        self.connection += 1;
        self.received = Told::default();
    }

    /// A packet leaves a sender that listens.
    pub(crate) fn say(&mut self, header: Header) {
        self.under_way[0].push_back(header);
    }

    /// A packet reaches a link.
    pub(crate) fn pass(&mut self, link: &mut Link, route: &Route, packet: Passing) {
        let Passing { seq, at, flow, hop } = packet;
        if self.asked_bps > 0 && route.is_syn(seq) {
            self.asked_bps = link.approve(at, self.asked_bps);
        }
        let Some(mut header) = self.under_way[hop].pop_front() else { return };
        link.mark(at, route.bytes(seq), (flow, self.listens), &mut header);
        match self.under_way.get_mut(hop + 1) {
            Some(next) => next.push_back(header),
            None => self.arrived = Some(header),
        }
    }

    /// That packet found no room there, or was lost behind it.
    pub(crate) fn lose(&mut self, hop: usize) {
        match self.under_way.get_mut(hop + 1) {
            Some(next) => drop(next.pop_back()),
            None => self.arrived = None,
        }
    }

    /// A packet of this connection reaches the receiver.
    pub(crate) fn receive(&mut self) {
        let Some(header) = self.arrived.take() else { return };
        self.received.change_bps = self.received.change_bps.saturating_add(header.change_bps);
        self.received.share_bps = Some(header.share_bps);
    }

    /// The receiver sends an ACK.
    pub(crate) fn answer(&mut self) {
        if self.listens.any() {
            self.back.push_back((self.connection, std::mem::take(&mut self.received)));
        }
    }

    /// An ACK of this connection reaches the sender: what it brings, in payload.
    pub(crate) fn hear(&mut self, route: &Route) -> [Option<Feedback>; 2] {
        while self.back.front().is_some_and(|(connection, _)| *connection < self.connection) {
            self.back.pop_front();
        }
        let Some((_, told)) = self.back.pop_front() else { return [None; 2] };
        let change = route.payload_bps(told.change_bps.unsigned_abs());
        let change = i64::try_from(change).unwrap_or(i64::MAX) * told.change_bps.signum();
        let share = told.share_bps.map(|bps| Rate::from_bits_per_second(route.payload_bps(bps)));
        [
            Some(Feedback::Change(change)).filter(|_| self.listens.change),
            share.map(Feedback::Share).filter(|_| self.listens.share),
        ]
    }
}
