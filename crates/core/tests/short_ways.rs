//! The fast paths for an ACK leave the sender in the state that [`Sender::on_ack`] does, under
//! every pair of policies.

use firstflight_core::chosen::Chosen;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};

const MSS: u64 = 1_000;
const CONFIG: Config = Config {
    mss: Bytes(MSS),
    initial_window: Bytes(10 * MSS),
    initial_ssthresh: Bytes(30 * MSS),
    max_cwnd: Bytes(200 * MSS),
    limit_growth_to_flight: true,
    segment_per_ack: true,
    paces: false,
};

type Any = Sender<Chosen<Pair<AnyStartup, AnyAvoidance>>>;

/// Three senders that get the same ACKs of one segment, each through another entry point.
struct Ways {
    whole: Any,
    new_data: Any,
    packet: Any,
    now: u64,
    acked: u64,
    sent: u64,
}

impl Ways {
    fn new(startup: &str, avoidance: &str) -> Self {
        let startup = AnyStartup::by_name(startup).unwrap();
        let avoidance = AnyAvoidance::by_name(avoidance).unwrap();
        let sender = Sender::of(Chosen::of(startup, avoidance, Pair::new), CONFIG);
        let [whole, new_data, packet] = [sender.clone(), sender.clone(), sender];
        Self { whole, new_data, packet, now: 0, acked: 0, sent: 0 }
    }

    fn each(&mut self, tell: impl Fn(&mut Any)) {
        [&mut self.whole, &mut self.new_data, &mut self.packet].into_iter().for_each(tell);
    }

    fn fill(&mut self) {
        while self.sent - self.acked + MSS <= self.whole.cwnd().0 {
            self.sent += MSS;
            let (now, in_flight) = (Instant(self.now), Bytes(self.sent - self.acked));
            self.each(|it| it.on_sent(&Sent { now, bytes: Bytes(MSS), in_flight, again: false }));
        }
    }

    fn ack(&mut self, rtt: Span) {
        self.acked += MSS;
        let (now, acked) = (Instant(self.now), Bytes(MSS));
        let (in_flight, snd_nxt) = (Bytes(self.sent - self.acked), Bytes(self.sent));
        let (credited, rtt_sample) = (acked, Some(rtt));
        let ack =
            Ack { now, acked, credited, rtt: rtt_sample, in_flight, snd_nxt, ..Ack::default() };
        self.whole.on_ack(&ack);
        self.new_data.on_new_data(now, acked, rtt, in_flight);
        self.packet.on_packet_acked(now, acked, Some(rtt), in_flight);
    }

    fn compare(&self, what: &str) {
        let whole = format!("{:?}", self.whole);
        assert_eq!(whole, format!("{:?}", self.new_data), "{what}: new data");
        assert_eq!(whole, format!("{:?}", self.packet), "{what}: a packet");
    }
}

#[test]
fn an_ack_in_registers_does_what_the_same_ack_in_memory_does() {
    for (startup, avoidance) in
        STARTUPS.iter().flat_map(|first| AVOIDANCES.iter().map(|then| (first.name, then.name)))
    {
        let what = format!("{startup}+{avoidance}");
        let mut ways = Ways::new(startup, avoidance);
        ways.each(|it| it.on_handshake(Instant(0), Span::from_millis(50)));
        ways.each(|it| it.begin(Instant(0)));
        for step in 0..300 {
            ways.fill();
            ways.now += 1_000_000;
            // A queue that builds and drains.
            ways.ack(Span(50_000_000 + step % 70 * 500_000));
            if step % 20 == 0 {
                ways.compare(&what);
            }
            if step == 150 {
                let (now, flight) = (Instant(ways.now), ways.whole.cwnd());
                let loss = Loss::of(now, LossKind::Recovery, Bytes(0), flight);
                ways.each(|it| {
                    it.on_loss(&loss);
                    it.on_recovered(None);
                });
            }
        }
    }
}

#[test]
fn a_packet_without_a_sample_of_the_rtt_is_an_ack_without_one() {
    let mut ways = Ways::new("slow-start", "newreno");
    ways.fill();
    ways.now += 1_000_000;
    let (now, acked, in_flight) = (Instant(ways.now), Bytes(MSS), Bytes(ways.sent - MSS));
    let snd_nxt = Bytes(ways.sent);
    ways.whole.on_ack(&Ack { now, acked, credited: acked, in_flight, snd_nxt, ..Ack::default() });
    ways.packet.on_packet_acked(now, acked, None, in_flight);
    assert_eq!(format!("{:?}", ways.whole), format!("{:?}", ways.packet));
}
