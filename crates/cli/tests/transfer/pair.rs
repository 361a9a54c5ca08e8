//! A `recv` in the background and whatever is sent to it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use crate::process::{Outcome, Place, wait_until};

/// A running `recv`, or `send`, that is ended when the test is over.
pub(crate) struct Running {
    child: Child,
    /// What it said on standard error before it was ready.
    stderr: String,
}

/// A `recv` that listens.
pub(crate) struct Receiver {
    pub(crate) running: Running,
    /// Where, with which certificate, and what a sender has to know.
    pub(crate) address: String,
    pub(crate) pin: String,
    pub(crate) secret: String,
}

impl Receiver {
    /// Starts a `recv` on a free port and waits until it listens.
    pub(crate) fn new(place: &Place, words: &[&str]) -> Self {
        let all: Vec<&str> = ["recv", "--listen", "0"].iter().chain(words).copied().collect();
        Self::of(place.command(&all))
    }

    /// Starts a command that was made elsewhere, and waits until it listens.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stderr = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        while !stderr.contains("--pin") {
            let read = lines.read_line(&mut stderr).unwrap();
            assert!(read > 0, "recv ended before it listened: {stderr}");
        }
        child.stderr = Some(lines.into_inner());
        let words: Vec<&str> = stderr.split_whitespace().collect();
        let after = |word: &str| {
            let at = words.iter().position(|found| *found == word).unwrap();
            words[at + 1].trim_end_matches(';').to_owned()
        };
        let (address, pin) = (after("on"), after("--pin"));
        let secret = words.iter().find_map(|word| word.strip_prefix("FIRSTFLIGHT_SECRET="));
        let secret = secret.unwrap_or_default().to_owned();
        Self { running: Running { child, stderr }, address, pin, secret }
    }

    /// The command line of a `send` to it.
    pub(crate) fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        let secret = ["--secret", &self.secret];
        let secret: &[&str] = if self.secret.is_empty() { &[] } else { &secret };
        [&["send", &self.address, "--pin", &self.pin], secret, words].concat()
    }

    /// Sends to it and waits for the end of that.
    pub(crate) fn send(&self, place: &Place, words: &[&str]) -> Outcome {
        place.run(&self.words(words))
    }

    /// Starts a `send` to it.
    pub(crate) fn sending(&self, place: &Place, words: &[&str]) -> Running {
        let mut command = place.command(&self.words(words));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Running { child, stderr: String::new() }
    }
}

impl Running {
    /// Waits for its end.
    pub(crate) fn end(mut self) -> Outcome {
        let mut stdout = String::new();
        let mut stderr = std::mem::take(&mut self.stderr);
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Outcome { code, stdout, stderr }
    }

    /// The next line of its standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut lines = BufReader::with_capacity(1, self.child.stdout.take().unwrap());
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended");
        self.child.stdout = Some(lines.into_inner());
        line
    }

    /// Ends it as a machine does that loses its power.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended by itself in every test that passes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Content that is nowhere the same.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        content.extend(next());
    }
    content.truncate(bytes);
    content
}

/// A file that nobody else can read.
pub(crate) fn private(place: &Place, name: &str, text: &str) {
    place.write(name, text);
    fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o600)).unwrap();
}

/// Waits until the file has so many bytes: the transfer is under way.
pub(crate) fn wait_for(place: &Place, name: &str, bytes: u64) {
    let long = || fs::metadata(place.path(name)).is_ok_and(|about| about.len() >= bytes);
    wait_until(name, long);
}

/// What `outcome` said last on standard error, which has to be its only complaint.
pub(crate) fn complaint(outcome: &Outcome) -> &str {
    let all: Vec<&str> =
        outcome.stderr.lines().filter(|line| line.starts_with("firstflight: ")).collect();
    assert_eq!(all.len(), 1, "one complaint, in one line: {outcome:?}");
    assert_eq!(outcome.stderr.lines().last(), Some(all[0]), "{outcome:?}");
    all[0]
}
