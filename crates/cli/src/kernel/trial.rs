//! `kernel trial`: tries a control on a share of the new connections beside another, and stops by
//! itself when it harms.

mod connection;
mod found;

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use firstflight_kernel::steer::{Rule, new_seed};
use firstflight_kernel::trial::judge::{By, Judge, MEASURES, Stop};
use firstflight_kernel::trial::{Dealing, Plan, dealing};
use firstflight_kernel::watch::default_cgroup;
use firstflight_scenario::{Fraction, Size, Time};

use self::connection::{Line, Record};
use self::found::Found;
use super::steer::{known_control, per_mille};
use super::watch::{no_cgroup, read_prefix};
use super::{Deal, Trial as Args};
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::{interrupt, output};

/// Runs `kernel trial`.
pub(super) fn trial(args: &Args) -> Result<Status, Failure> {
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
    let stop = interrupt::listen();
    let share = f64::from(plan.treated.per_mille) / 1000.;
    let mut judge = Judge::new(plan.by, share, tolerance);
    let (mut record, before) = Record::open(args.record.as_deref(), &mut plan, |line| {
        judge.take(&line.outcome());
    })?;
    let (dealing, goes_on) = Dealing::begin(&cgroup, &plan)?;
    let began = Instant::now();
    output::note(&format!(
        "{} {} of new connections of {}; Ctrl-C ends it",
        if goes_on { "going on to try" } else { "trying" },
        plan_words(&plan),
        cgroup.display()
    ));
    let progress = Progress::new("trial", None);
    let elapsed = || before + began.elapsed();
    let why = loop {
        dealing.renew()?;
        let left = period.saturating_sub(elapsed()).min(TICK);
        take(&dealing, left, &plan, &mut judge, &mut record, elapsed)?;
        progress.say(&found::so_far(&judge));
        if let Some(why) = judge.stop() {
            break Some(why);
        }
        if stop.load(Relaxed) || elapsed() >= period {
            break None;
        }
    };
    dealing.stop()?;
    // What came meanwhile was dealt and counts.
    take(&dealing, Duration::ZERO, &plan, &mut judge, &mut record, elapsed)?;
    drop(progress);
    let counts = dealing.counts()?;
    dealing.end()?;
    let found = Found::new(&plan, &judge, counts, tolerance, elapsed(), why);
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&found)? + "\n",
        false => found.text(output::screen()),
    })?;
    Ok(match why {
        Some(_) => Status::Unmet,
        None if elapsed() < period => Status::Interrupted,
        None => Status::Done,
    })
}

/// Takes what was told, writes each connection down before it leaves the kernel's buffer, and
/// judges.
fn take(
    dealing: &Dealing,
    patience: Duration,
    plan: &Plan,
    judge: &mut Judge,
    record: &mut Record,
    elapsed: impl Fn() -> Duration,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    dealing.take(patience, |told| {
        let line = Line::new(&told, plan, elapsed());
        match record.add(&line) {
            Ok(true) => judge.take(&line.outcome()),
            // A command that was killed had written it down.
            Ok(false) => {}
            Err(failure) => outcome = Err(failure),
        }
        outcome.is_ok()
    })?;
    outcome
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
        ("--age", &args.age, age.is_zero() || age >= dealing::TOLD),
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
    let seed = new_seed().map_err(|error| Failure::Lacks(format!("kernel trial: {error}")))?;
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

/// What stopped it, in a sentence's words.
fn reason(why: Stop) -> String {
    match why {
        Stop::Harm(measure) => format!("{} is worse", MEASURES[measure].name),
        Stop::Share(share) => format!("{:.2} % are in the tried arm", 100. * share),
    }
}
