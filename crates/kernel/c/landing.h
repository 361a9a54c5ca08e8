/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A part of sender.h, for controls that own the window: the recovery in which start-up decides.
 */
#ifndef FF_LANDING_H
#define FF_LANDING_H

/* The recovery is over in which start-up decided: it ends, with ssthresh where it landed. */
FF_INLINE void end_landing(struct ff_sender *s)
{
    struct ff_view *v = &s->view;

    v->recovering = 0;
    v->window.ssthresh = max_of(v->window.cwnd, times(v->mss, MIN_SSTHRESH_SEGMENTS));
    leave_startup(s);
}

/* An ACK in such a recovery; that the source limits does not limit a landing, which answers a loss.
 * There is no position after the last one.
 */
FF_INLINE void land_on_ack(struct ff_sender *s, const struct ff_ack *ack)
{
    struct ff_ack whole = { .app_limited = 0 };

    apply(s, startup(recovering)(&s->startup, ack, &s->view), &whole);
    if (s->view.acked == U64_MAX)
        end_landing(s);
}

/* A loss that the last answer covers is repaired: it changes no window by itself. */
FF_INLINE u8 is_covered(struct ff_sender *s, const struct ff_loss *loss)
{
    struct ff_view *v = &s->view;

    if (loss->kind == LOSS_TIMEOUT)
        return 0;
    if (!v->recovering && !(s->retreated && v->acked < s->covered))
        return 0;
    v->recovering = 1;
    if (loss->lost) {
        v->now = loss->now;
        startup(on_further_loss)(&s->startup, loss);
    }
    return 1;
}

/* Start-up sets the window, now and on every ACK until the recovery ends. */
FF_INLINE void land(struct ff_sender *s, struct ff_window window)
{
    s->landing = 1;
    s->retreated = 0;
    s->view.recovering = 1;
    s->view.window = window;
    bound_cwnd(s);
}

#endif
