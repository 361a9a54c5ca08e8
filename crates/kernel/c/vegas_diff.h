/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The once-per-RTT comparison of Vegas (Brakmo, O'Malley and Peterson, SIGCOMM 1994): with `rtt`
 * the mean of the round's samples, `base` the smallest, `sent` what was sent in the round and `out`
 * what was outstanding when this ACK arrived,
 *
 *   expected = out / base,  actual = sent / rtt
 *   diff     = (expected - actual) base, rounded to segments
 */
#ifndef FF_VEGAS_DIFF_H
#define FF_VEGAS_DIFF_H

#include "view.h"
#include "wide.h"

/* Factors are cut here, so that twice the difference of two products fits 128 bits. */
#define LARGEST_FACTOR ((1ULL << 62) - 1)

/* Unused segments beyond which the window does not grow; the smallest window, also after a
 * timeout.
 */
#define UNUSED_SEGMENTS 2
#define MIN_SEGMENTS 2

struct vegas_diff {
    u64 base_rtt;
    u64 sum_rtt;
    u64 cnt_rtt;
    /* The round ends when more than this is acknowledged. */
    u64 begseq;
    u64 begtime;
    /* In segments. */
    long long diff;
    u8 begun;
    u8 decides;
};

FF_INLINE void vegas_diff_new(struct vegas_diff *d) { d->base_rtt = NONE; }

FF_INLINE void vegas_diff_on_handshake(struct vegas_diff *d, const struct ff_view *v)
{
    d->base_rtt = v->rtt.first;
    d->sum_rtt = v->rtt.first;
    d->cnt_rtt = 1;
    d->begun = 1;
    d->begtime = v->now;
}

/* The first data leaves: without a handshake it begins the first round. */
FF_INLINE void vegas_diff_on_begin(struct vegas_diff *d, const struct ff_view *v)
{
    if (!d->begun) {
        d->begun = 1;
        d->begtime = v->now;
    }
}

/* `out - sent base / rtt` in segments, half a segment added and the fraction dropped. */
FF_INLINE long long queued_segments(u64 out, u64 sent, u64 base, u64 rtt, u64 mss)
{
    struct wide expected, actual, unit, twice;

    rtt = max_of(min_of(rtt, LARGEST_FACTOR), 1);
    mss = max_of(min_of(mss, LARGEST_FACTOR), 1);
    expected = wide_product(min_of(out, LARGEST_FACTOR), rtt);
    actual = wide_product(min_of(sent, LARGEST_FACTOR), min_of(base, LARGEST_FACTOR));
    unit = wide_product(rtt, mss);
    if (!wide_less(expected, actual)) {
        twice = wide_times(wide_difference(expected, actual), 2);
        return wide_quotient(wide_sum(twice, unit), wide_times(unit, 2));
    }
    twice = wide_times(wide_difference(actual, expected), 2);
    if (wide_less(twice, unit))
        return 0;
    return -(long long)wide_quotient(wide_difference(twice, unit), wide_times(unit, 2));
}

FF_INLINE void vegas_diff_end_round(struct vegas_diff *d, const struct ff_view *v)
{
    u64 rtt = d->cnt_rtt > 0 ? d->sum_rtt / d->cnt_rtt : minus(v->now, d->begtime);
    u64 sent = minus(v->snd_nxt, d->begseq), out;

    d->sum_rtt = 0;
    d->cnt_rtt = 0;
    d->begseq = v->snd_nxt;
    d->begtime = v->now;
    if (rtt == 0)
        return;
    if (rtt < d->base_rtt || sent <= v->mss)
        d->base_rtt = rtt;
    out = plus(minus(v->snd_nxt, v->acked), v->mss);
    d->diff = queued_segments(out, sent, d->base_rtt, rtt, v->mss);
    d->decides = 1;
}

/* Takes an ACK in. `diff` counts on the ACK that ends a round, when `decides` is set. */
FF_INLINE void vegas_diff_on_ack(struct vegas_diff *d, const struct ff_ack *ack,
                                 const struct ff_view *v)
{
    d->decides = 0;
    if (ack->acked == 0)
        return;
    if (v->acked > d->begseq)
        vegas_diff_end_round(d, v);
    if (ack->rtt != NONE) {
        d->base_rtt = min_of(d->base_rtt, ack->rtt);
        d->sum_rtt = plus(d->sum_rtt, ack->rtt);
        d->cnt_rtt++;
    }
}

/* What the window allows beyond what was outstanding before this ACK. */
FF_INLINE u64 unused(const struct ff_view *v)
{
    return minus(v->window.cwnd, plus(minus(v->snd_nxt, v->acked), v->mss));
}

#endif
