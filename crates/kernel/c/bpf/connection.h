/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Where a connection's sender is kept: within the socket, if it is small enough and all that its
 * policies look at is what ACKs acknowledge; else in socket storage.
 */
#ifndef FF_CONNECTION_H
#define FF_CONNECTION_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "exit.h"

/* Start-up depends on the time at which packets leave: TCP's own pacing timer is needed. */
#if defined(FF_WAKES) || defined(FF_SENDS_TRAINS)
#define FF_TAKES_PACING
#endif

#ifdef FF_WATCHES_NO_ACKS

/* Of one socket: the sender, and what the kernel's state was at its last event. */
struct connection {
    struct ff_sender sender;
    u32 cwnd;
    u8 state;
    u8 timed_out;
    u32 lost;
};

_Static_assert(sizeof(struct connection) <= CA_PRIV_WORDS * 8, "the kernel's room is that small");

FF_INLINE struct connection *room_of(struct sock *sk)
{
    return (struct connection *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* None before the connection begins: a SYN may time out. */
FF_INLINE struct connection *connection_of(struct sock *sk)
{
    struct connection *c = room_of(sk);

    return c->sender.view.mss ? c : 0;
}

FF_INLINE struct connection *new_connection(struct sock *sk)
{
    struct connection *c = room_of(sk);

    __builtin_memset(c, 0, sizeof(*c));
    c->lost = ((struct tcp_sock *)sk)->lost;
    return c;
}

/* There is no room for it, and none is needed: such a start-up ends by a loss, which the kernel saw
 * too, or at ssthresh, so that the socket's windows show it.
 */
FF_INLINE void note_exit(struct tcp_sock *tp, u32 why, u32 cwnd) {}

#else

/* Of one socket: the sender, and what the kernel's counters were at its last event. */
struct connection {
    struct ff_sender sender;
    u32 cwnd;
    u8 state;
    u8 timed_out;
    u32 lost;
    u32 delivered;
    u64 acked_at_start;
#ifdef FF_NEEDS_SENT
    u64 sent_at_start;
#endif
#ifdef FF_OWNS_WINDOW
    /* Of the reduction of a recovery: the window before it, and the kernel's counters at its
     * beginning and at the last ACK.
     */
    u32 prior_cwnd;
    u32 delivered_before;
    u32 sent_before;
    u32 delivered_last;
    u32 lost_last;
    u32 una_last;
#endif
#ifdef FF_TAKES_PACING
    /* TCP paces by itself because the control asked for it; who paced before. */
    u8 took_pacing;
    u32 paced_before;
#endif
#ifdef FF_WAKES
    /* cwnd as it stands while less than the sender's may leave at once, 0 else. */
    u32 held;
#endif
};

struct {
    __uint(type, MAP_TYPE_SK_STORAGE);
    __uint(map_flags, MAP_NO_PREALLOC);
    __type(key, int);
    __type(value, struct connection);
} connections SEC(".maps");

FF_INLINE struct connection *connection_of(struct sock *sk)
{
    return bpf_sk_storage_get(&connections, sk, 0, 0);
}

FF_INLINE struct connection *new_connection(struct sock *sk)
{
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct connection *c;

    bpf_sk_storage_delete(&connections, sk);
    c = bpf_sk_storage_get(&connections, sk, 0, STORAGE_CREATE);
    if (!c)
        return 0;
    c->acked_at_start = tp->bytes_acked;
#ifdef FF_NEEDS_SENT
    c->sent_at_start = tp->bytes_sent;
#endif
    c->delivered = tp->delivered;
    c->lost = tp->lost;
    *exit_of(tp) = exit_word(END_NONE, 0);
    return c;
}

/* Start-up has ended. The first end stays noted, whatever is undone after it (note_exit of
 * crates/core/src/mechanism.rs).
 */
FF_INLINE void note_exit(struct tcp_sock *tp, u32 why, u32 cwnd)
{
    u64 *noted = exit_of(tp);

    if (!(*noted & EXIT_WHY))
        *noted = exit_word(why, cwnd);
}

/* What has been acknowledged since the control began to run, and the position of the next new
 * payload counted likewise.
 */
FF_INLINE u64 acked_by(const struct connection *c, const struct tcp_sock *tp)
{
    return tp->bytes_acked - c->acked_at_start;
}

FF_INLINE u64 snd_nxt_of(const struct tcp_sock *tp, u64 acked)
{
    return acked + (tp->snd_nxt - tp->snd_una);
}

#endif

#endif
