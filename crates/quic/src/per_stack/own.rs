//! A stack's own controllers under names of their own, so that tables can list them together with
//! ours.

use std::sync::Arc;

use firstflight_control::ControlProblem;
use firstflight_control::stack::StackControl;

use super::proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use super::{BbrConfig, ITS_OWN, OF_STACK, OWN, control};

/// The control of that name: one of firstflight's, or one of the stack's own as [`OWN`] names them.
///
/// # Errors
/// As of [`control`](super::control).
pub fn any(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, ControlProblem> {
    let name = name.trim();
    match OfStack::named(name) {
        Some(own) => Ok(own.factory(None)),
        None if name.starts_with(OF_STACK) => Err(StackControl::unknown(OWN, ITS_OWN, name, name)),
        None => Ok(Arc::new(control(name)?)),
    }
}

/// One of the stack's own controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfStack {
    /// NewReno.
    NewReno,
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
}

impl OfStack {
    /// The one of a name of [`OWN`].
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_prefix(OF_STACK)? {
            "newreno" => Some(Self::NewReno),
            "cubic" => Some(Self::Cubic),
            "bbr" => Some(Self::Bbr),
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
    fn every_name_in_the_table_is_known_and_a_slip_gets_the_nearest() {
        OWN.iter().for_each(|own| assert!(any(own.name).is_ok(), "{}", own.name));
        let problem = any(&format!("{OF_STACK}cubix")).err().unwrap().to_string();
        assert!(problem.contains(&format!("did you mean `{OF_STACK}cubic`")), "{problem}");
    }
}
