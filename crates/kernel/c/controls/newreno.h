/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * newreno: the yardstick beside the kernel's own reno.
 */
/* What an ACK says beside what it acknowledges is nothing to either. */
#define FF_WATCHES_NO_ACKS

#include "../new_reno.h"
#include "../slow_start.h"

#define FF_STARTUP slow_start
#define FF_AVOIDANCE new_reno

#include "../sender.h"
