//! What quinn asks for a controller of each new path.

use std::any::type_name;
use std::sync::Arc;
use std::time::Instant;

use firstflight_control::{Control, ControlProblem};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::Bytes;
use quinn_proto::congestion::ControllerFactory;

use crate::controller::Controller;

/// Builds a [`Controller`] for every path of a connection: a start-up, an avoidance, and what the
/// endpoint fixes.
///
/// Windows are in bytes of UDP payload, QUIC's headers included, because that is what quinn counts.
#[derive(Clone, Debug)]
pub struct Factory<S = AnyStartup, A = AnyAvoidance> {
    startup: S,
    avoidance: A,
    paced: bool,
    initial_window: Option<u64>,
    initial_ssthresh: u64,
    max_window: u64,
    rate_samples: bool,
}

/// The control of that name: a start-up or an alias, its knobs, and perhaps an avoidance, as in
/// `astart`, `hoe+newreno` or `slow-start(iw=32pkt)+cubic`. `firstflight list` has all names.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, a value out of range, or a control
/// that needs the routers of the path.
///
/// ```
/// assert!(!firstflight_quic::control("astart")?.paced());
/// let wrong = firstflight_quic::control("astrat").unwrap_err();
/// assert!(wrong.to_string().contains("did you mean `astart`"));
/// # Ok::<(), firstflight_quic::ControlProblem>(())
/// ```
pub fn control(name: &str) -> Result<Factory, ControlProblem> {
    Control::named(name)?.try_into()
}

impl<S: Startup + Clone, A: Avoidance + Clone> Factory<S, A> {
    /// The pair with RFC 9002's initial window, no ssthresh and no limit on the window.
    ///
    /// # Errors
    /// One of them needs the routers of the path, and a QUIC connection hears none.
    pub fn new(startup: S, avoidance: A) -> Result<Self, ControlProblem> {
        let needs = [startup.needs_routers(), avoidance.needs_routers()];
        let types = [short_name::<S>(), short_name::<A>()];
        if let Some(place) = needs.into_iter().position(|needs| needs) {
            let (control, policy) = (types.join("+"), types[place]);
            return Err(ControlProblem::NeedsRouters { control, policy });
        }
        Ok(Self {
            startup,
            avoidance,
            paced: false,
            initial_window: None,
            initial_ssthresh: u64::MAX,
            max_window: u64::MAX,
            rate_samples: false,
        })
    }

    /// The first window, in bytes, where the start-up has none of its own. Without it ten packets,
    /// but no more than 14,720 bytes (RFC 9002 section 7.2).
    #[must_use]
    pub fn initial_window(self, bytes: u64) -> Self {
        Self { initial_window: Some(bytes), ..self }
    }

    /// The first ssthresh, in bytes, where the start-up has none of its own; unlimited without it.
    #[must_use]
    pub fn initial_ssthresh(self, bytes: u64) -> Self {
        Self { initial_ssthresh: bytes, ..self }
    }

    /// The largest window, in bytes; unlimited without it.
    #[must_use]
    pub fn max_window(self, bytes: u64) -> Self {
        Self { max_window: bytes, ..self }
    }

    /// Takes delivery-rate samples for the policies
    /// ([`Ack::sample`](firstflight_core::event::Ack::sample)). None of firstflight's reads them,
    /// and they cost a note per packet, so they are off without this.
    #[must_use]
    pub fn rate_samples(self) -> Self {
        Self { rate_samples: true, ..self }
    }

    /// The control sets a pacing rate, which quinn 0.11 does not follow.
    pub fn paced(&self) -> bool {
        self.paced
    }

    /// A controller for a path that begins at `now` with packets of `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> Controller<S, A> {
        let mss = Bytes(mtu.into());
        let config = Config {
            mss,
            initial_window: Bytes(self.initial_window.unwrap_or_else(|| rfc_window(mtu))),
            initial_ssthresh: Bytes(self.initial_ssthresh),
            max_cwnd: Bytes(self.max_window),
            limit_growth_to_flight: true,
        };
        let sender = Sender::new(self.startup.clone(), self.avoidance.clone(), config);
        Controller::new(sender, now, mtu, self.rate_samples)
    }
}

impl TryFrom<Control> for Factory {
    type Error = ControlProblem;

    fn try_from(control: Control) -> Result<Self, ControlProblem> {
        let Control { startup, avoidance, paced, .. } = control.without_routers()?;
        Ok(Self { paced, ..Self::new(startup, avoidance)? })
    }
}

impl<S, A> ControllerFactory for Factory<S, A>
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    fn build(
        self: Arc<Self>,
        now: Instant,
        current_mtu: u16,
    ) -> Box<dyn quinn_proto::congestion::Controller> {
        Box::new(self.controller(now, current_mtu))
    }
}

/// `Xcp` for `firstflight_core::startup::xcp::Xcp`.
fn short_name<T>() -> &'static str {
    type_name::<T>().rsplit("::").next().unwrap_or_default()
}

/// RFC 9002 section 7.2: ten times the packet, limited to the larger of 14,720 bytes and two
/// packets.
fn rfc_window(mtu: u16) -> u64 {
    let mtu = u64::from(mtu);
    (mtu * 10).min((mtu * 2).max(14_720))
}

#[cfg(test)]
mod tests {
    use firstflight_core::avoidance::{NewReno, Xcp};
    use firstflight_core::startup::{QuickStart, SlowStart};
    use quinn_proto::congestion::Controller as _;

    use super::*;

    fn first_window(factory: Factory, mtu: u16) -> u64 {
        factory.controller(Instant::now(), mtu).metrics().congestion_window
    }

    #[test]
    fn the_first_window_is_rfc_9002s_unless_the_endpoint_or_the_start_up_has_one() {
        let newreno = || control("newreno").unwrap();
        assert_eq!(
            [1_200, 1_472, 9_000].map(|mtu| first_window(newreno(), mtu)),
            [12_000, 14_720, 18_000]
        );
        assert_eq!(first_window(newreno().initial_window(50_000), 1_200), 50_000);
        let own = control("slow-start(iw=4pkt)").unwrap().initial_window(50_000);
        assert_eq!(first_window(own, 1_200), 4_800);
    }

    #[test]
    fn what_needs_routers_is_refused_by_name_by_type_and_as_a_control() {
        let told = |problem: ControlProblem, start: &str| {
            let problem = problem.to_string();
            assert!(problem.starts_with(start), "{problem}");
        };
        told(control("slow-start+xcp").unwrap_err(), "control `slow-start+xcp`: xcp needs routers");
        let by_type = Factory::new(SlowStart::default(), Xcp::default()).unwrap_err();
        told(by_type, "control `SlowStart+Xcp`: Xcp needs routers");
        let by_type = Factory::new(QuickStart::default(), NewReno::default()).unwrap_err();
        told(by_type, "control `QuickStart+NewReno`: QuickStart needs routers");
        let tcp_ebn = Control::named("tcp-ebn").unwrap();
        told(Factory::try_from(tcp_ebn).unwrap_err(), "control `tcp-ebn`: tcp-ebn needs routers");
        assert!(Factory::new(SlowStart::default(), NewReno::default()).is_ok());
    }

    #[test]
    fn no_window_is_smaller_than_two_packets() {
        assert_eq!(first_window(control("newreno").unwrap().initial_window(1), 1_200), 2_400);
    }
}
