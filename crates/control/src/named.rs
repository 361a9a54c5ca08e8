//! The two policies of a control as one.

use firstflight_core::chosen::Chosen;
use firstflight_core::pair::Pair;

use crate::control::Control;
use crate::policy::{ChosenAvoidance, ChosenStartup};

/// The policies of a control that was named, for a [`firstflight_core::sender::Sender`].
pub type Named = Chosen<Box<Pair<ChosenStartup, ChosenAvoidance>>>;

impl Control {
    /// Its policies, in the state they are in.
    pub fn policies(self) -> Named {
        match (self.startup, self.avoidance) {
            (ChosenStartup::Core(startup), ChosenAvoidance::Core(avoidance)) => {
                Chosen::of(startup, avoidance, |startup, avoidance| {
                    any(ChosenStartup::Core(startup), ChosenAvoidance::Core(avoidance))
                })
            }
            (startup, avoidance) => Chosen::Any(any(startup, avoidance)),
        }
    }
}

fn any(
    startup: ChosenStartup,
    avoidance: ChosenAvoidance,
) -> Box<Pair<ChosenStartup, ChosenAvoidance>> {
    Box::new(Pair::new(startup, avoidance))
}
