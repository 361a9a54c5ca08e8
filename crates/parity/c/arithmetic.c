/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The arithmetic that eBPF lacks, to be tested against a machine that has it.
 */
#include "units.h"

u64 ff_high_half(u64 a, u64 b) { return high_half(a, b); }
u64 ff_mul_div(u64 a, u64 b, u64 den) { return mul_div(a, b, den); }
