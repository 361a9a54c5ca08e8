/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * One control as a table of functions for a program of this machine.
 */
#include FF_CONTROL

struct ff_ops {
    u64 size;
    void (*new)(struct ff_sender *s, ff_knobs *k, const struct ff_config *config);
    void (*on_handshake)(struct ff_sender *s, ff_knobs *k, u64 now, u64 rtt);
    void (*on_hint)(struct ff_sender *s, ff_knobs *k, u64 now, const struct ff_learned *last);
    void (*begin)(struct ff_sender *s, ff_knobs *k, u64 now);
    void (*on_sent)(struct ff_sender *s, const struct ff_sent *sent);
    void (*on_ack)(struct ff_sender *s, ff_knobs *k, const struct ff_ack *ack);
    void (*on_loss)(struct ff_sender *s, ff_knobs *k, const struct ff_loss *loss);
    void (*on_recovered)(struct ff_sender *s, u64 cwnd);
    void (*on_spurious_loss)(struct ff_sender *s);
    void (*set_mss)(struct ff_sender *s, u64 mss);
    u64 (*cwnd)(const struct ff_sender *s);
    u64 (*ssthresh)(const struct ff_sender *s);
    u64 (*pace)(const struct ff_sender *s);
    u64 (*train_length)(const struct ff_sender *s);
    u64 (*train_rate)(const struct ff_sender *s);
    u64 (*refutes_hint)(const struct ff_sender *s);
    u64 (*w_max)(const struct ff_sender *s);
    void (*on_wake)(struct ff_sender *s, ff_knobs *k, u64 now);
    u64 (*wake)(const struct ff_sender *s);
    void (*endpoint_paces)(struct ff_sender *s, u32 paces);
    u64 (*paced)(const struct ff_sender *s);
    void (*on_rest)(struct ff_sender *s, ff_knobs *k, u64 now, u64 idle);
};

static void host_new(struct ff_sender *s, ff_knobs *k, const struct ff_config *config)
{
    ff_new(s, k, config);
}

static void host_on_handshake(struct ff_sender *s, ff_knobs *k, u64 now, u64 rtt)
{
    ff_on_handshake(s, k, now, rtt);
}

static void host_on_hint(struct ff_sender *s, ff_knobs *k, u64 now, const struct ff_learned *last)
{
#ifdef FF_OWNS_WINDOW
    ff_on_hint(s, k, now, last);
#endif
}

static void host_begin(struct ff_sender *s, ff_knobs *k, u64 now) { ff_begin(s, k, now); }
static void host_on_sent(struct ff_sender *s, const struct ff_sent *sent) { ff_on_sent(s, sent); }

static void host_on_ack(struct ff_sender *s, ff_knobs *k, const struct ff_ack *ack)
{
    ff_on_ack(s, k, ack);
}

static void host_on_loss(struct ff_sender *s, ff_knobs *k, const struct ff_loss *loss)
{
    ff_on_loss(s, k, loss);
}

static void host_on_recovered(struct ff_sender *s, u64 cwnd) { ff_on_recovered(s, cwnd); }
static void host_on_spurious_loss(struct ff_sender *s) { ff_on_spurious_loss(s); }
static void host_set_mss(struct ff_sender *s, u64 mss) { ff_set_mss(s, mss); }
static u64 host_cwnd(const struct ff_sender *s) { return s->view.window.cwnd; }
static u64 host_ssthresh(const struct ff_sender *s) { return s->view.window.ssthresh; }

static u64 host_pace(const struct ff_sender *s)
{
#ifdef FF_OWNS_WINDOW
    return s->pace;
#else
    return NONE;
#endif
}

/* No length, no train. */
static u64 host_train_length(const struct ff_sender *s)
{
#ifdef FF_SENDS_TRAINS
    return s->pace == NONE ? 0 : startup(leaves_first)(&s->startup).length;
#else
    return 0;
#endif
}

static u64 host_train_rate(const struct ff_sender *s)
{
#ifdef FF_SENDS_TRAINS
    return startup(leaves_first)(&s->startup).rate;
#else
    return NONE;
#endif
}

static u64 host_refutes_hint(const struct ff_sender *s)
{
#ifdef FF_OWNS_WINDOW
    return startup(refutes_hint)(&s->startup);
#else
    return 0;
#endif
}

static u64 host_w_max(const struct ff_sender *s)
{
#ifdef FF_TAKES_PIPE
    return s->avoidance.w_max;
#else
    return NONE;
#endif
}

static void host_on_wake(struct ff_sender *s, ff_knobs *k, u64 now)
{
#ifdef FF_WAKES
    ff_on_wake(s, k, now);
#endif
}

static u64 host_wake(const struct ff_sender *s)
{
#ifdef FF_WAKES
    return s->wake;
#else
    return NONE;
#endif
}

static void host_on_rest(struct ff_sender *s, ff_knobs *k, u64 now, u64 idle)
{
    ff_on_rest(s, k, now, idle);
}

static void host_endpoint_paces(struct ff_sender *s, u32 paces) { ff_endpoint_paces(s, paces); }

static u64 host_paced(const struct ff_sender *s)
{
#ifdef FF_WATCHES_NO_ACKS
    return NONE;
#else
    return paced_of(s);
#endif
}

const struct ff_ops *FF_NATIVE(void)
{
    static const struct ff_ops ops = {
        .size = sizeof(struct ff_sender),
        .new = host_new,
        .on_handshake = host_on_handshake,
        .on_hint = host_on_hint,
        .begin = host_begin,
        .on_sent = host_on_sent,
        .on_ack = host_on_ack,
        .on_loss = host_on_loss,
        .on_recovered = host_on_recovered,
        .on_spurious_loss = host_on_spurious_loss,
        .set_mss = host_set_mss,
        .cwnd = host_cwnd,
        .ssthresh = host_ssthresh,
        .pace = host_pace,
        .train_length = host_train_length,
        .train_rate = host_train_rate,
        .refutes_hint = host_refutes_hint,
        .w_max = host_w_max,
        .on_wake = host_on_wake,
        .wake = host_wake,
        .endpoint_paces = host_endpoint_paces,
        .paced = host_paced,
        .on_rest = host_on_rest,
    };

    return &ops;
}
