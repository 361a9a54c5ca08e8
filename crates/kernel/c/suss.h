/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * SUSS (Arghavani and others, SIGCOMM 2024): slow start that jumps while the ACK train says that
 * two rounds from now it will still fit. With round r, blue = IW 2^(r-1), and n of the blue ACKs
 * seen within t before the last of them:
 *
 *   D = blue t / 2n
 *   round 2:  minrtt > 10 ms, D < minrtt/4             otherwise SUSS is off
 *   round r:  Dt = D 2^(r-2), Dp = last D 2^(r-3):  2 (Dt / 2Dp) Dt <= minrtt, r < 5
 *             (k+1) round's RTT <= (k+1) minrtt + k minrtt/8, k rounds after minrtt fell
 *   jump:     red = blue 2^(r-1) - blue, paced over minrtt - minrtt/2^(r-1)
 *             after a guard of (minrtt/2^(r-1) - D)/2; ACKs for red data do not open the window
 *   leaving:  after J jumps, blue ACKs: 2^J train > (minrtt + ack_delay)/2:
 *             cap = cwnd + n (2^J - 1), leave beyond it; RTT as in HyStart: leave at once
 *
 * On a socket that is paced it is HyStart alone.
 * It is woken when the guard is over. After a timeout it is HyStart alone.
 * crates/core/src/startup/suss.rs tells what is published and what differs.
 */
#ifndef FF_SUSS_H
#define FF_SUSS_H

#include "hystart.h"

#define SUSS_LEAST_RTT 10000000ULL
/* Window in segments below which HyStart does not look. */
#define SUSS_LOW_WINDOW 16
/* Doublings that no window survives. */
#define SUSS_MOST_SHIFT 30

/* The red part of a round; before it leaves the window is that of the blue ACKs. */
struct suss_red {
    u64 begins;
    u64 limit;
    u64 rate;
    u8 leaves;
};

struct suss {
    /* HyStart's round. */
    struct hystart round;
    /* SUSS' own: its number r, when it began, and the end of the data that was sent by then. */
    u64 number;
    u64 began;
    u64 head;
    /* The end of the blue data whose ACKs come in this round; payload acknowledged by them. */
    u64 tail;
    u64 blue;
    u64 first_window;
    u64 jumps;
    u64 last_train;
    /* The round in which the smallest RTT fell. */
    u64 fell_in;
    u64 min_rtt;
    u64 cap;
    /* What was in flight when a loss came, NONE without one. */
    u64 peak;
    struct suss_red red;
    u8 has_red;
    /* HyStart alone; the endpoint paces. */
    u8 hystart_alone;
    u8 paced;
    /* Blue ACKs still come; the ACK before was the last of them. */
    u8 has_blue;
    u8 last_blue;
    u8 may_jump;
    u8 has_cap;
};

FF_NEW_POLICY(suss)
FF_OBSERVES_NOTHING(suss)
FF_ESTIMATES_NOTHING(suss)
FF_RESTARTS_WITH_ONE(suss)
FF_TAKES_NO_HINT(suss)
FF_FIRST_WINDOW_OF_KNOBS(suss)
FF_FIRST_SSTHRESH_OF_KNOBS(suss)

FF_INLINE void suss_enter(struct suss *s, ff_knobs *k, enum entry why, const struct ff_view *v)
{
    struct suss new = {
        .number = 1,
        .tail = v->window.cwnd,
        .first_window = v->window.cwnd,
        .fell_in = 1,
        .min_rtt = NONE,
        .peak = NONE,
        .hystart_alone = why != ENTRY_CONNECT,
        .paced = s->paced,
        .may_jump = 1,
    };

    hystart_begin_round(&new.round, v);
    COPY(s, &new);
}

/* A paced socket has no SUSS (cubictcp_init). */
FF_INLINE struct ff_step suss_begin(struct suss *s, ff_knobs *k, const struct ff_view *v)
{
    if (v->paced == PACED_BY_ENDPOINT)
        s->hystart_alone = s->paced = 1;
    return hold(v->window);
}

/* The train's length, as HyStart looks at it or as SUSS does (suss_cap). */
FF_INLINE u8 suss_train_fills(struct suss *s, const struct ff_view *v)
{
    u64 half = plus(v->rtt.min, hystart_ack_delay(v)) / 2;
    u64 as_long = 1ULL << min_of(s->jumps, SUSS_MOST_SHIFT);

    if (s->hystart_alone)
        return hystart_train_exceeds(&s->round, s->paced ? times(half, 2) : half, 1, v);
    if (s->has_cap)
        return v->window.cwnd > s->cap;
    if (s->has_blue && hystart_train_exceeds(&s->round, half, as_long, v)) {
        s->cap = plus(v->window.cwnd, times(s->blue, as_long - 1));
        s->has_cap = 1;
    }
    return 0;
}

/* HyStart's look at an ACK (hystart_update); whether it leaves, and with what window. */
FF_INLINE u8 suss_looks_full(struct suss *s, ff_knobs *k, u64 rtt, const struct ff_view *v)
{
    u8 large = v->window.cwnd >= times(v->mss, SUSS_LOW_WINDOW), train;

    if (v->acked > s->round.end_seq && (large || k->suss.rounds == SUSS_ROUNDS_DATA))
        hystart_begin_round(&s->round, v);
    if (!large)
        return 0;
    train = suss_train_fills(s, v);
    return hystart_rtt_has_grown(&s->round, rtt, v->rtt.min) || train;
}

/* Whether the trains of the next two rounds will fit (suss_speedup). */
FF_INLINE u8 suss_fits(struct suss *s, ff_knobs *k, u64 train, const struct ff_view *v)
{
    u64 min = v->rtt.min, shift, grown, since, allowed;

    if (s->number <= 2) {
        s->hystart_alone = !(min > SUSS_LEAST_RTT && train < min / 4);
        return !s->hystart_alone;
    }
    shift = min_of(s->number - 2, SUSS_MOST_SHIFT);
    grown = times(train, 1ULL << shift);
    since = minus(s->number, s->fell_in);
    allowed = plus(times(min, since + 1), mul_div(min, since, 8));
    return mul_div(grown, grown, times(s->last_train, 1ULL << (shift - 1))) <= min &&
           s->number < k->suss.max + 2 && times(s->round.curr_rtt, since + 1) <= allowed;
}

/* The last blue ACK of the round: decides on a jump. */
FF_APART void suss_end_blue(struct suss *s, ff_knobs *k, const struct ff_ack *ack,
                            const struct ff_view *v)
{
    u64 shift = min_of(s->number - 1, SUSS_MOST_SHIFT);
    u64 blue = times(s->first_window, 1ULL << shift), seen = s->has_blue ? s->blue : 0;
    u64 train = mul_div(minus(v->now, s->began), blue, times(seen, 2));
    u64 spent = v->rtt.min >> shift, red, red_acks;

    s->last_blue = 1;
    s->tail = plus(s->head, blue);
    /* An ACK for all of it says nothing of its length. */
    s->may_jump = s->may_jump && seen > 0 && suss_fits(s, k, train, v);
    if (!s->may_jump)
        return;
    s->last_train = train;
    if (spent <= train)
        return;
    s->jumps++;
    red = minus(times(blue, 1ULL << shift), blue);
    /* The red ACKs still to come in this round will not open the window. */
    red_acks = minus(times(blue / 2, 1ULL << minus(shift, 1)), blue / 2);
    s->has_red = 1;
    s->red.leaves = 0;
    s->red.begins = plus(v->now, (spent - train) / 2);
    s->red.limit = minus(plus(plus(v->window.cwnd, ack->acked), red), red_acks);
    s->red.rate = max_of(rate_per(red, minus(v->rtt.min, spent)), 1);
}

/* Counts an ACK to its part of the round (suss_measurements). */
FF_INLINE void suss_measure(struct suss *s, ff_knobs *k, const struct ff_ack *ack,
                            const struct ff_view *v)
{
    if (v->rtt.min < s->min_rtt) {
        s->min_rtt = v->rtt.min;
        s->fell_in = s->number;
    }
    if (s->last_blue)
        s->has_blue = 0;
    s->last_blue = 0;
    if (v->acked > s->head) {
        s->has_blue = 1;
        s->blue = 0;
        s->number = plus(s->number, 1);
        s->began = v->now;
        s->head = v->snd_nxt;
        s->has_red = 0;
    }
    if (v->acked >= s->tail)
        suss_end_blue(s, k, ack, v);
    if (s->has_blue)
        s->blue = plus(s->blue, ack->acked);
}

/* The window of what has really left. */
FF_INLINE u64 suss_sent(const struct ff_ack *ack, const struct ff_view *v)
{
    return min_of(plus(plus(ack->in_flight, ack->acked), times(v->mss, 2)), v->window.cwnd);
}

FF_INLINE struct ff_step suss_leave(struct suss *s, const struct ff_ack *ack,
                                    const struct ff_view *v)
{
    u64 flight = max_of(ack->in_flight, times(v->mss, 2));
    struct ff_step step = hold(v->window);

    if (!s->hystart_alone && s->jumps > 1)
        step.window.cwnd = min_of(flight, v->window.cwnd);
    else if (s->has_red && s->red.leaves)
        step.window.cwnd = suss_sent(ack, v);
    step.window.ssthresh = step.window.cwnd;
    step.exit = 1;
    s->hystart_alone = 1;
    return step;
}

FF_INLINE struct ff_step suss_step(struct suss *s, ff_knobs *k, const struct ff_ack *ack,
                                   const struct ff_view *v)
{
    u8 was_red = s->has_red && s->red.leaves;
    struct ff_window window = v->window;
    struct ff_step step = hold(window);

    if (window.cwnd >= window.ssthresh)
        return until_threshold(step);
    if (ack->rtt != NONE && suss_looks_full(s, k, ack->rtt, v))
        return suss_leave(s, ack, v);
    if (s->hystart_alone) {
        step.window.cwnd = min_of(plus(window.cwnd, ack->acked), window.ssthresh);
        return until_threshold(step);
    }
    if (!s->has_cap)
        suss_measure(s, k, ack, v);
    if (!s->has_red && was_red)
        window.cwnd = suss_sent(ack, v);
    /* A red ACK opens nothing. */
    if (!s->has_red || s->has_blue)
        step.window.cwnd = plus(window.cwnd, ack->acked);
    if (s->has_red && s->red.leaves)
        step.pace = s->red.rate;
    else if (s->has_red)
        step.wake = s->red.begins;
    return until_threshold(step);
}

FF_INLINE struct ff_step suss_on_wake(struct suss *s, ff_knobs *k, const struct ff_view *v)
{
    struct ff_step step = hold(v->window);

    step.keeps_pace = 1;
    if (!s->has_red || s->red.leaves || s->red.begins > v->now)
        return step;
    step.keeps_pace = 0;
    s->red.leaves = 1;
    step.window.cwnd = max_of(s->red.limit, v->window.cwnd);
    step.pace = s->red.rate;
    return step;
}

FF_INLINE struct ff_answer suss_answer(struct suss *s, ff_knobs *k, const struct ff_loss *loss,
                                       const struct ff_view *v)
{
    struct ff_answer answer = { .window = v->window, .kind = ANSWER_LEAVE };
    u64 flight = max_of(v->in_flight, times(v->mss, 2));
    u8 active = !s->hystart_alone;

    s->hystart_alone = 1;
    s->has_red = 0;
    if (!active || plus(flight, times(v->mss, 2)) >= v->window.cwnd)
        return answer;
    s->peak = flight;
    answer.kind = ANSWER_LAND;
    answer.window.cwnd = mul_div(flight, v->beta, RATIO_ONE);
    answer.window.ssthresh = answer.window.cwnd;
    return answer;
}

FF_INLINE void suss_on_further_loss(struct suss *s, const struct ff_loss *loss) {}

FF_INLINE struct ff_step suss_recovering(struct suss *s, const struct ff_ack *ack,
                                         const struct ff_view *v)
{
    return hold(v->window);
}

FF_INLINE u64 suss_peak(const struct suss *s, const struct ff_view *v) { return s->peak; }

#endif
