//! The program that deals (`c/bpf/trial.bpf.c`), attached for one trial.
//!
//! It is pinned, so that connections of a command that was killed are not lost: the next one that
//! is asked for the same trial reads them and goes on. It deals only as long as a command lives.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

use super::Counts;
use super::connection::Connection;
use super::judge::By;
use crate::attached::Attached;
use crate::fields::Fields;
use crate::folder::lock_folder;
use crate::requirements::{self, BPFFS};
use crate::ring::drain;
use crate::steer::{Rule, SteerError, bytes_of, check_known, name_bytes};

/// What is tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which connections take part, the share of the treated arm, and its control.
    pub treated: Rule,
    /// The other arm's control.
    pub other: String,
    /// The key of the hash that deals prefixes and minutes.
    pub seed: u32,
    /// What is dealt at once.
    pub by: By,
    /// Until so many bytes are acknowledged the time is taken.
    pub bytes: u64,
    /// The age at which bytes are counted.
    pub age: Duration,
}

/// A trial that goes on until this is dropped, and [`LEASE`] after that; its pins stay for the next
/// command.
#[derive(Debug)]
pub struct Dealing {
    /// The lock of the folder, which one command can hold.
    _lock: File,
    until: MapHandle,
    counts: MapHandle,
    outcomes: MapHandle,
}

impl Dealing {
    /// Begins to deal, or goes on with the same trial if a command left it; whether it went on.
    ///
    /// # Errors
    /// A control that the kernel does not have, what the machine lacks, another trial that is under
    /// way or was left by a command, or why the kernel refused.
    pub fn begin(cgroup: &Path, plan: &Plan) -> Result<(Self, bool), SteerError> {
        requirements::check_connections()?;
        requirements::check_pinning()?;
        check_known([&*plan.treated.control, &*plan.other].into_iter())?;
        let folder = root();
        check_alone(&folder)?;
        let lock = lock_folder(&folder, true)?;
        let lock = lock.ok_or_else(|| io::Error::other("the folder of the pins is gone"))?;
        let value = plan.value();
        let same = Attached::is_in(&folder);
        if same {
            if plan_in(&folder)? != value {
                return Err(SteerError::Left);
            }
            TRIAL.replace(&folder)?;
        } else {
            TRIAL.attach(cgroup, &folder, || {
                Ok(Attached::map(&folder, "trial")?.update(&[0; 4], &value, MapFlags::ANY)?)
            })?;
        }
        let [until, counts, outcomes] =
            ["until", "counts", "outcomes"].map(|name| Attached::map(&folder, name));
        let dealing = Self { _lock: lock, until: until?, counts: counts?, outcomes: outcomes? };
        dealing.renew()?;
        Ok((dealing, same))
    }

    /// Lets it deal for [`LEASE`] from now.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn renew(&self) -> Result<(), SteerError> {
        self.deal_until(since_boot()? + LEASE)
    }

    /// Deals nothing any more. Connections that were dealt keep their control.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn stop(&self) -> Result<(), SteerError> {
        self.deal_until(Duration::ZERO)
    }

    fn deal_until(&self, time: Duration) -> Result<(), SteerError> {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Ok(self.until.update(&[0; 4], &nanos.to_ne_bytes(), MapFlags::ANY)?)
    }

    /// Hands on the connections reported since the last call, in order; waits so long for a first
    /// one. The buffer holds some 21,000 connections. One leaves it when `take` has returned, so
    /// that a program that is killed meanwhile finds it again; `take` returns whether it wants
    /// more.
    ///
    /// # Errors
    /// libbpf cannot read the buffer.
    pub fn take(
        &self,
        patience: Duration,
        mut take: impl FnMut(Connection) -> bool,
    ) -> Result<(), SteerError> {
        let take = |bytes: &[u8]| Connection::read(bytes).is_none_or(&mut take);
        Ok(drain(&self.outcomes, patience, take)?)
    }

    /// Reads the counts.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn counts(&self) -> Result<Counts, SteerError> {
        let value = self.counts.lookup(&[0; 4], MapFlags::ANY)?.unwrap_or_default();
        let mut fields = Fields::of(&value);
        let mut next = || fields.long().unwrap_or_default();
        Ok(Counts {
            matched: next(),
            own_choice: next(),
            failed: next(),
            last_error: next(),
            dropped: next(),
            dealt: [next(), next()],
        })
    }

    /// Takes the program away. Connections that were dealt keep their control, and those that are
    /// still open are not reported.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn end(self) -> Result<(), SteerError> {
        Ok(TRIAL.remove(&root())?)
    }
}

impl Plan {
    /// `struct trial_plan`.
    fn value(&self) -> Vec<u8> {
        let by: u32 = match self.by {
            By::Connection => 0,
            By::Prefix => 1,
            By::Time => 2,
        };
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let words = [self.seed, by].map(u32::to_ne_bytes);
        let longs = [self.bytes, nanos(self.age), nanos(REPORT_AGE)].map(u64::to_ne_bytes);
        let (rule, other) = (bytes_of(&self.treated), name_bytes(&self.other));
        [&rule[..], &other, words.as_flattened(), longs.as_flattened()].concat()
    }
}

/// Takes away what a killed command left. Returns whether there was anything.
///
/// # Errors
/// A trial is under way, or the folder cannot be removed.
pub fn clear() -> Result<bool, SteerError> {
    let folder = root();
    check_alone(&folder)?;
    let Some(_lock) = lock_folder(&folder, false)? else { return Ok(false) };
    TRIAL.remove(&folder)?;
    Ok(true)
}

/// Checks that no other command holds the folder.
fn check_alone(folder: &Path) -> Result<(), SteerError> {
    match File::open(folder).map(|folder| folder.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) => Err(SteerError::Busy),
        _ => Ok(()),
    }
}

/// The plan of the trial that a command left in the folder.
fn plan_in(folder: &Path) -> Result<Vec<u8>, SteerError> {
    let plan = Attached::map(folder, "trial")?.lookup(&[0; 4], MapFlags::ANY)?;
    Ok(plan.unwrap_or_default())
}

/// A key for the hash that deals prefixes and minutes, which nobody can guess.
///
/// # Errors
/// The system has no random numbers.
pub fn new_seed() -> io::Result<u32> {
    let mut seed = [0; 4];
    File::open("/dev/urandom")?.read_exact(&mut seed)?;
    Ok(u32::from_ne_bytes(seed))
}

/// CLOCK_BOOTTIME, in hundredths of a second.
fn since_boot() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/uptime")?;
    let seconds = text.split_whitespace().next().and_then(|text| text.parse().ok());
    let seconds = seconds.ok_or_else(|| io::Error::other("/proc/uptime: not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(io::Error::other)
}

fn root() -> PathBuf {
    Path::new(BPFFS).join("firstflight-trial")
}

const TRIAL: Attached = Attached {
    name: "ff_trial",
    object: include_bytes!(concat!(env!("OUT_DIR"), "/trial.o")),
    maps: &["trial", "until", "counts", "outcomes", "connections"],
};

/// How long it deals after a command was killed.
pub const LEASE: Duration = Duration::from_secs(10);
/// The age at which a connection that goes on is reported, so that both arms are judged by their
/// starts.
pub const REPORT_AGE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    /// Once in 2^96 times they are equal.
    #[test]
    fn no_key_is_that_of_another_trial() {
        let keys = [(); 4].map(|()| new_seed().unwrap());
        assert!(keys.iter().any(|key| *key != keys[0]), "{keys:?}");
    }

    #[test]
    fn a_plan_is_written_as_the_program_reads_it() {
        let treated = Rule {
            to: "192.0.2.0/24".parse().unwrap(),
            port: Some(443),
            per_mille: 50,
            control: "ff_scout".to_owned(),
            cgroup: None,
        };
        let (other, age) = ("cubic".to_owned(), Duration::from_secs(1));
        let plan = Plan { treated, other, seed: 7, by: By::Time, bytes: 100_000, age };
        let value = plan.value();
        // struct rule, a name, two words, three longs.
        assert_eq!(value.len(), 72 + 16 + 2 * 4 + 3 * 8);
        assert_eq!(value[88..96], [7_u32.to_ne_bytes(), 2_u32.to_ne_bytes()].concat());
        assert!(since_boot().unwrap() > Duration::ZERO);
    }
}
