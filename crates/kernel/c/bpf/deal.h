/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Which new connections a rule is for, and how they are dealt into shares.
 */
#ifndef FF_DEAL_H
#define FF_DEAL_H

#include "sock_ops.h"
#include "steer.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Whether a connection is in the rule's share. Chance decides for each anew: a client that was
 * dealt what it wanted and comes from that port again cannot count on it.
 */
FF_INLINE u8 is_in_share(const struct rule *rule)
{
    return bpf_get_prandom_u32() % PER_MILLE < rule->per_mille;
}

/* Whether the socket was made in the rule's cgroup, or below it. */
FF_INLINE u8 is_below(const struct rule *rule, struct tcp_sock *tp)
{
    struct cgroup *own = BPF_CORE_READ((struct sock *)tp, sk_cgrp_data.cgroup), *above = 0;
    u32 level = rule->cgroup_level, at = 8 * level;
    u64 id = 0;

    if (!own || level > (u32)BPF_CORE_READ(own, level))
        return 0;
    if (bpf_core_field_exists(own->ancestors)) {
        at += bpf_core_field_offset(own->ancestors);
        bpf_probe_read_kernel(&above, sizeof(above), (void *)own + at);
        id = BPF_CORE_READ(above, kn, id);
    } else {
        at += bpf_core_field_offset(own->ancestor_ids);
        bpf_probe_read_kernel(&id, sizeof(id), (void *)own + at);
    }
    return id == rule->cgroup;
}

FF_INLINE u8 matches(const struct rule *rule, const struct ends *ends, u32 port,
                     struct tcp_sock *tp)
{
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        if ((ends->remote[i] & rule->mask[i]) != rule->address[i])
            return 0;
    return (!rule->port || rule->port == port) && (!rule->cgroup || is_below(rule, tp));
}

/* A service's port is the listener's. */
FF_INLINE u32 service_port(u32 op, const struct ends *ends)
{
    return op == PASSIVE_ESTABLISHED ? ends->local_port : ends->remote_port;
}

/* Whether the application, or another program before this one, has chosen the control. */
FF_INLINE u8 has_own_choice(struct tcp_sock *tp)
{
    return BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_setsockopt);
}

#endif
