/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Gives new connections of a cgroup a control, by rules. It is called when a connection is
 * established: the kernel has set its initial window then, and initialises a control only if
 * nobody has, so that the rule's begins with the first data and the default never runs.
 */
#include "sock_ops.h"
#include "steer.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Two sets of rules; the first number of `active` says which holds. */
struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 2);
    __type(key, u32);
    __type(value, struct rules);
} rules SEC(".maps");

struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u32);
} active SEC(".maps");

/* By set and rule. */
struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 2 * MAX_RULES);
    __type(key, u32);
    __type(value, struct rule_counts);
} counts SEC(".maps");

/* MurmurHash3's steps of 32 bits (A. Appleby, public domain): each word, and the end. */
FF_INLINE u32 mix(u32 hash, u32 word)
{
    word *= 0xcc9e2d51;
    word = word << 15 | word >> 17;
    hash ^= word * 0x1b873593;
    hash = hash << 13 | hash >> 19;
    return hash * 5 + 0xe6546b64;
}

FF_INLINE u32 finish(u32 hash)
{
    hash = (hash ^ hash >> 16) * 0x85ebca6b;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35;
    return hash ^ hash >> 16;
}

/* Which of a thousand shares the connection is in. */
FF_INLINE u32 share_of(const struct ends *ends, u32 seed)
{
    u32 hash = seed;

#pragma unroll
    for (u32 i = 0; i < 4; i++)
        hash = mix(mix(hash, ends->local[i]), ends->remote[i]);
    return finish(mix(hash, ends->remote_port << 16 | ends->local_port)) % PER_MILLE;
}

FF_INLINE u8 matches(const struct rule *rule, const struct ends *ends, u32 port)
{
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        if ((ends->remote[i] & rule->mask[i]) != rule->address[i])
            return 0;
    return !rule->port || rule->port == port;
}

SEC("sockops")
int ff_steer(struct bpf_sock_ops *ops)
{
    u32 op = ops->op, zero = 0, port, at;
    u32 *set = bpf_map_lookup_elem(&active, &zero);
    struct bpf_sock *sk = ops->sk;
    struct ends ends = {};
    struct rule_counts *n;
    struct rules *all;
    struct tcp_sock *tp;
    int error;

    if ((op != ACTIVE_ESTABLISHED && op != PASSIVE_ESTABLISHED) || !sk || !ops->is_fullsock || !set)
        return 1;
    all = bpf_map_lookup_elem(&rules, set);
    tp = bpf_skc_to_tcp_sock(sk);
    if (!all || !tp)
        return 1;
    read_ends(&ends, (struct sock *)tp);
    /* A service's port is the listener's. */
    port = op == PASSIVE_ESTABLISHED ? ends.local_port : ends.remote_port;
    for (u32 i = 0; i < MAX_RULES; i++) {
        if (i >= all->count)
            return 1;
        if (!matches(&all->rules[i], &ends, port))
            continue;
        at = *set * MAX_RULES + i;
        n = bpf_map_lookup_elem(&counts, &at);
        if (!n)
            return 1;
        __sync_fetch_and_add(&n->matched, 1);
        if (BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_setsockopt)) {
            __sync_fetch_and_add(&n->own_choice, 1);
            return 1;
        }
        if (share_of(&ends, all->seed) >= all->rules[i].per_mille)
            return 1;
        error = bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, all->rules[i].control, CA_NAME_MAX);
        if (error) {
            n->last_error = -error;
            __sync_fetch_and_add(&n->failed, 1);
        } else {
            __sync_fetch_and_add(&n->steered, 1);
        }
        return 1;
    }
    return 1;
}
