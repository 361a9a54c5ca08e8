/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A trial of two controls: crates/kernel/src/trial/dealing.rs writes what it is and reads what came
 * of it. Times are nanoseconds, RTTs are microseconds.
 */
#ifndef FF_TRIAL_H
#define FF_TRIAL_H

#include "deal.h"

/* What is dealt into an arm at once. */
#define BY_CONNECTION 0
#define BY_PREFIX 1 /* anew every minute */
#define BY_TIME 2   /* anew every minute */

#define MINUTE (60 * NANOS_PER_SECOND)

struct trial_plan {
    struct rule treated;
    char other[CA_NAME_MAX];
    u32 seed; /* of the hash that deals prefixes and minutes */
    u32 by;
    u64 bytes;      /* until so many are acknowledged the time is taken */
    u64 age;        /* at which bytes are counted */
    u64 report_age; /* at which a connection that still goes on is reported */
};

struct trial_counts {
    u64 matched;
    u64 own_choice; /* the application had chosen its control */
    u64 failed;
    u64 last_error; /* errno */
    u64 dropped;    /* outcomes for which the ring had no room */
    u64 dealt[2];   /* to the other control, and to the one that is tried */
};

/* The state of a connection at one time. */
struct snapshot {
    u64 at; /* since the handshake */
    u64 acked;
    u32 in_flight; /* bytes */
    u32 srtt;
};

struct outcome {
    u64 began; /* by CLOCK_BOOTTIME */
    u64 acked;
    u64 sent_again; /* bytes */
    struct snapshot bytes[2]; /* before and after so many were acknowledged; 0 for none */
    struct snapshot age[2];   /* before and after that age */
    struct ends ends;
    u32 treated;
    u32 error; /* errno of choosing the control, 0 for none */
    u32 timeouts;
    u32 broken; /* closed before both sides had finished */
    char control[CA_NAME_MAX];
};

#endif
