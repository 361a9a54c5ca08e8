/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What can be set when a control is loaded, of all controls together: read-only data in the
 * kernel. crates/kernel/src/knobs.rs fills it, in this order.
 */
#ifndef FF_KNOBS_H
#define FF_KNOBS_H

#include "units.h"

enum unit { UNIT_ENDPOINT, UNIT_SEGMENTS, UNIT_BYTES, UNIT_NO_LIMIT };
enum filter { FILTER_TRAPEZOID, FILTER_PLAIN, FILTER_CONSTANT };

struct ff_knob_values {
    u64 iw_unit;
    u64 iw;
    u64 iw_limit; /* bytes; with it, iw segments but no more than so many bytes or two segments */
    u64 ssthresh_unit;
    u64 ssthresh;
    u64 ere_filter;
    u64 ere_n;
    u64 ere_eps;
    u64 ere_re_per_rtt;
    u64 ere_tmin;
    u64 ere_null_m;
    u64 ere_umax_window;
    u64 lg_on;
    u64 lg_beta;
    u64 lg_eps;
    u64 lg_guard_rtts;
};

/* Volatile, because the loader writes what the compiler sees as constant. */
typedef const volatile struct ff_knob_values ff_knobs;

#endif
