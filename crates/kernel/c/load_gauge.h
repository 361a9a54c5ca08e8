/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Load Gauge (Yamada, Wang, Sanadidi and Gerla, "TCP Westwood with Agile Probing", section III),
 * as crates/core/src/estimate/load_gauge.rs reads it. On every ACK in congestion avoidance:
 *
 *   Boundary = beta (cwnd - 1.5) + (1 - beta) ssthresh
 *   within guard RTTs of entering or of a loss:  counter = 0
 *   RE RTTmin > Boundary:                        counter += 1
 *   otherwise:                                   counter -= 1, not below 0
 *   counter > cwnd in segments:                  start-up again, counter = 0
 */
#ifndef FF_LOAD_GAUGE_H
#define FF_LOAD_GAUGE_H

#include "view.h"

typedef const volatile struct lg_knob_values lg_knobs;

struct load_gauge {
    /* RE in 2^-32 bytes per ns; beginning of the RTT being measured; delivered since then. */
    u64 re;
    u64 since;
    u64 arrived;
    u64 entered;
    u64 counter;
    u8 has_since;
    u8 light;
};

/* Congestion avoidance begins, or a loss cut the window: what was seen before is no sign. */
FF_INLINE void load_gauge_restart(struct load_gauge *g, u64 now)
{
    g->entered = now;
    g->counter = 0;
    g->light = 0;
}

/* Takes an ACK into RE, in every phase. */
FF_INLINE void load_gauge_on_ack(struct load_gauge *g, lg_knobs *k, const struct ff_ack *ack,
                                 const struct ff_view *v)
{
    u64 newest, elapsed;

    if (k->on == LG_ON_OFF || v->rtt.smoothed == 0)
        return;
    if (v->recovering)
        load_gauge_restart(g, v->now);
    if (!g->has_since) {
        g->has_since = 1;
        g->since = ack->now;
        return;
    }
    g->arrived = plus(g->arrived, ack->credited);
    elapsed = minus(ack->now, g->since);
    if (elapsed < v->rtt.smoothed)
        return;
    newest = mul_div(g->arrived, 1ULL << 32, elapsed);
    g->re = plus(mul_div(g->re, k->eps, RATIO_ONE),
                       mul_div(newest, RATIO_ONE - k->eps, RATIO_ONE));
    g->since = ack->now;
    g->arrived = 0;
}

FF_INLINE u64 load_gauge_boundary(lg_knobs *k, const struct ff_view *v)
{
    u64 expected = minus(v->window.cwnd, times(v->mss, 3) / 2), beta = k->beta;

    return plus(mul_div(expected, beta, RATIO_ONE),
                mul_div(v->window.ssthresh, RATIO_ONE - beta, RATIO_ONE));
}

/* Judges on an ACK for new data in congestion avoidance. */
FF_INLINE void load_gauge_judge(struct load_gauge *g, lg_knobs *k, const struct ff_view *v)
{
    u64 arrived;

    if (k->on == LG_ON_OFF)
        return;
    if (v->window.cwnd < v->window.ssthresh) {
        load_gauge_restart(g, v->now);
        return;
    }
    if (minus(v->now, g->entered) < times(v->rtt.smoothed, k->guard_rtts)) {
        g->counter = 0;
        return;
    }
    arrived = mul_div(g->re, in_ticks(v->rtt.min, k->tick), 1ULL << 32);
    if (arrived > load_gauge_boundary(k, v))
        g->counter++;
    else
        g->counter = minus(g->counter, 1);
    if (g->counter > v->window.cwnd / max_of(v->mss, 1)) {
        g->counter = 0;
        g->light = 1;
    }
}

#endif
