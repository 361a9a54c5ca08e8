/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * cubic: slow start before CUBIC, without HyStart.
 */
#include "../slow_start.h"
#include "../cubic.h"

#define FF_STARTUP slow_start
#define FF_AVOIDANCE cubic

#include "../sender.h"
