/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * Rules that give new connections a control: crates/kernel/src/steer.rs writes and reads them.
 * Addresses are in network order; one of IPv4 is ::ffff:a.b.c.d.
 */
#ifndef FF_STEER_H
#define FF_STEER_H

#include "kernel.h"

#define MAX_RULES 64
#define PER_MILLE 1000

struct rule {
    u32 address[4]; /* of the other end */
    u32 mask[4];
    u32 port; /* the other end's, or of a connection that was accepted this end's; 0 for any */
    u32 per_mille;
    char control[CA_NAME_MAX];
    u64 cgroup; /* the number of one that the socket was made in, or below; 0 for any */
    u32 cgroup_level; /* how far below the root it is */
    u32 unused;
};

/* The first that matches decides. */
struct rules {
    u32 unused;
    u32 count;
    struct rule rules[MAX_RULES];
};

struct rule_counts {
    u64 matched;
    u64 steered;
    u64 own_choice; /* the application had chosen its control */
    u64 failed;
    u64 last_error; /* errno */
};

#endif
