//! What holds for every path, without simulating any.

use firstflight_model::{Aggressiveness, Packets, SlowStart};
use proptest::prelude::*;

fn whole(packets: u64) -> Packets {
    Packets::from_integer(packets.into())
}

fn aggressiveness() -> impl Strategy<Value = Aggressiveness> {
    prop_oneof![
        (1..=Aggressiveness::MOST).prop_map(|d| Aggressiveness::delayed_acks(d.into()).unwrap()),
        (1..20_u64, 1..4_u32).prop_map(|(n, l)| Aggressiveness::byte_counting(n, l).unwrap()),
    ]
}

/// BDPs that need not be whole, buffers in which something can wait.
fn paths() -> impl Strategy<Value = SlowStart> {
    (1..1_000_000_u64, 1..1000_u64, 1..100_000_u64, aggressiveness(), 1..20_u64).prop_map(
        |(bdp, parts, buffer, d, first)| {
            let bdp = whole(bdp) / whole(parts);
            let path = SlowStart::new(bdp, buffer, d);
            path.with_initial_window(first.min(buffer + 1)).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_cycle_of_theorem_1_is_the_first_whose_burst_fills_the_buffer(path in paths()) {
        let cycle = path.overflow_cycle();
        let needed = whole(path.buffer()) * (path.aggressiveness().d() + whole(1));
        prop_assert!(path.window(cycle) >= needed);
        prop_assert!(cycle == 0 || path.window(cycle - 1) < needed);
    }

    /// `alpha^n` lies in `[B(d+1), alpha B(d+1))`, so the theorem's window exceeds the
    /// approximation by less than `B`, and neither exceeds the pipe.
    #[test]
    fn equation_4_is_a_lower_bound_and_off_by_less_than_the_buffer(path in paths()) {
        // A first window that is itself a full burst is before any mini-cycle.
        prop_assume!(path.overflow_cycle() > 0);
        let (exact, approx) = (path.overflow_window(), path.overflow_window_approx());
        prop_assert!(approx <= exact && exact < &approx + whole(path.buffer()));
        prop_assert!(exact <= path.pipe());
    }

    #[test]
    fn more_buffer_never_overflows_earlier(path in paths()) {
        let more = SlowStart::new(path.bdp().clone(), path.buffer() + 1, path.aggressiveness());
        let more = more.with_initial_window(path.initial_window()).unwrap();
        prop_assert!(more.overflow_window() >= path.overflow_window());
        prop_assert!(more.overflow_window_approx() > path.overflow_window_approx());
        prop_assert!(more.most_overflow_window_among() > path.most_overflow_window_among());
        prop_assert!(!path.fills_pipe() || more.fills_pipe());
    }

    #[test]
    fn slower_growth_never_overflows_earlier_by_equation_4(
        path in paths(), other in aggressiveness(),
    ) {
        let other = path.with_aggressiveness(other);
        let slower = other.aggressiveness().d() >= path.aggressiveness().d();
        let (slow, fast) = if slower { (other, path) } else { (path, other) };
        prop_assert!(slow.overflow_window_approx() >= fast.overflow_window_approx());
    }

    #[test]
    fn the_pipe_is_filled_exactly_where_equation_4_says_so(path in paths()) {
        prop_assert_eq!(path.fills_pipe(), path.overflow_window_approx() == path.pipe());
        prop_assert_eq!(path.bdp_threshold_is_safe(), path.overflow_window_approx() > *path.bdp());
        let half = path.pipe() / whole(2);
        let early = path.most_overflow_window_among() < half;
        prop_assert_eq!(path.several_flows_are_safe(), !early && {
            let room = whole(path.buffer()) * path.aggressiveness().d();
            room > path.bdp() - half
        });
    }

    #[test]
    fn the_least_safe_d_is_safe_and_one_less_is_not(path in paths(), threshold in 1..200_000_u64) {
        let threshold = whole(threshold);
        let with = |d| Aggressiveness::delayed_acks(d).map(|d| path.with_aggressiveness(d));
        match path.least_safe_d(&threshold) {
            None => prop_assert!(threshold >= path.pipe()),
            Some(d) => {
                if let Ok(path) = with(d) {
                    prop_assert!(threshold < path.overflow_window_approx());
                }
                if let Ok(path) = with(d - 1) {
                    prop_assert!(threshold >= path.overflow_window_approx());
                }
            }
        }
    }

    #[test]
    fn among_others_there_is_less_room_the_more_they_have_in_flight(
        path in paths(), present in 0..200_000_u64,
    ) {
        let (some, more) = (whole(present), whole(present + 1));
        prop_assert!(path.overflow_window_among(&more) <= path.overflow_window_among(&some));
        prop_assert!(path.overflow_window_among(&some) <= path.overflow_window_approx());
        prop_assert_eq!(path.overflow_window_among(&path.pipe()), whole(0));
    }

    #[test]
    fn losses_are_never_more_than_the_growth_after_the_overflow(
        path in paths(), threshold in proptest::option::of(1..200_000_u64),
    ) {
        let threshold = threshold.map(whole);
        let threshold = threshold.as_ref();
        let losses = path.losses(threshold);
        prop_assert!(losses >= whole(0));
        if path.overflows(threshold) {
            prop_assert!(losses <= path.detection_window(threshold) - path.overflow_window());
        } else {
            prop_assert_eq!(losses, whole(0));
        }
    }

    #[test]
    fn rounds_grow_by_alpha_and_only_the_last_overflows(path in paths()) {
        let rounds = path.mini_cycles();
        prop_assert!(rounds.last().unwrap().overflows);
        prop_assert_eq!(rounds.iter().filter(|round| round.overflows).count(), 1);
        for pair in rounds.windows(2) {
            prop_assert_eq!(pair[0].to, pair[1].from);
            prop_assert!(pair[1].queue_peak <= path.buffer() as f64);
        }
    }
}
