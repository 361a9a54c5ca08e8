/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How start-up went on a connection: crates/kernel/src/watch.rs reads it. Times are nanoseconds,
 * windows are segments, RTTs are microseconds.
 */
#ifndef FF_WATCH_H
#define FF_WATCH_H

#include "exit.h"
#include "sock_ops.h"

#define UNKNOWN U32_MAX

struct watched {
    u64 duration;  /* since the handshake, as the next two */
    u64 still_in;  /* the last look that found it in slow start, 0 for none */
    u64 ended_by;  /* the first look after it, 0 where that was at the close */
    u64 end_rate;  /* delivery rate then, bytes per second, 0 for unknown */
    u64 acked;     /* bytes; the SYN and the FIN may count */
    u64 sent_again; /* bytes */
    struct ends ends;
    u32 accepted;  /* by a listener of this host */
    u32 end;       /* enum slow_start_end */
    u32 end_cwnd;  /* before the reduction; of a heuristic, the threshold, or a longer window */
    u32 end_srtt;
    u32 timeouts;  /* until the end of slow start, or UNKNOWN */
    u32 longest_cwnd;
    u32 cwnd;
    u32 mss;
    u32 min_rtt;
    u32 srtt;
    u32 sent_again_segments;
    u32 lost;
    u32 marked;    /* segments that were delivered with a mark */
    u32 limits[3]; /* jiffies in which data waited: for the network, the receiver's window, and
                    * room in the send buffer
                    */
    char control[CA_NAME_MAX];
};

#endif
