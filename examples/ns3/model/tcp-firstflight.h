// Any control of firstflight as a congestion control of ns-3's TCP.
#ifndef TCP_FIRSTFLIGHT_H
#define TCP_FIRSTFLIGHT_H

#include "ns3/event-id.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"

#include <deque>
#include <firstflight.h>
#include <string>

namespace ns3
{

// ns-3's events become those of firstflight.h; nothing is decided here.
//
// ns-3 tells a congestion control of every ACK after it has been processed (CongControl), and of
// changes of the state of repair. What leaves is seen by the trace of the highest sequence number,
// packet by packet; what leaves again shows in the bytes in flight at the next ACK. The RTT is that
// of the newest packet acknowledged, because ns-3 hands out a smoothed one only, and none is taken
// of what may have been sent again.
class TcpFirstflight : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId();

    TcpFirstflight();
    TcpFirstflight(const TcpFirstflight& other);
    ~TcpFirstflight() override;

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    // A packet that left for the first time.
    struct Departed
    {
        uint64_t end; // the offset behind its last byte
        firstflight_packet state;
    };

    // The first data is about to leave.
    void Begin();
    // A packet leaves for the first time.
    void OnHighest(SequenceNumber32 before, SequenceNumber32 now);
    // What has left again since the last event, by the bytes in flight then.
    void TellRepeats(uint64_t inFlight);
    void TellLoss(uint32_t kind, uint64_t lost);
    // Takes over window, threshold, pace and wake-up.
    void Update();
    // Takes over the pace, which changes with what leaves.
    void UpdatePace();
    // The window while lost packets are repaired and no policy sets it (RFC 9937): ns-3 leaves that
    // to a control that has CongControl.
    void ReduceInProportion(uint64_t credited);
    void OnWake();
    uint64_t Offset(SequenceNumber32 sequence) const;

    std::string m_control;
    bool m_handshakes{true};
    uint64_t m_made{0};            // when the socket got this control
    uint64_t m_handshake{0};       // how long the handshake took; 0 if that is not known
    Ptr<TcpSocketState> m_tcb;
    firstflight_sender* m_sender{nullptr};
    std::deque<Departed> m_departed;
    SequenceNumber32 m_highest;    // the highest sequence number that has left
    uint64_t m_high{0};            // as an offset
    uint64_t m_acked{0};           // the offset of what is acknowledged
    uint64_t m_delivered{0};       // payload delivered
    uint64_t m_sent{0};            // payload that left, repeats included
    uint64_t m_inFlight{0};        // payload in flight as reported
    uint64_t m_repairedUpTo{0};    // no RTT is taken of what ends at or below
    uint64_t m_atTimeout{0};       // payload in flight when the timer fired
    uint64_t m_restsSince{0};      // when nothing was in flight any more; 0 before the first data
    uint64_t m_flightAtLoss{0};    // payload in flight when the recovery began; 0 outside of one
    uint64_t m_prrDelivered{0};    // payload delivered in the recovery
    uint64_t m_prrOut{0};          // payload that left in it
    bool m_entersRecovery{false};  // since the last ACK was reported
    bool m_endsRecovery{false};    // since then, too
    SequenceNumber32 m_base;       // the first byte of data
    EventId m_wake;
};

} // namespace ns3

#endif
