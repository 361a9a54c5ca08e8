/* firstflight: congestion-control start-ups for stacks in C and C++.
 *
 * The guide is docs/c.md.
 *
 * The order of the calls: firstflight_new, then perhaps firstflight_on_hint and
 * firstflight_on_handshake, then firstflight_begin, then events as they happen. Every call that
 * answers a firstflight_error has done nothing if that is not FIRSTFLIGHT_ERROR_OK. Windows are in
 * bytes, times in nanoseconds, rates in bytes per second. Zero in a field means none, or not known.
 *
 * cbindgen makes this file of crates/c. */

#ifndef FIRSTFLIGHT_H
#define FIRSTFLIGHT_H

#include <stddef.h>
#include <stdint.h>

/**
 * The number of this interface; `firstflight_config.abi` holds it. While it is 0, any release may
 * change anything.
 */
#define FIRSTFLIGHT_ABI 0

/**
 * No limit, and no time: an ssthresh that nothing has set, a wake-up that nobody wants.
 */
#define FIRSTFLIGHT_NEVER UINT64_MAX

/**
 * Every ACK has its time and, where one can be taken, an RTT.
 */
#define FIRSTFLIGHT_TIMES 1

/**
 * ACKs carry delivery-rate samples.
 */
#define FIRSTFLIGHT_RATES (1 << 1)

/**
 * ACKs say when their newest packet left, and what was delivered and in flight then.
 */
#define FIRSTFLIGHT_PACKETS (1 << 2)

/**
 * The stack reports how much was marked with congestion experienced.
 */
#define FIRSTFLIGHT_MARKS (1 << 3)

/**
 * Packets leave at the rate of `firstflight_pacing`.
 */
#define FIRSTFLIGHT_PACING (1 << 4)

/**
 * `firstflight_on_wake` is called at the time of `firstflight_wake_at`.
 */
#define FIRSTFLIGHT_WAKE_UPS (1 << 5)

/**
 * The window counts inside a recovery too.
 */
#define FIRSTFLIGHT_RECOVERY_WINDOW (1 << 6)

/**
 * The number of separate gaps that a loss made is exact.
 */
#define FIRSTFLIGHT_GAPS (1 << 7)

/**
 * What earlier connections learned is handed over by `firstflight_on_hint`.
 */
#define FIRSTFLIGHT_MEMORY (1 << 8)

/**
 * Everything that leaves is reported before the next ACK or loss, repeats included.
 */
#define FIRSTFLIGHT_SENT (1 << 12)

/**
 * What `firstflight_repeats` asks for is sent again.
 */
#define FIRSTFLIGHT_REPEATS (1 << 13)

/**
 * `firstflight_on_wake` is called while data waits, as the timer of a pacer can do it.
 */
#define FIRSTFLIGHT_PACED_WAKE_UPS (1 << 14)

/**
 * Packets leave as ECT(1) (RFC 9331).
 */
#define FIRSTFLIGHT_L4S (1 << 15)

/**
 * The window grows only as far as the largest flight justifies
 * (draft-ietf-ccwg-ratelimited-increase).
 */
#define FIRSTFLIGHT_LIMITS_GROWTH 1

/**
 * An ACK opens the window by one segment at most in slow start (RFC 5681 section 3.1); without it
 * by all that it acknowledges.
 */
#define FIRSTFLIGHT_SEGMENT_PER_ACK (1 << 1)

/**
 * Packets are paced where no policy sets a rate: 2 windows per RTT in start-up, 1.25 after it.
 */
#define FIRSTFLIGHT_PACES (1 << 2)

/**
 * Packets are paced as Linux does it, once a policy has set a rate.
 */
#define FIRSTFLIGHT_PACES_AS_LINUX (1 << 3)

/**
 * A loss halves the window and not the flight, as in Linux and RFC 9002.
 */
#define FIRSTFLIGHT_HALVES_WINDOW (1 << 4)

/**
 * The receiver does not acknowledge every packet, or packets are paced: rate estimates have
 * weights per packet, unless the control says otherwise.
 */
#define FIRSTFLIGHT_PER_PACKET (1 << 5)

/**
 * Found by duplicate ACKs, SACK or a packet threshold.
 */
#define FIRSTFLIGHT_RECOVERY 0

/**
 * Found by TCP's retransmission timer, or QUIC's persistent congestion.
 */
#define FIRSTFLIGHT_TIMEOUT 1

/**
 * Nothing was lost: marks of congestion, from a stack that does not know how much was marked.
 */
#define FIRSTFLIGHT_MARK 2

/**
 * What is lost had been sent again before.
 */
#define FIRSTFLIGHT_AGAIN 1

/**
 * An earlier answer covers the loss: a timeout during a recovery, or after another of the same
 * data.
 */
#define FIRSTFLIGHT_ANSWERED (1 << 1)

/**
 * A timeout is being repaired whose cut covers the loss.
 */
#define FIRSTFLIGHT_AFTER_TIMEOUT (1 << 2)

/**
 * The last connection between the same two hosts learned it.
 */
#define FIRSTFLIGHT_OWN 0

/**
 * Any connection over the same path learned it.
 */
#define FIRSTFLIGHT_SHARED 1

/**
 * What a call answers.
 */
typedef enum firstflight_error {
  /**
   * Done.
   */
  FIRSTFLIGHT_ERROR_OK = 0,
  /**
   * A pointer is null that must not be.
   */
  FIRSTFLIGHT_ERROR_NULL = 1,
  /**
   * The memory holds no sender: it was never made, or is freed.
   */
  FIRSTFLIGHT_ERROR_SENDER = 2,
  /**
   * The program was compiled with the header of another version of the interface.
   */
  FIRSTFLIGHT_ERROR_ABI = 3,
  /**
   * The text names no control that this library has.
   */
  FIRSTFLIGHT_ERROR_CONTROL = 4,
  /**
   * The control needs what the stack does not declare to provide.
   */
  FIRSTFLIGHT_ERROR_LACKS = 5,
  /**
   * A field of the configuration has no meaning.
   */
  FIRSTFLIGHT_ERROR_CONFIG = 6,
  /**
   * The memory is too small for a sender, or not aligned for it, or the heap is full.
   */
  FIRSTFLIGHT_ERROR_MEMORY = 7,
  /**
   * The call does not follow those before it.
   */
  FIRSTFLIGHT_ERROR_ORDER = 8,
  /**
   * The event is older than the one before it.
   */
  FIRSTFLIGHT_ERROR_TIME = 9,
  /**
   * The numbers contradict what was told before.
   */
  FIRSTFLIGHT_ERROR_NUMBER = 10,
  /**
   * The library was built without what the call takes.
   */
  FIRSTFLIGHT_ERROR_BUILD = 11,
} firstflight_error;

/**
 * The sender of a connection. One thread at a time calls for it.
 */
typedef struct firstflight_sender firstflight_sender;

/**
 * What a stack is, and what it fixes for a sender. `firstflight_tcp` or `firstflight_quic`
 * fills it.
 */
typedef struct firstflight_config {
  /**
   * `FIRSTFLIGHT_ABI`.
   */
  uint32_t abi;
  /**
   * What the stack provides: facilities such as `FIRSTFLIGHT_TIMES`, joined by `|`. What is
   * declared must arrive.
   */
  uint32_t provides;
  /**
   * Rules of the endpoint such as `FIRSTFLIGHT_LIMITS_GROWTH`, joined by `|`.
   */
  uint32_t rules;
  /**
   * A pacer of the stack's own that nothing turns off, in hundredths of a window per RTT; 0
   * without one.
   */
  uint32_t own_pacer;
  /**
   * Largest payload of one packet, in bytes, from 1 to 2^32.
   */
  uint64_t mss;
  /**
   * First window, in bytes, where the control has none of its own.
   */
  uint64_t initial_window;
  /**
   * First ssthresh, in bytes; `FIRSTFLIGHT_NEVER` for no limit.
   */
  uint64_t initial_ssthresh;
  /**
   * Largest window, in bytes.
   */
  uint64_t max_cwnd;
} firstflight_config;

/**
 * What a connection knows of its path when it ends.
 */
typedef struct firstflight_learned_path {
  /**
   * cwnd, in bytes.
   */
  uint64_t cwnd;
  /**
   * ssthresh, in bytes; `FIRSTFLIGHT_NEVER` if no loss ever set it.
   */
  uint64_t ssthresh;
  /**
   * Smoothed RTT, in nanoseconds; not 0.
   */
  uint64_t rtt;
  /**
   * Smallest RTT, in nanoseconds; not 0.
   */
  uint64_t min_rtt;
  /**
   * Payload that was delivered, in bytes.
   */
  uint64_t delivered;
  /**
   * Payload that was delivered in a round, in bytes.
   */
  uint64_t per_round;
  /**
   * The rate of the path that its start-up measured, in bytes per second; 0 if it measures none.
   */
  uint64_t rate;
  /**
   * How long ago the connection ended, in nanoseconds.
   */
  uint64_t age;
} firstflight_learned_path;

/**
 * Data leaves.
 */
typedef struct firstflight_sent {
  /**
   * When, in nanoseconds by a clock of the stack's that never goes back.
   */
  uint64_t now;
  /**
   * Payload, in bytes.
   */
  uint64_t bytes;
  /**
   * Payload in flight, in bytes, this packet included.
   */
  uint64_t in_flight;
  /**
   * 1 for TCP's retransmission, 0 for new data. QUIC never sends a packet again.
   */
  uint32_t again;
  /**
   * 0.
   */
  uint32_t reserved;
} firstflight_sent;

/**
 * The state in which a packet left: `firstflight_on_sent` fills it, the stack keeps it beside the
 * packet, and hands it back with the ACK. A stack that measures by itself may fill it, too.
 */
typedef struct firstflight_packet {
  /**
   * When it left, in nanoseconds.
   */
  uint64_t sent_at;
  /**
   * Payload delivered by then, in bytes.
   */
  uint64_t delivered;
  /**
   * Payload in flight then, in bytes, this packet included.
   */
  uint64_t in_flight;
  /**
   * When the packet had left that was acknowledged last by then.
   */
  uint64_t first_sent_at;
  /**
   * When that was acknowledged.
   */
  uint64_t delivered_at;
  /**
   * Not 0 if the source, not the window, limited sending then.
   */
  uint64_t app_limited;
} firstflight_packet;

/**
 * An acknowledgement arrived.
 */
typedef struct firstflight_ack {
  /**
   * When, in nanoseconds.
   */
  uint64_t now;
  /**
   * Payload newly acknowledged cumulatively, in bytes; 0 for a duplicate ACK, and for
   * `firstflight_on_frame`.
   */
  uint64_t acked;
  /**
   * Payload that this ACK is the first to tell of as received, in bytes, cumulatively,
   * selectively or by a duplicate ACK; 0 for `firstflight_on_frame`.
   */
  uint64_t credited;
  /**
   * Payload in flight after it, in bytes.
   */
  uint64_t in_flight;
  /**
   * SND.NXT as an offset from the first byte of the connection; 0 for `firstflight_on_frame`.
   */
  uint64_t snd_nxt;
  /**
   * RTT of the newest packet acknowledged, in nanoseconds; 0 without a sample (Karn).
   */
  uint64_t rtt;
  /**
   * Payload newly reported as marked, in bytes.
   */
  uint64_t marked;
  /**
   * The state in which the newest packet acknowledged had left, or null. The delivery-rate
   * sample is then made of it.
   */
  const struct firstflight_packet *packet;
  /**
   * Where the stack takes delivery-rate samples itself: payload delivered in the interval, in
   * bytes.
   */
  uint64_t sample_delivered;
  /**
   * The interval, in nanoseconds; 0 without a sample.
   */
  uint64_t sample_interval;
  /**
   * Not 0 if the source limited sending within the interval.
   */
  uint32_t sample_app_limited;
  /**
   * Not 0 if the source, not the window, limited sending when the acknowledged data left.
   */
  uint32_t app_limited;
} firstflight_ack;

/**
 * Data was found lost, or marks came.
 */
typedef struct firstflight_loss {
  /**
   * When it was found, in nanoseconds.
   */
  uint64_t now;
  /**
   * `FIRSTFLIGHT_RECOVERY`, `FIRSTFLIGHT_TIMEOUT` or `FIRSTFLIGHT_MARK`.
   */
  uint32_t kind;
  /**
   * What is known of the loss, such as `FIRSTFLIGHT_AGAIN`, joined by `|`.
   */
  uint32_t flags;
  /**
   * Payload newly found lost, in bytes.
   */
  uint64_t lost;
  /**
   * Into how many separate gaps it falls; 0 for one.
   */
  uint32_t gaps;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * What a halving halves, in bytes (RFC 5681: FlightSize); not read where
   * `FIRSTFLIGHT_HALVES_WINDOW` is set.
   */
  uint64_t flight;
  /**
   * When the newest lost packet had left, in nanoseconds, from a stack that tells recoveries
   * apart by time (RFC 9002 section 7.3.1); 0 from others.
   */
  uint64_t sent_at;
} firstflight_loss;

/**
 * How packets leave within the window.
 */
typedef struct firstflight_pacing_now {
  /**
   * Payload per second, in bytes; 0 sends as the window allows.
   */
  uint64_t rate;
  /**
   * What may leave at once, in bytes; one packet where this is less.
   */
  uint64_t burst;
  /**
   * How many of the next bytes leave at `first_rate`; the others leave at `rate`.
   */
  uint64_t first_bytes;
  /**
   * The rate of the next bytes, in bytes per second.
   */
  uint64_t first_rate;
  /**
   * Nothing leaves before this time, in nanoseconds.
   */
  uint64_t not_before;
} firstflight_pacing_now;

/**
 * How the first start-up ended.
 */
typedef struct firstflight_startup_exit {
  /**
   * When, in nanoseconds.
   */
  uint64_t at;
  /**
   * The window just before, in bytes.
   */
  uint64_t cwnd;
  /**
   * Payload in flight then, in bytes.
   */
  uint64_t in_flight;
  /**
   * Why, in a word: `ssthresh`, `heuristic`, `loss`, `timeout` or `ecn`. It is never freed.
   */
  const char *why;
} firstflight_startup_exit;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The compiler's own library for targets that can unwind asks for this function, which nothing
 * calls where a panic ends in the loop above.
 */
void rust_eh_personality(void);

/**
 * The library's version of this header's interface: `FIRSTFLIGHT_ABI`.
 */
uint32_t firstflight_abi(void);

/**
 * The sentence of a code that a call answered. It is never freed.
 */
const char *firstflight_error_text(int32_t code);

/**
 * How many bytes a sender takes, whatever its control.
 */
size_t firstflight_size(void);

/**
 * The alignment of a sender, in bytes.
 */
size_t firstflight_align(void);

/**
 * The configuration of a TCP with packets of `mss` bytes of payload, which the stack then
 * corrects: RFC 6928's first window, and nothing provided but the times of ACKs.
 */
struct firstflight_config firstflight_tcp(uint64_t mss);

/**
 * The configuration of a QUIC with datagrams of `mss` bytes: RFC 9002's first window. Report ACKs
 * by `firstflight_on_packet_acked` and `firstflight_on_frame`.
 */
struct firstflight_config firstflight_quic(uint64_t mss);

/**
 * Makes a sender of a control as users write it, such as `hystart-pp` or `scout(...)+cubic`, in
 * memory of the heap, and puts it into `*made`. `message`, if it is not null, has room for so many
 * bytes and gets a sentence if something is wrong: what was found and what is accepted.
 */
enum firstflight_error firstflight_new(const char *control,
                                       const struct firstflight_config *config,
                                       struct firstflight_sender **made,
                                       char *message,
                                       size_t room);

/**
 * Makes a sender as `firstflight_new` does, in memory of the caller's, which must not move: `size`
 * bytes at least `firstflight_size`, aligned to `firstflight_align`.
 */
enum firstflight_error firstflight_place(void *memory,
                                         size_t size,
                                         const char *control,
                                         const struct firstflight_config *config,
                                         struct firstflight_sender **made,
                                         char *message,
                                         size_t room);

/**
 * The sender is needed no more: its memory goes back to the heap if `firstflight_new` took it from
 * there, and to the caller otherwise. Null is nothing to free.
 */
void firstflight_free(struct firstflight_sender *sender);

/**
 * Before `firstflight_begin`: an earlier connection over the path learned this
 * (`firstflight_learned`); `kind` is `FIRSTFLIGHT_OWN` or `FIRSTFLIGHT_SHARED`.
 */
enum firstflight_error firstflight_on_hint(struct firstflight_sender *sender,
                                           uint64_t now,
                                           uint32_t kind,
                                           const struct firstflight_learned_path *learned);

/**
 * Before `firstflight_begin`: the handshake ended, with an RTT in nanoseconds.
 */
enum firstflight_error firstflight_on_handshake(struct firstflight_sender *sender,
                                                uint64_t now,
                                                uint64_t rtt);

/**
 * Call it once, before the first data and after hints and the handshake.
 */
enum firstflight_error firstflight_begin(struct firstflight_sender *sender, uint64_t now);

/**
 * Data leaves. `packet`, if it is not null, becomes the state in which it leaves, to be kept
 * beside the packet and handed back with its ACK.
 */
enum firstflight_error firstflight_on_sent(struct firstflight_sender *sender,
                                           const struct firstflight_sent *sent,
                                           struct firstflight_packet *packet);

/**
 * An ACK of TCP arrived. Report every ACK, duplicates too, after the losses that it reveals.
 */
enum firstflight_error firstflight_on_ack(struct firstflight_sender *sender,
                                          const struct firstflight_ack *ack);

/**
 * A QUIC ACK frame acknowledges a packet of so many bytes that had left at `sent_at`; one call for
 * each, then `firstflight_on_frame`.
 */
enum firstflight_error firstflight_on_packet_acked(struct firstflight_sender *sender,
                                                   uint64_t sent_at,
                                                   uint64_t bytes);

/**
 * The frame is complete whose packets `firstflight_on_packet_acked` has reported.
 */
enum firstflight_error firstflight_on_frame(struct firstflight_sender *sender,
                                            const struct firstflight_ack *ack);

/**
 * Data was found lost, or marks came whose number the stack does not know. Report every loss,
 * during a recovery too; the sender cuts once.
 */
enum firstflight_error firstflight_on_loss(struct firstflight_sender *sender,
                                           const struct firstflight_loss *loss);

/**
 * TCP's recovery is over. Call it before the ACK that ended it is reported. `cwnd` is what the
 * recovery's own algorithm leaves of the window, 0 if it has no say. In QUIC
 * `firstflight_on_frame` knows it.
 */
enum firstflight_error firstflight_on_recovered(struct firstflight_sender *sender, uint64_t cwnd);

/**
 * The loss of the last cut was none: window and control are as before it.
 */
enum firstflight_error firstflight_on_spurious_loss(struct firstflight_sender *sender);

/**
 * Data leaves again after the source had none for `idle` nanoseconds and all was acknowledged.
 * `cwnd` and `ssthresh` are what the stack leaves of them (RFC 5681 section 4.1, RFC 7661); a cwnd
 * of 0 changes neither.
 */
enum firstflight_error firstflight_on_rest(struct firstflight_sender *sender,
                                           uint64_t now,
                                           uint64_t idle,
                                           uint64_t cwnd,
                                           uint64_t ssthresh);

/**
 * The time of `firstflight_wake_at` has come.
 */
enum firstflight_error firstflight_on_wake(struct firstflight_sender *sender, uint64_t now);

/**
 * The largest payload of a packet is another from now on.
 */
enum firstflight_error firstflight_set_mss(struct firstflight_sender *sender, uint64_t mss);

/**
 * The congestion window, in bytes; 0 if there is no sender.
 */
uint64_t firstflight_cwnd(const struct firstflight_sender *sender);

/**
 * The slow-start threshold, in bytes: `FIRSTFLIGHT_NEVER` while nothing has set it, 0 if `sender`
 * is null.
 */
uint64_t firstflight_ssthresh(const struct firstflight_sender *sender);

/**
 * How the next packets leave.
 */
enum firstflight_error firstflight_pacing(const struct firstflight_sender *sender,
                                          struct firstflight_pacing_now *pacing);

/**
 * When `firstflight_on_wake` is to be called, in nanoseconds; `FIRSTFLIGHT_NEVER` if it is not.
 */
uint64_t firstflight_wake_at(const struct firstflight_sender *sender);

/**
 * 1 while start-up decides, 0 after it.
 */
int32_t firstflight_in_startup(const struct firstflight_sender *sender);

/**
 * 1 if the control sets the window of the recovery under way: the stack repairs within it, and
 * reduces what it sends no further.
 */
int32_t firstflight_sets_recovery_window(const struct firstflight_sender *sender);

/**
 * 1 if, after the ACK just reported and if nothing else leaves, the last packet that is neither
 * acknowledged nor lost is to be sent again. For `FIRSTFLIGHT_REPEATS`.
 */
int32_t firstflight_repeats(const struct firstflight_sender *sender);

/**
 * What the control needs of a stack, required or wanted: facilities such as `FIRSTFLIGHT_TIMES`.
 */
uint32_t firstflight_needs(const struct firstflight_sender *sender);

/**
 * How the first start-up ended; `FIRSTFLIGHT_ERROR_ORDER` if it has not.
 */
enum firstflight_error firstflight_exit(const struct firstflight_sender *sender,
                                        struct firstflight_startup_exit *exit);

/**
 * What the connection has learned of its path, for `firstflight_on_hint` of the next one, which
 * sets its age; `FIRSTFLIGHT_ERROR_ORDER` before the first RTT.
 */
enum firstflight_error firstflight_learned(const struct firstflight_sender *sender,
                                           struct firstflight_learned_path *learned);

/**
 * 1 if the hint proved wrong: whoever keeps it should forget it.
 */
int32_t firstflight_refutes_hint(const struct firstflight_sender *sender);

/**
 * In a library built with the feature `conformance`: what was wrong with all that was reported to
 * the sender so far, a sentence a line, in `message`. `occasion` are those of the provided
 * facilities for which there was an occasion, as a loss is for `FIRSTFLIGHT_GAPS`. The answer is
 * `FIRSTFLIGHT_ERROR_NUMBER` if anything was wrong, `FIRSTFLIGHT_ERROR_BUILD` in other libraries.
 */
enum firstflight_error firstflight_check(const struct firstflight_sender *sender,
                                         uint32_t occasion,
                                         char *message,
                                         size_t room);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FIRSTFLIGHT_H */
