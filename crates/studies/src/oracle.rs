//! Runs scenarios in ns-2, ns-3 and firstflight, and prints the results side by side.

mod explained;
mod measured;
mod ours;
mod peers;
mod point;
mod random;
mod range;
mod study;
mod table;

use std::ops::RangeInclusive;
use std::path::Path;

pub(crate) use peers::{compile_ns3, has_ns2};
pub(crate) use point::pairs;
use study::{Options, Study};

use crate::{Stop, step};

/// Runs the comparison; fails if a large difference is not explained.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let (options, as_json) = options(args)?;
    let study = Study::new(root, &options)?;
    let found = study.run(&step::release(root, &[])?)?;
    for id in found.needlessly_explained() {
        eprintln!("oracles/explained.toml: `{id}` needs no explanation any more");
    }
    if as_json {
        println!("{}", found.json().map_err(|error| Stop::failed(&error.to_string()))?);
    } else {
        println!("{}", found.text());
        if options.random.is_some() {
            print!("{}", found.failed_lines());
        }
    }
    match found.failed() {
        0 => Ok(()),
        failed => Err(Stop::failed(&format!("{failed} points differ and are not explained"))),
    }
}

/// What to compare, and whether as JSON.
fn options(args: &[String]) -> Result<(Options, bool), Stop> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        only: Vec::new(),
        random: None,
        agent: None,
        seed: 1,
        release: "2.35".to_owned(),
        with_ns3: true,
        jobs,
    };
    let mut as_json = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(Stop::usage(&format!("{arg} needs a value")));
        match arg.as_str() {
            "--only" => options.only.push(value()?.clone()),
            "--json" => as_json = true,
            "--no-ns3" => options.with_ns3 = false,
            "--random" => options.random = Some(number(arg, value()?, 1..=9999)?),
            "--agent" => options.agent = Some(agent(value()?)?),
            "--release" => options.release = release(value()?)?,
            "--seed" => options.seed = number(arg, value()?, 0..=u64::MAX)?,
            "--jobs" => options.jobs = number(arg, value()?, 1..=1024)? as usize,
            _ => {
                let accepted = "accepted: --only ID, --random N, --agent NAME, --seed N, \
                                --release 2.26, --json, --no-ns3, --jobs N";
                return Err(Stop::usage(&format!("unknown argument `{arg}`; {accepted}")));
            }
        }
    }
    Ok((options, as_json))
}

/// The agents that both simulators have.
fn agent(found: &str) -> Result<String, Stop> {
    let known = random::AGENTS;
    let problem = format!("--agent: found `{found}`, accepted: {}", known.join(", "));
    known.contains(&found).then(|| found.to_owned()).ok_or(Stop::usage(&problem))
}

fn release(found: &str) -> Result<String, Stop> {
    let problem = format!("--release: found `{found}`, accepted: 2.1b6, 2.26 or 2.35");
    let known = ["2.1b6", "2.26", "2.35"].contains(&found);
    known.then(|| found.to_owned()).ok_or(Stop::usage(&problem))
}

fn number(name: &str, found: &str, accepted: RangeInclusive<u64>) -> Result<u64, Stop> {
    let (least, most) = (accepted.start(), accepted.end());
    let problem = format!("{name}: found `{found}`, accepted: a number from {least} to {most}");
    found.parse().ok().filter(|value| accepted.contains(value)).ok_or(Stop::usage(&problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<(Options, bool), Stop> {
        options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let (options, as_json) =
            read(&["--only", "over-", "--json", "--jobs", "3", "--no-ns3"]).unwrap();
        assert_eq!((options.only.len(), as_json, options.jobs), (1, true, 3));
        assert!(!options.with_ns3);
        let (options, _) = read(&["--random", "20", "--seed", "7"]).unwrap();
        assert_eq!((options.random, options.seed), (Some(20), 7));
        let (options, _) = read(&["--random", "20", "--agent", "linux"]).unwrap();
        assert_eq!(options.agent.as_deref(), Some("linux"));
        for wrong in [
            &["--agent", "linus"][..],
            &["--only"],
            &["--jobs", "0"],
            &["--jsn"],
            &["--random", "0"],
            &["--release", "3"],
        ] {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong:?}");
        }
    }
}
