//! A link, in virtual time: what happens to packets between two routers.
//!
//! A link has a buffer, a rate, losses and elements. Its buffer is drop-tail ([`DropTailLink`]),
//! where a packet's departure is known as it arrives, or a queue discipline in a [`Server`], which
//! says when each packet begins and ends and hands out drops in the order of time. Elements are
//! what else happens to packets: jitter, a policer, a rate that changes. Nothing here reads a
//! clock.
//!
//! Linux's queue disciplines are the models. Each file names the function of Linux or the section
//! of the RFC that a rule is from; where the two differ, Linux's is kept, because it can be asked
//! (`docs/queues.md`).

#![warn(missing_docs)]

mod bucket;
mod discipline;
mod distributions;
mod drop_tail;
mod drop_tail_link;
mod element;
mod held;
mod loss;
mod queue;
mod random;
mod serialisation;
mod server;
mod tc;
#[cfg(test)]
mod testing;

pub use discipline::*;
pub use distributions::exponential;
pub use drop_tail::DropTail;
pub use drop_tail_link::{Buffer, DropTailLink, ROUNDING_NS, Tie, Totals};
pub use element::card::{
    Card as ElementCard, Entry, Problem as ElementProblem, Value as ElementValue, ValueKind,
};
pub use element::delay_schedule::DelaySchedule;
pub use element::framing::Framing;
pub use element::jitter::Jitter;
pub use element::opportunities::Opportunities;
pub use element::policer::Policer;
pub use element::rate_schedule::RateSchedule;
pub use element::release::Release;
pub use element::reorder::Reorder;
pub use element::steps::{ScheduleProblem, Steps};
pub use element::wifi::Wifi;
pub use element::{Crossing, ELEMENTS, Element, Elements, Fate};
pub use loss::{LossChain, LossSpec};
pub use queue::{Ecn, Moment, Next, Packet, Queue};
pub use random::{BACK_STREAMS, QUEUE_STREAMS, Uniform, stream};
pub use serialisation::{NEVER, Serialisation, serialisation};
pub use server::{Happened, Server};
pub use tc::{Counted, Words};
