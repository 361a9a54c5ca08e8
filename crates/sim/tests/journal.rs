//! The journeys of packets agree with the counts of a run on fast paths, which records none.

use std::collections::BTreeSet;

use crate::common::{flow, link, network};
use firstflight_core::units::{Instant, Span};
use firstflight_link::{CodelRules, Discipline};
use firstflight_sim::{Journal, Journey, Network, Recovery, follow, run};

const ALL: usize = usize::MAX;
const END: Instant = Instant(5_000_000_000);

/// Two flows over two links, of which the second is slow and has little room.
fn crowded() -> Network {
    let mut late = flow(&[0, 1], 20, Recovery::Sack);
    late.start = Instant(300_000_000);
    let flows = vec![flow(&[0, 1], 10, Recovery::NewReno), late];
    network(vec![link(50, 5, 400), link(10, 10, 30)], flows, 5_000)
}

fn agrees(network: &Network, journal: &Journal) {
    let mut sampled = network.clone();
    sampled.sample_every = Some(Span::from_millis(1));
    let outcome = run(&sampled);
    for (place, flow) in outcome.flows.iter().enumerate() {
        let own = || journal.packets.iter().filter(|it| it.flow == place);
        let mut lost: Vec<Instant> = own().filter_map(|it| it.lost).collect();
        lost.sort_unstable();
        assert!(!lost.is_empty() && lost == flow.lost_at, "{} of {}", lost.len(), flow.drops);
        let arrived = own().filter(|it| it.received.is_some_and(|at| at <= END));
        let arrived: BTreeSet<u32> = arrived.map(|it| it.seq).collect();
        let in_order = (0..).take_while(|seq| arrived.contains(seq)).count() as u64;
        assert_eq!(in_order, flow.delivered_packets);
        let sample = flow.series.last().unwrap();
        let received = journal.acks.iter().filter(|it| it.flow == place && it.home <= sample.at);
        assert_eq!(received.map(|ack| u64::from(ack.next)).max(), Some(sample.acked_packets));
    }
    for it in &journal.packets {
        let order = [Some(it.left), it.came, it.sent, it.received];
        assert!(order.iter().flatten().is_sorted(), "{it:?}");
        assert!(it.lost.is_none() || it.received.is_none(), "{it:?}");
    }
}

#[test]
fn what_is_lost_and_received_is_what_a_fast_run_counts() {
    let network = crowded();
    let journal = follow(&network, 1, ALL);
    assert!(!journal.is_full);
    agrees(&network, &journal);
}

#[test]
fn packets_wait_where_the_link_says_so() {
    let network = crowded();
    let journal = follow(&network, 1, ALL);
    // Held at the moment a packet has come: those that came before and have not been sent yet, with
    // the one in service.
    let busy = Span(800_000);
    let inside = |now: Instant| {
        let held = |it: &&Journey| {
            it.came.is_some_and(|came| came <= now) && it.sent.is_some_and(|sent| sent + busy > now)
        };
        journal.packets.iter().filter(held).count() as u64
    };
    let most = journal.packets.iter().filter_map(|it| it.came).map(inside).max();
    assert_eq!(most, Some(run(&network).links[1].totals.peak_packets));
}

#[test]
fn a_queue_that_decides_later_is_followed_too() {
    let mut network = crowded();
    network.links[1].queue =
        Some(Discipline::Codel(CodelRules::default()).build(1_000, 10_000_000));
    agrees(&network, &follow(&network, 1, ALL));
}

#[test]
fn it_ends_with_so_many_packets() {
    let whole = follow(&crowded(), 1, ALL);
    let part = follow(&crowded(), 1, 100);
    assert!(part.is_full && part.packets.len() == 100);
    let seqs =
        |journal: &Journal| journal.packets[..100].iter().map(|it| it.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&part), seqs(&whole));
}
