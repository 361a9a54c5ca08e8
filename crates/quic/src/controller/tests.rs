//! The translation, event by event, and what no peer may bring about.

use std::time::Duration;

use firstflight_core::needs::Needs;
use firstflight_core::registry::{
    ALIASES, AVOIDANCES, Card, STARTUPS, avoidance_needs, startup_needs,
};
use proptest::prelude::*;
use quinn_proto::congestion::Controller as _;

use super::*;
use crate::quinn::{Controller, Named, control};

mod calm;
mod events;
mod pace;

const MTU: u16 = 1_200;
const PACKET: u64 = MTU as u64;

/// A controller with a clock that counts milliseconds.
struct Path<P = Named> {
    controller: Controller<P>,
    zero: Clock,
    in_flight: u64,
}

impl Path {
    fn new(name: &str) -> Self {
        let zero = Clock::now();
        let controller = control(name).unwrap().max_window(MOST).controller(zero, MTU);
        Self { controller, zero, in_flight: 0 }
    }
}

impl<P> Path<P>
where
    P: Policies + Clone + Send + Sync + 'static,
{
    fn at(&self, ms: u64) -> Clock {
        self.zero + Duration::from_millis(ms)
    }

    fn send(&mut self, ms: u64, packets: u64) {
        self.in_flight += packets * PACKET;
        self.controller.on_sent(self.at(ms), packets * PACKET, 0);
    }

    /// One ACK frame at `ms` for so many packets that left at `sent`.
    fn ack(&mut self, ms: u64, sent: u64, packets: u64) {
        for _ in 0..packets {
            self.controller.acknowledged(self.at(sent), PACKET);
        }
        self.in_flight -= packets * PACKET;
        self.controller.on_end_acks(self.at(ms), self.in_flight, false, None);
    }

    fn lose(&mut self, ms: u64, sent: u64, packets: u64) {
        self.in_flight -= packets * PACKET;
        let (now, sent) = (self.at(ms), self.at(sent));
        self.controller.on_congestion_event(now, sent, false, packets * PACKET);
    }

    fn window(&self) -> u64 {
        self.controller.window() / PACKET
    }
}

#[test]
fn slow_start_grows_by_every_packet_of_an_ack_frame() {
    let mut path = Path::new("newreno");
    assert_eq!(path.window(), 10);
    path.send(0, 10);
    path.ack(100, 0, 2);
    path.ack(101, 0, 8);
    assert_eq!(path.window(), 20);
}

#[test]
fn a_frame_of_several_packets_is_one_ack_to_what_measures_rates() {
    let mut path = Path::new("hoe");
    path.send(0, 10);
    // Two packets every 2 ms are 1.2 MB/s; over the RTT of 100 ms that is 100 packets.
    path.ack(100, 0, 2);
    path.ack(102, 0, 2);
    path.ack(104, 0, 2);
    assert_eq!(path.controller.sender().ssthresh().0, 100 * PACKET);
    assert_eq!(path.window(), 16, "and each packet opens the window");
}

#[test]
fn one_recovery_period_cuts_once_and_ends_with_a_packet_sent_after_it() {
    let mut path = Path::new("newreno");
    path.send(0, 10);
    path.send(1, 10);
    path.lose(100, 0, 1);
    assert_eq!(path.window(), 5);
    path.lose(101, 1, 1);
    assert_eq!(path.window(), 5, "it had left before the period began");
    path.ack(102, 1, 9);
    assert_eq!(path.window(), 5, "what left before the period does not open the window");
    path.send(110, 4);
    path.ack(210, 110, 1);
    assert!(!path.controller.sender().view().recovering);
    assert_eq!(path.controller.sender().view().acked.0, 10 * PACKET);
    path.lose(220, 110, 1);
    assert_eq!(path.window(), 2, "a loss after the period is a new one");
}

#[test]
fn the_core_knows_how_much_has_left_when_a_loss_comes() {
    let mut path = Path::new("newreno");
    path.send(0, 4);
    path.send(1, 6);
    path.lose(100, 0, 1);
    assert_eq!(path.controller.sender().view().snd_nxt.0, 10 * PACKET);
    assert_eq!(path.controller.sender().first_exit().unwrap().in_flight.0, 10 * PACKET);
    path.ack(101, 1, 6);
    let view = path.controller.sender().view();
    assert_eq!(view.snd_nxt.0, 9 * PACKET, "the position does not count what is lost");
    assert_eq!(view.sent.0, 10 * PACKET, "the total does");
}

#[test]
fn a_mark_cuts_like_a_loss_and_opens_a_recovery_period() {
    let mut path = Path::new("newreno");
    path.send(0, 10);
    path.ack(100, 0, 1);
    let now = path.at(100);
    path.controller.on_congestion_event(now, path.at(0), false, 0);
    assert_eq!(path.window(), 5);
    path.controller.on_congestion_event(now, path.at(0), false, 0);
    path.ack(101, 0, 9);
    assert_eq!(path.window(), 5);
}

#[test]
fn persistent_congestion_leaves_two_packets_even_within_a_recovery_period() {
    let mut path = Path::new("astart");
    path.send(0, 10);
    path.lose(100, 0, 1);
    path.controller.on_congestion_event(path.at(900), path.at(0), true, PACKET);
    assert_eq!(path.window(), 2);
    assert_eq!(path.controller.metrics().congestion_window, 2 * PACKET);
}

#[test]
fn rtt_samples_are_of_the_newest_packet_and_of_none_that_comes_late() {
    let mut path = Path::new("newreno");
    path.send(0, 1);
    path.send(10, 1);
    path.send(20, 2);
    path.ack(100, 0, 1);
    assert_eq!(path.controller.sender().view().rtt.first.0, 100_000_000);
    path.ack(110, 20, 1);
    assert_eq!(path.controller.sender().view().rtt.latest.0, 90_000_000);
    path.ack(300, 10, 1);
    assert_eq!(path.controller.sender().view().rtt.latest.0, 90_000_000);
}

#[test]
fn times_go_on_where_a_policy_reads_them_or_start_up_may_end() {
    let last = |name: &str, loses: bool| {
        let mut path = Path::new(name);
        path.send(0, 20);
        path.ack(100, 0, 2);
        if loses {
            path.lose(110, 0, 1);
        }
        path.ack(200, 0, 2);
        path.controller.sender().view().now.0 / 1_000_000
    };
    assert_eq!([last("newreno", false), last("cubic", true), last("astart", true)], [200; 3]);
    assert_eq!(last("newreno", true), 110, "nobody is left who would ask");
}

#[test]
fn an_mtu_change_moves_the_floor_and_the_segment() {
    let mut path = Path::new("newreno");
    path.controller.on_mtu_update(9_000);
    assert_eq!(path.controller.metrics().congestion_window, 18_000);
    assert_eq!(path.controller.sender().view().mss.0, 9_000);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut path = Path::new("astart");
    path.send(0, 10);
    path.lose(100, 0, 1);
    assert!(path.window() < 10);
    path.controller.on_spurious_loss();
    assert_eq!(path.window(), 10);
}

#[test]
fn an_application_that_sends_little_does_not_open_the_window() {
    let mut path = Path::new("newreno");
    for round in 0..50 {
        path.send(round * 100, 1);
        path.ack(round * 100 + 99, round * 100, 1);
    }
    assert!(path.window() <= 20, "{}", path.window());
}

/// An event as a hostile peer and path may bring it: no packet needs to have been sent, times leap,
/// sizes are any.
#[derive(Clone, Debug)]
enum Event {
    Sent(u32),
    Ack { sent_ago_us: u32, packets: u8, bytes: u16, in_flight: u32, app_limited: bool },
    Congestion { sent_ago_us: u32, persistent: bool, bytes: u32 },
    Mtu(u16),
    Spurious,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0_u32..200_000).prop_map(Event::Sent),
        5 => (any::<u32>(), any::<u8>(), any::<u16>(), any::<u32>(), any::<bool>()).prop_map(
            |(sent_ago_us, packets, bytes, in_flight, app_limited)| Event::Ack {
                sent_ago_us, packets, bytes, in_flight, app_limited
            }
        ),
        1 => (any::<u32>(), any::<bool>(), any::<u32>()).prop_map(
            |(sent_ago_us, persistent, bytes)| Event::Congestion { sent_ago_us, persistent, bytes }
        ),
        1 => any::<u16>().prop_map(Event::Mtu),
        1 => Just(Event::Spurious),
    ]
}

fn happen(controller: &mut Controller, now: Clock, event: &Event) {
    let ago = |us: u32| now.checked_sub(Duration::from_micros(us.into())).unwrap_or(now);
    match *event {
        Event::Sent(bytes) => controller.on_sent(now, bytes.into(), 0),
        Event::Ack { sent_ago_us, packets, bytes, in_flight, app_limited } => {
            (0..packets).for_each(|_| controller.acknowledged(ago(sent_ago_us), bytes.into()));
            controller.on_end_acks(now, in_flight.into(), app_limited, None);
        }
        Event::Congestion { sent_ago_us, persistent, bytes } => {
            controller.on_congestion_event(now, ago(sent_ago_us), persistent, bytes.into());
        }
        Event::Mtu(mtu) => controller.on_mtu_update(mtu.max(1_200)),
        Event::Spurious => controller.on_spurious_loss(),
    }
}

/// Every pair of policies that need nothing, so that they read no times.
fn without_needs() -> Vec<String> {
    let of = |needs: fn(&str) -> Option<Needs>, all: &'static [Card]| {
        all.iter().map(|it| it.name).filter(move |name| needs(name) == Some(Needs::NONE))
    };
    let startups = of(startup_needs, STARTUPS);
    let avoidances = || of(avoidance_needs, AVOIDANCES);
    startups.flat_map(|first| avoidances().map(move |then| format!("{first}+{then}"))).collect()
}

fn controls() -> Vec<String> {
    let policies = STARTUPS.iter().map(|card| card.name);
    let aliases = ALIASES.iter().map(|alias| alias.name);
    let all = policies.chain(aliases).map(str::to_owned);
    all.filter(|name| control(name).is_ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn nothing_a_peer_says_breaks_the_window(
        name in proptest::sample::select(controls()),
        events in proptest::collection::vec((0_u32..2_000_000, event()), 1..200),
    ) {
        let mut path = Path::new(&name);
        let mut now = path.zero;
        let mut floor = 2 * PACKET;
        for (gap_us, event) in events {
            now += Duration::from_micros(gap_us.into());
            let before = path.controller.metrics().congestion_window;
            happen(&mut path.controller, now, &event);
            let earned = match event {
                Event::Spurious => continue,
                Event::Ack { packets, bytes, .. } => u64::from(packets) * u64::from(bytes),
                Event::Mtu(mtu) => {
                    floor = 2 * u64::from(mtu.max(1_200));
                    0
                }
                _ => 0,
            };
            let window = path.controller.metrics().congestion_window;
            prop_assert!(window >= floor, "{name}: {window} below two packets");
            prop_assert!(window <= MOST.max(floor), "{name}: {window} above the limit");
            let grown = window.saturating_sub(before.max(floor));
            if earned == 0 {
                prop_assert_eq!(grown, 0, "{}: grown with no ACK", name);
            }
        }
    }
}

proptest! {
    #[test]
    fn policies_that_read_no_times_decide_the_same_where_time_stands_still(
        name in proptest::sample::select(without_needs()),
        rounds in proptest::collection::vec((20_u64..300, 0_u8..20), 1..80),
    ) {
        let mut timeless = Path::new(&name);
        let mut timed = Path { controller: timeless.controller.clone(), ..timeless };
        prop_assert!(!timeless.controller.reads_times, "{}", name);
        timed.controller.reads_times = true;
        let mut now = 0;
        for (rtt, trouble) in rounds {
            for path in [&mut timeless, &mut timed] {
                let packets = path.window().min(100);
                path.send(now, packets);
                (0..packets / 2).for_each(|pair| path.ack(now + rtt + pair % 10, now, 2));
                match trouble {
                    0 | 1 => path.lose(now + rtt + 10, now, packets % 2),
                    2 => {
                        let (at, sent) = (path.at(now + rtt), path.at(now));
                        path.controller.on_congestion_event(at, sent, true, 1);
                    },
                    _ => path.ack(now + rtt + 10, now, packets % 2),
                }
            }
            now += rtt + 11;
            prop_assert_eq!(timeless.controller.window(), timed.controller.window(), "{}", name);
            let exits = [&timeless, &timed].map(|path| path.controller.sender().first_exit());
            prop_assert_eq!(exits[0], exits[1], "{}", name);
        }
    }
}

/// The limit on the window in these tests.
const MOST: u64 = 100_000_000;
