//! The constants of the endpoints.

use firstflight_control::quantity::Time;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::Completion;
use super::limits::{HOUR, NANOSECOND, SHORTEST};
use crate::error::ScenarioError;
use crate::keys::Switches;
use crate::profile::{Constants, EcnFeedback, FastOpen, Ns2Release, Profile, Recovery};
use crate::scenario::Scenario;

/// The constants of the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// The profile that gave the defaults.
    pub profile: Profile,
    /// The release of ns-2 whose constants they are; results have the key only where it is written.
    pub ns2_release: Option<Ns2Release>,
    /// The constants. Results have no value that its row hides.
    pub switches: Switches,
}

impl Endpoint {
    /// The constants of the profile, and of its release.
    pub fn usual(&self) -> &'static Constants {
        self.ns2_release.map_or_else(|| self.profile.constants(), Ns2Release::constants)
    }
}

impl Serialize for Endpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("profile", &self.profile)?;
        if let Some(release) = self.ns2_release {
            map.serialize_entry("ns2_release", &release)?;
        }
        self.switches.serialize_into(&mut map, &self.usual().switches)?;
        map.end()
    }
}

/// The release of ns-2 that is written, which means nothing to another profile.
pub(super) fn release(scenario: &Scenario) -> Option<Ns2Release> {
    let is_ns2 = scenario.endpoint.profile == Some(Profile::Ns2);
    scenario.endpoint.ns2_release.filter(|_| is_ns2)
}

impl Completion<'_> {
    pub(super) fn endpoint(&self) -> Result<Endpoint, ScenarioError> {
        let own = &self.scenario.endpoint;
        let mut base = self.constants.switches;
        if own.flow.recovery == Some(Recovery::Ns2Linux) {
            // TCP/Linux in ns-2 counts milliseconds once it has been given a control.
            base.rto_granularity = TICK_OF_NS2_LINUX;
        }
        let switches = own.switches.or(&base);
        self.size("ack_size", switches.ack_size, 1)?;
        for (key, time) in switches.times() {
            let least = if matches!(key, "rto_min" | "rto_max") { SHORTEST } else { NANOSECOND };
            self.time(key, time, least..=HOUR)?;
        }
        let profile = own.profile.unwrap_or_default();
        if switches.fast_open != FastOpen::Off && !switches.syn {
            let problem = "there is no SYN exchange to save; accepted: `syn = true` with it";
            return Err(self.error("fast_open", problem));
        }
        if switches.ecn && profile == Profile::Ns2 {
            let problem = "found profile ns2; accepted: linux, rfc or quic";
            return Err(self.error("ecn", problem));
        }
        if switches.wake_up && profile == Profile::Ns2 {
            let problem = "found profile ns2, whose ties are ns-2's; accepted: linux or rfc";
            return Err(self.error("wake_up", problem));
        }
        if own.switches.ecn_feedback.is_some() && profile == Profile::Quic {
            let problem = "found profile quic; accepted: none, ACK frames of QUIC count marks";
            return Err(self.error("ecn_feedback", problem));
        }
        if switches.ecn_feedback != EcnFeedback::default() && !switches.ecn {
            let problem = "no packet can be marked; accepted: `ecn = true` with it";
            return Err(self.error("ecn_feedback", problem));
        }
        if switches.tso && profile != Profile::Linux {
            let problem = format!("found profile {profile}; accepted: linux");
            return Err(self.error("tso", problem));
        }
        if switches.rto_min > switches.rto_max {
            let (key, most) = match own.switches.rto_max {
                Some(_) => ("rto_max", "at least rto_min"),
                None => ("rto_min", "at most rto_max"),
            };
            return Err(self.error(key, format!("rto_min is above rto_max; accepted: {most}")));
        }
        Ok(Endpoint { profile, ns2_release: release(self.scenario), switches })
    }
}

/// `1 / JIFFY_RATIO` of its `tcp-linux.cc`.
const TICK_OF_NS2_LINUX: Time = Time::from_ms(1);
