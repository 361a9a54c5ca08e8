//! Knobs as the C code reads them: `struct ff_knob_values` of `c/knobs.h`, all fields 64 bits.

use firstflight_control::{Control, Setting};
use firstflight_core::estimate::ere::{EreKnobs, Filter};
use firstflight_core::estimate::load_gauge::LoadGaugeKnobs;
use firstflight_core::estimate::packet_pair::QUARTER;
use firstflight_core::knob::{Amount, KnobValue, RATIO_ONE};

/// Why a control cannot be had in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInKernel {
    /// No such pair in C.
    #[error("control `{control}`: no kernel version of {found}; accepted: {accepted}")]
    Pair {
        /// The control as written.
        control: String,
        /// Its policies.
        found: String,
        /// The pairs there are.
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

/// Declares the fields in the order of the header.
macro_rules! fields {
    ($($field:ident)*) => {
        /// The values, ready to be written into a control's read-only data.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each is explained where it comes from: the knob it holds")]
        #[repr(C)]
        pub struct KnobValues {
            $(pub $field: u64,)*
        }

        impl KnobValues {
            const ZERO: Self = Self { $($field: 0,)* };

            /// As they lie in memory.
            pub fn bytes(&self) -> Vec<u8> {
                [$(self.$field),*].iter().flat_map(|value| value.to_ne_bytes()).collect()
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$(stringify!($field)),*];
    };
}

fields! {
    iw_unit iw iw_limit ssthresh_unit ssthresh count_acks
    ere_filter ere_n ere_eps ere_re_per_rtt ere_tmin ere_tick ere_null_m ere_umax_window
    westwood_filter westwood_n westwood_eps westwood_re_per_rtt westwood_tmin westwood_tick
    westwood_null_m westwood_umax_window
    lg_on lg_beta lg_eps lg_guard_rtts lg_tick
    bc_limit dbc_dmax dbc_wth pair_span hoe_ns2
    vegas_gamma vegas_grow_every vegas_first vegas_alpha vegas_beta
    ms_largest ms_smallest ms_first_largest ms_reset_per_rtt ms_until_half ms_continue ms_each
    cubic_beta cubic_c cubic_fast_convergence cubic_friendly cubic_max_increment cubic_21
    hystart_no_train hystart_no_delay hystart_whole_train hystart_low_window
}

impl KnobValues {
    /// Those of a control.
    ///
    /// # Errors
    /// A value that the C version lacks.
    pub fn of(control: &Control) -> Result<Self, NotInKernel> {
        let mut values = Self::DEFAULT;
        let mut estimates = Estimates::default();
        for setting in &control.settings {
            let taken = values.set(setting) | estimates.set(setting);
            if !taken {
                return Err(NotInKernel::Knob {
                    control: control.alias.clone(),
                    policy: setting.policy,
                    knob: setting.knob,
                    why: why_not(setting),
                });
            }
        }
        values.put_estimates(&estimates.startup, &estimates.avoidance);
        values.put_gauge(&estimates.gauge);
        Ok(values)
    }

    /// Sets a knob, unless it is of an estimator.
    fn set(&mut self, setting: &Setting) -> bool {
        match (setting.policy, setting.knob, setting.value) {
            (_, "iw", KnobValue::Window(iw)) => {
                (self.iw_unit, self.iw) = unit(iw);
                self.iw_limit = 0;
            }
            (_, "ssthresh", KnobValue::Window(ssthresh)) => {
                (self.ssthresh_unit, self.ssthresh) = unit(ssthresh);
            }
            (policy, knob, KnobValue::Word(word)) => return self.set_word(policy, knob, word),
            (policy, knob, KnobValue::Count(number) | KnobValue::Ratio(number)) => {
                return self.set_number(policy, knob, number);
            }
            _ => return false,
        }
        true
    }

    fn set_number(&mut self, policy: &str, knob: &str, number: u64) -> bool {
        let field = match (policy, knob) {
            ("bc", "limit") => &mut self.bc_limit,
            ("dbc", "dmax") => &mut self.dbc_dmax,
            ("hoe", "span") => {
                self.hoe_ns2 = 0;
                &mut self.pair_span
            }
            ("vegas", "gamma") => &mut self.vegas_gamma,
            ("vegas", "grow_every") => &mut self.vegas_grow_every,
            ("vegas", "alpha") => &mut self.vegas_alpha,
            ("vegas", "beta") => &mut self.vegas_beta,
            ("mstart", "P") => &mut self.ms_largest,
            ("cubic", "beta") => &mut self.cubic_beta,
            ("cubic", "c") => &mut self.cubic_c,
            ("cubic", "max_increment") => &mut self.cubic_max_increment,
            ("hystart", "low_window") => &mut self.hystart_low_window,
            _ => return false,
        };
        *field = number;
        true
    }

    fn set_word(&mut self, policy: &str, knob: &str, word: &str) -> bool {
        let is = |wanted: &str| u64::from(word == wanted);
        match (policy, knob) {
            (_, "sums") => return word == "exact",
            ("slow-start", "preset") => self.put_rfc(word),
            ("slow-start", "count") => self.count_acks = is("acks"),
            ("hoe", "preset") => (self.hoe_ns2, self.pair_span) = (is("ns2"), QUARTER),
            ("dbc", "wth") => self.dbc_wth = is("hoe") + 2 * is("ere"),
            ("vegas", "first") => self.vegas_first = is("grows") + 2 * is("holds"),
            ("mstart", "preset") => self.ms_first_largest = is("simulation"),
            ("mstart", "cycle") => self.ms_smallest = is("10..1"),
            ("mstart", "first") => self.ms_first_largest = is("P"),
            ("mstart", "reset_per_rtt") => self.ms_reset_per_rtt = is("on"),
            ("mstart", "until") => self.ms_until_half = is("half"),
            ("mstart", "after_rto") => self.ms_continue = is("continue"),
            ("mstart", "several") => self.ms_each = is("each"),
            ("cubic", "preset") => self.put_cubic(word),
            ("cubic", "fast_convergence") => self.cubic_fast_convergence = is("on"),
            ("cubic", "friendly") => self.cubic_friendly = is("on"),
            ("hystart", "detect") => {
                (self.hystart_no_train, self.hystart_no_delay) = (is("delay"), is("train"));
            }
            ("hystart", "train") => self.hystart_whole_train = is("whole"),
            _ => return false,
        }
        true
    }

    /// The constants of RFC 9438, or of CUBIC 2.1.
    fn put_cubic(&mut self, preset: &str) {
        self.cubic_21 = u64::from(preset == "ns2");
        (self.cubic_beta, self.cubic_c, self.cubic_max_increment) = match preset {
            "ns2" => (819 * RATIO_ONE / 1024, 410 * RATIO_ONE / 1024, 16),
            _ => (Self::DEFAULT.cubic_beta, Self::DEFAULT.cubic_c, 0),
        };
        (self.cubic_fast_convergence, self.cubic_friendly) = (1, 1);
    }

    /// The initial windows of RFCs: segments, and for some no more than so many bytes.
    fn put_rfc(&mut self, preset: &str) {
        let (unit, segments, limit) = match preset {
            "rfc2001" => (SEGMENTS, 1, 0),
            "rfc2581" => (SEGMENTS, 2, 0),
            "rfc3390" => (SEGMENTS, 4, 4_380),
            "rfc6928" => (SEGMENTS, 10, 14_600),
            _ => (ENDPOINT, 0, 0),
        };
        (self.iw_unit, self.iw, self.iw_limit) = (unit, segments, limit);
    }

    /// The start-up's estimate, and Westwood's own.
    fn put_estimates(&mut self, startup: &EreKnobs, avoidance: &EreKnobs) {
        [
            self.ere_filter,
            self.ere_n,
            self.ere_eps,
            self.ere_re_per_rtt,
            self.ere_tmin,
            self.ere_tick,
            self.ere_null_m,
            self.ere_umax_window,
        ] = ere_values(startup);
        [
            self.westwood_filter,
            self.westwood_n,
            self.westwood_eps,
            self.westwood_re_per_rtt,
            self.westwood_tmin,
            self.westwood_tick,
            self.westwood_null_m,
            self.westwood_umax_window,
        ] = ere_values(avoidance);
    }

    fn put_gauge(&mut self, gauge: &LoadGaugeKnobs) {
        self.lg_on = u64::from(gauge.on);
        self.lg_beta = gauge.beta;
        self.lg_eps = gauge.eps;
        self.lg_guard_rtts = gauge.guard_rtts;
        self.lg_tick = gauge.tick.0;
    }
}

impl KnobValues {
    /// Nothing set. The estimators' knobs are filled in from the core's own table.
    const DEFAULT: Self = Self {
        bc_limit: 2,
        dbc_dmax: 2 * RATIO_ONE,
        pair_span: QUARTER,
        vegas_gamma: 1,
        vegas_grow_every: 2,
        vegas_alpha: 1,
        vegas_beta: 3,
        ms_largest: 10,
        ms_smallest: 1,
        cubic_beta: 700_000,
        cubic_c: 400_000,
        cubic_fast_convergence: 1,
        cubic_friendly: 1,
        hystart_low_window: 16,
        ..Self::ZERO
    };
}

/// Knobs of the estimators, read by the core itself, presets included.
struct Estimates {
    startup: EreKnobs,
    avoidance: EreKnobs,
    gauge: LoadGaugeKnobs,
}

impl Default for Estimates {
    fn default() -> Self {
        let (startup, avoidance) = (EreKnobs::FIGURES, EreKnobs::FIGURES);
        Self { startup, avoidance, gauge: LoadGaugeKnobs::OFF }
    }
}

impl Estimates {
    fn set(&mut self, setting: &Setting) -> bool {
        match setting.policy {
            "astart" => self.startup.set(setting.knob, setting.value),
            // A preset is of both.
            "westwood" => {
                self.avoidance.set(setting.knob, setting.value)
                    | self.gauge.set(setting.knob, setting.value)
            }
            _ => false,
        }
    }
}

/// Whether a setting makes Westwood keep an estimate of its own, beside the start-up's.
pub(crate) fn is_of_own_estimate(setting: &Setting) -> bool {
    let mut any = EreKnobs::FIGURES;
    setting.policy == "westwood" && any.set(setting.knob, setting.value)
}

/// `struct ere_knob_values` of the header.
fn ere_values(ere: &EreKnobs) -> [u64; 8] {
    let filter = match ere.filter {
        Filter::Trapezoid => 0,
        Filter::Plain => 1,
        Filter::Constant => 2,
    };
    let re_per_rtt = u64::from(ere.re_per_rtt);
    let (tmin, tick) = (ere.tmin.0, ere.tick.0);
    [filter, ere.n, ere.eps, re_per_rtt, tmin, tick, ere.null_m, ere.umax_window]
}

fn why_not(setting: &Setting) -> &'static str {
    match setting.knob {
        "sums" => "eBPF has no floating point; accepted: exact",
        _ => "its C has no such knob",
    }
}

fn unit(amount: Amount) -> (u64, u64) {
    match amount {
        Amount::Segments(segments) => (SEGMENTS, segments),
        Amount::Bytes(bytes) => (BYTES, bytes),
        Amount::Unlimited => (NO_LIMIT, 0),
    }
}

/// `enum unit` of the header.
const ENDPOINT: u64 = 0;
const SEGMENTS: u64 = 1;
const BYTES: u64 = 2;
const NO_LIMIT: u64 = 3;

#[cfg(test)]
mod tests {
    use firstflight_core::knob::{Knob, KnobKind};
    use firstflight_core::registry::{AVOIDANCES, STARTUPS};

    use super::*;
    use crate::catalogue::{KernelControl, PAIRS};

    #[test]
    fn fields_lie_as_the_header_has_them() {
        let (of_ere, all) =
            include_str!("../c/knobs.h").split_once("struct ff_knob_values").unwrap();
        let field = |line: &str, kind: &str| {
            Some(line.strip_prefix(kind)?.trim().split_once(';')?.0.to_owned())
        };
        let ere: Vec<String> = of_ere.lines().filter_map(|line| field(line, "    u64 ")).collect();
        let fields: Vec<String> = all
            .lines()
            .flat_map(|line| match field(line, "    struct ere_knob_values ") {
                Some(prefix) => ere.iter().map(|field| format!("{prefix}_{field}")).collect(),
                None => Vec::from_iter(field(line, "    u64 ")),
            })
            .collect();
        assert_eq!(fields, FIELDS);
        assert_eq!(KnobValues::ZERO.bytes().len(), 8 * FIELDS.len());
    }

    #[test]
    fn knobs_reach_their_fields() {
        let values = |text: &str| KnobValues::of(&Control::named(text).unwrap()).unwrap();
        assert_eq!((values("astart").ere_n, values("astart").ere_tmin), (3, 15_000_000));
        assert_eq!(values("astart(preset=paper,ere.N=7)").ere_n, 7);
        assert_eq!(values("tcpw-a").lg_on, 1);
        assert_eq!(values("tcpw-a(lg.eps=0.6)").lg_eps, 600_000);
        let fixed = values("slow-start(iw=64KiB,ssthresh=none)");
        assert_eq!((fixed.iw_unit, fixed.iw, fixed.ssthresh_unit), (BYTES, 65_536, NO_LIMIT));
        let limited = values("slow-start(preset=rfc3390)");
        assert_eq!((limited.iw, limited.iw_limit), (4, 4_380));
    }

    #[test]
    fn an_estimate_of_westwoods_own_has_knobs_of_its_own() {
        let values = |text: &str| KnobValues::of(&Control::named(text).unwrap()).unwrap();
        let apart = values("astart(ere.N=5)+westwood(ere.N=9,ere.tmin=1ms)");
        assert_eq!((apart.ere_n, apart.westwood_n, apart.westwood_tmin), (5, 9, 1_000_000));
        let both = values("tcpw-a(preset=ns2)");
        assert_eq!((both.ere_n, both.westwood_n, both.lg_tick), (0, 0, 10_000_000));
    }

    /// Every word of every knob, and both ends of every range, of every policy that has C.
    #[test]
    fn every_value_is_taken_but_floating_point() {
        let mut tried = 0;
        for pair in PAIRS {
            let both = [(STARTUPS, pair.startup, true), (AVOIDANCES, pair.avoidance, false)];
            for (listings, name, first) in both {
                let listing = listings.iter().find(|listing| listing.name == name).unwrap();
                for (knob, value) in listing.knobs.iter().flat_map(ends) {
                    let text = match first {
                        true => format!("{name}({knob}={value})+{}", pair.avoidance),
                        false => format!("{}+{name}({knob}={value})", pair.startup),
                    };
                    let taken = KernelControl::new(&Control::named(&text).unwrap());
                    assert_eq!(taken.is_ok(), value != "double", "{text}: {taken:?}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 100, "{tried}");
    }

    fn ends(knob: &Knob) -> Vec<(&'static str, String)> {
        let values: Vec<String> = match knob.kind {
            KnobKind::Count(low, high) => vec![low.to_string(), high.to_string()],
            KnobKind::Ratio(low, high) => {
                [low, high].map(|n| format!("{}.{:06}", n / RATIO_ONE, n % RATIO_ONE)).into()
            }
            KnobKind::Time(low, high) => [low, high].map(|n| format!("{}ns", n.0)).into(),
            KnobKind::Window => vec!["1pkt".into(), "1B".into()],
            KnobKind::Threshold => vec!["1pkt".into(), "1B".into(), "none".into()],
            KnobKind::Word(words) => words.iter().map(|&word| word.to_owned()).collect(),
        };
        values.into_iter().map(|value| (knob.name, value)).collect()
    }

    #[test]
    fn floating_point_is_refused_in_words() {
        let control = Control::named("slow-start+newreno(sums=double)").unwrap();
        let error = KnobValues::of(&control).unwrap_err().to_string();
        assert!(error.contains("newreno(sums=...)"), "{error}");
        assert!(error.ends_with("eBPF has no floating point; accepted: exact"), "{error}");
    }
}
