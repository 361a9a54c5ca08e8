/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A train of packets: its ACKs, and what they say of the path.
 */
#ifndef FF_SCOUT_TRAIN_H
#define FF_SCOUT_TRAIN_H

#include "view.h"

/* An ACK with an RTT sample: when it came, its sample, and all that is acknowledged with it. */
struct scout_rtt_sample {
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
    struct scout_rtt_sample ends_first;
    struct scout_rtt_sample ends_last;
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

FF_INLINE void scout_train_note(struct scout_train *t, const struct scout_rtt_sample *sample)
{
    if (sample->acked <= t->begin || sample->acked > t->end)
        return;
    if (t->acks++ == 0)
        t->ends_first = *sample;
    t->ends_last = *sample;
}

/* Whether it can be judged, and sets the first of the ACKs between which it is; `before` is the RTT
 * of what left before it. A single ACK is judged from when the train's first packet would have been
 * acknowledged, had its ACK not been held back. That is not known of a train that began to leave
 * later than it could, or left more slowly than at its pace.
 */
FF_INLINE u8 scout_train_judged_ends(struct scout_train *t, u64 before, u64 least_acks)
{
    if (t->acks < least_acks)
        return 0;
    if (t->acks > 1)
        return 1;
    t->ends_first.at = plus(t->began, before);
    t->ends_first.rtt = before;
    t->ends_first.acked = t->begin;
    return minus(minus(t->ends_last.at, t->began), t->ends_last.rtt) < t->leaves_in;
}

/* It passes if the RTT rises by no more than this part of its time. ACKs that come more slowly than
 * the packets had left are spaced by the bottleneck. Of fewer than so many ACKs nothing is said.
 */
FF_INLINE struct scout_verdict scout_train_verdict(struct scout_train *t, u64 part, u64 min_rtt,
                                                   u64 before, u64 least_acks)
{
    struct scout_verdict verdict = { .kind = SCOUT_SILENT };
    u64 time, bytes;

    if (!scout_train_judged_ends(t, before, least_acks))
        return verdict;
    time = minus(t->ends_last.at, t->ends_first.at);
    bytes = minus(t->ends_last.acked, t->ends_first.acked);
    verdict.pipe = rate_over(rate_per(bytes, time), min_rtt);
    verdict.rise = minus(t->ends_last.rtt, t->ends_first.rtt);
    if (minus(t->ends_first.rtt, t->ends_last.rtt) > time / part) {
        verdict.kind = SCOUT_COMPRESSED;
    } else if (verdict.rise <= time / part) {
        verdict.kind = SCOUT_PASSED;
        verdict.pipe = mul_div(verdict.pipe, part, part - 1);
    } else {
        verdict.kind = SCOUT_SLOWED;
    }
    return verdict;
}

#endif
