//! The event queue: FIFO lanes merged by winner trees, with a heap for what fits no lane.
//!
//! Events that a fixed-delay element emits are already in order, so each such source gets a lane
//! and an event costs a push, a pop and at most one climb of a tree. Of nearly every ACK a lane
//! keeps the time and the flow alone, because its sender knows the rest. What comes out of order
//! (timers, bursts that overtake) goes to a binary heap. ACKs have a tree of their own: flows of
//! many RTTs have many lanes for them, but few for what arrives at links, which would climb as high
//! in a common one. Order is by time, then kind, then number, wherever an event waited. Arrivals
//! of one number at one instant come out as they went in if they wait in one lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use firstflight_core::units::{Instant, Span};

use crate::event::merge::{Merge, Payload};
use crate::event::tree::NOTHING;
use crate::event::{Event, Kind, at};

/// A lane of events of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// ACKs on the reverse path.
    Ack(u32),
    /// Packets on their way to a link.
    Arrive(u32),
}

/// The event that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An ACK without payload: [`Queue::push_next_ack`].
    Ack(Event),
    /// Any other event, and its kind.
    Any(Kind, Event),
}

/// Events in order of time.
#[derive(Debug)]
pub(crate) struct Queue {
    acks: Merge,
    arrivals: Merge,
    out_of_order: BinaryHeap<Reverse<Event>>,
    /// The smallest key of the heap; [`NONE_OUT_OF_ORDER`] if it is empty.
    out_of_order_key: u64,
    /// The smallest key of all but the lanes of ACKs.
    other_key: u64,
    /// The end of the run: later events are never taken out.
    end: Instant,
    /// The smallest time between an ACK and an arrival at a link that it causes, as a key.
    lead: u64,
}

impl Queue {
    /// A queue with so many lanes of ACKs and of arrivals, for a run until `end`. The ACKs of every
    /// flow have the lane of `ack_lanes`. What one causes to arrive at a link comes at least `lead`
    /// after it.
    pub(crate) fn new(
        (acks, ack_lanes): (usize, Vec<u32>),
        arrivals: usize,
        end: Instant,
        lead: Span,
    ) -> Self {
        Self {
            acks: Merge::new(Kind::Ack, acks, ack_lanes),
            arrivals: Merge::new(Kind::Arrive, arrivals, Vec::new()),
            out_of_order: BinaryHeap::new(),
            out_of_order_key: NONE_OUT_OF_ORDER,
            other_key: NONE_OUT_OF_ORDER,
            end,
            lead: Event::at_any_time(Instant(lead.0), Kind::Timer, 0, 0).key,
        }
    }

    /// Adds an event of the run to its lane, or to the heap if the lane already holds a later one.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: Lane, event: Event) {
        let pushed = match lane {
            Lane::Ack(lane) => self.acks.push(lane, event, Payload::Kept),
            Lane::Arrive(lane) => {
                self.other_key = self.other_key.min(event.key);
                self.arrivals.push(lane, event, Payload::Kept)
            }
        };
        if !pushed {
            self.push_out_of_order(event);
        }
    }

    /// Adds an ACK whose payload the sender knows, so that the lane need not keep it.
    #[inline(always)]
    pub(crate) fn push_next_ack(&mut self, lane: u32, ack: Event) {
        if !self.acks.push(lane, ack, Payload::Omitted) {
            self.push_out_of_order(ack);
        }
    }

    /// Adds an event that belongs to no lane.
    #[inline(never)]
    pub(crate) fn push_out_of_order(&mut self, event: Event) {
        self.out_of_order.push(Reverse(event));
        self.out_of_order_key = self.out_of_order_key.min(event.key);
        self.other_key = self.other_key.min(event.key);
    }

    /// A lower bound on the time of every pending event and of every future arrival: an arrival
    /// before it can be handled at once. Without an ACK under way it lies near time zero, so that
    /// nothing is.
    #[inline]
    pub(crate) fn first_before(&self) -> Instant {
        let caused = self.acks.next_key.wrapping_add(self.lead);
        at(caused.min(self.other_key))
    }

    /// Whether an event at that time would come before every pending one, and within the run.
    #[inline]
    pub(crate) fn would_be_next(&self, time: Instant) -> bool {
        time < at(self.acks.next_key.min(self.other_key)) && time <= self.end
    }

    /// Whether the earliest event is an ACK for that flow, and comes before `time`.
    #[inline]
    pub(crate) fn ack_is_next(&self, flow: u16, time: Instant) -> bool {
        let key = self.acks.next_key;
        key <= self.other_key && key as u16 == flow && at(key) < time
    }

    /// Takes the earliest event. Where it waited mostly tells its kind.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Next> {
        if self.acks.next_key <= self.other_key {
            let (key, payload) = self.acks.pop();
            return Some(match payload {
                None => Next::Ack(Event { key, payload: 0 }),
                Some(payload) => Next::Any(Kind::Ack, Event { key, payload }),
            });
        }
        let event = match self.arrivals.next_key <= self.out_of_order_key {
            true => {
                let (key, payload) = self.arrivals.pop();
                let event = Event { key, payload: payload.unwrap_or_default() };
                Some(Next::Any(Kind::Arrive, event))
            }
            false => self.pop_out_of_order().map(|event| Next::Any(event.kind(), event)),
        };
        self.other_key = self.arrivals.next_key.min(self.out_of_order_key);
        event
    }

    #[inline(never)]
    fn pop_out_of_order(&mut self) -> Option<Event> {
        let Reverse(event) = self.out_of_order.pop()?;
        self.out_of_order_key =
            self.out_of_order.peek().map_or(NONE_OUT_OF_ORDER, |Reverse(next)| next.key);
        (event.at() <= self.end).then_some(event)
    }
}

/// The key of an empty heap. It is smaller than an empty lane's, so that the heap is asked when no
/// event is left.
const NONE_OUT_OF_ORDER: u64 = NOTHING - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(at: u64, flow: u16) -> Event {
        Event::new(Instant(at), Kind::Ack, flow, 0)
    }

    /// An ACK or an arrival, by number. Every third ACK has no payload.
    fn any_event(at: u64, number: usize) -> Event {
        let payload = if number.is_multiple_of(6) { 0 } else { number as u64 + 1 };
        let kind = if number.is_multiple_of(2) { Kind::Ack } else { Kind::Arrive };
        Event::new(Instant(at), kind, number as u16, payload)
    }

    impl Queue {
        /// Into the lane of its number, without payload if it has none.
        fn push_any(&mut self, event: Event, lanes: usize) {
            let lane = u32::from(event.number()) / 2 % lanes as u32;
            match event.kind() {
                Kind::Ack if event.payload == 0 => self.push_next_ack(lane, event),
                Kind::Ack => self.push(Lane::Ack(lane), event),
                _ => self.push(Lane::Arrive(lane), event),
            }
        }

        fn pop_any(&mut self) -> Option<Event> {
            self.pop().map(|next| match next {
                Next::Ack(event) | Next::Any(_, event) => event,
            })
        }
    }

    const END: Instant = Instant(1_000_000);

    /// With so many lanes of each kind.
    fn queue(lanes: usize) -> Queue {
        let ack_lanes = (0..1000).map(|number| (number / 2 % lanes) as u32).collect();
        Queue::new((lanes, ack_lanes), lanes, END, Span(0))
    }

    fn drain(queue: &mut Queue) -> impl Iterator<Item = Event> {
        std::iter::from_fn(|| queue.pop_any())
    }

    #[test]
    fn events_come_out_by_time_wherever_they_waited() {
        for lanes in [1, 3, 40] {
            let mut queue = queue(lanes);
            let mut times: Vec<u64> = (0..1000).map(|i| i * 7919 % 1009).collect();
            for (i, at) in times.iter().enumerate() {
                queue.push_any(any_event(*at, i), lanes);
            }
            times.sort_unstable();
            let out: Vec<u64> = drain(&mut queue).map(|e| e.at().0).collect();
            assert_eq!(out, times);
        }
    }

    #[test]
    fn an_ack_is_next_if_it_is_the_flows_and_nothing_comes_before_it() {
        let mut queue = queue(1);
        queue.push_any(event(50, 6), 1);
        assert!(queue.ack_is_next(6, Instant(51)) && !queue.ack_is_next(6, Instant(50)));
        assert!(!queue.ack_is_next(4, Instant(51)));
        queue.push_out_of_order(Event::new(Instant(50), Kind::Timer, 1, 0));
        assert!(!queue.ack_is_next(6, Instant(51)));
    }

    proptest! {
        /// Pushes and pops as they come, against a sorted list of what waits.
        #[test]
        fn the_earliest_event_is_next_at_any_time(
            lanes in prop_oneof![1usize..5, 14usize..18, 30usize..70],
            steps in prop::collection::vec(
                (0usize..70, 1u64..2000, any::<bool>(), 0usize..3),
                1..300,
            ),
        ) {
            let mut queue = queue(lanes);
            let (mut waiting, mut now) = (Vec::new(), 0);
            for (number, delay, out_of_order, pops) in steps {
                let event = any_event(now + delay, number);
                let first = waiting.iter().min();
                let earliest = first.map_or(NONE_OUT_OF_ORDER, |event: &Event| event.key);
                prop_assert_eq!(queue.first_before(), at(earliest));
                match out_of_order {
                    true => queue.push_out_of_order(event),
                    false => queue.push_any(event, lanes),
                }
                waiting.push(event);
                for _ in 0..pops {
                    waiting.sort_unstable_by(|a, b| b.cmp(a));
                    let expected = waiting.pop();
                    prop_assert_eq!(queue.pop_any(), expected);
                    now = expected.map_or(now, |event| event.at().0);
                }
            }
        }
    }

    #[test]
    fn ties_are_decided_by_kind_then_number() {
        let mut queue = queue(1);
        queue.push_out_of_order(Event::new(Instant(5), Kind::Arrive, 0, 0));
        queue.push(Lane::Ack(0), event(5, 9));
        queue.push_out_of_order(event(5, 2));
        let order: Vec<_> = drain(&mut queue).map(|e| (e.kind(), e.number())).collect();
        assert_eq!(order, [(Kind::Ack, 2), (Kind::Ack, 9), (Kind::Arrive, 0)]);
    }

    #[test]
    fn an_arrival_comes_first_if_no_ack_can_cause_an_earlier_one() {
        let mut queue = Queue { lead: 80 << 18, ..queue(1) };
        assert_eq!(queue.first_before(), Instant(79));
        queue.push(Lane::Ack(0), event(100, 1));
        assert_eq!(queue.first_before(), Instant(180));
        // An ACK that overtakes others may be anything.
        queue.push_out_of_order(event(90, 2));
        assert_eq!(queue.first_before(), Instant(90));
    }

    #[test]
    fn nothing_comes_out_after_the_end() {
        let mut queue = queue(1);
        for at in [Instant(END.0 + 1), END, Instant(u64::MAX)] {
            queue.push_out_of_order(Event::at_any_time(at, Kind::Timer, 0, 0));
        }
        assert_eq!(drain(&mut queue).map(Event::at).collect::<Vec<_>>(), [END]);
        assert_eq!(queue.pop(), None);
    }
}
