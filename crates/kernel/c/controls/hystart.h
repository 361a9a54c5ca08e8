/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * hystart: HyStart before CUBIC, as Linux has it.
 */
#include "../hystart.h"
#include "../cubic.h"

#define FF_STARTUP hystart
#define FF_AVOIDANCE cubic

#include "../sender.h"
