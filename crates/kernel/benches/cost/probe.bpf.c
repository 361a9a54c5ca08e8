/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How long the kernel takes over each ACK of one connection: a histogram of tcp_ack(), which is
 * where a congestion control runs, and one of tcp_rcv_established(), which is the ACK from the IP
 * layer to the segments that it lets go. The third is of a function that does nothing: what the
 * clock itself takes.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define ARRAY 2 /* BPF_MAP_TYPE_ARRAY */
#define BUCKETS 4096
#define BUCKET_NS 2

enum { TCP_ACK, TCP_RECEIVE, NOTHING, FUNCTIONS };

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
    __uint(max_entries, 64 * FUNCTIONS);
    __type(key, u32);
    __type(value, struct histogram);
} histograms SEC(".maps");

/* A connection is locked while it is in one of these, so that one time of each is enough. */
static u64 began[FUNCTIONS];

FF_INLINE struct watched *watched_as(const struct sock *sk)
{
    u32 first = 0;
    struct watched *w = bpf_map_lookup_elem(&watched, &first);

    return w && (!sk || sk->__sk_common.skc_num == w->port) ? w : 0;
}

FF_INLINE void end(const struct sock *sk, u32 function)
{
    u64 now = bpf_ktime_get_ns(), bucket = (now - began[function]) / BUCKET_NS;
    struct watched *w = watched_as(sk);
    struct histogram *h;
    u32 key;

    if (!w)
        return;
    key = w->control * FUNCTIONS + function;
    h = bpf_map_lookup_elem(&histograms, &key);
    if (h && bucket < BUCKETS)
        h->counts[bucket]++;
}

SEC("fentry/tcp_ack")
int BPF_PROG(ack_begins, struct sock *sk)
{
    if (watched_as(sk))
        began[TCP_ACK] = bpf_ktime_get_ns();
    return 0;
}

SEC("fexit/tcp_ack")
int BPF_PROG(ack_ends, struct sock *sk)
{
    end(sk, TCP_ACK);
    return 0;
}

SEC("fentry/tcp_rcv_established")
int BPF_PROG(receive_begins, struct sock *sk)
{
    if (watched_as(sk))
        began[TCP_RECEIVE] = bpf_ktime_get_ns();
    return 0;
}

SEC("fexit/tcp_rcv_established")
int BPF_PROG(receive_ends, struct sock *sk)
{
    end(sk, TCP_RECEIVE);
    return 0;
}

SEC("fentry/bpf_fentry_test1")
int BPF_PROG(nothing_begins)
{
    if (watched_as(0))
        began[NOTHING] = bpf_ktime_get_ns();
    return 0;
}

SEC("fexit/bpf_fentry_test1")
int BPF_PROG(nothing_ends)
{
    end(0, NOTHING);
    return 0;
}
