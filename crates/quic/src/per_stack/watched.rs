//! Controllers with a callback: after every event of the stack's, the callback sees the event and
//! the controller.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use firstflight_control::{ControlProblem, Named};
use firstflight_core::sender::Sender;

use super::proto::congestion::{Controller as Stacks, ControllerFactory};
use super::{Controller, Event, Factory, OF_STACK, OfStack, any, control};
use crate::constants::Constants;

/// What builds a controller: firstflight's factory, whose controllers show their sender, or any
/// other.
#[derive(Clone)]
pub enum Build {
    /// One of firstflight's.
    Ours(Box<Factory>),
    /// Any other.
    Other(Arc<dyn ControllerFactory + Send + Sync>),
}

/// A controller that [`Build`] has built.
pub enum Built {
    /// One of firstflight's.
    Ours(Box<Controller>),
    /// Any other.
    Other(Box<dyn Stacks>),
}

/// A callback after each event of a controller.
pub trait Watch: Clone + Send + 'static {
    /// The controller has handled `event`.
    fn on_event(&mut self, event: &Event, controller: &Built);
}

/// A controller with its callback, behind a handle that can be copied: the stack holds one copy,
/// and the program that wants to read the controller another.
pub struct Watched<W>(Arc<Mutex<WatchedController<W>>>);

/// What a handle of [`Watched`] leads to.
pub struct WatchedController<W> {
    /// The controller.
    pub controller: Built,
    /// The callback.
    pub watch: W,
}

impl Build {
    /// The control of that name, as [`any`] knows it.
    ///
    /// # Errors
    /// As of [`any`].
    pub fn named(name: &str) -> Result<Self, ControlProblem> {
        Self::with_constants(name, &Constants::default())
    }

    /// The control of that name, with the first window and ssthresh of these constants.
    ///
    /// # Errors
    /// As of [`any`].
    pub fn with_constants(name: &str, constants: &Constants) -> Result<Self, ControlProblem> {
        if let Some(own) = OfStack::named(name.trim()) {
            return Ok(Self::Other(own.factory(constants.initial_window)));
        }
        if name.trim().starts_with(OF_STACK) {
            return any(name).map(Self::Other);
        }
        control(name).map(|factory| Self::Ours(Box::new(factory.with_constants(constants))))
    }

    /// A controller for a path that begins at `now` with packets of `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> Built {
        match self {
            Self::Ours(factory) => Built::Ours(Box::new(factory.controller(now, mtu))),
            Self::Other(factory) => Built::Other(Arc::clone(factory).build(now, mtu)),
        }
    }
}

impl Built {
    /// The controller by the stack's trait.
    pub fn as_stacks(&self) -> &dyn Stacks {
        match self {
            Self::Ours(controller) => &**controller,
            Self::Other(controller) => &**controller,
        }
    }

    /// The window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.as_stacks().metrics().congestion_window
    }

    /// The ssthresh, bytes, if there is one: stacks' own may say "none" with the largest number.
    pub fn ssthresh(&self) -> Option<u64> {
        self.as_stacks().metrics().ssthresh.filter(|ssthresh| *ssthresh != u64::MAX)
    }

    /// The core's sender of one of firstflight's.
    pub fn sender(&self) -> Option<&Sender<Named>> {
        match self {
            Self::Ours(controller) => Some(controller.sender()),
            Self::Other(_) => None,
        }
    }

    fn as_stacks_mut(&mut self) -> &mut dyn Stacks {
        match self {
            Self::Ours(controller) => &mut **controller,
            Self::Other(controller) => &mut **controller,
        }
    }
}

impl Clone for Built {
    fn clone(&self) -> Self {
        match self {
            Self::Ours(controller) => Self::Ours(controller.clone()),
            Self::Other(controller) => Self::Other(controller.clone_box()),
        }
    }
}

impl<W: Watch> Watched<W> {
    /// Wraps a controller: `watch` gets every event that the controller gets from now on.
    pub fn new(controller: Built, watch: W) -> Self {
        Self(Arc::new(Mutex::new(WatchedController { controller, watch })))
    }

    /// Another handle to the same controller.
    pub fn handle(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Locks the controller and its callback; the stack waits until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, WatchedController<W>> {
        // A panic while it was locked leaves the counts valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the call, then the callback.
    pub(super) fn forward(&self, event: Event) {
        let seen = &mut *self.lock();
        event.apply(seen.controller.as_stacks_mut());
        seen.watch.on_event(&event, &seen.controller);
    }

    /// The window, for the stack.
    pub(super) fn asked_for_window(&self) -> u64 {
        let seen = &mut *self.lock();
        seen.watch.on_event(&Event::Window, &seen.controller);
        seen.controller.as_stacks().window()
    }

    /// A controller of its own for another path, and a copy of the callback.
    pub(super) fn copy(&self) -> Self {
        let seen = self.lock();
        Self::new(seen.controller.clone(), seen.watch.clone())
    }
}

impl<W> fmt::Debug for Watched<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}
