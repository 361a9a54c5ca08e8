//! The programs in the kernel that take the time, and what they have counted.

use libbpf_rs::{Link, MapCore as _, MapFlags, Object, ObjectBuilder, ProgramInput};

use crate::Problem;

/// What is counted, in the order of `probe.bpf.c`.
#[derive(Clone, Copy)]
pub(crate) enum Sample {
    /// ACKs that deliver two segments.
    All,
    /// Those among them that let none go.
    Quiet,
    /// What the clock itself takes.
    Clock,
}

/// Attached until it is dropped.
pub(crate) struct Probe {
    _links: Vec<Link>,
    object: Object,
}

impl Probe {
    pub(crate) fn attach() -> Result<Self, Problem> {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/probe.o"));
        let object = ObjectBuilder::default().open_memory(bytes)?.load()?;
        let links = object.progs_mut().map(|program| program.attach()).collect::<Result<_, _>>()?;
        Ok(Self { _links: links, object })
    }

    /// Counts what the connection with that local port costs, for one control.
    pub(crate) fn watch(&self, port: u16, control: usize) -> Result<(), Problem> {
        let words = [u32::from(port), u32::try_from(control)?].map(u32::to_ne_bytes).concat();
        Ok(self.map("watched")?.update(&[0; 4], &words, MapFlags::ANY)?)
    }

    /// Runs the function that returns at once.
    pub(crate) fn clock(&self, times: u32) -> Result<(), Problem> {
        for _ in 0..times {
            for program in self.object.progs_mut() {
                if program.name() == "clock_begins" {
                    program.test_run(ProgramInput::default())?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn histogram(&self, control: usize, sample: Sample) -> Result<Histogram, Problem> {
        let key = u32::try_from(control * HISTOGRAMS + sample as usize)?.to_ne_bytes();
        let value = self.map("histograms")?.lookup(&key, MapFlags::ANY)?.ok_or("no histogram")?;
        let counts = value.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
        Ok(Histogram { counts: counts.collect() })
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, Problem> {
        self.object.maps().find(|map| map.name() == name).ok_or(name.into())
    }
}

/// Counts by time.
pub(crate) struct Histogram {
    counts: Vec<u32>,
}

impl Histogram {
    pub(crate) fn samples(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// The mean without the last hundredth, which interrupts prolong, in ns.
    pub(crate) fn mean(&self) -> f64 {
        self.between(0, self.samples() - self.samples() / 100)
    }

    /// The mean of its middle half, in ns.
    pub(crate) fn middle(&self) -> f64 {
        self.between(self.samples() / 4, self.samples() - self.samples() / 4)
    }

    fn between(&self, low: u64, high: u64) -> f64 {
        let (mut seen, mut sum) = (0, 0.0);
        for (bucket, count) in self.counts.iter().enumerate() {
            let next = seen + u64::from(*count);
            let inside = next.clamp(low, high) - seen.clamp(low, high);
            sum += inside as f64 * (bucket as f64 + 0.5) * BUCKET_NS;
            seen = next;
        }
        sum / (high - low).max(1) as f64
    }
}

/// As in `probe.bpf.c`.
const HISTOGRAMS: usize = 3;
const BUCKET_NS: f64 = 2.0;
