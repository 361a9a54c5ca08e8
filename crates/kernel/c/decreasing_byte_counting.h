/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Decreasing Byte Counting (Barakat and Altman, Networking 2000, section 4.3). In the first slow
 * start, on an ACK for n segments,
 *
 *   d(W) = 1 + (dmax - 1) (W - 1) / (Wth - 1)
 *   W   += min(n, 2) / d(W)
 *
 * The threshold is given, or Hoe's, or the Eligible Rate Estimate's; the first window stands for
 * the 1s. What a division leaves is carried. Every later slow start is RFC 5681's.
 */
#ifndef FF_DECREASING_BYTE_COUNTING_H
#define FF_DECREASING_BYTE_COUNTING_H

#include "ere.h"
#include "packet_pair.h"
#include "slow_start.h"
#include "view.h"

#define MOST_SEGMENTS 2

struct decreasing_byte_counting {
    struct ere ere;
    struct packet_pair pair;
    u64 first_window;
    /* In millionths of a byte before the division by d. */
    u64 carry;
    u8 used;
};

/* The estimate's preset `figures`, which the papers' throughputs fit. */
static ere_knobs decreasing_ere = {
    .eps = 600000,
    .tmin = 15000000,
    .umax_window = UMAX_VALUES,
    .n = 3,
    .null_m = 2,
};

FF_NEW_POLICY(decreasing_byte_counting)
FF_OBSERVES_NO_HANDSHAKE(decreasing_byte_counting)
FF_OBSERVES_NO_BEGIN(decreasing_byte_counting)
FF_RESTARTS_WITH_ONE(decreasing_byte_counting)
FF_FIRST_WINDOW_OF_KNOBS(decreasing_byte_counting)

/* The threshold is the estimate's, or Hoe's. */
FF_INLINE u8 asks_ere(ff_knobs *k)
{
    return k->decreasing_byte_counting.wth == DECREASING_BYTE_COUNTING_WTH_ERE;
}

FF_INLINE u8 asks_hoe(ff_knobs *k)
{
    return k->decreasing_byte_counting.wth == DECREASING_BYTE_COUNTING_WTH_HOE;
}

FF_INLINE u64 decreasing_byte_counting_eligible(const struct decreasing_byte_counting *d,
                                                ff_knobs *k)
{
    return asks_ere(k) ? ere_rate(&d->ere) : NONE;
}

FF_INLINE u64 decreasing_byte_counting_eligible_tick(ff_knobs *k)
{
    return decreasing_ere.tick;
}

FF_INLINE u64 decreasing_byte_counting_initial_ssthresh(ff_knobs *k, u64 given, u64 mss)
{
    if (asks_ere(k))
        given = ssthresh_to_raise(given, mss);
    return amount(k->decreasing_byte_counting.ssthresh_unit, k->decreasing_byte_counting.ssthresh,
                  given, mss);
}

FF_INLINE void decreasing_byte_counting_on_ack(struct decreasing_byte_counting *d, ff_knobs *k,
                                               const struct ff_ack *ack,
                                               const struct ff_view *v)
{
    if (asks_hoe(k))
        packet_pair_on_ack(&d->pair, RATIO_ONE / 4, ack, v);
    if (asks_ere(k))
        ere_on_ack(&d->ere, &decreasing_ere, ack, v);
}

FF_INLINE void decreasing_byte_counting_enter(struct decreasing_byte_counting *d, ff_knobs *k,
                                              enum entry why, const struct ff_view *v)
{
    d->first_window = v->window.cwnd;
}

/* ssthresh after this ACK. */
FF_INLINE u64 decreasing_threshold(struct decreasing_byte_counting *d, ff_knobs *k,
                                   const struct ff_view *v)
{
    u64 ssthresh = v->window.ssthresh, room;

    if (v->rtt.min == NONE)
        return ssthresh;
    if (asks_hoe(k) && d->pair.has_rate && !d->used) {
        d->used = 1;
        room = whole_segments(rate_over(d->pair.rate, v->rtt.first), v->mss);
        return max_of(room, times(v->mss, 2));
    }
    if (asks_ere(k))
        return max_of(ssthresh, whole_segments(ere_over(&d->ere, v->rtt.min), v->mss));
    return ssthresh;
}

/* d(W) in millionths. */
FF_INLINE u64 decreasing_divisor(const struct decreasing_byte_counting *d, ff_knobs *k,
                                 struct ff_window window)
{
    u64 way = max_of(minus(window.ssthresh, d->first_window), 1);
    u64 gone = min_of(minus(window.cwnd, d->first_window), way);

    return RATIO_ONE + mul_div(k->decreasing_byte_counting.dmax - RATIO_ONE, gone, way);
}

FF_INLINE struct ff_step decreasing_byte_counting_step(struct decreasing_byte_counting *d,
                                                       ff_knobs *k, const struct ff_ack *ack,
                                                       const struct ff_view *v)
{
    struct ff_window window = v->window;
    u64 divisor, credit, total;

    window.ssthresh = decreasing_threshold(d, k, v);
    if (window.cwnd >= window.ssthresh)
        return until_threshold(hold(window));
    divisor = decreasing_divisor(d, k, window);
    credit = min_of(ack->acked, times(v->mss, MOST_SEGMENTS));
    total = plus(times(credit, RATIO_ONE), d->carry);
    d->carry = total % divisor;
    return until_threshold(grow(window, total / divisor));
}

#endif
