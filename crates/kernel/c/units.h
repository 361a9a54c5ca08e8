/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Units and arithmetic, as crates/core/src/units.rs has them: bytes, nanoseconds and bytes per
 * second in 64 bits; sums and products saturate. eBPF has neither 128-bit products nor signed
 * division, so both are made of what it has. No kernel types here or in what includes this: the
 * same text is compiled for the kernel and for the machine the tests run on.
 */
#ifndef FF_UNITS_H
#define FF_UNITS_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define U64_MAX (~0ULL)
#define U32_MAX (~0U)
#define NANOS_PER_SECOND 1000000000ULL

/* One, in the millionths that ratios are given in. */
#define RATIO_ONE 1000000ULL

#define FF_INLINE static inline __attribute__((always_inline))

/* A function that the verifier checks once, for any arguments, and does not follow from its calls.
 * The function therefore tests its pointers for null. It returns a number.
 */
#ifdef __bpf__
#define FF_SUBPROGRAM __attribute__((noinline))
#else
#define FF_SUBPROGRAM static inline
#endif

/* A function that the verifier follows from each place that calls it. Its stack is its own. */
#ifdef __bpf__
#define FF_APART static __attribute__((noinline))
#else
#define FF_APART static inline
#endif

FF_INLINE u64 min_of(u64 a, u64 b) { return a < b ? a : b; }
FF_INLINE u64 max_of(u64 a, u64 b) { return a > b ? a : b; }
FF_INLINE u64 minus(u64 a, u64 b) { return a > b ? a - b : 0; }
FF_INLINE u64 distance(u64 a, u64 b) { return a > b ? a - b : b - a; }

/* Words, in pieces: for more than 1024 bytes at once clang calls memcpy, which eBPF lacks. What is
 * small need not be made of words.
 */
#define COPY(to, from)                                                                            \
    do {                                                                                          \
        if (sizeof(*(to)) <= 64)                                                                  \
            *(to) = *(from);                                                                      \
        else                                                                                      \
            copy(to, from, sizeof(*(to)));                                                        \
    } while (0)

FF_INLINE void copy(void *to, const void *from, u64 size)
{
    u8 *left = __builtin_assume_aligned(to, 8);
    const u8 *right = __builtin_assume_aligned(from, 8);

#pragma GCC unroll 8
    for (u64 at = 0; at < size; at += 512)
        __builtin_memcpy(left + at, right + at, min_of(size - at, 512));
}

/* The same value, of which clang does not see how it came about. */
FF_INLINE u64 hidden(u64 value)
{
#ifdef __bpf__
    asm("" : "+r"(value));
#endif
    return value;
}

/* clang knows a saturating sum, for which eBPF has no instruction; it makes twice as many of it. */
FF_INLINE u64 plus(u64 a, u64 b)
{
    u64 sum = hidden(a + b);

    return sum < a ? U64_MAX : sum;
}

/* The upper 64 bits of a product. */
FF_INLINE u64 high_half(u64 a, u64 b)
{
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32);
    u64 other = a0 * b1 + (u32)middle;

    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* Of "the upper half is 0" clang makes "one part of it is minus the other", at which the verifier
 * of Linux 6.18 loses its bounds and warns of itself ("REG INVARIANTS VIOLATION").
 */
FF_INLINE u64 times(u64 a, u64 b)
{
    return (a | b) >> 32 && hidden(high_half(a, b)) ? U64_MAX : a * b;
}

/* One digit in base 2^32 of `(rest 2^32 + next) / den`, for rest < den and den >= 2^63. What two
 * halves of den give is at most two too many (Knuth, The Art of Computer Programming, 4.3.1).
 */
FF_INLINE u64 digit(u64 rest, u64 next, u64 den)
{
    u64 upper = den >> 32, lower = (u32)den;
    u64 guess = rest / upper, left = rest % upper;

    if (guess >> 32 || guess * lower > (left << 32 | next)) {
        guess--;
        left += upper;
        if (!(left >> 32) && (guess >> 32 || guess * lower > (left << 32 | next)))
            guess--;
    }
    return guess;
}

/* `(high 2^64 + low) / den`, for high < den. */
FF_SUBPROGRAM u64 divide_wide(u64 high, u64 low, u64 den)
{
    u64 first, second, shift = 0, top = den;

    if (!(top >> 32)) { shift += 32; top <<= 32; }
    if (!(top >> 48)) { shift += 16; top <<= 16; }
    if (!(top >> 56)) { shift += 8; top <<= 8; }
    if (!(top >> 60)) { shift += 4; top <<= 4; }
    if (!(top >> 62)) { shift += 2; top <<= 2; }
    if (!(top >> 63)) { shift += 1; top <<= 1; }
    if (shift)
        high = high << shift | low >> (64 - shift);
    low <<= shift;
    first = digit(high, low >> 32, top);
    high = (high << 32 | low >> 32) - first * top;
    second = digit(high, (u32)low, top);
    return first << 32 | second;
}

/* `a * b / den` without overflow on the way; `den` 0 counts as 1. */
FF_INLINE u64 mul_div(u64 a, u64 b, u64 den)
{
    u64 high = hidden(high_half(a, b));

    if (den == 0)
        den = 1;
    if (high == 0)
        return a * b / den;
    return high >= den ? U64_MAX : divide_wide(high, a * b, den);
}

/* What a rate moves in a span. */
FF_INLINE u64 rate_over(u64 rate, u64 span) { return mul_div(rate, span, NANOS_PER_SECOND); }

/* The rate that moves this much in a span; the largest for an empty one. */
FF_INLINE u64 rate_per(u64 bytes, u64 span)
{
    return span == 0 ? U64_MAX : mul_div(bytes, NANOS_PER_SECOND, span);
}

/* A span as a clock of whole ticks tells it: rounded down, at least one. No tick, no rounding. */
FF_INLINE u64 in_ticks(u64 span, u64 tick)
{
    if (tick == 0 || span == U64_MAX)
        return span;
    return max_of(span / tick, 1) * tick;
}

/* The largest whole number of segments that fits; "no limit" stays that. */
FF_INLINE u64 whole_segments(u64 bytes, u64 mss)
{
    return bytes == U64_MAX || mss == 0 ? bytes : bytes - bytes % mss;
}

#endif
