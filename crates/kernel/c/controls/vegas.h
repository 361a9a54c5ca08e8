/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * vegas: Vegas in both phases.
 */
#include "../vegas.h"

#define FF_STARTUP vegas_start
#define FF_AVOIDANCE vegas

#include "../sender.h"
