/* One connection in its steady state, as benches/calls.rs drives it in Rust: an ACK for a packet,
 * and a packet that leaves for it. Arguments: the control, how many ACKs. */
#include <firstflight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const uint64_t mss = 1000, window = 500, rtt = 100000000, gap = 200000;
    uint64_t acks = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, sent = 0, sum = 0, i;
    firstflight_config config = firstflight_tcp(mss);
    firstflight_sender *sender;
    char message[512];
    config.provides |= FIRSTFLIGHT_RATES | FIRSTFLIGHT_PACKETS | FIRSTFLIGHT_PACING;
    config.provides |= FIRSTFLIGHT_WAKE_UPS | FIRSTFLIGHT_SENT | FIRSTFLIGHT_RECOVERY_WINDOW;
    config.initial_window = config.max_cwnd = window * mss;
    if (argc < 3 || firstflight_new(argv[1], &config, &sender, message, sizeof message)) {
        fprintf(stderr, "%s\n", argc < 3 ? "two arguments" : message);
        return 2;
    }
    if (firstflight_begin(sender, 1))
        return 1;
    for (i = 0; i < acks + window; i++) {
        const uint64_t now = rtt + i / window * rtt + i % window * gap;
        firstflight_sent leaves = {0};
        if (i >= window) {
            firstflight_ack ack = {0};
            ack.now = now;
            ack.acked = ack.credited = mss;
            ack.in_flight = (window - 1) * mss;
            ack.snd_nxt = sent;
            ack.rtt = rtt;
            if (firstflight_on_ack(sender, &ack))
                return 1;
        }
        leaves.now = now;
        leaves.bytes = mss;
        leaves.in_flight = i < window ? (i + 1) * mss : window * mss;
        sent += mss;
        if (firstflight_on_sent(sender, &leaves, NULL))
            return 1;
        sum += firstflight_cwnd(sender);
    }
    printf("%llu\n", (unsigned long long)sum);
    firstflight_free(sender);
    return 0;
}
