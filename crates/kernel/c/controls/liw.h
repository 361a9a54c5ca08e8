/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * liw: a large first window before NewReno.
 */
/* What an ACK says beside what it acknowledges is nothing to either. */
#define FF_WATCHES_NO_ACKS

#include "../large_initial_window.h"
#include "../new_reno.h"

#define FF_STARTUP large_initial_window
#define FF_AVOIDANCE new_reno

#include "../sender.h"
