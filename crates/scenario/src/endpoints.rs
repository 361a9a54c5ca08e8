//! The network and the endpoints of a scenario in a few words, for headers, tables and figures.

use crate::profile::Recovery;
use crate::resolved::{Resolved, ResolvedBuffer, ResolvedEndpoint, ResolvedFlow};
use crate::{Rate, Size, Time};

impl Resolved {
    /// The profile and what it decides most: `profile linux: IW 10 packets, no ssthresh, recovery
    /// SACK`. Constants that differ from the profile's are named after it, and where groups of
    /// flows differ each value stands once.
    pub fn endpoints(&self) -> String {
        let profile = self.endpoint.profile;
        let changed = changed(&self.endpoint);
        let but = match changed.is_empty() {
            true => String::new(),
            false => format!(" with its own {}", changed.join(", ")),
        };
        let iw = self.each(|flow| self.window(flow.iw_bytes.value));
        let ssthresh = self.each(|flow| match flow.ssthresh_bytes.value {
            Some(bytes) => format!("ssthresh {}", self.window(bytes)),
            None => "no ssthresh".to_owned(),
        });
        let recovery = self.each(|flow| flow.recovery.value.title().to_owned());
        format!("profile {profile}{but}: IW {iw}, {ssthresh}, recovery {recovery}")
    }

    /// The network: `40Mbps, 100ms, buffer 500 packets, 20s`, by its slowest link and first flows.
    pub fn path(&self) -> String {
        let Some(link) = self.links.get(self.slowest_link()) else {
            return "no link".to_owned();
        };
        let buffer = match link.buffer {
            ResolvedBuffer::Packets(packets) => format!("{packets} packets"),
            ResolvedBuffer::Bytes(bytes) => format!("{bytes} bytes"),
        };
        let rate = Rate::from_bps(link.rate_bps);
        let rtt = Time::from_ns(self.flows.first().map_or(0, |flow| flow.rtt_ns));
        let duration = Time::from_ns(self.duration_ns);
        let udp = self.udp.iter().map(|source| Rate::from_bps(source.rate_bps));
        let udp: String = udp.map(|rate| format!(", UDP at {rate}")).collect();
        format!("{rate}, {rtt}, buffer {buffer}, {duration}{udp}")
    }

    /// A window as people write it: whole packets, or bytes.
    pub fn window(&self, bytes: u64) -> String {
        match (bytes / self.packet_bytes.max(1), bytes % self.packet_bytes.max(1)) {
            (1, 0) => "1 packet".to_owned(),
            (packets, 0) => format!("{packets} packets"),
            _ => Size::from_bytes(bytes).to_string(),
        }
    }

    /// What `say` answers for the groups of flows, each distinct answer once, joined by `or`.
    fn each(&self, say: impl Fn(&ResolvedFlow) -> String) -> String {
        let mut said: Vec<String> = Vec::new();
        for words in self.flows.iter().map(say) {
            if !said.contains(&words) {
                said.push(words);
            }
        }
        said.join(" or ")
    }
}

impl Recovery {
    /// Its name as papers write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Tahoe => "Tahoe",
            Self::Reno => "Reno",
            Self::NewReno => "NewReno",
            Self::Sack => "SACK",
            Self::Rack => "RACK",
            Self::Quic => "QUIC",
        }
    }
}

/// The constants that are not the profile's, by their keys.
fn changed(endpoint: &ResolvedEndpoint) -> Vec<&'static str> {
    let base = endpoint.profile.constants();
    let timer = |ns: u64, base: Time| ns != base.ns();
    let all = [
        ("syn", endpoint.syn != base.syn),
        ("rto_initial", timer(endpoint.rto_initial_ns, base.rto_initial)),
        ("rto_min", timer(endpoint.rto_min_ns, base.rto_min)),
        ("rto_max", timer(endpoint.rto_max_ns, base.rto_max)),
        ("rto_granularity", timer(endpoint.rto_granularity_ns, base.rto_granularity)),
        ("delayed_ack_timer", timer(endpoint.delayed_ack_timer_ns, base.delayed_ack_timer)),
        ("limited_transmit", endpoint.limited_transmit != base.limited_transmit),
        ("impatient", endpoint.impatient != base.impatient),
        ("progress_ends_backoff", endpoint.progress_ends_backoff != base.progress_ends_backoff),
        ("ack_compression", endpoint.ack_compression != base.ack_compression),
        ("growth_limit", endpoint.growth_limit != base.growth_limit),
        ("ecn", endpoint.ecn),
        ("slow_start_after_idle", endpoint.slow_start_after_idle != base.slow_start_after_idle),
        ("pacing", endpoint.pacing != base.pacing),
        ("tso", endpoint.tso),
        (
            "buffer_counts_in_service",
            endpoint.buffer_counts_in_service != base.buffer_counts_in_service,
        ),
    ];
    all.into_iter().filter_map(|(key, differs)| differs.then_some(key)).collect()
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn said(text: &str) -> String {
        Scenario::parse(&format!("controls = ['hoe']\n{text}"), "x.toml")
            .and_then(|scenario| scenario.resolve())
            .unwrap()
            .endpoints()
    }

    #[test]
    fn the_profile_and_what_was_set_alone_are_said() {
        assert_eq!(said(""), "profile linux: IW 10 packets, no ssthresh, recovery RACK");
        assert_eq!(
            said("profile = 'rfc'"),
            "profile rfc: IW 1 packet, ssthresh 32 packets, recovery NewReno"
        );
        assert_eq!(
            said("profile = 'ns2'\nsyn = false\nrto_min = '1s'\niw = '1500B'"),
            "profile ns2 with its own syn, rto_min: IW 1500B, ssthresh 32 packets, recovery NewReno"
        );
    }

    #[test]
    fn groups_that_differ_are_told_apart() {
        let flows = "[[flow]]\niw = '3pkt'\n[[flow]]\n[[flow]]\nssthresh = '9pkt'";
        assert_eq!(
            said(flows),
            "profile linux: IW 3 packets or 10 packets, no ssthresh or ssthresh 9 packets, \
             recovery RACK"
        );
    }
}
