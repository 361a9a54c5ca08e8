/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * SEARCH's record of what was sent and delivered: sums at the ends of bins of time, compared one
 * RTT apart. Ten bins cover 3.5 of the first RTT, up to 40 more reach back to what was sent an RTT
 * ago. crates/core/src/estimate/search_bins.rs tells what of it is published.
 */
#ifndef FF_SEARCH_BINS_H
#define FF_SEARCH_BINS_H

#include "units.h"

/* Ten bins, 40 more, and a sum before them: 51, rounded up to a power of two. */
#define SEARCH_RING 64
#define WINDOW_BINS 10
#define EXTRA_BINS 15
#define EXTRA_BINS_4 40
/* The window in tenths of the first RTT. */
#define WINDOW_TENTHS 35

struct search_bins {
    /* Length of a bin, 0 before the first RTT; that RTT; the end of the bin; its number. */
    u64 bin_duration;
    u64 initial_rtt;
    u64 bin_end;
    u64 curr_idx;
    u64 sent[SEARCH_RING];
    u64 delivered[SEARCH_RING];
};

/* First and farthest bin compared: the draft's, or those of the authors' code 3 or 4.0. */
enum search_bounds { BOUNDS_DRAFT, BOUNDS_LINUX, BOUNDS_LINUX_4 };

struct search_found {
    u64 delivered;
    u64 expected;
};

FF_INLINE u64 search_at(const u64 *sums, u64 index) { return sums[index % SEARCH_RING]; }

FF_INLINE void search_bins_put(struct search_bins *b, u64 index, u64 sent, u64 delivered)
{
    b->sent[index % SEARCH_RING] = sent;
    b->delivered[index % SEARCH_RING] = delivered;
}

/* The first RTT makes the bins (section 3.1). No sum of an earlier beginning is read again. */
FF_INLINE void search_bins_begin(struct search_bins *b, u64 now, u64 rtt, u64 sent, u64 delivered)
{
    b->bin_duration = mul_div(rtt, WINDOW_TENTHS, 10 * WINDOW_BINS);
    b->initial_rtt = rtt;
    b->bin_end = plus(now, b->bin_duration);
    b->curr_idx = 0;
    search_bins_put(b, 0, sent, delivered);
}

/* The bin is over: keeps the sums of now. 0, and nothing is known any more, if more than so many
 * bins have passed.
 */
FF_INLINE u8 search_bins_advance(struct search_bins *b, u64 now, u64 sent, u64 delivered, u64 most)
{
    u64 last_sent = search_at(b->sent, b->curr_idx), at;
    u64 last_delivered = search_at(b->delivered, b->curr_idx);
    u64 passed = minus(now, b->bin_end) / max_of(b->bin_duration, 1) + 1;

    if (passed > most) {
        b->bin_duration = 0;
        return 0;
    }
    b->bin_end = plus(b->bin_end, times(b->bin_duration, passed));
    at = max_of(b->curr_idx + 1, minus(b->curr_idx + passed, SEARCH_RING));
    b->curr_idx += passed;
    for (u32 i = 0; i < SEARCH_RING && at < b->curr_idx; i++, at++)
        search_bins_put(b, at, last_sent, last_delivered);
    search_bins_put(b, b->curr_idx, sent, delivered);
    return 1;
}

/* What the ten bins up to `last` hold. */
FF_INLINE u64 search_in_ten(const u64 *sums, u64 last)
{
    return minus(search_at(sums, last), search_at(sums, minus(last, WINDOW_BINS)));
}

/* What ten bins held one RTT ago: between two of them by their shares of the bin, in the order that
 * cannot fall below zero.
 */
FF_INLINE u64 search_earlier(const u64 *sums, u64 then, u64 part, u64 bin)
{
    u64 new = search_in_ten(sums, then), old = search_in_ten(sums, minus(then, 1));

    if (new > old)
        return plus(old, mul_div(new - old, bin - part, bin));
    return plus(new, mul_div(old - new, part, bin));
}

/* Compares the last ten bins with ten an RTT before (section 3.2), if they reach so far back and
 * anything had been sent: with what was sent then, or with twice what was delivered.
 */
FF_INLINE u8 search_bins_compare(const struct search_bins *b, u64 rtt, u8 with_sent,
                                 enum search_bounds bounds, struct search_found *found)
{
    u64 bin = max_of(b->bin_duration, 1), back = rtt / bin, expected;
    u64 then = minus(b->curr_idx, back);
    u64 first = bounds == BOUNDS_DRAFT ? WINDOW_BINS + 1 : WINDOW_BINS;
    u64 most = bounds == BOUNDS_LINUX_4 ? EXTRA_BINS_4 - 1
               : bounds == BOUNDS_LINUX ? EXTRA_BINS - 1
                                        : EXTRA_BINS;

    if (b->bin_duration == 0 || then < first || back >= most)
        return 0;
    expected = search_earlier(with_sent ? b->sent : b->delivered, then, rtt % bin, bin);
    found->expected = with_sent ? expected : times(expected, 2);
    found->delivered = search_in_ten(b->delivered, b->curr_idx);
    return found->expected > 0;
}

/* Payload delivered in the newest bins that cover so many of the first RTT (section 3.3). */
FF_INLINE u64 search_in_first_rtts(const struct search_bins *b, u64 count)
{
    u64 length = times(b->initial_rtt, count), bin = max_of(b->bin_duration, 1);
    u64 bins = min_of(length / bin + (length % bin > 0), WINDOW_BINS + EXTRA_BINS_4);

    if (b->bin_duration == 0)
        return 0;
    return minus(search_at(b->delivered, b->curr_idx),
                 search_at(b->delivered, minus(b->curr_idx, bins)));
}

#endif
