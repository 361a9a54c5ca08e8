/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What watch.bpf.c does, by tracepoints: for hosts whose cgroups admit no further program. It is
 * called where a connection opens and closes and where the kernel changes its mind about losses,
 * so that it sees when slow start was left by a loss, but not when by the control alone.
 */
#include "look.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define PROTOCOL_TCP 6

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(ff_traced, struct sock *sk, int before, int state)
{
    struct connection *c;
    struct tcp_sock *tp;

    if (sk->sk_protocol != PROTOCOL_TCP || (state != TCP_ESTABLISHED && state != TCP_CLOSED))
        return 0;
    tp = bpf_skc_to_tcp_sock(sk);
    if (!tp)
        return 0;
    c = bpf_sk_storage_get(&connections, sk, 0, state == TCP_ESTABLISHED ? STORAGE_CREATE : 0);
    if (!c)
        return 0;
    if (state == TCP_ESTABLISHED) {
        begin(c, tp, before == TCP_SYN_RECEIVED);
        c->seen.timeouts = UNKNOWN;
    } else {
        close(c, tp);
    }
    return 0;
}

/* The socket still has the state before, and some controls set their threshold only after this:
 * whether the window was reduced or BBR goes on is seen at the next change.
 */
SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(ff_traced_losses, struct sock *sk, u8 state)
{
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    struct connection *c;

    if (!tp)
        return 0;
    c = bpf_sk_storage_get(&connections, sk, 0, 0);
    if (!c || c->over)
        return 0;
    if (state >= CA_CWR && !c->reducing)
        c->reducing = state;
    if (state >= CA_CWR && tp->snd_ssthresh >= INFINITE_SSTHRESH)
        return 0;
    look(c, tp, c->reducing ? c->reducing : state, 0);
    if (c->seen.end == END_HEURISTIC) {
        /* These are of now, and that may have been long ago. */
        c->seen.end_rate = 0;
        c->seen.end_srtt = 0;
    }
    return 0;
}
