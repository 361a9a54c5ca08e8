//! A path back that duplicates, reorders, delays and loses ACK datagrams, and RTTs that jump: real
//! quinn endpoints under every control. What a peer can forge inside the encryption is in
//! `forged.rs`.

use crate::common::{network, run};
use firstflight_core::registry::STARTUPS;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_quic_sim::quinn::{ClientAndServer, MIN_PACKET, QuicControl, Setup};
use firstflight_sim::{Datagram, Ends, FlowOutcome, SenderState, Way};
use proptest::prelude::*;

/// What happens to datagrams on the reverse path, in per cent, and how long those held wait.
#[derive(Clone, Copy, Debug)]
struct Harm {
    lost: u64,
    doubled: u64,
    held: u64,
    hold_ms: u64,
    /// From the middle of the run on every datagram waits this long more.
    jump_ms: u64,
    seed: u64,
}

/// A pair whose datagrams back come to harm.
struct Harmed {
    pair: ClientAndServer,
    harm: Harm,
    held: Vec<(Instant, Datagram)>,
    most: u64,
}

impl Harmed {
    fn draw(&mut self) -> u64 {
        // A linear congruential generator: any spread will do.
        self.harm.seed = self.harm.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.harm.seed >> 33) % 100
    }

    fn check(&mut self) {
        let (cwnd, in_flight) = (Ends::cwnd(&self.pair).0, Ends::in_flight(&self.pair).0);
        assert!(cwnd == 0 || (2 * MIN_PACKET..=self.most).contains(&cwnd), "cwnd {cwnd}");
        // Probes may exceed the window, a cut may leave more in flight than it allows.
        assert!(in_flight <= self.most, "{in_flight} bytes in flight");
    }

    fn due(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        while let Some(place) = self.held.iter().position(|(at, _)| *at <= now) {
            let (_, datagram) = self.held.swap_remove(place);
            self.pair.receive(now, datagram, out);
        }
    }
}

impl Ends for Harmed {
    fn start(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        self.pair.start(now, out);
    }

    fn receive(&mut self, now: Instant, datagram: Datagram, out: &mut Vec<Datagram>) {
        self.check();
        if datagram.way == Way::Forward {
            return self.pair.receive(now, datagram, out);
        }
        let jump = if now.0 > 1_500_000_000 { self.harm.jump_ms } else { 0 };
        let (lost, doubled, held) = (self.draw(), self.draw(), self.draw());
        if doubled < self.harm.doubled {
            self.pair.receive(now, datagram.clone(), out);
        }
        if held < self.harm.held || jump > 0 {
            let wait = Span::from_millis(self.harm.hold_ms.max(1) * (1 + held % 3) + jump);
            self.held.push((now + wait, datagram));
        } else if lost >= self.harm.lost || is_of_the_handshake(&datagram) {
            self.pair.receive(now, datagram, out);
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        self.due(now, out);
        self.pair.on_timer(now, out);
        self.check();
    }

    fn deadline(&self) -> Option<Instant> {
        let held = self.held.iter().map(|(at, _)| *at).min();
        [held, self.pair.deadline()].into_iter().flatten().min()
    }

    fn stop(&mut self) {
        self.pair.stop();
    }

    fn cwnd(&self) -> Bytes {
        Ends::cwnd(&self.pair)
    }

    fn in_flight(&self) -> Bytes {
        Ends::in_flight(&self.pair)
    }

    fn exit(&self) -> Option<StartupExit> {
        Ends::exit(&self.pair)
    }

    fn state(&self) -> SenderState {
        Ends::state(&self.pair)
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        Ends::gauges(&self.pair, report);
    }

    fn totals(&mut self) -> FlowOutcome {
        self.pair.totals()
    }
}

/// These are not lost: two losses in a row take as long as a whole run, because the RTT is not
/// known yet (RFC 9002 section 6.2.2). They have long headers (RFC 9000 section 17.2).
fn is_of_the_handshake(datagram: &Datagram) -> bool {
    datagram.payload.first().is_some_and(|byte| byte & 0x80 != 0)
}

fn harm() -> impl Strategy<Value = Harm> {
    (0..60_u64, 0..60_u64, 0..60_u64, 0..80_u64, 0..400_u64, any::<u64>()).prop_map(
        |(lost, doubled, held, hold_ms, jump_ms, seed)| Harm {
            lost,
            doubled,
            held,
            hold_ms,
            jump_ms: if jump_ms < 200 { 0 } else { jump_ms },
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        max_shrink_iters: 8,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_path_back_makes_a_sender_run_away(
        name in proptest::sample::select(controls()),
        harm in harm(),
    ) {
        let control = QuicControl::named(name).unwrap();
        let setup = Setup { seed: harm.seed, ..Setup::new(control, 100_000) };
        let pair = ClientAndServer::new(&setup).unwrap();
        // What may ever be in flight: what the windows of flow control allow, and their headers.
        let most = 12_000_000;
        let ends = Harmed { pair, harm, held: Vec::new(), most };
        let outcome = run(&network(10, 40, 40, 1, 3), vec![Box::new(ends)]);
        let flow = &outcome.flows[0];
        prop_assert!(flow.failure.is_none(), "{:?}", flow.failure);
        // 10 Mbit/s for 3 s are 3125 packets; twice the path and the buffer were under way besides.
        let sent = flow.counts.sent_packets;
        prop_assert!(sent < 3125 + 20_000, "{sent} packets sent");
        prop_assert!(flow.delivered_bytes.0 > 0 || harm.lost > 20, "nothing came through");
    }
}

/// Every start-up that needs no routers.
fn controls() -> Vec<&'static str> {
    STARTUPS
        .iter()
        .map(|card| card.name)
        .filter(|name| firstflight_quic::quinn::control(name).is_ok())
        .collect()
}
