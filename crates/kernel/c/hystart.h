/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * HyStart (Ha and Rhee, 2008), in the form Linux' CUBIC has it: slow start that ends when the ACK
 * train of a round is as long as half of the path without a queue, or when the RTT has grown,
 *
 *   ACK train: the ACK comes at most 2 ms after the last of the train:
 *              now - round_start > (delay_min + ack_delay) / 2   leave
 *   delay:     after 8 samples, the smallest RTT of the round
 *              > delay_min + clamp(delay_min / 8, 4 ms, 16 ms)   leave
 *   leaving:   ssthresh = cwnd
 *
 * Until then the window grows by what is acknowledged and stops at ssthresh.
 */
#ifndef FF_HYSTART_H
#define FF_HYSTART_H

#include "view.h"

#define TRAIN_GAP 2000000ULL
#define MIN_SAMPLES 8
#define MIN_INCREASE 4000000ULL
#define MAX_INCREASE 16000000ULL
#define MAX_ACK_DELAY 1000000ULL
/* Four blocks of 64 KiB; Linux' pacing rates, in millionths of a window per RTT. */
#define BLOCKS (4ULL * 65536)
#define SLOW_START_GAIN 2000000ULL
#define LATER_GAIN 1200000ULL

struct hystart {
    u64 round_start;
    /* The round is over when more than this is acknowledged. */
    u64 end_seq;
    u64 last_ack;
    u64 curr_rtt;
    /* The smallest RTT of data. */
    u64 delay_min;
    u8 sample_cnt;
    u8 found;
};

FF_NEW_POLICY(hystart)
FF_OBSERVES_NO_HANDSHAKE(hystart)
FF_OBSERVES_NO_BEGIN(hystart)
FF_ESTIMATES_NOTHING(hystart)
FF_RESTARTS_WITH_ONE(hystart)
FF_FIRST_WINDOW_OF_KNOBS(hystart)
FF_FIRST_SSTHRESH_OF_KNOBS(hystart)

FF_INLINE void hystart_begin_round(struct hystart *h, const struct ff_view *v)
{
    h->round_start = v->now;
    h->end_seq = v->snd_nxt;
    h->last_ack = v->now;
    h->curr_rtt = NONE;
    h->sample_cnt = 0;
}

/* Linux' cushion for ACKs of large blocks. */
FF_INLINE u64 hystart_ack_delay(const struct ff_view *v)
{
    u64 early = v->window.cwnd < v->window.ssthresh / 2, srtt = v->rtt.smoothed;
    u64 rate = srtt == 0 ? U64_MAX : mul_div(v->window.cwnd, NANOS_PER_SECOND, srtt);

    rate = mul_div(rate, early ? SLOW_START_GAIN : LATER_GAIN, RATIO_ONE);
    return rate == 0 ? 0 : min_of(mul_div(NANOS_PER_SECOND, BLOCKS, rate), MAX_ACK_DELAY);
}

/* Whether the ACK train, so many times as long as it is, takes longer than that. */
FF_INLINE u8 hystart_train_exceeds(struct hystart *h, u64 limit, u64 as_long,
                                   const struct ff_view *v)
{
    if (minus(v->now, h->last_ack) > TRAIN_GAP)
        return 0;
    h->last_ack = v->now;
    return times(minus(v->now, h->round_start), as_long) > limit;
}

FF_INLINE u64 hystart_delay_min(const struct hystart *h, ff_knobs *k, const struct ff_view *v)
{
    return k->hystart.delay_min == HYSTART_DELAY_MIN_DATA ? h->delay_min : v->rtt.min;
}

FF_INLINE u8 hystart_train_is_long(struct hystart *h, ff_knobs *k, const struct ff_view *v)
{
    u64 limit = plus(hystart_delay_min(h, k, v), hystart_ack_delay(v));
    u64 whole = k->hystart.train == HYSTART_TRAIN_WHOLE;

    if (k->hystart.train == HYSTART_TRAIN_AUTO)
        whole = v->paced != PACED_NO;

    return hystart_train_exceeds(h, whole ? limit : limit / 2, 1, v);
}

FF_INLINE u8 hystart_rtt_has_grown(struct hystart *h, u64 rtt, u64 delay_min)
{
    u64 increase = min_of(max_of(delay_min / 8, MIN_INCREASE), MAX_INCREASE);

    h->curr_rtt = min_of(h->curr_rtt, rtt);
    if (h->sample_cnt < MIN_SAMPLES) {
        h->sample_cnt++;
        return 0;
    }
    return h->curr_rtt > plus(delay_min, increase);
}

FF_INLINE void hystart_on_ack(struct hystart *h, ff_knobs *k, const struct ff_ack *ack,
                              const struct ff_view *v)
{
    u8 train = 0, delay = 0;

    if (h->found || v->phase != STARTUP || v->window.cwnd >= v->window.ssthresh)
        return;
    if (ack->acked == 0 || ack->rtt == NONE)
        return;
    h->delay_min = min_of(h->delay_min, ack->rtt);
    if (v->acked > h->end_seq)
        hystart_begin_round(h, v);
    if (v->window.cwnd < times(v->mss, k->hystart.low_window))
        return;
    if (k->hystart.detect != HYSTART_DETECT_DELAY)
        train = hystart_train_is_long(h, k, v);
    if (k->hystart.detect != HYSTART_DETECT_TRAIN)
        delay = hystart_rtt_has_grown(h, ack->rtt, hystart_delay_min(h, k, v));
    h->found = train || delay;
}

FF_INLINE void hystart_enter(struct hystart *h, ff_knobs *k, enum entry why,
                             const struct ff_view *v)
{
    if (why == ENTRY_CONNECT || why == ENTRY_TIMEOUT)
        h->delay_min = NONE;
    hystart_begin_round(h, v);
    h->found = 0;
}

FF_INLINE struct ff_step hystart_step(struct hystart *h, ff_knobs *k, const struct ff_ack *ack,
                                      const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    if (h->found) {
        step.window.ssthresh = v->window.cwnd;
        step.exit = 1;
        return step;
    }
    if (v->window.cwnd < v->window.ssthresh)
        step.window.cwnd = min_of(plus(v->window.cwnd, ack->acked), v->window.ssthresh);
    return until_threshold(step);
}

#endif
