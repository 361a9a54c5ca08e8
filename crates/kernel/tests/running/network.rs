//! Three network namespaces in a row: a sender, a router with a slow link, a receiver.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The namespaces; they go when it does.
pub(crate) struct Network {
    prefix: String,
}

impl Network {
    pub(crate) fn new(number: usize) -> Self {
        let network = Self { prefix: format!("fft{}x{number}", std::process::id()) };
        let [a, r, b] = ["a", "r", "b"].map(|end| network.name(end));
        for name in [&a, &r, &b] {
            ip(&["netns", "add", name]);
        }
        for (end, near, far, subnet) in [(&a, "ea", "ra", 1), (&b, "eb", "rb", 2)] {
            let peer = ["type", "veth", "peer", "name", far, "netns", &r];
            ip(&[&["-n", end, "link", "add", near][..], &peer].concat());
            for (name, device, host) in [(end, near, 2), (&r, far, 1)] {
                let address = format!("10.77.{subnet}.{host}/24");
                ip(&["-n", name, "addr", "add", &address, "dev", device]);
                ip(&["-n", name, "link", "set", device, "up"]);
            }
            ip(&["-n", end, "route", "add", "default", "via", &format!("10.77.{subnet}.1")]);
        }
        network.inside("r", &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
        let slow = ["rate", "50mbit", "burst", "4kb", "limit", "60kb"];
        let queue = ["tc", "qdisc", "add", "dev", "rb", "root", "tbf"];
        network.inside("r", &[&queue[..], &slow].concat());
        network
    }

    /// One flow with that control for so long, with a pause of the link in between.
    pub(crate) fn transfer(&self, control: &str, time: Duration) {
        let server = self.start("b", &["iperf3", "--server", "--one-off"]);
        sleep(Duration::from_millis(300));
        let seconds = time.as_secs().to_string();
        let arguments = ["--client", "10.77.2.2", "--congestion", control, "--time", &seconds];
        let client = self.start("a", &[&["iperf3"], &arguments[..]].concat());
        sleep(time / 2);
        ip(&["-n", &self.name("r"), "link", "set", "rb", "down"]);
        // Longer than an RTO, also where a busy machine has made the RTT long.
        sleep(Duration::from_secs(1));
        ip(&["-n", &self.name("r"), "link", "set", "rb", "up"]);
        for child in [client, server] {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "iperf3: {said}");
        }
    }

    pub(crate) fn name(&self, end: &str) -> String {
        format!("{}{end}", self.prefix)
    }

    fn start(&self, end: &str, command: &[&str]) -> Child {
        Command::new("ip")
            .args(["netns", "exec", &self.name(end)])
            .args(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }

    fn inside(&self, end: &str, command: &[&str]) {
        assert!(self.start(end, command).wait().unwrap().success(), "{command:?}");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for end in ["a", "r", "b"] {
            let _ = Command::new("ip").args(["netns", "delete", &self.name(end)]).status();
        }
    }
}

pub(crate) fn has_tools() -> bool {
    [["ip", "-V"], ["tc", "-V"], ["iperf3", "-v"]].iter().all(|[program, version]| {
        let quiet = Command::new(program).arg(version).stdout(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    })
}

fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().unwrap();
    assert!(status.success(), "ip {}", arguments.join(" "));
}
