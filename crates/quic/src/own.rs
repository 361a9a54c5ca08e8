//! quinn's own controllers under names of their own, so that tables can list them beside ours.

use std::sync::Arc;

use firstflight_control::ControlProblem;
use firstflight_control::own::{OF_QUINN, Own};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

use crate::factory::control;

/// quinn's own controllers.
pub const OWN: &[Own] = &[
    Own {
        name: "quinn-newreno",
        summary: "quinn's own NewReno",
        source: "quinn-proto 0.11, RFC 9002 section 7",
    },
    Own {
        name: "quinn-cubic",
        summary: "quinn's own CUBIC, its default",
        source: "quinn-proto 0.11, RFC 8312",
    },
    Own {
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
    Ok(match name {
        "quinn-newreno" => Arc::new(NewRenoConfig::default()),
        "quinn-cubic" => Arc::new(CubicConfig::default()),
        "quinn-bbr" => Arc::new(BbrConfig::default()),
        _ if name.starts_with(OF_QUINN) => {
            return Err(Own::unknown(OWN, "controller of quinn's own", name, name));
        }
        _ => Arc::new(control(name)?),
    })
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
