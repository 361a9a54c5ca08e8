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

use std::path::Path;

pub(crate) use peers::{compile_ns3, has_ns2};
pub(crate) use point::pairs;
use study::{Options, Study};

use crate::{Stop, step};

/// Runs the comparison; fails if a large difference is not explained.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options: Options = crate::options(args)?;
    let study = Study::new(root, &options)?;
    let found = study.run(&step::release(root, &[])?)?;
    for id in found.needlessly_explained() {
        eprintln!("oracles/explained.toml: `{id}` needs no explanation any more");
    }
    if options.json {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read = crate::testing::options::<Options>;
        let options = read("--only over- --json --jobs 3 --no-ns3").unwrap();
        assert_eq!((options.only.len(), options.json, options.jobs), (1, true, 3));
        assert!(options.no_ns3);
        let options = read("--random 20 --seed 7").unwrap();
        assert_eq!((options.random, options.seed), (Some(20), 7));
        assert_eq!((options.release.as_str(), options.no_ns3), ("2.35", false));
        let options = read("--random 20 --agent linux").unwrap();
        assert_eq!(options.agent.as_deref(), Some("linux"));
        let wrong = ["--agent linus", "--only", "--jobs 0", "--jsn", "--random 0", "--release 3"];
        for wrong in wrong {
            assert_eq!(read(wrong).unwrap_err().code, 2, "{wrong}");
        }
    }
}
