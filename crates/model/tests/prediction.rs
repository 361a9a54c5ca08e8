//! The prediction for a path, as a user reads it.

use firstflight_model::{Conditions, Prediction, Verdict, predict};

/// The paper's Figure 3: 1.5 Mbit/s, 190 ms, 512-byte packets.
fn paper(buffer_packets: u64, packets_per_ack: u64, ssthresh: Option<u64>) -> Conditions {
    Conditions {
        rate_bps: 1_500_000,
        rtt_ns: 190_000_000,
        wire_bytes: 512,
        payload_bytes: 512,
        buffer_packets,
        ssthresh_bytes: ssthresh.map(|packets| packets * 512),
        initial_window_bytes: 512,
        packets_per_ack,
        flows: 1,
        transfer_bytes: None,
    }
}

fn of(conditions: &Conditions) -> Prediction {
    predict(conditions).unwrap()
}

fn verdict(prediction: &Prediction, start: &str) -> Verdict {
    let found = prediction.startups.iter().find(|fit| fit.control.starts_with(start));
    found.unwrap_or_else(|| panic!("no {start}")).verdict
}

fn says(prediction: &Prediction, words: &[&str]) {
    for word in words {
        assert!(prediction.advice.contains(word), "no {word:?} in {}", prediction.advice);
    }
}

#[test]
fn the_advice_on_an_overflow_names_its_window_its_losses_and_what_follows() {
    let found = of(&paper(20, 1, None));
    assert_eq!(found.bdp_packets, 285_000.0 / 4_096.0);
    assert_eq!(found.overflow_window_packets, 52.0);
    assert_eq!(found.overflow_window_approx_packets, 40.0);
    assert_eq!(found.detection_window_packets, 104.0);
    assert_eq!(found.threshold_after_packets, 13.0);
    assert_eq!(found.threshold_after_one_fast_retransmit_packets, 26.0);
    assert_eq!((found.safe_ssthresh_packets, found.robust_ssthresh_packets), (51.0, 39.0));
    assert!(found.overflows && !found.fills_pipe);
    says(&found, &["at about 52 packets", "at 104 packets", "about 32", "13 packets", "or 26"]);
    says(&found, &["a buffer of 70 packets", "up to 39 packets", "up to 51"]);
    assert_eq!(verdict(&found, "slow-start"), Verdict::Overflows);
}

#[test]
fn figure_4_does_not_overflow_but_is_called_close() {
    let close = of(&paper(20, 1, Some(50)));
    assert!(!close.overflows);
    says(&close, &["does not overflow", "that is close", "from 40 packets on (equation 4)"]);
    let far = of(&paper(70, 1, Some(50)));
    assert!(!far.overflows && !far.advice.contains("close"), "{}", far.advice);
    // Nothing overflows, so slow start ends at its ssthresh and nothing is cut.
    assert_eq!((far.detection_window_packets, far.threshold_after_packets), (50.0, 50.0));
}

#[test]
fn figure_8_has_hoe_losing_and_decreasing_byte_counting_fitting() {
    // B 30 lies between BDP/3 and BDP/2.
    let fast = of(&paper(30, 1, None));
    assert_eq!(verdict(&fast, "hoe"), Verdict::Overflows);
    assert_eq!(verdict(&fast, "dbc(ssthresh=69pkt)"), Verdict::Fits);
    says(&fast, &["needs a buffer above BDP/2, 34.8 packets; this one has 0.431 BDP"]);
    let slow = of(&paper(30, 2, None));
    assert_eq!(verdict(&slow, "hoe"), Verdict::Fits);
    assert_eq!(verdict(&slow, "bc"), Verdict::Overflows);
}

#[test]
fn smaller_buffers_ask_for_a_larger_dmax_until_none_is_worth_it() {
    assert_eq!(verdict(&of(&paper(17, 1, None)), "dbc(dmax=4,"), Verdict::Fits);
    assert_eq!(verdict(&of(&paper(7, 1, None)), "dbc("), Verdict::Overflows);
    assert_eq!(verdict(&of(&paper(17, 1, None)), "astart"), Verdict::Unknown);
    assert_eq!(verdict(&of(&paper(18, 1, None)), "astart"), Verdict::Fits);
}

#[test]
fn a_low_threshold_stops_short_and_says_what_the_rest_takes() {
    let found = of(&paper(70, 1, Some(32)));
    assert_eq!(verdict(&found, "slow-start"), Verdict::StopsShort);
    // 37.6 packets at a round trip each.
    says(&found, &["ends at 32 of 69.6 packets", "7.14 s"]);
    assert_eq!(verdict(&of(&paper(70, 1, Some(69))), "slow-start"), Verdict::Fits);
}

#[test]
fn a_threshold_above_the_overflow_window_names_the_growth_that_saves_it() {
    let found = of(&paper(20, 1, Some(60)));
    assert_eq!((found.detection_window_packets, found.threshold_after_packets), (60.0, 7.5));
    assert_eq!(found.least_safe_d, Some(3));
    says(&found, &["60 packets is safe with growth by 1/3 a round"]);
    assert_eq!(of(&paper(20, 1, Some(90))).least_safe_d, None);
}

#[test]
fn with_delayed_acks_only_equation_4_is_called_safe() {
    let found = of(&paper(10, 2, None));
    assert!(found.overflow_window_packets > 35.0);
    assert_eq!(found.safe_ssthresh_packets, 29.0);
}

#[test]
fn beside_other_flows_half_of_equation_7_is_safe() {
    let found = of(&Conditions { flows: 5, rate_bps: 7_500_000, ..paper(20, 1, None) });
    assert_eq!(found.most_overflow_window_among_flows_packets, 40.0);
    assert_eq!(found.safe_ssthresh_packets, 20.0);
    says(&found, &["A flow alone", "up to 20 packets", "from 40 packets on"]);
    assert_eq!(verdict(&found, "hoe"), Verdict::Overflows);
    // Which growth is safe is known of a flow alone.
    let given = of(&Conditions { flows: 5, rate_bps: 7_500_000, ..paper(20, 1, Some(60)) });
    assert!(given.overflows && !given.advice.contains("safe with growth"), "{}", given.advice);
}

#[test]
fn the_advice_names_a_transfer_too_short_to_overflow() {
    // 51 acknowledged and 52 in flight: the 103rd packet.
    let short = of(&Conditions { transfer_bytes: Some(102 * 512), ..paper(20, 1, None) });
    says(&short, &["a transfer of 102 packets is over before that: it takes 103 packets"]);
    let long = of(&Conditions { transfer_bytes: Some(103 * 512), ..paper(20, 1, None) });
    assert!(!long.advice.contains("a transfer of"), "{}", long.advice);
}

#[test]
fn a_first_window_that_does_not_fit_is_the_first_thing_said() {
    let found = of(&Conditions { initial_window_bytes: 10 * 512, ..paper(3, 1, Some(32)) });
    assert!(found.overflows);
    assert!(found.advice.starts_with("The first window of 10 packets does not fit"));
    says(&found, &["6 of it are lost", "Start with 4 packets at most"]);
    assert!(found.startups.iter().all(|fit| fit.verdict == Verdict::Overflows));
}

#[test]
fn where_nothing_can_wait_nothing_is_safe() {
    let found = of(&paper(0, 1, Some(32)));
    assert_eq!((found.overflow_window_packets, found.safe_ssthresh_packets), (1.0, 0.0));
    says(&found, &["No ssthresh is safe", "nothing can wait", "No growth makes"]);
}

#[test]
fn the_overflow_comes_after_whole_rounds_and_the_growth_in_the_last() {
    let found = of(&paper(20, 1, None));
    // Six round trips up to a window of 32, and 20 packets served.
    let expected = 6.0 * 0.19 + 20.0 * 512.0 * 8.0 / 1.5e6;
    assert!((found.overflow_after_s - expected).abs() < 1e-9, "{}", found.overflow_after_s);
    assert_eq!(found.rounds.len(), 7);
}

#[test]
fn what_the_model_does_not_take_is_refused() {
    let refused = predict(&paper(20, 65, None)).unwrap_err().to_string();
    assert!(refused.contains("1 to 64"), "{refused}");
    assert!(predict(&Conditions { rtt_ns: 0, ..paper(20, 1, None) }).is_err());
    assert!(predict(&Conditions { payload_bytes: 0, ..paper(20, 1, None) }).is_err());
}
