//! A command and everything it starts, which all end together.
//!
//! The command runs in a PID namespace of its own. Its first process is a copy of this program that
//! only waits: when it ends, the kernel ends everything else in there, whatever has left its
//! session, its process group or its parents. It ends with the command, when it is stopped, and
//! with the thread that started it, even by a kill -9.

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};

use nix::sched::{CloneFlags, setns, unshare};

use crate::sys;

/// A running command with all that it started; dropping it ends them and waits until they are gone.
#[derive(Debug)]
pub(crate) struct ProcessTree(Child);

impl ProcessTree {
    /// Starts a command.
    ///
    /// # Errors
    /// No privilege for a PID namespace, or the command cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        sys::run_as_second_process(command);
        // The namespace is for this thread's next children, until the old one is set again.
        let old = File::open(OF_CHILDREN)?;
        unshare(CloneFlags::CLONE_NEWPID)?;
        tracing::debug!(?command, "starts");
        let started = command.spawn();
        setns(&old, CloneFlags::CLONE_NEWPID)?;
        started.map(Self)
    }

    /// How the command ended, if it has: with 128 and its number if by a signal, as in a shell.
    ///
    /// # Errors
    /// Those of `waitpid`.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        // The first process is gone only after all others are. One that has ended already is no
        // problem.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const OF_CHILDREN: &str = "/proc/thread-self/ns/pid_for_children";
