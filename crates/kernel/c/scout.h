/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Scout: every round begins with a short train at four times the round's rate, and what the RTT
 * does over the train decides how the window grows.
 *
 * crates/core/src/startup/scout.rs has it as an RFC would, line by line, with what was known
 * before, what is ours and what is missing.
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

/* How many trains in a row that find the target to be all end start-up: RFC 9406's CSS_ROUNDS. */
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
    u64 cwnd = plus(min_of(s->target, pipe), times(v->mss, SCOUT_SLACK_SEGMENTS));
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

/* The target after a train of which noise has hidden what the path did. The queue that growth
 * builds is seen a round later: it is then 0.23 BDP long if the target grew by half, which short
 * buffers hold, and 0.44 if it doubled.
 */
FF_INLINE u64 scout_after_noise(u64 target) { return mul_div(target, 3, 2); }

/* What follows the train tells of it, too. Nothing does in a first window that is all train, and
 * where a train has fewer ACKs than it should, a receiver's timer acknowledges what follows.
 */
FF_INLINE u8 scout_is_followed(const struct scout *s, ff_knobs *k)
{
    return s->train.acks >= scout_due_acks(k)
           && (!scout_train_is_first(&s->train) || s->target > scout_train_length(&s->train));
}

/* The train has been acknowledged. */
FF_INLINE struct scout_choice scout_judge_train(struct scout *s, ff_knobs *k,
                                                const struct ff_view *v)
{
    u64 target = s->target, most = mul_div(target, k->scout.look, RATIO_ONE), far;
    u64 before = scout_spread_is_known(&s->spread) ? s->spread.floor : v->rtt.min;
    struct scout_verdict verdict =
        scout_train_verdict(&s->train, k->scout.pass, v->rtt.min, before, k->scout.acks);
    struct scout_choice choice = { .leaves = 0 };
    u64 used = U64_MAX, room = 0;

    most = scout_resume_end(&s->resume, most, v);
    /* A window that is not used grows no further (draft-ietf-ccwg-ratelimited-increase-10). */
    if (!scout_train_is_first(&s->train))
        used = max_of(mul_div(v->in_flight, k->scout.look, RATIO_ONE), target);
    most = min_of(most, used);
    if (verdict.kind == SCOUT_SILENT && scout_spread_is_late(&s->spread, v->rtt.min)) {
        choice.pipe = mul_div(scout_spread_pipe(&s->spread, v), 11, 10);
        choice.leaves = 1;
        return choice;
    }
    if (verdict.pipe > mul_div(target, k->scout.room, RATIO_ONE))
        room = min_of(verdict.pipe, most);
    if (verdict.kind == SCOUT_SLOWED && k->scout.behind == 0 && room == 0) {
        choice.pipe = verdict.pipe;
        choice.leaves = 1;
        return choice;
    }
    if (verdict.kind == SCOUT_SLOWED && k->scout.behind != 0
        && (room == 0 || (k->scout.polite == SCOUT_POLITE_ON && scout_is_followed(s, k)))) {
        far = mul_div(scout_train_length(&s->train), k->scout.behind, RATIO_ONE);
        s->after_train.pipe = verdict.pipe;
        s->after_train.rise = verdict.rise;
        s->after_train.before = before;
        s->after_train.end = plus(v->acked, min_of(far, target));
        s->after_train.room = room;
        s->after_train.lowest.rtt = NONE;
        s->has_after_train = 1;
        return choice;
    }
    if (verdict.kind == SCOUT_SLOWED)
        target = room;
    else if (verdict.kind == SCOUT_PASSED)
        /* No more than what it showed, and no less than the target, which has just left. */
        target = min_of(max_of(verdict.pipe, target), most);
    else if (verdict.kind == SCOUT_SILENT)
        target = min_of(times(target, 2), used);
    else
        target = min_of(scout_after_noise(target), used);
    scout_grow(s, k, target, verdict.kind == SCOUT_SLOWED ? verdict.pipe : U64_MAX, v);
    return choice;
}

/* A train found the target to be all. Noise may make it seem so, and the target stays until five
 * trains in a row have found that. A resumed window is left at once, because no train has shown it.
 */
FF_INLINE struct scout_choice scout_note_full_train(struct scout *s, ff_knobs *k,
                                                    const struct ff_view *v)
{
    struct scout_choice choice = { .leaves = 0 };

    s->full_pipe = max_of(s->full_pipe, s->after_train.pipe);
    choice.pipe = s->full_pipe;
    choice.leaves = ++s->full_trains >= SCOUT_FULL_TRAINS
                    || scout_resume_is_on_its_way(&s->resume, v);
    if (!choice.leaves)
        scout_begin_round_at(s, k, s->target, k->scout.look, v);
    return choice;
}

/* A packet after a train that slowed down. */
FF_INLINE struct scout_choice scout_judge_after_train(struct scout *s, ff_knobs *k,
                                                      const struct scout_rtt_sample *sample,
                                                      const struct ff_view *v)
{
    struct scout_choice choice = { .leaves = 0 };
    u64 free = 0, next;

    switch (scout_after_train_note(&s->after_train, &s->train, sample, v->rtt.min, &free)) {
    case SCOUT_UNDECIDED:
        break;
    case SCOUT_FREE:
        next = min_of(max_of(free, s->target), s->after_train.room);
        scout_grow(s, k, next, s->after_train.pipe, v);
        break;
    case SCOUT_NOISE:
        scout_begin_round(s, k, scout_after_noise(s->target), k->scout.look, v);
        break;
    case SCOUT_STAYS:
        if (s->after_train.room == 0)
            return scout_note_full_train(s, k, v);
        choice.pipe = scout_pipe_where_queue_stays(&s->after_train, s->target);
        choice.leaves = 1;
        break;
    }
    return choice;
}

/* Counts an ACK to the train or to the spread. */
FF_INLINE void scout_note(struct scout *s, const struct ff_ack *ack,
                          const struct scout_rtt_sample *sample)
{
    s->spread.acks = plus(s->spread.acks, 1);
    s->spread.acked = plus(s->spread.acked, ack->acked);
    if (ack->rtt == NONE)
        return;
    if (sample->acked <= s->train.begin)
        scout_spread_note(&s->spread, sample->rtt);
    scout_train_note(&s->train, sample);
}

FF_INLINE void scout_inform(struct scout *s, ff_knobs *k, const struct ff_learned *last,
                            const struct ff_view *v)
{
    if (k->scout.resume == SCOUT_RESUME_ON)
        s->resume.saved = saved_window(last->per_round, last, SCOUT_RESUME_MAX_AGE, v);
}

FF_INLINE u8 scout_refutes_hint(const struct scout *s)
{
    return s->resume.tested_state == SCOUT_REFUTED;
}

FF_INLINE struct ff_step scout_begin(struct scout *s, ff_knobs *k, const struct ff_view *v)
{
    return scout_open_first(s, k, v->window.cwnd, v);
}

FF_INLINE void scout_enter(struct scout *s, ff_knobs *k, enum entry why, const struct ff_view *v)
{
    s->target = v->window.cwnd;
    scout_train_first(&s->train);
    scout_spread_from(&s->spread, 0, 0);
    s->has_after_train = 0;
    s->full_trains = s->full_pipe = 0;
    s->pipe = 0;
    s->has_landing = 0;
    s->reopened = 0;
    scout_resume_enter(&s->resume, why);
}

/* By itself, because it is long. The step that follows is made by scout_step, as what a function by
 * itself returns is one number: the pipe with which to leave, NONE to go on.
 */
FF_APART u64 scout_decide(struct scout *s, ff_knobs *k, const struct ff_ack *ack,
                          const struct ff_view *v)
{
    struct scout_rtt_sample sample = { .at = ack->now, .rtt = ack->rtt, .acked = v->acked };
    struct scout_choice choice = { .leaves = 0 };

    if (!s->has_after_train) {
        scout_note(s, ack, &sample);
        if (v->acked >= s->train.end)
            choice = scout_judge_train(s, k, v);
    }
    /* The ACK by which a train is judged may tell of what follows it, too. */
    if (s->has_after_train && ack->rtt != NONE && v->acked > s->train.end)
        choice = scout_judge_after_train(s, k, &sample, v);
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
            return scout_open_first(s, k, s->target, v);
        }
        s->train.end = v->snd_nxt;
        scout_spread_from(&s->spread, v->now, v->delivered);
    }
    s->sets_pace = 0;
    pipe = scout_decide(s, k, ack, v);
    return pipe == NONE ? scout_go_on_with_round(s, v) : scout_leave(s, pipe, v);
}

/* The landing begins from what is outstanding and not from the target, and its least window is not
 * a share of that: on a path with a policer both may be several times what ever arrives.
 */
FF_INLINE struct ff_answer scout_answer(struct scout *s, ff_knobs *k, const struct ff_loss *loss,
                                        const struct ff_view *v)
{
    struct ff_answer answer = { .window = v->window, .kind = ANSWER_LEAVE };
    struct landing *l = &s->landing;

    scout_resume_meet_congestion(&s->resume, v);
    l->pre_recovery_cwnd = l->outstanding = minus(v->snd_nxt, v->acked);
    l->least = times(v->mss, SCOUT_LEAST_SEGMENTS);
    l->beta = min_of(k->scout.keeps, RATIO_ONE);
    l->ack_factor = (RATIO_ONE - l->beta) * 2 / 3;
    l->acked = 0;
    l->lost = 0;
    s->has_landing = 1;
    landing_count(l, 0, loss->lost);
    answer.kind = ANSWER_LAND;
    answer.window.cwnd = min_of(landing_cwnd(l), v->window.cwnd);
    return answer;
}

FF_INLINE void scout_on_further_loss(struct scout *s, const struct ff_loss *loss)
{
    if (s->has_landing && !loss->again)
        landing_count(&s->landing, 0, loss->lost);
}

FF_INLINE struct ff_step scout_recovering(struct scout *s, const struct ff_ack *ack,
                                          const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    if (!s->has_landing)
        return step;
    landing_count(&s->landing, ack->credited, 0);
    step.window.cwnd = min_of(landing_cwnd(&s->landing), v->window.cwnd);
    return step;
}

FF_INLINE u64 scout_pipe(const struct scout *s) { return s->pipe; }

FF_INLINE u64 scout_peak(const struct scout *s, const struct ff_view *v)
{
    u64 landed = mul_div(landing_cwnd(&s->landing), RATIO_ONE, s->landing.beta);

    return s->has_landing ? max_of(landed, v->window.cwnd) : NONE;
}

FF_INLINE struct ff_train scout_leaves_first(const struct scout *s) { return s->leaves; }

#endif
