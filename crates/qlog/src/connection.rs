//! What is kept of a connection while its events pass: never the events themselves.

use std::collections::{BTreeMap, BinaryHeap};

use crate::curves::Curves;
use crate::event::{Event, Metrics, What};
use crate::exit::ExitFinder;
use crate::limit_detector::LimitDetector;
use crate::limits::Limits;
use crate::summary::{Counts, Summary};

/// One connection, or one path of it, seen from one end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Connection {
    /// What the log calls it; may be empty.
    pub title: String,
    /// `client`, `server`, `network`, or empty.
    pub vantage: String,
    /// What the events say about start-up and losses.
    pub summary: Summary,
    /// What limited the sender other than its window.
    pub limits: Limits,
    /// Why the record cannot show the connection's start-up; `None` if it can.
    pub hidden: Option<String>,
    /// How many events it has.
    pub events: u64,
    /// How often each event name was in the log, understood or not; at most 256 names.
    pub names: BTreeMap<String, u64>,
    curves: Curves,
}

impl Connection {
    /// A connection without a name, of these events in order of time.
    pub fn new(events: impl IntoIterator<Item = Event>) -> Self {
        let mut watch = Watch::of_qlog();
        events.into_iter().for_each(|event| watch.take(&event));
        watch.finish()
    }

    /// The curves up to a time in seconds.
    #[must_use]
    pub fn curves(&self, until_s: f64) -> Curves {
        self.curves.until(until_s)
    }
}

/// Takes the events of a connection one by one, and keeps in bounded memory what can be shown.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    counts: Counts,
    exit: ExitFinder,
    curves: Curves,
    detector: Option<LimitDetector>,
    limits: Limits,
    /// Something was sent, and then answered.
    sent: bool,
    answered: bool,
    /// RTTs logged before the answer, at the newest time: some stacks log them before the packet
    /// that brought them.
    unanswered: Vec<Event>,
    events: u64,
}

impl Watch {
    /// For events that show no limits but those that are [added](Self::limits).
    pub fn new() -> Self {
        Self::default()
    }

    /// For the events of a qlog, which show themselves what limited the sender.
    pub fn of_qlog() -> Self {
        Self { detector: Some(LimitDetector::default()), ..Self::default() }
    }

    /// Takes an event, which is not before any that was taken.
    pub fn take(&mut self, event: &Event) {
        self.events += 1;
        match &event.what {
            What::Sent(_) => self.sent = true,
            What::Received(_) if self.sent && !self.answered => self.answer(event.at_ms),
            What::Metrics(_) if !self.answered => {
                self.unanswered.retain(|sample| sample.at_ms >= event.at_ms);
                if self.unanswered.len() < AT_ONCE {
                    self.unanswered.push(event.clone());
                }
            }
            _ => {}
        }
        self.counts.take(event);
        self.exit.take(event);
        self.curves.take(event);
        if let Some(detector) = &mut self.detector {
            detector.take(event);
        }
    }

    /// The first answer: RTTs in the log before that are a guess.
    fn answer(&mut self, at_ms: f64) {
        self.answered = true;
        self.counts.forget_rtts();
        self.curves.forget_rtts();
        let measured = std::mem::take(&mut self.unanswered);
        for sample in measured.iter().filter(|sample| sample.at_ms >= at_ms) {
            let What::Metrics(metrics) = &sample.what else { continue };
            let rtts = Metrics {
                smoothed_rtt_ms: metrics.smoothed_rtt_ms,
                latest_rtt_ms: metrics.latest_rtt_ms,
                min_rtt_ms: metrics.min_rtt_ms,
                ..Metrics::default()
            };
            let rtts = Event { at_ms: sample.at_ms, what: What::Metrics(rtts) };
            self.counts.take(&rtts);
            self.curves.take(&rtts);
        }
    }

    /// The intervals in which something else than the window limited the sender.
    pub fn limits(&mut self) -> &mut Limits {
        &mut self.limits
    }

    /// Packets declared lost so far.
    pub fn lost(&self) -> u64 {
        self.exit.lost()
    }

    /// The connection, once all events were taken.
    pub fn finish(self) -> Connection {
        Connection {
            summary: self.counts.finish(self.exit.finish()),
            limits: self.detector.map_or(self.limits, LimitDetector::finish),
            curves: self.curves,
            events: self.events,
            ..Connection::default()
        }
    }
}

/// Puts events that a log has a little out of order into order, and counts time from the first.
#[derive(Debug, Default)]
pub(crate) struct Order {
    waiting: BinaryHeap<Waiting>,
    number: u64,
    first_ms: Option<f64>,
    newest_ms: f64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    event: Event,
}

impl Order {
    /// Takes an event, and hands on one that no later one can precede.
    pub(crate) fn take(&mut self, event: Event) -> Option<Event> {
        self.number += 1;
        self.waiting.push(Waiting { number: self.number, event });
        if self.waiting.len() > MOST_WAITING { self.next() } else { None }
    }

    /// The earliest of the events that wait. One that came too late for its place gets the
    /// time of the one before.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let Waiting { mut event, .. } = self.waiting.pop()?;
        let first_ms = *self.first_ms.get_or_insert(event.at_ms);
        self.newest_ms = self.newest_ms.max(event.at_ms - first_ms);
        event.at_ms = self.newest_ms;
        Some(event)
    }
}

impl Ord for Waiting {
    /// The heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let time = other.event.at_ms.total_cmp(&self.event.at_ms);
        time.then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// RTTs at the time of the first answer that are kept.
const AT_ONCE: usize = 16;
/// Events that wait for earlier ones: stacks log the packets that an ACK let leave before the ACK.
const MOST_WAITING: usize = 4096;
