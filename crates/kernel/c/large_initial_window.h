/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Large initial window: start with a window that may fill the path, and ssthresh there too, so that
 * the first ACK meets congestion avoidance. After a timeout, slow start.
 */
#ifndef FF_LARGE_INITIAL_WINDOW_H
#define FF_LARGE_INITIAL_WINDOW_H

#include "slow_start.h"
#include "view.h"

struct large_initial_window {};

FF_NEW_POLICY(large_initial_window)
FF_OBSERVES_NOTHING(large_initial_window)
FF_ESTIMATES_NOTHING(large_initial_window)
FF_ENTERS_PLAINLY(large_initial_window)
FF_RESTARTS_WITH_ONE(large_initial_window)

FF_INLINE u64 large_initial_window_initial_window(ff_knobs *k, u64 given, u64 mss)
{
    return amount(k->large_initial_window.iw_unit, k->large_initial_window.iw, given, mss);
}

FF_INLINE u64 large_initial_window_initial_ssthresh(ff_knobs *k, u64 given, u64 mss)
{
    return large_initial_window_initial_window(k, given, mss);
}

FF_INLINE struct ff_step large_initial_window_step(struct large_initial_window *l, ff_knobs *k,
                                                   const struct ff_ack *ack,
                                                   const struct ff_view *v)
{
    return double_window(ack, v->mss, v->window);
}

#endif
