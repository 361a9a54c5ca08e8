/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The little that is read and written of the kernel's own types. Only names count: libbpf finds
 * where each field lies in the running kernel, and every number here has the kernel's value.
 */
#ifndef FF_KERNEL_H
#define FF_KERNEL_H

#include "../units.h"

typedef u8 __u8;
typedef unsigned short __u16;
typedef u32 __u32;
typedef int __s32;
typedef u64 __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* A control's own state within a socket, in words of 64 bits. */
#define CA_PRIV_WORDS 13

/* Of a control's name, with its end. */
#define CA_NAME_MAX 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
    union {
        __be32 u6_addr32[4];
    } in6_u;
};

struct sock_common {
    __be32 skc_daddr;
    __be16 skc_dport;
    __u16 skc_num;
    __u16 skc_family;
    u8 skc_state;
    __be32 skc_rcv_saddr;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct sk_buff {
    u32 len;
};

struct sk_buff_head {
    struct sk_buff *next;
};

struct kernfs_node {
    u64 id;
};

/* Those above it and itself, from the root on: as pointers since Linux 6.1, as numbers before. */
struct cgroup {
    struct kernfs_node *kn;
    int level;
    struct cgroup *ancestors[1];
    u64 ancestor_ids[1];
};

struct sock_cgroup_data {
    struct cgroup *cgroup;
};

struct sock {
    struct sock_common __sk_common;
    struct sock_cgroup_data sk_cgrp_data;
    struct sk_buff_head sk_write_queue;
    __u16 sk_gso_max_segs;
    __u16 sk_protocol;
    unsigned long sk_pacing_rate;
    unsigned long sk_max_pacing_rate;
    u32 sk_pacing_status;
    u8 sk_pacing_shift;
};

/* What a control is called; by another name than the table of functions below, which this program
 * fills in itself.
 */
struct tcp_congestion_ops___named {
    char name[CA_NAME_MAX];
};

struct inet_connection_sock {
    const struct tcp_congestion_ops___named *icsk_ca_ops;
    u8 icsk_ca_state : 5;
    u8 icsk_ca_setsockopt : 1;
    u64 icsk_ca_priv[CA_PRIV_WORDS];
};

struct minmax_sample {
    u32 v;
};

struct minmax {
    struct minmax_sample s[3];
};

struct tcp_sock {
    u32 mss_cache;
    u32 snd_cwnd;
    u32 snd_cwnd_clamp;
    u32 snd_ssthresh;
    u32 snd_una;
    u32 snd_nxt;
    u32 write_seq;
    u32 packets_out;
    u32 max_packets_out;
    u32 sacked_out;
    u32 lost_out;
    u32 retrans_out;
    u32 delivered;
    u32 lost;
    u32 data_segs_out;
    u32 srtt_us;
    u64 bytes_acked;
    u64 bytes_sent;
    u64 tcp_clock_cache;
    u64 tcp_wstamp_ns;
    u32 prior_cwnd;
    u32 prior_ssthresh;
    u32 delivered_ce;
    u32 total_retrans;
    u32 rate_delivered;
    u32 rate_interval_us;
    u32 chrono_stat[3];
    u64 bytes_retrans;
    struct minmax rtt_min;
    u8 is_cwnd_limited : 1;
    u8 syn_data : 1;
};

struct ack_sample {
    __s32 rtt_us;
};

#pragma clang attribute pop

/* enum tcp_ca_state, enum tcp_ca_event; as numbers, because only some are named here. */
#define CA_CWR 2
#define CA_RECOVERY 3
#define CA_LOSS 4
#define CA_EVENT_TX_START 0
#define CA_EVENT_LOSS 3

/* include/net/sock.h, enum sk_pacing */
#define PACING_NONE 0
#define PACING_NEEDED 1

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECEIVED 3
#define TCP_FIN_WAIT1 4
#define TCP_CLOSED 7
#define TCP_CLOSE_WAIT 8

/* include/net/tcp.h */
#define CONG_NON_RESTRICTED 1
#define INFINITE_SSTHRESH 0x7fffffffU
#define MIN_TSO_SEGS 2

/* A control in full, as users write it. */
#define TEXT_MAX 256

/* include/uapi: sockets and BPF */
#define AF_INET 2
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define MAP_TYPE_ARRAY 2
#define MAP_TYPE_LRU_HASH 9
#define MAP_TYPE_SK_STORAGE 24
#define MAP_TYPE_RINGBUF 27
#define MAP_NO_PREALLOC 1
#define STORAGE_CREATE 1

/* The table of functions that is a congestion control; libbpf matches members by name. */
struct tcp_congestion_ops {
    char name[CA_NAME_MAX];
    u32 flags;
    u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
    void (*set_state)(struct sock *sk, u8 new_state);
    void (*cwnd_event)(struct sock *sk, u32 event);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    u32 (*undo_cwnd)(struct sock *sk);
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
    u32 (*min_tso_segs)(struct sock *sk);
    void (*cong_control)(struct sock *sk);
    /* Since Linux 7.1; the loader leaves it out before. It is the last, so that it is found. */
    void (*cwnd_event_tx_start)(struct sock *sk);
};

#endif
