/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * How the first slow start of a connection ended. Our controls (shell.bpf.c) leave it for the
 * programs that watch (look.h) in the last word of what the kernel gives a control within the
 * socket. The kernel clears it for every new control.
 */
#ifndef FF_EXIT_H
#define FF_EXIT_H

#include "kernel.h"

enum slow_start_end {
    END_NONE, /* it goes on, or went on until the connection closed */
    END_LOSS,
    END_MARK,
    END_TIMEOUT,
    END_HEURISTIC, /* the control decided, and nothing was lost or marked */
    END_LOCAL,     /* the host itself was congested, and nothing was lost or marked */
};

/* Why, with a mark by which the word is known, and above both the window in segments. */
#define EXIT_WORD (CA_PRIV_WORDS - 1)
#define EXIT_MARK 0x66667800U
#define EXIT_WHY 0xffU

FF_INLINE u64 *exit_of(struct tcp_sock *tp)
{
    return &((struct inet_connection_sock *)tp)->icsk_ca_priv[EXIT_WORD];
}

FF_INLINE u64 exit_word(u32 why, u32 cwnd) { return (u64)cwnd << 32 | EXIT_MARK | why; }

/* Whether the word is ours: any control may have written anything there. */
FF_INLINE u8 is_exit_word(u64 word)
{
    return ((u32)word & ~EXIT_WHY) == EXIT_MARK && (word & EXIT_WHY) <= END_LOCAL;
}

/* Why the window is being reduced, by the kernel's state and counters. */
FF_INLINE u32 why_reduced(u8 state, const struct tcp_sock *tp)
{
    if (state == CA_LOSS)
        return END_TIMEOUT;
    if (state == CA_RECOVERY)
        return END_LOSS;
    if (tp->delivered_ce)
        return END_MARK;
    return tp->lost ? END_LOSS : END_LOCAL;
}

#endif
