/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What can be set when a control is loaded, of all controls together: read-only data in the
 * kernel. crates/kernel/src/knobs.rs fills it, in this order.
 */
#ifndef FF_KNOBS_H
#define FF_KNOBS_H

#include "units.h"

enum unit { UNIT_ENDPOINT, UNIT_SEGMENTS, UNIT_BYTES, UNIT_NO_LIMIT };
enum threshold { THRESHOLD_GIVEN, THRESHOLD_HOE, THRESHOLD_ERE };
enum first { FIRST_AUTO, FIRST_GROWS, FIRST_HOLDS };
enum filter { FILTER_TRAPEZOID, FILTER_PLAIN, FILTER_CONSTANT };

/* Of one Eligible Rate Estimate. */
struct ere_knob_values {
    u64 filter;
    u64 n;
    u64 eps;
    u64 re_per_rtt;
    u64 tmin;
    u64 tick;
    u64 null_m;
    u64 umax_window;
};

struct ff_knob_values {
    u64 iw_unit;
    u64 iw;
    u64 iw_limit; /* bytes; with it, iw segments but no more than so many bytes or two segments */
    u64 ssthresh_unit;
    u64 ssthresh;
    u64 count_acks;
    struct ere_knob_values ere;
    struct ere_knob_values westwood; /* where it keeps an estimate of its own */
    u64 lg_on;
    u64 lg_beta;
    u64 lg_eps;
    u64 lg_guard_rtts;
    u64 lg_tick;
    u64 bc_limit;
    u64 dbc_dmax;
    u64 dbc_wth;
    u64 pair_span;
    u64 hoe_ns2;
    u64 vegas_gamma;
    u64 vegas_grow_every;
    u64 vegas_first;
    u64 vegas_alpha;
    u64 vegas_beta;
    u64 ms_largest;
    u64 ms_smallest;
    u64 ms_first_largest;
    u64 ms_reset_per_rtt;
    u64 ms_until_half;
    u64 ms_continue;
    u64 ms_each;
    u64 cubic_beta;
    u64 cubic_c;
    u64 cubic_fast_convergence;
    u64 cubic_friendly;
    u64 cubic_max_increment;
    u64 cubic_21;
    u64 hystart_no_train;
    u64 hystart_no_delay;
    u64 hystart_whole_train;
    u64 hystart_low_window;
};

/* Volatile, because the loader writes what the compiler sees as constant. */
typedef const volatile struct ere_knob_values ere_knobs;
typedef const volatile struct ff_knob_values ff_knobs;

#endif
