/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * hoe: Hoe's start-up before NewReno.
 */
#include "../hoe.h"
#include "../new_reno.h"

#define FF_STARTUP hoe
#define FF_AVOIDANCE new_reno

#include "../sender.h"
