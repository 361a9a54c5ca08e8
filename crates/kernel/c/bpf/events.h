/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * What is reported to the sender besides ACKs, found by the kernel's states and counters: what has
 * left, losses, the end of a recovery, another MSS; and the window that it has, written to the
 * socket.
 */
#ifndef FF_EVENTS_H
#define FF_EVENTS_H

#include <bpf/bpf_core_read.h>

#include "report.h"
#ifdef FF_OWNS_WINDOW
#include "owner.h"
#endif

/* In these states the kernel reduces cwnd by itself. */
FF_INLINE u8 reduces(u8 state)
{
    return state == CA_CWR || state == CA_RECOVERY;
}

/* As tcp_is_cwnd_limited() of the kernel has it. */
FF_INLINE u64 uses_its_window(struct tcp_sock *tp)
{
    u32 cwnd;

    if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
        return 1;
    cwnd = tp->snd_cwnd;
    return cwnd < tp->snd_ssthresh && cwnd < 2 * tp->max_packets_out;
}

/* `before` is the last result: it hardly changes from one ACK to the next, and a product checks
 * that faster than a division.
 */
FF_INLINE u32 segments(u64 bytes, u64 mss, u32 most, u32 before)
{
    u64 count = before;

    if (bytes == NONE)
        return most;
    if (bytes < count * mss || bytes - count * mss >= mss)
        count = bytes / max_of(mss, 1);
    return max_of(min_of(count, most), 1);
}

FF_INLINE u32 cwnd_segments(const struct connection *c, const struct tcp_sock *tp)
{
    const struct ff_view *v = &c->sender.view;

    return segments(v->window.cwnd, v->mss, tp->snd_cwnd_clamp, c->cwnd);
}

FF_INLINE u32 ssthresh_segments(const struct connection *c, const struct tcp_sock *tp)
{
    const struct ff_view *v = &c->sender.view;

    return segments(v->window.ssthresh, v->mss, INFINITE_SSTHRESH, tp->snd_ssthresh);
}

FF_INLINE void write_window(struct connection *c, struct tcp_sock *tp)
{
    c->cwnd = cwnd_segments(c, tp);
    tp->snd_cwnd = c->cwnd;
    tp->snd_ssthresh = ssthresh_segments(c, tp);
#ifdef FF_OWNS_WINDOW
    write_pace(c, tp);
#endif
    report(c, tp, RECORD_WROTE, 0, 0);
}

#ifdef FF_WATCHES_NO_ACKS

FF_INLINE void tell_sent(struct connection *c, struct tcp_sock *tp) {}

#else

FF_INLINE void tell_left(struct connection *c, struct tcp_sock *tp, u64 bytes, u8 again)
{
    u64 out = tp->snd_nxt - tp->snd_una, mss = c->sender.view.mss;
    struct ff_sent sent = {
        .now = tp->tcp_clock_cache,
        .bytes = bytes,
        .in_flight = min_of((tp->packets_out + tp->retrans_out - tp->sacked_out) * mss, out),
        .again = again,
    };

    if (!bytes)
        return;
    ff_on_sent(&c->sender, &sent);
    report(c, tp, RECORD_SENT, (u64 *)&sent, 4);
}

/* What has left since the last ACK: a loss does not say it, as an ACK does. */
FF_INLINE void tell_sent(struct connection *c, struct tcp_sock *tp)
{
    tell_left(c, tp, minus(snd_nxt_of(tp, acked_by(c, tp)), c->sender.view.snd_nxt), 0);
#ifdef FF_NEEDS_SENT
    tell_left(c, tp, minus(tp->bytes_sent - c->sent_at_start, c->sender.view.sent), 1);
#endif
}

/* Whether the socket paces, as its program, its route or another control asked for it; where this
 * control has asked for itself (take_pacing), as it was before.
 */
FF_INLINE u32 socket_paces(const struct connection *c, const struct sock *sk)
{
    /* Read before the choice: one instruction that reads either of two structs is refused. */
    u32 status = *(const volatile u32 *)&sk->sk_pacing_status;

#ifdef FF_TAKES_PACING
    if (c->took_pacing)
        status = c->paced_before;
#endif
    return status != PACING_NONE;
}

FF_INLINE void notice_pacing(struct connection *c, struct tcp_sock *tp)
{
    u32 paces = socket_paces(c, (const struct sock *)tp);
    u64 number = paces;

    if (paces == c->sender.endpoint_paces)
        return;
    ff_endpoint_paces(&c->sender, paces);
    report(c, tp, RECORD_PACED, &number, 1);
}

#endif

/* The sender's answer to a loss, which the verifier checks once. If it followed the answer from
 * every call, it would walk 450,000 instructions to load scout, and not 180,000 (Linux 6.18).
 * Policies that watch no ACKs are short, so that there is little to save.
 */
#ifdef FF_WATCHES_NO_ACKS
FF_INLINE
#else
FF_SUBPROGRAM
#endif
u64 sender_on_loss(struct ff_sender *s, const struct ff_loss *loss)
{
    if (!s || !loss)
        return 0;
    ff_on_loss(s, &ff_loaded.knobs, loss);
    return 0;
}

/* Tells the sender of a loss, with what the kernel newly counts as lost: of a recovery one segment
 * at least, because it does not count what a probe has repaired. It is not inlined, because it is
 * long and rarely called.
 */
FF_APART void tell_loss(struct connection *c, struct tcp_sock *tp, u32 kind, u32 answered)
{
    u64 lost = (u64)(tp->lost - c->lost) * c->sender.view.mss;
    u32 cwnd = cwnd_segments(c, tp);
    u8 phase = c->sender.view.phase;
#ifdef FF_OWNS_WINDOW
    u8 before = c->sender.view.recovering;
#endif
    struct ff_loss loss = {
        .now = tp->tcp_clock_cache,
        .lost = kind == LOSS_RECOVERY ? max_of(lost, c->sender.view.mss) : lost,
        .flight = c->sender.view.window.cwnd,
        .kind = kind,
        /* The kernel has no counter of lost retransmissions. */
        .again = 0,
        .answered = answered,
    };

    c->lost = tp->lost;
    tell_sent(c, tp);
    sender_on_loss(&c->sender, &loss);
    if (phase == STARTUP)
        note_exit(tp, kind == LOSS_TIMEOUT ? END_TIMEOUT : why_reduced(c->state, tp), cwnd);
#ifdef FF_OWNS_WINDOW
    if (kind == LOSS_RECOVERY && !before && c->sender.view.recovering)
        begin_reduction(c, tp);
#endif
    tp->snd_ssthresh = ssthresh_segments(c, tp);
    report(c, tp, RECORD_LOSS, (u64 *)&loss, 6);
}

/* The kernel has entered a state, which is a loss: by a call of ff_set_state (`called`), or found
 * since. A timeout in a recovery or after one asks for no new threshold (`answered`). CA_Loss by a
 * call out of an undisturbed state is no timeout: segments were too large for the path, and are
 * sent again.
 */
FF_INLINE void enter_state(struct connection *c, struct tcp_sock *tp, u8 state, u8 called)
{
    u8 before = c->state, answered = before >= CA_CWR;

    c->state = state;
    if (reduces(state) && state != before)
        tell_loss(c, tp, LOSS_RECOVERY, 0);
    if (state == CA_LOSS && !c->timed_out && (answered || !called))
        tell_loss(c, tp, LOSS_TIMEOUT, answered);
    c->timed_out = 0;
}

FF_INLINE void notice_state(struct connection *c, struct tcp_sock *tp)
{
    struct inet_connection_sock *icsk = (struct inet_connection_sock *)tp;
    u8 state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);

    if (state != c->state)
        enter_state(c, tp, state, 0);
    else if (reduces(state) && tp->lost != c->lost)
        tell_loss(c, tp, LOSS_RECOVERY, 0); /* more of it, found since */
}

/* Takes over what the kernel has made of cwnd by itself, but no threshold. */
FF_INLINE void catch_up(struct connection *c, struct tcp_sock *tp)
{
    struct ff_sender *s = &c->sender;
    u64 cwnd = NONE, mss = tp->mss_cache;

#ifdef FF_WAKES
    let_go(c, tp);
#endif
    notice_state(c, tp);
    if (mss != s->view.mss) {
        ff_set_mss(s, mss);
        report(c, tp, RECORD_MSS, &mss, 1);
    }
    tp->snd_ssthresh = ssthresh_segments(c, tp);
    if (reduces(c->state) || (tp->snd_cwnd == c->cwnd && !s->view.recovering))
        return;
    if (tp->snd_cwnd != c->cwnd) {
        c->cwnd = tp->snd_cwnd;
        cwnd = (u64)c->cwnd * mss;
    }
    ff_on_recovered(s, cwnd);
    report(c, tp, RECORD_RECOVERED, &cwnd, 1);
}

#ifdef FF_WAKES

/* The time has come, or has passed, at which start-up wants to be woken. After catch_up, which is
 * not called here, because calls within calls have less stack than they need.
 */
FF_APART void wake(struct connection *c, struct tcp_sock *tp)
{
    u64 now = tp->tcp_clock_cache;

    ff_on_wake(&c->sender, &ff_loaded.knobs, now);
    report(c, tp, RECORD_WAKE, &now, 1);
    if (!c->sender.view.recovering || c->sender.landing)
        write_window(c, tp);
}

FF_INLINE u8 is_due(const struct connection *c, const struct tcp_sock *tp)
{
    return c->sender.wake <= tp->tcp_clock_cache;
}

#endif

#ifdef FF_RESTS

/* All is acknowledged, and the source had nothing to send since the last event. */
FF_INLINE void rest(struct connection *c, struct tcp_sock *tp)
{
    u64 numbers[] = { tp->tcp_clock_cache, 0 };

    catch_up(c, tp);
    numbers[1] = minus(numbers[0], c->sender.view.now);
    ff_on_rest(&c->sender, &ff_loaded.knobs, numbers[0], numbers[1]);
    report(c, tp, RECORD_REST, numbers, 2);
}

#endif

#endif
