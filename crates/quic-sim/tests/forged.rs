//! A peer that lies inside the encryption: ACKs of packets that never arrived or never left, split,
//! repeated, reordered and late ones, marks, frames that are none; paths whose RTT and MTU change.
//! Through quinn's own state machines, under every start-up and, for comparison, under quinn's own
//! controllers.
//!
//! The handshake is with a quinn server, whose keys the liar then uses (`keys.rs`). What must hold:
//! no panic, a window of two packets at least that grows as its algorithm says (`earned`) and not
//! beyond the multiple of the flight that its start-up declares or its model of the path allows,
//! nothing in flight above the window but probes, and a connection that goes on, or ends with the
//! error that the lie deserves.

mod keys;
mod liar;
mod packet;
mod scene;
mod watch;

use firstflight_control::Control;
use firstflight_control::stack::OF_QUINN;
use firstflight_core::policy::{Observer as _, Startup as _};
use firstflight_core::registry::{AnyStartup, STARTUPS};
use firstflight_quic::quinn::OWN;
use quinn_proto::{ConnectionError, TransportErrorCode};

use liar::Attack;
use scene::{BUFFERED, Outcome, Path, run};

/// The BDP of [`path`], bytes.
const BDP: u64 = 20_000_000 / 8 * 40 / 1_000;

/// 20 Mbit/s, 40 ms, half a BDP of buffer.
fn path() -> Path {
    Path { rate_mbps: 20, one_way_ms: 20, buffer: 50, mtu: 1_500, changes: Vec::new() }
}

/// Every start-up that needs no routers with its usual avoidance, and quinn's own controllers.
fn controls() -> impl Iterator<Item = &'static str> {
    let ours = STARTUPS
        .iter()
        .map(|card| card.name)
        .filter(|name| firstflight_quic::quinn::control(name).is_ok());
    ours.chain(OWN.iter().map(|own| own.name))
}

/// What holds whatever the ACKs claim.
fn bounded(control: &str, attack: Attack, outcome: &Outcome) {
    let seen = outcome.seen;
    let at = format!("{control}, {attack:?}: {seen:?}");
    assert!(seen.least_window >= 2 * 1_200, "{at}");
    // Two probes may leave at once (RFC 9002 section 6.2.4).
    let with_probes = seen.peak_window.max(seen.first_window) + 2 * seen.mtu;
    assert!(seen.peak_in_flight <= with_probes, "{at}");
    assert!(seen.peak_in_flight <= BUFFERED + BUFFERED / 20, "headers and all: {at}");
    assert!(seen.above <= PROBES, "{at}");
    let startup = AnyStartup::by_name(control);
    let growth = startup.map_or(2, |startup| match startup.follows_model() {
        true => MODEL_FLIGHTS,
        false => startup.growth(),
    });
    let justified = (growth * seen.peak_in_flight + seen.mtu).max(seen.first_window);
    let ours = !control.starts_with(OF_QUINN);
    assert!(!ours || seen.peak_window <= justified, "{at}");
    let grown = seen.peak_window - seen.first_window;
    assert!(earned(control, seen.acked, seen.mtu).is_none_or(|most| grown <= most), "{at}");
}

/// What a window may grow by when so many bytes are acknowledged, whatever is claimed about them,
/// in bytes; `None` of a control that measures or multiplies, of which our own still grow no window
/// beyond what the flight allows (draft-ietf-ccwg-ratelimited-increase).
fn earned(control: &str, acked: u64, mtu: u64) -> Option<u64> {
    match control {
        // A rate times a delay, at once.
        "packet-pair" | "quinn-bbr" | "c4" | "scout" => None,
        // Twice the window in a round trip, in one step.
        "copa" => None,
        // Two bytes per byte while no queue shows.
        "rapid-start" => Some(acked * 2),
        // Half of what is missing to a measured threshold, in a round trip.
        "afstart" => None,
        // 2^rho - 1 packets per packet in start-up, rho^2 per window after it, rho of the RTT.
        "hybla" => None,
        // Ten packets per packet, then nine, down to one: 5.5 on the average.
        "mstart" => Some(acked * 11 / 2 + 10 * mtu),
        // Three segments per segment on a path that it takes for a large one.
        "e-speed" => Some(acked * 3),
        // A byte per byte in slow start (RFC 9002 section 7.3.1), less after it.
        _ => Some(acked),
    }
}

/// Westwood's window after a mark is what it estimates that the path has room for.
fn cuts_to_an_estimate(control: &str) -> bool {
    let complete = Control::named(control);
    complete.is_ok_and(|control| control.avoidance_name == "westwood")
}

fn goes_on(control: &str, attack: Attack, outcome: &Outcome) {
    bounded(control, attack, outcome);
    let (acked, closed) = (outcome.seen.acked, &outcome.closed);
    assert!(closed.is_none(), "{control}, {attack:?}: {closed:?}");
    assert!(acked > 20_000, "{control}, {attack:?}: {acked} bytes");
}

fn ends(control: &str, attack: Attack, outcome: &Outcome, code: TransportErrorCode) {
    bounded(control, attack, outcome);
    let Some(ConnectionError::TransportError(error)) = &outcome.closed else {
        panic!("{control}, {attack:?}: {outcome:?}");
    };
    assert_eq!(error.code, code, "{control}, {attack:?}: {error}");
}

/// The peak window under the attack over that under an honest receiver.
fn gained(control: &str, attack: Attack, path: &Path) -> f64 {
    let honest = run(control, Attack::Honest, path, SEED, RUN_MS);
    goes_on(control, Attack::Honest, &honest);
    let outcome = run(control, attack, path, SEED, RUN_MS);
    goes_on(control, attack, &outcome);
    outcome.seen.peak_window as f64 / honest.seen.peak_window as f64
}

#[test]
fn acks_that_are_split_win_nothing_much() {
    for control in controls() {
        let gained = gained(control, Attack::Split, &path());
        // Estimators get a sample per packet instead of one per two.
        assert!(gained < 2.0, "{control}: {gained} times the window");
    }
}

#[test]
fn acks_that_are_repeated_win_nothing() {
    for control in controls() {
        let gained = gained(control, Attack::Repeated, &path());
        assert!(gained < 1.05, "{control}: {gained} times the window");
    }
}

#[test]
fn acks_out_of_order_or_late_and_marks_leave_a_connection_that_goes_on() {
    for control in controls() {
        for attack in [Attack::Backwards, Attack::Late] {
            goes_on(control, attack, &run(control, attack, &path(), SEED, RUN_MS));
        }
        let marked = run(control, Attack::Marked, &path(), SEED, RUN_MS);
        goes_on(control, Attack::Marked, &marked);
        // quinn's BBR ignores marks.
        let seen = marked.seen;
        let most = if cuts_to_an_estimate(control) { BDP } else { 20 * seen.mtu };
        assert!(control == "quinn-bbr" || seen.window <= most, "{control}: {seen:?}");
    }
}

/// Nobody can tell such an ACK from that of a shorter path; what is buffered is the bound.
#[test]
fn acks_of_what_has_just_left_bring_no_more_into_flight_than_is_buffered() {
    for control in controls() {
        goes_on(control, Attack::Early, &run(control, Attack::Early, &path(), SEED, RUN_MS / 2));
    }
}

#[test]
fn acks_of_what_never_left_end_the_connection() {
    for control in controls() {
        for attack in [Attack::Ahead, Attack::Lossless] {
            let outcome = run(control, attack, &path(), SEED, RUN_MS);
            ends(control, attack, &outcome, TransportErrorCode::PROTOCOL_VIOLATION);
        }
    }
}

#[test]
fn ranges_that_are_none_end_the_connection() {
    for (seed, control) in (1..).zip(controls()) {
        let outcome = run(control, Attack::Absurd, &path(), seed, RUN_MS);
        bounded(control, Attack::Absurd, &outcome);
        let error = outcome.closed.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("ACK") || error.contains("acked"), "{control}: {error}");
    }
}

#[test]
fn a_receiver_that_says_now_this_and_now_that_cannot_make_a_sender_run_away() {
    for (seed, control) in (1..).zip(controls().chain(controls())) {
        goes_on(control, Attack::Mixed, &run(control, Attack::Mixed, &path(), seed, RUN_MS));
    }
}

#[test]
fn paths_whose_rtt_and_mtu_leap_are_lived_through() {
    // At 900 ms the RTT leaps to 340 ms and packets above 1300 bytes vanish, at 1600 ms it is over.
    let leaping = Path { changes: vec![(900, 170, 1_300), (1_600, 20, 1_500)], ..path() };
    for control in controls() {
        let whole = run(control, Attack::Honest, &path(), SEED, 900).seen;
        assert!(whole.mtu > 1_300, "{control}: no larger packets were found: {whole:?}");
        let outcome = run(control, Attack::Honest, &leaping, SEED, 4_000);
        goes_on(control, Attack::Honest, &outcome);
        assert!(outcome.seen.acked > whole.acked + 100_000, "{control}: {outcome:?}");
    }
}

const SEED: u64 = 7;
/// Half a second of handshake and a second of lies.
const RUN_MS: u64 = 1_500;
/// The window of a model, in flights (draft-ietf-ccwg-bbr section 5.6.4.2): twice what the path
/// holds by a rate sample, which delivers no more than was in flight, and what ACKs ran ahead, of
/// which nothing is left beyond a flight.
const MODEL_FLIGHTS: u64 = 3;
/// Packets above the window: two for each probe timeout (RFC 9002 section 6.2.4), of which a second
/// has few.
const PROBES: u64 = 32;
