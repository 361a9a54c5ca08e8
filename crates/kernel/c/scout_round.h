/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The state of Scout, and its rounds: their windows, trains and paces.
 */
#ifndef FF_SCOUT_ROUND_H
#define FF_SCOUT_ROUND_H

#include "landing_by_counting.h"
#include "scout_after_train.h"
#include "scout_resume.h"
#include "scout_spread.h"
#include "scout_train.h"
#include "view.h"

/* The least of a train, and how many ACKs more than the fewest it should have where receivers thin
 * them.
 */
#define SCOUT_TRAIN_SEGMENTS 8
#define SCOUT_SPARE_ACKS 2
/* What a delayed ACK holds back. */
#define SCOUT_SLACK_SEGMENTS 2

struct scout {
    /* What a round sends beside its train. */
    u64 target;
    /* The train of this round, and what arrived since the last one. */
    struct scout_train train;
    struct scout_spread spread;
    struct scout_after_train after_train;
    u8 has_after_train;
    /* The trains in a row that found the target to be all, and the most that one showed. */
    u64 full_trains;
    u64 full_pipe;
    /* What the path holds, 0 before trains or the ACKs of the spread have told. */
    u64 pipe;
    /* The rate of the round, and the packets that leave first. */
    u64 rate;
    struct ff_train leaves;
    /* The recovery of the first loss. */
    struct landing landing;
    struct scout_resume resume;
    u8 has_landing;
    /* This step sets the rate and what leaves first. */
    u8 sets_pace;
    /* The first window was opened a second time. */
    u8 reopened;
};

/* Sets the rate, and that `length` leaves first at `gain` times that rate, in millionths. A
 * function by itself (FF_APART), because the verifier allows 512 bytes of stack along all calls.
 */
FF_APART void scout_pace_at(struct scout *s, u64 rate, u64 length, u64 gain,
                            const struct ff_view *v)
{
    s->sets_pace = 1;
    s->rate = max_of(rate, 1);
    s->leaves.rate = mul_div(s->rate, gain, RATIO_ONE);
    s->leaves.length = length;
    s->leaves.end = plus(v->snd_nxt, length);
    s->train.began = v->now;
    s->train.leaves_in =
        mul_div(v->rtt.smoothed, length, mul_div(s->target, gain, RATIO_ONE));
}

/* The target leaves over a smoothed RTT, and before it a train of this length. */
FF_INLINE void scout_pace(struct scout *s, ff_knobs *k, u64 length, u64 gain,
                          const struct ff_view *v)
{
    if (k->scout.pace == SCOUT_PACE_ON)
        scout_pace_at(s, rate_per(s->target, v->rtt.smoothed), length, gain, v);
    else
        s->rate = NONE;
}

/* What a path holds that takes `spacing` for a packet. */
FF_INLINE u64 scout_held(ff_knobs *k, const struct ff_view *v)
{
    return k->scout.spacing == 0 ? U64_MAX : times(v->mss, v->rtt.smoothed / k->scout.spacing);
}

/* Where the handshake has told the RTT, the first window leaves as a train, and what is more than
 * an ordinary window of it is spread over the RTT, as Rapid Start spreads its own.
 */
FF_INLINE struct ff_step scout_open_first(struct scout *s, ff_knobs *k, u64 iw,
                                          const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    s->target = iw;
    if (v->rtt.smoothed == 0)
        return step;
    s->target = mul_div(iw, k->scout.first, RATIO_ONE);
    s->target = max_of(min_of(s->target, scout_held(k, v)), iw);
    if (s->target > iw)
        s->train.end = plus(v->snd_nxt, iw);
    scout_pace(s, k, iw, k->scout.look, v);
    step.window.cwnd = s->target;
    step.pace = s->rate;
    return step;
}

/* The window of this round: the target, the train, and what delayed ACKs hold back. */
FF_INLINE struct ff_step scout_go_on_with_round(const struct scout *s, const struct ff_view *v)
{
    u64 train = scout_train_is_first(&s->train) ? 0 : scout_train_length(&s->train);
    struct ff_step step = hold(v->window);

    step.window.cwnd = plus(plus(s->target, train), times(v->mss, SCOUT_SLACK_SEGMENTS));
    step.pace = s->rate;
    step.keeps_pace = !s->sets_pace;
    return step;
}

/* How many ACKs a train should have. */
FF_INLINE u64 scout_due_acks(ff_knobs *k) { return k->scout.acks + SCOUT_SPARE_ACKS; }

/* How long the train of a round with this target is: long enough for the ACKs that it should have,
 * where that is no more than half of the target.
 */
FF_INLINE u64 scout_next_train_length(const struct scout *s, ff_knobs *k, u64 target,
                                      const struct ff_view *v)
{
    u64 for_due_acks = times(scout_spread_per_ack(&s->spread, v->mss), scout_due_acks(k));
    u64 length = max_of(target / k->scout.share, min_of(for_due_acks, target / 2));

    return whole_segments(max_of(length, times(v->mss, SCOUT_TRAIN_SEGMENTS)), v->mss);
}

/* A round with this target begins; its train leaves at `gain` times the round's rate, in
 * millionths.
 */
FF_INLINE void scout_begin_round_at(struct scout *s, ff_knobs *k, u64 target, u64 gain,
                                    const struct ff_view *v)
{
    u64 length;

    s->target = max_of(target, times(v->mss, 2));
    length = scout_next_train_length(s, k, s->target, v);
    s->train.begin = v->snd_nxt;
    s->train.end = plus(v->snd_nxt, length);
    s->train.acks = 0;
    s->train.leaves_in = 0;
    scout_spread_from(&s->spread, v->now, v->delivered);
    s->has_after_train = 0;
    if (v->rtt.smoothed != 0)
        scout_pace(s, k, length, gain, v);
}

/* Such a round after a train that did not find the target to be all. */
FF_INLINE void scout_begin_round(struct scout *s, ff_knobs *k, u64 target, u64 gain,
                                 const struct ff_view *v)
{
    s->full_trains = s->full_pipe = 0;
    scout_begin_round_at(s, k, target, gain, v);
}

/* The round after a train that did not say that the target is all; `pipe` is what it showed. What
 * was saved is tried after the first train, if it is worth more.
 */
FF_INLINE void scout_grow(struct scout *s, ff_knobs *k, u64 target, u64 pipe,
                          const struct ff_view *v)
{
    u64 jump = scout_resume_jump(&s->resume, v), gain = k->scout.look, extra, resumed;

    jump = min_of(scout_train_is_first(&s->train) ? jump : 0, pipe);
    extra = plus(scout_next_train_length(s, k, jump, v), times(v->mss, SCOUT_SLACK_SEGMENTS));
    resumed = minus(jump, extra);
    if (resumed > target) {
        gain = scout_resume_begin(&s->resume, jump, resumed);
        target = resumed;
    }
    scout_begin_round(s, k, target, gain, v);
}

#endif
