/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Scout: every round begins with a short train at four times the round's rate, and what the RTT
 * does over the train decides how the window grows.
 *
 *   begin:   W = a packet per 1.2 ms of the RTT, from IW to 2 IW, of which IW is the first train;
 *            without an RTT W = IW, all of it the train
 *   round:   a train of W/8 at 4 W/srtt, of at least 8 segments and 3 ACKs; the rest at W/srtt;
 *            cwnd = W + train
 *   train acknowledged: rise of the RTT from its first ACK to its last, time between the two,
 *            pipe = bytes/time * minrtt
 *     a single ACK:       rise and time count from when its first packet would have been
 *                           acknowledged: when it left, and the RTT before the train
 *     none, or one of a train that did not leave at its pace:
 *                         W = 2 W, or, if the smallest RTT between trains is above
 *                           minrtt + clamp(minrtt/8, 4 ms, 16 ms):
 *                           leave with 1.1 of what arrived in a minrtt
 *     rise <= time/8:     W = 8/7 pipe, from W to 4 W; 3/2 W if the RTT fell by more than time/8
 *     pipe > 1.1 W:       over four trains' length behind it the RTT
 *       falls by rise/2:              W = what is free, from W to pipe and to 4 W:
 *                                       (bytes left + pipe/minrtt * fall)/time left in * minrtt
 *       does not:                     leave with W, and pipe = pipe/4, from W
 *     (in none of these beyond 4 times the flight, so that an unused W does not grow)
 *     otherwise it was noise if over four trains' length behind it the RTT is not higher by
 *       rise/2 than before it, although packets left soon enough after it to be late:
 *       noise:              W = 3/2 W
 *       no noise:           W stays; after five such trains in a row
 *                             leave with min(W, the largest of their pipes)
 *   loss:    land at 0.85 of what arrives of what is outstanding, much as Rapid Start does; leave
 *   leave:   CUBIC's curve turns at pipe where that is more than W, which is then its W_max
 *
 * Only the first slow start has it. crates/core/src/startup/scout.rs tells what was known before
 * and what is ours, and what is missing.
 */
#ifndef FF_SCOUT_H
#define FF_SCOUT_H

/* The first packets of a round leave at a pace of their own. */
#define FF_SENDS_TRAINS
/* It finds what the path holds. */
#define FF_FINDS_PIPE

#include "landing_by_counting.h"
#include "scout_round.h"
#include "slow_start.h"
#include "view.h"

/* How many trains in a row that find W to be all end start-up: RFC 9406's CSS_ROUNDS. */
#define SCOUT_FULL_TRAINS 5
/* No exit and no landing leaves less: the loss of one packet is then still repaired without a
 * timeout.
 */
#define SCOUT_LEAST_SEGMENTS 4

FF_NEW_POLICY(scout)
FF_OBSERVES_NOTHING(scout)
FF_ESTIMATES_NOTHING(scout)
FF_RESTARTS_WITH_ONE(scout)
FF_FIRST_WINDOW_OF_KNOBS(scout)
FF_FIRST_SSTHRESH_OF_KNOBS(scout)

FF_INLINE struct ff_step scout_leave(struct scout *s, u64 pipe, const struct ff_view *v)
{
    u64 cwnd = plus(min_of(s->window, pipe), times(v->mss, SCOUT_SLACK_SEGMENTS));
    struct ff_step step = hold(v->window);

    s->pipe = pipe;
    step.window.cwnd = max_of(cwnd, times(v->mss, SCOUT_LEAST_SEGMENTS));
    step.window.ssthresh = step.window.cwnd;
    step.exit = 1;
    return step;
}

/* What a round decides beside its window and pace: to leave, and with what the path holds then. */
struct scout_choice {
    u64 pipe;
    u8 leaves;
};

/* W after a train of which noise has hidden what the path did. The queue that growth builds is seen
 * a round later: it is then 0.23 BDP long if W grew by half, which short buffers hold, and 0.44 if
 * W doubled.
 */
FF_INLINE u64 scout_after_noise(u64 window) { return mul_div(window, 3, 2); }

/* What follows the train tells of it, too. Nothing does in a first window that is all train, and
 * where a train has fewer ACKs than it should, a receiver's timer acknowledges what follows.
 */
FF_INLINE u8 scout_is_followed(const struct scout *s, ff_knobs *k)
{
    return s->train.acks >= scout_due_acks(k)
           && (!scout_train_is_first(&s->train) || s->window > scout_train_length(&s->train));
}

/* The train has been acknowledged. */
FF_INLINE struct scout_choice scout_judge(struct scout *s, ff_knobs *k, const struct ff_view *v)
{
    u64 window = s->window, most = mul_div(window, k->scout.look, RATIO_ONE), far;
    u64 before = scout_between_is_known(&s->between) ? s->between.floor : v->rtt.min;
    struct scout_verdict verdict =
        scout_train_verdict(&s->train, k->scout.pass, v->rtt.min, before, k->scout.acks);
    struct scout_choice choice = { .leaves = 0 };
    u64 used = U64_MAX, room = 0;

    most = scout_resume_end(&s->resume, most, v);
    /* A window that is not used grows no further (draft-ietf-ccwg-ratelimited-increase-10). */
    if (!scout_train_is_first(&s->train))
        used = max_of(mul_div(v->in_flight, k->scout.look, RATIO_ONE), window);
    most = min_of(most, used);
    if (verdict.kind == SCOUT_SILENT && scout_between_is_late(&s->between, v->rtt.min)) {
        choice.pipe = mul_div(scout_between_pipe(&s->between, v), 11, 10);
        choice.leaves = 1;
        return choice;
    }
    if (verdict.pipe > mul_div(window, k->scout.room, RATIO_ONE))
        room = min_of(verdict.pipe, most);
    if (verdict.kind == SCOUT_SLOWED && k->scout.behind == 0 && room == 0) {
        choice.pipe = verdict.pipe;
        choice.leaves = 1;
        return choice;
    }
    if (verdict.kind == SCOUT_SLOWED && k->scout.behind != 0
        && (room == 0 || (k->scout.polite == SCOUT_POLITE_ON && scout_is_followed(s, k)))) {
        far = mul_div(scout_train_length(&s->train), k->scout.behind, RATIO_ONE);
        s->behind.pipe = verdict.pipe;
        s->behind.rise = verdict.rise;
        s->behind.before = before;
        s->behind.end = plus(v->acked, min_of(far, window));
        s->behind.room = room;
        s->behind.lowest.rtt = NONE;
        s->behind.is = 1;
        return choice;
    }
    if (verdict.kind == SCOUT_SLOWED)
        window = room;
    else if (verdict.kind == SCOUT_PASSED)
        /* No more than what it showed, of which no less than W: that has just left. */
        window = min_of(max_of(verdict.pipe, window), most);
    else if (verdict.kind == SCOUT_SILENT)
        window = min_of(times(window, 2), used);
    else
        window = min_of(scout_after_noise(window), used);
    scout_grow(s, k, window, verdict.kind == SCOUT_SLOWED ? verdict.pipe : U64_MAX, v);
    return choice;
}

/* A train found W to be all. Noise may make it seem so, and W stays until five trains in a row have
 * found that. A resumed window is left at once, because no train has shown it.
 */
FF_INLINE struct scout_choice scout_stay(struct scout *s, ff_knobs *k, const struct ff_view *v)
{
    struct scout_choice choice = { .leaves = 0 };

    s->full_pipe = max_of(s->full_pipe, s->behind.pipe);
    choice.pipe = s->full_pipe;
    choice.leaves = ++s->full_trains >= SCOUT_FULL_TRAINS
                    || scout_resume_is_on_its_way(&s->resume, v);
    if (!choice.leaves)
        scout_round_at(s, k, s->window, k->scout.look, v);
    return choice;
}

/* A packet behind a train that slowed down. */
FF_INLINE struct scout_choice scout_look_behind(struct scout *s, ff_knobs *k,
                                                const struct scout_point *point,
                                                const struct ff_view *v)
{
    struct scout_choice choice = { .leaves = 0 };
    u64 free = 0, next;

    switch (scout_behind_note(&s->behind, &s->train, point, v->rtt.min, &free)) {
    case SCOUT_LITTLE:
        break;
    case SCOUT_FREE:
        next = min_of(max_of(free, s->window), s->behind.room);
        scout_grow(s, k, next, s->behind.pipe, v);
        break;
    case SCOUT_NOISE:
        scout_round(s, k, scout_after_noise(s->window), k->scout.look, v);
        break;
    case SCOUT_LATE:
        if (s->behind.room == 0)
            return scout_stay(s, k, v);
        choice.pipe = scout_behind_told(&s->behind, s->window);
        choice.leaves = 1;
        break;
    }
    return choice;
}

/* Counts an ACK to the train or to what is between trains. */
FF_INLINE void scout_note(struct scout *s, const struct ff_ack *ack,
                          const struct scout_point *point)
{
    s->between.acks = plus(s->between.acks, 1);
    s->between.acked = plus(s->between.acked, ack->acked);
    if (ack->rtt == NONE)
        return;
    if (point->acked <= s->train.begin)
        scout_between_note(&s->between, point->rtt);
    scout_train_note(&s->train, point);
}

FF_INLINE void scout_inform(struct scout *s, ff_knobs *k, const struct ff_learned *last,
                            const struct ff_view *v)
{
    if (k->scout.resume == SCOUT_RESUME_ON)
        s->resume.saved = saved_window(last->per_round, last, SCOUT_RESUME_MAX_AGE, v);
}

FF_INLINE u8 scout_refutes_hint(const struct scout *s) { return s->resume.state == SCOUT_REFUTED; }

FF_INLINE struct ff_step scout_begin(struct scout *s, ff_knobs *k, const struct ff_view *v)
{
    return scout_open_first(s, k, v->window.cwnd, v);
}

FF_INLINE void scout_enter(struct scout *s, ff_knobs *k, enum entry why, const struct ff_view *v)
{
    s->window = v->window.cwnd;
    scout_train_first(&s->train);
    scout_between_from(&s->between, 0, 0);
    s->behind.is = 0;
    s->full_trains = s->full_pipe = 0;
    s->pipe = 0;
    s->lands = 0;
    s->reopened = 0;
    scout_resume_enter(&s->resume, why);
}

/* By itself, because it is long. The step that follows is made by scout_step, as what a function by
 * itself returns is one number: the pipe with which to leave, NONE to go on.
 */
FF_APART u64 scout_decide(struct scout *s, ff_knobs *k, const struct ff_ack *ack,
                          const struct ff_view *v)
{
    struct scout_point point = { .at = ack->now, .rtt = ack->rtt, .acked = v->acked };
    struct scout_choice choice = { .leaves = 0 };

    if (!s->behind.is) {
        scout_note(s, ack, &point);
        if (v->acked >= s->train.end)
            choice = scout_judge(s, k, v);
    }
    /* The ACK by which a train is judged may tell of what follows it, too. */
    if (s->behind.is && ack->rtt != NONE && v->acked > s->train.end)
        choice = scout_look_behind(s, k, &point, v);
    return choice.leaves ? min_of(choice.pipe, NONE - 1) : NONE;
}

FF_INLINE struct ff_step scout_step(struct scout *s, ff_knobs *k, const struct ff_ack *ack,
                                    const struct ff_view *v)
{
    u64 few = times(v->mss, 3), pipe;

    if (v->window.cwnd >= v->window.ssthresh)
        return double_window(ack, v->mss, v->window);
    if (s->train.end == U64_MAX) {
        /* QUIC acknowledges the end of its handshake before the first window has left. */
        if (!s->reopened && v->acked < few && minus(v->snd_nxt, v->acked) < few) {
            s->reopened = 1;
            return scout_open_first(s, k, s->window, v);
        }
        s->train.end = v->snd_nxt;
        scout_between_from(&s->between, v->now, v->delivered);
    }
    s->paces = 0;
    pipe = scout_decide(s, k, ack, v);
    return pipe == NONE ? scout_go_on(s, v) : scout_leave(s, pipe, v);
}

/* The landing begins from what is outstanding and not from W, and its least window is not a share
 * of that: on a path with a policer both may be several times what ever arrives.
 */
FF_INLINE struct ff_answer scout_answer(struct scout *s, ff_knobs *k, const struct ff_loss *loss,
                                        const struct ff_view *v)
{
    struct ff_answer answer = { .window = v->window, .kind = ANSWER_LEAVE };
    struct landing *l = &s->landing;

    scout_resume_meet_congestion(&s->resume, v);
    l->window = l->outstanding = minus(v->snd_nxt, v->acked);
    l->least = times(v->mss, SCOUT_LEAST_SEGMENTS);
    l->beta = min_of(k->scout.keeps, RATIO_ONE);
    l->ack_factor = (RATIO_ONE - l->beta) * 2 / 3;
    l->acked = 0;
    l->lost = 0;
    s->lands = 1;
    landing_count(l, 0, loss->lost);
    answer.kind = ANSWER_LAND;
    answer.window.cwnd = min_of(landing_cwnd(l), v->window.cwnd);
    return answer;
}

FF_INLINE void scout_on_further_loss(struct scout *s, const struct ff_loss *loss)
{
    if (s->lands && !loss->again)
        landing_count(&s->landing, 0, loss->lost);
}

FF_INLINE struct ff_step scout_recovering(struct scout *s, const struct ff_ack *ack,
                                          const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    if (!s->lands)
        return step;
    landing_count(&s->landing, ack->credited, 0);
    step.window.cwnd = min_of(landing_cwnd(&s->landing), v->window.cwnd);
    return step;
}

FF_INLINE u64 scout_pipe(const struct scout *s) { return s->pipe; }

FF_INLINE u64 scout_peak(const struct scout *s, const struct ff_view *v)
{
    u64 landed = mul_div(landing_cwnd(&s->landing), RATIO_ONE, s->landing.beta);

    return s->lands ? max_of(landed, v->window.cwnd) : NONE;
}

FF_INLINE struct ff_train scout_leaves_first(const struct scout *s) { return s->leaves; }

#endif
