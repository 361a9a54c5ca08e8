/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * SEARCH (draft-chung-ccwg-search, versions 8 and 9, and its authors' code 4.0, here 10): slow
 * start until delivery no longer follows sending. At the end of every bin, a tenth of 3.5 RTTs,
 *
 *   version 10: expected = sent one RTT before   leaves if (expected - delivered) >= 0.35 expected
 *   version 9:  expected = sent one RTT before                                    >= 0.26 expected
 *   version 8:  expected = 2 * delivered one RTT before                           >= 0.35 expected
 *   leaving:    ssthresh = cwnd
 *   drain, 9, 10: cwnd = what is in flight, and a segment for three delivered, to what the last
 *               first RTT delivered; then ssthresh = cwnd
 *   drain, 8:   what the last two first RTTs delivered is taken off at once, to IW at least
 *
 * Only the first slow start has it. What was sent counts repeats, and is known at every ACK.
 */
#ifndef FF_SEARCH_H
#define FF_SEARCH_H

#include "search_bins.h"
#include "slow_start.h"
#include "view.h"

/* Percent by which delivery falls behind before it leaves (THRESH), in -09 and in the others. */
#define SEARCH_THRESH_9 26
#define SEARCH_THRESH 35
/* Segments delivered for each that leaves in the drain (-09 section 3.4). */
#define SEARCH_DRAIN_ACKED 3

/* It finds what the path holds. */
#define FF_FINDS_PIPE

struct search {
    struct search_bins bins;
    u64 initial_window;
    /* Delivered in one RTT as it left, 0 before. */
    u64 pipe;
    /* Of the phase after the exit: its end, and payload delivered for which no segment has left. */
    u64 target_cwnd;
    u64 drain_acked;
    u8 has_drain;
    /* Something has been compared. */
    u8 compared;
};

FF_NEW_POLICY(search)
FF_OBSERVES_NOTHING(search)
FF_ESTIMATES_NOTHING(search)
FF_RESTARTS_WITH_ONE(search)
FF_FIRST_WINDOW_OF_KNOBS(search)
FF_FIRST_SSTHRESH_OF_KNOBS(search)

FF_INLINE void search_enter(struct search *s, ff_knobs *k, enum entry why, const struct ff_view *v)
{
    s->bins.bin_duration = 0;
    s->compared = 0;
    s->has_drain = 0;
    s->initial_window = v->window.cwnd;
}

FF_INLINE u8 search_is_8(ff_knobs *k) { return k->search.version == 8; }

FF_INLINE enum search_bounds search_bounds_of(ff_knobs *k)
{
    if (k->search.bounds == SEARCH_BOUNDS_LINUX_4)
        return BOUNDS_LINUX_4;
    return k->search.bounds == SEARCH_BOUNDS_LINUX ? BOUNDS_LINUX : BOUNDS_DRAFT;
}

/* A bin is over; whether delivery has fallen behind. */
FF_INLINE u8 search_end_bin(struct search *s, ff_knobs *k, const struct ff_ack *ack,
                            const struct ff_view *v)
{
    enum search_bounds bounds = search_bounds_of(k);
    struct search_found found;
    u64 percent;

    if (k->search.limited == SEARCH_LIMITED_ANEW && ack->app_limited) {
        search_bins_begin(&s->bins, ack->now, s->bins.initial_rtt, v->sent, v->delivered);
        return 0;
    }
    if (!search_bins_advance(&s->bins, ack->now, v->sent, v->delivered, k->search.most_skipped))
        return 0;
    if (!search_bins_compare(&s->bins, v->rtt.latest, !search_is_8(k), bounds, &found))
        return 0;
    s->compared = 1;
    percent = k->search.version == 9 ? SEARCH_THRESH_9 : SEARCH_THRESH;
    return times(minus(found.expected, found.delivered), 100) >= times(found.expected, percent);
}

/* Looks at an ACK; whether delivery has fallen behind. */
FF_INLINE u8 search_falls_behind(struct search *s, ff_knobs *k, const struct ff_ack *ack,
                                 const struct ff_view *v)
{
    if (s->bins.bin_duration == 0) {
        /* After a reset the newest RTT is the path's. */
        u64 rtt = s->compared ? v->rtt.latest : v->rtt.first;

        search_bins_begin(&s->bins, ack->now, rtt, v->sent, v->delivered);
        return 0;
    }
    return ack->now > s->bins.bin_end && search_end_bin(s, k, ack, v);
}

FF_INLINE struct ff_step search_leave(struct search *s, ff_knobs *k, const struct ff_view *v)
{
    u64 cwnd = v->window.cwnd, rest;
    struct ff_step step = hold(v->window);

    s->pipe = search_in_first_rtts(&s->bins, 1);
    if (k->search.drain == SEARCH_DRAIN_ON && !search_is_8(k)) {
        s->target_cwnd = max_of(s->pipe, s->initial_window);
        s->drain_acked = 0;
        s->has_drain = 1;
        return step;
    }
    step.window.ssthresh = cwnd;
    step.exit = 1;
    if (k->search.drain != SEARCH_DRAIN_ON)
        return step;
    rest = minus(cwnd, search_in_first_rtts(&s->bins, 2));
    step.window.cwnd = min_of(max_of(rest, s->initial_window), cwnd);
    step.window.ssthresh = step.window.cwnd;
    return step;
}

FF_INLINE u64 search_pipe(const struct search *s) { return s->pipe; }

/* A segment may leave for every three that arrive. */
FF_INLINE struct ff_step search_drain(struct search *s, const struct ff_ack *ack,
                                      const struct ff_view *v)
{
    u64 costs = times(v->mss, SEARCH_DRAIN_ACKED), segments;
    struct ff_step step = hold(v->window);

    s->drain_acked = plus(s->drain_acked, ack->credited);
    segments = s->drain_acked / max_of(costs, 1);
    s->drain_acked = minus(s->drain_acked, times(costs, segments));
    step.window.cwnd = max_of(plus(ack->in_flight, times(v->mss, segments)), s->target_cwnd);
    if (step.window.cwnd == s->target_cwnd) {
        step.window.ssthresh = s->target_cwnd;
        step.exit = 1;
    }
    return step;
}

FF_INLINE struct ff_step search_step(struct search *s, ff_knobs *k, const struct ff_ack *ack,
                                     const struct ff_view *v)
{
    if (s->has_drain)
        return search_drain(s, ack, v);
    if (v->window.cwnd >= v->window.ssthresh)
        return double_window(ack, v->mss, v->window);
    if (search_falls_behind(s, k, ack, v))
        return search_leave(s, k, v);
    return until_threshold(grow(v->window, ack->acked));
}

#endif
