/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The packets that Scout spreads over the round, between its trains: the floor of their RTTs says
 * whether even they wait in a queue.
 */
#ifndef FF_SCOUT_SPREAD_H
#define FF_SCOUT_SPREAD_H

#include "view.h"

/* The fewest RTTs between trains. */
#define SCOUT_LEAST_SAMPLES 4
/* RFC 9406 section 4.3, MIN_RTT_THRESH and MAX_RTT_THRESH. */
#define SCOUT_MIN_RTT_THRESH 4000000ULL
#define SCOUT_MAX_RTT_THRESH 16000000ULL

/* What has arrived since the last train was acknowledged. */
struct scout_spread {
    u64 began;
    u64 delivered;
    /* The smallest RTT of packets that are in no train, and how many such RTTs there were. */
    u64 floor;
    u64 samples;
    /* All ACKs, those of the train too, and what they acknowledged. */
    u64 acks;
    u64 acked;
};

/* From that time on, when so much had been delivered. */
FF_INLINE void scout_spread_from(struct scout_spread *s, u64 now, u64 delivered)
{
    s->began = now;
    s->delivered = delivered;
    s->floor = NONE;
    s->samples = s->acks = s->acked = 0;
}

FF_INLINE u8 scout_spread_is_known(const struct scout_spread *s)
{
    return s->samples >= SCOUT_LEAST_SAMPLES;
}

/* Whether even packets between trains wait in a queue (RFC 9406 section 4.2). TCP's receivers do
 * not say how long they hold ACKs back.
 */
FF_INLINE u8 scout_spread_is_late(const struct scout_spread *s, u64 min_rtt)
{
    u64 added = min_of(max_of(min_rtt / 8, SCOUT_MIN_RTT_THRESH), SCOUT_MAX_RTT_THRESH);

    return scout_spread_is_known(s) && s->floor > plus(min_rtt, added);
}

/* Counts the RTT of a packet that is in no train. */
FF_INLINE void scout_spread_note(struct scout_spread *s, u64 rtt)
{
    s->floor = min_of(s->floor, rtt);
    s->samples = plus(s->samples, 1);
}

/* What arrives in a minrtt. */
FF_INLINE u64 scout_spread_pipe(const struct scout_spread *s, const struct ff_view *v)
{
    u64 arrived = minus(v->delivered, s->delivered);

    return rate_over(rate_per(arrived, minus(v->now, s->began)), v->rtt.min);
}

/* What an ACK acknowledges on average. */
FF_INLINE u64 scout_spread_per_ack(const struct scout_spread *s, u64 mss)
{
    return max_of(s->acked / max_of(s->acks, 1), mss);
}

#endif
