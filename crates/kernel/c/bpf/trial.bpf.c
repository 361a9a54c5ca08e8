/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Deals new connections into two arms, gives each arm its control, and reports what became of each
 * connection. Both arms go the same way, so that they differ in their controls alone.
 *
 * It deals only until a time that the command puts off again and again, so that it stops soon after
 * the command was killed.
 */
#include "trial.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct trial_plan);
} trial SEC(".maps");

/* By CLOCK_BOOTTIME. */
struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} until SEC(".maps");

struct {
    __uint(type, MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct trial_counts);
} counts SEC(".maps");

struct {
    __uint(type, MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 22);
} outcomes SEC(".maps");

/* Of one connection, until it is reported. */
struct connection {
    struct outcome seen;
    struct snapshot last;
};

struct {
    __uint(type, MAP_TYPE_SK_STORAGE);
    __uint(map_flags, MAP_NO_PREALLOC);
    __type(key, int);
    __type(value, struct connection);
} connections SEC(".maps");

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

/* Whether the treated arm is dealt. What is dealt at once is dealt by a keyed hash of the minute,
 * and of the prefix: /24 of IPv4, /48 of IPv6.
 */
FF_INLINE u8 is_treated(const struct trial_plan *t, const struct ends *ends, u64 now)
{
    u32 hash = mix(t->seed, now / MINUTE);

    if (t->by == BY_CONNECTION)
        return is_in_share(&t->treated);
    if (t->by == BY_PREFIX) {
        u8 is_v4 = !ends->remote[0] && !ends->remote[1] &&
                   ends->remote[2] == __builtin_bswap32(0xffff);

        hash = mix(hash, ends->remote[0]);
        hash = mix(hash, ends->remote[1] & __builtin_bswap32(0xffff0000));
        hash = mix(hash, is_v4 ? ends->remote[3] & __builtin_bswap32(0xffffff00) : 0);
    }
    return finish(hash) % PER_MILLE < t->treated.per_mille;
}

FF_INLINE void take_snapshot(struct connection *c, struct tcp_sock *tp, const struct trial_plan *t)
{
    struct snapshot now = {
        .at = bpf_ktime_get_boot_ns() - c->seen.began,
        .acked = tp->bytes_acked,
        .in_flight = tp->snd_nxt - tp->snd_una,
        .srtt = tp->srtt_us >> 3,
    };

    if (!c->seen.bytes[1].at && now.acked >= t->bytes) {
        c->seen.bytes[0] = c->last;
        c->seen.bytes[1] = now;
    }
    if (!c->seen.age[1].at && now.at >= t->age) {
        c->seen.age[0] = c->last;
        c->seen.age[1] = now;
    }
    c->last = now;
}

FF_INLINE void report(struct connection *c, struct tcp_sock *tp, struct trial_counts *n)
{
    struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;

    c->seen.acked = tp->bytes_acked;
    c->seen.sent_again = tp->bytes_retrans;
    if (!c->seen.age[1].at)
        c->seen.age[0] = c->last;
    bpf_probe_read_kernel(c->seen.control, CA_NAME_MAX, icsk->icsk_ca_ops->name);
    if (bpf_ringbuf_output(&outcomes, &c->seen, sizeof(c->seen), 0))
        __sync_fetch_and_add(&n->dropped, 1);
}

FF_INLINE void begin(struct bpf_sock_ops *ops, struct bpf_sock *sk, u32 op,
                     const struct trial_plan *t, struct trial_counts *n)
{
    u32 flags = ops->bpf_sock_ops_cb_flags, zero = 0, treated;
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    u64 now = bpf_ktime_get_boot_ns(), *end = bpf_map_lookup_elem(&until, &zero);
    struct connection *c;
    struct ends ends = {};
    int error;

    if (!tp || !end || now >= *end)
        return;
    read_ends(&ends, (struct sock *)tp);
    if (!matches(&t->treated, &ends, service_port(op, &ends), tp))
        return;
    __sync_fetch_and_add(&n->matched, 1);
    if (has_own_choice(tp)) {
        __sync_fetch_and_add(&n->own_choice, 1);
        return;
    }
    c = bpf_sk_storage_get(&connections, sk, 0, STORAGE_CREATE);
    if (!c) {
        /* A connection that could not be reported is not dealt. */
        __sync_fetch_and_add(&n->dropped, 1);
        return;
    }
    __builtin_memset(c, 0, sizeof(*c));
    treated = is_treated(t, &ends, now);
    c->seen.began = now;
    c->seen.ends = ends;
    c->seen.treated = treated;
    __sync_fetch_and_add(treated ? &n->dealt[1] : &n->dealt[0], 1);
    bpf_sock_ops_cb_flags_set(ops, flags | CALL_AT_STATE | CALL_AT_RTT | CALL_AT_RTO);
    error = bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION,
                           (void *)(treated ? t->treated.control : t->other), CA_NAME_MAX);
    if (error) {
        c->seen.error = n->last_error = -error;
        __sync_fetch_and_add(&n->failed, 1);
    }
}

SEC("sockops")
int ff_trial(struct bpf_sock_ops *ops)
{
    u32 op = ops->op, before = ops->args[0], state = ops->args[1], zero = 0;
    struct bpf_sock *sk = ops->sk;
    struct trial_counts *n;
    struct connection *c;
    struct trial_plan *t;
    struct tcp_sock *tp;

    /* Other calls ask for a value, and get none. */
    if (op != ACTIVE_ESTABLISHED && op != PASSIVE_ESTABLISHED && op != RTO_EXPIRED &&
        op != STATE_CHANGED && op != RTT_PASSED)
        return 1;
    t = bpf_map_lookup_elem(&trial, &zero);
    n = bpf_map_lookup_elem(&counts, &zero);
    if (!sk || !ops->is_fullsock || !t || !n)
        return 1;
    if (op == ACTIVE_ESTABLISHED || op == PASSIVE_ESTABLISHED) {
        begin(ops, sk, op, t, n);
        return 1;
    }
    c = bpf_sk_storage_get(&connections, sk, 0, 0);
    tp = bpf_skc_to_tcp_sock(sk);
    if (!c || !tp)
        return 1;
    if (op == RTO_EXPIRED) {
        c->seen.timeouts++;
        return 1;
    }
    if (op == STATE_CHANGED && state != TCP_CLOSED)
        return 1;
    take_snapshot(c, tp, t);
    if (op == STATE_CHANGED)
        c->seen.broken = before == TCP_ESTABLISHED || before == TCP_FIN_WAIT1 ||
                         before == TCP_CLOSE_WAIT;
    if (op == STATE_CHANGED || c->last.at >= t->report_age) {
        report(c, tp, n);
        bpf_sk_storage_delete(&connections, sk);
    }
    return 1;
}
