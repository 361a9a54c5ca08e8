/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Byte Counting (Allman, CCR 1999; RFC 3465): slow start by what an ACK covers,
 *
 *   cwnd += min(N, L MSS)      L = 2; L = 1 in the slow start after a timeout
 */
#ifndef FF_BYTE_COUNTING_H
#define FF_BYTE_COUNTING_H

#include "view.h"

struct byte_counting {
    u8 after_timeout;
};

FF_NEW_POLICY(byte_counting)
FF_OBSERVES_NOTHING(byte_counting)
FF_ESTIMATES_NOTHING(byte_counting)
FF_RESTARTS_WITH_ONE(byte_counting)
FF_FIRST_WINDOW_OF_KNOBS(byte_counting)
FF_FIRST_SSTHRESH_OF_KNOBS(byte_counting)

FF_INLINE void byte_counting_enter(struct byte_counting *b, ff_knobs *k, enum entry why,
                                   const struct ff_view *v)
{
    b->after_timeout = why == ENTRY_TIMEOUT;
}

FF_INLINE struct ff_step byte_counting_step(struct byte_counting *b, ff_knobs *k,
                                            const struct ff_ack *ack, const struct ff_view *v)
{
    u64 limit = b->after_timeout ? 1 : k->byte_counting.limit;

    if (v->window.cwnd >= v->window.ssthresh)
        return until_threshold(hold(v->window));
    return until_threshold(grow(v->window, min_of(ack->acked, times(v->mss, limit))));
}

#endif
