/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * HyStart++ (RFC 9406): slow start that grows by a quarter when the RTT rises, and leaves five
 * rounds later. On every ACK, with the smallest RTTs of the last round and of this one, `last` and
 * `cur`, and `n` samples in this one,
 *
 *   slow start:         cwnd += min(N, L MSS)
 *                       n >= 8, cur >= last + clamp(last / 8, 4 ms, 16 ms):
 *                           conservative slow start begins, base = cur, n = 0
 *   conservative (CSS): cwnd += min(N, L MSS) / 4
 *                       n >= 8, cur < base: slow start goes on
 *                       five rounds are over: ssthresh = cwnd, leave
 *
 * The kernel tells every ACK in one piece, so that L needs no memory from one to the next. Only the
 * first slow start has it.
 */
#ifndef FF_HYSTART_PP_H
#define FF_HYSTART_PP_H

#include "slow_start.h"
#include "view.h"

#define MIN_RTT_THRESH 4000000ULL
#define MAX_RTT_THRESH 16000000ULL
#define MIN_RTT_DIVISOR 8
#define N_RTT_SAMPLE 8
/* What one ACK may count for where packets are not paced. */
#define L_SEGMENTS 8

struct hystart_pp {
    /* The smallest RTTs of the last round and of this one, NONE without a sample. */
    u64 last_round_min_rtt;
    u64 current_round_min_rtt;
    /* Of CSS; it is off where `in_css` is 0. */
    u64 css_baseline_min_rtt;
    u64 css_round_count;
    u8 has_css;
    /* Of this round, up to those that count. */
    u8 rtt_sample_count;
};

FF_NEW_POLICY(hystart_pp)
FF_OBSERVES_NOTHING(hystart_pp)
FF_ESTIMATES_NOTHING(hystart_pp)
FF_RESTARTS_WITH_ONE(hystart_pp)
FF_FIRST_WINDOW_OF_KNOBS(hystart_pp)
FF_FIRST_SSTHRESH_OF_KNOBS(hystart_pp)

FF_INLINE void hystart_pp_enter(struct hystart_pp *h, ff_knobs *k, enum entry why,
                                const struct ff_view *v)
{
    h->last_round_min_rtt = NONE;
    h->current_round_min_rtt = NONE;
    h->rtt_sample_count = 0;
    h->has_css = 0;
}

/* Takes an RTT sample and moves between slow start and CSS (RFC 9406 section 4.2). */
FF_INLINE void hystart_pp_take_rtt_sample(struct hystart_pp *h, ff_knobs *k, u64 rtt)
{
    u64 last = h->last_round_min_rtt, threshold;

    h->current_round_min_rtt = min_of(h->current_round_min_rtt, rtt);
    if (h->rtt_sample_count < N_RTT_SAMPLE)
        h->rtt_sample_count++;
    if (h->rtt_sample_count < N_RTT_SAMPLE)
        return;
    if (h->has_css) {
        h->has_css = h->current_round_min_rtt >= h->css_baseline_min_rtt;
        return;
    }
    if (last == NONE)
        return;
    threshold = min_of(max_of(last / MIN_RTT_DIVISOR, MIN_RTT_THRESH), MAX_RTT_THRESH);
    threshold = plus(last, threshold);
    if (h->current_round_min_rtt < threshold)
        return;
    h->css_baseline_min_rtt = h->current_round_min_rtt;
    if (k->hystart_pp.base == HYSTART_PP_BASE_THRESHOLD)
        h->css_baseline_min_rtt = threshold;
    h->css_round_count = 0;
    h->rtt_sample_count = 0;
    h->has_css = 1;
}

/* The round is over; whether CSS has lasted its time with it. */
FF_INLINE u8 hystart_pp_end_round(struct hystart_pp *h, ff_knobs *k)
{
    h->last_round_min_rtt = h->current_round_min_rtt;
    h->current_round_min_rtt = NONE;
    h->rtt_sample_count = 0;
    if (!h->has_css)
        return 0;
    h->css_round_count++;
    return h->css_round_count >= k->hystart_pp.css_rounds;
}

FF_INLINE struct ff_step hystart_pp_step(struct hystart_pp *h, ff_knobs *k,
                                         const struct ff_ack *ack, const struct ff_view *v)
{
    u64 most = v->paced == PACED_NO ? times(v->mss, L_SEGMENTS) : NONE;
    u64 counted, limit = amount(k->hystart_pp.l_unit, k->hystart_pp.l, most, v->mss);
    struct ff_step step;

    if (v->window.cwnd >= v->window.ssthresh)
        return double_window(ack, v->mss, v->window);
    counted = min_of(ack->acked, limit);
    if (h->has_css)
        counted /= max_of(k->hystart_pp.css_growth_divisor, 1);
    step = grow(v->window, counted);
    if (ack->rtt != NONE)
        hystart_pp_take_rtt_sample(h, k, ack->rtt);
    if (v->round_start && hystart_pp_end_round(h, k)) {
        step.window.ssthresh = step.window.cwnd;
        step.exit = 1;
        return step;
    }
    return until_threshold(step);
}

#endif
