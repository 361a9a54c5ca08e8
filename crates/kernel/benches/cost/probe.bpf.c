/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How long the kernel takes over each ACK of one connection in tcp_rcv_established(), which is the
 * ACK from the IP layer to the segments that it lets go. Nothing else is traced meanwhile, since
 * the tracing of a function within would count too. Histograms: of ACKs that deliver two segments,
 * as nearly all do but those of a recovery; of those among them that let none go, the cheapest; and
 * of a function that does nothing, which is what the clock itself takes.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define ARRAY 2 /* BPF_MAP_TYPE_ARRAY */
#define BUCKETS 16384
#define BUCKET_NS 2
#define DELIVERED 2

enum { ALL, QUIET, CLOCK, HISTOGRAMS };

/* Which connection, and which control it has now; written by main.rs. */
struct watched {
    u32 port;
    u32 control;
};

struct histogram {
    u32 counts[BUCKETS];
};

struct {
    __uint(type, ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct watched);
} watched SEC(".maps");

struct {
    __uint(type, ARRAY);
    __uint(max_entries, 64 * HISTOGRAMS);
    __type(key, u32);
    __type(value, struct histogram);
} histograms SEC(".maps");

/* A connection is locked while it is in there, so that one of each is enough. */
static u64 began;
static u32 delivered, sent;

FF_INLINE struct watched *watched_as(const struct sock *sk)
{
    u32 first = 0;
    struct watched *w = bpf_map_lookup_elem(&watched, &first);

    return w && (!sk || sk->__sk_common.skc_num == w->port) ? w : 0;
}

FF_INLINE void count(const struct watched *w, u32 histogram, u64 time)
{
    u64 bucket = time / BUCKET_NS;
    u32 key = w->control * HISTOGRAMS + histogram;
    struct histogram *h = bpf_map_lookup_elem(&histograms, &key);

    if (h && bucket < BUCKETS)
        h->counts[bucket]++;
}

SEC("fentry/tcp_rcv_established")
int BPF_PROG(receive_begins, struct sock *sk)
{
    const struct tcp_sock *tp = (const struct tcp_sock *)sk;

    if (!watched_as(sk))
        return 0;
    delivered = BPF_CORE_READ(tp, delivered);
    sent = BPF_CORE_READ(tp, data_segs_out);
    began = bpf_ktime_get_ns();
    return 0;
}

SEC("fexit/tcp_rcv_established")
int BPF_PROG(receive_ends, struct sock *sk)
{
    u64 time = bpf_ktime_get_ns() - began;
    const struct tcp_sock *tp = (const struct tcp_sock *)sk;
    struct watched *w = watched_as(sk);

    if (!w || BPF_CORE_READ(tp, delivered) - delivered != DELIVERED)
        return 0;
    count(w, ALL, time);
    if (BPF_CORE_READ(tp, data_segs_out) == sent)
        count(w, QUIET, time);
    return 0;
}

SEC("fentry/bpf_fentry_test1")
int BPF_PROG(clock_begins)
{
    if (watched_as(0))
        began = bpf_ktime_get_ns();
    return 0;
}

SEC("fexit/bpf_fentry_test1")
int BPF_PROG(clock_ends)
{
    u64 time = bpf_ktime_get_ns() - began;
    struct watched *w = watched_as(0);

    if (w)
        count(w, CLOCK, time);
    return 0;
}
