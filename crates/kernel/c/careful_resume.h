/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Careful Resume (RFC 9959): a jump to half of what an earlier connection had, watched until it is
 * proven.
 *
 *   Reconnaissance: slow start until the first window is acknowledged; gives up on a loss, at
 *                   minrtt <= saved/2, and at an RTT > 10 saved
 *   Unvalidated:    pipe = in flight; cwnd = jump = min(max_jump, saved/2), paced over the RTT;
 *                   pipe += acked; ends when the jump is in flight, when its first packet is
 *                   acknowledged, or after an RTT:
 *                   in flight <= max(pipe, IW): cwnd = max(pipe, IW), normal;
 *                   else cwnd = in flight
 *   Validating:     pipe += acked; slow start, until the last unvalidated packet is acknowledged
 *   Safe Retreat:   after a loss in one of these two: cwnd = pipe/2, held; pipe += acked; last
 *                   unvalidated packet: ssthresh = pipe Beta, normal; what was saved is refuted
 *
 * Normal is slow start. The kernel wakes nobody, so that the RTT of the Unvalidated Phase ends with
 * the first ACK after it. crates/core/src/startup/careful_resume.rs tells what is inferred.
 */
#ifndef FF_CAREFUL_RESUME_H
#define FF_CAREFUL_RESUME_H

#include "saved.h"
#include "slow_start.h"
#include "view.h"

enum careful_resume_phase {
    CR_RECONNAISSANCE,
    CR_UNVALIDATED,
    CR_VALIDATING,
    CR_RETREAT,
    CR_NORMAL,
};

struct careful_resume {
    u64 first_window;
    struct saved saved;
    /* PipeSize. */
    u64 pipe;
    /* Where unvalidated data begins, when its phase ends, how it is paced. */
    u64 first;
    u64 until;
    u64 rate;
    /* Up to this position the jump is watched. */
    u64 end;
    u8 phase;
    u8 refuted;
};

FF_NEW_POLICY(careful_resume)
FF_OBSERVES_NO_HANDSHAKE(careful_resume)
FF_OBSERVES_NO_BEGIN(careful_resume)
FF_ESTIMATES_NOTHING(careful_resume)
FF_RESTARTS_WITH_ONE(careful_resume)
FF_BEGINS_PLAINLY(careful_resume)
FF_LANDS_NOWHERE(careful_resume)
FF_FIRST_WINDOW_OF_KNOBS(careful_resume)
FF_FIRST_SSTHRESH_OF_KNOBS(careful_resume)

FF_INLINE void careful_resume_on_ack(struct careful_resume *c, ff_knobs *k,
                                     const struct ff_ack *ack, const struct ff_view *v)
{
    if (c->phase != CR_RECONNAISSANCE && c->phase != CR_NORMAL)
        c->pipe = plus(c->pipe, ack->credited);
}

FF_INLINE void careful_resume_inform(struct careful_resume *c, ff_knobs *k,
                                     const struct ff_learned *last, const struct ff_view *v)
{
    c->saved = saved_of(last, k->careful_resume.max_age, v);
}

FF_INLINE u8 careful_resume_refutes_hint(const struct careful_resume *c) { return c->refuted; }

FF_INLINE void careful_resume_enter(struct careful_resume *c, ff_knobs *k, enum entry why,
                                    const struct ff_view *v)
{
    if (why == ENTRY_CONNECT)
        c->first_window = v->window.cwnd;
    else if (why != ENTRY_RETREAT)
        c->phase = CR_NORMAL;
}

/* Reconnaissance: jumps once the first window is acknowledged (section 4.2). */
FF_INLINE struct ff_step careful_resume_reconnoitre(struct careful_resume *c, ff_knobs *k,
                                                    const struct ff_ack *ack,
                                                    const struct ff_view *v)
{
    struct ff_step step = double_window(ack, v->mss, v->window);
    u64 rtt = v->rtt.smoothed, most, jump;

    if (!c->saved.window)
        return step;
    if (step.exit || !saved_is_of_path(&c->saved, v)) {
        c->phase = CR_NORMAL;
        return step;
    }
    if (v->acked < c->first_window || ack->app_limited || rtt == 0)
        return step;
    most = amount(k->careful_resume.max_jump_unit, k->careful_resume.max_jump, NONE, v->mss);
    jump = whole_segments(min_of(c->saved.window / 2, most), v->mss);
    if (jump <= step.window.cwnd) {
        c->phase = CR_NORMAL;
        return step;
    }
    c->phase = CR_UNVALIDATED;
    c->pipe = v->in_flight;
    c->first = v->snd_nxt;
    c->until = plus(v->now, rtt);
    c->rate = max_of(rate_per(jump, rtt), 1);
    step = hold(v->window);
    step.window.cwnd = jump;
    step.pace = c->rate;
    return step;
}

/* The window of Safe Retreat (section 4.5). */
FF_INLINE u64 careful_resume_retreat(const struct careful_resume *c, const struct ff_view *v)
{
    return min_of(max_of(c->pipe / 2, times(v->mss, 2)), v->window.cwnd);
}

/* The Unvalidated Phase goes on, or is over (section 4.3); on another path it is a retreat. */
FF_INLINE struct ff_step careful_resume_jumping(struct careful_resume *c,
                                                const struct ff_ack *ack, const struct ff_view *v)
{
    u64 in_flight = plus(ack->in_flight, ack->acked);
    u64 full = plus(in_flight, v->mss) > v->window.cwnd;
    u64 proven = max_of(c->pipe, c->first_window);
    struct ff_step step = hold(v->window);

    if (!saved_is_of_path(&c->saved, v)) {
        c->refuted = 1;
        c->phase = CR_RETREAT;
        c->end = v->snd_nxt;
        step.window.cwnd = careful_resume_retreat(c, v);
        return step;
    }
    if (!full && v->acked <= c->first && v->now <= c->until) {
        step.pace = c->rate;
        return step;
    }
    c->phase = in_flight <= proven ? CR_NORMAL : CR_VALIDATING;
    c->end = v->snd_nxt;
    step.window.cwnd = min_of(max_of(in_flight, proven), v->window.cwnd);
    return step;
}

/* Safe Retreat is held up to the last unvalidated packet (section 4.5). */
FF_INLINE struct ff_step careful_resume_retreating(struct careful_resume *c, ff_knobs *k,
                                                   const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    c->end = min_of(c->end, v->snd_nxt);
    if (v->acked < c->end)
        return step;
    c->phase = CR_NORMAL;
    step.window.ssthresh = mul_div(c->pipe, k->careful_resume.beta, RATIO_ONE);
    step.window.ssthresh = max_of(step.window.ssthresh, times(v->mss, 2));
    step.window.cwnd = min_of(v->window.cwnd, step.window.ssthresh);
    return until_threshold(step);
}

FF_INLINE struct ff_step careful_resume_step(struct careful_resume *c, ff_knobs *k,
                                             const struct ff_ack *ack, const struct ff_view *v)
{
    switch (c->phase) {
    case CR_RECONNAISSANCE:
        return careful_resume_reconnoitre(c, k, ack, v);
    case CR_UNVALIDATED:
        return careful_resume_jumping(c, ack, v);
    case CR_VALIDATING:
        if (v->acked >= c->end)
            c->phase = CR_NORMAL;
        return until_threshold(grow(v->window, ack->acked));
    case CR_RETREAT:
        return careful_resume_retreating(c, k, v);
    default:
        return double_window(ack, v->mss, v->window);
    }
}

FF_INLINE struct ff_answer careful_resume_answer(struct careful_resume *c, ff_knobs *k,
                                                 const struct ff_loss *loss,
                                                 const struct ff_view *v)
{
    struct ff_answer answer = { .window = v->window, .kind = ANSWER_LEAVE };
    u8 watched = c->phase == CR_UNVALIDATED || c->phase == CR_VALIDATING;

    c->refuted |= watched;
    if (!watched || loss->kind == LOSS_TIMEOUT) {
        c->phase = CR_NORMAL;
        return answer;
    }
    if (c->phase == CR_UNVALIDATED)
        c->end = v->snd_nxt;
    c->phase = CR_RETREAT;
    answer.kind = ANSWER_RETREAT;
    answer.window.cwnd = careful_resume_retreat(c, v);
    return answer;
}

#endif
