//! What the scenario sets for the rows of its results: the factors of the tables, and the name of
//! the point of a study.

use base16ct::lower::encode_string;
use firstflight_control::quantity::{Loss, Size};
use firstflight_results::table::{Factors, FlowFactors};
use sha2::{Digest as _, Sha256};

use super::{Buffer, Capacity, Complete, Flow};

impl Complete {
    /// What is set for all rows, and for those of each group of flows.
    pub fn factors(&self) -> Factors {
        let capacity = self.capacity();
        Factors {
            point: self.point(),
            packet_bytes: self.packet.bytes(),
            header_bytes: self.headers.bytes(),
            pacing: self.endpoint.switches.pacing,
            links: self.links.iter().map(|link| link.name.clone()).collect(),
            groups: self.flows.iter().map(|flow| self.group(&capacity, flow)).collect(),
        }
    }

    fn group(&self, capacity: &Capacity, flow: &Flow) -> FlowFactors {
        let path = &flow.data_path;
        let rate_bps = capacity.mean_bps(path, 0, self.duration.ns());
        let (room, _) = self.room_and_loss(capacity.bottleneck(path, 0, self.duration.ns()));
        let losses: Vec<Loss> = path.iter().map(|link| self.room_and_loss(*link).1).collect();
        let bursts = losses.iter().any(|loss| matches!(loss, Loss::Bursts(_)));
        let losses = losses.iter().map(|loss| f64::from(loss.mean().ppb() as u32) / 1e9);
        let lossy: Vec<f64> = losses.filter(|share| *share > 0.0).collect();
        FlowFactors {
            count: flow.count,
            rate_bps,
            rtt_ns: flow.rtt.ns(),
            access_delay_ns: flow.access_delay.ns(),
            bdp_packets: self.bdp_bytes(path, rate_bps) / self.packet.bytes().max(1),
            buffer_packets: match room {
                Buffer::Packets(packets) => packets,
                Buffer::Bytes(bytes) => bytes / self.wire_bytes().max(1),
                Buffer::Unlimited => 0,
            },
            loss: match *lossy {
                // A share as it was given, not what rounding makes of 1 - (1 - share).
                [share] => share,
                _ => 1.0 - lossy.iter().map(|share| 1.0 - share).product::<f64>(),
            },
            loss_model: match (lossy.is_empty(), bursts) {
                (true, _) => "none",
                (false, true) => "bursts",
                (false, false) => "independent",
            },
            size_bytes: flow.size.map(Size::bytes),
            delayed_ack: flow.delayed_ack.value,
        }
    }

    /// The point's name: the first 96 bits of the SHA-256 of the complete scenario, as 24
    /// hexadecimal digits.
    ///
    /// Left out are the name, the title, the controls that are compared, the seed and the number of
    /// runs: rows of several controls and seeds on one path share a point and can be joined by it.
    pub fn point(&self) -> String {
        let mut bare = self.clone();
        bare.name = String::new();
        bare.title = None;
        bare.controls = Vec::new();
        (bare.seed, bare.runs) = (0, 0);
        let text = serde_json::to_vec(&bare).unwrap_or_default();
        encode_string(&Sha256::digest(&text)[..12])
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn of(text: &str) -> String {
        Scenario::parse(text, "test.toml").unwrap().complete().unwrap().point()
    }

    #[test]
    fn a_point_is_the_path_and_its_flows_whatever_the_names_controls_and_seeds() {
        let one = of("controls = ['newreno']\nseed = 1");
        assert_eq!(one.len(), 24);
        assert_eq!(one, of("controls = ['astart', 'hoe']\nseed = 9\nruns = 3\nname = 'other'"));
        assert_eq!(one, of("controls = ['newreno']\npath = { rate = '40000kbps' }"));
        for other in ["path = { rate = '41Mbps' }", "flow = [{ size = '5MB' }]", "profile = 'rfc'"]
        {
            assert_ne!(one, of(&format!("controls = ['newreno']\n{other}")), "{other}");
        }
    }
}
