/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Vegas' congestion avoidance (Brakmo, O'Malley and Peterson, SIGCOMM 1994) as ns-2.35's agent runs
 * it: once per RTT one segment less with more than beta queued, one more over the next round with
 * fewer than alpha. A loss costs a quarter of the window, of what was already resent a half.
 */
#ifndef FF_VEGAS_H
#define FF_VEGAS_H

#include "linear.h"
#include "vegas_diff.h"
#include "view.h"

struct vegas {
    struct vegas_diff diff;
    struct linear linear;
    /* The window at the decision to grow, while this round grows. */
    u64 grows_from;
    u8 has_grows_from;
};

FF_NEVER_REPROBES(vegas)
FF_TAKES_NO_PEAK(vegas)

/* Of what is lost for the first time; what is lost again halves the window. */
FF_INLINE u64 vegas_beta(ff_knobs *k) { return RATIO_ONE * 3 / 4; }

FF_INLINE void vegas_new(struct vegas *a, ff_knobs *k) { vegas_diff_new(&a->diff); }

FF_INLINE void vegas_on_handshake(struct vegas *a, ff_knobs *k, const struct ff_view *v)
{
    vegas_diff_on_handshake(&a->diff, v);
}

FF_INLINE void vegas_on_begin(struct vegas *a, const struct ff_view *v)
{
    vegas_diff_on_begin(&a->diff, v);
}

FF_INLINE void vegas_on_ack(struct vegas *a, ff_knobs *k, const struct ff_ack *ack,
                            const struct ff_view *v)
{
    vegas_diff_on_ack(&a->diff, ack, v);
}

FF_INLINE void vegas_enter(struct vegas *a, const struct ff_view *v) { a->has_grows_from = 0; }

FF_INLINE struct ff_step vegas_step(struct vegas *a, ff_knobs *k, const struct ff_ack *ack,
                                    const struct ff_view *v)
{
    struct ff_window window = v->window;

    if (a->diff.decides) {
        a->has_grows_from = a->diff.diff < (long long)k->vegas.alpha;
        a->grows_from = window.cwnd;
        if (a->diff.diff > (long long)k->vegas.beta) {
            a->has_grows_from = 0;
            window.cwnd = max_of(minus(window.cwnd, v->mss), times(v->mss, MIN_SEGMENTS));
        }
    }
    if (!a->has_grows_from || unused(v) > times(v->mss, UNUSED_SEGMENTS))
        return hold(window);
    return grow(window, linear_per_ack_at(&a->linear, v->mss, a->grows_from));
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
