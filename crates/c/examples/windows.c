/* A sender on a toy path: 10 Mbit/s, 100 ms, a buffer of 200 packets of 1200 bytes. The program
 * sends as a QUIC does, paced where the control says so, and prints the window of each 100 ms.
 *
 *   cc windows.c $(pkg-config --cflags --libs firstflight) && ./a.out scout
 *
 * It compiles as C99 and as C++. */
#include <firstflight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1200, BUFFER = 200, PACKETS = 1500 };
static const uint64_t MS = 1000000, RTT = 100000000, PER_PACKET = 960000;

typedef struct {
    firstflight_packet state; /* what the library asks to be kept */
    uint64_t acked_at;        /* 0 for a packet that finds the buffer full */
    int done;                 /* acknowledged or lost */
} packet;

static void must(firstflight_error error) {
    if (error != FIRSTFLIGHT_ERROR_OK) {
        fprintf(stderr, "%s\n", firstflight_error_text(error));
        exit(1);
    }
}

/* The ACK of the packet `at`: first what it shows to be lost, then what it acknowledges. */
static uint64_t acknowledge(firstflight_sender *sender, packet *packets, int at, uint64_t flight) {
    firstflight_loss loss;
    firstflight_ack ack;
    uint64_t now = packets[at].acked_at;
    int i;
    memset(&loss, 0, sizeof loss);
    for (i = 0; i + 3 <= at; i++) { /* RFC 9002 section 6.1.1: the threshold is three packets */
        if (!packets[i].done) {
            packets[i].done = 1;
            loss.lost += SIZE;
            loss.sent_at = packets[i].state.sent_at;
        }
    }
    if (loss.lost > 0) {
        loss.now = now;
        loss.kind = FIRSTFLIGHT_RECOVERY;
        must(firstflight_on_loss(sender, &loss));
    }
    packets[at].done = 1;
    memset(&ack, 0, sizeof ack);
    ack.now = now;
    ack.in_flight = flight - loss.lost - SIZE;
    ack.rtt = now - packets[at].state.sent_at;
    ack.packet = &packets[at].state;
    must(firstflight_on_packet_acked(sender, packets[at].state.sent_at, SIZE));
    must(firstflight_on_frame(sender, &ack));
    return ack.in_flight;
}

/* When the packet after one of SIZE bytes may leave that leaves now. */
static uint64_t paced(firstflight_sender *sender, uint64_t now) {
    firstflight_pacing_now pacing;
    must(firstflight_pacing(sender, &pacing));
    if (pacing.rate == 0)
        return now;
    return now + SIZE * 1000 * MS / (pacing.first_bytes > 0 ? pacing.first_rate : pacing.rate);
}

/* A packet leaves and enters the buffer, if there is room. */
static void send(firstflight_sender *sender, packet *one, uint64_t now, uint64_t flight) {
    static uint64_t free_at = 0;
    firstflight_sent leaves;
    memset(&leaves, 0, sizeof leaves);
    leaves.now = now;
    leaves.bytes = SIZE;
    leaves.in_flight = flight + SIZE;
    must(firstflight_on_sent(sender, &leaves, &one->state));
    free_at = free_at > now ? free_at : now;
    if ((free_at - now) / PER_PACKET < BUFFER) {
        free_at += PER_PACKET;
        one->acked_at = free_at + RTT;
    }
}

static void run(firstflight_sender *sender, packet *packets) {
    uint64_t now = MS, may_leave_at = 0, flight = 0, printed = 0;
    int sent = 0, next = 0;
    must(firstflight_begin(sender, now));
    for (;;) {
        int open = sent < PACKETS && flight + SIZE <= firstflight_cwnd(sender);
        while (next < sent && packets[next].acked_at == 0)
            next++;
        if (open && (next == sent || may_leave_at <= packets[next].acked_at)) {
            now = may_leave_at > now ? may_leave_at : now;
            may_leave_at = paced(sender, now);
            send(sender, &packets[sent++], now, flight);
            flight += SIZE;
            continue;
        }
        if (next == sent)
            return;
        now = packets[next].acked_at;
        if (now / RTT > printed) {
            printed = now / RTT;
            printf("%5llu ms  %4llu packets\n", (unsigned long long)(printed * RTT / MS),
                   (unsigned long long)(firstflight_cwnd(sender) / SIZE));
        }
        flight = acknowledge(sender, packets, next++, flight);
    }
}

int main(int argc, char **argv) {
    const char *control = argc > 1 ? argv[1] : "scout";
    firstflight_config config = firstflight_quic(SIZE);
    firstflight_sender *sender;
    firstflight_startup_exit exit;
    char message[512];
    packet *packets = (packet *)calloc(PACKETS, sizeof(packet));
    if (packets == NULL)
        return 1;
    config.provides |= FIRSTFLIGHT_RATES | FIRSTFLIGHT_PACKETS;
    config.provides |= FIRSTFLIGHT_SENT | FIRSTFLIGHT_PACING;
    if (firstflight_new(control, &config, &sender, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        free(packets);
        return 2;
    }
    run(sender, packets);
    if (firstflight_exit(sender, &exit) == FIRSTFLIGHT_ERROR_OK)
        printf("start-up ended after %llu ms with %llu packets: %s\n",
               (unsigned long long)(exit.at / MS), (unsigned long long)(exit.cwnd / SIZE),
               exit.why);
    firstflight_free(sender);
    free(packets);
    return 0;
}
