/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * TCP Westwood's loss response on the Eligible Rate Estimate that the start-up keeps, or with
 * FF_AVOIDANCE_ESTIMATES on one of its own; Reno's growth:
 *
 *   three duplicate ACKs: ssthresh = ERE RTTmin, cwnd = min(cwnd, ssthresh)
 *   timeout:              ssthresh = max(2, ERE RTTmin), cwnd = 1
 *
 * in whole segments, never under two. With Load Gauge on, it asks for start-up again when the load
 * is light.
 */
#ifndef FF_WESTWOOD_H
#define FF_WESTWOOD_H

#include "ere.h"
#include "linear.h"
#include "load_gauge.h"
#include "new_reno.h"
#include "view.h"

struct westwood {
    struct linear linear;
    struct load_gauge gauge;
#ifdef FF_AVOIDANCE_ESTIMATES
    struct ere ere;
#endif
};

FF_NEW_POLICY(westwood)
FF_OBSERVES_NO_HANDSHAKE(westwood)
FF_OBSERVES_NO_BEGIN(westwood)
FF_HALVES(westwood)
FF_TAKES_NO_PEAK(westwood)

#ifdef FF_AVOIDANCE_ESTIMATES

FF_INLINE void westwood_estimate(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                                 const struct ff_view *v)
{
    ere_on_ack(&w->ere, &k->westwood.ere, ack, v);
}

/* The window that the path has room for, once an RTT is known. */
FF_INLINE u64 westwood_room(const struct westwood *w, ff_knobs *k, const struct ff_view *v)
{
    return ere_over(&w->ere, in_ticks(v->rtt.min, k->westwood.ere.tick));
}

#else

FF_INLINE void westwood_estimate(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                                 const struct ff_view *v) {}

FF_INLINE u64 westwood_room(const struct westwood *w, ff_knobs *k, const struct ff_view *v)
{
    return rate_over(v->eligible, in_ticks(v->rtt.min, v->eligible_tick));
}

#endif

FF_INLINE void westwood_on_ack(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                               const struct ff_view *v)
{
    westwood_estimate(w, k, ack, v);
    load_gauge_on_ack(&w->gauge, &k->westwood.lg, ack, v);
}

FF_INLINE void westwood_enter(struct westwood *w, const struct ff_view *v)
{
    load_gauge_restart(&w->gauge, v->now);
}

FF_INLINE struct ff_step westwood_step(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                                       const struct ff_view *v)
{
    load_gauge_judge(&w->gauge, &k->westwood.lg, v);
    return additive_increase(&w->linear, ack, v);
}

FF_INLINE struct ff_window westwood_cut(struct westwood *w, ff_knobs *k,
                                        const struct ff_loss *loss, const struct ff_view *v)
{
    u64 room = v->rtt.min == NONE ? loss->flight / 2 : westwood_room(w, k, v);
    u64 ssthresh = max_of(whole_segments(room, v->mss), times(v->mss, 2));
    struct ff_window cut = { min_of(v->window.cwnd, ssthresh), ssthresh };

    load_gauge_restart(&w->gauge, loss->now);
    return cut;
}

FF_INLINE u8 westwood_wants_reprobe(const struct westwood *w) { return w->gauge.light; }

#endif
