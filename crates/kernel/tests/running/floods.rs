//! More connections than a ring has room for.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use firstflight_kernel::trial::Dealing;
use firstflight_kernel::watch::Watch;

use super::dealt::{half_of_a_service, trial_of};
use crate::{ClearedOnDrop, exclusive};

/// A flood of connections that nobody takes fills the ring: what does not fit is counted, and the
/// connections go on.
#[test]
fn a_full_ring_drops_records_and_counts_them() {
    let Some((cgroup, _lock)) = exclusive() else { return };
    let watch = Watch::attach(&cgroup).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for _ in 0..FLOOD {
        let sent = TcpStream::connect(address).unwrap();
        drop((listener.accept().unwrap(), sent));
    }
    let found = watch.take(Duration::from_secs(5)).unwrap();
    let counts = watch.counts();
    println!("{} records, {counts:?}", found.len());
    // Both ends of each; a MiB holds some 6,000.
    assert!((5_500..6_500).contains(&found.len()), "{}", found.len());
    assert!(counts.dropped + found.len() as u64 >= 2 * FLOOD, "{counts:?}");
    let sent = TcpStream::connect(address).unwrap();
    drop((listener.accept().unwrap(), sent));
    assert!(!watch.take(Duration::from_secs(5)).unwrap().is_empty(), "there is room again");
}

/// Connections of a flood of 1 MiB.
const FLOOD: u64 = 4_000;

#[test]
fn a_trial_that_nobody_reads_counts_what_it_has_no_room_for() {
    let Some((cgroup, _lock)) = exclusive() else { return };
    let (listener, half) = half_of_a_service();
    let _undone = ClearedOnDrop;
    let (dealing, _) = Dealing::begin(&cgroup, &trial_of(half)).unwrap();
    let connect = || {
        let sent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop((listener.accept().unwrap(), sent));
    };
    let read = || {
        let mut found = 0;
        let count = |_| {
            found += 1;
            true
        };
        dealing.take(Duration::from_secs(5), count).unwrap();
        found
    };
    (0..MANY).for_each(|number| {
        connect();
        // It deals for ten seconds from then.
        if number % 100 == 0 {
            dealing.renew().unwrap();
        }
    });
    let (found, counts) = (read(), dealing.counts().unwrap());
    println!("{found} records, {counts:?}");
    // Both ends of each; 4 MiB hold some 21,000.
    assert!((20_500..21_500).contains(&found), "{found}");
    assert_eq!(counts.dealt.iter().sum::<u64>(), counts.matched);
    assert_eq!((counts.matched, counts.dropped), (2 * MANY, 2 * MANY - found));
    connect();
    assert_eq!(read(), 2, "there is room again");
    dealing.end().unwrap();
}

/// Connections of a flood of 4 MiB.
const MANY: u64 = 11_000;
