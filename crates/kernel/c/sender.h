/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The mechanism that all policies share: phases, floor and cap of the window, one cut per
 * recovery, undo, and when start-up or the avoidance decides. It is crates/core/src/mechanism.rs
 * and mechanism/ in C, for the policies FF_STARTUP and FF_AVOIDANCE. Left out are
 *
 * - what the kernel does: it answers marks by a recovery, paces at its own rate where no policy
 *   sets one, and limits growth, of which app_limited tells;
 * - what no start-up in C does: ignoring a loss;
 * - counters for reports.
 */
#ifndef FF_SENDER_H
#define FF_SENDER_H

#include "slow_start.h"
#include "view.h"

#define FF_PASTE_(policy, operation) policy##_##operation
#define FF_PASTE(policy, operation) FF_PASTE_(policy, operation)
#define startup(operation) FF_PASTE(FF_STARTUP, operation)
#define avoidance(operation) FF_PASTE(FF_AVOIDANCE, operation)

/* No loss leaves an ssthresh below two segments (RFC 5681 section 3.1, equation 4). */
#define MIN_SSTHRESH_SEGMENTS 2

/* What undoing a cut brings back. */
struct before_cut {
    struct ff_window window;
    struct FF_AVOIDANCE avoidance;
    struct FF_STARTUP startup;
#ifdef FF_OWNS_WINDOW
    u64 pace;
#endif
#ifdef FF_WAKES
    u64 wake;
#endif
    u8 phase;
#ifdef FF_ONCE
    u8 plain_slow_start;
#endif
    u8 known;
};

struct ff_sender {
    struct ff_view view;
    u64 max_cwnd;
#ifndef FF_WATCHES_NO_ACKS
    u64 round_end;
    /* The socket paces, whatever the policies say of it. */
    u32 endpoint_paces;
#endif
    struct FF_AVOIDANCE avoidance;
    struct before_cut before_cut;
    struct FF_STARTUP startup;
#ifdef FF_OWNS_WINDOW
    /* The rate that start-up has set, NONE without one. */
    u64 pace;
    /* The last answer covers the loss of what was sent before this, where it was a retreat. */
    u64 covered;
    u8 retreated;
    /* Start-up decides until the recovery ends. */
    u8 landing;
    /* Start-up paced to its end. */
    u8 stays_paced;
    /* What had been delivered when this round began, and what was in each of the two before it. */
    u64 round_began_with;
    u64 last_rounds[2];
#endif
#ifdef FF_ONCE
    /* The first slow start is over, and start-up was for that one only. */
    u8 plain_slow_start;
#endif
#ifdef FF_WAKES
    /* When start-up is to be woken, NONE for never. */
    u64 wake;
#endif
};

FF_INLINE void bound_cwnd(struct ff_sender *s)
{
    u64 *cwnd = &s->view.window.cwnd;

    *cwnd = max_of(min_of(*cwnd, s->max_cwnd), s->view.mss);
}

FF_INLINE void forget_wake(struct ff_sender *s)
{
#ifdef FF_WAKES
    s->wake = NONE;
#endif
}

FF_INLINE void enter_startup(struct ff_sender *s, ff_knobs *k, enum entry why)
{
    s->view.phase = STARTUP;
#ifdef FF_ONCE
    s->plain_slow_start = why != ENTRY_CONNECT;
#endif
    forget_wake(s);
    startup(enter)(&s->startup, k, why, &s->view);
}

/* Slow start stands in the place of a start-up that was for the first one only. */
FF_INLINE u8 slow_start_stands_in(const struct ff_sender *s)
{
#ifdef FF_ONCE
    return s->plain_slow_start;
#else
    return 0;
#endif
}

/* For a new connection; `s` is all zero. */
FF_INLINE void ff_new(struct ff_sender *s, ff_knobs *k, const struct ff_config *config)
{
    struct ff_view *v = &s->view;
    u64 mss = max_of(config->mss, 1);

    v->mss = mss;
#ifndef FF_WATCHES_NO_ACKS
    v->rtt.min = NONE;
#endif
#ifdef FF_OWNS_WINDOW
    s->pace = NONE;
    v->beta = avoidance(beta)(k);
#endif
    s->max_cwnd = config->max_cwnd;
    v->window.cwnd = startup(initial_window)(k, config->initial_window, mss);
    v->window.ssthresh = startup(initial_ssthresh)(k, config->initial_ssthresh, mss);
    bound_cwnd(s);
    startup(new)(&s->startup, k);
    avoidance(new)(&s->avoidance, k);
    enter_startup(s, k, ENTRY_CONNECT);
}

#ifdef FF_WATCHES_NO_ACKS

FF_INLINE void ff_on_handshake(struct ff_sender *s, ff_knobs *k, u64 now, u64 rtt) {}
FF_INLINE void ff_begin(struct ff_sender *s, ff_knobs *k, u64 now) {}
FF_INLINE void ff_on_sent(struct ff_sender *s, const struct ff_sent *sent) {}
FF_INLINE void ff_endpoint_paces(struct ff_sender *s, u32 paces) {}

FF_INLINE void observe(struct ff_sender *s, ff_knobs *k, const struct ff_ack *ack) {}
FF_INLINE void observe_loss(struct ff_sender *s, ff_knobs *k, const struct ff_loss *l) {}

#else

#include "paced.h"
#include "rtt.h"

/* The handshake finished: an RTT sample before any data. */
FF_INLINE void ff_on_handshake(struct ff_sender *s, ff_knobs *k, u64 now, u64 rtt)
{
    s->view.now = now;
    observe_rtt(&s->view.rtt, rtt);
    startup(on_handshake)(&s->startup, k, &s->view);
    avoidance(on_handshake)(&s->avoidance, k, &s->view);
}

#ifdef FF_OWNS_WINDOW

/* What start-up has decided before the first data. */
FF_INLINE void apply_unprompted(struct ff_sender *s, struct ff_step step)
{
    s->view.window = step.window;
    bound_cwnd(s);
    if (!step.keeps_pace)
        s->pace = step.pace;
}

/* Something is known of the path, before any data and after the handshake. */
FF_INLINE void ff_on_hint(struct ff_sender *s, ff_knobs *k, u64 now,
                          const struct ff_learned *learned)
{
    s->view.now = now;
    s->pace = NONE;
    startup(inform)(&s->startup, k, learned, &s->view);
}

#endif

/* The first data is about to leave; the handshake and hints came before. */
FF_INLINE void ff_begin(struct ff_sender *s, ff_knobs *k, u64 now)
{
    s->view.now = now;
    note_paced(s);
    startup(on_begin)(&s->startup, &s->view);
    avoidance(on_begin)(&s->avoidance, &s->view);
#ifdef FF_OWNS_WINDOW
    apply_unprompted(s, startup(begin)(&s->startup, k, &s->view));
#endif
}

/* So much data has left since the last event. The kernel does not say when packets leave, and no
 * policy here needs it. New data is summed up in one call before a loss; an ACK has the position
 * itself. For a control that needs how much has left there are calls before ACKs too, and calls for
 * what has left again.
 */
FF_INLINE void ff_on_sent(struct ff_sender *s, const struct ff_sent *sent)
{
    struct ff_view *v = &s->view;

    v->now = sent->now;
    v->sent = plus(v->sent, sent->bytes);
    if (!sent->again)
        v->snd_nxt = plus(v->snd_nxt, sent->bytes);
#ifdef FF_OWNS_WINDOW
    v->in_flight = sent->in_flight;
#endif
}

FF_INLINE void observe(struct ff_sender *s, ff_knobs *k, const struct ff_ack *ack)
{
    struct ff_view *v = &s->view;

    v->now = ack->now;
    v->snd_nxt = ack->snd_nxt;
    v->acked = plus(v->acked, ack->acked);
    v->delivered = plus(v->delivered, ack->credited);
#ifdef FF_OWNS_WINDOW
    v->in_flight = ack->in_flight;
#endif
    note_paced(s);
    if (ack->rtt != NONE)
        observe_rtt(&v->rtt, ack->rtt);
    /* RFC 9406 section 4.2: the first byte not yet sent then is acknowledged. */
    v->round_start = ack->acked > 0 && v->acked > s->round_end;
    if (v->round_start) {
        s->round_end = v->snd_nxt;
#ifdef FF_OWNS_WINDOW
        s->last_rounds[1] = s->last_rounds[0];
        s->last_rounds[0] = minus(v->delivered, s->round_began_with);
        s->round_began_with = v->delivered;
#endif
    }
    startup(on_ack)(&s->startup, k, ack, v);
    avoidance(on_ack)(&s->avoidance, k, ack, v);
}

FF_INLINE void observe_loss(struct ff_sender *s, ff_knobs *k, const struct ff_loss *loss)
{
    struct ff_view *v = &s->view;

    v->now = loss->now;
    note_paced(s);
    v->eligible = startup(eligible)(&s->startup, k);
    v->eligible_tick = startup(eligible_tick)(k);
#ifdef FF_OWNS_WINDOW
    v->beta = avoidance(beta)(k);
#endif
    if (loss->kind == LOSS_TIMEOUT)
        s->round_end = v->acked;
}

#endif

/* Data leaves again after the source had none for `idle`, and all was acknowledged. What the kernel
 * leaves of the window comes by ff_on_recovered.
 */
FF_INLINE void ff_on_rest(struct ff_sender *s, ff_knobs *k, u64 now, u64 idle)
{
#ifdef FF_RESTS
    s->view.now = now;
    if (idle)
        avoidance(on_rest)(&s->avoidance, k, idle, &s->view);
#endif
}

/* A sender that does not use its window does not open it. */
FF_INLINE void apply(struct ff_sender *s, struct ff_step step, const struct ff_ack *ack)
{
    if (ack->app_limited)
        step.window.cwnd = min_of(step.window.cwnd, s->view.window.cwnd);
    s->view.window = step.window;
    bound_cwnd(s);
#ifdef FF_OWNS_WINDOW
    if (!step.keeps_pace)
        s->pace = step.pace;
#endif
#ifdef FF_WAKES
    if (step.wake != NONE)
        s->wake = step.wake;
#endif
}

FF_INLINE void leave_startup(struct ff_sender *s)
{
    s->view.phase = AVOIDANCE;
    forget_wake(s);
#ifdef FF_OWNS_WINDOW
    s->landing = 0;
    s->stays_paced |= s->pace != NONE;
    avoidance(take_peak)(&s->avoidance, startup(peak)(&s->startup, &s->view));
#endif
#if defined(FF_FINDS_PIPE) && defined(FF_TAKES_PIPE)
    avoidance(take_pipe)(&s->avoidance, startup(pipe)(&s->startup), &s->view);
#endif
    avoidance(enter)(&s->avoidance, &s->view);
}

#ifdef FF_OWNS_WINDOW
#include "landing.h"
#endif
#include "undo.h"

/* An ACK arrived. */
FF_INLINE void ff_on_ack(struct ff_sender *s, ff_knobs *k, const struct ff_ack *ack)
{
    struct ff_view *v = &s->view;
    u64 before = v->window.cwnd;
    struct ff_step step;

    observe(s, k, ack);
#ifdef FF_OWNS_WINDOW
    if (v->recovering && s->landing) {
        land_on_ack(s, ack);
        return;
    }
#endif
    if (ack->acked == 0 || v->recovering)
        return;
    if (v->phase == STARTUP) {
        if (slow_start_stands_in(s))
            step = double_window(ack, v->mss, v->window);
        else
            step = startup(step)(&s->startup, k, ack, v);
        apply(s, step, ack);
        if (!step.exit)
            return;
        leave_startup(s);
        if (step.window.cwnd != before)
            return;
    }
    step = avoidance(step)(&s->avoidance, k, ack, v);
    apply(s, step, ack);
    if (avoidance(wants_reprobe)(&s->avoidance))
        enter_startup(s, k, ENTRY_REPROBE);
}

#ifdef FF_WAKES

/* The time has come for which start-up has asked. The window does not grow while the kernel repairs
 * what was lost.
 */
FF_INLINE void ff_on_wake(struct ff_sender *s, ff_knobs *k, u64 now)
{
    struct ff_ack none = { .app_limited = s->view.recovering && !s->landing };
    struct ff_step step;

    s->wake = NONE;
    s->view.now = now;
    if (s->view.phase != STARTUP || slow_start_stands_in(s))
        return;
    step = startup(on_wake)(&s->startup, k, &s->view);
    apply(s, step, &none);
}

#endif

/* Data was found lost. The window is cut once for all that was in flight then (RFC 6582 section
 * 3.2), and at every timeout.
 */
FF_INLINE void ff_on_loss(struct ff_sender *s, ff_knobs *k, const struct ff_loss *loss)
{
    struct ff_view *v = &s->view;
    u64 timeout = loss->kind == LOSS_TIMEOUT, least = times(v->mss, MIN_SSTHRESH_SEGMENTS);
    struct ff_window cut;
#ifdef FF_OWNS_WINDOW
    struct ff_answer answer;

    if (is_covered(s, loss))
        return;
#else
    if (!timeout && v->recovering)
        return;
#endif
    observe_loss(s, k, loss);
    if (!(timeout && loss->answered && s->before_cut.known))
        keep_before_cut(s);
#ifdef FF_OWNS_WINDOW
    s->covered = v->snd_nxt;
    if (slow_start_stands_in(s))
        answer.kind = ANSWER_LEAVE;
    else
        answer = startup(answer)(&s->startup, k, loss, v);
    if (answer.kind == ANSWER_LAND && v->phase == STARTUP && !timeout) {
        land(s, answer.window);
        return;
    }
    s->retreated = answer.kind == ANSWER_RETREAT;
    if (s->retreated)
        cut = answer.window;
    else
#endif
        cut = avoidance(cut)(&s->avoidance, k, loss, v);
    v->window.cwnd = timeout ? startup(restart_window)(v->mss) : cut.cwnd;
    v->window.ssthresh = max_of(whole_segments(cut.ssthresh, v->mss), least);
    bound_cwnd(s);
    if (v->phase == STARTUP)
        leave_startup(s);
#ifdef FF_OWNS_WINDOW
    s->pace = NONE;
#endif
    v->recovering = !timeout;
    if (timeout)
        enter_startup(s, k, ENTRY_TIMEOUT);
#ifdef FF_OWNS_WINDOW
    /* What is taken back is repaired in slow start, as after a timeout. */
    if (s->retreated && !timeout) {
        v->recovering = 0;
        enter_startup(s, k, ENTRY_RETREAT);
    }
#endif
}

/* Recovery is over. `cwnd` is the window it leaves, NONE if it has no say in it. */
FF_INLINE void ff_on_recovered(struct ff_sender *s, u64 cwnd)
{
#ifdef FF_OWNS_WINDOW
    if (s->landing) {
        end_landing(s);
        return;
    }
#endif
    s->view.recovering = 0;
    if (cwnd == NONE)
        return;
    s->view.window.cwnd = cwnd;
    bound_cwnd(s);
}

/* The largest segment payload changed. */
FF_INLINE void ff_set_mss(struct ff_sender *s, u64 mss)
{
    s->view.mss = max_of(mss, 1);
    bound_cwnd(s);
}

#endif
