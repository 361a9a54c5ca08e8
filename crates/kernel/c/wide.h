/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Unsigned numbers of 128 bits, as far as anyone needs them.
 */
#ifndef FF_WIDE_H
#define FF_WIDE_H

#include "units.h"

struct wide {
    u64 high;
    u64 low;
};

FF_INLINE struct wide wide_product(u64 a, u64 b)
{
    struct wide product = { high_half(a, b), a * b };

    return product;
}

FF_INLINE struct wide wide_sum(struct wide a, struct wide b)
{
    struct wide sum = { a.high + b.high, a.low + b.low };

    sum.high += sum.low < a.low;
    return sum;
}

/* For a >= b. */
FF_INLINE struct wide wide_difference(struct wide a, struct wide b)
{
    struct wide difference = { a.high - b.high - (a.low < b.low), a.low - b.low };

    return difference;
}

FF_INLINE u8 wide_less(struct wide a, struct wide b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/* For products that fit. */
FF_INLINE struct wide wide_times(struct wide a, u64 b)
{
    struct wide product = wide_product(a.low, b);

    product.high += a.high * b;
    return product;
}

/* The quotient, if it fits 64 bits, bit by bit; den is under 2^127. */
FF_SUBPROGRAM u64 divide_bitwise(u64 high, u64 low, u64 den_high, u64 den_low)
{
    struct wide den = { den_high, den_low }, rest = { 0, high };
    u64 quotient = 0;

    for (u32 i = 0; i < 64; i++) {
        rest.high = rest.high << 1 | rest.low >> 63;
        rest.low = rest.low << 1 | low >> 63;
        low <<= 1;
        quotient <<= 1;
        if (!wide_less(rest, den)) {
            rest = wide_difference(rest, den);
            quotient |= 1;
        }
    }
    return quotient;
}

/* `num / den`, saturating; den is not zero and under 2^127. */
FF_INLINE u64 wide_quotient(struct wide num, struct wide den)
{
    if (den.high)
        return divide_bitwise(num.high, num.low, den.high, den.low);
    return num.high >= den.low ? U64_MAX : divide_wide(num.high, num.low, den.low);
}

#endif
