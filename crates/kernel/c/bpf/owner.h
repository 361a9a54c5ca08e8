/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What a control does by itself that owns the window (FF_OWNS_WINDOW): it reduces cwnd in a
 * recovery as the kernel would, paces, and remembers what its connections learned of a path.
 */
#ifndef FF_OWNER_H
#define FF_OWNER_H

#include "connection.h"

/* Linux' pacing (tcp_update_pacing_rate): percent of a window per RTT in slow start, and later. */
#define SLOW_START_PERCENT 200
#define LATER_PERCENT 120

#define MICROSECOND 1000ULL

/* A remote address, IPv4 as IPv6 has it (RFC 4291 section 2.5.5.2). */
struct path {
    __be32 address[4];
};

struct remembered {
    struct ff_learned learned;
    u64 at;
};

struct {
    __uint(type, MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, struct path);
    __type(value, struct remembered);
} paths SEC(".maps");

FF_INLINE struct path path_of(const struct sock *sk)
{
    struct path path = { .address = { 0, 0, __builtin_bswap32(0xffff), 0 } };

    if (sk->__sk_common.skc_family == AF_INET) {
        path.address[3] = sk->__sk_common.skc_daddr;
        return path;
    }
    path.address[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
    path.address[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
    path.address[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
    path.address[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
    return path;
}

/* What the last connection to that address learned; 0 if nothing is known. */
FF_INLINE u8 recall(const struct sock *sk, struct ff_learned *learned)
{
    struct path path = path_of(sk);
    struct remembered *last = bpf_map_lookup_elem(&paths, &path);

    if (!last)
        return 0;
    *learned = last->learned;
    learned->age = minus(bpf_ktime_get_ns(), last->at);
    return 1;
}

/* A connection is over: what it learned stays, unless it found wrong what was remembered. */
FF_INLINE void remember(const struct sock *sk, const struct connection *c)
{
    const struct ff_view *v = &c->sender.view;
    struct path path = path_of(sk);
    struct remembered now = {
        .learned = {
            .cwnd = v->window.cwnd,
            .ssthresh = v->window.ssthresh,
            .rtt = v->rtt.smoothed,
            .min_rtt = v->rtt.min,
            .per_round = max_of(minus(v->delivered, c->sender.round_began_with),
                                max_of(c->sender.last_rounds[0], c->sender.last_rounds[1])),
        },
        .at = bpf_ktime_get_ns(),
    };

    if (startup(refutes_hint)(&c->sender.startup))
        bpf_map_delete_elem(&paths, &path);
    else if (v->rtt.smoothed && now.learned.per_round)
        bpf_map_update_elem(&paths, &path, &now, 0);
}

/* A recovery begins in which the avoidance has cut. */
FF_INLINE void begin_reduction(struct connection *c, const struct tcp_sock *tp)
{
    c->prior_cwnd = tp->snd_cwnd;
    c->delivered_before = tp->delivered;
    c->sent_before = tp->data_segs_out;
    c->delivered_last = tp->delivered;
    c->lost_last = tp->lost;
    c->una_last = tp->snd_una;
}

/* cwnd in segments while the recovery reduces it to `target`: proportional rate reduction (RFC 9937
 * section 6), as the kernel does it for other controls.
 */
FF_INLINE u64 reduced(struct connection *c, const struct tcp_sock *tp, u64 target)
{
    u64 in_flight = tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out, count;
    u64 delivered = tp->delivered - c->delivered_before, out = tp->data_segs_out - c->sent_before;
    u64 newly = tp->delivered - c->delivered_last, prior = max_of(c->prior_cwnd, 1);
    u64 safe = tp->snd_una != c->una_last && tp->lost == c->lost_last;

    c->delivered_last = tp->delivered;
    c->lost_last = tp->lost;
    c->una_last = tp->snd_una;
    if (in_flight > target)
        count = minus((target * delivered + prior - 1) / prior, out);
    else
        count = min_of(max_of(minus(delivered, out), newly) + safe, target - in_flight);
    if (!out)
        count = max_of(count, 1);
    return max_of(in_flight + count, 1);
}

#ifdef FF_TAKES_PACING

/* TCP's own pacing timer is needed, even where fq would pace. */
FF_INLINE void take_pacing(struct connection *c, struct sock *sk)
{
    if (sk->sk_pacing_status == PACING_NEEDED)
        return;
    c->took_pacing = 1;
    c->paced_before = sk->sk_pacing_status;
    sk->sk_pacing_status = PACING_NEEDED;
}

/* Who paced before does so again. Where nobody did, TCP goes on pacing after a start-up that has
 * set rates (scout, as after rapid-start), and not after one that has only used the timer (suss).
 */
FF_INLINE void give_pacing_back(struct connection *c, struct sock *sk)
{
    /* A program may have set a limit since (SO_MAX_PACING_RATE). */
    u8 limited = sk->sk_max_pacing_rate != ~0UL;
    u8 paced = c->paced_before != PACING_NONE;

#ifdef FF_SENDS_TRAINS
    if (!paced && !limited)
        return;
#endif
    if (c->took_pacing && (paced || !limited))
        sk->sk_pacing_status = c->paced_before;
    c->took_pacing = 0;
}

#endif

#ifdef FF_TAKES_PACING

/* The bytes at the head of what waits to leave for the first time, 0 if nothing does. */
FF_INLINE u32 head_of(const struct tcp_sock *tp)
{
    const struct sock *sk = (const struct sock *)tp;

    return tp->write_seq == tp->snd_nxt ? 0 : sk->sk_write_queue.next->len;
}

#endif

#ifdef FF_WAKES

FF_INLINE void let_go(struct connection *c, struct tcp_sock *tp)
{
    if (c->held && tp->snd_cwnd == c->held)
        tp->snd_cwnd = c->cwnd;
    c->held = 0;
}

/* Until start-up is woken, what may leave does so at once, and the last packet of it at a pace with
 * which TCP's pacing timer comes then. TCP asks once for all packets that leave together, so that
 * all but the last leave by themselves, a microsecond apart, with a cwnd that allows no more. The
 * gap after a packet is shorter by the time by which that was late, at most by half
 * (tcp_update_skb_after_send). Returns how many segments the next packet may have.
 */
FF_INLINE u32 wait_for_wake(struct connection *c, struct tcp_sock *tp)
{
    u32 out = tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out, room, next;
    u64 now = tp->tcp_clock_cache, wait = minus(c->sender.wake, now), gap;
    u64 mss = max_of(tp->mss_cache, 1);
    struct sock *sk = (struct sock *)tp;

    let_go(c, tp);
    take_pacing(c, sk);
    room = max_of(minus(tp->snd_cwnd, out), 1);
    next = room;
    if (tp->write_seq != tp->snd_nxt)
        next = (head_of(tp) + mss - 1) / mss;
    next = max_of(min_of(next, sk->sk_gso_max_segs), 1);
    if (next < room) {
        c->held = out + next;
        tp->snd_cwnd = c->held;
        gap = MICROSECOND;
    } else {
        next = room;
        gap = plus(wait, min_of(minus(now, tp->tcp_wstamp_ns), wait));
    }
    sk->sk_pacing_rate = max_of(min_of(rate_per(next * mss, gap), sk->sk_max_pacing_rate), 1);
    return next;
}

#endif

/* The rate that start-up has set, else the kernel's: where a control has cong_control, the kernel
 * sets none. Without fq on the device TCP paces by itself once it is asked to.
 */
FF_INLINE void write_pace(struct connection *c, struct tcp_sock *tp)
{
    struct sock *sk = (struct sock *)tp;
    u64 rate = c->sender.pace, cwnd = max_of(tp->snd_cwnd, tp->packets_out), percent;

#ifdef FF_TAKES_PACING
    if (rate != NONE)
        take_pacing(c, sk);
#ifdef FF_WAKES
    else if (c->sender.wake == NONE)
#else
    else
#endif
        give_pacing_back(c, sk);
#else
    if (rate != NONE && sk->sk_pacing_status == PACING_NONE)
        sk->sk_pacing_status = PACING_NEEDED;
#endif
    if (rate == NONE) {
        if (!tp->srtt_us)
            return;
        percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? SLOW_START_PERCENT : LATER_PERCENT;
        rate = (u64)tp->mss_cache * cwnd * percent * 80000 / tp->srtt_us;
    }
    sk->sk_pacing_rate = min_of(rate, sk->sk_max_pacing_rate);
}

#ifdef FF_SENDS_TRAINS

/* The pace of the next packet: the train's until that has left, then the round's. TCP makes each
 * packet as large as what the pace sends in a millisecond (tcp_tso_autosize), and no larger than
 * what heads its queue. The last packet of a train gets a lower pace, with which it ends where the
 * train does; the gap after it is longer by that. One that is shorter by itself needs none, and
 * with the gap of a lower pace the rest of the train would be late.
 * Returns how many segments that packet may have at least.
 */
FF_INLINE u32 pace_next(struct connection *c, struct tcp_sock *tp)
{
    struct ff_train train = startup(leaves_first)(&c->sender.startup);
    u64 left = minus(train.end, snd_nxt_of(tp, acked_by(c, tp))), mss = max_of(tp->mss_cache, 1);
    struct sock *sk = (struct sock *)tp;
    u64 rate = c->sender.pace;

    if (rate == NONE)
        return MIN_TSO_SEGS;
    if (left)
        rate = train.rate;
    if (left && head_of(tp) >= left)
        rate = min_of(rate, times(left, 1ULL << (sk->sk_pacing_shift & 31)));
    sk->sk_pacing_rate = max_of(min_of(rate, sk->sk_max_pacing_rate), 1);
    return left && left < MIN_TSO_SEGS * mss ? 1 : MIN_TSO_SEGS;
}

#endif

#endif
