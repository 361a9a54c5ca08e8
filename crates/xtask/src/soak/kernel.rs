//! What the kernel holds, before and after.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Programs, output};
use crate::Stop;

/// What must not have grown at the end. It may have shrunk, if something from before the run ended.
pub(super) struct State {
    /// BPF's maps, programs and links, with their numbers.
    objects: String,
    /// Network namespaces.
    namespaces: Vec<String>,
    /// Network devices.
    devices: Vec<String>,
    /// The controls that TCP knows.
    controls: Vec<String>,
    /// Memory that the kernel holds for itself, in KiB.
    memory: u64,
    /// Lines that the kernel's log had.
    log: usize,
}

impl State {
    pub(super) fn read(programs: &Programs) -> Result<Self, Stop> {
        let controls = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        Ok(Self {
            objects: output(&mut Command::new(&programs.objects))?.trim().to_owned(),
            namespaces: first_words(&output(Command::new("ip").args(["netns", "list"]))?),
            devices: first_words(&output(Command::new("ip").args(["-brief", "link"]))?),
            controls: words(&fs::read_to_string(controls).unwrap_or_default()),
            memory: memory(),
            log: log().len(),
        })
    }

    /// What differs now, in words; waits a while for what the kernel frees a grace period later.
    pub(super) fn compare(&self, programs: &Programs) -> Result<Vec<String>, Stop> {
        let until = Instant::now() + PATIENCE;
        let mut now = Self::read(programs)?;
        while !self.differences(&now).is_empty() && Instant::now() < until {
            sleep(Duration::from_secs(1));
            now = Self::read(programs)?;
        }
        println!("BPF: {} before, {} after", self.objects, now.objects);
        println!("the kernel's own memory: {} KiB before, {} KiB after", self.memory, now.memory);
        let new = log().split_off(self.log.min(now.log));
        println!("kernel log: {} new lines", new.len());
        new.iter().for_each(|line| println!("    {line}"));
        let mut left = self.differences(&now);
        let bad = |line: &&String| TROUBLE.iter().any(|word| line.contains(word));
        left.extend(new.iter().filter(bad).map(|line| format!("kernel log: {line}")));
        Ok(left)
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let mut left = Vec::new();
        if more(&self.objects, &now.objects) {
            left.push(format!("BPF: {} was {}", now.objects, self.objects));
        }
        for (what, before, after) in [
            ("namespace", &self.namespaces, &now.namespaces),
            ("device", &self.devices, &now.devices),
            ("congestion control", &self.controls, &now.controls),
        ] {
            let new = after.iter().filter(|name| !before.contains(name));
            left.extend(new.map(|name| format!("{what} {name}")));
        }
        if now.memory > self.memory + MEMORY_KIB {
            left.push(format!("memory: {} KiB was {} KiB", now.memory, self.memory));
        }
        left
    }
}

/// Whether any number among these words is larger now.
fn more(before: &str, now: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    numbers(before).iter().zip(numbers(now)).any(|(before, now)| now > *before)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The first word of every line.
fn first_words(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Slabs that cannot be reclaimed, memory per CPU, page tables, stacks; in KiB.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    ["SUnreclaim", "Percpu", "VmallocUsed"].iter().map(|name| of(name)).sum()
}

fn log() -> Vec<String> {
    let log = output(&mut Command::new("dmesg")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// Words in the kernel's log that mean a fault.
const TROUBLE: [&str; 8] =
    ["BUG", "WARNING", "Oops", "Call Trace", "refcount", "leak", "unregister_netdevice", "stall"];

/// A control takes some 60 KiB: a thousand cycles that left each would be far above this, and what
/// others on the machine do in the meantime is below it.
const MEMORY_KIB: u64 = 32 << 10;
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_more_is_left() {
        let before = "maps 3 programs 7 links 1";
        assert!(!more(before, "maps 0 programs 0 links 0"));
        assert!(!more(before, before));
        assert!(more(before, "maps 3 programs 7 links 2"));
    }
}
