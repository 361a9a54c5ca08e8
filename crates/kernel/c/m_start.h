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
    u64 scnt;
    u8 is_first_ack;
};

FF_OBSERVES_NOTHING(m_start)
FF_ESTIMATES_NOTHING(m_start)
FF_RESTARTS_WITH_ONE(m_start)
FF_FIRST_WINDOW_OF_KNOBS(m_start)
FF_FIRST_SSTHRESH_OF_KNOBS(m_start)

FF_INLINE void m_start_new(struct m_start *m, ff_knobs *k)
{
    m->scnt = k->m_start.p;
    m->is_first_ack = 1;
}

FF_INLINE void m_start_enter(struct m_start *m, ff_knobs *k, enum entry why,
                             const struct ff_view *v)
{
    if (why != ENTRY_TIMEOUT || k->m_start.after_rto != M_START_AFTER_RTO_CONTINUE)
        m_start_new(m, k);
}

/* The last increment before the count starts over. */
FF_INLINE u64 m_start_smallest(ff_knobs *k) { return k->m_start.cycle == M_START_CYCLE_10__1; }

/* The sum of so many increments, each one less than the one before, from `largest` on. */
FF_INLINE u64 falling(u64 largest, u64 number)
{
    return number == 0 ? 0 : number * largest - number * (number - 1) / 2;
}

/* The increments of `acks` ACKs, in segments. */
FF_INLINE u64 m_start_increments(struct m_start *m, ff_knobs *k, u64 acks)
{
    u64 largest = k->m_start.p, smallest = m_start_smallest(k), length = largest - smallest + 1;
    u64 rest = acks % length, left = m->scnt - smallest + 1, now = min_of(rest, left);
    u64 total = times(acks / length, largest * (largest + 1) / 2);

    total = plus(total, falling(m->scnt, now) + falling(largest, rest - now));
    m->scnt = now < left ? m->scnt - now : largest - (rest - now);
    return total;
}

FF_INLINE struct ff_step m_start_step(struct m_start *m, ff_knobs *k, const struct ff_ack *ack,
                                      const struct ff_view *v)
{
    u64 end = v->window.ssthresh, acks = 1;
    u8 first;

    if (k->m_start.until == M_START_UNTIL_HALF)
        end /= 2;
    if (k->m_start.several == M_START_SEVERAL_EACH)
        acks = max_of(ack->acked / max_of(v->mss, 1), 1);
    if (v->window.cwnd >= end)
        return double_window(ack, v->mss, v->window);
    if (k->m_start.reset_per_rtt == M_START_RESET_PER_RTT_ON && v->round_start)
        m->scnt = k->m_start.p;
    first = m->is_first_ack;
    m->is_first_ack = 0;
    if (first && k->m_start.first == M_START_FIRST_1)
        return double_window(ack, v->mss, v->window);
    return until_threshold(grow(v->window, times(v->mss, m_start_increments(m, k, acks))));
}

#endif
