/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What an earlier connection had, as RFC 9959 saves it: half of a round's delivery where that
 * connection never left slow start (section 4.1), with the RTT by which the path is known again
 * (section 4.2).
 */
#ifndef FF_SAVED_H
#define FF_SAVED_H

#include "view.h"

/* Initial windows below which nothing is saved (section 4.1). */
#define SAVED_LEAST_WINDOWS 4

/* No window, nothing saved. */
struct saved {
    u64 window;
    u64 min_rtt;
};

/* What a hint tells, unless it is older than that or too small to be worth it. */
FF_INLINE struct saved saved_window(u64 window, const struct ff_learned *last, u64 max_age,
                                    const struct ff_view *v)
{
    u64 least = times(v->window.cwnd, SAVED_LEAST_WINDOWS);
    struct saved saved = { .min_rtt = last->min_rtt };

    saved.window = window >= least && last->age <= max_age ? window : 0;
    return saved;
}

/* The same, with half of what a connection had that never left slow start (section 4.1). */
FF_INLINE struct saved saved_of(const struct ff_learned *last, u64 max_age,
                                const struct ff_view *v)
{
    u64 window = last->cwnd < last->ssthresh ? last->per_round / 2 : last->per_round;

    return saved_window(window, last, max_age, v);
}

/* Whether the path looks as it was (section 4.2). */
FF_INLINE u8 saved_is_of_path(const struct saved *s, const struct ff_view *v)
{
    return v->rtt.min > s->min_rtt / 2 && v->rtt.latest <= times(s->min_rtt, 10);
}

#endif
