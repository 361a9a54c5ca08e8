//! Three network namespaces in a row: a sender, a router with a slow link, a receiver.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};

/// The namespaces; they go when it does.
pub(crate) struct Network {
    prefix: String,
    /// Its addresses begin with 10 and this: rules of one test are for no flow of another.
    second: usize,
}

impl Network {
    pub(crate) fn new(number: usize) -> Self {
        let prefix = format!("fft{}x{number}", std::process::id());
        let network = Self { prefix, second: 20 + number % 200 };
        let [a, r, b] = ["a", "r", "b"].map(|end| network.name(end));
        for name in [&a, &r, &b] {
            ip(&["netns", "add", name]);
        }
        for (end, near, far, subnet) in [(&a, "ea", "ra", 1), (&b, "eb", "rb", 2)] {
            let peer = ["type", "veth", "peer", "name", far, "netns", &r];
            ip(&[&["-n", end, "link", "add", near][..], &peer].concat());
            for (name, device, host) in [(end, near, 2), (&r, far, 1)] {
                let address = format!("{}/24", network.address(subnet, host));
                ip(&["-n", name, "addr", "add", &address, "dev", device]);
                ip(&["-n", name, "link", "set", device, "up"]);
            }
            let router = network.address(subnet, 1).to_string();
            ip(&["-n", end, "route", "add", "default", "via", &router]);
        }
        network.inside("r", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
        for end in ["a", "b"] {
            network.inside(end, &["sysctl", "-qw", FAST_OPEN, FORGETFUL]);
        }
        let slow = ["rate", "50mbit", "burst", "4kb", "limit", "60kb"];
        let queue = ["tc", "qdisc", "add", "dev", "rb", "root", "tbf"];
        network.inside("r", &[&queue[..], &slow].concat());
        network
    }

    /// An address of the sender's subnet, 1, or the receiver's, 2. The ends are host 2 of theirs.
    pub(crate) fn address(&self, subnet: u8, host: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, u8::try_from(self.second).unwrap(), subnet, host)
    }

    /// Gives the sender's route a control that nobody may override.
    pub(crate) fn lock_control(&self, control: &str) {
        self.route(&["congctl", "lock", control]);
    }

    pub(crate) fn unlock_control(&self) {
        self.route(&[]);
    }

    /// The sender's route, with these words.
    fn route(&self, words: &[&str]) {
        let (end, router) = (self.name("a"), self.address(1, 1).to_string());
        ip(&[&["-n", &end, "route", "replace", "default", "via", &router], words].concat());
    }

    /// Leaves the window of a source that pauses as it is, as busy machines make them pause; Linux
    /// reduces it after a timeout's time (RFC 2861, `tcp_slow_start_after_idle`).
    pub(crate) fn keep_unused_windows(&self) {
        self.inside("a", &["sysctl", "-qw", "net.ipv4.tcp_slow_start_after_idle=0"]);
    }

    /// Takes the slow link down, waits until the sender's retransmission timer has expired, and
    /// brings the link up again.
    pub(crate) fn pause(&self) {
        let before = self.timeouts();
        self.set_slow_link("down");
        wait_until("a timeout", || self.timeouts() > before);
        self.set_slow_link("up");
    }

    /// Runs `make` in the namespace of that end. A socket stays in the one where it was made.
    pub(crate) fn within<T: Send>(
        &self,
        end: &str,
        make: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        within(&self.name(end), make)
    }

    /// Takes the sender's link down or up, at its far end: what leaves meanwhile is lost.
    pub(crate) fn set_first_link(&self, state: &str) {
        ip(&["-n", &self.name("r"), "link", "set", "ra", state]);
    }

    fn set_slow_link(&self, state: &str) {
        ip(&["-n", &self.name("r"), "link", "set", "rb", state]);
    }

    /// Timeouts in the sender's namespace (`TCPTimeouts`): names on one line, values on the next.
    fn timeouts(&self) -> u64 {
        let path = "/proc/thread-self/net/netstat";
        let text = self.within("a", || fs::read_to_string(path)).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
        let mut words = || lines.next().unwrap().split_whitespace();
        let mut both = words().zip(words());
        both.find(|(name, _)| *name == "TCPTimeouts").unwrap().1.parse().unwrap()
    }

    pub(crate) fn name(&self, end: &str) -> String {
        format!("{}{end}", self.prefix)
    }

    fn inside(&self, end: &str, command: &[&str]) {
        ip(&[&["netns", "exec", &self.name(end)], command].concat());
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for end in ["a", "r", "b"] {
            let _ = Command::new("ip").args(["netns", "delete", &self.name(end)]).status();
        }
    }
}

/// TCP Fast Open at once: clients send data without a cookie (1, 4), listeners take it (2, 0x200,
/// 0x400), as the kernel's ip-sysctl.rst has it.
const FAST_OPEN: &str = "net.ipv4.tcp_fastopen=0x607";

/// No connection begins with the threshold at which one before it ended.
const FORGETFUL: &str = "net.ipv4.tcp_no_metrics_save=1";

pub(crate) fn has_tools() -> bool {
    ["ip", "tc"].iter().all(|program| {
        let quiet = Command::new(program).arg("-V").stdout(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    })
}

/// Runs `make` in a namespace. A socket stays in the one where it was made.
pub(crate) fn within<T: Send>(
    name: &str,
    make: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let namespace = File::open(format!("/run/netns/{name}"))?;
    let enter = || {
        setns(&namespace, CloneFlags::CLONE_NEWNET)?;
        make()
    };
    let made = thread::scope(|scope| scope.spawn(enter).join());
    made.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}

/// Waits until `holds`, for a minute at most: longer than a busy machine needs.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "a minute passed without {what}");
        sleep(Duration::from_millis(5));
    }
}

pub(crate) fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().unwrap();
    assert!(status.success(), "ip {}", arguments.join(" "));
}
