//! A file, line by line.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use base16ct::lower::encode_string;
use firstflight_outside::Unread;
use sha2::{Digest as _, Sha256};

use crate::document::Files;

/// The lines of a trace.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: usize,
    /// The file's size when it was opened; it may grow.
    bytes: u64,
    /// What has been read of it.
    read: u64,
    hash: Sha256,
}

/// What is wrong with a trace.
pub(crate) enum Problem {
    /// With all of it.
    File(String),
    /// With this line, from 1.
    Line(usize, String),
}

impl Lines {
    pub(super) fn open(path: &Path, files: &Files) -> Result<Self, Problem> {
        let (file, bytes) = files.open(path).map_err(|unread| {
            let accepted = match unread {
                Unread::Directory | Unread::Irregular => "; accepted: a file of lines",
                _ => "",
            };
            Problem::File(format!("{unread}{accepted}"))
        })?;
        let (line, hash) = (Vec::new(), Sha256::new());
        Ok(Self { reader: BufReader::new(file), line, number: 0, bytes, read: 0, hash })
    }

    /// The next line without its end; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<&str>, Problem> {
        self.line.clear();
        let mut limited = (&mut self.reader).take(MOST_CHARACTERS + END);
        let read = limited.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| Problem::File(error.to_string()))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.read += read as u64;
        self.hash.update(&self.line);
        let is_binary = |byte: &u8| byte.is_ascii_control() && !b"\t\r\n".contains(byte);
        if self.line.iter().any(is_binary) {
            return Err(self.wrong("not text; accepted: numbers, one entry a line"));
        }
        // Refused at the first line that is text, before the rest is read.
        if self.bytes.max(self.read) > MOST_BYTES {
            return Err(self.wrong("the file is larger than 256 MiB; accepted: a shorter trace"));
        }
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        if text.strip_suffix(b"\r").unwrap_or(text).len() as u64 > MOST_CHARACTERS {
            return Err(self.wrong("longer than 100 characters; accepted: one entry a line"));
        }
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(Problem::Line(self.number, "not UTF-8 text".to_owned())),
        }
    }

    /// The next line that is neither empty nor a comment, which `#` begins.
    pub(super) fn entry(&mut self) -> Result<Option<String>, Problem> {
        while let Some(line) = self.next()? {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if !entry.is_empty() {
                return Ok(Some(entry.to_owned()));
            }
        }
        Ok(None)
    }

    /// A problem with the line read last, or with the first of an empty file.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> Problem {
        Problem::Line(self.number.max(1), problem.into())
    }

    /// The problem that the line read last is not as `accepted`.
    pub(super) fn found(&self, text: &str, accepted: &str) -> Problem {
        self.wrong(format!("found \"{}\"; accepted: {accepted}", text.escape_debug()))
    }

    /// The digest of what has been read.
    pub(super) fn digest(self) -> String {
        encode_string(&self.hash.finalize()[..16])
    }
}

const MOST_CHARACTERS: u64 = 100;
/// CR and LF, and one character by which a line is too long.
const END: u64 = 3;
const MOST_BYTES: u64 = 256 << 20;
