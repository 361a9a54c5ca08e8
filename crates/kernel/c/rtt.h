/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A part of sender.h: the RTT, as far as policies read it.
 */
#ifndef FF_RTT_H
#define FF_RTT_H

/* RFC 6298 section 2. */
FF_INLINE void observe_rtt(struct ff_rtt *rtt, u64 sample)
{
    rtt->latest = sample;
    rtt->min = min_of(rtt->min, sample);
    if (rtt->first == 0) {
        rtt->first = sample;
        rtt->smoothed = sample;
        return;
    }
    rtt->smoothed = plus(rtt->smoothed - rtt->smoothed / 8, sample / 8);
}

#endif
