/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Vegas (Brakmo, O'Malley and Peterson, SIGCOMM 1994) as ns-2.35's agent runs it. Start-up: slow
 * start in every other round; at the start of a growing one, with more than gamma segments queued,
 * an eighth of the window is given back and start-up is over. Avoidance: once per RTT one segment
 * less with more than beta queued, one more over the next round with fewer than alpha. A loss costs
 * a quarter of the window, of what was already resent a half.
 */
#ifndef FF_VEGAS_H
#define FF_VEGAS_H

#include "linear.h"
#include "vegas_diff.h"
#include "view.h"

/* Unused segments beyond which the window does not grow; the smallest window, also after a
 * timeout.
 */
#define UNUSED_SEGMENTS 2
#define MIN_SEGMENTS 2

struct vegas_start {
    struct vegas_diff diff;
    /* Rounds decided since the last that grew. */
    u64 held;
    u8 growing;
};

struct vegas {
    struct vegas_diff diff;
    struct linear linear;
    /* The window at the decision to grow, while this round grows. */
    u64 from;
    u8 grows;
};

FF_ESTIMATES_NOTHING(vegas_start)
FF_FIRST_WINDOW_OF_KNOBS(vegas_start)
FF_FIRST_SSTHRESH_OF_KNOBS(vegas_start)
FF_NEVER_REPROBES(vegas)

FF_INLINE void vegas_start_new(struct vegas_start *s, ff_knobs *k) { vegas_diff_new(&s->diff); }
FF_INLINE void vegas_new(struct vegas *a, ff_knobs *k) { vegas_diff_new(&a->diff); }
FF_INLINE u64 vegas_start_restart_window(u64 mss) { return times(mss, MIN_SEGMENTS); }

FF_INLINE void vegas_start_on_handshake(struct vegas_start *s, ff_knobs *k,
                                        const struct ff_view *v)
{
    vegas_diff_on_handshake(&s->diff, v);
    if (k->vegas_first == FIRST_AUTO)
        s->held = k->vegas_grow_every - 1;
}

FF_INLINE void vegas_on_handshake(struct vegas *a, ff_knobs *k, const struct ff_view *v)
{
    vegas_diff_on_handshake(&a->diff, v);
}

FF_INLINE void vegas_start_on_sent(struct vegas_start *s, u64 now)
{
    vegas_diff_on_sent(&s->diff, now);
}

FF_INLINE void vegas_on_sent(struct vegas *a, u64 now) { vegas_diff_on_sent(&a->diff, now); }

FF_INLINE void vegas_start_on_ack(struct vegas_start *s, ff_knobs *k, const struct ff_ack *ack,
                                  const struct ff_view *v)
{
    vegas_diff_on_ack(&s->diff, ack, v);
}

FF_INLINE void vegas_on_ack(struct vegas *a, ff_knobs *k, const struct ff_ack *ack,
                            const struct ff_view *v)
{
    vegas_diff_on_ack(&a->diff, ack, v);
}

FF_INLINE void vegas_start_enter(struct vegas_start *s, ff_knobs *k, enum entry why,
                                 const struct ff_view *v)
{
    if (why == ENTRY_CONNECT)
        s->held = k->vegas_first == FIRST_GROWS ? k->vegas_grow_every - 1 : 0;
    else
        s->growing = 0;
}

/* What the window allows beyond what was outstanding before this ACK. */
FF_INLINE u64 unused(const struct ff_view *v)
{
    return minus(v->window.cwnd, plus(minus(v->sent, v->acked), v->mss));
}

/* An eighth less, at least two segments, and no slow start again before a timeout. */
FF_INLINE struct ff_step give_back(const struct ff_view *v)
{
    u64 least = times(v->mss, MIN_SEGMENTS), cwnd = v->window.cwnd;
    struct ff_window window = { max_of(cwnd - cwnd / 8, least), least };
    struct ff_step step = hold(window);

    step.exit = 1;
    return step;
}

FF_INLINE struct ff_step vegas_start_step(struct vegas_start *s, ff_knobs *k,
                                          const struct ff_ack *ack, const struct ff_view *v)
{
    if (v->window.cwnd >= v->window.ssthresh) {
        s->growing = 0;
        return until_threshold(hold(v->window));
    }
    if (s->diff.decides) {
        s->held++;
        s->growing = s->held >= k->vegas_grow_every;
        if (s->growing) {
            s->held = 0;
            if (s->diff.diff > (long long)k->vegas_gamma) {
                s->growing = 0;
                return give_back(v);
            }
        }
    }
    if (!s->growing || unused(v) > times(v->mss, UNUSED_SEGMENTS))
        return hold(v->window);
    return until_threshold(grow(v->window, min_of(ack->acked, v->mss)));
}

FF_INLINE void vegas_enter(struct vegas *a, const struct ff_view *v) { a->grows = 0; }

FF_INLINE struct ff_step vegas_step(struct vegas *a, ff_knobs *k, const struct ff_ack *ack,
                                    const struct ff_view *v)
{
    struct ff_window window = v->window;

    if (a->diff.decides) {
        a->grows = a->diff.diff < (long long)k->vegas_alpha;
        a->from = window.cwnd;
        if (a->diff.diff > (long long)k->vegas_beta) {
            a->grows = 0;
            window.cwnd = max_of(minus(window.cwnd, v->mss), times(v->mss, MIN_SEGMENTS));
        }
    }
    if (!a->grows || unused(v) > times(v->mss, UNUSED_SEGMENTS))
        return hold(window);
    return grow(window, linear_per_ack_at(&a->linear, v->mss, a->from));
}

FF_INLINE struct ff_window vegas_cut(struct vegas *a, ff_knobs *k, const struct ff_loss *loss,
                                     const struct ff_view *v)
{
    u64 least = times(v->mss, MIN_SEGMENTS), segments = loss->flight / max_of(v->mss, 1);
    struct ff_window cut = { least, least };

    if (loss->kind == LOSS_TIMEOUT)
        cut.ssthresh = loss->flight / 2;
    else if (segments > 3)
        cut.cwnd = times(v->mss, loss->again ? segments / 2 : segments - segments / 4);
    return cut;
}

#endif
