//! What connections learn of their paths, kept for those to come: by remote address, for a while,
//! and for one connection at a time (RFC 9959 section 4.1).
//!
//! A service asks for a [`Visit`] before it opens or accepts a connection, hands the visit's hint
//! to the factory, and gives the controller back when the connection is over:
//!
#![cfg_attr(feature = "quinn", doc = "```")]
#![cfg_attr(not(feature = "quinn"), doc = "```ignore")]
//! # use std::{net::IpAddr, sync::Arc, time::{Duration, Instant}};
//! # use firstflight_quic::quinn::{PathMemory, control};
//! let memory = PathMemory::new(Duration::from_secs(3600), 10_000);
//! let remote = IpAddr::from([192, 0, 2, 7]);
//!
//! let visit = memory.visit(remote);
//! let factory = control("careful-resume")?.hinted(visit.hint());
//! let controller = factory.controller(Instant::now(), 1452);
//! // With quinn: set the factory as the transport's, and at the end take the controller out of
//! // `connection.congestion_state()` by its `into_any`.
//! visit.end(&controller);
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::pair::Policies;
use firstflight_core::units::{Bytes, Span};

use crate::controller::Controller;
use crate::stack::Stack;

/// What was learned of the paths to remote addresses. A copy is the same memory.
#[derive(Clone, Debug)]
pub struct PathMemory {
    entries: Arc<Mutex<HashMap<IpAddr, Entry>>>,
    lifetime: Duration,
    most: usize,
}

/// What the last connection to an address learned, and when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// What it learned; its age counts from `at`.
    pub learned: Learned,
    /// When it ended.
    pub at: SystemTime,
}

#[derive(Debug, Default)]
struct Entry {
    remembered: Option<Remembered>,
    /// A connection uses it.
    in_use: bool,
}

/// A connection to a remote address, from before its first packet until it is over. Dropped
/// without [`Visit::end`] it leaves what was known.
#[derive(Debug)]
pub struct Visit {
    memory: PathMemory,
    remote: IpAddr,
    hint: Option<Learned>,
    /// Whether the entry is this connection's.
    holds: bool,
}

impl PathMemory {
    /// An empty memory of at most `most` addresses, which forgets what is older than `lifetime`.
    pub fn new(lifetime: Duration, most: usize) -> Self {
        Self { entries: Arc::default(), lifetime, most: most.max(1) }
    }

    /// Before a connection to `remote` opens. It gets no hint if nothing is known, if that is too
    /// old, or if another connection uses it.
    pub fn visit(&self, remote: IpAddr) -> Visit {
        let remote = remote.to_canonical();
        let mut entries = self.open();
        let known = entries.entry(remote).or_default();
        let holds = !std::mem::replace(&mut known.in_use, true);
        let now = clock();
        let fresh = known.remembered.filter(|known| self.is_fresh(known, now) && holds);
        let hint = fresh.map(|known| Learned { age: age(&known, now), ..known.learned });
        drop(entries);
        Visit { memory: self.clone(), remote, hint, holds }
    }

    /// All that is remembered and not too old, by address; to be written down.
    pub fn remembered(&self) -> Vec<(IpAddr, Remembered)> {
        let now = clock();
        let entries = self.open();
        let known = entries.iter().filter_map(|(remote, entry)| Some((*remote, entry.remembered?)));
        let mut all: Vec<_> = known.filter(|(_, known)| self.is_fresh(known, now)).collect();
        all.sort_unstable_by_key(|(remote, _)| *remote);
        all
    }

    /// Remembers what was written down. What is newer stays.
    pub fn remember(&self, remote: IpAddr, remembered: Remembered) {
        let mut entries = self.open();
        let entry = entries.entry(remote.to_canonical()).or_default();
        if entry.remembered.is_none_or(|known| known.at < remembered.at) {
            entry.remembered = Some(remembered);
        }
        self.bound(&mut entries);
    }

    fn is_fresh(&self, known: &Remembered, now: SystemTime) -> bool {
        now.duration_since(known.at).is_ok_and(|age| age <= self.lifetime)
    }

    /// Forgets the oldest beyond the bound, but nothing in use.
    fn bound(&self, entries: &mut HashMap<IpAddr, Entry>) {
        while entries.len() > self.most {
            let idle = entries.iter().filter(|(_, entry)| !entry.in_use);
            let oldest = idle
                .min_by_key(|(remote, entry)| (entry.remembered.map(|known| known.at), **remote));
            let Some(oldest) = oldest.map(|(remote, _)| *remote) else { return };
            entries.remove(&oldest);
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit {
    /// The hint for the connection, with its age.
    pub fn hint(&self) -> Option<PathHint> {
        self.hint.map(PathHint::Own)
    }

    /// The connection is over.
    pub fn end<P: Policies, S: Stack>(self, controller: &Controller<P, S>) {
        self.end_with(controller.learned(), controller.refutes_hint());
    }

    /// [`Visit::end`] where the controller is out of reach: by its last report. Of a hint that
    /// was refuted nothing is left. What was learned replaces what was known, if enough was
    /// delivered to know the path by or a round was larger; otherwise what was known stays as old
    /// as it is.
    pub fn end_with(self, learned: Option<Learned>, refutes_hint: bool) {
        if !self.holds {
            return;
        }
        let mut entries = self.memory.open();
        let Some(entry) = entries.get_mut(&self.remote) else { return };
        if refutes_hint {
            entry.remembered = None;
        }
        let now = clock();
        let known = entry.remembered.filter(|known| self.memory.is_fresh(known, now));
        let is_worth = |learned: &Learned| {
            known.is_none_or(|known| {
                learned.delivered >= ENOUGH || learned.per_round >= known.learned.per_round
            })
        };
        let learned = learned.filter(|learned| learned.per_round.0 > 0);
        if let Some(learned) = learned.filter(is_worth) {
            entry.remembered = Some(Remembered { learned, at: now });
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.holds {
            return;
        }
        let mut entries = self.memory.open();
        if let Place::Occupied(mut place) = entries.entry(self.remote) {
            place.get_mut().in_use = false;
            if place.get().remembered.is_none() {
                place.remove();
            }
        }
        self.memory.bound(&mut entries);
    }
}

/// A connection that delivered less than four initial windows (RFC 6928) has hardly asked the path
/// for anything. RFC 9959 section 4.1 lets a sender leave out what it observed with a window that
/// small.
const ENOUGH: Bytes = Bytes(4 * 10 * 1_460);

/// What is remembered outlives the process, so that its age is counted by the wall clock.
#[expect(clippy::disallowed_methods, reason = "no result of a simulation depends on it")]
fn clock() -> SystemTime {
    SystemTime::now()
}

fn age(known: &Remembered, now: SystemTime) -> Span {
    let age = now.duration_since(known.at).unwrap_or_default();
    Span(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use firstflight_core::view::Window;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn remembered(packets: u64, ago: Duration) -> Remembered {
        let window = Window { cwnd: Bytes(packets * 1200), ssthresh: Bytes::MAX };
        let (rtt, per_round) = (Span::from_millis(100), window.cwnd);
        let delivered = Bytes(1_000_000);
        let (min_rtt, age) = (rtt, Span(0));
        let learned = Learned { window, rtt, min_rtt, delivered, per_round, rate: None, age };
        Remembered { learned, at: clock() - ago }
    }

    fn remote(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn one_connection_at_a_time_gets_the_hint_with_its_age() {
        let memory = PathMemory::new(HOUR, 10);
        memory.remember(remote(1), remembered(100, HOUR / 2));
        let first = memory.visit(remote(1));
        assert!(memory.visit(remote(1)).hint().is_none(), "in use");
        let Some(PathHint::Own(learned)) = first.hint() else { panic!("a hint") };
        let expected = HOUR / 2;
        assert!(learned.age.0 >= expected.as_nanos() as u64);
        assert!(learned.age.0 < (expected + Duration::from_secs(60)).as_nanos() as u64);
        drop(first);
        assert!(memory.visit(remote(1)).hint().is_some(), "nobody uses it");
        let mapped = remote(1).to_string();
        let mapped: IpAddr = format!("::ffff:{mapped}").parse().unwrap();
        assert!(memory.visit(mapped).hint().is_some(), "the same host");
        assert!(memory.visit(remote(2)).hint().is_none());
    }

    #[test]
    fn a_connection_of_one_packet_leaves_what_a_long_one_learned() {
        let memory = PathMemory::new(HOUR, 10);
        let ended = |delivered: u64, per_round: u64| {
            let mut learned = remembered(per_round, Duration::ZERO).learned;
            learned.delivered = Bytes(delivered * 1_200);
            memory.visit(remote(1)).end_with(Some(learned), false);
            let known = memory.remembered()[0].1;
            known.learned.per_round.0 / 1_200
        };
        assert_eq!(ended(1, 1), 1, "better than nothing");
        assert_eq!(ended(1_000, 100), 100);
        let at = memory.remembered()[0].1.at;
        assert_eq!(ended(1, 1), 100);
        assert_eq!(memory.remembered()[0].1.at, at, "it is no younger for that");
        assert_eq!(ended(48, 24), 100, "too little to know the path by");
        assert_eq!(ended(49, 24), 24, "the path has become slower");
        assert_eq!(ended(40, 30), 30, "it has more, however short the connection was");
        memory.visit(remote(1)).end_with(None, true);
        assert!(memory.remembered().is_empty(), "refuted");
    }

    #[test]
    fn what_is_too_old_or_from_the_future_is_no_hint() {
        let memory = PathMemory::new(HOUR, 10);
        memory.remember(remote(1), remembered(100, HOUR + Duration::from_secs(1)));
        let mut later = remembered(100, Duration::ZERO);
        later.at += HOUR;
        memory.remember(remote(2), later);
        assert!(memory.visit(remote(1)).hint().is_none());
        assert!(memory.visit(remote(2)).hint().is_none());
        assert!(memory.remembered().is_empty());
    }

    #[test]
    fn the_newest_addresses_stay_and_the_newer_of_two_entries() {
        let memory = PathMemory::new(HOUR, 3);
        for last in 1..=5 {
            memory.remember(remote(last), remembered(100, HOUR / (1 + u32::from(last))));
        }
        memory.remember(remote(5), remembered(7, HOUR / 2));
        let left = memory.remembered();
        let places: Vec<IpAddr> = left.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [remote(3), remote(4), remote(5)]);
        assert!(left.iter().all(|(_, known)| known.learned.window.cwnd == Bytes(120_000)));
    }
}
