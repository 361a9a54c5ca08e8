//! What a watch of the whole host reports of one connection.

use std::time::{Duration, Instant};

use firstflight_kernel::load::Options;
use firstflight_kernel::record::Kind;
use firstflight_kernel::requirements::Lack;
use firstflight_kernel::watch::{Connection, End, Watch, WatchError};

use super::flow::{Flow, Given};
use super::network::Network;
use crate::{SIZE, count, exclusive, load_with, records_until};

/// A watch reports the end of slow start and the window that the control's own records show.
#[test]
fn a_watched_connection_ends_slow_start_as_its_control_did() {
    let Some((cgroup, _lock)) = exclusive() else { return };
    let watch = Watch::attach(&cgroup).unwrap();
    let traced = traced();
    let network = Network::new(400);
    network.keep_unused_windows();
    // Astart goes on above its threshold, of which the socket alone would tell an end.
    let texts = [("newreno", End::Loss), ("liw(iw=400pkt)", End::Heuristic), ("astart", End::Loss)];
    for (number, (text, end)) in texts.into_iter().enumerate() {
        let name = Some(format!("ff_w{number}_{}", std::process::id() % 10_000));
        let options = Options { name, recording: true, ..Options::default() };
        let control = load_with(text, options).unwrap();
        let flow = Flow::start(&network, control.name(), Given::BeforeItConnects);
        let mut records = records_until(&flow, &control, |it| count(it, Kind::Loss) > 0);
        flow.end();
        records.extend(control.records().unwrap());
        let watched = closed_connection(&watch, control.name());
        let before = records.iter().take_while(|record| record.kind != Kind::Loss);
        let longest = before.map(|record| record.snd_cwnd).max().unwrap();
        println!("{text}: {:?}, longest window before a loss {longest}", watched.slow_start);
        assert_eq!(watched.slow_start.end, end, "{text}");
        assert_eq!(watched.slow_start.cwnd, longest, "{text}: {watched:?}");
        assert!(watched.lost > 0 && watched.acked > SIZE / 2, "{text}: {watched:?}");
        assert_eq!(u32::from(watched.remote.port()), records[0].ports.1, "{text}");
        let Some(traced) = &traced else { continue };
        let by_tracepoints = closed_connection(traced, control.name());
        let ended = |it: &Connection| (it.slow_start.end, it.slow_start.cwnd, it.local, it.remote);
        assert_eq!(ended(&by_tracepoints), ended(&watched), "{text}: {by_tracepoints:?}");
        let counts = |it: &Connection| (it.acked, it.lost);
        assert_eq!(counts(&by_tracepoints), counts(&watched), "{text}");
        assert_eq!(by_tracepoints.slow_start.timeouts, None, "{text}");
        let rate = by_tracepoints.slow_start.rate;
        assert!(rate.is_none() || end != End::Heuristic, "{text}: {by_tracepoints:?}");
    }
}

/// The one connection under a control that has closed.
fn closed_connection(watch: &Watch, control: &str) -> Connection {
    let until = Instant::now() + Duration::from_secs(60);
    // The other end may be reported first.
    let found = loop {
        let mut found = watch.take(Duration::from_secs(1)).unwrap();
        found.retain(|it| it.control == control);
        if !found.is_empty() || Instant::now() > until {
            break found;
        }
    };
    let [one] = &found[..] else { panic!("{control}: one connection, not {found:?}") };
    one.clone()
}

/// The watch by tracepoints; says why if there is none.
fn traced() -> Option<Watch> {
    match Watch::trace() {
        Ok(watch) => Some(watch),
        Err(lack @ WatchError::Lack(Lack::Tracepoint)) => {
            eprintln!("skipped by tracepoints: {lack}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
