/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A control as a tcp_congestion_ops of the kernel. This file only translates: what the kernel says
 * becomes events, the sender's cwnd and ssthresh become segments. FF_CONTROL names the header of
 * the control.
 *
 * The kernel keeps recovery (PRR), pacing and the choice of what to retransmit. While it reduces
 * cwnd itself (states CWR and Recovery) the sender only watches; whatever the kernel has made of
 * cwnd by itself, there, after an idle time or after undoing, the sender takes over. A control that
 * owns the window (FF_OWNS_WINDOW) has cong_control instead of cong_avoid, with which the kernel
 * leaves cwnd and pacing to it in all states.
 *
 * A kernel may leave a call out: before 6.1, one that interrupts the same program on its processor;
 * the threshold that such a call should have returned is then whatever was on the stack. The next
 * call makes good for it.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include FF_CONTROL
#include "events.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#ifdef FF_OWNS_WINDOW

FF_APART void take_hint(struct connection *c, struct tcp_sock *tp, u64 now)
{
    struct hint {
        u64 now;
        struct ff_learned learned;
    } hint = { .now = now };

    if (!recall((struct sock *)tp, &hint.learned))
        return;
    ff_on_hint(&c->sender, &ff_loaded.knobs, now, &hint.learned);
    report(c, tp, RECORD_HINT, (u64 *)&hint, 7);
}

#endif

/* Whether no data has left but what a SYN of TCP Fast Open carried (RFC 7413). */
FF_INLINE u8 is_new(struct tcp_sock *tp)
{
    return tp->data_segs_out <= BPF_CORE_READ_BITFIELD(tp, syn_data);
}

/* A connection begins, or changes to this control while it runs: then it keeps its window. */
FF_APART void begin(struct sock *sk)
{
    struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    u64 mss = tp->mss_cache, now = tp->tcp_clock_cache, rtt;
    struct ff_config config = {
        .mss = mss,
        .initial_window = tp->snd_cwnd * mss,
        .initial_ssthresh = tp->snd_ssthresh >= INFINITE_SSTHRESH ? NONE : tp->snd_ssthresh * mss,
        .max_cwnd = tp->snd_cwnd_clamp * mss,
    };
    u64 numbers[] = { mss, config.initial_window, config.initial_ssthresh, config.max_cwnd };
    u64 reno = 0x6f6e6572; /* the word, as a string */
    struct connection *c;

    /* The kernel has no initial window yet. It does not initialise a control again that a program
     * chooses now, which therefore begins with the first data (ff_cwnd_event).
     */
    if (sk->__sk_common.skc_state == TCP_SYN_SENT)
        return;
    c = new_connection(sk);
    if (!c) {
        /* No memory for its state: the kernel's own control needs none. */
        bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, &reno, sizeof(reno));
        return;
    }
    c->cwnd = tp->snd_cwnd;
    c->state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
    ff_new(&c->sender, &ff_loaded.knobs, &config);
    report(c, tp, RECORD_NEW, numbers, 4);
#ifndef FF_WATCHES_NO_ACKS
    notice_pacing(c, tp);
#endif
    if (tp->srtt_us) {
        u64 handshake[] = { now, rtt = (tp->srtt_us >> 3) * 1000ULL };

        ff_on_handshake(&c->sender, &ff_loaded.knobs, now, rtt);
        report(c, tp, RECORD_HANDSHAKE, handshake, 2);
    }
    if (is_new(tp)) {
#ifdef FF_OWNS_WINDOW
        take_hint(c, tp, now);
#endif
        /* The kernel says no more of the first data than that it may leave from here on. */
        ff_begin(&c->sender, &ff_loaded.knobs, now);
        report(c, tp, RECORD_BEGIN, &now, 1);
        write_window(c, tp);
    } else {
        c->cwnd = 0;
        catch_up(c, tp);
    }
}

SEC("struct_ops")
void BPF_PROG(ff_init, struct sock *sk)
{
    if (!ff_loaded.leaving_out)
        begin(sk);
}

#ifdef FF_WATCHES_NO_ACKS

/* What an ACK needs of a sender. Kernels check every read within a socket (6.1 with six further
 * instructions), so that each is done once; what an ACK makes of it is written back.
 */
FF_INLINE struct ff_sender read_sender(const struct connection *c)
{
    struct ff_sender s = {
        .view = c->sender.view,
        .max_cwnd = c->sender.max_cwnd,
        .avoidance = c->sender.avoidance,
        .startup = c->sender.startup,
    };

    return s;
}

/* Whether its window is that many segments. */
FF_INLINE u8 is_worth(const struct ff_sender *s, u32 segments)
{
    return s->view.window.cwnd - (u64)segments * s->view.mss < s->view.mss;
}

FF_INLINE void take_ack(struct connection *c, struct tcp_sock *tp, struct ff_sender s, u32 cwnd,
                        const struct ff_ack *ack)
{
    u64 ssthresh = s.view.window.ssthresh;

    ff_on_ack(&s, &ff_loaded.knobs, ack);
    c->sender.view.window.cwnd = s.view.window.cwnd;
    c->sender.view.phase = s.view.phase;
    c->sender.avoidance = s.avoidance;
    c->sender.startup = s.startup;
    report(c, tp, RECORD_ACK, (const u64 *)ack, 7);
    if (s.view.window.ssthresh == ssthresh && is_worth(&s, cwnd))
        return;
    c->sender.view.window.ssthresh = s.view.window.ssthresh;
    write_window(c, tp);
}

/* An ACK that may raise the window is all that these policies look at, and of it, how many segments
 * it delivers: as in the kernel's reno, one in part counts when it is acknowledged in full. The
 * kernel calls a recovery over before it gets here; the ACK that ended it opens nothing.
 */
SEC("struct_ops")
void BPF_PROG(ff_cong_avoid, struct sock *sk, u32 number, u32 acked)
{
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct ff_ack ack = { .rtt = NONE, .app_limited = !uses_its_window(tp) };
    struct connection *c = room_of(sk);
    struct ff_sender s = read_sender(c);
    u32 cwnd = tp->snd_cwnd;

    if (!s.view.mss) {
        begin(sk);
        return;
    }
    if (!acked)
        return;
    ack.acked = acked * s.view.mss;
    ack.credited = ack.acked;
    if (!s.view.recovering && s.view.mss == tp->mss_cache && is_worth(&s, cwnd)) {
        take_ack(c, tp, s, cwnd, &ack);
        return;
    }
    catch_up(c, tp);
    if (!s.view.recovering)
        take_ack(c, tp, read_sender(c), cwnd, &ack);
}

#else /* one ff_cong_avoid for both would, above, read the socket once more for every ACK */

/* Of every ACK, before the kernel decides what it means. */
SEC("struct_ops")
void BPF_PROG(ff_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
    struct connection *c = connection_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct ff_ack ack;
    u64 acked, cwnd;
    u8 phase;

    if (!c)
        return;
    catch_up(c, tp);
    notice_pacing(c, tp);
#ifdef FF_WAKES
    if (is_due(c, tp))
        wake(c, tp);
#endif
#ifdef FF_NEEDS_SENT
    tell_sent(c, tp);
#endif
    acked = acked_by(c, tp);
    ack.now = tp->tcp_clock_cache;
    ack.acked = acked - c->sender.view.acked;
    ack.rtt = sample->rtt_us < 0 ? NONE : sample->rtt_us * 1000ULL;
    ack.in_flight = tp->packets_out + tp->retrans_out - tp->sacked_out - tp->lost_out;
    ack.in_flight *= c->sender.view.mss;
    ack.snd_nxt = snd_nxt_of(tp, acked);
    /* The kernel counts segments; not all are full, so that no more counts than was sent. */
    ack.credited = (u64)(tp->delivered - c->delivered) * c->sender.view.mss;
    ack.credited = min_of(ack.credited, minus(ack.snd_nxt, c->sender.view.delivered));
    /* A FIN has a byte and, with the last data, no segment of its own. */
    ack.credited = max_of(ack.credited, minus(acked, c->sender.view.delivered));
    ack.in_flight = min_of(ack.in_flight, ack.snd_nxt - acked);
    ack.app_limited = !uses_its_window(tp);
    c->delivered = tp->delivered;
    phase = c->sender.view.phase;
    cwnd = c->sender.view.window.cwnd;
    ff_on_ack(&c->sender, &ff_loaded.knobs, &ack);
    if (phase == STARTUP && c->sender.view.phase != STARTUP)
        note_exit(tp, END_HEURISTIC, max_of(cwnd, c->sender.view.window.cwnd) / c->sender.view.mss);
    report(c, tp, RECORD_ACK, (u64 *)&ack, 7);
}

#ifdef FF_WAKES

/* TCP asks for the least size of a packet before it looks at the pace and at cwnd, and its own
 * pacing timer leads here too, even if cwnd is full (tcp_write_xmit).
 */
SEC("struct_ops")
u32 BPF_PROG(ff_min_tso_segs, struct sock *sk)
{
    struct connection *c = connection_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;

    if (!c || c->sender.wake == NONE || ff_loaded.leaving_out)
        return MIN_TSO_SEGS;
    if (!is_due(c, tp))
        return wait_for_wake(c, tp);
    catch_up(c, tp);
    if (is_due(c, tp))
        wake(c, tp);
    return MIN_TSO_SEGS;
}

#endif

#ifdef FF_SENDS_TRAINS

/* TCP asks for the least size of a packet before each that its pacing timer lets go. */
SEC("struct_ops")
u32 BPF_PROG(ff_min_tso_segs, struct sock *sk)
{
    struct connection *c = connection_of(sk);

    if (!c || ff_loaded.leaving_out)
        return MIN_TSO_SEGS;
    return pace_next(c, (struct tcp_sock *)sk);
}

#endif

#ifdef FF_OWNS_WINDOW

/* The end of every ACK, in every state. What comes after the socket differs between kernels. */
SEC("struct_ops")
void BPF_PROG(ff_cong_control, struct sock *sk)
{
    struct connection *c = connection_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;

    if (!c) {
        begin(sk);
        return;
    }
    catch_up(c, tp);
    if (c->sender.view.recovering && !c->sender.landing) {
        c->cwnd = min_of(reduced(c, tp, ssthresh_segments(c, tp)), tp->snd_cwnd_clamp);
        tp->snd_cwnd = c->cwnd;
        write_pace(c, tp);
    } else {
        write_window(c, tp);
    }
}

SEC("struct_ops")
void BPF_PROG(ff_release, struct sock *sk)
{
    struct connection *c = connection_of(sk);

    if (c)
        remember(sk, c);
}

#else

/* The kernel lets the window be set: the ACK was for new data, and nothing is being reduced. */
SEC("struct_ops")
void BPF_PROG(ff_cong_avoid, struct sock *sk, u32 number, u32 acked)
{
    struct connection *c = connection_of(sk);

    if (!c)
        begin(sk);
    else if (!c->sender.view.recovering)
        write_window(c, (struct tcp_sock *)sk);
}

#endif
#endif

/* The kernel wants a threshold before it says what happened: the one there is, until it does. */
SEC("struct_ops")
u32 BPF_PROG(ff_ssthresh, struct sock *sk)
{
    if (ff_loaded.leaving_out)
        return U32_MAX;
    return ((struct tcp_sock *)sk)->snd_ssthresh;
}

/* Data is about to leave, and nothing is in flight. */
FF_INLINE void start_to_send(struct sock *sk, struct connection *c)
{
    if (!c)
        begin(sk);
#ifdef FF_RESTS
    else if (!((struct tcp_sock *)sk)->packets_out)
        rest(c, (struct tcp_sock *)sk);
#endif
}

/* Linux 7.1 and later call this instead of ff_cwnd_event with CA_EVENT_TX_START. */
SEC("struct_ops")
void BPF_PROG(ff_cwnd_event_tx_start, struct sock *sk)
{
    if (!ff_loaded.leaving_out)
        start_to_send(sk, connection_of(sk));
}

SEC("struct_ops")
void BPF_PROG(ff_cwnd_event, struct sock *sk, u32 event)
{
    struct connection *c;

    if (ff_loaded.leaving_out || (event != CA_EVENT_LOSS && event != CA_EVENT_TX_START))
        return;
    c = connection_of(sk);
    if (event == CA_EVENT_TX_START)
        return start_to_send(sk, c);
    if (!c)
        return;
    catch_up(c, (struct tcp_sock *)sk);
    tell_loss(c, (struct tcp_sock *)sk, LOSS_TIMEOUT, 0);
    c->timed_out = 1;
}

SEC("struct_ops")
void BPF_PROG(ff_set_state, struct sock *sk, u8 state)
{
    struct connection *c = connection_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;

    if (!c || ff_loaded.leaving_out)
        return;
#ifdef FF_WAKES
    let_go(c, tp);
#endif
    notice_state(c, tp);
    if (reduces(state) && !reduces(c->state))
        catch_up(c, tp);
    enter_state(c, tp, state, 1);
}

/* The loss never was. */
SEC("struct_ops")
u32 BPF_PROG(ff_undo_cwnd, struct sock *sk)
{
    struct connection *c = connection_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    u32 cwnd = tp->snd_cwnd;

    if (!c)
        return cwnd;
    ff_on_spurious_loss(&c->sender);
    report(c, tp, RECORD_SPURIOUS, 0, 0);
    c->cwnd = cwnd_segments(c, tp);
    return max_of(c->cwnd, cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ff_control = {
    .name = "ff_unnamed",
    .flags = CONG_NON_RESTRICTED,
    .init = (void *)ff_init,
#ifndef FF_WATCHES_NO_ACKS
    .pkts_acked = (void *)ff_pkts_acked,
#endif
#ifdef FF_OWNS_WINDOW
    .cong_control = (void *)ff_cong_control,
#ifdef FF_TAKES_PACING
    .min_tso_segs = (void *)ff_min_tso_segs,
#endif
    .release = (void *)ff_release,
#else
    .cong_avoid = (void *)ff_cong_avoid,
#endif
    .ssthresh = (void *)ff_ssthresh,
    .cwnd_event = (void *)ff_cwnd_event,
    .set_state = (void *)ff_set_state,
    .undo_cwnd = (void *)ff_undo_cwnd,
    .cwnd_event_tx_start = (void *)ff_cwnd_event_tx_start,
};
