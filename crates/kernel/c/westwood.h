/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * TCP Westwood's loss response on the Eligible Rate Estimate that the start-up keeps; Reno's
 * growth:
 *
 *   three duplicate ACKs: ssthresh = ERE RTTmin, cwnd = min(cwnd, ssthresh)
 *   timeout:              ssthresh = max(2, ERE RTTmin), cwnd = 1
 *
 * in whole segments, never under two. With Load Gauge on, it asks for start-up again when the load
 * is light.
 */
#ifndef FF_WESTWOOD_H
#define FF_WESTWOOD_H

#include "linear.h"
#include "load_gauge.h"
#include "new_reno.h"
#include "view.h"

struct westwood {
    struct linear linear;
    struct load_gauge gauge;
};

FF_NEW_POLICY(westwood)
FF_OBSERVES_NO_HANDSHAKE(westwood)
FF_OBSERVES_NO_SENDING(westwood)

FF_INLINE void westwood_on_ack(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                               const struct ff_view *v)
{
    load_gauge_on_ack(&w->gauge, k, ack, v);
}

FF_INLINE void westwood_enter(struct westwood *w, const struct ff_view *v)
{
    load_gauge_restart(&w->gauge, v->now);
}

FF_INLINE struct ff_step westwood_step(struct westwood *w, ff_knobs *k, const struct ff_ack *ack,
                                       const struct ff_view *v)
{
    load_gauge_judge(&w->gauge, k, v);
    return additive_increase(&w->linear, ack, v);
}

FF_INLINE struct ff_window westwood_cut(struct westwood *w, ff_knobs *k,
                                        const struct ff_loss *loss, const struct ff_view *v)
{
    u64 room = v->rtt.min == NONE ? loss->flight / 2 : v->room;
    u64 ssthresh = max_of(whole_segments(room, v->mss), times(v->mss, 2));
    struct ff_window cut = { min_of(v->window.cwnd, ssthresh), ssthresh };

    load_gauge_restart(&w->gauge, loss->now);
    return cut;
}

FF_INLINE u8 westwood_wants_reprobe(const struct westwood *w) { return w->gauge.light; }

#endif
