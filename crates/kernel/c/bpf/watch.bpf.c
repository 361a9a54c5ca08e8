/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Writes, for each connection of a cgroup and whatever its control, one record of how start-up
 * went, when it closes. It is called once per RTT, at retransmissions until slow start has ended,
 * and at changes of state; it is never called for an ACK.
 */
#include "look.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("sockops")
int ff_watch(struct bpf_sock_ops *ops)
{
    u32 op = ops->op, state = ops->args[1], flags = ops->bpf_sock_ops_cb_flags;
    struct bpf_sock *sk = ops->sk;
    struct connection *c;
    struct tcp_sock *tp;

    /* Other calls ask for a value, and get none. */
    if (op != ACTIVE_ESTABLISHED && op != PASSIVE_ESTABLISHED && op != RTO_EXPIRED &&
        op != RETRANSMITTED && op != STATE_CHANGED && op != RTT_PASSED)
        return 1;
    if (!sk || !ops->is_fullsock)
        return 1;
    tp = bpf_skc_to_tcp_sock(sk);
    if (!tp)
        return 1;
    if (op == ACTIVE_ESTABLISHED || op == PASSIVE_ESTABLISHED) {
        c = bpf_sk_storage_get(&connections, sk, 0, STORAGE_CREATE);
        if (!c)
            return 1;
        begin(c, tp, op == PASSIVE_ESTABLISHED);
        flags |= CALL_AT_STATE | CALL_AT_RTT | CALL_AT_RETRANSMISSION | CALL_AT_RTO;
        bpf_sock_ops_cb_flags_set(ops, flags);
        return 1;
    }
    c = bpf_sk_storage_get(&connections, sk, 0, 0);
    if (!c)
        return 1;
    if (op == STATE_CHANGED) {
        if (state == TCP_CLOSED)
            close(c, tp);
        return 1;
    }
    if (op == RTO_EXPIRED) {
        if (!c->over && !c->seen.timeouts++)
            c->cwnd_at_timeout = tp->snd_cwnd;
        return 1;
    }
    look(c, tp, state_of(tp), 0);
    if (c->over) {
        /* All programs of the socket share the flags: trial.bpf.c counts timeouts to the end. */
        flags &= ~CALL_AT_RETRANSMISSION;
        bpf_sock_ops_cb_flags_set(ops, flags);
    }
    return 1;
}
