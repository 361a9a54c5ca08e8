//! quinn's own controllers under names of their own, so that tables can list them beside ours.

use std::sync::Arc;

use firstflight_control::ControlProblem;
use firstflight_control::stack::{OF_QUINN, StackControl};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

use crate::factory::control;

/// quinn's own controllers.
pub const OWN: &[StackControl] = &[
    StackControl {
        name: "quinn-newreno",
        summary: "quinn's own NewReno",
        source: "quinn-proto 0.11, RFC 9002 section 7",
    },
    StackControl {
        name: "quinn-cubic",
        summary: "quinn's own CUBIC, its default",
        source: "quinn-proto 0.11, RFC 8312",
    },
    StackControl {
        name: "quinn-bbr",
        summary: "quinn's own BBR; its gain cycle is the system's to draw: no replay",
        source: "quinn-proto 0.11, experimental",
    },
];

/// The control of that name: one of firstflight's, or one of quinn's own as [`OWN`] names them.
///
/// # Errors
/// As of [`control`](crate::control()).
///
/// ```
/// for name in ["astart", "mstart+newreno", "quinn-cubic"] {
///     let factory = firstflight_quic::any(name)?;
///     quinn::TransportConfig::default().congestion_controller_factory(factory);
/// }
/// # Ok::<(), firstflight_quic::ControlProblem>(())
/// ```
pub fn any(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, ControlProblem> {
    let name = name.trim();
    match OfQuinn::named(name) {
        Some(own) => Ok(own.factory(None)),
        None if name.starts_with(OF_QUINN) => {
            Err(StackControl::unknown(OWN, "controller of quinn's own", name, name))
        }
        None => Ok(Arc::new(control(name)?)),
    }
}

/// One of quinn's own controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfQuinn {
    /// NewReno.
    NewReno,
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
}

impl OfQuinn {
    /// The one of a name of [`OWN`].
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "quinn-newreno" => Some(Self::NewReno),
            "quinn-cubic" => Some(Self::Cubic),
            "quinn-bbr" => Some(Self::Bbr),
            _ => None,
        }
    }

    /// Its factory, with this first window in bytes where one is given.
    pub fn factory(self, window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
        macro_rules! with_window {
            ($config:ty) => {{
                let mut config = <$config>::default();
                window.map(|window| config.initial_window(window));
                Arc::new(config)
            }};
        }
        match self {
            Self::NewReno => with_window!(NewRenoConfig),
            Self::Cubic => with_window!(CubicConfig),
            Self::Bbr => with_window!(BbrConfig),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_table_is_known_and_a_slip_is_told() {
        OWN.iter().for_each(|own| assert!(any(own.name).is_ok(), "{}", own.name));
        let problem = any("quinn-cubix").err().unwrap().to_string();
        assert!(problem.contains("did you mean `quinn-cubic`"), "{problem}");
    }
}
