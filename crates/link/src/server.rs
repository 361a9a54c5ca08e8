//! A link around a queue: it asks for the next packet when it has sent the one before, and says
//! when each begins and ends.

use rand_pcg::Pcg64Mcg;

use crate::{Moment, Next, Packet, Queue, Serialisation};

/// A queue and the link that empties it. `T` is what a packet carries for its owner.
#[derive(Debug)]
pub struct Server<T> {
    queue: Box<dyn Queue>,
    random: Pcg64Mcg,
    serial: Serialisation,
    /// The times of packets that follow each other are rounded up, not down.
    rounds_up: bool,
    /// Whether the packet that is sent counts as waiting.
    in_service_counts: bool,
    /// Until when the link sends, in nanoseconds, and how many bytes.
    busy: (u64, u64),
    /// When the queue is asked next; `None` if nothing waits.
    asks_at: Option<u64>,
    /// What the packets in the queue carry, in places by their number.
    carried: Vec<Option<T>>,
    free_places: Vec<u64>,
    dropped: Vec<Packet>,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The queue dropped it at this time, in nanoseconds.
    Dropped(u64),
    /// Its transmission began and ends at these times, in nanoseconds.
    Sent(u64, u64),
}

impl<T> Server<T> {
    /// An idle link. The packet that is sent counts as waiting if `in_service_counts`.
    pub fn new(
        queue: Box<dyn Queue>,
        rate_bps: u64,
        random: Pcg64Mcg,
        in_service_counts: bool,
    ) -> Self {
        Self {
            queue,
            random,
            serial: Serialisation::new(rate_bps),
            rounds_up: false,
            in_service_counts,
            busy: (0, 0),
            asks_at: None,
            carried: Vec::new(),
            free_places: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// A packet leaves at the whole nanosecond after its time, counted from when the link was idle.
    pub fn rounding_up(self) -> Self {
        Self { rounds_up: true, ..self }
    }

    /// A packet arrives; [`Server::serve`] has been called up to now.
    pub fn arrive(
        &mut self,
        packet: Packet,
        carries: T,
        report: &mut dyn FnMut(T, Packet, Happened),
    ) {
        let now = packet.at;
        let id = self.free_places.pop().unwrap_or_else(|| {
            self.carried.push(None);
            self.carried.len() as u64 - 1
        });
        self.carried[id as usize] = Some(carries);
        let sends = self.in_service_counts && now < self.busy.0;
        let in_service = if sends { self.busy.1 } else { 0 };
        let (random, dropped) = (&mut self.random, &mut self.dropped);
        let moment = &mut Moment { now, in_service, random, dropped };
        self.queue.enqueue(Packet { id, ..packet }, moment);
        self.asks_at.get_or_insert(now.max(self.busy.0));
        self.report_drops(now, report);
    }

    /// Sends what begins by `until`, and reports it. `sent_at` may say when the link has sent so
    /// many bytes that begin then, in nanoseconds; otherwise its rate does.
    pub fn serve(
        &mut self,
        until: u64,
        sent_at: &mut dyn FnMut(u64, u64) -> Option<u64>,
        report: &mut dyn FnMut(T, Packet, Happened),
    ) {
        while let Some(now) = self.asks_at.filter(|at| *at <= until) {
            let (random, dropped) = (&mut self.random, &mut self.dropped);
            let next = self.queue.dequeue(&mut Moment { now, in_service: 0, random, dropped });
            self.report_drops(now, report);
            self.asks_at = match next {
                Next::Empty => None,
                Next::Wait(at) => Some(at.max(now + 1)),
                Next::Send(packet) => {
                    if self.rounds_up && now > self.busy.0 {
                        self.serial.round_up();
                    }
                    let end = match sent_at(packet.bytes, now) {
                        Some(at) => at.max(now),
                        None => now + self.serial.time(packet.bytes),
                    };
                    self.busy = (end, packet.bytes);
                    if let Some(carries) = self.take(packet.id) {
                        report(carries, packet, Happened::Sent(now, end));
                    }
                    Some(end)
                }
            };
        }
    }

    /// When the link will ask its queue next, in nanoseconds, if it has anything to do.
    pub fn next_at(&self) -> Option<u64> {
        self.asks_at
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u64 {
        self.queue.packets()
    }

    /// Their bytes.
    pub fn waiting_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Packets held, the one in service included.
    pub fn held(&self, now: u64) -> u64 {
        self.waiting() + u64::from(self.busy.0 > now)
    }

    /// How long what is held takes to be sent at the link's rate, in nanoseconds.
    pub fn waits(&self, now: u64) -> u64 {
        let mut serial = self.serial.clone();
        if self.rounds_up {
            serial.round_up();
        }
        self.busy.0.saturating_sub(now) + serial.time(self.waiting_bytes())
    }

    /// Until when the link sends, in nanoseconds.
    pub fn busy_until(&self) -> u64 {
        self.busy.0
    }

    fn report_drops(&mut self, now: u64, report: &mut dyn FnMut(T, Packet, Happened)) {
        let mut dropped = std::mem::take(&mut self.dropped);
        for packet in dropped.drain(..) {
            if let Some(carries) = self.take(packet.id) {
                report(carries, packet, Happened::Dropped(now));
            }
        }
        self.dropped = dropped;
    }

    fn take(&mut self, id: u64) -> Option<T> {
        let carries = self.carried.get_mut(id as usize)?.take()?;
        self.free_places.push(id);
        Some(carries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        CodelRules, Discipline, DropTail, DualPi2Rules, Ecn, FqCodelRules, PieRules, RedRules,
        TbfRules,
    };

    /// 1 byte takes a microsecond.
    const RATE_BPS: u64 = 8_000_000;

    fn server(queue: Box<dyn Queue>) -> Server<u64> {
        Server::new(queue, RATE_BPS, Pcg64Mcg::new(3), false)
    }

    type Report = Vec<(u64, Packet, Happened)>;

    fn run(server: &mut Server<u64>, arrivals: &[(u64, u64, u64, Ecn)]) -> Report {
        let mut all = Vec::new();
        let mut at = 0;
        let mut report = |number, packet, happened| all.push((number, packet, happened));
        for (number, (pause, bytes, flow, ecn)) in (0..).zip(arrivals) {
            at += pause;
            server.serve(at, &mut |_, _| None, &mut report);
            let (flow, ecn, bytes) = (*flow, *ecn, *bytes);
            let packet = Packet { id: 0, bytes, flow, ecn, marked: false, at };
            server.arrive(packet, number, &mut report);
            server.serve(at, &mut |_, _| None, &mut report);
        }
        all
    }

    #[test]
    fn a_packet_begins_when_the_one_before_has_been_sent() {
        let mut server = server(Discipline::drop_tail(1));
        let arrivals = [(0, 10), (0, 10), (0, 10), (20_000, 5)];
        let found = run(&mut server, &arrivals.map(|(at, bytes)| (at, bytes, 0, Ecn::Ect0)));
        let found: Vec<_> = found.into_iter().map(|(number, _, what)| (number, what)).collect();
        let expected = [
            (0, Happened::Sent(0, 10_000)),
            (2, Happened::Dropped(0)),
            (1, Happened::Sent(10_000, 20_000)),
            (3, Happened::Sent(20_000, 25_000)),
        ];
        assert_eq!(found, expected);
        assert_eq!(server.next_at(), Some(25_000));
    }

    #[test]
    fn the_packet_that_is_sent_counts_as_waiting_where_that_is_said() {
        let arrivals = [(0, 10), (0, 10), (9_999, 10), (1, 10)];
        let arrivals = arrivals.map(|(at, bytes)| (at, bytes, 0, Ecn::Ect0));
        for (queue, counts, expected) in [
            (DropTail::of_packets(1), false, &[2][..]),
            (DropTail::of_packets(1), true, &[1, 2]),
            (DropTail::of_bytes(25), false, &[]),
            (DropTail::of_bytes(25), true, &[2]),
        ] {
            let mut server = Server::new(Box::new(queue), RATE_BPS, Pcg64Mcg::new(3), counts);
            let found = run(&mut server, &arrivals);
            let dropped = found.iter().filter(|it| matches!(it.2, Happened::Dropped(_)));
            let dropped: Vec<u64> = dropped.map(|it| it.0).collect();
            assert_eq!(dropped, expected, "{counts}");
            assert_eq!((server.busy_until(), server.next_at()), (20_000, Some(20_000)));
            let waiting = 4 - found.len() as u64;
            assert_eq!((server.waiting(), server.waiting_bytes()), (waiting, waiting * 10));
        }
    }

    /// A queue that asks to be asked at once.
    #[derive(Clone, Debug)]
    struct Impatient;

    impl Queue for Impatient {
        fn enqueue(&mut self, _packet: Packet, _moment: &mut Moment<'_>) {}
        fn dequeue(&mut self, moment: &mut Moment<'_>) -> Next {
            Next::Wait(moment.now)
        }
        fn packets(&self) -> u64 {
            1
        }
        fn bytes(&self) -> u64 {
            1
        }
    }

    #[test]
    fn a_queue_is_asked_once_in_a_nanosecond_and_not_before_a_packet_arrives() {
        let mut server = server(Box::new(Impatient));
        assert_eq!(server.next_at(), None);
        run(&mut server, &[(7, 1, 0, Ecn::Ect0)]);
        assert_eq!(server.next_at(), Some(8));
    }

    fn disciplines() -> impl Strategy<Value = Discipline> {
        let (limit_packets, limit_bytes) = (20, 20_000);
        let codel = CodelRules {
            limit_packets,
            target_ns: 1_000_000,
            interval_ns: 5_000_000,
            ..CodelRules::default()
        };
        let (rate_bps, burst_bytes) = (4_000_000, 2_000);
        let avpkt_bytes = 1_000;
        prop::sample::select(vec![
            Discipline::Tbf(TbfRules { rate_bps, burst_bytes, limit_bytes }),
            Discipline::Red(RedRules {
                limit_bytes,
                min_bytes: 3_000,
                max_bytes: 9_000,
                avpkt_bytes,
                burst_packets: 6,
                probability_ppb: 100_000_000,
                ecn: true,
            }),
            Discipline::Codel(codel),
            Discipline::FqCodel(FqCodelRules { codel, flows: 4, quantum_bytes: Some(500) }),
            Discipline::Pie(PieRules { limit_packets, ecn: true, ..PieRules::default() }),
            Discipline::DualPi2(DualPi2Rules { limit_packets, ..DualPi2Rules::default() }),
        ])
    }

    fn arrivals() -> impl Strategy<Value = Vec<(u64, u64, u64, Ecn)>> {
        let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
        prop::collection::vec((0..1_500_000_u64, 1..1_500_u64, 0..6_u64, ecn), 1..400)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// What arrives is sent once, dropped once, or waits; what is not ECN-capable is not
        /// marked, the packets of one flow and kind keep their order, and the same happens again.
        #[test]
        fn nothing_is_lost_or_made(discipline in disciplines(), arrivals in arrivals()) {
            let mut link = server(discipline.build(1_500, 8_000_000));
            let found = run(&mut link, &arrivals);
            let again = run(&mut server(discipline.build(1_500, 8_000_000)), &arrivals);
            prop_assert_eq!(&found, &again);
            let mut numbers: Vec<u64> = found.iter().map(|(number, ..)| *number).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.windows(2).all(|two| two[0] < two[1]));
            prop_assert_eq!(numbers.len() as u64 + link.waiting(), arrivals.len() as u64);
            for (number, packet, _) in &found {
                let (_, bytes, flow, ecn) = arrivals[*number as usize];
                prop_assert_eq!((packet.bytes, packet.flow), (bytes, flow));
                prop_assert!(!packet.marked || ecn != Ecn::NotCapable);
            }
            let mut last = std::collections::HashMap::new();
            let sent = |it: &&(u64, Packet, Happened)| matches!(it.2, Happened::Sent(..));
            for (number, packet, _) in found.iter().filter(sent) {
                let kind = matches!(arrivals[*number as usize].3, Ecn::Ect1 | Ecn::Ce);
                let before = last.insert((packet.flow, kind), *number);
                prop_assert!(before.is_none_or(|before| before < *number));
            }
        }

        /// The link never rests while something waits, but for a shaper that has no tokens.
        #[test]
        fn a_link_works_while_something_waits(discipline in disciplines(), arrivals in arrivals()) {
            let mut link = server(discipline.build(1_500, 8_000_000));
            let found = run(&mut link, &arrivals);
            if matches!(discipline, Discipline::Tbf(_)) {
                return Ok(());
            }
            let mut free_at = 0;
            for (_, packet, what) in found {
                let Happened::Sent(start, end) = what else { continue };
                prop_assert!(start == free_at || start == packet.at, "{start} {free_at}");
                prop_assert!(start >= free_at);
                free_at = end;
            }
        }

        /// A shaper sends no more than its bucket and its rate allow, over any interval.
        #[test]
        fn a_shaper_keeps_to_its_rate(arrivals in arrivals()) {
            let rules = TbfRules { rate_bps: 4_000_000, burst_bytes: 2_000, limit_bytes: 20_000 };
            let found = run(&mut server(Discipline::Tbf(rules).build(1_500, 1)), &arrivals);
            let sent: Vec<(u64, u64)> = found.iter().filter_map(|(_, packet, what)| match what {
                Happened::Sent(start, _) => Some((*start, packet.bytes)),
                Happened::Dropped(_) => None,
            }).collect();
            for first in 0..sent.len() {
                let mut bytes = 0;
                for (at, more) in &sent[first..] {
                    bytes += more;
                    let most = 2_000 + (at - sent[first].0) / 2_000;
                    prop_assert!(bytes <= most + 1, "{bytes} {most}");
                }
            }
        }
    }
}
