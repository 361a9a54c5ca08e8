/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What a transport reports, what policies may read, and what they decide: event.rs, view.rs and
 * policy.rs of crates/core, less what no control in the kernel uses. The knobs (knobs.h) are
 * written by crates/kernel/build.rs from the policies' cards: k->astart.ere.n is astart(ere.N=...).
 */
#ifndef FF_VIEW_H
#define FF_VIEW_H

#include "knobs.h"
#include "units.h"

/* Volatile, because the loader writes what the compiler sees as constant. */
typedef const volatile struct ere_knob_values ere_knobs;
typedef const volatile struct ff_knob_values ff_knobs;

/* How a knob states a window; UNIT_ENDPOINT where it is not set and the endpoint decides. */
enum unit { UNIT_ENDPOINT, UNIT_SEGMENTS, UNIT_BYTES, UNIT_NO_LIMIT };

/* No RTT sample, no estimate, no smallest RTT yet, no limit. */
#define NONE U64_MAX
#define FIRST_SSTHRESH_SEGMENTS 32

/* One acknowledgement. `rtt` is NONE without a sample; `snd_nxt` is the position of the next new
 * payload; `app_limited` says that the window is not used, so that it does not grow.
 */
struct ff_ack {
    u64 now;
    u64 acked;
    u64 credited;
    u64 rtt;
    u64 in_flight;
    u64 snd_nxt;
    u64 app_limited;
};

/* Data left, for the first time or again; `in_flight` is what is then. */
struct ff_sent {
    u64 now;
    u64 bytes;
    u64 in_flight;
    u64 again;
};

enum loss_kind { LOSS_RECOVERY, LOSS_TIMEOUT };

/* Data found lost, `lost` bytes newly; `flight` is what a halving halves. `again` says that it had
 * been sent again before, `answered` that an earlier loss has been answered that covers this one.
 */
struct ff_loss {
    u64 now;
    u64 lost;
    u64 flight;
    u64 kind;
    u64 again;
    u64 answered;
};

/* What an earlier connection to the same host knew when it ended, and how long ago that was. */
struct ff_learned {
    u64 cwnd;
    u64 ssthresh;
    u64 rtt;
    u64 min_rtt;
    /* Delivered in the largest of the last two complete rounds and the one that was not. */
    u64 per_round;
    u64 age;
};

/* What an endpoint fixes for its sender. */
struct ff_config {
    u64 mss;
    u64 initial_window;
    u64 initial_ssthresh;
    u64 max_cwnd;
};

enum phase { STARTUP, AVOIDANCE };

/* Who spreads packets over the round trip. */
enum paced { PACED_NO, PACED_BY_ENDPOINT, PACED_BY_POLICY };

enum entry { ENTRY_CONNECT, ENTRY_TIMEOUT, ENTRY_REPROBE, ENTRY_RETREAT };

struct ff_window {
    u64 cwnd;
    u64 ssthresh;
};

struct ff_rtt {
    u64 latest;
    u64 smoothed;
    u64 min;
    u64 first;
};

/* A control whose start-up paces, sets the window in a recovery or takes hints says FF_OWNS_WINDOW:
 * its sender decides on cwnd in every state of the kernel. In all others the kernel reduces it.
 *
 * One whose start-up is woken says FF_WAKES, and its start-up defines `_on_wake` too. One whose
 * start-up has packets leave first at a pace of their own says FF_SENDS_TRAINS, and its start-up
 * defines `_leaves_first`.
 *
 * A control whose policies look at nothing but what an ACK acknowledges and at the window says
 * FF_WATCHES_NO_ACKS, and keeps no more: its whole state fits into what the kernel gives to every
 * connection.
 */
struct ff_view {
    struct ff_window window;
    u64 mss;
#ifndef FF_WATCHES_NO_ACKS
    u64 acked;
    u64 now;
    struct ff_rtt rtt;
    /* The position of the next new payload (SND.NXT as an offset); all that has left, repeats
     * included: up to date at every ACK and loss for a control that says FF_NEEDS_SENT.
     */
    u64 snd_nxt;
    u64 sent;
    u64 delivered;
    /* The rate, in bytes per second, that the start-up's estimator believes the path has for this
     * connection; up to date whenever a loss is answered, NONE without an estimator. That
     * estimator knows RTTmin in whole ticks of this clock, or exactly for 0.
     */
    u64 eligible;
    u64 eligible_tick;
    u64 round_start;
    /* enum paced, up to date as the first data leaves, and at every ACK and loss. */
    u32 paced;
#endif
#ifdef FF_OWNS_WINDOW
    u64 in_flight;
    /* What a loss leaves of the window under the avoidance, in millionths. */
    u64 beta;
#endif
    u32 phase : 1;
    u32 recovering : 1;
};

/* While start-up paces, what lies before position `end`, `length` bytes when that was decided,
 * leaves at another pace (Pacing::first in crates/core/src/pacing.rs).
 */
struct ff_train {
    u64 rate;
    u64 length;
    u64 end;
};

/* What a policy decides on one ACK. */
struct ff_step {
    struct ff_window window;
#ifdef FF_OWNS_WINDOW
    /* Bytes per second at which packets leave, NONE to leave it to the kernel. */
    u64 pace;
    /* The pace stays as it is instead. */
    u8 keeps_pace;
#endif
#ifdef FF_WAKES
    /* When start-up is to be woken, NONE to leave it as it is. */
    u64 wake;
#endif
    u8 exit;
};

/* How a start-up answers a loss: it ends, and the avoidance cuts; it begins again with this window,
 * because a hint was wrong; it sets this window, and decides until the recovery ends.
 */
enum answer_kind { ANSWER_LEAVE, ANSWER_RETREAT, ANSWER_LAND };

struct ff_answer {
    struct ff_window window;
    u8 kind;
};

/* By how much slow start opens this window on an ACK: by all that no earlier ACK reported, up to
 * ssthresh, as the kernel does itself (tcp_slow_start, tcp_newly_delivered). An ACK that fills a
 * gap acknowledges more than that.
 */
FF_INLINE u64 slow_start_growth(const struct ff_ack *ack, u64 mss, struct ff_window window)
{
    u64 most = min_of(ack->credited, minus(window.ssthresh, window.cwnd));

    return min_of(ack->acked, max_of(most, mss));
}

FF_INLINE struct ff_step hold(struct ff_window window)
{
    struct ff_step step = { .window = window };

#ifdef FF_OWNS_WINDOW
    step.pace = NONE;
#endif
#ifdef FF_WAKES
    step.wake = NONE;
#endif
    return step;
}

FF_INLINE struct ff_step grow(struct ff_window window, u64 bytes)
{
    window.cwnd = plus(window.cwnd, bytes);
    return hold(window);
}

/* Ends start-up once cwnd has reached ssthresh. */
FF_INLINE struct ff_step until_threshold(struct ff_step step)
{
    step.exit = step.window.cwnd >= step.window.ssthresh;
    return step;
}

/* A policy that watches nothing. */
#define FF_OBSERVES_NO_HANDSHAKE(policy)                                                          \
    FF_INLINE void policy##_on_handshake(struct policy *p, ff_knobs *k, const struct ff_view *v) {}
#define FF_OBSERVES_NO_BEGIN(policy)                                                              \
    FF_INLINE void policy##_on_begin(struct policy *p, const struct ff_view *v) {}
#define FF_OBSERVES_NO_ACKS(policy)                                                               \
    FF_INLINE void policy##_on_ack(struct policy *p, ff_knobs *k, const struct ff_ack *ack,       \
                                   const struct ff_view *v) {}
#define FF_OBSERVES_NOTHING(policy)                                                               \
    FF_OBSERVES_NO_HANDSHAKE(policy)                                                              \
    FF_OBSERVES_NO_BEGIN(policy)                                                                  \
    FF_OBSERVES_NO_ACKS(policy)

/* A start-up without an estimate, one that begins like any other, one that restarts with one
 * segment; an avoidance that begins like any other, one that never asks for start-up again.
 */
#define FF_ESTIMATES_NOTHING(policy)                                                              \
    FF_INLINE u64 policy##_eligible(const struct policy *p, ff_knobs *k) { return NONE; }         \
    FF_INLINE u64 policy##_eligible_tick(ff_knobs *k) { return 0; }
#define FF_NEW_POLICY(policy)                                                                     \
    FF_INLINE void policy##_new(struct policy *p, ff_knobs *k) {}
#define FF_ENTERS_PLAINLY(policy)                                                                 \
    FF_INLINE void policy##_enter(struct policy *p, ff_knobs *k, enum entry why,                  \
                                  const struct ff_view *v) {}
#define FF_RESTARTS_WITH_ONE(policy)                                                              \
    FF_INLINE u64 policy##_restart_window(u64 mss) { return mss; }
#define FF_NEVER_REPROBES(policy)                                                                 \
    FF_INLINE u8 policy##_wants_reprobe(const struct policy *p) { return 0; }

/* Of start-ups that own the window: one that begins with the window as it is, one that uses no
 * hint, one that never lands and so finds no peak; of avoidances: one that halves the window, one
 * that needs no peak.
 */
#define FF_BEGINS_PLAINLY(policy)                                                                 \
    FF_INLINE struct ff_step policy##_begin(struct policy *p, ff_knobs *k,                        \
                                            const struct ff_view *v)                              \
    {                                                                                             \
        struct ff_step step = hold(v->window);                                                    \
                                                                                                  \
        step.keeps_pace = 1;                                                                      \
        return step;                                                                              \
    }
#define FF_TAKES_NO_HINT(policy)                                                                  \
    FF_INLINE void policy##_inform(struct policy *p, ff_knobs *k,                                 \
                                   const struct ff_learned *last, const struct ff_view *v) {}     \
    FF_INLINE u8 policy##_refutes_hint(const struct policy *p) { return 0; }
#define FF_LANDS_NOWHERE(policy)                                                                  \
    FF_INLINE void policy##_on_further_loss(struct policy *p, const struct ff_loss *loss) {}      \
    FF_INLINE struct ff_step policy##_recovering(struct policy *p, const struct ff_ack *ack,      \
                                                 const struct ff_view *v)                         \
    {                                                                                             \
        return hold(v->window);                                                                   \
    }                                                                                             \
    FF_INLINE u64 policy##_peak(const struct policy *p, const struct ff_view *v) { return NONE; }
#define FF_HALVES(policy)                                                                         \
    FF_INLINE u64 policy##_beta(ff_knobs *k) { return RATIO_ONE / 2; }
#define FF_TAKES_NO_PEAK(policy)                                                                  \
    FF_INLINE void policy##_take_peak(struct policy *p, u64 peak) {}

/* First window and first ssthresh: the knobs', or the endpoint's where they are not set. */
#define FF_FIRST_WINDOW_OF_KNOBS(policy)                                                          \
    FF_INLINE u64 policy##_initial_window(ff_knobs *k, u64 given, u64 mss)                        \
    {                                                                                             \
        return amount(k->policy.iw_unit, k->policy.iw, given, mss);                               \
    }
#define FF_FIRST_SSTHRESH_OF_KNOBS(policy)                                                        \
    FF_INLINE u64 policy##_initial_ssthresh(ff_knobs *k, u64 given, u64 mss)                      \
    {                                                                                             \
        return amount(k->policy.ssthresh_unit, k->policy.ssthresh, given, mss);                   \
    }

/* A window as users state it, in bytes. */
FF_INLINE u64 amount(u64 unit, u64 count, u64 given, u64 mss)
{
    if (unit == UNIT_SEGMENTS)
        return times(mss, count);
    if (unit == UNIT_BYTES)
        return count;
    return unit == UNIT_NO_LIMIT ? U64_MAX : given;
}

/* The endpoint's first ssthresh where an estimate is to raise it: without any, 32 segments. */
FF_INLINE u64 ssthresh_to_raise(u64 given, u64 mss)
{
    return given == NONE ? times(mss, FIRST_SSTHRESH_SEGMENTS) : given;
}

#endif
