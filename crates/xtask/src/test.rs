//! The checks, then all tests, and how many there were.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::step::{cargo, kernel_features, succeed, unable};
use crate::steps::{Steps, Task};
use crate::{Stop, background, check, python, web};

/// How many tests all test binaries had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    passed: u64,
    failed: u64,
    /// Tests that said `skipped: <why>` on standard error and returned. The harness counts them as
    /// passed.
    skipped: u64,
}

/// What CI runs. The last line is `N passed, N failed`, then `, N skipped` if any were.
///
/// The counting is ours, and not cargo-nextest's: a stranger's machine does not have it, it runs no
/// doctests, and a process for every test, where ours share what they prepare; and a test that says
/// that it was skipped has passed for it too.
pub(crate) fn whole(root: &Path) -> Result<(), Stop> {
    let features = kernel_features()?;
    let mut steps = Steps::announce(Task::Test, root, !features.is_empty());
    check::sources(root, features, &mut steps)?;
    let tests = |word: &str| {
        let mut tests = cargo(root, &["test", word]);
        tests.args(features);
        tests
    };
    succeed(steps.begin(), &mut tests("--no-run"))?;
    steps.begin();
    let background = background::start(root)?;
    let mut count = counted(&mut tests("--no-fail-fast"))?;
    steps.begin();
    count.add(background.wait()?);
    steps.begin();
    count.add(of_page(root)?);
    steps.begin();
    count.add(of_python(root)?);
    steps.finish(root);
    count.verdict()
}

/// The tests that need nothing of a machine.
pub(crate) fn quick(root: &Path) -> Result<(), Stop> {
    let mut steps = Steps::announce(Task::Quick, root, false);
    steps.begin();
    let mut tests = cargo(root, &["test", "--no-fail-fast"]);
    tests.args(QUICK.iter().flat_map(|package| ["--package", package]));
    tests.args(["--lib", "--tests", "--"]);
    tests.args(SLOW.iter().flat_map(|module| ["--skip", module]));
    let count = counted(&mut tests)?;
    steps.finish(root);
    count.verdict()
}

const QUICK: [&str; 4] =
    ["firstflight-core", "firstflight-sim", "firstflight-scenario", "firstflight-cli"];
/// Modules of the command's tests that take root, the running kernel, qemu or real time.
const SLOW: [&str; 7] =
    ["kernel::", "lab::", "pins::", "programs::", "trial::", "virtual_time::", "transfer::"];

/// The tests of the Python package alone.
pub(crate) fn python(root: &Path) -> Result<(), Stop> {
    python::build(root)?;
    of_python(root)?.verdict()
}

/// The page in a browser alone.
pub(crate) fn page(root: &Path) -> Result<(), Stop> {
    web::build_for_tests(root)?;
    of_page(root)?.verdict()
}

fn of_page(root: &Path) -> Result<Count, Stop> {
    match web::lacks() {
        None => counted(&mut web::tests(root)?),
        Some(why) => Ok(Count::skipped(&why)),
    }
}

fn of_python(root: &Path) -> Result<Count, Stop> {
    match python::lacks() {
        None => counted(&mut python::tests(root)),
        Some(why) if std::env::var_os("FIRSTFLIGHT_REQUIRE_PYTHON").is_some() => {
            Err(Stop::lacks(&why))
        }
        Some(why) => {
            println!("skipped: {why}");
            Ok(Count::default())
        }
    }
}

/// Runs tests to their end, and counts them.
pub(crate) fn counted(tests: &mut Command) -> Result<Count, Stop> {
    let mut child = tests
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| unable("tests", &error))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let count = std::thread::scope(|scope| {
        let notes =
            scope.spawn(|| err.map_or(Count::default(), |err| follow(err, std::io::stderr())));
        let mut count = out.map_or(Count::default(), |out| follow(out, std::io::stdout()));
        count.add(notes.join().unwrap_or_default());
        count
    });
    let status = child.wait().map_err(|error| unable("tests", &error))?;
    if count == Count::default() {
        return Err(Stop::failed(&format!("tests: none ran, {status}")));
    }
    // A test binary that crashed has not counted what it did not finish.
    Ok(count.ended(status))
}

/// Passes lines on as they come, and counts what they say.
fn follow(from: impl Read, mut to: impl Write) -> Count {
    let mut count = Count::default();
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        count.read(&line);
        // Nobody may be listening any more; the tests go on all the same.
        let _ = writeln!(to, "{line}");
    }
    count
}

impl Count {
    /// Says that tests of a program that this machine cannot run are skipped; they count as one.
    pub(crate) fn skipped(why: &str) -> Self {
        println!("skipped: {why}");
        Self { passed: 1, skipped: 1, ..Self::default() }
    }

    /// Reads [`Self::line`].
    pub(crate) fn of_line(line: &str) -> Self {
        let mut count = Self::default();
        count.read_numbers(line, ", ");
        count
    }

    /// A program that failed has at least one failure.
    pub(crate) fn ended(mut self, status: ExitStatus) -> Self {
        if !status.success() {
            self.failed = self.failed.max(1);
        }
        self
    }

    /// Reads one line of `cargo test` or of pytest. Both end with `in N.NNs`.
    fn read(&mut self, line: &str) {
        if line.starts_with("skipped:") {
            self.skipped += 1;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            let (_, numbers) = result.split_once(". ").unwrap_or_default();
            self.read_numbers(numbers, "; ");
        } else if let Some((numbers, seconds)) = line.rsplit_once(" in ")
            && seconds.split_once('s').is_some_and(|(number, _)| number.parse::<f64>().is_ok())
        {
            self.read_numbers(numbers, ", ");
        }
    }

    /// Reads `71 passed, 2 skipped`. pytest does not count what it skips as passed, as the harness
    /// of Rust does.
    fn read_numbers(&mut self, numbers: &str, between: &str) {
        for part in numbers.split(between) {
            match part.split_once(' ').map(|(number, what)| (number.parse::<u64>(), what)) {
                Some((Ok(number), "passed")) => self.passed += number,
                Some((Ok(number), "failed" | "error" | "errors")) => self.failed += number,
                Some((Ok(number), "skipped")) => {
                    self.passed += number;
                    self.skipped += number;
                }
                _ => {}
            }
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// The last line, and whether a test failed.
    pub(crate) fn verdict(self) -> Result<(), Stop> {
        println!("{}", self.line());
        if self.failed == 0 { Ok(()) } else { Err(Stop::failed("")) }
    }

    fn line(&self) -> String {
        let passed = self.passed.saturating_sub(self.skipped);
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        format!("{passed} passed, {} failed{skipped}", self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &str) -> String {
        follow(output.as_bytes(), std::io::sink()).line()
    }

    #[test]
    fn results_of_all_binaries_are_summed() {
        let output = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; \
            0 filtered out; finished in 0.02s\n\
            test a ... ok\n\
            test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(counted(output), "7 passed, 3 failed");
    }

    #[test]
    fn those_of_pytest_are_counted_too() {
        let output = "tests in Python were 3 passed\n6 failed, 71 passed, 2 skipped in 22.41s\n\
            test result: ok. 5 passed; 0 failed; 0 ignored; finished in 1.45s\n\
            1 passed, 1 error in 61.02s (0:01:01)\n";
        assert_eq!(counted(output), "77 passed, 7 failed, 2 skipped");
    }

    #[test]
    fn a_skipped_test_has_not_passed() {
        let output = "skipped: no chromium\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
        assert_eq!(counted(output), "1 passed, 0 failed, 1 skipped");
        for line in ["1 passed, 0 failed, 1 skipped", "7 passed, 3 failed"] {
            assert_eq!(Count::of_line(line).line(), line);
        }
    }
}
