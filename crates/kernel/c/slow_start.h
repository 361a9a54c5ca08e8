/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Slow start (RFC 5681 section 3.1): cwnd grows by what ACKs acknowledge until it reaches ssthresh.
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

/* The knob's, or that of an RFC: so many segments, but no more than so many bytes, and never less
 * than two segments (RFC 3390 section 1, RFC 6928 section 2).
 */
FF_INLINE u64 slow_start_initial_window(ff_knobs *k, u64 given, u64 mss)
{
    if (k->slow_start.preset == SLOW_START_PRESET_RFC3390)
        return min_of(times(mss, 4), max_of(4380, times(mss, 2)));
    if (k->slow_start.preset == SLOW_START_PRESET_RFC6928)
        return min_of(times(mss, 10), max_of(14600, times(mss, 2)));
    return amount(k->slow_start.iw_unit, k->slow_start.iw, given, mss);
}

/* The rule itself, which other policies use below their thresholds. */
FF_INLINE struct ff_step double_window(const struct ff_ack *ack, u64 mss, struct ff_window window)
{
    if (window.cwnd >= window.ssthresh)
        return until_threshold(hold(window));
    return until_threshold(grow(window, slow_start_growth(ack, mss, window)));
}

FF_INLINE struct ff_step slow_start_step(struct slow_start *s, ff_knobs *k,
                                         const struct ff_ack *ack, const struct ff_view *v)
{
    struct ff_ack segment = { .acked = v->mss };

    if (k->slow_start.count == SLOW_START_COUNT_BYTES)
        segment.acked = min_of(ack->acked, v->mss);
    else if (k->slow_start.count != SLOW_START_COUNT_ACKS)
        return double_window(ack, v->mss, v->window);
    return double_window(&segment, v->mss, v->window);
}

#endif
