/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Undo: a sender as it was before its last cut, for losses that never were. Part of sender.h.
 */
#ifndef FF_UNDO_H
#define FF_UNDO_H

FF_INLINE void keep_before_cut(struct ff_sender *s)
{
    s->before_cut.window = s->view.window;
    s->before_cut.phase = s->view.phase;
#ifdef FF_ONCE
    s->before_cut.plain_slow_start = s->plain_slow_start;
#endif
    COPY(&s->before_cut.avoidance, &s->avoidance);
    COPY(&s->before_cut.startup, &s->startup);
#ifdef FF_OWNS_WINDOW
    s->before_cut.pace = s->pace;
#endif
#ifdef FF_WAKES
    s->before_cut.wake = s->wake;
#endif
    s->before_cut.known = 1;
}

/* The last cut answered a loss that never was: the window before it returns, and with it both
 * policies as they were.
 */
FF_INLINE void ff_on_spurious_loss(struct ff_sender *s)
{
    struct ff_view *v = &s->view;

    if (!s->before_cut.known)
        return;
    s->before_cut.known = 0;
    v->window.cwnd = max_of(v->window.cwnd, s->before_cut.window.cwnd);
    v->window.ssthresh = s->before_cut.window.ssthresh;
    v->phase = s->before_cut.phase;
#ifdef FF_ONCE
    s->plain_slow_start = s->before_cut.plain_slow_start;
#endif
    v->recovering = 0;
    COPY(&s->avoidance, &s->before_cut.avoidance);
    COPY(&s->startup, &s->before_cut.startup);
#ifdef FF_OWNS_WINDOW
    s->pace = s->before_cut.pace;
    s->retreated = 0;
    s->landing = 0;
#endif
#ifdef FF_WAKES
    s->wake = s->before_cut.wake;
#endif
    bound_cwnd(s);
}

#endif
