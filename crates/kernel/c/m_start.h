/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * M-Start (M-Start paper, section 4): slow start whose increment counts down from P = 10 segments
 * to one with every ACK, and starts over. Where prose, equation and tables disagree, a knob decides
 * (crates/core/src/startup/m_start.rs).
 */
#ifndef FF_M_START_H
#define FF_M_START_H

#include "slow_start.h"
#include "view.h"

struct m_start {
    /* scnt: the next increment, in segments. */
    u64 count;
    u8 is_first;
};

FF_OBSERVES_NOTHING(m_start)
FF_ESTIMATES_NOTHING(m_start)
FF_RESTARTS_WITH_ONE(m_start)
FF_FIRST_WINDOW_OF_KNOBS(m_start)
FF_FIRST_SSTHRESH_OF_KNOBS(m_start)

FF_INLINE void m_start_new(struct m_start *m, ff_knobs *k)
{
    m->count = k->ms_largest;
    m->is_first = 1;
}

FF_INLINE void m_start_enter(struct m_start *m, ff_knobs *k, enum entry why,
                             const struct ff_view *v)
{
    if (why != ENTRY_TIMEOUT || !k->ms_continue)
        m_start_new(m, k);
}

/* The sum of so many increments, each one less than the one before, from `largest` on. */
FF_INLINE u64 falling(u64 largest, u64 number)
{
    return number == 0 ? 0 : number * largest - number * (number - 1) / 2;
}

/* The increments of `acks` ACKs, in segments. */
FF_INLINE u64 m_start_increments(struct m_start *m, ff_knobs *k, u64 acks)
{
    u64 largest = k->ms_largest, length = largest - k->ms_smallest + 1;
    u64 rest = acks % length, left = m->count - k->ms_smallest + 1, now = min_of(rest, left);
    u64 total = times(acks / length, largest * (largest + 1) / 2);

    total = plus(total, falling(m->count, now) + falling(largest, rest - now));
    m->count = now < left ? m->count - now : largest - (rest - now);
    return total;
}

FF_INLINE struct ff_step m_start_step(struct m_start *m, ff_knobs *k, const struct ff_ack *ack,
                                      const struct ff_view *v)
{
    u64 end = k->ms_until_half ? v->window.ssthresh / 2 : v->window.ssthresh;
    u64 acks = k->ms_each ? max_of(ack->acked / max_of(v->mss, 1), 1) : 1;
    u8 first;

    if (v->window.cwnd >= end)
        return double_window(ack, v->mss, v->window);
    if (k->ms_reset_per_rtt && v->round_start)
        m->count = k->ms_largest;
    first = m->is_first;
    m->is_first = 0;
    if (first && !k->ms_first_largest)
        return double_window(ack, v->mss, v->window);
    return until_threshold(grow(v->window, times(v->mss, m_start_increments(m, k, acks))));
}

#endif
