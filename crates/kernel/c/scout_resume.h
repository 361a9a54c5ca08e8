/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Scouted Resume: what an earlier connection knew of the path is tested by a train in one round
 * trip, where Careful Resume believes half of it. crates/core/src/startup/scout/resume.rs tells
 * what is published and what is ours.
 */
#ifndef FF_SCOUT_RESUME_H
#define FF_SCOUT_RESUME_H

#include "saved.h"
#include "view.h"

#define SCOUT_RESUME_MAX_AGE (600 * NANOS_PER_SECOND)

/* `tested` is the window that the round's train asks for; then the end of what left before that
 * train was judged.
 */
enum scout_resume_state {
    SCOUT_NOT_TESTED,
    SCOUT_TESTED_NOW,
    SCOUT_TESTED_UNTIL,
    SCOUT_REFUTED,
};

struct scout_resume {
    struct saved saved;
    u64 tested;
    u8 tested_state;
};

/* What was saved is used once, by the first slow start of a connection. */
FF_INLINE void scout_resume_enter(struct scout_resume *r, enum entry why)
{
    r->saved.window = 0;
    if (why == ENTRY_CONNECT)
        r->tested_state = SCOUT_NOT_TESTED;
}

/* The most that may leave before any of it is acknowledged, if something was saved of this path
 * (RFC 9959 sections 4.2 and 4.3). It is told once.
 */
FF_INLINE u64 scout_resume_jump(struct scout_resume *r, const struct ff_view *v)
{
    u64 window = r->saved.window;

    r->saved.window = 0;
    if (!window || !saved_is_of_path(&r->saved, v) || v->rtt.smoothed == 0)
        return 0;
    return window / 2;
}

/* A round with this window tests twice `jump`; the rate of its train in that of the round. */
FF_INLINE u64 scout_resume_begin(struct scout_resume *r, u64 jump, u64 window)
{
    r->tested = times(jump, 2);
    r->tested_state = SCOUT_TESTED_NOW;
    return mul_div(r->tested, RATIO_ONE, window);
}

/* A train has been acknowledged: the most that the window may become, if it was the one that tested
 * what was saved, else what others may.
 */
FF_INLINE u64 scout_resume_end(struct scout_resume *r, u64 most, const struct ff_view *v)
{
    if (r->tested_state != SCOUT_TESTED_NOW)
        return most;
    most = r->tested;
    r->tested_state = SCOUT_TESTED_UNTIL;
    r->tested = v->snd_nxt;
    return most;
}

/* Something of what was resumed is not acknowledged. */
FF_INLINE u8 scout_resume_is_on_its_way(const struct scout_resume *r, const struct ff_view *v)
{
    return r->tested_state == SCOUT_TESTED_NOW
           || (r->tested_state == SCOUT_TESTED_UNTIL && v->acked < r->tested);
}

/* Something was lost: of what was resumed, the hint was wrong (RFC 9959 section 4.5). */
FF_INLINE void scout_resume_meet_congestion(struct scout_resume *r, const struct ff_view *v)
{
    if (scout_resume_is_on_its_way(r, v))
        r->tested_state = SCOUT_REFUTED;
}

#endif
