//! A run asks now and then whether to go on.

use crate::common::{flow, link, network};
use firstflight_sim::{FastPaths, Interrupted, Network, Recovery, run, run_watched};

/// 200 Mbps for 30 s: some 500,000 packets.
fn long() -> Network {
    let flow = flow(&[0], 5, Recovery::NewReno);
    network(vec![link(200, 5, 250)], vec![flow], 30_000)
}

#[test]
fn it_asks_first_and_after_every_so_many_events_and_is_the_same_run() {
    let mut asked = 0;
    let mut go_on = || {
        asked += 1;
        true
    };
    let outcome = run_watched(&long(), FastPaths::On, &mut go_on).unwrap();
    assert!(outcome.events > BETWEEN, "{}", outcome.events);
    assert_eq!(asked, outcome.events / BETWEEN + 1);
    assert_eq!(outcome, run(&long()));
}

#[test]
fn it_stops_when_asked_to() {
    let mut left = 1;
    let mut go_on = || std::mem::replace(&mut left, 0) > 0;
    assert_eq!(run_watched(&long(), FastPaths::On, &mut go_on), Err(Interrupted));
}

const BETWEEN: u64 = 1 << 14;
