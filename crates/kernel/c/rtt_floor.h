/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The smallest RTT of a window of time that slides in quarters, NONE without a sample:
 * crates/core/src/estimate/rtt_floor.rs.
 */
#ifndef FF_RTT_FLOOR_H
#define FF_RTT_FLOOR_H

#include "view.h"

struct rtt_floor {
    /* Of the quarters, the newest first. */
    u64 quarters_0;
    u64 quarters_1;
    u64 quarters_2;
    u64 quarters_3;
    u64 began;
};

FF_INLINE void rtt_floor_new(struct rtt_floor *f)
{
    f->quarters_0 = f->quarters_1 = f->quarters_2 = f->quarters_3 = NONE;
    f->began = 0;
}

/* A sample of now, where the window is so long. */
FF_INLINE void rtt_floor_observe(struct rtt_floor *f, u64 now, u64 rtt, u64 window)
{
    u64 quarter = window / 4, since = minus(now, f->began), passed;

    if (since >= quarter) {
        passed = since / max_of(quarter, 1);
        for (u32 i = 0; i < 4 && i < passed; i++) {
            f->quarters_3 = f->quarters_2;
            f->quarters_2 = f->quarters_1;
            f->quarters_1 = f->quarters_0;
            f->quarters_0 = NONE;
        }
        /* Quarters follow each other without a gap, unless the whole window has passed. */
        f->began = passed < 4 ? f->began + quarter * passed : now;
    }
    f->quarters_0 = min_of(f->quarters_0, rtt);
}

FF_INLINE u64 rtt_floor_of(const struct rtt_floor *f)
{
    return min_of(min_of(f->quarters_0, f->quarters_1), min_of(f->quarters_2, f->quarters_3));
}

#endif
