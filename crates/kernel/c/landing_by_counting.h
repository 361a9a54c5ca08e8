/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Landing by counting (draft-kazuho-ccwg-rapid-start section 3.3): after an overshoot the window
 * comes down to a share of what the path delivered of it.
 *
 *   first loss:  a = K (1 - beta), l = beta + a;  cwnd = l W0
 *   recovery:    cwnd -= a acked + l lost;  cwnd >= least
 *
 * Only what was outstanding when the recovery began counts. crates/core/src/landing.rs tells why.
 */
#ifndef FF_LANDING_BY_COUNTING_H
#define FF_LANDING_BY_COUNTING_H

#include "units.h"

/* `window` is W0; factors in millionths. */
struct landing {
    u64 pre_recovery_cwnd;
    u64 least;
    u64 outstanding;
    u64 beta;
    u64 ack_factor;
    u64 acked;
    u64 lost;
};

/* More was acknowledged or lost; no more counts than was outstanding. */
FF_INLINE void landing_count(struct landing *l, u64 acked, u64 lost)
{
    u64 left = minus(l->outstanding, plus(l->acked, l->lost));

    lost = min_of(lost, left);
    l->lost = plus(l->lost, lost);
    l->acked = plus(l->acked, min_of(acked, left - lost));
}

/* The window by now (section 3.3). */
FF_INLINE u64 landing_cwnd(const struct landing *l)
{
    u64 factor = plus(l->beta, l->ack_factor);
    u64 off = mul_div(l->acked, l->ack_factor, RATIO_ONE);

    off = plus(off, mul_div(l->lost, factor, RATIO_ONE));
    return max_of(minus(mul_div(l->pre_recovery_cwnd, factor, RATIO_ONE), off), l->least);
}

#endif
