/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Reno and NewReno congestion avoidance (RFC 5681 section 3.1): one segment more per RTT, half the
 * flight at a loss.
 */
#ifndef FF_NEW_RENO_H
#define FF_NEW_RENO_H

#include "linear.h"
#include "view.h"

struct new_reno {
    struct linear linear;
};

FF_NEW_POLICY(new_reno)
FF_OBSERVES_NOTHING(new_reno)
FF_NEVER_REPROBES(new_reno)
FF_HALVES(new_reno)
FF_TAKES_NO_PEAK(new_reno)

FF_INLINE void new_reno_enter(struct new_reno *r, const struct ff_view *v) {}

/* One segment per RTT; below ssthresh, where a recovery may leave cwnd, one per ACK. */
FF_INLINE struct ff_step additive_increase(struct linear *linear, const struct ff_ack *ack,
                                           const struct ff_view *v)
{
    if (v->window.cwnd < v->window.ssthresh)
        return grow(v->window, slow_start_growth(ack, v->mss, v->window));
    return grow(v->window, linear_per_ack(linear, v));
}

FF_INLINE struct ff_step new_reno_step(struct new_reno *r, ff_knobs *k, const struct ff_ack *ack,
                                       const struct ff_view *v)
{
    if (k->new_reno.growth == NEW_RENO_GROWTH_ACKS)
        return additive_increase(&r->linear, ack, v);
    if (v->window.cwnd < v->window.ssthresh)
        return grow(v->window, min_of(ack->acked, v->window.ssthresh - v->window.cwnd));
    if (ack->app_limited)
        return hold(v->window);
    return grow(v->window, linear_per_acked(&r->linear, ack->acked, v));
}

/* A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1). */
FF_INLINE struct ff_window new_reno_cut(struct new_reno *r, ff_knobs *k,
                                        const struct ff_loss *loss, const struct ff_view *v)
{
    u64 answered = loss->answered && loss->kind == LOSS_TIMEOUT;
    u64 half = answered ? v->window.ssthresh : loss->flight / 2;
    struct ff_window cut = { half, half };

    /* The ACK that ends a recovery counts with the next, as in Linux. */
    if (k->new_reno.growth != NEW_RENO_GROWTH_ACKS)
        linear_begin(&r->linear, loss->kind == LOSS_RECOVERY ? v->mss : 0);
    return cut;
}

#endif
