/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How start-up goes on a connection, found out by looking at its socket now and then, and written
 * when it closes.
 *
 * Why slow start ended stands in the socket at any later time: tcp_init_cwnd_reduction and
 * tcp_enter_loss of the kernel keep the window before the reduction in prior_cwnd and the threshold
 * before it in prior_ssthresh. Our own controls write it themselves (exit.h). When it ended is an
 * interval: between two looks.
 */
#ifndef FF_LOOK_H
#define FF_LOOK_H

#include "watch.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Of one connection, until it closes. */
struct connection {
    struct watched seen;
    u64 began; /* by CLOCK_MONOTONIC */
    u32 first_prior_cwnd;
    u32 cwnd_at_timeout; /* at the first, before the kernel cut it */
    u32 last_cwnd;
    u8 losses_ignored; /* a control that stays in slow start in spite of them, as BBR does */
    u8 over;           /* slow start can no longer go on */
    u8 reducing;       /* by tracepoints: the kernel's state at the first reduction */
};

struct {
    __uint(type, MAP_TYPE_SK_STORAGE);
    __uint(map_flags, MAP_NO_PREALLOC);
    __type(key, int);
    __type(value, struct connection);
} connections SEC(".maps");

struct {
    __uint(type, MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 20);
} records SEC(".maps");

/* Connections that began and that closed, and records for which the ring had no room. */
struct counts {
    u64 began;
    u64 closed;
    u64 dropped;
} counts = {};

FF_INLINE void end(struct connection *c, struct tcp_sock *tp, u32 why, u32 cwnd, u8 closing)
{
    u64 interval = tp->rate_interval_us;

    c->over = why != END_HEURISTIC;
    c->seen.end = why;
    c->seen.end_cwnd = cwnd;
    c->seen.end_srtt = tp->srtt_us >> 3;
    if (closing)
        return;
    c->seen.ended_by = bpf_ktime_get_ns() - c->began;
    if (interval)
        c->seen.end_rate = (u64)tp->rate_delivered * tp->mss_cache * 1000000 / interval;
}

/* Whether slow start is over, for a control that does not write it; `before` is the window at the
 * last look.
 */
FF_APART u8 is_left(struct connection *c, struct tcp_sock *tp, u32 before, u8 state, u8 closing)
{
    u32 ssthresh = tp->snd_ssthresh, cwnd = tp->snd_cwnd, prior = tp->prior_cwnd;
    u32 prior_ssthresh = tp->prior_ssthresh;
    u8 reduced = prior != c->first_prior_cwnd;

    if (c->seen.end == END_HEURISTIC) {
        c->over = reduced;
        if (reduced || ssthresh <= c->seen.end_cwnd)
            return 1;
        /* The control has raised the threshold again: slow start went on. */
        c->seen.end = END_NONE;
    }
    if (ssthresh >= INFINITE_SSTHRESH && reduced) {
        c->losses_ignored = 1;
        c->first_prior_cwnd = prior;
    }
    if (ssthresh < INFINITE_SSTHRESH) {
        if (reduced && !c->losses_ignored) {
            if (prior_ssthresh && prior_ssthresh < INFINITE_SSTHRESH && prior_ssthresh <= prior) {
                /* It was left before this reduction, since the last look: by a timeout whose
                 * retransmission did not leave this host, or the control decided.
                 */
                if (c->cwnd_at_timeout)
                    end(c, tp, END_TIMEOUT, c->cwnd_at_timeout, closing);
                else
                    end(c, tp, END_HEURISTIC, prior_ssthresh, closing);
                c->over = 1;
            } else {
                end(c, tp, why_reduced(state, tp), prior, closing);
            }
            return 1;
        }
        if (cwnd >= ssthresh || c->losses_ignored) {
            /* The threshold of BBR is what the path holds, and its window more. */
            end(c, tp, END_HEURISTIC, max_of(ssthresh, before), closing);
            return 1;
        }
    }
    return 0;
}

FF_INLINE u8 state_of(struct tcp_sock *tp)
{
    struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;

    return BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
}

/* Whether slow start has ended since the last look, and why. `state` is what the kernel makes of
 * losses now (CA_RECOVERY and the like).
 */
FF_APART void look(struct connection *c, struct tcp_sock *tp, u8 state, u8 closing)
{
    u32 cwnd = tp->snd_cwnd, prior = tp->prior_cwnd, before = c->last_cwnd;
    u64 exit = *exit_of(tp);

    c->last_cwnd = cwnd;
    if (prior != c->first_prior_cwnd)
        cwnd = max_of(cwnd, prior);
    c->seen.longest_cwnd = max_of(c->seen.longest_cwnd, cwnd);
    if (c->over)
        return;
    if (is_exit_word(exit)) {
        if (exit & EXIT_WHY) {
            end(c, tp, exit & EXIT_WHY, exit >> 32, closing);
            c->over = 1;
            return;
        }
    } else if (is_left(c, tp, before, state, closing)) {
        return;
    }
    if (!closing)
        c->seen.still_in = bpf_ktime_get_ns() - c->began;
}

FF_APART void begin(struct connection *c, struct tcp_sock *tp, u32 accepted)
{
    __builtin_memset(c, 0, sizeof(*c));
    c->began = bpf_ktime_get_ns();
    c->seen.accepted = accepted;
    read_ends(&c->seen.ends, (struct sock *)tp);
    c->first_prior_cwnd = tp->prior_cwnd;
    __sync_fetch_and_add(&counts.began, 1);
}

FF_APART void close(struct connection *c, struct tcp_sock *tp)
{
    struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;

    look(c, tp, state_of(tp), 1);
    c->seen.duration = bpf_ktime_get_ns() - c->began;
    c->seen.acked = tp->bytes_acked;
    c->seen.sent_again = tp->bytes_retrans;
    c->seen.sent_again_segments = tp->total_retrans;
    c->seen.cwnd = tp->snd_cwnd;
    c->seen.mss = tp->mss_cache;
    c->seen.min_rtt = tp->rtt_min.s[0].v;
    c->seen.srtt = tp->srtt_us >> 3;
    c->seen.lost = tp->lost;
    c->seen.marked = tp->delivered_ce;
#pragma unroll
    for (u32 i = 0; i < 3; i++)
        c->seen.limits[i] = tp->chrono_stat[i];
    bpf_probe_read_kernel(c->seen.control, CA_NAME_MAX, icsk->icsk_ca_ops->name);
    __sync_fetch_and_add(&counts.closed, 1);
    if (bpf_ringbuf_output(&records, &c->seen, sizeof(c->seen), 0))
        __sync_fetch_and_add(&counts.dropped, 1);
}

#endif
