/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Vegas' slow start (Brakmo, O'Malley and Peterson, SIGCOMM 1994) as ns-2.35's agent runs it: slow
 * start in every other round; at the start of a growing one, with more than gamma segments queued,
 * an eighth of the window is given back and start-up is over.
 */
#ifndef FF_VEGAS_START_H
#define FF_VEGAS_START_H

#include "vegas_diff.h"
#include "view.h"

struct vegas_start {
    struct vegas_diff diff;
    /* Rounds decided since the last that grew. */
    u64 held;
    u8 growing;
};

FF_ESTIMATES_NOTHING(vegas_start)
FF_FIRST_WINDOW_OF_KNOBS(vegas_start)
FF_FIRST_SSTHRESH_OF_KNOBS(vegas_start)

FF_INLINE void vegas_start_new(struct vegas_start *s, ff_knobs *k) { vegas_diff_new(&s->diff); }
FF_INLINE u64 vegas_start_restart_window(u64 mss) { return times(mss, MIN_SEGMENTS); }

FF_INLINE void vegas_start_on_handshake(struct vegas_start *s, ff_knobs *k,
                                        const struct ff_view *v)
{
    vegas_diff_on_handshake(&s->diff, v);
    if (k->vegas_start.first == VEGAS_START_FIRST_AUTO)
        s->held = k->vegas_start.grow_every - 1;
}

FF_INLINE void vegas_start_on_begin(struct vegas_start *s, const struct ff_view *v)
{
    vegas_diff_on_begin(&s->diff, v);
}

FF_INLINE void vegas_start_on_ack(struct vegas_start *s, ff_knobs *k, const struct ff_ack *ack,
                                  const struct ff_view *v)
{
    vegas_diff_on_ack(&s->diff, ack, v);
}

FF_INLINE void vegas_start_enter(struct vegas_start *s, ff_knobs *k, enum entry why,
                                 const struct ff_view *v)
{
    u8 grows = k->vegas_start.first == VEGAS_START_FIRST_GROWS;

    if (why == ENTRY_CONNECT)
        s->held = grows ? k->vegas_start.grow_every - 1 : 0;
    else
        s->growing = 0;
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
        s->growing = s->held >= k->vegas_start.grow_every;
        if (s->growing) {
            s->held = 0;
            if (s->diff.diff > (long long)k->vegas_start.gamma) {
                s->growing = 0;
                return give_back(v);
            }
        }
    }
    if (!s->growing || unused(v) > times(v->mss, UNUSED_SEGMENTS))
        return hold(v->window);
    return until_threshold(grow(v->window, min_of(ack->acked, v->mss)));
}

#endif
