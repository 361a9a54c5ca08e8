/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The events of a connection's sender and its windows after each, written where the loader asks for
 * it. crates/kernel/src/record.rs reads them.
 */
#ifndef FF_RECORD_H
#define FF_RECORD_H

#include "kernel.h"

enum record_kind {
    RECORD_NEW,
    RECORD_HANDSHAKE,
    RECORD_BEGIN,
    RECORD_SENT,
    RECORD_ACK,
    RECORD_LOSS,
    RECORD_RECOVERED,
    RECORD_SPURIOUS,
    RECORD_MSS,
    RECORD_WROTE,
    RECORD_HINT,
    RECORD_WAKE,
    RECORD_PACED,
    RECORD_REST,
};

#define RECORD_NUMBERS 7

/* Ports of the connection; the event's numbers, in the order of its struct; cwnd and ssthresh in
 * bytes afterwards; the kernel's own, in segments, as they stand; and, as tcp_info has them, the
 * payload that the socket has sent, retransmissions included, and what of it is acknowledged; the
 * socket's pacing rate; and how start-up ended, as exit.h has it.
 */
struct record {
    u32 local_port;
    u32 peer_port;
    u32 kind;
    u32 snd_cwnd;
    u32 snd_ssthresh;
    u32 mss;
    u64 numbers[RECORD_NUMBERS];
    u64 cwnd;
    u64 ssthresh;
    u64 sent;
    u64 acked;
    u64 pacing_rate;
    u64 exit;
};

#endif
