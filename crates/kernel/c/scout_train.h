/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A train of packets: its ACKs, and what they say of the path; and what arrives between trains.
 */
#ifndef FF_SCOUT_TRAIN_H
#define FF_SCOUT_TRAIN_H

#include "view.h"

/* The fewest RTTs between trains. */
#define SCOUT_LEAST_SAMPLES 4
/* RFC 9406 section 4.3, MIN_RTT_THRESH and MAX_RTT_THRESH. */
#define SCOUT_MIN_RTT_THRESH 4000000ULL
#define SCOUT_MAX_RTT_THRESH 16000000ULL

/* An ACK with an RTT sample: when it came, its sample, and all that is acknowledged with it. */
struct scout_point {
    u64 at;
    u64 rtt;
    u64 acked;
};

/* Packets that leave close together, and their first ACK and their last, if `acks` came with an
 * RTT sample. `begin` is SND.NXT before they left, `end` the position of what follows them, `began`
 * when they could begin to leave, and `leaves_in` how long they take at their pace; 0 if there is
 * none, as no RTT is known.
 */
struct scout_train {
    u64 begin;
    u64 end;
    struct scout_point first;
    struct scout_point last;
    u64 acks;
    u64 began;
    u64 leaves_in;
};

/* Too few ACKs came; they came as fast as the packets had left; faster, which is not the path's
 * doing; more slowly.
 */
enum scout_kind { SCOUT_SILENT, SCOUT_PASSED, SCOUT_COMPRESSED, SCOUT_SLOWED };

/* What the ACKs say: the path holds this much, and the RTT rose by that. */
struct scout_verdict {
    enum scout_kind kind;
    u64 pipe;
    u64 rise;
};

/* The first window: where it ends is known when its first ACK comes. */
FF_INLINE void scout_train_first(struct scout_train *t)
{
    t->begin = 0;
    t->end = U64_MAX;
    t->acks = 0;
    t->leaves_in = 0;
}

FF_INLINE u8 scout_train_is_first(const struct scout_train *t) { return t->begin == 0; }

FF_INLINE u64 scout_train_length(const struct scout_train *t) { return minus(t->end, t->begin); }

FF_INLINE void scout_train_note(struct scout_train *t, const struct scout_point *point)
{
    if (point->acked <= t->begin || point->acked > t->end)
        return;
    if (t->acks++ == 0)
        t->first = *point;
    t->last = *point;
}

/* Whether its rate is known, and from which ACK on; `before` is the RTT of what left before it.
 * With a single ACK it is taken from when the first of its packets would have been acknowledged,
 * had its ACK not been held back. Of a train that began to leave later than it could, or left more
 * slowly than at its pace, that is not known.
 */
FF_INLINE u8 scout_train_shows(struct scout_train *t, u64 before, u64 least_acks)
{
    if (t->acks < least_acks)
        return 0;
    if (t->acks > 1)
        return 1;
    t->first.at = plus(t->began, before);
    t->first.rtt = before;
    t->first.acked = t->begin;
    return minus(minus(t->last.at, t->began), t->last.rtt) < t->leaves_in;
}

/* It passes if the RTT rises by no more than this part of its time. ACKs that come more slowly than
 * the packets had left are spaced by the bottleneck. Of fewer than so many ACKs nothing is said.
 */
FF_INLINE struct scout_verdict scout_train_verdict(struct scout_train *t, u64 part, u64 min_rtt,
                                                   u64 before, u64 least_acks)
{
    struct scout_verdict verdict = { .kind = SCOUT_SILENT };
    u64 time, bytes;

    if (!scout_train_shows(t, before, least_acks))
        return verdict;
    time = minus(t->last.at, t->first.at);
    bytes = minus(t->last.acked, t->first.acked);
    verdict.pipe = rate_over(rate_per(bytes, time), min_rtt);
    verdict.rise = minus(t->last.rtt, t->first.rtt);
    if (minus(t->first.rtt, t->last.rtt) > time / part) {
        verdict.kind = SCOUT_COMPRESSED;
    } else if (verdict.rise <= time / part) {
        verdict.kind = SCOUT_PASSED;
        verdict.pipe = mul_div(verdict.pipe, part, part - 1);
    } else {
        verdict.kind = SCOUT_SLOWED;
    }
    return verdict;
}

/* What has arrived since the last train was acknowledged. */
struct scout_between {
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
FF_INLINE void scout_between_from(struct scout_between *b, u64 now, u64 delivered)
{
    b->began = now;
    b->delivered = delivered;
    b->floor = NONE;
    b->samples = b->acks = b->acked = 0;
}

FF_INLINE u8 scout_between_is_known(const struct scout_between *b)
{
    return b->samples >= SCOUT_LEAST_SAMPLES;
}

/* Whether even packets between trains wait in a queue (RFC 9406 section 4.2). */
FF_INLINE u8 scout_between_is_late(const struct scout_between *b, u64 min_rtt)
{
    u64 added = min_of(max_of(min_rtt / 8, SCOUT_MIN_RTT_THRESH), SCOUT_MAX_RTT_THRESH);

    return scout_between_is_known(b) && b->floor > plus(min_rtt, added);
}

/* Counts the RTT of a packet that is in no train. */
FF_INLINE void scout_between_note(struct scout_between *b, u64 rtt)
{
    b->floor = min_of(b->floor, rtt);
    b->samples = plus(b->samples, 1);
}

/* What arrives in a minrtt. */
FF_INLINE u64 scout_between_pipe(const struct scout_between *b, const struct ff_view *v)
{
    u64 arrived = minus(v->delivered, b->delivered);

    return rate_over(rate_per(arrived, minus(v->now, b->began)), v->rtt.min);
}

/* What an ACK acknowledges in the mean. */
FF_INLINE u64 scout_between_per_ack(const struct scout_between *b, u64 mss)
{
    return max_of(b->acked / max_of(b->acks, 1), mss);
}

#endif
