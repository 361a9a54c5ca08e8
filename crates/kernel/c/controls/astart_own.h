/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * astart as in astart.h, where TCP Westwood has knobs of its own for the estimate and so keeps one.
 */
#define FF_WESTWOOD_ESTIMATES

#include "../astart.h"
#include "../westwood.h"

#define FF_STARTUP astart
#define FF_AVOIDANCE westwood

#include "../sender.h"
