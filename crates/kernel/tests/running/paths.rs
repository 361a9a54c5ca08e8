//! Ten emulated paths from one namespace to ten others, and short connections over them of which
//! each byte is compared.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};

use super::network::{ip, within};

/// The namespaces; they go when it does.
pub(crate) struct Paths {
    name: String,
    /// How many connections may begin, have begun and have ended.
    allowed: AtomicUsize,
    begun: AtomicUsize,
    done: AtomicUsize,
    /// No more will be allowed.
    closed: AtomicBool,
}

/// A connection that has ended, as its sender saw it.
pub(crate) struct Ended {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) control: String,
    pub(crate) began: Instant,
    pub(crate) connected: Instant,
}

impl Paths {
    pub(crate) fn new() -> Self {
        let paths = Self {
            name: format!("ffp{}", std::process::id()),
            allowed: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        };
        ip(&["netns", "add", &paths.name]);
        let has_netem = paths.has_netem();
        if !has_netem {
            println!("this kernel has no netem: paths without delay and loss");
        }
        (0..PATHS).for_each(|path| add(&paths.name, path, has_netem));
        paths
    }

    fn has_netem(&self) -> bool {
        let words = ["tc", "qdisc", "add", "dev", "lo", "root", "netem"];
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).args(words).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Lets so many more connections begin, and waits until half of them have ended.
    pub(crate) fn carry_half_of(&self, more: usize) {
        let goal = self.allowed.fetch_add(more, Relaxed) + more / 2;
        // An emulated processor may take so long.
        let patience = Instant::now() + Duration::from_secs(3_600);
        while self.done.load(Relaxed) < goal {
            assert!(Instant::now() < patience, "an hour passed");
            sleep(Duration::from_millis(5));
        }
        // Whoever boots a guest takes one that is silent for dead.
        println!("{} connections have ended", self.done.load(Relaxed));
    }

    /// Lets connections begin until they are `all` together, and then no more.
    pub(crate) fn close(&self, all: usize) {
        self.allowed.store(all, Relaxed);
        self.closed.store(true, Relaxed);
    }

    /// Makes those connections that may begin until it is closed, four at a time for each path,
    /// path by path, and the services by turns.
    pub(crate) fn carry(&self) -> Vec<Ended> {
        let next = || {
            let begin = |begun| (begun < self.allowed.load(Relaxed)).then_some(begun + 1);
            self.begun.fetch_update(Relaxed, Relaxed, begin).ok()
        };
        let work = || {
            let mut all = Vec::new();
            loop {
                // Asked first, so that what was allowed last is made.
                let is_last = self.closed.load(Relaxed);
                match next() {
                    Some(number) => {
                        all.push(connect(number));
                        self.done.fetch_add(1, Relaxed);
                    }
                    None if is_last => return Ok(all),
                    None => sleep(Duration::from_millis(5)),
                }
            }
        };
        thread::scope(|scope| {
            let begin = |_| scope.spawn(|| within(&self.name, work).unwrap());
            let all: Vec<_> = (0..4 * PATHS).map(begin).collect();
            all.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        let names = (0..PATHS).map(|path| far(&self.name, path)).chain([self.name.clone()]);
        for name in names {
            let _ = Command::new("ip").args(["netns", "delete", &name]).status();
        }
    }
}

fn far(name: &str, path: usize) -> String {
    format!("{name}x{path}")
}

/// Two ends with half of a delay each: 4 to 94 ms of RTT, 10 to 55 Mbit/s, and every third path
/// loses one packet in a hundred each way.
fn add(name: &str, path: usize, has_netem: bool) {
    let (far, near) = (far(name, path), format!("p{path}"));
    let [own, other] = [90, 91].map(|second| format!("10.{second}.{path}.1"));
    ip(&["netns", "add", &far]);
    let peer = ["type", "veth", "peer", "name", "p", "netns", &far];
    ip(&[&["-n", name, "link", "add", &near][..], &peer].concat());
    let (delay, rate) = (format!("{}ms", 2 + 5 * path), format!("{}mbit", 10 + 5 * path));
    let loss: &[&str] = if path.is_multiple_of(3) { &["loss", "1%"] } else { &[] };
    for (end, device, from, to) in [(name, &*near, &own, &other), (&far, "p", &other, &own)] {
        ip(&["-n", end, "addr", "add", from, "peer", to, "dev", device]);
        ip(&["-n", end, "link", "set", device, "up"]);
        let netem = [&["netem", "limit", "200", "delay", &delay, "rate", &rate][..], loss].concat();
        let tbf = ["tbf", "rate", &rate, "burst", "16kb", "limit", "300kb"];
        let tc = ["netns", "exec", end, "tc", "qdisc", "add", "dev", device, "root"];
        let queue = if has_netem { &netem[..] } else { &tbf[..] };
        ip(&[&tc[..], queue].concat());
    }
    for port in PORTS {
        let listener = within(&far, || TcpListener::bind(("0.0.0.0", port))).unwrap();
        thread::spawn(move || serve(&listener));
    }
}

fn connect(number: usize) -> Ended {
    let (path, port) = (number % PATHS, PORTS[number / PATHS % 2]);
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let remote = SocketAddr::from(([10, 91, u8::try_from(path).unwrap(), 1], port));
    let began = Instant::now();
    socket.connect(&remote.into()).unwrap();
    let connected = Instant::now();
    let mut stream = TcpStream::from(socket);
    let [there, back] = content(number);
    stream.write_all(&u64::try_from(number).unwrap().to_be_bytes()).unwrap();
    stream.write_all(there).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer == back, "connection {number}: not the bytes that were sent");
    let control = SockRef::from(&stream).tcp_congestion().unwrap();
    let control = String::from_utf8_lossy(&control).trim_end_matches('\0').to_owned();
    Ended { local: stream.local_addr().unwrap(), remote, control, began, connected }
}

fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        thread::spawn(move || answer(stream.unwrap()).unwrap());
    }
}

/// Compares what comes with what was to come, and answers only if it is that.
fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut number = [0; 8];
    stream.read_exact(&mut number)?;
    let number = usize::try_from(u64::from_be_bytes(number)).unwrap();
    let mut came = Vec::new();
    stream.read_to_end(&mut came)?;
    let [there, back] = content(number);
    if came == there { stream.write_all(back) } else { Ok(()) }
}

/// What a connection carries there, 2 to 62 kB, and back, a quarter of that: bytes that no other
/// has in this order.
fn content(number: usize) -> [&'static [u8]; 2] {
    static RANDOM: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            // Xorshift (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        (0..1 << 14).flat_map(|_| next()).collect()
    });
    let size = 2_000 + number * 7_919 % 60_000;
    let of = |size: usize, seed: usize| &RANDOM[seed % 65_521..][..size];
    [of(size, number * 31), of(size / 4, number * 57 + 13)]
}

const PATHS: usize = 10;
/// The ports of the two services on every path.
pub(crate) const PORTS: [u16; 2] = [9_001, 9_002];
