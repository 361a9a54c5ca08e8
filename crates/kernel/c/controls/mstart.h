/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * mstart: M-Start before CUBIC.
 */
#include "../m_start.h"
#include "../cubic.h"

#define FF_STARTUP m_start
#define FF_AVOIDANCE cubic

#include "../sender.h"
