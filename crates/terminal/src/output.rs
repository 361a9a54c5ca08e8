//! The two streams and the directories: everything that leaves the program passes here.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use firstflight_outside::{AtomicFile, is_full, is_written_through};
pub use firstflight_outside::{file_name, plain};
use firstflight_report::ReportError;
use firstflight_report::terminal::Screen;

use crate::Failure;
use crate::command_line::without_secrets;
use crate::flags::is_quiet;

/// What standard output can show.
pub fn screen() -> Screen {
    Screen::of(&io::stdout())
}

/// Writes to standard output; a reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let (mut stdout, text) = (io::stdout().lock(), without_secrets(text));
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(()),
    }
}

/// Says what went wrong on standard error.
pub fn complain(problem: &dyn std::fmt::Display) {
    // If standard error is gone, nobody reads it.
    let problem = problem.to_string();
    let problem = without_secrets(problem.trim_end());
    let _ = writeln!(io::stderr(), "firstflight: {}", plain(&problem));
}

/// Says something worth knowing on standard error, but with `--quiet`.
pub fn note(text: &str) {
    if is_quiet() {
        return;
    }
    let _ = writeln!(io::stderr(), "{}", without_secrets(text));
}

/// Says where a report is, and what its figures lack.
pub fn note_report(page: &Path) {
    note(&format!("report: {}", page.display()));
    if let Some(why) = firstflight_report::not_embedded() {
        note(why);
    }
}

/// Checks before a long run that its files can be written below `path`, and that `path` holds no
/// sweep. It leaves nothing behind.
pub fn check_directory(flag: &'static str, path: &Path) -> Result<(), Failure> {
    if flag == "--out" && path.join("sweep.json").exists() {
        return Err(not_writable(flag, path, "it holds a sweep (sweep.json)"));
    }
    check_any_directory(flag, path)
}

/// [`check_directory`], of a sweep too.
pub fn check_any_directory(flag: &'static str, path: &Path) -> Result<(), Failure> {
    let fault = |problem: String| not_writable(flag, path, &problem);
    if path.as_os_str().is_empty() {
        return Err(fault("the name is empty".to_owned()));
    }
    check_below(path, fault)
}

/// Makes a file where one below `path` will be, and removes it; `fault` says what is wrong.
fn check_below(path: &Path, fault: impl Fn(String) -> Failure) -> Result<(), Failure> {
    if let Err(error) = path.symlink_metadata()
        && error.kind() == io::ErrorKind::InvalidFilename
    {
        return Err(fault(error.to_string()));
    }
    // Of a relative path the last ancestor is empty: the working directory.
    let existing = path.ancestors().find(|a| a.exists()).unwrap_or(Path::new("."));
    if !existing.is_dir() {
        return Err(fault(format!("{} is not a directory", existing.display())));
    }
    AtomicFile::create(&existing.join("firstflight")).map(drop).map_err(|error| {
        match error.kind() {
            _ if is_full(&error) => ReportError::write(existing)(error).into(),
            // It is there, as /proc is.
            io::ErrorKind::NotFound => fault(format!("{} takes no files", existing.display())),
            _ => fault(format!("{}: {error}", existing.display())),
        }
    })
}

/// A directory that was made, or was there.
#[derive(Debug)]
pub struct Made {
    path: PathBuf,
    /// The topmost directory that was not there.
    pub topmost: Option<PathBuf>,
}

/// Makes the directory that a flag names, if it is missing.
pub fn make(flag: &'static str, path: &Path) -> Result<Made, Failure> {
    let ancestors = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty());
    let topmost = ancestors.take_while(|folder| !folder.exists()).last().map(Path::to_owned);
    fs::create_dir_all(path).map_err(|error| match is_full(&error) {
        true => ReportError::write(path)(error).into(),
        false => not_writable(flag, path, &error.to_string()),
    })?;
    Ok(Made { path: path.to_owned(), topmost })
}

impl Made {
    /// Removes what was made and has nothing in it.
    pub fn remove(&self) {
        let Some(topmost) = &self.topmost else { return };
        for folder in self.path.ancestors().take_while(|folder| folder.starts_with(topmost)) {
            // One that is not empty stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A directory that only this program writes to, until the lock is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    made: Made,
    _lock: Option<File>,
}

/// Checks and locks the directory of `--out`, if there is one, so that no other program writes the
/// same files.
pub fn lock_out(out: Option<&Path>) -> Result<Option<DirectoryLock>, Failure> {
    let checked_and_locked = |out| check_directory("--out", out).and_then(|()| lock_directory(out));
    out.map(checked_and_locked).transpose()
}

/// Makes the directory of `--out` and locks it. An empty one is removed with the lock.
fn lock_directory(path: &Path) -> Result<DirectoryLock, Failure> {
    let made = make("--out", path)?;
    let lock = File::open(path).ok();
    if lock.as_ref().is_some_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
        let problem = "another program writes there now; accepted: another directory, or to wait \
                       for its end";
        return Err(Failure::Usage(format!("--out {}: {problem}", path.display())));
    }
    // A file system without locks: the user has to see to it.
    Ok(DirectoryLock { made, _lock: lock })
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        self.made.remove();
    }
}

/// The directory that a flag names cannot take files.
pub fn not_writable(flag: &str, path: &Path, problem: &str) -> Failure {
    let place = path.display();
    Failure::Usage(format!(
        "{flag} {place}: {problem}; accepted: a directory that can be written, or made"
    ))
}

/// Checks before anything runs that a file can be written at `path`. A device, a FIFO or a link is
/// written to as it is, so that it is opened here, but a FIFO, which would wait for its reader.
pub fn check_file(flag: &'static str, path: &Path) -> Result<(), Failure> {
    let refused = |found: String| {
        let place = path.display();
        Failure::Usage(format!("{flag} {place}: {found}; accepted: a file that can be written"))
    };
    if path.is_dir() || path.file_name().is_none() {
        return Err(refused("a directory".to_owned()));
    }
    if is_written_through(path) {
        let blocks = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
        let opened = match blocks {
            true => Ok(()),
            false => File::options().append(true).create(true).open(path).map(drop),
        };
        return opened.map_err(|error| refused(error.to_string()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    check_below(parent.unwrap_or(Path::new(".")), refused)
}
