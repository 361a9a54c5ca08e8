//! Knobs as the C code reads them: `struct ff_knob_values`, which `build.rs` writes from the cards.
//! Each policy gives the values, those of its presets included.

use firstflight_control::{Control, ControlProblem};
use firstflight_core::card::Card;
use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue, SUMS};

use crate::layout;

/// Why a control cannot be had in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInKernel {
    /// It needs what the kernel does not provide ([`crate::PROVIDES`]).
    #[error(transparent)]
    Lacks(Box<ControlProblem>),
    /// No such pair in C.
    #[error("control `{control}`: no kernel version of {found}; accepted: {accepted}")]
    Pair {
        /// The control as written.
        control: String,
        /// Its policies.
        found: String,
        /// The policies there are.
        accepted: String,
    },
    /// A value of a knob that the C version lacks.
    #[error("control `{control}`: {policy}({knob}=...) has no such value in the kernel: {why}")]
    Knob {
        /// The control as written.
        control: String,
        /// The policy.
        policy: &'static str,
        /// The knob.
        knob: &'static str,
        /// Why, and what is accepted.
        why: &'static str,
    },
}

impl From<ControlProblem> for NotInKernel {
    fn from(problem: ControlProblem) -> Self {
        Self::Lacks(Box::new(problem))
    }
}

/// The values, ready to be written into a control's read-only data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobValues {
    words: Vec<u64>,
}

impl KnobValues {
    /// The values of a control's knobs; zero for policies that are not in the control.
    ///
    /// # Errors
    /// A value that the C version lacks.
    pub fn of(control: &Control) -> Result<Self, NotInKernel> {
        let (startup, avoidance) = (Values::startup(control), Values::avoidance(control));
        for setting in &control.settings {
            let of = if setting.policy == startup.card.name && startup.has(setting.knob) {
                &startup
            } else {
                &avoidance
            };
            if let Some(why) = of.lacks(setting.knob) {
                return Err(NotInKernel::Knob {
                    control: control.alias.clone(),
                    policy: setting.policy,
                    knob: setting.knob,
                    why,
                });
            }
        }
        let mut words = Vec::new();
        for (card, header) in layout::policies() {
            let own = [&startup, &avoidance].into_iter().find(|it| it.card.kernel == Some(header));
            for knob in card.knobs {
                let value = own.and_then(|it| (it.value)(knob.name));
                words.extend(encoded(knob, value));
            }
        }
        Ok(Self { words })
    }

    /// The values as bytes, in the machine's byte order, as the C struct has them in memory.
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    /// The values as 64-bit words, in the order of the C struct.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// The value of the knob of that name.
type ValueOf<'a> = dyn Fn(&str) -> Option<KnobValue> + 'a;

/// The knobs of one policy of a control, with their values.
struct Values<'a> {
    card: &'static Card,
    value: Box<ValueOf<'a>>,
}

impl<'a> Values<'a> {
    fn startup(control: &'a Control) -> Self {
        let value = |name: &str| control.startup.value(name);
        Self { card: control.startup.card(), value: Box::new(value) }
    }

    fn avoidance(control: &'a Control) -> Self {
        let value = |name: &str| control.avoidance.value(name);
        Self { card: control.avoidance.card(), value: Box::new(value) }
    }

    fn has(&self, name: &str) -> bool {
        self.card.knobs.iter().any(|knob| knob.name == name)
    }

    /// Why C does not have the value that a knob was set to.
    fn lacks(&self, name: &str) -> Option<&'static str> {
        match (self.value)(name) {
            Some(KnobValue::Word("double")) if name == SUMS.name => {
                Some("eBPF has no floating point; accepted: exact")
            }
            _ => None,
        }
    }
}

/// A value in the words of its knob; zero without one.
fn encoded(knob: &Knob, value: Option<KnobValue>) -> Vec<u64> {
    let mut words = match (value, knob.kind) {
        (Some(KnobValue::Window(amount)), _) => unit(amount).into(),
        (Some(KnobValue::Count(number) | KnobValue::Ratio(number)), _) => vec![number],
        (Some(KnobValue::Time(span)), _) => vec![span.0],
        (Some(KnobValue::Word(word)), KnobKind::Word(all)) => {
            vec![all.iter().position(|it| *it == word).unwrap_or(0) as u64]
        }
        _ => Vec::new(),
    };
    words.resize(layout::words(knob), 0);
    words
}

/// Unit and number of a window; the units are `enum unit` of `c/view.h`, in which 0 leaves the
/// window to the endpoint.
fn unit(amount: Amount) -> [u64; 2] {
    match amount {
        Amount::Segments(segments) => [1, segments],
        Amount::Bytes(bytes) => [2, bytes],
        Amount::Unlimited => [3, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> KnobValues {
        KnobValues::of(&Control::named(text).unwrap()).unwrap()
    }

    /// The words of one knob of one policy.
    fn words(text: &str, header: &str, name: &str) -> Vec<u64> {
        let values = values(text);
        let mut at = 0;
        for (card, of) in layout::policies() {
            for knob in card.knobs {
                if of == header && knob.name == name {
                    return values.words[at..at + layout::words(knob)].to_vec();
                }
                at += layout::words(knob);
            }
        }
        panic!("{header} has no knob {name}");
    }

    /// One field of the written header for every word, in the order of the words.
    #[test]
    fn fields_lie_as_the_header_has_them() {
        let header = include_str!(concat!(env!("OUT_DIR"), "/c/knobs.h"));
        let body = |name: &str| {
            let begin = format!("struct {name} {{\n");
            header.split(&begin).nth(1).unwrap().split("};").next().unwrap()
        };
        let mut fields = Vec::new();
        for member in body("ff_knob_values").lines() {
            let [_, of, policy] = member.split_whitespace().collect::<Vec<_>>()[..] else {
                continue;
            };
            for line in body(of).lines() {
                match line.split_whitespace().collect::<Vec<_>>()[..] {
                    ["u64", field] => fields.push(format!("{policy}{field}")),
                    ["struct", group, _] => {
                        let count = body(group).lines().filter(|line| line.contains("u64")).count();
                        fields.extend((0..count).map(|_| group.to_owned()));
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(values("newreno").words().len(), fields.len());
        let at = |name: &str| fields.iter().position(|field| field == name).unwrap();
        assert_eq!(values("hystart(low_window=77)").words[at("hystart;low_window;")], 77);
        assert_eq!(values("vegas(alpha=66,beta=88)").words[at("vegas;beta;")], 88);
    }

    #[test]
    fn knobs_and_presets_reach_their_fields() {
        assert_eq!(words("astart", "astart", "ere.N"), [3]);
        assert_eq!(words("astart", "astart", "ere.tmin"), [15_000_000]);
        assert_eq!(words("astart(preset=paper,ere.N=7)", "astart", "ere.N"), [7]);
        assert_eq!(words("astart(preset=paper)", "astart", "ere.tmin"), [0]);
        assert_eq!(words("tcpw-a", "westwood", "lg"), [1]);
        assert_eq!(words("tcpw-a(lg.eps=0.6)", "westwood", "lg.eps"), [600_000]);
        let fixed = "slow-start(iw=64KiB,ssthresh=none)";
        assert_eq!(words(fixed, "slow_start", "iw"), [2, 65_536]);
        assert_eq!(words(fixed, "slow_start", "ssthresh"), [3, 0]);
        assert_eq!(words("slow-start", "slow_start", "iw"), [0, 0]);
        assert_eq!(words("slow-start(preset=rfc3390)", "slow_start", "preset"), [3]);
        assert_eq!(words("slow-start+cubic(preset=ns2)", "cubic", "max_increment"), [16]);
        assert_eq!(words("liw", "large_initial_window", "iw"), [1, 64]);
    }

    #[test]
    fn an_estimate_of_westwoods_own_has_knobs_of_its_own() {
        let apart = "astart(ere.N=5)+westwood(ere.N=9,ere.tmin=1ms)";
        assert_eq!(words(apart, "astart", "ere.N"), [5]);
        assert_eq!(words(apart, "westwood", "ere.N"), [9]);
        assert_eq!(words(apart, "westwood", "ere.tmin"), [1_000_000]);
        assert_eq!(words("tcpw-a(preset=ns2)", "westwood", "lg.tick"), [10_000_000]);
    }

    #[test]
    fn floating_point_is_refused_in_words() {
        let control = Control::named("slow-start+newreno(sums=double)").unwrap();
        let error = KnobValues::of(&control).unwrap_err().to_string();
        assert!(error.contains("newreno(sums=...)"), "{error}");
        assert!(error.ends_with("eBPF has no floating point; accepted: exact"), "{error}");
    }
}
