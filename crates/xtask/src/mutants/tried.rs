//! Builds the mutants, runs the package's tests on each, and says which no test noticed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::Package;
use super::tree::{Change, Tree};
use crate::Stop;
use crate::step::{cargo, unable};

/// The copy, where its programs are built, and what they are built of.
pub(super) struct Trial {
    pub(super) package: &'static Package,
    pub(super) tree: Tree,
    pub(super) target: PathBuf,
    pub(super) changes: Vec<Change>,
}

/// The program of a file of tests, by the file's name; the package's own is [`UNIT_TESTS`].
struct Program {
    name: String,
    path: PathBuf,
}

/// The programs with all mutants that can be switched on, which those are, and which are none.
struct All {
    programs: Vec<Program>,
    switched: BTreeSet<usize>,
    unviable: BTreeSet<usize>,
}

/// How a build ended: with programs, or with errors at these lines of files and with these
/// functions, which a constant calls.
enum Built {
    Programs(Vec<Program>),
    Errors { at: Vec<(String, usize)>, constant: BTreeSet<String>, text: String },
}

impl Trial {
    /// The mutants that no test notices, by their places among the changes.
    pub(super) fn survivors(&self) -> Result<BTreeSet<usize>, Stop> {
        let All { programs, switched, unviable } = self.build_all()?;
        let programs = self.fastest_first(programs)?;
        let (mut survivors, mut rest) = (BTreeSet::new(), Vec::new());
        for (number, change) in self.changes.iter().enumerate() {
            if number > 0 && number % 100 == 0 {
                println!("{number} of {}", self.changes.len());
            }
            let in_all = switched.contains(&number);
            if unviable.contains(&number) || in_all && self.notices(number, &programs)? {
                continue;
            }
            if !in_all || change.is_of_constant() {
                rest.push(number);
                continue;
            }
            println!("no test notices {}", change.name);
            survivors.insert(number);
        }
        for number in rest {
            if !self.notices_alone(number)? {
                println!("no test notices {}", self.changes[number].name);
                survivors.insert(number);
            }
        }
        let (tried, unviable) = (self.changes.len() - unviable.len(), unviable.len());
        println!("{tried} mutants tried; {unviable} more are no programs");
        Ok(survivors)
    }

    /// Leaves out what does not compile until the rest does.
    fn build_all(&self) -> Result<All, Stop> {
        let (mut unviable, mut constant) = (BTreeSet::new(), BTreeSet::new());
        loop {
            let lines = self.tree.switch(&self.changes, &unviable, &constant);
            let lines = lines.map_err(|error| unable("mutants", &error))?;
            let (at, called, text) = match self.build(&["--tests"])? {
                Built::Programs(programs) => {
                    let switched = lines.into_keys().collect();
                    return Ok(All { programs, switched, unviable });
                }
                Built::Errors { at, constant, text } => (at, constant, text),
            };
            let before = unviable.len() + constant.len();
            constant.extend(called);
            for (number, (file, lines)) in &lines {
                if at.iter().any(|(of, line)| of == file && lines.contains(line)) {
                    unviable.insert(*number);
                }
            }
            if unviable.len() + constant.len() == before {
                return Err(Stop::failed(&format!("mutants: it does not compile\n{text}")));
            }
        }
    }

    /// Builds the tests that `which` says.
    fn build(&self, which: &[&str]) -> Result<Built, Stop> {
        let package = self.package.cargo_name();
        let words = ["test", "--package", &package, "--no-run"];
        let mut command = cargo(&self.tree.path, &words);
        command.args(which);
        command.arg("--message-format=json").env("CARGO_TARGET_DIR", &self.target);
        command.env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_PROFILE_DEV_DEBUG", "0");
        let output = command.output().map_err(|error| unable("cargo", &error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if output.status.success() {
            return Ok(Built::Programs(messages.iter().filter_map(program).collect()));
        }
        let errors: Vec<&Value> =
            messages.iter().map(|it| &it["message"]).filter(|it| it["level"] == "error").collect();
        let constant = errors.iter().filter_map(|error| called_by_constant(error)).collect();
        let places = errors.into_iter().filter(|error| called_by_constant(error).is_none());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(Built::Errors { at: places.flat_map(self::places).collect(), constant, text })
    }

    /// Sorts the programs by the time that they take, and sees that all tests pass.
    fn fastest_first(&self, programs: Vec<Program>) -> Result<Vec<Program>, Stop> {
        let mut timed = Vec::new();
        for program in programs {
            let begin = Instant::now();
            if !self.passes(&program, None, "")? {
                let what = format!("mutants: {} fails without a mutant", program.name);
                return Err(Stop::failed(&what));
            }
            timed.push((begin.elapsed(), program));
        }
        timed.sort_by_key(|(time, _)| *time);
        Ok(timed.into_iter().map(|(_, program)| program).collect())
    }

    /// Whether a test of these programs fails: those in the mutant's own file run first.
    fn notices(&self, number: usize, programs: &[Program]) -> Result<bool, Stop> {
        let file = &self.changes[number].file;
        let module = file
            .split_once("/src/")
            .map_or("", |(_, file)| file)
            .trim_end_matches(".rs")
            .replace('/', "::");
        let own = programs.iter().filter(|program| program.name == UNIT_TESTS);
        let all = programs.iter().map(|program| (program, ""));
        for (program, filter) in own.map(|program| (program, module.as_str())).chain(all) {
            if !self.passes(program, Some(number), filter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a test fails on a mutant that no function can switch on, or it does not compile. It
    /// is built by itself, the programs of `tests/` only if the tests in the sources pass.
    fn notices_alone(&self, number: usize) -> Result<bool, Stop> {
        let written = self.tree.change(&self.changes[number]);
        written.map_err(|error| unable("mutants", &error))?;
        for words in [&["--lib"][..], &["--tests"]] {
            let Built::Programs(programs) = self.build(words)? else { return Ok(true) };
            if self.notices(number, &programs)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the tests whose names hold `filter` pass, with a mutant switched on.
    fn passes(&self, program: &Program, mutant: Option<usize>, filter: &str) -> Result<bool, Stop> {
        let mut command = Command::new("sh");
        let seconds = if filter.is_empty() { MOST } else { MOST_OF_A_FILE };
        command.args(["-c", LIMITED, seconds]).arg(&program.path).arg("--quiet").arg(filter);
        command.current_dir(self.tree.path.join("crates").join(self.package.name));
        command.env("MUTANT", mutant.map_or(0, |number| number + 1).to_string());
        // The same draws for every mutant, none kept for the next, and no time for finding the
        // smallest.
        command.env("PROPTEST_RNG_SEED", "1").env("PROPTEST_MAX_SHRINK_ITERS", "0");
        command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(|error| unable("sh", &error))?;
        Ok(status.success())
    }
}

/// The program that a message of cargo tells of.
fn program(message: &Value) -> Option<Program> {
    let path = PathBuf::from(message["executable"].as_str()?);
    let is_core = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib");
    let name = if is_core { UNIT_TESTS } else { message["target"]["name"].as_str()? };
    Some(Program { name: name.to_owned(), path })
}

/// Where the compiler sees an error: file and line.
fn places(error: &Value) -> Vec<(String, usize)> {
    let spans = error["spans"].as_array().map_or(&[][..], Vec::as_slice);
    let primary = spans.iter().filter(|span| span["is_primary"] == true);
    let place = |span: &Value| {
        let line = span["line_start"].as_u64()?.try_into().ok()?;
        Some((span["file_name"].as_str()?.to_owned(), line))
    };
    primary.filter_map(place).collect()
}

/// The function that an error is about, if it is no `const fn` and a constant calls it, or if it
/// cannot stand for a constant, as in a pattern.
fn called_by_constant(error: &Value) -> Option<String> {
    let path = error["message"].as_str()?.split('`').nth(1)?;
    let name = path.rsplit("::").find(|part| !part.starts_with('<'))?;
    (error["code"]["code"] == "E0015" || name.ends_with("__")).then(|| name.to_owned())
}

/// The program of the tests within the sources.
const UNIT_TESTS: &str = "unit tests";

/// Seconds of CPU time for a program, and for the tests in one file: several times what the slowest
/// take. So a mutant that never ends is noticed, and a loaded machine makes no test fail.
const MOST: &str = "10";
const MOST_OF_A_FILE: &str = "3";

/// The seconds come first, then the program. It gets 4 GiB of memory.
const LIMITED: &str = r#"ulimit -t "$0"; ulimit -v 4194304; exec "$@""#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_in_what_cargo_says() {
        let text = r#"{"spans":[{"file_name":"a.rs","line_start":7,"is_primary":true},
            {"file_name":"b.rs","line_start":8,"is_primary":false}]}"#;
        let error: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(places(&error), [("a.rs".to_owned(), 7)]);
        assert!(places(&Value::Null).is_empty());
        let text = r#"{"code":{"code":"E0015"},
            "message":"cannot call non-const method `view::View::<'_>::rtt` in constants"}"#;
        let error: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(called_by_constant(&error).as_deref(), Some("rtt"));
        assert_eq!(called_by_constant(&Value::Null), None);
        let text = r#"{"code":{"code":"E0532"},
            "message":"expected tuple struct or tuple variant, found function `MOST__`"}"#;
        let error: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(called_by_constant(&error).as_deref(), Some("MOST__"));
    }
}
