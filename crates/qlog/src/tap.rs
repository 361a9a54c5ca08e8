//! A log that a stack writes and that another owner closes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::complete::{Completing, Probe};
use crate::event::State;

/// A [`Completing`] with two owners. quinn takes a writer and never says when it is done with it,
/// so the other owner closes the file.
pub struct Tap<W: Write>(Arc<Mutex<Completing<W>>>);

impl<W: Write> Tap<W> {
    /// Shares the log.
    pub fn new(log: Completing<W>) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// Writes what is held back, because no further event comes.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(&self) -> io::Result<()> {
        self.log().finish()
    }

    fn log(&self) -> MutexGuard<'_, Completing<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Clone for Tap<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Write> Write for Tap<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.log().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log().flush()
    }
}

/// A probe that reports the begin of start-up, and its end as soon as `exit` has a reason for it,
/// in a word of [`State::end`].
pub fn startup_probe(
    mut exit: impl FnMut() -> Option<&'static str> + Send + Sync + 'static,
) -> Probe {
    let (mut begun, mut ended) = (false, false);
    Box::new(move || {
        if !begun {
            begun = true;
            return Some(State::begin());
        }
        let reason = if ended { None } else { exit() }?;
        ended = true;
        Some(State::end(Some(reason)))
    })
}
