//! A queue discipline of the kernel's own, in words for `tc`.
//!
//! A device between namespaces sends at once, so that the rate is that of a class of HTB around the
//! discipline. HTB asks for a packet when the one before has taken its time, as a real link does,
//! where a bucket of `tbf` would ask one packet earlier (`peek` in `tbf_dequeue`). Its own bucket
//! holds what a late timer costs and no packet. The packet leaves as its time on the link begins,
//! and the reverse path makes up for that.

use crate::Discipline;

/// How `tc` counts where a scenario counts otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The link's rate, in bits of frames per second.
    pub rate_bps: u64,
    /// A full packet as the scenario counts it, in bytes.
    pub packet: u64,
    /// A full packet's frame, in bytes.
    pub frame: u64,
}

impl Counted {
    /// Bytes or bits of frames for those of the scenario.
    pub fn frames(self, amount: u64) -> u64 {
        let frames = u128::from(amount) * u128::from(self.frame) / u128::from(self.packet.max(1));
        u64::try_from(frames).unwrap_or(u64::MAX)
    }

    /// How long a full packet takes on the link, in microseconds.
    pub fn service_us(self) -> u64 {
        (self.frame * 8_000_000).div_ceil(self.rate_bps.max(1))
    }

    /// What the link sends while a timer is late, in bytes.
    pub(crate) fn late_bytes(self) -> u64 {
        (u128::from(self.rate_bps) * LATE_US / 8_000_000).max(1) as u64
    }
}

/// A discipline's words.
pub enum Words {
    /// Those of the discipline in a class of the link's rate.
    InClass(String),
    /// Those of a discipline that has the link's rate itself.
    Alone(String),
}

impl Discipline {
    /// The arguments of `tc` that put the discipline on a device, a line for each call. `None` for
    /// what `tc` cannot set up ([`Card::not_in_tc`](crate::Card)).
    pub fn tc(self, device: &str, counted: Counted) -> Option<Vec<String>> {
        let Counted { rate_bps, frame, .. } = counted;
        let late = counted.late_bytes();
        Some(match self.words(counted)? {
            Words::Alone(words) => vec![format!("qdisc add dev {device} root {words}")],
            Words::InClass(words) => vec![
                format!("qdisc add dev {device} root handle 1: htb default 1"),
                format!(
                    "class add dev {device} parent 1: classid 1:1 htb rate {rate_bps}bit burst \
                     {late}b cburst {late}b quantum {frame}"
                ),
                format!("qdisc add dev {device} parent 1:1 handle 10: {words}"),
            ],
        })
    }
}

pub(crate) fn ecn_word(on: bool) -> &'static str {
    if on { "ecn" } else { "noecn" }
}

/// How late a timer may be without costing the link's time, in microseconds.
const LATE_US: u128 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodelRules, DualPi2Rules, FqCodelRules, PieRules, RedRules, TbfRules};

    /// 10 Mbit/s of packets of 1000 bytes, whose frames have 1100.
    const COUNTED: Counted = Counted { rate_bps: 11_000_000, packet: 1_000, frame: 1_100 };

    fn last(discipline: Discipline) -> String {
        discipline.tc("f0", COUNTED).unwrap().pop().unwrap()
    }

    #[test]
    fn a_discipline_is_in_a_class_of_the_links_rate_and_sizes_are_those_of_frames() {
        let lines = Discipline::Codel(CodelRules::default()).tc("f0", COUNTED).unwrap();
        assert_eq!(
            lines[1],
            "class add dev f0 parent 1: classid 1:1 htb rate 11000000bit burst 137b cburst 137b \
             quantum 1100"
        );
        let codel = "qdisc add dev f0 parent 1:1 handle 10: codel limit 1000 target 5000us \
                     interval 100000us noecn";
        assert_eq!(lines[2], codel);
        let red = Discipline::Red(RedRules {
            limit_bytes: 100_000,
            min_bytes: 10_000,
            max_bytes: 30_000,
            avpkt_bytes: 1_000,
            burst_packets: 17,
            probability_ppb: 20_000_000,
            ecn: true,
        });
        assert!(last(red).ends_with(
            "red limit 110000 min 11000 max 33000 avpkt 1100 burst 17 bandwidth 11000000bit \
             probability 0.02 ecn"
        ));
        assert_eq!(COUNTED.service_us(), 800);
    }

    #[test]
    fn every_rule_has_its_word() {
        let marks = CodelRules { ce_threshold_ns: Some(1_000_000), ..CodelRules::default() };
        assert!(last(Discipline::Codel(marks)).ends_with("noecn ce_threshold 1000us"));
        let fair = last(Discipline::FqCodel(FqCodelRules::default()));
        assert!(fair.contains("fq_codel flows 1024 quantum 1100 memory_limit 1gb limit 10240"));
        let pie = last(Discipline::Pie(PieRules::default()));
        let wanted = "pie limit 1000 target 15000us tupdate 15000us alpha 2 beta 20 noecn";
        assert!(pie.ends_with(wanted), "{pie}");
        let bucket = TbfRules { rate_bps: 1_000_000, burst_bytes: 5_000, limit_bytes: 20_000 };
        assert_eq!(
            last(Discipline::Tbf(bucket)),
            "qdisc add dev f0 root tbf rate 1100000bit burst 5500b limit 22000b peakrate \
             11000000bit mtu 1237b"
        );
    }

    #[test]
    fn dualpi2_has_no_words_yet() {
        assert!(Discipline::DualPi2(DualPi2Rules::default()).tc("f0", COUNTED).is_none());
    }
}
