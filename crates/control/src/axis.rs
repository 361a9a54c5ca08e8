//! The two sides of a control's `+`: the names of each, and the error for a name that it does not
//! have.

use firstflight_core::card::Card;
use firstflight_core::registry::{ALIASES, alias};

use crate::control::ControlProblem;
use crate::nearest::{hint, listed};
use crate::policy::{avoidances, startups};
use crate::spec::{ControlSpec, shown};

/// A side of the `+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The start-up, before the `+`.
    Startup,
    /// The avoidance, after the `+`.
    Avoidance,
}

impl Axis {
    /// Every policy of this side.
    pub(crate) fn table(self) -> Vec<&'static Card> {
        match self {
            Self::Startup => startups(),
            Self::Avoidance => avoidances(),
        }
    }

    /// The policy of that name, if there is one.
    pub(crate) fn card(self, name: &str) -> Option<&'static Card> {
        self.table().into_iter().find(|card| card.name == name)
    }

    /// The error for `found` in `control`, which is no name of this side.
    pub(crate) fn unknown(self, control: &str, found: &str) -> ControlProblem {
        let names = self.names();
        ControlProblem::Unknown {
            control: shown(control),
            axis: match self {
                Self::Startup => "start-up",
                Self::Avoidance => "avoidance",
            },
            found: shown(found),
            hint: self
                .of_the_other_side(found)
                .unwrap_or_else(|| hint(found, names.iter().copied())),
            accepted: listed(found, &names),
        }
    }

    /// Every name that can stand here; an alias stands where a start-up does.
    fn names(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.table().iter().map(|card| card.name).collect();
        if self == Self::Startup {
            names.extend(ALIASES.iter().map(|alias| alias.name));
            names.sort_unstable();
            names.dedup();
        }
        names
    }

    /// What to write instead of a name from the other side of the `+`.
    fn of_the_other_side(self, found: &str) -> Option<String> {
        match self {
            Self::Startup if found.starts_with("linux-") => {
                Some(", a name of the kernel's own controls, which run `--on linux`".to_owned())
            }
            Self::Startup => Self::Avoidance
                .card(found)
                .map(|_| format!(", an avoidance; did you mean `slow-start+{found}`")),
            Self::Avoidance if Self::Startup.card(found).is_some() => {
                let usual = Self::Startup.card(found)?.partner.unwrap_or("newreno");
                Some(format!(
                    ", a start-up, which stands before the `+`; `{found}` alone is \
                     `{found}+{usual}`"
                ))
            }
            Self::Avoidance => {
                let meant = alias(found)?.control.parse::<ControlSpec>().ok()?.avoidance?;
                Some(format!(", an alias; did you mean its avoidance `{meant}`"))
            }
        }
    }
}
