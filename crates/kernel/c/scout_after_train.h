/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What follows a train that slowed down: whether its queue is there at all, and how fast it drains,
 * which is what the path has free. crates/core/src/startup/scout/after_train.rs tells why.
 */
#ifndef FF_SCOUT_AFTER_TRAIN_H
#define FF_SCOUT_AFTER_TRAIN_H

#include "scout_train.h"
#include "view.h"

/* The packets after a train that slowed down, each by its ACK. */
struct scout_after_train {
    /* What the path holds by the rate at which the ACKs of the train came, and by how much the RTT
     * rose over it.
     */
    u64 pipe;
    u64 rise;
    /* The smallest RTT before the train, and how far to look. */
    u64 before;
    u64 end;
    /* The largest window that the next round may have; 0 where the train's rate fills no more than
     * the target.
     */
    u64 room;
    /* The ACK with the smallest RTT, the first of such; NONE as yet. */
    struct scout_rtt_sample lowest;
};

/* A queue is gone if no more is left of the rise of the RTT than a train that passes may have. */
#define SCOUT_EMPTY_PART 8
/* Where others fill the path, the avoidance climbs quickly up to this part of it, which short
 * buffers hold, and slowly from there on.
 */
#define SCOUT_QUEUED_PART 4

/* What was seen: not enough so far; the queue of a train that showed room drains by half, or is
 * gone at once, or what follows left with the train or was held back; all that followed was as late
 * as the train had made it, or left so slowly that the queue had time to drain; it was not late
 * although it left soon enough to be.
 */
enum scout_queue { SCOUT_UNDECIDED, SCOUT_FREE, SCOUT_STAYS, SCOUT_NOISE };

/* How long the packets from the train's end up to this ACK took to leave. From the train's last
 * packet on, because TCP leaves a millisecond behind what leaves as one block
 * (tcp_tso_autosize).
 */
FF_INLINE u64 scout_after_train_left_in(const struct scout_rtt_sample *last,
                                        const struct scout_rtt_sample *sample)
{
    return minus(plus(minus(sample->at, last->at), last->rtt), sample->rtt);
}

/* What the path has free in a smallest RTT: the bytes that left after the train and those that
 * drained of its queue meanwhile, divided by the time in which they left.
 */
FF_INLINE u64 scout_after_train_free(const struct scout_after_train *a,
                                     const struct scout_rtt_sample *last,
                                     const struct scout_rtt_sample *sample, u64 min_rtt)
{
    u64 drained = rate_over(rate_per(a->pipe, min_rtt), minus(last->rtt, sample->rtt));
    u64 left = plus(minus(sample->acked, last->acked), drained);

    return rate_over(rate_per(left, scout_after_train_left_in(last, sample)), min_rtt);
}

/* Counts an ACK after the train `t`. `free` is set with SCOUT_FREE. */
FF_INLINE enum scout_queue scout_after_train_note(struct scout_after_train *a,
                                                  const struct scout_train *t,
                                                  const struct scout_rtt_sample *sample,
                                                  u64 min_rtt, u64 *free)
{
    const struct scout_rtt_sample *last = &t->ends_last;
    struct scout_rtt_sample *lowest = &a->lowest;
    u64 half = a->rise / 2, left_in, pace, queued;

    /* What a receiver's timer has held back does not count: the RTT is longer by more than what
     * left after the train can queue.
     */
    queued = mul_div(min_rtt, minus(sample->acked, last->acked), a->pipe);
    if (lowest->rtt > sample->rtt && (a->room == 0 || minus(sample->rtt, last->rtt) <= queued))
        *lowest = *sample;
    if (a->room != 0) {
        /* It left more than twice as fast as the train was to leave: no queue drains. */
        pace = mul_div(t->leaves_in, minus(sample->acked, last->acked), scout_train_length(t));
        *free = a->room;
        if (scout_after_train_left_in(last, sample) < pace / 2)
            return SCOUT_FREE;
        if (minus(sample->rtt, a->before) <= a->rise / SCOUT_EMPTY_PART)
            return SCOUT_FREE;
        *free = scout_after_train_free(a, last, sample, min_rtt);
        if (minus(last->rtt, sample->rtt) >= half)
            return SCOUT_FREE;
        *free = a->room;
        if (sample->acked < a->end)
            return SCOUT_UNDECIDED;
        return lowest->rtt == NONE ? SCOUT_FREE : SCOUT_STAYS;
    }
    if (sample->acked < a->end)
        return SCOUT_UNDECIDED;
    /* A queue that stood before the train may have drained up to its first packet. */
    if (minus(lowest->rtt, min_of(a->before, minus(last->rtt, a->rise))) >= half)
        return SCOUT_STAYS;
    left_in = scout_after_train_left_in(last, lowest);
    if (minus(left_in, mul_div(min_rtt, minus(lowest->acked, last->acked), a->pipe)) > half)
        return SCOUT_STAYS;
    return SCOUT_NOISE;
}

/* The pipe that the avoidance is told of where the queue stays after a train that showed room:
 * other flows send all that the path forwards.
 */
FF_INLINE u64 scout_pipe_where_queue_stays(const struct scout_after_train *a, u64 target)
{
    return max_of(target, a->pipe / SCOUT_QUEUED_PART);
}

#endif
