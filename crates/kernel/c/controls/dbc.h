/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * dbc: Decreasing Byte Counting before NewReno.
 */
#include "../decreasing_byte_counting.h"
#include "../new_reno.h"

#define FF_STARTUP decreasing_byte_counting
#define FF_AVOIDANCE new_reno

#include "../sender.h"
