// The C++ way to hold a sender: a pointer that frees it, and errors that are thrown. It prints the
// first windows of a control on a path that loses nothing.
//
//   c++ windows.cpp $(pkg-config --cflags --libs firstflight) && ./a.out hystart-pp
#include <firstflight.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Free {
    void operator()(firstflight_sender *sender) const { firstflight_free(sender); }
};
using Sender = std::unique_ptr<firstflight_sender, Free>;

void must(firstflight_error error) {
    if (error != FIRSTFLIGHT_ERROR_OK)
        throw std::runtime_error(firstflight_error_text(error));
}

Sender made(const std::string &control, const firstflight_config &config) {
    firstflight_sender *sender = nullptr;
    char message[512];
    if (firstflight_new(control.c_str(), &config, &sender, message, sizeof message))
        throw std::invalid_argument(message);
    return Sender(sender);
}

void run(firstflight_sender *sender, uint64_t mss) {
    const uint64_t rtt = 100000000;
    uint64_t sent = 0, acked = 0;
    must(firstflight_begin(sender, rtt));
    for (uint64_t round = 1; round <= 6; round++) {
        const uint64_t window = firstflight_cwnd(sender) / mss;
        std::printf("round %d: %4d packets\n", int(round), int(window));
        for (uint64_t i = 1; i <= window; i++) {
            firstflight_sent leaves{};
            leaves.now = round * rtt;
            leaves.bytes = mss;
            leaves.in_flight = i * mss;
            must(firstflight_on_sent(sender, &leaves, nullptr));
            sent += mss;
        }
        while (acked < sent) {
            firstflight_ack ack{};
            acked += mss;
            ack.now = (round + 1) * rtt;
            ack.acked = ack.credited = mss;
            ack.in_flight = sent - acked;
            ack.snd_nxt = sent;
            ack.rtt = rtt;
            must(firstflight_on_ack(sender, &ack));
        }
    }
}

} // namespace

int main(int argc, char **argv) {
    try {
        const firstflight_config config = firstflight_tcp(1448);
        const Sender sender = made(argc > 1 ? argv[1] : "hystart-pp", config);
        run(sender.get(), config.mss);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
