/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What programs of a cgroup (BPF_PROG_TYPE_SOCK_OPS) read of a connection: which call it is, and
 * the two ends. Only names count, as in kernel.h.
 */
#ifndef FF_SOCK_OPS_H
#define FF_SOCK_OPS_H

#include "kernel.h"

/* include/uapi/linux/bpf.h: BPF_SOCK_OPS_*_CB */
#define ACTIVE_ESTABLISHED 4
#define PASSIVE_ESTABLISHED 5
#define RTO_EXPIRED 8
#define RETRANSMITTED 9
#define STATE_CHANGED 10
#define RTT_PASSED 12

/* include/uapi/linux/bpf.h: BPF_SOCK_OPS_*_CB_FLAG */
#define CALL_AT_RTO 1
#define CALL_AT_RETRANSMISSION 2
#define CALL_AT_STATE 4
#define CALL_AT_RTT 8

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_sock_ops {
    u32 op;
    u32 args[4];
    u32 is_fullsock;
    u32 bpf_sock_ops_cb_flags;
    struct bpf_sock *sk;
};

#pragma clang attribute pop

/* The two ends. Addresses are in network order, and one of IPv4 is ::ffff:a.b.c.d. */
struct ends {
    u32 local[4];
    u32 remote[4];
    u32 local_port;
    u32 remote_port;
};

/* `ends` is all zero. */
FF_INLINE void read_ends(struct ends *ends, const struct sock *sk)
{
    const struct sock_common *common = &sk->__sk_common;

    ends->local_port = common->skc_num;
    ends->remote_port = __builtin_bswap16(common->skc_dport);
    if (common->skc_family == AF_INET) {
        ends->local[2] = ends->remote[2] = __builtin_bswap32(0xffff);
        ends->local[3] = common->skc_rcv_saddr;
        ends->remote[3] = common->skc_daddr;
        return;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        ends->local[i] = common->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
        ends->remote[i] = common->skc_v6_daddr.in6_u.u6_addr32[i];
    }
}

#endif
