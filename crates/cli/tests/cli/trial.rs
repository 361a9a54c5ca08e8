//! `kernel trial` with real connections, over loopback, to addresses of 250 prefixes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_kernel::requirements;
use firstflight_kernel::trial::dealing::LEASE;
use firstflight_kernel::watch::default_cgroup;
use serde_json::Value;
use socket2::{Domain, Socket, Type};

use crate::process::{Outcome, Place, run, wait_until};

/// One trial at a time is on a host. `None`, with the reason, where there can be none.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    let lack = requirements::check().and_then(|_| requirements::check_pinning()).err();
    let lack = lack.map(|lack| lack.to_string());
    let lack = lack.or_else(|| {
        default_cgroup().is_none().then(|| "no cgroup2 file system is mounted".to_owned())
    });
    if let Some(lack) = lack {
        eprintln!("skipped: {lack}");
        assert!(std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_none(), "needed here: {lack}");
        return None;
    }
    Some(TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Who takes all bytes until a FIN and answers it.
struct Receiver {
    port: u16,
    made: AtomicUsize,
}

impl Receiver {
    fn new() -> Arc<Self> {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let drain = |mut stream: TcpStream| {
                    let mut bytes = vec![0; 1 << 18];
                    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
                };
                thread::spawn(move || drain(stream.unwrap()));
            }
        });
        Arc::new(Self { port, made: AtomicUsize::new(0) })
    }

    /// A connection to the next prefix, with so many bytes.
    fn connect(&self, bytes: usize) {
        let number = self.made.fetch_add(1, Relaxed);
        let to = SocketAddr::from(([127, 77, u8::try_from(number % 250).unwrap(), 1], self.port));
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        // Loopback's own segments are so large that few rounds are left.
        socket.set_tcp_mss(1448).unwrap();
        socket.connect(&to.into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.write_all(&vec![0; bytes]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
}

/// Begins a trial, and waits until it deals.
fn begin(place: &Place, words: &[&str]) -> Child {
    let all = [&["kernel", "trial", "--to", "127.77.0.0/16", "--json"], words].concat();
    let mut command = place.command(&all);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Ctrl-C ends it")));
    assert!(begun.is_some(), "{:?}", child.wait_with_output());
    thread::spawn(move || lines.for_each(drop));
    child
}

fn end(child: Child) -> (i32, Value) {
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    (outcome.code, serde_json::from_str(&outcome.stdout).unwrap())
}

#[test]
fn a_control_that_harms_is_stopped_and_given_to_nobody() {
    let Some(_turn) = turn() else { return };
    let name = format!("ff_h_{}", std::process::id() % 100_000);
    // Two packets at first, and one more each round.
    let control = format!("{name}=slow-start(iw=2pkt,ssthresh=2pkt)+newreno");
    assert_eq!(run(&["kernel", "load", &control]).code, 0);
    let place = Place::new();
    let words = ["--control", &name, "--against", "cubic", "--share", "50%", "--bytes", "1MB"];
    let mut child = begin(&place, &[&words[..], &["--for", "60s"]].concat());
    let receiver = Receiver::new();
    while child.try_wait().unwrap().is_none() {
        receiver.connect(1_500_000);
    }
    let (code, found) = end(child);
    println!("after {} connections: {found:#}", receiver.made.load(Relaxed));
    assert_eq!(code, 1, "{found:#}");
    assert_eq!(found["stopped"], "time to the bytes is worse", "{found:#}");
    assert_eq!(run(&["kernel", "trial", "--clear"]).stdout, "no trial left anything\n");
    assert_eq!(run(&["kernel", "unload", &name]).code, 0);
}

#[test]
fn a_trial_that_is_killed_deals_no_more_and_goes_on_when_it_is_asked_again() {
    let Some(_turn) = turn() else { return };
    let place = Place::new();
    let words = |period| {
        let arms = ["--control", "reno", "--against", "cubic", "--share", "30%"];
        [&arms[..], &["--record", "trial.jsonl", "--for", period]].concat()
    };
    let receiver = Receiver::new();
    let connect = |count: usize| (0..count).for_each(|_| receiver.connect(10_000));
    let mut child = begin(&place, &words("60s"));
    let other = place.run(&["kernel", "trial", "--control", "reno", "--against", "cubic"]);
    assert_eq!(other.code, 3, "{other:?}");
    assert!(other.stderr.contains("a trial is under way"), "{other:?}");
    connect(30);
    let lines = || fs::read_to_string(place.path("trial.jsonl")).unwrap().lines().count();
    wait_until("twenty lines", || lines() >= 20);
    // SIGKILL, and connections that nobody reads until the next command.
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    connect(20);
    let in_time = killed.elapsed() < LEASE / 2;
    thread::sleep(LEASE + Duration::from_secs(1));
    connect(20);
    let other = place.run(&["kernel", "trial", "--control", "cubic", "--against", "reno"]);
    assert_eq!(other.code, 3, "{other:?}");
    assert!(other.stderr.contains("a trial that was killed is there"), "{other:?}");
    let (code, found) = end(begin(&place, &words("1s")));
    assert_eq!(code, 0, "{found:#}");
    let count: u64 = [0, 1].map(|arm| found["connections"][arm].as_u64().unwrap()).iter().sum();
    // Where a busy machine takes so long that the lease ends among the second twenty, some are not.
    assert!(if in_time { count == 50 } else { (31..=50).contains(&count) }, "{found:#}");
    assert_eq!((&found["matched"], lines() as u64), (&count.into(), count + 1), "{found:#}");
    assert_eq!(found["dropped"], 0);
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_is_attached() {
    if turn().is_none() {
        return;
    }
    for (words, wanted) in [
        (&["--share", "100%"][..], "nothing is left to compare with"),
        (&["--age", "60s"], "an age below 60s"),
        (&["--for", "soon"], "--for soon"),
        (&["--to", "nowhere"], "accepted: an address or a prefix"),
        (&["--by", "chance"], "possible values: connection, prefix, time"),
    ] {
        let all = [&["kernel", "trial", "--control", "reno", "--against", "cubic"], words].concat();
        let outcome = run(&all);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(wanted), "{wanted}: {}", outcome.stderr);
    }
    let outcome = run(&["kernel", "trial", "--control", "nobodys", "--against", "cubic"]);
    assert!(outcome.stderr.contains("the kernel has no control `nobodys`"), "{outcome:?}");
}
