/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * bc: Byte Counting before NewReno.
 */
/* What an ACK says beside what it acknowledges is nothing to either. */
#define FF_WATCHES_NO_ACKS

#include "../byte_counting.h"
#include "../new_reno.h"

#define FF_STARTUP byte_counting
#define FF_AVOIDANCE new_reno

#include "../sender.h"
