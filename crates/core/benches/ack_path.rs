//! What one ACK costs a sender: `cargo bench -p firstflight-core`.
//!
//! Every start-up runs with its partner. Each ACK is for one segment and is followed by sending
//! one; ACKs come in bursts at the bottleneck's rate, one burst per RTT, as start-up has them. The
//! least of many runs is printed, in ns per ACK and send, for paths of different length in packets.

use std::hint::black_box;
use std::time::Instant as Clock;

use firstflight_core::event::{Ack, Sent};
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AnyAvoidance, AnyStartup, STARTUPS, partner};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{Bytes, Instant, Span};

const MSS: u64 = 1_000;
const RTT: u64 = 100_000_000;
const ACKS: u64 = 200_000;
const RUNS: u32 = 30;

/// Window in segments and spacing of ACKs in ns: a quarter of 10 Mbit/s, half of 40 Mbit/s, all of
/// 40 Mbit/s, a tenth of 1 Gbit/s, all of 1 Gbit/s.
const PATHS: [(u64, u64); 5] =
    [(31, 800_000), (250, 200_000), (500, 200_000), (1_250, 8_000), (12_500, 8_000)];

fn main() {
    println!("sender: {} bytes of state", size_of::<Sender<Pair<AnyStartup, AnyAvoidance>>>());
    print!("{:24}", "ns per ACK, at a window of");
    PATHS.iter().for_each(|(window, _)| print!("{window:>8}"));
    println!();
    for listing in STARTUPS {
        let partner = partner(listing.name).unwrap_or("newreno");
        print!("{:26}", format!("{}+{partner}", listing.name));
        for path in PATHS {
            let runs = (0..RUNS).map(|_| run(listing.name, partner, path));
            print!("{:8.1}", runs.fold(f64::INFINITY, f64::min));
        }
        println!();
    }
}

/// One connection in its steady state; ns per ACK.
fn run(startup: &str, avoidance: &str, (window, gap): (u64, u64)) -> f64 {
    let policies = AnyStartup::by_name(startup).zip(AnyAvoidance::by_name(avoidance));
    let (startup, avoidance) = policies.expect("both names are listed");
    let config = Config {
        mss: Bytes(MSS),
        initial_window: Bytes(window * MSS),
        initial_ssthresh: Bytes(window * MSS),
        max_cwnd: Bytes(1 << 40),
        limit_growth_to_flight: false,
        segment_per_ack: true,
        paces: false,
    };
    let mut sender = Sender::new(startup, avoidance, config);
    sender.begin(Instant(0));
    let mut sent = window * MSS;
    let begun = Clock::now();
    for i in 0..ACKS {
        let now = Instant(RTT + i / window * RTT + i % window * gap);
        let (acked, credited) = (Bytes(MSS), Bytes(MSS));
        let in_flight = Bytes(window * MSS - MSS);
        let rtt = Some(Span(RTT));
        sender.on_ack(black_box(&Ack {
            now,
            acked,
            credited,
            rtt,
            in_flight,
            snd_nxt: Bytes(sent),
            ..Ack::default()
        }));
        sent += MSS;
        let in_flight = Bytes(window * MSS);
        sender.on_sent(black_box(&Sent { now, bytes: Bytes(MSS), in_flight, again: false }));
    }
    black_box(sender.cwnd());
    begun.elapsed().as_nanos() as f64 / ACKS as f64
}
