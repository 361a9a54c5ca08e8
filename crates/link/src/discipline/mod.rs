//! Queue disciplines: each has a file with its rules, its card and the queue. Only the list below
//! the declarations names them all.

mod codel;
mod dualpi2;
mod fq_codel;
mod pie;
mod red;
mod tbf;

use std::fmt::Debug;

use crate::tc::{Counted, Words};
use crate::{Buffer, DropTail, Queue};

/// The rules of a discipline, in base units. `Default` has Linux's.
pub trait Rules: Copy + Debug + Default + 'static {
    /// Its name, which is that of `tc`.
    const NAME: &'static str;
    /// What it does, for the page on queues.
    const ABOUT: &'static str;
    /// Where its rules are from.
    const SOURCES: &'static str;
    /// Why `tc` cannot set it up; `None` if it can.
    const NOT_IN_TC: Option<&'static str> = None;
    /// One as written, where a parameter is needed.
    const EXAMPLE: &'static str = Self::NAME;
    /// Its parameters.
    const KNOBS: &'static [Knob<Self>];

    /// Sets what is not written (`UNSET`) by the other rules and the link, and refuses rules that
    /// do not go together.
    ///
    /// # Errors
    /// Says which, and what is accepted.
    fn complete(self, _link: &Sizes<'_>) -> Result<Self, String> {
        Ok(self)
    }

    /// What may wait.
    fn room(&self) -> Buffer;

    /// The rate in bits per second above which it lets only a burst pass, and the burst in bytes.
    fn bucket(&self) -> Option<(u64, u64)> {
        None
    }

    /// The queue at time 0, on a link of `rate_bps` whose full packets take `mtu` bytes.
    fn build(self, mtu: u64, rate_bps: u64) -> Box<dyn Queue>;

    /// Its words for `tc`; `None` if `tc` does not know it.
    fn tc(&self, counted: Counted) -> Option<Words>;
}

/// A parameter of a discipline.
#[derive(Debug)]
pub struct Knob<R> {
    /// Its name, which is that of `tc`.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// Its default as written, or in parentheses what it follows from; empty if it is needed.
    pub usual: &'static str,
    /// Sets it, in base units.
    pub set: fn(&mut R, u64),
}

impl<R> Knob<R> {
    /// One of this name; `set` is given its value.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        usual: &'static str,
        set: fn(&mut R, u64),
    ) -> Self {
        Self { name, kind, usual, set }
    }
}

/// What the value of a parameter is, and in which unit it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A time of 1 us to 100 s, the longest that the arithmetic of all disciplines holds, in
    /// nanoseconds.
    Time,
    /// In bits per second.
    Rate,
    /// The size of a packet, in bytes.
    Size,
    /// Room in packets, bytes or BDP; set in bytes.
    Bytes,
    /// Room in packets, bytes or BDP; set in packets.
    Packets,
    /// A part of 10^9.
    Share,
    /// A whole number from the one to the other.
    Count(u64, u64),
    /// 1 for on, 0 for off.
    Switch,
}

/// What a discipline's sizes are measured by: a link.
#[derive(Clone, Copy)]
pub struct Sizes<'a> {
    /// A full packet, in bytes on the link.
    pub wire: u64,
    /// How many packets a number of thousandths of the BDP is.
    pub bdp: &'a dyn Fn(u64) -> u64,
}

/// The value of the parameter of that name, if it is written, or what is wrong with it.
pub type Value<'a> = dyn Fn(&str, Kind) -> Result<Option<u64>, String> + 'a;

/// What is known of a discipline by its name.
#[derive(Clone, Debug)]
pub struct Card {
    /// [`Rules::NAME`].
    pub name: &'static str,
    /// [`Rules::ABOUT`].
    pub about: &'static str,
    /// [`Rules::SOURCES`].
    pub sources: &'static str,
    /// [`Rules::NOT_IN_TC`].
    pub not_in_tc: Option<&'static str>,
    /// Name and default of every parameter ([`Knob::usual`]).
    pub knobs: Vec<(&'static str, &'static str)>,
}

/// Declares [`Discipline`] and what is asked of any.
macro_rules! disciplines {
    ($($module:ident::$name:ident($rules:ident),)*) => {
        $(pub use $module::{$name, $rules};)*

        /// A discipline other than a link's plain drop-tail buffer, with its rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Discipline {
            $(#[doc = concat!("[`", stringify!($name), "`](crate::", stringify!($name), ").")]
            $name($rules),)*
        }

        impl Discipline {
            /// Every discipline.
            pub fn cards() -> Vec<Card> {
                vec![$(Card::of::<$rules>()),*]
            }

            /// The discipline of that name on such a link. `value` reads a parameter, if it is
            /// written. `None` if there is no such name.
            ///
            /// # Errors
            /// What `value` says, or what does not go together.
            pub fn read(
                name: &str,
                link: &Sizes<'_>,
                value: &Value<'_>,
            ) -> Option<Result<Self, String>> {
                match name {
                    $($rules::NAME => Some(read::<$rules>(link, value).map(Self::$name)),)*
                    _ => None,
                }
            }

            /// What is known of it.
            pub fn card(self) -> Card {
                match self { $(Self::$name(_) => Card::of::<$rules>()),* }
            }

            /// See [`Rules::room`].
            pub fn room(self) -> Buffer {
                match self { $(Self::$name(rules) => rules.room()),* }
            }

            /// See [`Rules::bucket`].
            pub fn bucket(self) -> Option<(u64, u64)> {
                match self { $(Self::$name(rules) => rules.bucket()),* }
            }

            /// See [`Rules::build`].
            pub fn build(self, mtu: u64, rate_bps: u64) -> Box<dyn Queue> {
                match self { $(Self::$name(rules) => rules.build(mtu, rate_bps)),* }
            }

            pub(crate) fn words(self, counted: Counted) -> Option<Words> {
                match self { $(Self::$name(rules) => rules.tc(counted)),* }
            }
        }
    };
}

disciplines! {
    tbf::Tbf(TbfRules),
    red::Red(RedRules),
    codel::Codel(CodelRules),
    fq_codel::FqCodel(FqCodelRules),
    pie::Pie(PieRules),
    dualpi2::DualPi2(DualPi2Rules),
}

impl Discipline {
    /// A FIFO of so many packets as a [`Queue`], for comparisons of queues. A simulated link has a
    /// drop-tail buffer of its own.
    pub fn drop_tail(packets: u64) -> Box<dyn Queue> {
        Box::new(DropTail::of_packets(packets))
    }
}

impl Card {
    fn of<R: Rules>() -> Self {
        Self {
            name: R::NAME,
            about: R::ABOUT,
            sources: R::SOURCES,
            not_in_tc: R::NOT_IN_TC,
            knobs: R::KNOBS.iter().map(|knob| (knob.name, knob.usual)).collect(),
        }
    }
}

impl Sizes<'_> {
    /// The bytes of so many BDP, at least of twelve packets: then the `min` of `red`, a twelfth of
    /// its `limit`, is a packet.
    pub(crate) fn bdps(&self, many: u64) -> u64 {
        (self.bdp)(1_000 * many).max(12).saturating_mul(self.wire)
    }
}

fn read<R: Rules>(link: &Sizes<'_>, value: &Value<'_>) -> Result<R, String> {
    let mut rules = R::default();
    for knob in R::KNOBS {
        match value(knob.name, knob.kind)? {
            Some(value) => (knob.set)(&mut rules, value),
            None if knob.usual.is_empty() => {
                return Err(format!("`{}` is missing; accepted: {}", knob.name, R::EXAMPLE));
            }
            None => {}
        }
    }
    rules.complete(link)
}

/// The value of what is not written and follows from the rest.
pub(crate) const UNSET: u64 = u64::MAX;

/// More packets than any path holds.
pub(crate) const MOST: u64 = 1_000_000_000;

/// `value` unless it is [`UNSET`].
pub(crate) fn or(value: u64, usual: u64) -> u64 {
    if value == UNSET { usual } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;
    use crate::testing::packet;
    use rand_pcg::Pcg64Mcg;

    /// What a limit of three packets, or of their bytes, holds of five, and what where the packet
    /// that the link sends counts as waiting. A shaper has sent it and does not count it; FQ-CoDel
    /// makes room by dropping half of a queue (`fq_codel_drop`).
    #[test]
    fn a_limit_counts_the_packet_that_the_link_sends_where_that_counts() {
        let (limit_packets, limit_bytes) = (3, 4_500);
        let codel = CodelRules { limit_packets, ..CodelRules::default() };
        let flows = FqCodelRules { codel, ..FqCodelRules::default() };
        let pie = PieRules { limit_packets, ..PieRules::default() };
        let dual = DualPi2Rules { limit_packets, ..DualPi2Rules::default() };
        let tbf = TbfRules { rate_bps: 1_000, burst_bytes: 1_500, limit_bytes };
        let red = RedRules {
            limit_bytes,
            min_bytes: 10_000,
            max_bytes: 20_000,
            avpkt_bytes: 1_500,
            burst_packets: 10,
            probability_ppb: 1_000,
            ecn: false,
        };
        for (queue, alone, behind) in [
            (Discipline::drop_tail(3), 3, 2),
            (Discipline::Codel(codel).build(1_500, 1), 3, 2),
            (Discipline::FqCodel(flows).build(1_500, 1), 3, 1),
            (Discipline::Pie(pie).build(1_500, 1), 3, 2),
            (Discipline::DualPi2(dual).build(1_500, 1), 3, 2),
            (Discipline::Tbf(tbf).build(1_500, 1), 3, 3),
            (Discipline::Red(red).build(1_500, 1_000_000_000), 3, 2),
        ] {
            for (in_service, held) in [(0, alone), (1_500, behind)] {
                let (mut queue, mut dropped) = (queue.clone(), Vec::new());
                for id in 0..5 {
                    let (random, dropped) = (&mut Pcg64Mcg::new(7), &mut dropped);
                    let moment = &mut Moment { now: 0, in_service, random, dropped };
                    queue.enqueue(packet(id), moment);
                }
                let found = (queue.packets(), queue.bytes(), dropped.len());
                assert_eq!(found, (held, held * 1_500, 5 - held as usize), "{queue:?}");
            }
        }
    }
}
