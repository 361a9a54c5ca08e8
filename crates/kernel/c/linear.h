/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Linear growth: one segment per window of ACKs (RFC 5681 section 3.1, equation 3), as `mss * mss /
 * cwnd` bytes per ACK with the remainder of the division carried over.
 */
#ifndef FF_LINEAR_H
#define FF_LINEAR_H

#include "view.h"

struct linear {
    /* Of the division; by what is acknowledged, the bytes that count toward the next segment. */
    u64 remainder;
};

FF_INLINE u64 linear_share(struct linear *l, u64 square, u64 cwnd)
{
    u64 increase;

    square = plus(square, l->remainder);
    if (cwnd == 0)
        cwnd = 1;
    increase = square / cwnd;
    l->remainder = square - increase * cwnd;
    return increase;
}

FF_INLINE u64 linear_per_ack_at(struct linear *l, u64 mss, u64 cwnd)
{
    return linear_share(l, times(mss, mss), cwnd);
}

/* Begins to count what is acknowledged anew, with `acked` bytes of it. */
FF_INLINE void linear_begin(struct linear *l, u64 acked)
{
    l->remainder = acked;
}

/* For an ACK of so many bytes: one segment once a window of whole segments of them has come. What
 * has come beyond that counts toward the next; what was counted for a larger window is worth one
 * (`tcp_cong_avoid_ai`).
 */
FF_INLINE u64 linear_per_acked(struct linear *l, u64 acked, const struct ff_view *v)
{
    u64 cwnd = v->window.cwnd, window = max_of(cwnd - cwnd % max_of(v->mss, 1), 1);
    u64 ahead = l->remainder >= window, counted = plus(ahead ? 0 : l->remainder, acked);

    l->remainder = counted % window;
    return times(v->mss, ahead + counted / window);
}

FF_INLINE u64 linear_per_ack(struct linear *l, const struct ff_view *v)
{
    return linear_per_ack_at(l, v->mss, v->window.cwnd);
}

#endif
