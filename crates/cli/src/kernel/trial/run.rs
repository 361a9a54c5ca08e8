//! A trial under way.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use firstflight_kernel::steer::Rule;
use firstflight_kernel::trial::judge::By;
use firstflight_kernel::trial::{Dealing, Plan, dealing};
use firstflight_kernel::watch::default_cgroup;
use firstflight_scenario::{Fraction, Size, Time};

use super::connection::{Head, Line};
use super::record::Record;
use super::{TrialReport, findings};
use crate::failure::{Failure, Status};
use crate::kernel::steer::{known_control, per_mille};
use crate::kernel::watch::{no_cgroup, read_prefix};
use crate::kernel::{Deal, Trial as Args};
use crate::progress::Progress;
use crate::{interrupt, output};

/// Runs `kernel trial`.
pub(in crate::kernel) fn trial(args: &Args) -> Result<Status, Failure> {
    if args.clear {
        let text = match dealing::clear()? {
            true => "what a killed trial left is gone\n",
            false => "no trial left anything\n",
        };
        output::print(text)?;
        return Ok(Status::Done);
    }
    let mut plan = plan(args)?;
    let period = read("--for", &args.period, Time::ns).map(Duration::from_nanos)?;
    let tolerance = read("--tolerate", &args.tolerate, Fraction::ppb)? as f64 / 1e9;
    let cgroup = args.cgroup.clone().or_else(default_cgroup);
    let cgroup = cgroup.ok_or_else(|| no_cgroup("kernel trial"))?;
    let _lock = output::lock_out(args.out.as_deref())?;
    let stop = interrupt::listen();
    let mut report = TrialReport::of(Head::of(&plan, tolerance));
    let path = args.record.as_deref();
    let (record, before) = Record::open(path, &mut plan, tolerance, |line| report.take(line))?;
    let (dealing, goes_on) = Dealing::begin(&cgroup, &plan)?;
    let mut trial = Trial { dealing, plan, record, report, before, began: Instant::now() };
    output::note(&format!(
        "{} {} of new connections of {}; Ctrl-C ends it",
        if goes_on { "going on to try" } else { "trying" },
        plan_words(&trial.plan),
        cgroup.display()
    ));
    let progress = Progress::lasting();
    let why = loop {
        trial.dealing.renew()?;
        let left = period.saturating_sub(trial.lasted()).min(TICK);
        trial.take(left)?;
        progress.say(&findings::so_far(&trial.report.judge));
        if let Some(why) = trial.report.judge.stop() {
            break Some(why);
        }
        if stop.load(Relaxed) || trial.lasted() >= period {
            break None;
        }
    };
    trial.dealing.stop()?;
    // What came meanwhile was dealt and counts.
    trial.take(Duration::ZERO)?;
    drop(progress);
    let (counts, lasted) = (trial.dealing.counts()?, trial.lasted());
    trial.dealing.end()?;
    trial.report.print(Ok(counts), lasted, args.json, args.out.as_deref())?;
    Ok(match why {
        Some(_) => Status::Unmet,
        None if lasted < period => Status::Interrupted,
        None => Status::Done,
    })
}

/// A trial under way.
struct Trial {
    dealing: Dealing,
    plan: Plan,
    record: Record,
    report: TrialReport,
    /// How long it had lasted before this command.
    before: Duration,
    began: Instant,
}

impl Trial {
    fn lasted(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// Takes the connections reported, writes each down before it leaves the kernel's buffer, and
    /// judges.
    fn take(&mut self, patience: Duration) -> Result<(), Failure> {
        let Self { dealing, plan, record, report, before, began } = self;
        let mut outcome = Ok(());
        dealing.take(patience, |connection| {
            let line = Line::new(&connection, plan, *before + began.elapsed());
            match record.add(&line) {
                Ok(true) => report.take(&line),
                // A command that was killed had written it down.
                Ok(false) => {}
                Err(failure) => outcome = Err(failure),
            }
            outcome.is_ok()
        })?;
        outcome
    }
}

/// How long is waited for connections before the kernel is told that this program lives.
const TICK: Duration = Duration::from_secs(1);

fn plan(args: &Args) -> Result<Plan, Failure> {
    let missing = |flag: &str| Failure::Usage(format!("kernel trial: {flag} is missing"));
    let control = args.control.as_deref().ok_or_else(|| missing("--control"))?;
    let against = args.against.as_deref().ok_or_else(|| missing("--against"))?;
    let per_mille = per_mille("kernel trial", &args.share)?;
    if per_mille == 1000 {
        return Err(Failure::Usage(format!(
            "kernel trial: --share {}: nothing is left to compare with; accepted: 0.1% to 99.9%",
            args.share
        )));
    }
    let bytes = read("--bytes", &args.bytes, Size::bytes)?;
    let age = read("--age", &args.age, Time::ns).map(Duration::from_nanos)?;
    for (flag, text, is_wrong) in [
        ("--bytes", &args.bytes, bytes == 0),
        ("--age", &args.age, age.is_zero() || age >= dealing::REPORT_AGE),
    ] {
        if is_wrong {
            let problem = "accepted: above 0, and an age below 60s, when a connection is told";
            return Err(Failure::Usage(format!("kernel trial: {flag} {text}: {problem}")));
        }
    }
    let to = read_prefix("kernel trial", &args.to)?.trunc();
    let control = known_control("kernel trial", control)?;
    let other = known_control("kernel trial", against)?;
    let by = match args.by {
        Deal::Connection => By::Connection,
        Deal::Prefix => By::Prefix,
        Deal::Time => By::Time,
    };
    let treated = Rule { to, port: args.port, per_mille, control, cgroup: None };
    let seed =
        dealing::new_seed().map_err(|error| Failure::Lacks(format!("kernel trial: {error}")))?;
    Ok(Plan { treated, other, seed, by, bytes, age })
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
    flag: &str,
    text: &str,
    number: impl Fn(T) -> u64,
) -> Result<u64, Failure> {
    let wrong = |error| Failure::Usage(format!("kernel trial: {flag} {text}: {error}"));
    text.parse().map(number).map_err(wrong)
}

/// `ff_scout on 5 % beside cubic`.
fn plan_words(plan: &Plan) -> String {
    let share = f64::from(plan.treated.per_mille) / 10.;
    format!("{} on {share} % beside {}", plan.treated.control, plan.other)
}
