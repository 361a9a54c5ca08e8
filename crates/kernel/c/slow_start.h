/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Slow start (RFC 5681 section 3.1): one segment more for every ACK until cwnd reaches ssthresh.
 */
#ifndef FF_SLOW_START_H
#define FF_SLOW_START_H

#include "view.h"

struct slow_start {};

FF_NEW_POLICY(slow_start)
FF_OBSERVES_NOTHING(slow_start)
FF_ESTIMATES_NOTHING(slow_start)
FF_ENTERS_PLAINLY(slow_start)
FF_RESTARTS_WITH_ONE(slow_start)
FF_FIRST_SSTHRESH_OF_KNOBS(slow_start)

/* The knobs', with an RFC's limit in bytes where a preset has one. */
FF_INLINE u64 slow_start_initial_window(ff_knobs *k, u64 given, u64 mss)
{
    u64 iw = amount(k->iw_unit, k->iw, given, mss);

    return k->iw_limit ? min_of(iw, max_of(k->iw_limit, times(mss, 2))) : iw;
}

/* The rule itself, which other policies use below their thresholds: at most one segment an ACK. */
FF_INLINE struct ff_step double_window(const struct ff_ack *ack, u64 mss, struct ff_window window)
{
    if (window.cwnd >= window.ssthresh)
        return until_threshold(hold(window));
    return until_threshold(grow(window, min_of(ack->acked, mss)));
}

FF_INLINE struct ff_step slow_start_step(struct slow_start *s, ff_knobs *k,
                                         const struct ff_ack *ack, const struct ff_view *v)
{
    struct ff_ack whole = { .acked = v->mss };

    return double_window(k->count_acks ? &whole : ack, v->mss, v->window);
}

#endif
