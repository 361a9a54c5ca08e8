/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * astart: Adaptive Start before TCP Westwood's response to loss; with Load Gauge, TCP Westwood with
 * Agile Probing.
 */
#include "../astart.h"
#include "../westwood.h"

#define FF_STARTUP astart
#define FF_AVOIDANCE westwood

#include "../sender.h"
