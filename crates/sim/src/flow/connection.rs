//! Where a connection of a flow begins and ends: what it learns from those before it, what it asks
//! of the path's routers, and what it leaves to those after it.

use firstflight_core::hint::PathHint;
use firstflight_core::units::Instant;

use super::{Flow, FlowWire};
use crate::event::timer::{Timer, timer};
use crate::memory::PastConnection;
use crate::net::Net;

impl Flow<'_> {
    /// A connection begins, with files that of the next one. False if none follows.
    #[cold]
    pub(crate) fn begin(&mut self, now: Instant, net: &mut Net) -> bool {
        let id = self.path.id as usize;
        if let Some(files) = &mut self.files {
            let Some((tcp, next)) = files.begin(now, &self.tcp) else { return false };
            files.delivered_before += u64::from(self.path.route.receiver.delivered());
            self.path.watch.change_connection(&self.tcp);
            self.path.route.renew(self.spec, next, net.end);
            self.tcp = tcp;
            if let Some(own) = &files.own {
                self.tcp.on_hint(now, &PathHint::Own(own.hint(now)));
            }
        }
        if let Some(shared) = net.memory.newest(id) {
            self.tcp.on_hint(now, &PathHint::Shared(shared.hint(now)));
        }
        if let Some(signals) = &mut self.path.signals {
            signals.renew(self.tcp.asks_bps());
        }
        true
    }

    /// The next file goes to the connection that the source keeps. False if it keeps none.
    #[cold]
    pub(crate) fn write_again(&mut self, now: Instant, net: &mut Net) -> bool {
        let Some(files) = self.files.as_mut().filter(|files| files.keeps_connection()) else {
            return false;
        };
        if let Some(packets) = files.next_file(now, &self.tcp) {
            self.path.route.receiver.expect_more(packets);
            let mut wire = FlowWire { now, path: &mut self.path, net };
            self.tcp.write(now, packets, &mut wire);
        }
        true
    }

    /// The application writes what the flow's description has for now.
    #[cold]
    pub(crate) fn write_more(&mut self, now: Instant, net: &mut Net) {
        let (after, writes) = (now.since(self.spec.start), &self.spec.writes);
        let place = writes.partition_point(|(at, _)| *at < after);
        let due = writes.get(place).filter(|_| self.spec.stop.is_none_or(|stop| now < stop));
        let Some((_, packets)) = due else { return };
        self.ends = true;
        self.path.route.receiver.expect_more(*packets);
        let mut wire = FlowWire { now, path: &mut self.path, net };
        self.tcp.write(now, *packets, &mut wire);
    }

    /// A connection has nothing left to send or to repair: what it learned is kept, and the next
    /// file comes after a pause.
    #[cold]
    pub(crate) fn end(&mut self, now: Instant, net: &mut Net) {
        self.ends = self.files.is_some();
        if self.tcp.core().refutes_hint() {
            net.memory.forget(self.path.id as usize);
        }
        let kept = PastConnection::of(now, self.tcp.core());
        if let Some(kept) = kept {
            net.memory.keep(self.path.id as usize, kept);
        }
        let Some(files) = &mut self.files else { return };
        let delivered = self.path.route.receiver.finished_at();
        let Some(pause) = files.end(&self.tcp, delivered, kept) else { return };
        if now + pause <= net.end {
            net.queue.push_out_of_order(timer(now + pause, self.path.id as usize, Timer::Start));
        }
    }
}
