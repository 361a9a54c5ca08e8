//! The network and the endpoints of a scenario in a few words, for headers, tables and figures.

use std::collections::HashSet;

use crate::complete::{Buffer, Complete, Flow, Link, PACKET, QUIC_PACKET, default_access_rate};
use crate::profile::Recovery;
use crate::{Loss, Profile, Size, Time};

/// Describes a group of flows.
type Words<'a> = &'a dyn Fn(&Flow) -> String;

impl Complete {
    /// The profile and what it decides most: `profile linux: IW 10 packets, no ssthresh, recovery
    /// SACK`. Constants that differ from the profile's are named after it, and where groups of
    /// flows differ each value stands once.
    pub fn endpoints(&self) -> String {
        let profile = self.endpoint.profile;
        let release = self.endpoint.ns2_release.map_or(String::new(), |it| format!(" of ns-{it}"));
        let changed = self.endpoint.switches.changed(&self.endpoint.usual().switches);
        let changed: Vec<&str> = changed.iter().map(|(key, _)| key.name).collect();
        let but = match changed.is_empty() {
            true => String::new(),
            false => format!(" with its own {}", changed.join(", ")),
        };
        let iw = self.each(|flow| self.window(flow.iw.value));
        let ssthresh = self.each(|flow| match flow.ssthresh.value {
            Some(size) => format!("ssthresh {}", self.window(size)),
            None => "no ssthresh".to_owned(),
        });
        let recovery = self.each(|flow| flow.recovery.value.title().to_owned());
        format!("profile {profile}{release}{but}: IW {iw}, {ssthresh}, recovery {recovery}")
    }

    /// The network: `40Mbps, 100ms, buffer 500 packets, 20s`, by its slowest link and first flows.
    pub fn path(&self) -> String {
        let Some(link) = self.links.get(self.slowest_link()) else {
            return "no link".to_owned();
        };
        let buffer = match link.buffer {
            Buffer::Packets(packets) => format!("{packets} packets"),
            Buffer::Bytes(bytes) => format!("{bytes} bytes"),
            Buffer::Unlimited => "without a limit".to_owned(),
        };
        let (rate, duration) = (link.rate, self.duration);
        let rtt = self.rtt();
        let udp: String = self.udp.iter().map(|source| format!(", {}", source.words())).collect();
        // A transfer ends when it is done.
        let all_end = self.flows.iter().all(|flow| flow.size.is_some());
        let most = if all_end { "at most " } else { "" };
        let unusual: String = self.unusual(link).iter().map(|words| format!(", {words}")).collect();
        format!("{rate}, {rtt}, buffer {buffer}, {most}{duration}{udp}{unusual}")
    }

    /// The round trip of the first flow and, where access links are part of it, how much they are:
    /// `103ms (100ms and 4 x 750us of access)`.
    fn rtt(&self) -> String {
        let Some(first) = self.flows.first() else { return Time::from_ns(0).to_string() };
        let rtt = first.rtt;
        if !self.any(|flow| flow.access_delay > Time::ZERO) {
            return rtt.to_string();
        }
        let without = Time::from_ns(rtt.ns().saturating_sub(4 * first.access_delay.ns()));
        let access = self.each(|flow| flow.access_delay.to_string());
        format!("{rtt} ({without} and 4 x {access} of access)")
    }

    /// Every other key of the path and its flows that differs from its default, in a few words
    /// each.
    fn unusual(&self, slowest: &Link) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |differs: bool, words: String| {
            if differs {
                all.push(words);
            }
        };
        for link in &self.links {
            let place =
                if self.links.len() > 1 { format!(" at {}", link.name) } else { String::new() };
            add(link.loss != Loss::default(), format!("loss {}{place}", link.loss));
            add(!link.drop.is_empty(), format!("{} chosen drops{place}", link.drop.len()));
            let marks = link.ecn_threshold.unwrap_or_default();
            add(marks > 0, format!("marks from {marks} packets on{place}"));
            if let Some(queue) = &link.queue {
                add(true, format!("queue {}{place}", queue.written));
            }
            for words in link.words() {
                add(true, format!("{words}{place}"));
            }
        }
        let usual_packet =
            if self.endpoint.profile == Profile::Quic { QUIC_PACKET } else { PACKET };
        add(self.packet != usual_packet, format!("packets of {}", self.packet));
        add(self.headers > Size::default(), format!("headers {}", self.headers));
        let access = default_access_rate(slowest.rate);
        let ack = self.endpoint.profile.constants().flow.delayed_ack;
        let each: [(bool, Words<'_>); 10] = [
            (self.any(|f| f.size.is_some()), &|f| match f.size {
                Some(size) => format!("size {size}"),
                None => "no size".to_owned(),
            }),
            (self.any(|f| f.reverse), &|f| {
                if f.reverse { "against it".to_owned() } else { "along the path".to_owned() }
            }),
            (self.any(|f| f.files.is_some()), &|f| {
                if f.files.is_some() { "files".to_owned() } else { "no files".to_owned() }
            }),
            (self.any(|f| f.delayed_ack.value != ack), &|f| {
                format!("an ACK per {} packets", f.delayed_ack.value)
            }),
            (self.any(|f| f.split_acks != 1), &|f| format!("ACKs in {} parts", f.split_acks)),
            (self.any(|f| f.receiver_window.is_some()), &|f| match f.receiver_window {
                Some(size) => format!("receiver window {}", self.window(size)),
                None => "no receiver window".to_owned(),
            }),
            (self.any(|f| f.send_buffer.is_some()), &|f| match f.send_buffer {
                Some(size) => format!("send buffer {}", self.window(size)),
                None => "no limit of the send buffer".to_owned(),
            }),
            (self.any(|f| f.acks_per_rtt > 0), &|f| format!("{} ACKs per RTT", f.acks_per_rtt)),
            (self.any(|f| f.access_rate != access), &|f| format!("access rate {}", f.access_rate)),
            (self.any(|f| f.start_jitter > Time::ZERO), &|f| {
                format!("start jitter {}", f.start_jitter)
            }),
        ];
        for (differs, words) in each {
            add(differs, self.each(words));
        }
        add(self.seed != 1, format!("seed {}", self.seed));
        all
    }

    fn any(&self, is_so: impl Fn(&Flow) -> bool) -> bool {
        self.flows.iter().any(is_so)
    }

    /// A window as people write it: whole packets, or bytes.
    pub fn window(&self, size: Size) -> String {
        let packet = self.packet.bytes().max(1);
        match (size.bytes() / packet, size.bytes() % packet) {
            (1, 0) => "1 packet".to_owned(),
            (packets, 0) => format!("{packets} packets"),
            _ => size.to_string(),
        }
    }

    /// The `words` of the groups of flows, each distinct one once, joined by `or`.
    fn each(&self, words: impl Fn(&Flow) -> String) -> String {
        let mut known = HashSet::new();
        let all = self.flows.iter().map(words);
        all.filter(|words| known.insert(words.clone())).collect::<Vec<_>>().join(" or ")
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
            Self::Ns2Linux => "of TCP/Linux in ns-2",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn endpoints(text: &str) -> String {
        Scenario::parse(&format!("controls = ['hoe']\n{text}"), "x.toml")
            .and_then(|scenario| scenario.complete())
            .unwrap()
            .endpoints()
    }

    #[test]
    fn the_profile_and_what_was_set_alone_are_named() {
        assert_eq!(endpoints(""), "profile linux: IW 10 packets, no ssthresh, recovery RACK");
        assert_eq!(
            endpoints("profile = 'rfc'"),
            "profile rfc: IW 1 packet, ssthresh 32 packets, recovery NewReno"
        );
        assert_eq!(
            endpoints("profile = 'ns2'\nsyn = false\nrto_min = '1s'\niw = '1500B'"),
            "profile ns2 with its own syn, rto_min: IW 1500B, ssthresh 32 packets, recovery NewReno"
        );
    }

    #[test]
    fn a_path_names_every_key_that_is_not_the_usual_one() {
        let path = |text: &str| {
            let text = format!("controls = ['hoe']\n{text}");
            Scenario::parse(&text, "x.toml")
                .and_then(|scenario| scenario.complete())
                .unwrap()
                .path()
        };
        assert_eq!(path(""), "40Mbps, 100ms, buffer 500 packets, 20s");
        assert_eq!(
            path(
                "delayed_ack = 2\nseed = 7\npacket = '1448B'\nheaders = '40B'\n\
                 receiver_window = '64KiB'\nsplit_acks = 3\n[path]\nbuffer = '9pkt'\n\
                 loss = '0.5%'\naccess_rate = '100Mbps'\naccess_delay = '1ms'\n\
                 [[flow]]\nsize = '8MB'\nstart_jitter = '5ms'"
            ),
            "40Mbps, 104ms (100ms and 4 x 1ms of access), buffer 9 packets, at most 20s, loss \
             0.5%, packets of 1448B, headers 40B, size 8MB, an ACK per 2 packets, ACKs in 3 \
             parts, receiver window 64KiB, access rate 100Mbps, start jitter 5ms, seed 7"
        );
        let marks = "ecn = true\n[path]\necn_threshold = '20pkt'\ndrop = [3, 9]";
        let marks = path(marks);
        assert!(marks.ends_with("20s, 2 chosen drops, marks from 20 packets on"), "{marks}");
        // Ten times the bottleneck is the usual access rate where that is more.
        assert!(path("[path]\nrate = '1Gbps'").ends_with(", 20s"));
    }

    #[test]
    fn each_value_of_groups_that_differ_is_named() {
        let flows = "[[flow]]\niw = '3pkt'\n[[flow]]\n[[flow]]\nssthresh = '9pkt'";
        assert_eq!(
            endpoints(flows),
            "profile linux: IW 3 packets or 10 packets, no ssthresh or ssthresh 9 packets, \
             recovery RACK"
        );
    }
}
