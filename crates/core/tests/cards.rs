//! What a policy's card says of it is true: its knobs are set and read as the table describes, and
//! what it needs of a transport is what its source uses.

use firstflight_core::card::Card;
use firstflight_core::knob::{Amount, Knob, KnobKind, KnobValue};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::policy::{Entry, Observer, Startup};
use firstflight_core::registry::{
    AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS, avoidance_needs, startup_needs,
};
use firstflight_core::units::Span;

/// A fresh policy of either side.
enum Policy {
    Startup(AnyStartup),
    Avoidance(AnyAvoidance),
}

impl Policy {
    fn set(&mut self, knob: &str, value: KnobValue) -> bool {
        match self {
            Self::Startup(policy) => policy.set(knob, value),
            Self::Avoidance(policy) => policy.set(knob, value),
        }
    }

    fn value(&self, knob: &str) -> Option<KnobValue> {
        match self {
            Self::Startup(policy) => policy.value(knob),
            Self::Avoidance(policy) => policy.value(knob),
        }
    }
}

fn policies() -> impl Iterator<Item = (&'static Card, Policy)> {
    let startup = |name| AnyStartup::by_name(name).expect("a listed start-up");
    let avoidance = |name| AnyAvoidance::by_name(name).expect("a listed avoidance");
    let startups = STARTUPS.iter().map(move |card| (card, Policy::Startup(startup(card.name))));
    let avoidances =
        AVOIDANCES.iter().map(move |card| (card, Policy::Avoidance(avoidance(card.name))));
    startups.chain(avoidances)
}

/// The values of a knob at both ends of its range, or each of its words.
fn values(knob: &Knob) -> Vec<KnobValue> {
    match knob.kind {
        KnobKind::Count(low, high) => vec![KnobValue::Count(low), KnobValue::Count(high)],
        KnobKind::Ratio(low, high) => vec![KnobValue::Ratio(low), KnobValue::Ratio(high)],
        KnobKind::Time(low, high) => vec![KnobValue::Time(low), KnobValue::Time(high)],
        KnobKind::Word(words) => words.iter().map(|word| KnobValue::Word(word)).collect(),
        KnobKind::Window => vec![KnobValue::Window(Amount::Segments(7))],
        KnobKind::Threshold => {
            [Amount::Bytes(70_000), Amount::Unlimited].map(KnobValue::Window).to_vec()
        }
    }
}

/// A value of another kind than the knob's.
fn of_another_kind(knob: &Knob) -> KnobValue {
    match knob.kind {
        KnobKind::Count(..) => KnobValue::Time(Span(1)),
        _ => KnobValue::Count(1),
    }
}

fn knobs_and_values(card: &Card) -> impl Iterator<Item = (&Knob, KnobValue)> {
    card.knobs.iter().flat_map(|knob| values(knob).into_iter().map(move |value| (knob, value)))
}

/// Values that are not read as they were set: a preset that follows from the other knobs, and a
/// word that means the same as another.
fn reads_otherwise(policy: &str, knob: &str, value: KnobValue) -> bool {
    matches!(
        (policy, knob, value),
        ("astart" | "mstart" | "westwood" | "bbr", "preset", _)
            | ("slow-start", "preset", KnobValue::Word("rfc2001" | "rfc2581"))
            | ("dbc", "wth", KnobValue::Word("fixed"))
    )
}

/// `Knobs::value` returns what was set.
#[test]
fn a_knob_that_is_set_can_be_read() {
    for (card, mut policy) in policies() {
        for knob in card.knobs {
            for value in values(knob) {
                assert!(policy.set(knob.name, value), "{}: {} = {value:?}", card.name, knob.name);
                let read = policy.value(knob.name);
                if !reads_otherwise(card.name, knob.name, value) {
                    assert_eq!(read, Some(value), "{}: {}", card.name, knob.name);
                }
            }
            let (other, name) = (of_another_kind(knob), knob.name);
            assert!(!policy.set(name, other), "{}: {name} = {other:?}", card.name);
        }
        let (word, window) = (KnobValue::Word("exact"), KnobValue::Window(Amount::Unlimited));
        let (time, ratio) = (KnobValue::Time(Span(1)), KnobValue::Ratio(1));
        for value in [KnobValue::Count(1), word, window, time, ratio] {
            assert!(!policy.set("no-such-knob", value), "{}: {value:?}", card.name);
        }
        assert_eq!(policy.value("no-such-knob"), None, "{}", card.name);
    }
}

/// A library's caller may set what a scenario's reader refuses: the nearest end of the range is
/// taken.
#[test]
fn a_value_out_of_range_is_its_nearest_end() {
    let (least, most) = (Span(0), Span::MAX);
    for (card, mut policy) in policies() {
        for knob in card.knobs {
            let beyond = match knob.kind {
                KnobKind::Count(..) => [0, u64::MAX].map(KnobValue::Count),
                KnobKind::Ratio(..) => [0, u64::MAX].map(KnobValue::Ratio),
                KnobKind::Time(..) => [least, most].map(KnobValue::Time),
                _ => continue,
            };
            for (value, end) in beyond.into_iter().zip(values(knob)) {
                assert!(policy.set(knob.name, value));
                assert_eq!(policy.value(knob.name), Some(end), "{}: {}", card.name, knob.name);
            }
        }
    }
}

/// What a knob was set to holds when the connection, or start-up once more, begins.
#[test]
fn knobs_stay_when_start_up_begins() {
    let rtt = Span::from_millis(100).0;
    for card in STARTUPS {
        for (knob, value) in knobs_and_values(card) {
            let mut policy = AnyStartup::by_name(card.name).expect("a listed start-up");
            assert!(policy.set(knob.name, value));
            let before = policy.value(knob.name);
            let view = crate::start_up_view::view(10, rtt, rtt);
            let _ = policy.begin(&view);
            for why in [Entry::Connect, Entry::Timeout, Entry::Reprobe] {
                policy.enter(why, &view);
                assert_eq!(policy.value(knob.name), before, "{}: {}", card.name, knob.name);
            }
        }
    }
}

/// A list shows a default in words, or the value that the policy begins with. The words name that
/// value first.
#[test]
fn every_knob_begins_as_its_default_says() {
    for (card, policy) in policies() {
        for knob in card.knobs {
            let first = knob.default.split([' ', ',']).next().unwrap_or_default();
            let value = match policy.value(knob.name) {
                _ if knob.name == "preset" => words(knob)[0].to_owned(),
                Some(KnobValue::Word(word)) => word.to_owned(),
                Some(KnobValue::Count(count)) => count.to_string(),
                Some(_) => continue,
                None => {
                    assert_ne!(first, "", "{}: {}", card.name, knob.name);
                    continue;
                }
            };
            assert!(["", &value].contains(&first), "{}: {} is {value}", card.name, knob.name);
        }
    }
}

/// Results name it where no preset is set.
#[test]
fn a_preset_comes_first_and_begins_as_its_first_word() {
    for (card, policy) in policies() {
        let Some(at) = card.knobs.iter().position(|knob| knob.name == "preset") else { continue };
        assert_eq!(at, 0, "{}", card.name);
        let first = KnobValue::Word(words(&card.knobs[at])[0]);
        assert!(policy.value("preset").is_none_or(|word| word == first), "{}", card.name);
    }
}

fn words(knob: &Knob) -> &'static [&'static str] {
    match knob.kind {
        KnobKind::Word(words) => words,
        kind => panic!("{} is a {kind:?}", knob.name),
    }
}

#[test]
fn initial_windows_of_one_and_two_segments_are_read_as_windows() {
    let mut policy = AnyStartup::by_name("slow-start").expect("a listed start-up");
    for (preset, segments) in [("rfc2001", 1), ("rfc2581", 2)] {
        assert!(policy.set("preset", KnobValue::Word(preset)));
        assert_eq!(policy.value("iw"), Some(KnobValue::Window(Amount::Segments(segments))));
    }
}

/// A policy that asks for too little runs where it cannot work; one that asks for too much is
/// refused where it could.
#[test]
fn policies_need_what_their_sources_use() {
    let (times, pacing) = (Needs::TIMES, Facilities::PACING);
    let memory = times.wanting(Facilities::MEMORY | pacing);
    let with = |facilities| Needs::required(Facilities::TIMES | facilities);
    let rates = Facilities::RATES | Facilities::PACKETS;
    let changes = with(Facilities::ROUTER_CHANGES);
    let shares = with(Facilities::ROUTER_SHARES).wanting(pacing);
    let startups = [
        ("slow-start", Needs::NONE),
        ("liw", Needs::NONE),
        ("bc", Needs::NONE),
        ("limited", Needs::NONE),
        ("two-phase", Needs::NONE),
        ("smooth-start", Needs::NONE),
        ("hystart", times),
        ("ledbat-pp", times),
        ("prague", times.wanting(Facilities::MARKS | Facilities::L4S)),
        ("copa", times.wanting(pacing)),
        ("careful-resume", memory.wanting(Facilities::WAKE_UPS)),
        ("jump-start", with(pacing | Facilities::RECOVERY_WINDOW)),
        ("picoquic", with(Facilities::RECOVERY_WINDOW)),
        ("c4", with(rates | Facilities::RECOVERY_WINDOW).wanting(pacing)),
        ("chirps", with(Facilities::WAKE_UPS).wanting(pacing)),
        ("suss", with(pacing | Facilities::PACED_WAKE_UPS).wanting(Facilities::RECOVERY_WINDOW)),
        ("paced", times.wanting(pacing)),
        ("afstart", times.wanting(pacing)),
        ("fast-start", memory),
        ("spand", memory),
        ("stateful-tcp", memory),
        ("initial-spreading", times.wanting(pacing)),
        ("quick-start", with(Facilities::GRANTS).wanting(pacing)),
        ("xcp", changes),
        ("tcp-ebn", shares),
    ];
    for (name, needs) in startups {
        assert_eq!(startup_needs(name), Some(needs), "{name}");
    }
    let avoidances = [
        ("newreno", Needs::NONE),
        ("scalable", Needs::NONE),
        ("highspeed", Needs::NONE),
        ("dctcp", Needs::required(Facilities::MARKS)),
        ("prague", Needs::required(Facilities::MARKS).wanting(Facilities::L4S)),
        ("vegas", times),
        ("xcp", changes),
        ("tcp-ebn", shares),
    ];
    for (name, needs) in avoidances {
        assert_eq!(avoidance_needs(name), Some(needs), "{name}");
    }
}

/// The avoidance's knob where a start-up of that name has one of that name too.
fn knob(policy: &str, name: &str) -> Knob {
    let cards = STARTUPS.iter().chain(AVOIDANCES).filter(|card| card.name == policy);
    let mut knobs = cards.flat_map(|card| card.knobs).filter(|knob| knob.name == name);
    *knobs.next_back().unwrap_or_else(|| panic!("{policy} has no knob {name}"))
}

/// The largest values, which a command line accepts as the table has them.
#[test]
fn knobs_reach_as_far_as_their_sources_make_sense() {
    let ratio = |policy, name| match knob(policy, name).kind {
        KnobKind::Ratio(low, high) => (low, high),
        kind => panic!("{policy}: {name} is a {kind:?}"),
    };
    const ONE: u64 = 1_000_000;
    // Ten windows, or measured rates, per RTT; growth by a hundredth; buffers of a hundred BDPs.
    assert_eq!(ratio("paced", "gain"), (ONE, 10 * ONE));
    assert_eq!(ratio("afstart", "probe"), (ONE, 10 * ONE));
    assert_eq!(ratio("dbc", "dmax"), (ONE, 100 * ONE));
    assert_eq!(ratio("conservative", "buffer"), (1_000, 100 * ONE));
    // A loss leaves a tenth to nearly all; high_decrease is at most standard TCP's half.
    assert_eq!(ratio("cubic", "beta"), (100_000, 950_000));
    assert_eq!(ratio("cubic", "c"), (1_000, 100 * ONE));
    assert_eq!(ratio("highspeed", "high_decrease"), (10_000, ONE / 2));
    // Safe Retreat leaves a half or more (RFC 9959 section 4.5); BBR does not probe beyond half of
    // what is lost; Rapid Start's first window is at most twice the ordinary one (section 3.1).
    assert_eq!(ratio("careful-resume", "beta"), (ONE / 2, ONE));
    assert_eq!(ratio("rapid-start", "first"), (ONE, 2 * ONE));
    assert_eq!(ratio("c4", "delay"), (ONE / 16, ONE / 4));
    assert_eq!(ratio("bbr", "loss"), (0, ONE / 2));
    assert_eq!(ratio("bbr", "beta"), (ONE / 10, ONE));
    assert_eq!(ratio("bbr", "headroom"), (0, ONE / 2));
    assert_eq!(ratio("bbr", "gain"), (ONE, 10 * ONE));
    assert_eq!(ratio("bbr", "drain_gain"), (ONE / 10, ONE));
    let reference = knob("e-speed", "reference").kind;
    assert!(matches!(reference, KnobKind::Count(1, most) if most == 1 << 40), "{reference:?}");
}

#[test]
fn knobs_that_differ_from_the_usual_ones_say_so() {
    assert_eq!(knob("afstart", "iw").default, "4 segments");
    assert_eq!(knob("vegas", "ssthresh").default, "none, or the scenario's");
    assert!(knob("westwood", "preset").doc.contains("lg.eps"));
}

/// The constants of CUBIC 2.1 in 1024ths, 819 and 410, and of Linux today, 717 and 410.
#[test]
fn cubic_s_presets_have_constants_of_their_own() {
    let mut policy = AnyAvoidance::by_name("cubic").expect("a listed avoidance");
    for (preset, beta) in [("ns2", 799_804), ("linux", 700_195)] {
        assert!(policy.set("preset", KnobValue::Word(preset)));
        assert_eq!(policy.value("beta"), Some(KnobValue::Ratio(beta)));
        assert_eq!(policy.value("c"), Some(KnobValue::Ratio(400_390)));
    }
}

/// What pictures and traces draw next to the window. Nothing is known before the first ACK.
#[test]
fn start_ups_of_today_report_their_gauges() {
    for (name, gauges) in [
        ("search", &["search_bin", "search_expected", "search_delivered"][..]),
        ("search", &["search_warms_up", "search_rtt_inflated", "search_nothing_sent"]),
        ("rapid-start", &["rapid_start_floor", "rapid_start_acked", "rapid_start_lost"]),
        ("bbr", &["bbr_bandwidth", "bbr_rounds_without_growth", "bbr_drains", "bbr_probes_rtt"]),
        ("suss", &["suss_train", "suss_jumps", "suss_cap"]),
        ("careful-resume", &["careful_resume_phase", "careful_resume_pipe"]),
        ("jump-start", &["jump_start_jump", "jump_start_delivered"]),
        ("copa", &["copa_standing_rtt"]),
        ("c4", &["c4_rate", "c4_idle", "c4_initial"]),
        ("picoquic", &["picoquic_base", "picoquic_excess", "picoquic_lost"]),
        ("ledbat-pp", &["ledbat_pp_filtered_rtt"]),
        ("chirps", &["chirps_begun"]),
        ("stateful-tcp", &["stateful_tcp_rate"]),
    ] {
        let policy = AnyStartup::by_name(name).expect("a listed start-up");
        let mut reported = Vec::new();
        policy.gauges(&mut |gauge, value| reported.push((gauge, value)));
        for gauge in gauges {
            assert!(reported.contains(&(gauge, 0)), "{name}: {gauge} in {reported:?}");
        }
    }
}
