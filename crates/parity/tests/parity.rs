//! The kernel's C and the Rust core, fed the same events, hold the same cwnd, ssthresh, pace and
//! W_max of CUBIC after every one: for every control that has C, on streams like a connection's and
//! on streams that no connection would make.

mod parity {
    pub(crate) mod both;
    pub(crate) mod draw;
    pub(crate) mod each_knob;
    pub(crate) mod path;
    pub(crate) mod random_knobs;
    pub(crate) mod wild;
}

use firstflight_control::Control;
use firstflight_core::event::Ack;
use firstflight_core::hint::Learned;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Window;
use firstflight_kernel::KernelControl;
use firstflight_kernel::catalogue::PAIRS;
use firstflight_parity::{high_half, mul_div};

use parity::both::Both;
use parity::draw::Draw;
use parity::{each_knob, path, random_knobs, wild};

/// Over all controls three million ACKs, in two kinds of streams.
const ACKS: u64 = 3_000_000;

#[test]
fn cwnd_and_ssthresh_are_equal_after_every_ack() {
    let controls = each_knob::controls();
    let share = ACKS.div_ceil(controls.len() as u64 * 2);
    let (mut acks, mut cuts, mut grown) = (0, 0, 0);
    for (number, text) in controls.iter().enumerate() {
        let mut draw = Draw::new(number as u64);
        for kind in [path::drive, wild::drive] {
            let mut done = 0;
            while done < share {
                let mut both = Both::new(text, &mut draw);
                kind(&mut both, &mut draw);
                done += both.acks;
                cuts += both.cuts;
                grown += both.grown;
            }
            acks += done;
        }
    }
    let count = controls.len();
    println!(
        "{count} controls, {acks} ACKs, of which {grown} opened cwnd, and {cuts} cuts, all equal"
    );
    assert!(acks >= ACKS, "only {acks} ACKs");
    assert!(grown > acks / 4 && cuts > acks / 1_000, "{grown} opened cwnd, {cuts} cuts");
}

/// Connections whose knobs nobody chose, each short, so that there are many sets of knobs.
const RANDOM_CONNECTIONS: u64 = 3_000;

#[test]
fn random_knobs_are_the_same_knobs_in_c() {
    let mut draw = Draw::new(1 << 32);
    let (mut acks, mut cuts) = (0, 0);
    for connection in 0..RANDOM_CONNECTIONS {
        let pair = &PAIRS[connection as usize % PAIRS.len()];
        let text = random_knobs::control(pair, &mut draw);
        let mut both = Both::new(&text, &mut draw);
        if draw.once_in(4) {
            wild::drive(&mut both, &mut draw);
        } else {
            path::drive(&mut both, &mut draw);
        }
        acks += both.acks;
        cuts += both.cuts;
    }
    println!("{RANDOM_CONNECTIONS} sets of knobs, {acks} ACKs and {cuts} cuts, all equal");
    assert!(acks > 1_000_000 && cuts > 10_000, "{acks} ACKs, {cuts} cuts");
}

/// Segments of a terabyte over an RTT of a nanosecond have the largest rate, which in C is none.
#[test]
fn the_largest_rate_replaces_the_pace_of_an_earlier_begin() {
    for text in ["rapid-start", "scout"] {
        let mut both = Both::new(text, &mut Draw::new(0));
        both.wild = true;
        both.handshake(1, 1);
        both.begin(2);
        both.set_mss(1 << 40);
        both.begin(3);
    }
}

/// Careful Resume has no begin of its own: the pace of its jump stays.
#[test]
fn a_start_up_without_a_begin_keeps_its_pace() {
    let mut both = Both::new("careful-resume", &mut Draw::new(0));
    let (rtt, first) = (Span::from_millis(100), Bytes(both.cwnd()));
    let window = Window { cwnd: first * 100, ssthresh: first * 50 };
    let (delivered, per_round, age) = (first * 1_000, first * 100, Span::from_secs(1));
    both.handshake(1, rtt.0);
    both.hint(1, Learned { window, rtt, min_rtt: rtt, delivered, per_round, rate: None, age });
    both.begin(1);
    let (now, rtt) = (Instant(1 + rtt.0), Some(rtt));
    both.ack(&Ack { now, acked: first, credited: first, rtt, snd_nxt: first, ..Ack::default() });
    assert_eq!(Bytes(both.cwnd()), (first * 50).whole_segments(Bytes(both.mss())), "it jumps");
    both.begin(now.0);
}

/// Few of all connections have the RTT, the ACK trains and the peace in which start-up is woken.
#[test]
fn a_start_up_that_is_woken_decides_as_in_rust() {
    let mut draw = Draw::new(1 << 33);
    let (mut connections, mut woken) = (0, 0);
    while connections < WOKEN_CONNECTIONS {
        let mut both = Both::new(["suss", "suss+newreno"][connections % 2], &mut draw);
        path::drive(&mut both, &mut draw);
        connections += 1;
        woken += both.woken;
    }
    println!("{connections} connections, {woken} wake-ups that opened cwnd, all equal");
    assert!(woken > 30, "{woken} wake-ups opened cwnd");
}

/// Trains need an RTT sample with nearly every ACK, and a start-up that nothing ends.
#[test]
fn trains_leave_as_in_rust() {
    let mut draw = Draw::new(1 << 34);
    let (mut connections, mut trains) = (0, 0);
    while connections < TRAIN_CONNECTIONS {
        let text = ["scout", "scout(first=1,acks=4)+newreno", "scout(resume=on)"][connections % 3];
        let mut both = Both::new(text, &mut draw);
        path::drive(&mut both, &mut draw);
        connections += 1;
        trains += both.trains;
    }
    println!("{connections} connections, {trains} trains, all equal");
    assert!(trains > 3_000, "{trains} trains");
}

const TRAIN_CONNECTIONS: usize = 3_000;
const WOKEN_CONNECTIONS: usize = 600;

/// Quotients of two 64-bit digits in base 2^32 need their corrections only now and then.
#[test]
fn wide_products_and_quotients_are_exact() {
    let mut draw = Draw::new(0);
    for _ in 0..1_000_000 {
        let (a, b, den) = (draw.any_size(), draw.any_size(), draw.any_size());
        let product = u128::from(a) * u128::from(b);
        assert_eq!(high_half(a, b), (product >> 64) as u64, "{a} * {b}");
        let quotient = u64::try_from(product / u128::from(den.max(1))).unwrap_or(u64::MAX);
        assert_eq!(mul_div(a, b, den), quotient, "{a} * {b} / {den}");
    }
}

/// A value that a knob is set to is the one that C is given.
#[test]
fn every_value_of_every_knob_reaches_c_but_floating_point() {
    let mut tried = 0;
    for set in each_knob::sets() {
        let control = Control::named(&set.control).unwrap();
        let taken = KernelControl::new(&control);
        assert_eq!(taken.is_ok(), !set.is_floating_point(), "{}: {taken:?}", set.control);
        let actual = set.value_in(&control);
        // A preset is no value of its own but sets others; dbc has two words for one threshold.
        if set.knob != "preset" && set.value != "fixed" {
            let setting = control.settings.iter().find(|setting| setting.knob == set.knob).unwrap();
            assert_eq!(actual, Some(setting.value), "{}", set.control);
        }
        tried += 1;
    }
    assert!(tried > 200, "{tried}");
}
