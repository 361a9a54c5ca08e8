//! When Startup believes the path full: its rate has stopped growing, or a round lost too much.

use super::Bbr;
use super::form::{Form, Losses, Plateau};
use crate::estimate::bbr_model::{RoundEnd, usable};
use crate::event::Ack;
use crate::knob::RATIO_ONE;
use crate::units::Bytes;
use crate::view::View;

impl Bbr {
    /// `CheckFullBWReached` (section 5.3.1.2), asked as a round begins: whether the rate has
    /// stopped growing.
    pub(super) fn is_flat(&mut self, ack: &Ack, view: &View) -> bool {
        // A round that the source limited counts neither way.
        let limited = is_limited(ack);
        let rate = match self.form.plateau {
            Plateau::Sample => usable(ack, view),
            Plateau::Largest => Some(self.model.bandwidth()),
        };
        let counts_limited = self.form.losses == Losses::Round;
        let Some(rate) = rate.filter(|_| !limited || counts_limited) else { return false };
        self.full.note(rate);
        self.full.is_full() && !limited
    }

    /// `CheckStartupHighLoss` (section 5.3.1.3): whether the round has lost too much.
    pub(super) fn loses_too_much(&mut self, ack: &Ack, round: RoundEnd, view: &View) -> bool {
        let Form { loss, gaps, losses, .. } = self.form;
        let too_much = match losses {
            Losses::Recovery => {
                // The round that ends now has the number before.
                let whole = self.lossy_since.is_some_and(|since| since + 1 < self.model.rounds());
                let all = round.delivered + round.lost;
                whole && round.gaps >= gaps && round.lost > all.scaled(loss, RATIO_ONE)
            }
            Losses::Round => {
                let flight = ack.packet.map_or(Bytes(0), |packet| packet.in_flight);
                let asked = self.full.flat_rounds() > 0 && !is_limited(ack) && flight > Bytes(0);
                asked && round.events >= gaps && round.lost > flight.scaled(loss, RATIO_ONE)
            }
        };
        if too_much {
            // Section 5.3.1.3: the larger of the pipe and of what the round delivered.
            let pipe = self.model.pipe(view).unwrap_or_default();
            self.inflight_longterm = Some(pipe.max(round.delivered));
        } else if !view.recovering && round.lost == Bytes(0) {
            self.lossy_since = None;
        }
        too_much
    }
}

/// Whether the source limited the sample.
pub(super) fn is_limited(ack: &Ack) -> bool {
    ack.sample.is_some_and(|sample| sample.app_limited)
}
