//! A long path that loses much at once: more pieces of the file with gaps between them than quinn
//! keeps of one stream.

use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver as Waiting, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::pair::{Receiver, content};
use crate::process::Place;

/// A relay of datagrams between a sender and a receiver on this host.
struct Relay {
    address: SocketAddr,
    dropped: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

/// A datagram, when it is due, and where.
type Held = (Instant, Vec<u8>);

impl Relay {
    /// Takes datagrams for `to`, holds each for `delay`, and drops every second of the long ones
    /// from the `from`th to the `until`th.
    fn new(to: &str, delay: Duration, from: u64, until: u64) -> Self {
        let socket = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            Arc::new(socket)
        };
        let (front, back) = (socket(), socket());
        back.connect(to).unwrap();
        let relay = Self {
            address: front.local_addr().unwrap(),
            dropped: Arc::new(AtomicU64::new(0)),
            over: Arc::new(AtomicBool::new(false)),
        };
        let sender: Arc<OnceLock<SocketAddr>> = Arc::default();
        let (known, dropped) = (Arc::clone(&sender), Arc::clone(&relay.dropped));
        let mut long = 0;
        let loses = move |datagram: &[u8]| {
            long += u64::from(datagram.len() >= LONG);
            let lost = datagram.len() >= LONG && (from..until).contains(&long) && long % 2 == 0;
            dropped.fetch_add(lost.into(), Ordering::Relaxed);
            lost
        };
        relay.carry(Arc::clone(&front), delay, known, loses, {
            let back = Arc::clone(&back);
            move |datagram| back.send(datagram)
        });
        relay.carry(
            back,
            delay,
            Arc::default(),
            |_| false,
            move |datagram| sender.get().map_or(Ok(0), |sender| front.send_to(datagram, sender)),
        );
        relay
    }

    /// One direction: a thread that takes and one that hands on.
    fn carry(
        &self,
        socket: Arc<UdpSocket>,
        delay: Duration,
        peer: Arc<OnceLock<SocketAddr>>,
        mut loses: impl FnMut(&[u8]) -> bool + Send + 'static,
        send: impl Fn(&[u8]) -> io::Result<usize> + Send + 'static,
    ) {
        let over = Arc::clone(&self.over);
        let (held, waiting): (_, Waiting<Held>) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while !over.load(Ordering::Relaxed) {
                // Nothing for a while, or nobody listens any more.
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                peer.get_or_init(|| from);
                let datagram = &buffer[..length];
                if !loses(datagram) && held.send((Instant::now() + delay, datagram.into())).is_err()
                {
                    return;
                }
            }
        });
        thread::spawn(move || {
            for (due, datagram) in waiting {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                // A receiver that has gone needs nothing more.
                let _ = send(&datagram);
            }
        });
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_flight_of_which_every_second_packet_is_lost_is_repaired() {
    let place = Place::new();
    let sent = content(12_000_000);
    place.write("f", &sent);
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let relay = Relay::new(&receiver.address, Duration::from_millis(150), 10, 5_000);
    let to = relay.address.to_string();
    // All of it in the first flight.
    let control = "slow-start(iw=8000pkt)+newreno";
    let words = ["send", &to, "f", "--pin", &receiver.pin, "--secret", &receiver.secret];
    let outcome = place.run(&[&words[..], &["--control", control]].concat());
    let ended = receiver.running.end();
    assert_eq!((outcome.code, ended.code), (0, 0), "{outcome:?} {ended:?}");
    let dropped = relay.dropped.load(Ordering::Relaxed);
    assert!(dropped > 2_000, "only {dropped} packets were lost");
    assert!(fs::read(place.path("in/f")).unwrap() == sent, "the content differs");
}

/// Datagrams that carry the file.
const LONG: usize = 1_000;
