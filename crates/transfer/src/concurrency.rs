//! Several transfers at once, so that nobody waits for the whole of another's file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Progress;
use crate::endpoint::machine;
use crate::error::TransferError;
use crate::greet::Pending;
use crate::inbox::Inbox;
use crate::receive::{Received, refuse, take};

/// Takes from several senders at a time. When this is dropped, all of them are cut off.
#[derive(Debug)]
pub struct Reception {
    inbox: Arc<Inbox>,
    at_once: usize,
    stop: watch::Receiver<bool>,
    pending: Pending,
    running: JoinSet<Ended>,
}

/// What happened to one of them.
#[derive(Debug)]
pub enum Event {
    /// A sender that may send came; this shows how far it is, and ends with the transfer.
    Began(watch::Receiver<Progress>),
    /// It is over.
    Ended(Box<Ended>),
}

/// A transfer that is over.
#[derive(Debug)]
pub struct Ended {
    /// What it came to.
    pub outcome: Result<Received, TransferError>,
    /// How far it got; nothing if it was refused.
    pub reached: Progress,
    /// How long it lasted.
    pub took: Duration,
}

impl Reception {
    /// Takes files into this inbox, from at most `at_once` senders. When `stop` becomes true they
    /// get a message that nothing more is taken.
    pub fn new(inbox: Arc<Inbox>, at_once: usize, stop: watch::Receiver<bool>) -> Self {
        let (pending, running) = (Pending::default(), JoinSet::new());
        Self { inbox, at_once, stop, pending, running }
    }

    /// How many send now.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// What happens next; `note` gets a line for each connection that failed. Nobody new is taken
    /// where `if_room` is false, or while as many run as may at once: a sender that comes then is
    /// refused, because this end is busy. Nothing is lost if the future is dropped before its end.
    ///
    /// # Errors
    /// The socket was closed, or `stop` is true and no transfer is left.
    pub async fn next(
        &mut self,
        if_room: bool,
        note: impl Fn(String),
    ) -> Result<Event, TransferError> {
        let is_full = !if_room || self.running.len() >= self.at_once || *self.stop.borrow();
        if is_full {
            self.pending = Pending::default();
        }
        let (inbox, pending) = (&self.inbox, &mut self.pending);
        let arrival = async {
            match is_full {
                true => Err(refuse(inbox).await),
                false => pending.next_greeting(inbox, note).await,
            }
        };
        let is_idle = self.running.is_empty();
        let greeting = tokio::select! {
            greeting = arrival => greeting?,
            Some(ended) = self.running.join_next() => {
                return ended.map(|ended| Event::Ended(Box::new(ended))).map_err(machine);
            }
            () = stopped(self.stop.clone()), if is_idle => {
                return Err(TransferError::Interrupted { kept: String::new() });
            }
        };
        let (inbox, stop) = (Arc::clone(&self.inbox), self.stop.clone());
        let (report, progress) = watch::channel(Progress::default());
        self.running.spawn(async move {
            let began = Instant::now();
            let outcome = take(&inbox, greeting, &report, stopped(stop)).await;
            let reached = *report.borrow();
            Ended { outcome, reached, took: began.elapsed() }
        });
        Ok(Event::Began(progress))
    }
}

/// Ready when it is true; never if nobody is left who could say so.
async fn stopped(mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending().await
    }
}
