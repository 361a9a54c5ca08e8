/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How much was delivered within the last RTT or any part of it, in a fixed number of bytes:
 * crates/core/src/estimate/ack_history.rs, which has the reasons. The last ACKs are kept as they
 * are, the staircase behind them as a curve through some of its corners.
 */
#ifndef FF_ACK_HISTORY_H
#define FF_ACK_HISTORY_H

#include "units.h"

/* ACKs kept one by one, corners of the curve (powers of two), and their distance: this part of the
 * span looked back on.
 */
#define RECENT 16
#define POINTS 32
#define SPACING 24

/* Up to and including time `at`, `total` was delivered. Totals wrap; differences count. */
struct history_step {
    u64 at;
    u32 total;
};

/* `slope` leads to the foot of the next corner's step, in 2^-32 bytes per ns; `credit` is the
 * height of this corner's own step.
 */
struct history_corner {
    u64 at;
    u64 slope;
    u32 total;
    u32 credit;
};

/* Positions are counted from the start of the connection and wrap. */
struct ack_history {
    struct history_step recent[RECENT];
    struct history_corner curve[POINTS];
    u32 newest;
    u32 oldest;
    u32 head;
};

#define RECENT_AT(h, position) (&(h)->recent[(position) & (RECENT - 1)])
#define CORNER_AT(h, position) (&(h)->curve[(position) & (POINTS - 1)])

FF_INLINE u64 slope_between(const struct history_corner *left, const struct history_corner *right)
{
    u32 rise = right->total - right->credit - left->total;

    return ((u64)rise << 32) / max_of(right->at - left->at, 1);
}

/* Drops every other corner, but neither the oldest nor the newest. */
FF_SUBPROGRAM u64 history_thin(struct ack_history *h)
{
    u32 kept, next;

    if (!h)
        return 0;
    kept = next = h->oldest;
    for (u32 i = 0; i < POINTS && next != h->head; i++) {
        struct history_corner right;

        next += 2;
        if ((int)(h->head - next) < 0)
            next = h->head;
        right = *CORNER_AT(h, next);
        CORNER_AT(h, kept)->slope = slope_between(CORNER_AT(h, kept), &right);
        kept++;
        *CORNER_AT(h, kept) = right;
    }
    h->head = kept;
    return 0;
}

/* Makes room for a new head: drops corners older than the span looked back on, or every other. */
FF_INLINE void history_open_corner(struct ack_history *h, u64 at, u64 span)
{
    if (h->head != h->oldest) {
        struct history_corner *last = CORNER_AT(h, h->head - 1);

        last->slope = slope_between(last, CORNER_AT(h, h->head));
    }
    if (h->head - h->oldest == POINTS - 1) {
        if (CORNER_AT(h, h->oldest + 1)->at > minus(at, span))
            history_thin(h);
        else
            h->oldest++;
    }
    h->head++;
}

/* The first ACK: there was nothing before it. */
FF_SUBPROGRAM u64 history_begin(struct ack_history *h, u64 at)
{
    if (!h)
        return 0;
    for (u32 i = 0; i < RECENT; i++) {
        h->recent[i].at = at - 1;
        h->recent[i].total = 0;
    }
    h->curve[0].at = at - 1;
    return 0;
}

/* `credit` bytes were delivered at `at`; `span` is how far back anyone will look. */
FF_INLINE void history_push(struct ack_history *h, u64 at, u32 credit, u64 span)
{
    struct history_step *last = RECENT_AT(h, h->newest);
    struct history_corner *head;
    u32 total = last->total + credit;

    if (at <= last->at) {
        last->total = total;
        head = CORNER_AT(h, h->head);
        head->total = total;
        head->credit = head->credit + credit < credit ? U32_MAX : head->credit + credit;
        return;
    }
    if (h->head == h->oldest)
        history_begin(h, at);
    h->newest++;
    last = RECENT_AT(h, h->newest);
    last->at = at;
    last->total = total;
    if (h->head == h->oldest || at - CORNER_AT(h, h->head - 1)->at >= span / SPACING)
        history_open_corner(h, at, span);
    head = CORNER_AT(h, h->head);
    head->at = at;
    head->total = total;
    head->credit = credit;
}

/* The last corner up to time `from`, or else the oldest. */
FF_SUBPROGRAM u32 history_corner_before(const struct ack_history *h, u64 from)
{
    u32 corner;

    if (!h)
        return 0;
    corner = h->head - 1;
    for (u32 i = 0; i < POINTS; i++) {
        if (corner == h->oldest || CORNER_AT(h, corner)->at <= from)
            break;
        corner--;
    }
    return corner;
}

/* The position of the last of the recent steps up to time `from`; there is one. */
FF_SUBPROGRAM u32 history_step_before(const struct ack_history *h, u64 from)
{
    u32 position;

    if (!h)
        return 0;
    position = h->newest;
    for (u32 i = 0; i < RECENT; i++) {
        if (RECENT_AT(h, position)->at <= from)
            break;
        position--;
    }
    return position;
}

/* What was delivered in the last `span` before the newest ACK, that ACK included. */
FF_INLINE u32 history_within(const struct ack_history *h, u64 span)
{
    const struct history_step *newest = RECENT_AT(h, h->newest);
    const struct history_corner *left, *right;
    u64 from = minus(newest->at, span), slope, part;
    u32 corner;

    if (RECENT_AT(h, h->newest + 1)->at <= from)
        return newest->total - RECENT_AT(h, history_step_before(h, from))->total;
    corner = history_corner_before(h, from);
    left = CORNER_AT(h, corner);
    right = CORNER_AT(h, corner + 1);
    slope = corner + 1 == h->head ? slope_between(left, right) : left->slope;
    part = min_of(minus(from, left->at), U32_MAX);
    return newest->total - (left->total + (u32)high_half(part << 32, slope));
}

#endif
