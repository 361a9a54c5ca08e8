/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Bottleneck rate from closely spaced ACKs (Hoe, SIGCOMM 1996, section 3): the slope of the
 * least-squares line through three of them that span less than a fraction of the smallest RTT. With
 * times and amounts counted from the first ACK,
 *
 *   b = (t1 (2 a1 - a2) + t2 (2 a2 - a1)) / (2 ((t2 - t1)^2 + t1 t2))
 */
#ifndef FF_PACKET_PAIR_H
#define FF_PACKET_PAIR_H

#include "view.h"
#include "wide.h"

/* Longest span three ACKs may have, in ns: 18 minutes; amounts are cut here, in bytes. */
#define LONGEST_SPAN (1ULL << 40)
#define LARGEST_AMOUNT ((1ULL << 48) - 1)

struct packet_pair {
    u64 acks_at[3];
    u64 acks_delivered[3];
    u64 rate;
    u8 seen;
    u8 has_rate;
};

FF_INLINE void packet_pair_slope(struct packet_pair *p)
{
    u64 t1 = minus(p->acks_at[1], p->acks_at[0]), t2 = minus(p->acks_at[2], p->acks_at[0]);
    u64 a1 = minus(p->acks_delivered[1], p->acks_delivered[0]) & LARGEST_AMOUNT;
    u64 a2 = minus(p->acks_delivered[2], p->acks_delivered[0]) & LARGEST_AMOUNT;
    struct wide plus_terms, minus_terms, above, below;

    if (p->acks_at[1] < p->acks_at[0] || p->acks_at[2] < p->acks_at[1] || t2 == 0)
        return;
    plus_terms = wide_sum(wide_product(2 * t1, a1), wide_product(2 * t2, a2));
    minus_terms = wide_sum(wide_product(t1, a2), wide_product(t2, a1));
    if (!wide_less(minus_terms, plus_terms))
        return;
    above = wide_difference(plus_terms, minus_terms);
    below = wide_times(wide_sum(wide_product(t2 - t1, t2 - t1), wide_product(t1, t2)), 2);
    p->rate = wide_quotient(wide_times(above, NANOS_PER_SECOND), below);
    p->has_rate = 1;
}

/* Takes an ACK in; afterwards nothing changes any more once the rate is known. `span` is the
 * fraction of the smallest RTT within which three ACKs count as close, in millionths.
 */
FF_INLINE void packet_pair_on_ack(struct packet_pair *p, u64 span, const struct ff_ack *ack,
                                  const struct ff_view *v)
{
    u64 near = min_of(mul_div(v->rtt.min, span, RATIO_ONE), LONGEST_SPAN);

    if (p->has_rate || ack->acked == 0 || ack->credited == 0)
        return;
    p->acks_at[0] = p->acks_at[1];
    p->acks_at[1] = p->acks_at[2];
    p->acks_at[2] = ack->now;
    p->acks_delivered[0] = p->acks_delivered[1];
    p->acks_delivered[1] = p->acks_delivered[2];
    p->acks_delivered[2] = v->delivered;
    if (p->seen < 3)
        p->seen++;
    if (p->seen >= 3 && v->rtt.min != NONE && minus(p->acks_at[2], p->acks_at[0]) < near)
        packet_pair_slope(p);
}

#endif
