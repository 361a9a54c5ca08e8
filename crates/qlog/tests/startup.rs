//! How the end of start-up is found in logs that record it in different ways.

use firstflight_qlog::{Connection, Event, Evidence, Exit, Lost, Metrics, Packet, State, What};

fn cwnd(at_ms: f64, bytes: u64) -> Event {
    let metrics = Metrics {
        congestion_window: Some(bytes),
        smoothed_rtt_ms: Some(50.0),
        ..Metrics::default()
    };
    Event { at_ms, what: What::Metrics(metrics) }
}

fn threshold(at_ms: f64, bytes: u64, ssthresh: u64) -> Event {
    let What::Metrics(metrics) = cwnd(at_ms, bytes).what else { unreachable!() };
    Event { at_ms, what: What::Metrics(Metrics { ssthresh: Some(ssthresh), ..metrics }) }
}

fn sent(at_ms: f64) -> Event {
    Event { at_ms, what: What::Sent(Packet::default()) }
}

fn loss(at_ms: f64) -> Event {
    Event { at_ms, what: What::Lost(Lost { packets: 1, ..Lost::default() }) }
}

fn state(at_ms: f64, old: Option<&str>, new: &str) -> Event {
    let state = State { old: old.map(Into::into), new: new.into(), trigger: None };
    Event { at_ms, what: What::State(state) }
}

fn exit(events: &[Event]) -> Option<Exit> {
    Connection::new(events.to_vec()).summary.exit
}

fn exit_of(events: &[Event]) -> (f64, Option<String>, Evidence, Option<u64>, u64) {
    let exit = exit(events).expect("start-up ended");
    (exit.time_s, exit.reason, exit.evidence, exit.cwnd_bytes, exit.packets_lost.unwrap_or(0))
}

fn why(reason: &str) -> Option<String> {
    Some(reason.to_owned())
}

#[test]
fn a_window_that_only_grows_is_start_up_to_the_end() {
    assert_eq!(exit(&[cwnd(0.0, 10), cwnd(50.0, 20), cwnd(100.0, 40)]), None);
    assert_eq!(exit(&[]), None);
}

#[test]
fn a_cut_near_a_loss_ends_it_with_the_window_before_the_cut() {
    let events = [cwnd(0.0, 10), cwnd(100.0, 40), loss(110.0), loss(110.0), cwnd(110.2, 20)];
    assert_eq!(exit_of(&events), (0.1102, why("loss"), Evidence::Cut, Some(40), 2));
}

#[test]
fn a_cut_within_an_rtt_of_its_loss_is_near_and_no_later_one() {
    let window = cwnd(100.0, 40);
    let cut_after = |ms: f64| {
        exit(&[window.clone(), loss(100.0), cwnd(100.0 + ms - 0.1, 40), cwnd(100.0 + ms, 20)])
    };
    assert!(cut_after(50.0).is_some() && cut_after(50.5).is_none());
}

#[test]
fn a_window_that_is_logged_rarely_was_cut_when_the_packet_was_lost() {
    // Cut at some time in 300 ms, in which a packet was lost.
    let events = [cwnd(0.0, 40), loss(100.0), cwnd(300.0, 20)];
    assert_eq!(exit_of(&events), (0.3, why("loss"), Evidence::Cut, Some(40), 1));
    // The loss is recorded after the cut, within an RTT or as seldom as the window.
    let events = [cwnd(0.0, 40), cwnd(100.0, 20), loss(140.0)];
    assert_eq!(exit_of(&events), (0.1, why("loss"), Evidence::Cut, Some(40), 1));
}

#[test]
fn the_smallest_rtt_is_the_least_of_all() {
    let rtt = |at_ms: f64, latest: f64| {
        let metrics = Metrics { latest_rtt_ms: Some(latest), ..Metrics::default() };
        Event { at_ms, what: What::Metrics(metrics) }
    };
    let answer = Event { at_ms: 1.0, what: What::Received(Packet::default()) };
    let events = vec![sent(0.0), answer, rtt(2.0, 60.0), rtt(3.0, 45.0), rtt(4.0, 70.0)];
    let connection = Connection::new(events);
    assert_eq!(connection.summary.min_rtt_ms, Some(45.0));
}

#[test]
fn a_smaller_window_without_a_loss_is_no_end() {
    assert_eq!(exit(&[cwnd(0.0, 40), cwnd(100.0, 20), loss(900.0)]), None);
}

#[test]
fn reaching_the_threshold_ends_it_and_a_loss_explains_it() {
    let events = [threshold(0.0, 10, 32), cwnd(50.0, 20), cwnd(100.0, 40)];
    assert_eq!(exit_of(&events), (0.1, why("ssthresh"), Evidence::Threshold, Some(40), 0));
    let events = [cwnd(0.0, 40), loss(60.0), threshold(60.0, 20, 20)];
    assert_eq!(exit_of(&events), (0.06, why("loss"), Evidence::Threshold, Some(40), 1));
}

#[test]
fn states_decide_where_there_are_states() {
    // Astart goes on above its threshold.
    let events = [
        state(0.0, None, "slow_start"),
        threshold(50.0, 40, 20),
        cwnd(100.0, 80),
        state(200.0, Some("slow_start"), "congestion_avoidance"),
    ];
    assert_eq!(exit_of(&events), (0.2, None, Evidence::State, Some(80), 0));
}

#[test]
fn hystart_and_application_limits_are_not_the_end() {
    let events = [
        cwnd(0.0, 10),
        state(1.0, Some("slow_start"), "conservative_slow_start"),
        state(2.0, Some("conservative_slow_start"), "application_limited"),
        state(3.0, Some("application_limited"), "slow_start"),
        state(4.0, Some("slow_start"), "application_limited"),
        loss(5.0),
        state(5.0, Some("application_limited"), "recovery"),
    ];
    assert_eq!(exit_of(&events), (0.005, why("loss"), Evidence::State, Some(10), 1));
}

#[test]
fn an_rtt_before_the_first_answer_is_a_guess() {
    let answer = Event { at_ms: 40.0, what: What::Received(Packet::default()) };
    let rtt = |at_ms: f64, ms: f64| {
        let metrics = Metrics { smoothed_rtt_ms: Some(ms), ..Metrics::default() };
        Event { at_ms, what: What::Metrics(metrics) }
    };
    let events = vec![sent(0.0), rtt(0.0, 333.0), answer, rtt(40.0, 41.0)];
    let connection = Connection::new(events);
    assert_eq!(connection.summary.peak_smoothed_rtt_ms, Some(41.0));
    assert_eq!(connection.curves(1.0).smoothed_rtt.points(), [(0.04, 41.0)]);
}

#[test]
fn the_log_s_own_reason_is_taken() {
    let change = State {
        old: Some("slow_start".into()),
        new: "recovery".into(),
        trigger: Some("ECN".into()),
    };
    let events = [Event { at_ms: 3.0, what: What::State(change) }];
    assert_eq!(exit_of(&events).1, why("ECN"));
}

#[test]
fn a_state_logged_behind_the_cut_window_ends_it_with_the_window_before() {
    let events = [state(0.0, None, "slow_start"), cwnd(10.0, 40), loss(99.0), cwnd(99.0, 20)];
    let after = |ms: f64| [&events[..], &[state(ms, None, "recovery")]].concat();
    assert_eq!(exit_of(&after(99.0)), (0.099, why("loss"), Evidence::State, Some(40), 1));
    assert_eq!(exit_of(&after(140.0)).3, Some(20), "that cut was another matter");
}

#[test]
fn bbr_s_start_up_is_one_with_its_name_in_front_too() {
    let events = [state(0.0, None, "bbr_startup"), cwnd(10.0, 40), state(90.0, None, "bbr_drain")];
    assert_eq!(exit_of(&events), (0.09, None, Evidence::State, Some(40), 0));
}
