/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Hoe's start-up (SIGCOMM 1996, section 3): slow start toward `ssthresh = rate RTT`, measured once
 * on the first ACKs, in whole segments, at least two. With the knob of ns-2 the rate is one segment
 * per spacing of the second and third ACK, and ssthresh is only ever lowered. The RTT is that of
 * the first segment, in whole ticks of a clock if the knob says so.
 */
#ifndef FF_HOE_H
#define FF_HOE_H

#include "packet_pair.h"
#include "slow_start.h"
#include "view.h"

struct hoe {
    struct packet_pair packet_pair;
    u64 rate;
    u64 measured;
    u64 second;
    u8 acks;
    u8 has_measured;
};

FF_NEW_POLICY(hoe)
FF_OBSERVES_NO_BEGIN(hoe)
FF_ESTIMATES_NOTHING(hoe)
FF_ENTERS_PLAINLY(hoe)
FF_RESTARTS_WITH_ONE(hoe)
FF_FIRST_WINDOW_OF_KNOBS(hoe)
FF_FIRST_SSTHRESH_OF_KNOBS(hoe)

FF_INLINE void hoe_on_handshake(struct hoe *h, ff_knobs *k, const struct ff_view *v)
{
    h->acks = 1;
}

/* On the third ACK, one segment per spacing from the second; 0 before and after. */
FF_INLINE u64 hoe_spacing(struct hoe *h, u64 now, u64 mss)
{
    u64 gap;

    if (h->acks >= 3)
        return 0;
    h->acks++;
    if (h->acks == 2)
        h->second = now;
    gap = minus(now, h->second);
    if (h->acks < 3 || gap == 0)
        return 0;
    return max_of(mul_div(mss, NANOS_PER_SECOND, gap), 1);
}

FF_INLINE void hoe_on_ack(struct hoe *h, ff_knobs *k, const struct ff_ack *ack,
                          const struct ff_view *v)
{
    u64 window;

    if (h->rate)
        return;
    if (k->hoe.preset == HOE_PRESET_NS2) {
        h->rate = hoe_spacing(h, ack->now, v->mss);
    } else {
        packet_pair_on_ack(&h->packet_pair, k->hoe.span, ack, v);
        h->rate = h->packet_pair.has_rate ? max_of(h->packet_pair.rate, 1) : 0;
    }
    if (!h->rate)
        return;
    window = whole_segments(rate_over(h->rate, in_ticks(v->rtt.first, k->hoe.tick)), v->mss);
    h->measured = max_of(window, times(v->mss, 2));
    h->has_measured = 1;
}

FF_INLINE struct ff_step hoe_step(struct hoe *h, ff_knobs *k, const struct ff_ack *ack,
                                  const struct ff_view *v)
{
    struct ff_window window = v->window;

    if (h->has_measured && (k->hoe.preset != HOE_PRESET_NS2 || h->measured < window.ssthresh))
        window.ssthresh = h->measured;
    h->has_measured = 0;
    return double_window(ack, v->mss, window);
}

#endif
