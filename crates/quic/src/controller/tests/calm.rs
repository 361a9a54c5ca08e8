//! The fast path of a calm frame ends in the state to which the general path leads.

use super::*;

proptest! {
    #[test]
    fn a_calm_frame_does_what_any_frame_does(
        name in proptest::sample::select(controls()),
        events in proptest::collection::vec((0_u32..40_000, calm_or_not()), 1..120),
    ) {
        let factory = control(&name).unwrap();
        let mut now = Clock::now();
        let mut short = factory.controller(now, MTU);
        let mut long = short.clone();
        for (gap, event) in &events {
            now += Duration::from_micros((*gap).into());
            happen(&mut short, now, event);
            long.calm = false;
            happen(&mut long, now, event);
            long.calm = short.calm;
            prop_assert_eq!(format!("{short:?}"), format!("{long:?}"), "{} {:?}", name, event);
        }
    }
}

/// Mostly single packets that are sent and acknowledged.
fn calm_or_not() -> impl Strategy<Value = Event> {
    let ack =
        (1_u32..30_000, 1_u16..1_500, 0_u32..60_000).prop_map(|(sent_ago_us, bytes, in_flight)| {
            Event::Ack { sent_ago_us, packets: 1, bytes, in_flight, app_limited: false }
        });
    prop_oneof![
        8 => ack,
        8 => (1_u32..3_000).prop_map(Event::Sent),
        1 => event(),
    ]
}
