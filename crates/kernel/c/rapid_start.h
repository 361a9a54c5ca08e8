/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Rapid Start (draft-kazuho-ccwg-rapid-start): threefold growth, and a landing by counting.
 *
 *   begin:       cwnd up to 2 IW, paced over one RTT
 *   per ACK:     cwnd += 2 acked  while floor <= min(minrtt + 4 ms, 1.1 minrtt),  acked otherwise
 *   first loss:  a = K (1 - beta), s = l = beta + a;  cwnd = s W0
 *   recovery:    cwnd -= a acked + l lost;  cwnd >= beta W0 / 3
 *   after it:    ssthresh = cwnd;  W_max = 2 cwnd / beta
 *
 * `floor` is the smallest RTT of the last minrtt, W0 the window before the loss. Only the first
 * slow start has it. crates/core/src/startup/rapid_start.rs tells how the versions differ.
 */
#ifndef FF_RAPID_START_H
#define FF_RAPID_START_H

#include "landing_by_counting.h"
#include "rtt_floor.h"
#include "slow_start.h"
#include "view.h"

/* Rise of the RTT that means a queue, and below which RTT quicly does not look (section 2.2). */
#define RAPID_START_QUEUE 4000000ULL

struct rapid_start {
    struct rtt_floor floor;
    u64 initial_window;
    /* The first recovery. */
    struct landing landing;
    u8 has_landing;
};

FF_OBSERVES_NOTHING(rapid_start)
FF_ESTIMATES_NOTHING(rapid_start)
FF_RESTARTS_WITH_ONE(rapid_start)
FF_TAKES_NO_HINT(rapid_start)
FF_FIRST_WINDOW_OF_KNOBS(rapid_start)
FF_FIRST_SSTHRESH_OF_KNOBS(rapid_start)

FF_INLINE void rapid_start_new(struct rapid_start *r, ff_knobs *k) { rtt_floor_new(&r->floor); }

FF_INLINE u8 rapid_start_is_quicly(ff_knobs *k)
{
    return k->rapid_start.version == RAPID_START_VERSION_QUICLY;
}

/* The first window is spread over the RTT, if that is known. */
FF_INLINE struct ff_step rapid_start_begin(struct rapid_start *r, ff_knobs *k,
                                           const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    r->initial_window = v->window.cwnd;
    if (v->rtt.smoothed == 0)
        return step;
    step.window.cwnd = mul_div(v->window.cwnd, k->rapid_start.first, RATIO_ONE);
    step.pace = max_of(rate_per(step.window.cwnd, v->rtt.smoothed), 1);
    return step;
}

FF_INLINE void rapid_start_enter(struct rapid_start *r, ff_knobs *k, enum entry why,
                                 const struct ff_view *v)
{
    r->has_landing = 0;
    r->initial_window = v->window.cwnd;
}

/* The RTT from which on the path builds a queue (section 2.2). */
FF_INLINE u64 rapid_start_threshold(ff_knobs *k, u64 min)
{
    u64 added = plus(min, RAPID_START_QUEUE);

    if (!rapid_start_is_quicly(k))
        return min_of(added, plus(min, min / 10));
    /* Below 4 ms it does not grow threefold at all. */
    return min < RAPID_START_QUEUE ? 0 : max_of(added, mul_div(min, 35, 32));
}

FF_INLINE struct ff_step rapid_start_step(struct rapid_start *r, ff_knobs *k,
                                          const struct ff_ack *ack, const struct ff_view *v)
{
    u64 gain = k->rapid_start.version == RAPID_START_VERSION_EDITOR ? 1 : 2, floor, queues;
    struct ff_step step;

    if (v->window.cwnd >= v->window.ssthresh)
        return double_window(ack, v->mss, v->window);
    if (ack->rtt != NONE)
        rtt_floor_observe(&r->floor, ack->now, ack->rtt, v->rtt.min);
    floor = rtt_floor_of(&r->floor);
    queues = floor != NONE && floor > rapid_start_threshold(k, v->rtt.min);
    step = until_threshold(grow(v->window, times(ack->acked, queues ? 1 : 2)));
    if (v->rtt.smoothed != 0)
        step.pace = max_of(times(rate_per(step.window.cwnd, v->rtt.smoothed), gain), 1);
    return step;
}

/* Where the landing ends at the lowest: W0 beta / 3, and two segments (section 3.3). */
FF_INLINE u64 rapid_start_least(const struct rapid_start *r, ff_knobs *k, const struct ff_view *v)
{
    u64 third = mul_div(v->window.cwnd, v->beta, 3 * RATIO_ONE);

    third = max_of(third, times(v->mss, 2));
    if (rapid_start_is_quicly(k))
        return max_of(third, r->initial_window / 2);
    if (k->rapid_start.least == RAPID_START_LEAST_IW)
        return max_of(third, mul_div(r->initial_window, v->beta, RATIO_ONE));
    return third;
}

FF_INLINE struct ff_answer rapid_start_answer(struct rapid_start *r, ff_knobs *k,
                                              const struct ff_loss *loss, const struct ff_view *v)
{
    struct ff_answer answer = { .window = v->window, .kind = ANSWER_LEAVE };
    struct landing *l = &r->landing;
    u64 quicly = rapid_start_is_quicly(k);

    l->pre_recovery_cwnd = v->window.cwnd;
    l->least = min_of(rapid_start_least(r, k, v), v->window.cwnd);
    l->outstanding = minus(v->snd_nxt, v->acked);
    l->beta = min_of(v->beta, RATIO_ONE);
    l->ack_factor = (RATIO_ONE - l->beta) * (quicly ? 11 : 2) / (quicly ? 18 : 3);
    l->acked = 0;
    l->lost = 0;
    r->has_landing = 1;
    landing_count(l, 0, loss->lost);
    answer.kind = ANSWER_LAND;
    answer.window.cwnd = landing_cwnd(l);
    return answer;
}

FF_INLINE void rapid_start_on_further_loss(struct rapid_start *r, const struct ff_loss *loss)
{
    if (r->has_landing && !loss->again)
        landing_count(&r->landing, 0, loss->lost);
}

FF_INLINE struct ff_step rapid_start_recovering(struct rapid_start *r, const struct ff_ack *ack,
                                                const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    if (!r->has_landing)
        return step;
    landing_count(&r->landing, ack->credited, 0);
    step.window.cwnd = min_of(landing_cwnd(&r->landing), v->window.cwnd);
    return step;
}

/* Section 2.3.3: slow start would have reached twice what the path holds with a full queue. */
FF_INLINE u64 rapid_start_peak(const struct rapid_start *r, const struct ff_view *v)
{
    return r->has_landing ? mul_div(times(v->window.cwnd, 2), RATIO_ONE, r->landing.beta) : NONE;
}

#endif
