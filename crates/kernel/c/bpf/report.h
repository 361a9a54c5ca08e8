/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What the loader writes into a control, and the records that it asks for.
 */
#ifndef FF_REPORT_H
#define FF_REPORT_H

#include "connection.h"
#include "record.h"

/* The loader (crates/kernel/src/load.rs) writes this. `control` is the control in full and then its
 * name, which `firstflight kernel status` shows; it comes first, so that other versions of the
 * program find it. The struct has a map of its own, which can be pinned.
 */
struct loaded {
    char control[TEXT_MAX];
    u64 recording;
    u64 leaving_out; /* for tests: all calls but those of ACKs are left out */
    struct ff_knob_values knobs;
};

const volatile struct loaded ff_loaded SEC(".rodata.loaded") = {};

struct {
    __uint(type, MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 24);
} records SEC(".maps");

/* The record is made in the buffer: on the stack there is no room for it under its callers. */
FF_APART void write_record(const struct connection *c, struct tcp_sock *tp, u32 kind,
                           const u64 *numbers, u32 count)
{
    struct sock *sk = (struct sock *)tp;
    struct record *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

    if (!r)
        return;
    r->local_port = sk->__sk_common.skc_num;
    r->peer_port = __builtin_bswap16(sk->__sk_common.skc_dport);
    r->kind = kind;
    r->snd_cwnd = tp->snd_cwnd;
    r->snd_ssthresh = tp->snd_ssthresh;
    r->mss = tp->mss_cache;
#pragma unroll
    for (u32 i = 0; i < RECORD_NUMBERS; i++)
        r->numbers[i] = i < count ? numbers[i] : 0;
    r->cwnd = c->sender.view.window.cwnd;
    r->ssthresh = c->sender.view.window.ssthresh;
    r->sent = tp->bytes_sent;
    r->acked = tp->bytes_acked;
    r->pacing_rate = sk->sk_pacing_rate;
    r->exit = *exit_of(tp);
    bpf_ringbuf_submit(r, 0);
}

FF_INLINE void report(const struct connection *c, struct tcp_sock *tp, u32 kind,
                      const u64 *numbers, u32 count)
{
    if (ff_loaded.recording)
        write_record(c, tp, kind, numbers, count);
}

#endif
