/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * CUBIC (RFC 9438): the window follows `W(t) = C (t - K)^3 + W_max` of the time since the last cut,
 * each ACK moving cwnd toward the curve one RTT ahead, and is never below what Reno with the same
 * average would have. With the preset ns2, CUBIC 2.1 as Linux 2.6.22 and ns-2.35 have it, with
 * linux that of Linux 6.1: crates/core/src/avoidance/cubic.rs tells the differences.
 *
 * Time in 2^-16 s, the curve in bytes.
 */
#ifndef FF_CUBIC_H
#define FF_CUBIC_H

#include "view.h"
#include "wide.h"

#define FRACTION 16
/* 2^16 per second, over 10^9, in 2^-64. */
#define TICKS_PER_NANO 1208925819614629ULL
/* 1024 s in ticks: no curve is followed for longer. */
#define LONGEST_CURVE (1ULL << 26)
#define MILLISECOND 1000000ULL
#define BLIND_COUNT 20
/* Of CUBIC 2.1: cnt without a loss to go by, two packets in sixteenths, HZ / 32. */
#define BLIND_ACKS 50
#define RATIO_SHIFT 4
#define FIRST_RATIO 32
#define STALE_MS 31

enum stage { STAGE_UNKNOWN, STAGE_CUT, STAGE_RUNNING, STAGE_RUNNING_AFTER_CUT };

struct cubic {
    u64 w_max;
    u64 cwnd_prior;
    /* The curve: W_max or the window it began from, K, and C times the MSS. */
    u64 curve_origin;
    u64 curve_k;
    u64 curve_scale;
    u64 t_epoch;
    u64 last;
    /* The Reno estimate, in 2^-16 bytes. */
    u64 w_est;
    u64 remainder;
    /* What CUBIC 2.1 has instead of the two before, in packets: cnt, ack_cnt, tcp_cwnd, last_cwnd,
     * last_time in ms, snd_cwnd_cnt, delayed_ack.
     */
    u64 count;
    u64 acks;
    u64 reno;
    u64 of_cwnd;
    u64 of_ms;
    u32 waited;
    u32 ratio;
    u32 stage;
    u32 rested;
};

FF_NEW_POLICY(cubic)
FF_OBSERVES_NOTHING(cubic)
FF_NEVER_REPROBES(cubic)

FF_INLINE u64 cubic_beta(ff_knobs *k) { return k->cubic.beta; }

/* Start-up knows the largest window that the path has room for. */
FF_INLINE void cubic_take_peak(struct cubic *c, u64 peak)
{
    if (peak == NONE)
        return;
    c->stage = STAGE_CUT;
    c->w_max = peak;
    c->cwnd_prior = peak;
}

/* Start-up knows what the path holds without a queue, 0 if it does not: the curve turns there if
 * the window is smaller and no loss said more.
 */
#define FF_TAKES_PIPE
FF_INLINE void cubic_take_pipe(struct cubic *c, u64 pipe, const struct ff_view *v)
{
    if (pipe > v->window.cwnd && c->stage != STAGE_CUT)
        cubic_take_peak(c, pipe);
}

/* The largest whole number whose cube is not above `high 2^64 + low`, which is under 2^78. `root`
 * is zero: as an argument, so that the verifier does not know it and follow every way to build it.
 */
FF_SUBPROGRAM u64 cube_root(u64 high, u64 low, u64 root)
{
    struct wide cube = { high, low };

    for (u32 i = 0; i < 26; i++) {
        u64 next = root | 1ULL << (25 - i);

        if (!wide_less(cube, wide_product(next * next, next)))
            root = next;
    }
    return root;
}

/* CUBIC 2.1, as ns-2 has it. */
FF_INLINE u8 is_21(ff_knobs *k) { return k->cubic.preset == CUBIC_PRESET_NS2; }

/* `bictcp_update` of Linux 6.1. */
FF_INLINE u8 is_linux(ff_knobs *k) { return k->cubic.preset == CUBIC_PRESET_LINUX; }

FF_INLINE void curve_begin(struct cubic *c, ff_knobs *k, u64 cwnd, u64 origin, u64 mss)
{
    u64 scale = mul_div(mss, k->cubic.c << FRACTION, RATIO_ONE), way = minus(origin, cwnd);
    struct wide cube;

    scale = min_of(max_of(scale, 1), 1ULL << 48);
    cube.high = way / scale;
    cube.low = divide_wide(way % scale, 0, scale);
    c->curve_origin = origin;
    c->curve_k = cube.high >> 14 ? LONGEST_CURVE : cube_root(cube.high, cube.low, 0);
    c->curve_scale = scale;
}

FF_INLINE u64 curve_ticks(u64 t) { return min_of(high_half(t, TICKS_PER_NANO), 2 * LONGEST_CURVE); }

/* The window after `t`. */
FF_INLINE u64 curve_at(const struct cubic *c, u64 t)
{
    u64 ticks = curve_ticks(t), offset = min_of(distance(ticks, c->curve_k), LONGEST_CURVE);
    struct wide cube = wide_product(offset * offset, offset);
    u64 change = cube.high * c->curve_scale + high_half(cube.low, c->curve_scale);

    return ticks < c->curve_k ? minus(c->curve_origin, change) : plus(c->curve_origin, change);
}

/* Starts the curve from the window as it is. */
FF_INLINE void cubic_begin(struct cubic *c, ff_knobs *k, const struct ff_view *v)
{
    u64 cwnd = v->window.cwnd, cut = c->stage == STAGE_CUT;

    if (!cut)
        c->cwnd_prior = cwnd;
    curve_begin(c, k, cwnd, cut ? max_of(c->w_max, cwnd) : cwnd, v->mss);
    c->stage = cut ? STAGE_RUNNING_AFTER_CUT : STAGE_RUNNING;
    c->t_epoch = v->now;
    c->last = v->now;
    c->w_est = times(cwnd, 1 << FRACTION);
    c->acks = 0;
    c->reno = max_of(cwnd / max_of(v->mss, 1), 1);
    if (!cut || !is_linux(k))
        c->remainder = 0;
}

/* Zero without a sample. */
FF_INLINE u64 smallest_rtt(const struct ff_view *v)
{
    return v->rtt.min == NONE ? 0 : v->rtt.min;
}

/* What Linux adds for an ACK: a packet for every `cnt` acknowledged. */
FF_INLINE u64 cubic_linux_growth(struct cubic *c, ff_knobs *k, u64 acked, u64 t,
                                 const struct ff_view *v)
{
    u64 mss = max_of(v->mss, 1), cwnd = max_of(v->window.cwnd / mss, 1), count, missing;
    u64 at = curve_at(c, plus(t, smallest_rtt(v))), product = plus(acked, c->remainder);
    u64 target = minus(plus(c->curve_origin / mss, minus(at, c->curve_origin) / mss),
                       minus(c->curve_origin, at) / mss);

    if (k->cubic.friendly == CUBIC_FRIENDLY_ON)
        target = max_of(target, (c->w_est >> FRACTION) / mss);
    missing = minus(target, cwnd);
    count = missing ? cwnd / missing : times(cwnd, 100);
    if (c->w_max == 0)
        count = min_of(count, BLIND_COUNT);
    count = max_of(count, 2);
    c->remainder = product % count;
    return product / count;
}

/* For how many eighths of a window of packets Linux's Reno estimate grows by one: 15 with its own
 * beta, 23 with that of CUBIC 2.1.
 */
FF_INLINE u64 cubic_reno_eighths(u64 beta)
{
    return max_of(8 * (RATIO_ONE + beta) / (3 * (RATIO_ONE - beta)), 1);
}

/* cnt of CUBIC 2.1: crates/core/src/avoidance/cubic/version21.rs. */
FF_INLINE u64 cubic_count_21(struct cubic *c, ff_knobs *k, u64 cwnd, u64 t,
                             const struct ff_view *v)
{
    u64 mss = max_of(v->mss, 1), rtt = smallest_rtt(v), at, target, missing, count, most, every, n;

    t = plus(t, rtt);
    at = curve_at(c, t);
    target = plus(c->curve_origin / mss, minus(at, c->curve_origin) / mss);
    missing = minus(minus(target, minus(c->curve_origin, at) / mss), cwnd);
    count = missing ? cwnd / missing : times(cwnd, 100);
    most = times(k->cubic.max_increment, rtt / MILLISECOND);
    if (most && curve_ticks(t) >= c->curve_k)
        count = max_of(count, times(cwnd, 100) / most);
    if (c->stage == STAGE_RUNNING)
        count = BLIND_ACKS;
    every = max_of(times(cwnd, cubic_reno_eighths(k->cubic.beta)) / 8, 1);
    n = minus(c->acks, 1) / every;
    c->acks -= n * every;
    c->reno = plus(c->reno, n);
    n = minus(c->reno, cwnd);
    if (n && k->cubic.friendly == CUBIC_FRIENDLY_ON)
        count = min_of(count, cwnd / n);
    return max_of((count << RATIO_SHIFT) / max_of(c->ratio, 1), 1);
}

/* What CUBIC 2.1 adds for an ACK: a packet after so many of them and one more. */
FF_INLINE u64 cubic_growth_21(struct cubic *c, ff_knobs *k, u64 acked, u64 t,
                              const struct ff_view *v)
{
    u64 mss = max_of(v->mss, 1), cwnd = max_of(v->window.cwnd / mss, 1), now = v->now / MILLISECOND;

    if (!c->ratio)
        c->ratio = FIRST_RATIO;
    c->ratio += min_of(acked / mss + (acked % mss != 0), 2) - (c->ratio >> RATIO_SHIFT);
    c->acks = plus(c->acks, 1);
    if (c->of_cwnd != cwnd || minus(now, c->of_ms) > STALE_MS) {
        c->of_cwnd = cwnd;
        c->of_ms = now;
        c->count = cubic_count_21(c, k, cwnd, t, v);
    }
    if (c->waited >= c->count) {
        c->waited = 0;
        return v->mss;
    }
    c->waited += 1;
    return 0;
}

/* What cwnd is moved toward within a window of ACKs. */
FF_INLINE u64 cubic_target(const struct cubic *c, u64 t, const struct ff_view *v)
{
    u64 cwnd = v->window.cwnd, at = curve_at(c, plus(t, v->rtt.smoothed));

    return min_of(max_of(at, cwnd), plus(cwnd, cwnd / 2));
}

/* Linux's, in whole packets. */
FF_INLINE u64 cubic_linux_reno(struct cubic *c, u64 beta, u64 acked, const struct ff_view *v)
{
    u64 eighths = cubic_reno_eighths(beta);
    u64 packets = max_of(times(v->window.cwnd / max_of(v->mss, 1), eighths) / 8, 1);

    c->w_est = plus(c->w_est, times(acked, 1 << FRACTION) / packets);
    return c->w_est >> FRACTION;
}

/* The Reno estimate after an ACK for `acked`. */
FF_INLINE u64 cubic_reno(struct cubic *c, ff_knobs *k, u64 acked, const struct ff_view *v)
{
    u64 passed = c->w_est >> FRACTION >= c->cwnd_prior, alpha = 1 << FRACTION;

    if (is_linux(k))
        return cubic_linux_reno(c, k->cubic.beta, acked, v);
    if (!passed)
        alpha = ((3 * (RATIO_ONE - k->cubic.beta)) << FRACTION) / (RATIO_ONE + k->cubic.beta);
    alpha = times(times(acked, v->mss), alpha) / max_of(v->window.cwnd, 1);
    c->w_est = plus(c->w_est, alpha);
    return c->w_est >> FRACTION;
}

/* RFC 9438 section 5.8: time in which the source limits does not count; up to the last ACK it has
 * been left out if that was application-limited, and counts if not. Linux leaves out rests from the
 * last packet on, CUBIC 2.1 nothing.
 */
#define FF_RESTS
FF_INLINE void cubic_on_rest(struct cubic *c, ff_knobs *k, u64 idle, const struct ff_view *v)
{
    c->rested = c->stage >= STAGE_RUNNING;
    if (is_21(k))
        idle = 0;
    else if (!is_linux(k))
        idle = min_of(idle, minus(v->now, c->last));
    c->t_epoch = min_of(plus(c->t_epoch, idle), v->now);
    c->last = v->now;
}

FF_INLINE void cubic_enter(struct cubic *c, const struct ff_view *v)
{
    if (c->stage == STAGE_CUT)
        return;
    if (!c->rested)
        c->stage = STAGE_UNKNOWN;
    c->rested = 0;
}

FF_INLINE struct ff_step cubic_step(struct cubic *c, ff_knobs *k, const struct ff_ack *ack,
                                    const struct ff_view *v)
{
    u64 cwnd = v->window.cwnd, acked = min_of(ack->acked, cwnd), t, estimate, ahead, product;
    u8 friendly = k->cubic.friendly == CUBIC_FRIENDLY_ON;

    /* CUBIC 2.1 is still in slow start at ssthresh. */
    if (cwnd < v->window.ssthresh || (is_21(k) && cwnd == v->window.ssthresh))
        return grow(v->window, slow_start_growth(ack, v->mss, v->window));
    if (c->stage < STAGE_RUNNING)
        cubic_begin(c, k, v);
    if (ack->app_limited) {
        /* RFC 9438 section 5.8. */
        if (!is_21(k) && !is_linux(k))
            c->t_epoch = plus(c->t_epoch, minus(v->now, c->last));
        c->last = v->now;
        return hold(v->window);
    }
    c->last = v->now;
    t = minus(v->now, c->t_epoch);
    if (is_21(k))
        return grow(v->window, cubic_growth_21(c, k, ack->acked, t, v));
    estimate = cubic_reno(c, k, acked, v);
    if (is_linux(k))
        return grow(v->window, cubic_linux_growth(c, k, acked, t, v));
    ahead = friendly ? minus(estimate, cwnd) : 0;
    if (friendly && curve_at(c, t) < estimate)
        return grow(v->window, ahead);
    product = plus(times(acked, minus(cubic_target(c, t, v), cwnd)), c->remainder);
    c->remainder = product % max_of(cwnd, 1);
    return grow(v->window, max_of(product / max_of(cwnd, 1), ahead));
}

FF_INLINE struct ff_window cubic_cut(struct cubic *c, ff_knobs *k, const struct ff_loss *loss,
                                     const struct ff_view *v)
{
    u64 part = is_linux(k) || is_21(k) ? max_of(v->mss, 1) : 1, beta = k->cubic.beta;
    u64 leaves = v->phase == STARTUP ? k->cubic.startup_beta : beta;
    u64 cwnd = v->window.cwnd - v->window.cwnd % part, timeout = loss->kind == LOSS_TIMEOUT;
    u64 left = mul_div(loss->flight - loss->flight % part, leaves, RATIO_ONE);
    struct ff_window cut;

    /* Linux's windows are whole packets. */
    left -= left % part;

    /* A segment that times out twice is not a second sign (RFC 5681 section 3.1). */
    cut.cwnd = timeout && loss->answered ? v->window.ssthresh : left;
    cut.ssthresh = cut.cwnd;
    if (timeout) {
        c->stage = STAGE_UNKNOWN;
        c->w_max = 0;
    } else {
        u64 falls = k->cubic.fast_convergence == CUBIC_FAST_CONVERGENCE_ON && cwnd < c->w_max;

        c->w_max = falls ? mul_div(cwnd, RATIO_ONE + beta, 2 * RATIO_ONE) : cwnd;
        c->stage = STAGE_CUT;
        /* The ACK that ends the recovery counts with the next, as in Linux. */
        c->remainder = v->mss;
    }
    c->cwnd_prior = cwnd;
    c->waited = 0;
    if (timeout) {
        c->ratio = 0;
        c->count = 0;
        c->acks = 0;
        c->reno = 0;
        c->of_cwnd = 0;
        c->of_ms = 0;
    }
    return cut;
}

#endif
