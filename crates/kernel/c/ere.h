/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Eligible Rate Estimate (Wang, Valla, Sanadidi, Ng and Gerla, Globecom 2002), as
 * crates/core/src/estimate/ere.rs has it, where the open questions are answered:
 *
 *   RE  = eps RE + (1 - eps) r,  r = what arrived in the last srtt / srtt
 *   Tk  = srtt (cwnd/RTTmin - RE) / (cwnd/RTTmin), at least tmin
 *   s   = what arrived in the last Tk / Tk;  one ACK over dt where Tk <= dt
 *   U   = 0.6 U + 0.4 |s - s'|;  tau = srtt (1 + N U/Umax)
 *   ERE = a ERE + (1 - a) (s + s')/2,  a = (2 tau - dt) / (2 tau + dt)
 *
 * Samples in 2^-32 bytes per ns, RE and ERE in 2^-48.
 */
#ifndef FF_ERE_H
#define FF_ERE_H

#include "ack_history.h"
#include "view.h"

/* ACKs closer than this, in ns, are one sample; longest RTT and gap told apart; fastest rate told
 * apart, 4096 bytes per ns; time constants of silence after which nothing is left.
 */
#define CLOSEST 100
#define LONGEST (1ULL << 40)
#define FASTEST ((1ULL << 44) - 1)
#define FORGOTTEN 64
#define MOST_NULLS (8 * FORGOTTEN)

/* Weight of the old value in U, in millionths; 1 - 19/21 in 2^-32, of the first ns-2 module. */
#define U_EPS 600000ULL
#define CONSTANT_WEIGHT ((2ULL << 32) / 21)
#define MOST_PACKETS 63

#define UMAX_VALUES 10
#define HALF_A_BYTE_PER_SECOND ((1ULL << 47) / NANOS_PER_SECOND)

/* U, the largest of its last values as a ring, and the largest ever. */
struct instability {
    u64 values[UMAX_VALUES];
    u64 largest;
    u64 peak;
    u32 newest;
};

struct ere {
    struct ack_history history;
    struct instability instability;
    u64 at;
    u64 achieved_at;
    u64 achieved;
    u64 sample;
    u64 estimate;
    u32 pending;
    u32 started;
};

/* `eps * old + (1 - eps) * new`. */
FF_INLINE u64 blend(u64 new, u64 old, u64 eps)
{
    u64 kept = eps * (U64_MAX / RATIO_ONE);

    return high_half(old, kept) + high_half(new, U64_MAX - kept);
}

/* The estimate in bytes per second, rounded, and what the unrounded one moves in `span`. */
FF_INLINE u64 ere_rate(const struct ere *e)
{
    return high_half(e->estimate + HALF_A_BYTE_PER_SECOND, NANOS_PER_SECOND << 16);
}

FF_INLINE u64 ere_over(const struct ere *e, u64 span)
{
    return high_half(e->estimate << 4, min_of(span, (1ULL << 52) - 1) << 12);
}

/* RE. */
FF_INLINE void ere_achieve(struct ere *e, ere_knobs *k, u64 now, u64 srtt)
{
    u64 bytes, achieved;

    if (k->re_update == ERE_RE_UPDATE_RTT && e->started && now - e->achieved_at < srtt)
        return;
    e->achieved_at = now;
    bytes = history_within(&e->history, srtt);
    achieved = min_of(high_half(bytes << 32, U64_MAX / srtt), FASTEST);
    e->achieved = blend(achieved << 16, e->achieved, k->eps);
}

/* Tk. */
FF_INLINE u64 ere_interval(const struct ere *e, ere_knobs *k, u64 srtt, const struct ff_view *v)
{
    u64 cwnd = max_of(v->window.cwnd, 1), tmin = min_of(k->tmin, srtt);
    u64 rtt_min = min_of(in_ticks(v->rtt.min, k->tick), LONGEST);
    u64 arrived = high_half(e->achieved << 4, rtt_min << 12);

    if (arrived >= cwnd)
        return tmin;
    return max_of(high_half(srtt, (cwnd - arrived) * (U64_MAX / cwnd)), tmin);
}

/* U/Umax in 2^-64, zero while nothing has changed. */
FF_INLINE u64 instability_observe(struct instability *u, u64 change, u64 window)
{
    u32 newest = u->newest < UMAX_VALUES ? u->newest : 0;
    u64 last = u->values[newest], oldest, others, value;

    newest = newest + 1 < window && newest + 1 < UMAX_VALUES ? newest + 1 : 0;
    u->newest = newest;
    oldest = u->values[newest];
    u->values[newest] = 0;
    if (oldest == u->largest) {
        u64 largest = 0;

        for (u32 i = 0; i < UMAX_VALUES; i++)
            largest = max_of(largest, u->values[i]);
        u->largest = largest;
    }
    others = window == 0 ? u->peak : u->largest;
    value = blend(change, last, U_EPS);
    u->values[newest] = value;
    u->largest = max_of(u->largest, value);
    u->peak = max_of(u->peak, value);
    if (value >= others)
        return value > 0 ? U64_MAX : 0;
    return value * (U64_MAX / max_of(others, 1));
}

/* 1 - (19/21)^packets, in 2^-32. */
FF_INLINE u64 weight_of(u64 packets)
{
    u64 kept = 1ULL << 32, power = (1ULL << 32) - CONSTANT_WEIGHT;

    packets = min_of(max_of(packets, 1), MOST_PACKETS);
    for (u32 bit = 0; bit < 6; bit++) {
        if (packets >> bit & 1)
            kept = kept * power >> 32;
        power = power * power >> 32;
    }
    return (1ULL << 32) - kept;
}

/* 1 - a, in 2^-32, of a sample that tells of so many packets. Over more than 2 tau it would exceed
 * one.
 */
FF_INLINE u64 ere_weight(ere_knobs *k, u64 dt, u64 tau, u64 packets)
{
    if (k->filter == ERE_FILTER_CONST)
        return CONSTANT_WEIGHT;
    if (k->filter == ERE_FILTER_PACKETS)
        return weight_of(packets);
    return min_of(mul_div(2 * dt, 1ULL << 32, 2 * tau + dt), U32_MAX);
}

/* One step of the filter toward `target`. */
FF_INLINE u64 toward(u64 estimate, u64 target, u64 weight)
{
    u64 change = high_half(distance(target, estimate), weight << 32);

    return target > estimate ? estimate + change : estimate - change;
}

/* The estimate after so many samples of zero, the sample before the first of which is `sample`. */
FF_SUBPROGRAM u64 ere_decay(u64 estimate, u64 sample, u64 weight, u64 nulls)
{
    for (u64 i = 0; i < MOST_NULLS; i++) {
        if (i >= nulls)
            break;
        estimate = toward(estimate, i == 0 ? sample << 15 : 0, weight);
    }
    return estimate;
}

/* Samples of zero for the silence in `dt`; returns what remains of it. */
FF_INLINE u64 ere_nulls(struct ere *e, ere_knobs *k, u64 dt, u64 tau)
{
    u64 m = k->null_m, slice, nulls, sample;

    if (m == 0 || dt * m <= tau)
        return dt;
    slice = max_of(tau / m, 1);
    nulls = (dt - 1) / slice;
    if (nulls > m * FORGOTTEN) {
        e->estimate = 0;
        e->sample = 0;
    } else if (nulls > 0) {
        sample = k->filter == ERE_FILTER_PLAIN ? 0 : e->sample;
        e->estimate = ere_decay(e->estimate, sample, ere_weight(k, slice, tau, 1), nulls);
        e->sample = 0;
    }
    return dt - nulls * slice;
}

FF_INLINE u64 rate_of(u64 bytes, u64 span)
{
    return min_of((bytes << 32) / max_of(span, 1), FASTEST);
}

FF_INLINE void ere_sample(struct ere *e, ere_knobs *k, u32 credit, u64 dt, u64 srtt,
                          const struct ff_view *v)
{
    u64 interval = ere_interval(e, k, srtt, v), tau = srtt, sample, target;

    if (interval <= dt)
        sample = rate_of(credit, dt);
    else
        sample = rate_of(history_within(&e->history, interval), interval);
    if (k->n > 0) {
        u64 change = distance(sample, e->sample);
        u64 ratio = instability_observe(&e->instability, change, k->umax_window);

        tau += high_half(srtt * k->n, ratio);
    }
    dt = ere_nulls(e, k, dt, tau);
    target = k->filter == ERE_FILTER_PLAIN ? sample << 16 : (sample + e->sample) << 15;
    e->estimate = toward(e->estimate, target, ere_weight(k, dt, tau, credit / max_of(v->mss, 1)));
    e->sample = sample;
}

/* Takes an ACK in. It must see every one of the connection once. */
FF_INLINE void ere_on_ack(struct ere *e, ere_knobs *k, const struct ff_ack *ack,
                          const struct ff_view *v)
{
    u64 srtt = min_of(v->rtt.smoothed, LONGEST), now = max_of(ack->now, e->at), dt;
    u32 credit = min_of(ack->credited, U32_MAX);

    if (ack->credited == 0 || srtt == 0)
        return;
    history_push(&e->history, now, credit, srtt);
    dt = now - e->at;
    if (e->started && dt < CLOSEST) {
        e->pending = e->pending + credit < credit ? U32_MAX : e->pending + credit;
        return;
    }
    ere_achieve(e, k, now, srtt);
    e->at = now;
    if (!e->started) {
        e->started = 1;
        return;
    }
    credit = e->pending + credit < credit ? U32_MAX : e->pending + credit;
    e->pending = 0;
    ere_sample(e, k, credit, min_of(dt, LONGEST), srtt, v);
}

#endif
