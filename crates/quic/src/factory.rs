//! What a stack asks for a controller of each new path.

use std::any::type_name;
use std::marker::PhantomData;
use std::time::Instant;

use firstflight_control::{Control, ControlProblem, Named, control::missing};
use firstflight_core::hint::PathHint;
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::sender::{Config, Sender};
use firstflight_core::units::{self, Bytes};

use crate::constants::Constants;
use crate::controller::Controller;
use crate::stack::Stack;

/// Builds a [`Controller`] for every path of a connection: a start-up, an avoidance, and what the
/// endpoint fixes.
///
/// Windows are in bytes of UDP payload, QUIC's headers included, because that is what stacks count.
#[derive(Clone, Debug)]
pub struct Factory<P, S> {
    policies: P,
    needs: Needs,
    initial_window: Option<u64>,
    initial_ssthresh: u64,
    max_window: u64,
    hint: Option<PathHint>,
    stack: PhantomData<S>,
}

impl<S: Stack> Factory<Named, S> {
    /// The control of that name: `quinn::control` and `noq::control` say how it is written.
    ///
    /// # Errors
    /// As of those.
    pub fn named(name: &str) -> Result<Self, ControlProblem> {
        Control::named(name)?.try_into()
    }
}

impl<U: Startup + Clone, A: Avoidance + Clone, S: Stack> Factory<Pair<U, A>, S> {
    /// The pair with RFC 9002's initial window, no ssthresh and no limit on the window.
    ///
    /// # Errors
    /// One of them needs what the stack does not provide: routers, counts of marks, a timer, or
    /// repeats.
    pub fn new(startup: U, avoidance: A) -> Result<Self, ControlProblem> {
        let types = [short_name::<U>(), short_name::<A>()];
        let needs = [(types[0], startup.needs()), (types[1], avoidance.needs())];
        missing(&types.join("+"), S::NAME, Self::AVAILABLE, &needs)?;
        Ok(Self::of(Pair::new(startup, avoidance)))
    }
}

impl<P: Policies + Clone, S: Stack> Factory<P, S> {
    /// What the stack provides, and the memory that a service can hand over.
    const AVAILABLE: Facilities = S::PROVIDES.and(Facilities::MEMORY);

    /// The policies, whose needs have been compared with what is available.
    fn of(policies: P) -> Self {
        let needs = policies.needs();
        let (initial_window, initial_ssthresh, max_window) = (None, u64::MAX, u64::MAX);
        let (hint, stack) = (None, PhantomData);
        Self { policies, needs, initial_window, initial_ssthresh, max_window, hint, stack }
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

    /// With the first window and the first ssthresh of these constants, as far as they are given.
    #[must_use]
    pub fn with_constants(self, constants: &Constants) -> Self {
        Self {
            initial_window: constants.initial_window.or(self.initial_window),
            initial_ssthresh: constants.initial_ssthresh.unwrap_or(self.initial_ssthresh),
            ..self
        }
    }

    /// The largest window, in bytes; unlimited without it.
    #[must_use]
    pub fn max_window(self, bytes: u64) -> Self {
        Self { max_window: bytes, ..self }
    }

    /// Hands what an earlier connection over the same path learned
    /// ([`Controller::learned`]) to every controller built, before its first packet. Whether it
    /// proved wrong is read from the connection's controller ([`Controller::refutes_hint`]).
    #[must_use]
    pub fn hint(self, hint: PathHint) -> Self {
        self.hinted(Some(hint))
    }

    /// [`Factory::hint`] where there may be none, as of a [`Visit`](crate::Visit).
    #[must_use]
    pub fn hinted(self, hint: Option<PathHint>) -> Self {
        Self { hint, ..self }
    }

    /// What its controllers are provided with.
    pub fn provides(&self) -> Facilities {
        match self.hint {
            Some(PathHint::Own(_) | PathHint::Shared(_)) => Self::AVAILABLE,
            Some(PathHint::Granted(_)) | None => S::PROVIDES,
        }
    }

    /// What the control would use and does not get: it runs, but not as its source describes.
    pub fn missing(&self) -> Facilities {
        self.needs.all().without(self.provides())
    }

    /// A controller for a path that begins at `now` with packets of `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> Controller<P, S> {
        let mss = Bytes(mtu.into());
        let config = Config {
            mss,
            initial_window: Bytes(self.initial_window.unwrap_or_else(|| rfc_window(mtu))),
            initial_ssthresh: Bytes(self.initial_ssthresh),
            max_cwnd: Bytes(self.max_window),
            limit_growth_to_flight: true,
            // The core hears of each packet.
            segment_per_ack: true,
            // Where no policy sets a rate, the stack's pacer has its own.
            paces: false,
        };
        let mut sender = Sender::of(self.policies.clone(), config);
        if let Some(hint) = &self.hint {
            sender.on_hint(units::Instant(0), hint);
        }
        Controller::new(sender, now, mtu)
    }
}

impl<S: Stack> TryFrom<Control> for Factory<Named, S> {
    type Error = ControlProblem;

    /// The stack paces, and a receiver need not acknowledge every packet.
    fn try_from(mut control: Control) -> Result<Self, ControlProblem> {
        control.suggest_weights_per_packet();
        let (control, _) = control.on(S::NAME, Self::AVAILABLE)?;
        Ok(Self::of(control.policies()))
    }
}

/// Both stacks ask for a controller in one way.
#[cfg(any(feature = "quinn", feature = "noq"))]
macro_rules! builds {
    ($stack:ident, $ours:ty) => {
        impl<P> $stack::congestion::ControllerFactory for Factory<P, $ours>
        where
            P: Policies + Clone + Send + Sync + 'static,
        {
            fn build(
                self: std::sync::Arc<Self>,
                now: Instant,
                current_mtu: u16,
            ) -> Box<dyn $stack::congestion::Controller> {
                Box::new(self.controller(now, current_mtu))
            }
        }
    };
}

#[cfg(feature = "quinn")]
builds!(quinn_proto, crate::quinn::Quinn);
#[cfg(feature = "noq")]
builds!(noq_proto, crate::noq::Noq);

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

#[cfg(all(test, feature = "quinn"))]
mod tests {
    use firstflight_control::add_startup;
    use firstflight_core::avoidance::{NewReno, Xcp};
    use firstflight_core::card::{Card, Listed};
    use firstflight_core::event::Ack;
    use firstflight_core::hint::Learned;
    use firstflight_core::knob::Knobs;
    use firstflight_core::policy::{Observer, Step};
    use firstflight_core::startup::{Bbr, QuickStart, SlowStart};
    use firstflight_core::units::Span;
    use firstflight_core::view::{View, Window};
    use quinn_proto::congestion::Controller as _;

    use super::*;
    use crate::quinn::{Factory, control};

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
    fn what_needs_routers_is_refused_by_name_by_type_and_as_a_control_in_one_sentence() {
        let starts = |problem: ControlProblem, start: &str| {
            let problem = problem.to_string();
            assert!(problem.starts_with(start), "{problem}");
        };
        let xcp = "needs routers that tell changes of the rate, which quic does not provide";
        let by_name = control("slow-start+xcp").unwrap_err();
        starts(by_name, &format!("control `slow-start+xcp`: xcp {xcp}"));
        let by_type = Factory::new(SlowStart::default(), Xcp::default()).unwrap_err();
        starts(by_type, &format!("control `SlowStart+Xcp`: Xcp {xcp}"));
        let by_type = Factory::new(QuickStart::default(), NewReno::default()).unwrap_err();
        starts(by_type, "control `QuickStart+NewReno`: QuickStart needs routers that grant a rate");
        let tcp_ebn = Control::named("tcp-ebn").unwrap();
        starts(Factory::try_from(tcp_ebn).unwrap_err(), "control `tcp-ebn`: tcp-ebn needs routers");
        assert!(Factory::new(SlowStart::default(), NewReno::default()).is_ok());
    }

    /// From outside: it cannot begin without a rate that routers grant.
    #[derive(Clone, Debug, Default)]
    struct Outside;

    impl Listed for Outside {
        const CARD: Card = Card::new("outside", "asks routers", "this test").with("newreno");
    }

    impl Knobs for Outside {}

    impl Observer for Outside {
        fn needs(&self) -> Needs {
            Needs::required(Facilities::GRANTS)
        }
    }

    impl Startup for Outside {
        fn step(&mut self, _ack: &Ack, view: &View) -> Step {
            view.window.hold()
        }
    }

    #[test]
    fn a_policy_from_outside_is_refused_by_name_and_by_type_in_one_sentence() {
        add_startup::<Outside>().unwrap();
        let sentence = |problem: ControlProblem, control: &str, policy: &str| {
            let problem = problem.to_string();
            let start = format!("control `{control}`: {policy} ");
            let rest = problem.strip_prefix(&start);
            rest.unwrap_or_else(|| panic!("{problem}")).to_owned()
        };
        let by_name = sentence(control("outside").unwrap_err(), "outside", "outside");
        let by_type = Factory::new(Outside, NewReno::default()).unwrap_err();
        let by_type = sentence(by_type, "Outside+NewReno", "Outside");
        assert_eq!(by_name, by_type);
        let start = "needs routers that grant a rate, which quic does not provide";
        assert!(by_name.starts_with(start), "{by_name}");
    }

    #[test]
    fn what_a_control_has_to_do_without_is_the_same_by_name_and_by_type() {
        let by_type = Factory::new(Bbr::default(), NewReno::default()).unwrap();
        assert_eq!(by_type.missing(), Facilities::GAPS);
        assert_eq!(control("bbr+newreno").unwrap().missing(), Facilities::GAPS);
        assert_eq!(control("paced").unwrap().missing(), Facilities::NONE);
        let without = control("careful-resume").unwrap();
        assert_eq!(without.missing(), Facilities::WAKE_UPS | Facilities::MEMORY);
        assert_eq!(without.hint(hint(1, 1)).missing(), Facilities::WAKE_UPS);
    }

    #[test]
    fn a_hint_reaches_the_start_up_before_the_first_packet() {
        let cached = control("fast-start").unwrap().hint(hint(40, 30));
        assert_eq!(first_window(cached, 1_200), 39 * 1_200, "one packet below the last window");
        assert_eq!(first_window(control("fast-start").unwrap(), 1_200), 12_000);
    }

    /// What a connection with packets of 1200 bytes learned.
    fn hint(cwnd: u64, ssthresh: u64) -> PathHint {
        let window = Window { cwnd: Bytes(cwnd * 1_200), ssthresh: Bytes(ssthresh * 1_200) };
        let rtt = Span::from_millis(50);
        let (delivered, age) = (Bytes(1_000_000), Span::from_secs(1));
        let (min_rtt, per_round) = (rtt, window.cwnd);
        PathHint::Own(Learned { window, rtt, min_rtt, delivered, per_round, rate: None, age })
    }

    #[test]
    fn no_window_is_smaller_than_two_packets() {
        assert_eq!(first_window(control("newreno").unwrap().initial_window(1), 1_200), 2_400);
    }
}
