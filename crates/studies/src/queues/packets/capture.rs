//! The packets at a queue of the kernel's: a guest whose tcpdump sees what arrives and what leaves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use firstflight_guest::{Cache, DEFAULT_KERNEL, Image, Kernel, Machine, Time, concatenated};
use firstflight_link::Ecn;
use serde::{Deserialize, Serialize};

use crate::Stop;

/// A packet that came to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::queues) struct Arrival {
    /// When, in nanoseconds since the queue began.
    pub(in crate::queues) at: u64,
    /// Its frame, in bytes.
    pub(in crate::queues) bytes: u64,
    /// The sender's port, which tells the flow.
    pub(in crate::queues) flow: u64,
    /// It is ECN-capable.
    pub(in crate::queues) capable: bool,
    /// When it left and whether it was marked then; `None` where the queue dropped it.
    pub(in crate::queues) left: Option<(u64, bool)>,
}

/// What boots.
pub(super) struct Guest {
    kernel: Kernel,
    programs: PathBuf,
}

impl Guest {
    /// The guest of this command, with what the script runs.
    pub(super) fn new(program: &Path) -> Result<Self, Stop> {
        let cache = Cache::of_user();
        let kernel = Kernel::find(DEFAULT_KERNEL, &cache)?;
        let mut image = Image::new(&kernel);
        image.program("init", program)?;
        image.tools(&TOOLS, "iproute2 iperf3 tcpdump coreutils dash")?;
        // Where tc has its tables of distributions.
        let tables = Path::new("/usr/lib/x86_64-linux-gnu/tc");
        let tables = if tables.is_dir() { tables } else { Path::new("/usr/lib/tc") };
        image.host(tables)?;
        image.file("etc/passwd", b"root:x:0:0::/:/bin/sh\n", false);
        let (programs, _) = image.pack(&cache)?;
        Ok(Self { kernel, programs })
    }

    /// Runs the script behind these lines; what the queue saw.
    pub(super) fn run(&self, settings: &str) -> Result<Vec<Arrival>, Stop> {
        let script = format!("{settings}\n{SCRIPT}");
        let mut job = Image::default();
        job.job(&serde_json::json!({ "Script": script }).to_string());
        let programs = std::fs::read(&self.programs);
        let programs = programs.map_err(|error| crate::step::unable("initramfs", &error))?;
        let initramfs = concatenated(&[&programs, &job.archive()?])?;
        let machine = Machine {
            kernel: &self.kernel.vmlinuz,
            initramfs: initramfs.path(),
            words: "",
            time: Time::Virtual,
            longest: None,
        };
        let mut output = String::new();
        machine.run(&AtomicBool::new(false), |line| {
            output += line;
            output.push('\n');
        })?;
        read(&output).ok_or_else(|| {
            let first: Vec<&str> = output.lines().take(40).collect();
            Stop::failed(&format!("queues: the guest has no packets:\n{}", first.join("\n")))
        })
    }
}

/// A packet as tcpdump tells it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// In nanoseconds of the guest's clock.
    at: u64,
    /// The sender's port and the packet's number in its IP header.
    key: (u64, u64),
    bytes: u64,
    ecn: Ecn,
}

/// The arrivals with what became of them.
fn read(output: &str) -> Option<Vec<Arrival>> {
    let began = output.lines().find_map(|line| line.strip_prefix("began "))?;
    let began = nanoseconds(began)?;
    let (_, captured) = output.split_once("packets in\n")?;
    let (came, captured) = captured.split_once("packets out\n")?;
    let (left, _) = captured.split_once("ended")?;
    let left: HashMap<(u64, u64), Seen> =
        packets(left).into_iter().map(|seen| (seen.key, seen)).collect();
    let arrivals = packets(came).into_iter().map(|seen| Arrival {
        at: seen.at.saturating_sub(began),
        bytes: seen.bytes,
        flow: seen.key.0,
        capable: seen.ecn != Ecn::NotCapable,
        left: left.get(&seen.key).map(|left| (left.at.saturating_sub(began), left.ecn == Ecn::Ce)),
    });
    let arrivals: Vec<Arrival> = arrivals.collect();
    (!arrivals.is_empty()).then_some(arrivals)
}

/// Two lines each: `SECONDS IP (tos 0x2,ECT(0), ttl 63, id 7, ..., length 1500)` and
/// `    10.0.0.2.PORT > ...`.
fn packets(text: &str) -> Vec<Seen> {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).filter_map(|pair| packet(pair[0], pair[1])).collect()
}

fn packet(head: &str, ends: &str) -> Option<Seen> {
    let (time, rest) = head.split_once(" IP (")?;
    let number = |word: &str| {
        let after = rest.split_once(word)?.1;
        after.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let port = ends.trim_start().split_once(" > ")?.0.rsplit('.').next()?.parse().ok()?;
    let tos = rest.split_once("tos 0x")?.1.split(|c: char| !c.is_ascii_hexdigit()).next()?;
    let ecn = match u8::from_str_radix(tos, 16).ok()? & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    let bytes = number("length ")? + ETHERNET;
    Some(Seen { at: nanoseconds(time)?, key: (port, number("id ")?), bytes, ecn })
}

/// Out of seconds with nine digits after the point.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, rest) = text.trim().split_once('.')?;
    let rest = rest.parse::<u64>().ok().filter(|_| rest.len() == 9)?;
    Some(seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)? + rest)
}

/// What a guest does behind its settings.
pub(super) const SCRIPT: &str = include_str!("guest.sh");
/// The header of a frame, in bytes.
const ETHERNET: u64 = 14;
/// Programs of the host that the script uses.
const TOOLS: [&str; 10] =
    ["sh", "ip", "tc", "iperf3", "tcpdump", "sleep", "date", "cat", "mkdir", "tail"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_left_is_read_and_what_did_not_leave_was_dropped() {
        let head = |time: &str, tos: &str, id: u64| {
            format!(
                "{time} IP (tos {tos}, ttl 63, id {id}, offset 0, flags [DF], proto TCP (6), \
                 length 1500)\n    10.0.0.2.4000 > 10.0.1.2.5201: tcp 1448\n"
            )
        };
        let output = format!(
            "began 5.000000000\nqdisc red 10:\npackets in\n{}{}packets out\n{}ended\n",
            head("6.000000001", "0x2,ECT(0)", 7),
            head("6.000001000", "0x0", 8),
            head("6.002000000", "0x3,CE", 7)
        );
        let arrivals = read(&output).unwrap();
        let first = Arrival {
            at: 1_000_000_001,
            bytes: 1_514,
            flow: 4_000,
            capable: true,
            left: Some((1_002_000_000, true)),
        };
        assert_eq!(arrivals[0], first);
        let second = (arrivals[1].at, arrivals[1].capable, arrivals[1].left);
        assert_eq!(second, (1_000_001_000, false, None));
        assert!(read("began 5.0\n").is_none());
    }
}
