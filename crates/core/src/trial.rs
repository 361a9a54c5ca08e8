//! A first window larger than the ordinary one, on trial until its data are acknowledged.

use crate::policy::Answer;
use crate::units::Bytes;
use crate::view::{View, Window};

/// Nothing is on trial by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trial(Option<(Bytes, Window)>);

impl Trial {
    /// The first `bytes` of the connection are on trial, in place of the `ordinary` window.
    pub(crate) fn of(bytes: Bytes, ordinary: Window) -> Self {
        Self(Some((bytes, ordinary)))
    }

    /// What is on trial ends at fewer bytes, because no more were sent.
    pub(crate) fn shorten(&mut self, bytes: Bytes) {
        if let Some((end, _)) = &mut self.0 {
            *end = (*end).min(bytes);
        }
    }

    /// Data was lost: the ordinary window returns if it was data on trial. The trial is over then.
    pub(crate) fn answer(&mut self, view: &View) -> Answer {
        match self.0.take() {
            Some((end, Window { cwnd, .. })) if view.acked < end => {
                Answer::Retreat(Window { cwnd, ..view.window })
            }
            _ => Answer::Leave,
        }
    }
}
