//! The output of `ss -tin`, taken again and again with the time before each: what the kernel's
//! `TCP_INFO` says of a sender, as text.
//!
//! ```text
//! 1764122400.250000000
//! ESTAB 0 2868896 10.0.0.1:45678 10.0.0.2:5201
//!      cubic rto:204 rtt:1.5/0.75 mss:1448 cwnd:10 bytes_sent:14480 unacked:10 retrans:0/0
//! ```
//!
//! The file is read twice: for its sockets, the unit of its times and what this version of `ss`
//! prints, and for the samples of the socket that is chosen.

mod clock;
mod line;
mod samples;

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};

use firstflight_outside::word;
use firstflight_qlog::{Listed, Skipped};

use crate::{Form, RecordError, Recorded, choose};
use clock::{Clock, Stamp, UnitSearch, stamp};
pub(crate) use line::Sample;
use line::{Sum, algorithm, is_heading, is_numbers, socket};
use samples::{Counters, Samples};

/// Whether a line begins so as one of a record of `ss`.
pub(crate) fn begins(line: &str) -> bool {
    let line = line.trim();
    let rest = stamp(line).map_or(line, |(_, rest)| rest);
    is_heading(line) || socket(line).is_some() || socket(rest).is_some() || is_numbers(rest)
}

/// Reads the connection of this number, from 1; without one that which sent most bytes. A line
/// that is wrong is left out and counted.
pub(crate) fn read<R: Read + Seek>(
    file: &str,
    source: &mut R,
    number: Option<usize>,
) -> Result<Recorded, RecordError> {
    let mut survey = Survey::default();
    let mut reading = Reading::default();
    reading.walk(file, source, |sample| survey.take(&sample))?;
    survey.check(file, &reading)?;
    let all = survey.sockets.len();
    let place = choose(file, number, all, |place| survey.sockets[place].weight())?;
    let chosen = &survey.sockets[place];
    let mut clock = Clock::new(survey.unit.unit());
    let mut samples = Samples::new(chosen.counters);
    let mut skipped = reading.skipped;
    let mut newest = (None, None);
    Reading::default().walk(file, source, |sample| {
        if newest.0 != Some(sample.stamp) {
            newest = (Some(sample.stamp), clock.seconds(sample.stamp));
            if newest.1.is_none() {
                let accepted = "accepted: times in order, all of one form";
                skipped.add(|| {
                    format!("{file}:{}: a time before an earlier one; {accepted}", sample.line)
                });
            }
        }
        if let (true, Some(now_s)) = (sample.place == place, newest.1) {
            samples.take(now_s, sample.numbers);
        }
    })?;
    let listed = |socket: &SocketSurvey| Listed {
        title: socket.title(),
        events: socket.samples,
        bytes: socket.last.sent.or(socket.last.acked),
        ..Listed::default()
    };
    let mut connection = samples.finish();
    connection.title = chosen.title();
    Ok(Recorded {
        form: Form::Sockets,
        connection,
        number: place + 1,
        all: survey.sockets.iter().map(listed).collect(),
        skipped,
        mss: Some(chosen.last.mss),
        ..Recorded::default()
    })
}

/// The last sample of each connection, and its algorithm, in the order of first samples; no time
/// has to stand before them.
pub(crate) fn last<R: Read + Seek>(
    file: &str,
    source: &mut R,
) -> Result<(Vec<(String, Sample)>, Skipped), RecordError> {
    let mut survey = Survey::default();
    let mut reading = Reading { newest: Some(Stamp::Number(0.0)), ..Reading::default() };
    reading.walk(file, source, |sample| survey.take(&sample))?;
    survey.check(file, &reading)?;
    let last = survey.sockets.into_iter().map(|seen| (seen.algorithm, seen.last)).collect();
    Ok((last, reading.skipped))
}

/// A sample while the lines pass.
struct FoundSample<'a> {
    line: u64,
    stamp: Stamp,
    /// The connection, in the order of first samples, and its ends.
    place: usize,
    name: &'a str,
    algorithm: &'a str,
    numbers: Sample,
}

/// The lines of a file, one socket after the other.
#[derive(Default)]
struct Reading {
    newest: Option<Stamp>,
    /// The ends of the socket whose numbers come next.
    socket: String,
    /// It is connected.
    connected: bool,
    queued: u64,
    /// The connection of each pair of ends, and what it had sent.
    places: HashMap<String, (usize, Sum)>,
    begun: usize,
    skipped: Skipped,
    /// Numbers came before any time, or of a socket that is not connected yet; sockets came.
    timeless: bool,
    connecting: bool,
    sockets: bool,
}

impl Reading {
    fn walk<R: Read + Seek>(
        &mut self,
        file: &str,
        source: &mut R,
        mut take: impl FnMut(FoundSample<'_>),
    ) -> Result<(), RecordError> {
        let unreadable = RecordError::unreadable(file);
        source.rewind().map_err(unreadable)?;
        let mut lines = BufReader::with_capacity(BUFFER, source);
        let mut bytes = Vec::new();
        for number in 1.. {
            let Some(length) = next(&mut lines, &mut bytes).map_err(unreadable)? else { break };
            let outcome = match std::str::from_utf8(&bytes) {
                _ if length > LONGEST => Err(format!("longer than {LONGEST} bytes; {ACCEPTED}")),
                Err(_) => Err(format!("no text; {ACCEPTED}")),
                Ok(line) => self.take(number, line.trim(), &mut take),
            };
            if let Err(problem) = outcome {
                self.skipped.add(|| format!("{file}:{number}: {problem}"));
            }
        }
        Ok(())
    }

    /// Takes a line; an error says what is wrong with it.
    fn take(
        &mut self,
        number: u64,
        line: &str,
        take: &mut impl FnMut(FoundSample<'_>),
    ) -> Result<(), String> {
        let mut line = line;
        if socket(line).is_none()
            && let Some((stamp, rest)) = stamp(line)
        {
            self.newest = Some(stamp);
            line = rest;
            if line.is_empty() {
                self.socket.clear();
            }
        }
        if line.is_empty() || is_heading(line) {
            return Ok(());
        }
        if let Some(socket) = socket(line) {
            self.sockets = true;
            self.socket.clear();
            self.socket.extend([socket.local, " to ", socket.peer]);
            self.connected = !matches!(socket.state, Some("SYN-SENT" | "SYN-RECV" | "LISTEN"));
            self.queued = socket.queued;
            // With -O all is on one line; what stands in brackets is of processes.
            let (rest, behind) = match (socket.rest.find("users:(("), socket.rest.find("))")) {
                (Some(from), Some(to)) if from < to => {
                    (&socket.rest[..from], &socket.rest[to + 2..])
                }
                _ => (socket.rest, ""),
            };
            let numbers = [rest, behind].into_iter().find(|part| is_numbers(part));
            return numbers.map_or(Ok(()), |part| self.numbers(number, part, take));
        }
        if is_numbers(line) {
            return self.numbers(number, line, take);
        }
        // A listening socket has no window.
        if !self.socket.is_empty() && line.contains(':') {
            return Ok(());
        }
        let begin: String = line.chars().take(40).collect();
        Err(format!("found \"{}\"; {ACCEPTED}", begin.escape_debug()))
    }

    fn numbers(
        &mut self,
        line: u64,
        text: &str,
        take: &mut impl FnMut(FoundSample<'_>),
    ) -> Result<(), String> {
        if self.socket.is_empty() {
            return Err(format!("numbers before any socket; {ACCEPTED}"));
        }
        if !self.connected {
            self.connecting = true;
            return Ok(());
        }
        let Some(stamp) = self.newest else {
            self.timeless = true;
            return Err(format!("numbers before any time; {ACCEPTED}"));
        };
        let numbers = Sample { queued: self.queued, ..Sample::of(text)? };
        let known = self.places.get_mut(&self.socket);
        let sum = numbers.sum();
        let place = match known.filter(|(_, before)| sum.continues(before)) {
            Some((place, before)) => {
                *before = sum;
                *place
            }
            None if self.begun >= MOST => return Err(format!("more than {MOST} sockets")),
            None => {
                self.begun += 1;
                self.places.insert(self.socket.clone(), (self.begun - 1, sum));
                self.begun - 1
            }
        };
        let (name, algorithm) = (&*self.socket, algorithm(text));
        take(FoundSample { line, stamp, place, name, algorithm, numbers });
        Ok(())
    }
}

/// Reads a line as far as it is not too long; how long it is, or that there is none.
pub(crate) fn next(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = lines.by_ref().take(LONGEST + 1).read_until(b'\n', line)? as u64;
    if length > LONGEST {
        length += lines.skip_until(b'\n')? as u64;
    }
    Ok((length > 0).then_some(length))
}

/// The sockets of a file, and the unit of its times.
#[derive(Default)]
struct Survey {
    sockets: Vec<SocketSurvey>,
    unit: UnitSearch,
}

/// A socket while the file is read for the first time.
struct SocketSurvey {
    name: String,
    algorithm: String,
    samples: u64,
    last: Sample,
    last_at: Stamp,
    counters: Counters,
}

impl Survey {
    fn take(&mut self, found: &FoundSample<'_>) {
        if let Stamp::Number(now) = found.stamp {
            self.unit.number(now);
        }
        let Some(seen) = self.sockets.get_mut(found.place) else {
            self.sockets.push(SocketSurvey {
                name: found.name.to_owned(),
                algorithm: found.algorithm.to_owned(),
                samples: 1,
                last: found.numbers,
                last_at: found.stamp,
                counters: Counters::default().with(&found.numbers, &found.numbers),
            });
            return;
        };
        if let (Stamp::Number(before), Stamp::Number(now)) = (seen.last_at, found.stamp) {
            self.unit.passed(now - before, found.numbers.passed_ms(&seen.last) as f64);
        }
        if seen.algorithm != found.algorithm {
            found.algorithm.clone_into(&mut seen.algorithm);
        }
        seen.samples += 1;
        seen.counters = seen.counters.with(&seen.last, &found.numbers);
        (seen.last, seen.last_at) = (found.numbers, found.stamp);
    }

    /// Refuses what is no record of a sender, with what it lacks.
    fn check(&self, file: &str, reading: &Reading) -> Result<(), RecordError> {
        if !self.sockets.is_empty() {
            return Ok(());
        }
        let problem = if reading.timeless {
            format!("no time before the samples; {ACCEPTED}")
        } else if reading.connecting {
            format!("no sample of a connection that is open; {ACCEPTED}")
        } else if reading.sockets {
            format!("sockets without their numbers, as ss writes them without -i; {ACCEPTED}")
        } else {
            format!("no sample of a sender's cwnd; {ACCEPTED}")
        };
        Err(RecordError::Nothing { file: file.to_owned(), problem })
    }
}

impl SocketSurvey {
    fn title(&self) -> String {
        word(format!("{} {}", self.algorithm, self.name).trim())
    }

    /// What it sent; where an old kernel does not say so, how often it was seen.
    fn weight(&self) -> (u64, u64) {
        (self.last.sent.or(self.last.acked).unwrap_or(0), self.samples)
    }
}

const ACCEPTED: &str = "accepted: the output of `date +%s.%N; ss -tin` again and again";
/// The longest line, bytes.
pub(crate) const LONGEST: u64 = 64 << 10;
/// Bytes at a time.
const BUFFER: usize = 256 << 10;
/// Sockets that are kept apart.
const MOST: usize = 100_000;
