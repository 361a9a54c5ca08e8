//! `background`: the steps of `test` that compute and never wait. `test` runs them at idle priority
//! while its tests run, because the tests often wait for guests, transfers and timers.

use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::step::{bound, kernel_features, target, unable, which};
use crate::steps::{Steps, Task};
use crate::test::{Count, counted};
use crate::{Stop, check, example, python, readings, s2n, web};

/// Runs these steps. The last line that it prints counts their tests, as that of `test` does.
pub(crate) fn run(root: &Path) -> Result<(), Stop> {
    let features = kernel_features()?;
    let mut steps = Steps::announce(Task::Background, root, !features.is_empty());
    check::outcome(root, features, &mut steps)?;
    steps.begin();
    let mut count = counted(example::tests(root)?.arg("--no-fail-fast"))?;
    steps.begin();
    readings::run(root, &[])?;
    steps.begin();
    count.add(match s2n::lacks() {
        None => counted(&mut s2n::tests(root))?,
        Some(why) => Count::skipped(&why),
    });
    steps.begin();
    web::build_for_tests(root)?;
    steps.begin();
    python::build(root)?;
    steps.finish(root);
    count.verdict()
}

/// The process that runs these steps, and the file that has what it prints.
pub(crate) struct Background {
    program: Child,
    said: PathBuf,
}

/// Starts the process, at idle priority where `chrt` is installed.
pub(crate) fn start(root: &Path) -> Result<Background, Stop> {
    let said = target(root).join("xtask-background.log");
    let begin = || {
        let log = File::create(&said)?;
        let itself = bound(&std::env::current_exe()?);
        let mut program = match which("chrt") {
            Some(chrt) => {
                let mut idle = Command::new(chrt);
                idle.args(["--idle", "0"]).arg(itself.get_program()).args(itself.get_args());
                idle
            }
            None => itself,
        };
        program.arg("background").stdin(Stdio::null());
        program.stdout(log.try_clone()?).stderr(log).spawn()
    };
    let program = begin().map_err(|error| unable("background", &error))?;
    Ok(Background { program, said })
}

impl Background {
    /// Waits until the process ends, prints its output, and returns the count of its tests.
    pub(crate) fn wait(mut self) -> Result<Count, Stop> {
        let status = self.program.wait().map_err(|error| unable("background", &error))?;
        let said = std::fs::read(&self.said).map_err(|error| unable("background", &error))?;
        // Nobody may be listening any more.
        let _ = stdout().write_all(&said);
        let said = String::from_utf8_lossy(&said);
        let count = Count::of_line(said.lines().next_back().unwrap_or_default());
        match status.success() || count != Count::default() {
            true => Ok(count.ended(status)),
            false => Err(Stop::failed(&format!("background: failed, {status}"))),
        }
    }
}
