/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Gives new connections of a cgroup a control, by rules. It is called when a connection is
 * established: the kernel has set its initial window then, and initialises a control only if
 * nobody has, so that the rule's begins with the first data and the default never runs.
 */
#include "deal.h"

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
    port = service_port(op, &ends);
    for (u32 i = 0; i < MAX_RULES; i++) {
        if (i >= all->count)
            return 1;
        if (!matches(&all->rules[i], &ends, port, tp))
            continue;
        at = *set * MAX_RULES + i;
        n = bpf_map_lookup_elem(&counts, &at);
        if (!n)
            return 1;
        __sync_fetch_and_add(&n->matched, 1);
        if (has_own_choice(tp)) {
            __sync_fetch_and_add(&n->own_choice, 1);
            return 1;
        }
        if (!is_in_share(&all->rules[i]))
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
