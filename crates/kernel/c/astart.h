/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Adaptive Start (Wang, Pau, Yamada, Sanadidi and Gerla, INFOCOM 2004, section IV). On every ACK
 * for new data:
 *
 *   if ssthresh < ERE RTTmin: ssthresh = ERE RTTmin     in whole segments, never lowered here
 *   if cwnd >= ssthresh:      cwnd += 1/cwnd            mini linear phase
 *   else:                     cwnd += 1                 mini exponential phase
 *
 * It does not end by itself. Where the endpoint has no first ssthresh, 32 segments.
 */
#ifndef FF_ASTART_H
#define FF_ASTART_H

#include "ere.h"
#include "linear.h"
#include "view.h"

struct astart {
    struct ere ere;
    struct linear linear;
};

FF_NEW_POLICY(astart)
FF_OBSERVES_NO_HANDSHAKE(astart)
FF_OBSERVES_NO_BEGIN(astart)
FF_ENTERS_PLAINLY(astart)
FF_RESTARTS_WITH_ONE(astart)
FF_FIRST_WINDOW_OF_KNOBS(astart)

FF_INLINE u64 astart_initial_ssthresh(ff_knobs *k, u64 given, u64 mss)
{
    given = ssthresh_to_raise(given, mss);
    return amount(k->astart.ssthresh_unit, k->astart.ssthresh, given, mss);
}

FF_INLINE void astart_on_ack(struct astart *a, ff_knobs *k, const struct ff_ack *ack,
                             const struct ff_view *v)
{
    ere_on_ack(&a->ere, &k->astart.ere, ack, v);
}

FF_INLINE u64 astart_eligible(const struct astart *a, ff_knobs *k)
{
    return ere_rate(&a->ere);
}

FF_INLINE u64 astart_eligible_tick(ff_knobs *k) { return k->astart.ere.tick; }

FF_INLINE u64 astart_raised(const struct astart *a, ff_knobs *k, u64 ssthresh,
                            const struct ff_view *v)
{
    u64 estimated;

    if (v->rtt.min == NONE)
        return ssthresh;
    estimated = ere_over(&a->ere, in_ticks(v->rtt.min, k->astart.ere.tick));
    if (estimated <= ssthresh)
        return ssthresh;
    return max_of(ssthresh, whole_segments(estimated, v->mss));
}

FF_INLINE struct ff_step astart_step(struct astart *a, ff_knobs *k, const struct ff_ack *ack,
                                     const struct ff_view *v)
{
    struct ff_window window = v->window;

    window.ssthresh = astart_raised(a, k, window.ssthresh, v);
    if (window.cwnd >= window.ssthresh)
        return grow(window, linear_per_ack(&a->linear, v));
    return grow(window, min_of(ack->acked, v->mss));
}

#endif
