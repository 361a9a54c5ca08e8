#include "tcp-firstflight.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/fatal-error.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <iostream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TcpFirstflight);

namespace
{
// What ns-3 carries. A rate sample comes with every ACK, the state of a packet with those of new
// data. A wake-up lets nothing leave that waits for no timer of ns-3's.
const uint32_t kProvides = FIRSTFLIGHT_TIMES | FIRSTFLIGHT_RATES | FIRSTFLIGHT_PACKETS |
                           FIRSTFLIGHT_PACING | FIRSTFLIGHT_RECOVERY_WINDOW | FIRSTFLIGHT_SENT |
                           FIRSTFLIGHT_PACED_WAKE_UPS;

// ConnTimeout of ns-3's TcpSocket, in nanoseconds.
const uint64_t kSynTimeout = 3000000000;

uint64_t
Nanoseconds()
{
    return uint64_t(Simulator::Now().GetNanoSeconds());
}

void
Must(firstflight_error error)
{
    if (error != FIRSTFLIGHT_ERROR_OK)
    {
        NS_FATAL_ERROR("firstflight: " << firstflight_error_text(error));
    }
}
} // namespace

TypeId
TcpFirstflight::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TcpFirstflight")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddConstructor<TcpFirstflight>()
            .AddAttribute("Control",
                          "The control, as `firstflight list` has it",
                          StringValue("hystart-pp"),
                          MakeStringAccessor(&TcpFirstflight::m_control),
                          MakeStringChecker())
            .AddAttribute("HandshakeRtt",
                          "Whether the handshake is the first RTT: the socket connects when it is "
                          "made, as those of ns-3's applications do",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TcpFirstflight::m_handshakes),
                          MakeBooleanChecker());
    return tid;
}

TcpFirstflight::TcpFirstflight()
{
}

TcpFirstflight::TcpFirstflight(const TcpFirstflight& other)
    : TcpCongestionOps(other),
      m_control(other.m_control),
      m_handshakes(other.m_handshakes)
{
}

TcpFirstflight::~TcpFirstflight()
{
    m_wake.Cancel();
    // A library built for conformance says what this adapter told it wrongly; others say nothing.
    char message[8192];
    const uint32_t seen = FIRSTFLIGHT_TIMES | FIRSTFLIGHT_RATES | FIRSTFLIGHT_PACKETS;
    if (m_sender && firstflight_check(m_sender, seen, message, sizeof message) ==
                        FIRSTFLIGHT_ERROR_NUMBER)
    {
        std::cerr << message << std::endl;
    }
    firstflight_free(m_sender);
}

std::string
TcpFirstflight::GetName() const
{
    return "TcpFirstflight";
}

void
TcpFirstflight::Init(Ptr<TcpSocketState> tcb)
{
    m_tcb = tcb;
    m_made = Nanoseconds();
    tcb->TraceConnectWithoutContext("HighestSequence",
                                    MakeCallback(&TcpFirstflight::OnHighest, this));
}

Ptr<TcpCongestionOps>
TcpFirstflight::Fork()
{
    return CopyObject<TcpFirstflight>(this);
}

bool
TcpFirstflight::HasCongControl() const
{
    return true;
}

void
TcpFirstflight::IncreaseWindow(Ptr<TcpSocketState>, uint32_t)
{
    // CongControl sets the window.
}

uint64_t
TcpFirstflight::Offset(SequenceNumber32 sequence) const
{
    // Sequence numbers wrap; what is told is never half their range from the highest.
    return m_high + int64_t(sequence - m_highest);
}

void
TcpFirstflight::Begin()
{
    firstflight_config config = firstflight_tcp(m_tcb->m_segmentSize);
    config.provides = kProvides;
    config.initial_window = m_tcb->m_cWnd.Get();
    config.max_cwnd = UINT32_MAX;
    const uint32_t ssthresh = m_tcb->m_ssThresh.Get();
    config.initial_ssthresh = ssthresh == UINT32_MAX ? FIRSTFLIGHT_NEVER : ssthresh;
    char message[1024];
    if (firstflight_new(m_control.c_str(), &config, &m_sender, message, sizeof message))
    {
        NS_FATAL_ERROR("firstflight: " << message);
    }
    m_base = m_highest = m_tcb->m_nextTxSequence.Get();
    m_tcb->m_paceInitialWindow = true;
    if (m_handshake > 0)
    {
        Must(firstflight_on_handshake(m_sender, Nanoseconds(), m_handshake));
    }
    Must(firstflight_begin(m_sender, Nanoseconds()));
    Update();
}

void
TcpFirstflight::CwndEvent(Ptr<TcpSocketState>, const TcpSocketState::TcpCAEvent_t event)
{
    if (event != TcpSocketState::CA_EVENT_TX_START)
    {
        return;
    }
    if (!m_sender)
    {
        Begin();
    }
    else if (m_restsSince > 0 && m_sent == m_delivered && Nanoseconds() > m_restsSince)
    {
        Must(firstflight_on_rest(m_sender, Nanoseconds(), Nanoseconds() - m_restsSince, 0, 0));
        Update();
    }
}

void
TcpFirstflight::OnHighest(SequenceNumber32, SequenceNumber32 now)
{
    if (!m_sender || now <= m_highest)
    {
        return; // the SYN
    }
    const uint64_t bytes = uint64_t(now - m_highest);
    m_highest = now;
    m_high += bytes;
    m_inFlight += bytes;
    m_sent += bytes;
    m_prrOut += bytes;
    Departed departed;
    departed.end = m_high;
    firstflight_sent sent{};
    sent.now = Nanoseconds();
    sent.bytes = bytes;
    sent.in_flight = m_inFlight;
    Must(firstflight_on_sent(m_sender, &sent, &departed.state));
    m_departed.push_back(departed);
    UpdatePace();
}

void
TcpFirstflight::TellRepeats(uint64_t inFlight)
{
    if (inFlight <= m_inFlight)
    {
        return;
    }
    firstflight_sent sent{};
    sent.now = Nanoseconds();
    sent.bytes = inFlight - m_inFlight;
    sent.in_flight = inFlight;
    sent.again = 1;
    m_sent += sent.bytes;
    m_prrOut += sent.bytes;
    m_inFlight = inFlight;
    Must(firstflight_on_sent(m_sender, &sent, nullptr));
}

void
TcpFirstflight::TellLoss(uint32_t kind, uint64_t lost)
{
    firstflight_loss loss{};
    loss.now = Nanoseconds();
    loss.kind = kind;
    loss.lost = std::min(lost, m_sent);
    loss.flight = m_inFlight; // what ns-3's own controls halve
    if (kind == FIRSTFLIGHT_RECOVERY && loss.lost == 0)
    {
        return;
    }
    Must(firstflight_on_loss(m_sender, &loss));
}

uint32_t
TcpFirstflight::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    if (!m_sender)
    {
        return UINT32_MAX;
    }
    m_atTimeout = bytesInFlight;
    if (tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD)
    {
        TellLoss(FIRSTFLIGHT_MARK, 0);
        Update();
    }
    return uint32_t(std::min<uint64_t>(firstflight_ssthresh(m_sender), UINT32_MAX));
}

void
TcpFirstflight::CongestionStateSet(Ptr<TcpSocketState>,
                                   const TcpSocketState::TcpCongState_t newState)
{
    if (!m_sender)
    {
        // The connection is open. After ns-3's time to send a SYN again nobody knows of which.
        const uint64_t took = Nanoseconds() - m_made;
        m_handshake = m_handshakes && m_handshake == 0 && took < kSynTimeout ? took : m_handshake;
        return;
    }
    switch (newState)
    {
    case TcpSocketState::CA_RECOVERY:
        m_entersRecovery = true;
        break;
    case TcpSocketState::CA_LOSS:
        // No ACK comes with it. Of what ns-3 now takes for lost the first packet is known to be.
        TellRepeats(m_atTimeout);
        TellLoss(FIRSTFLIGHT_TIMEOUT, m_tcb->m_segmentSize);
        m_inFlight = m_flightAtLoss = 0;
        m_repairedUpTo = m_high;
        m_entersRecovery = m_endsRecovery = false;
        Update();
        break;
    case TcpSocketState::CA_OPEN:
        m_endsRecovery = true;
        break;
    default:
        break;
    }
}

void
TcpFirstflight::CongControl(Ptr<TcpSocketState> tcb,
                            const TcpRateOps::TcpRateConnection&,
                            const TcpRateOps::TcpRateSample& rs)
{
    if (!m_sender)
    {
        return;
    }
    TellRepeats(rs.m_priorInFlight);
    const uint64_t acked = std::min(Offset(tcb->m_lastAckedSeq), m_high);
    const uint64_t credited = std::min<uint64_t>(rs.m_ackedSacked, m_sent - m_delivered);
    // What ns-3 counted before it repaired in answer to this ACK.
    const uint64_t inFlight = std::min<uint64_t>(tcb->m_bytesInFlight.Get(), m_inFlight);
    const uint64_t left = m_inFlight - std::min(credited, m_inFlight);
    uint64_t lost = left - std::min(left, inFlight);
    if (m_entersRecovery)
    {
        // Found by duplicate ACKs, the first packet is marked after ns-3 has counted.
        lost = std::max<uint64_t>(lost, m_tcb->m_segmentSize);
        m_repairedUpTo = m_high;
        m_flightAtLoss = m_inFlight;
        m_prrDelivered = m_prrOut = 0;
    }
    TellLoss(FIRSTFLIGHT_RECOVERY, lost);
    if (m_endsRecovery)
    {
        Must(firstflight_on_recovered(m_sender, 0));
        m_flightAtLoss = 0;
    }
    m_entersRecovery = m_endsRecovery = false;

    firstflight_ack ack{};
    ack.now = Nanoseconds();
    ack.acked = acked - m_acked;
    ack.credited = credited;
    ack.in_flight = inFlight;
    ack.snd_nxt = m_high;
    ack.app_limited = rs.m_isAppLimited;
    Departed newest{};
    while (!m_departed.empty() && m_departed.front().end <= acked)
    {
        newest = m_departed.front();
        m_departed.pop_front();
    }
    if (newest.end > m_repairedUpTo)
    {
        ack.rtt = ack.now - newest.state.sent_at;
        ack.packet = &newest.state;
    }
    else if (rs.m_delivered > 0)
    {
        ack.sample_delivered = uint64_t(rs.m_delivered);
        ack.sample_interval = uint64_t(rs.m_interval.GetNanoSeconds());
        ack.sample_app_limited = rs.m_isAppLimited;
    }
    Must(firstflight_on_ack(m_sender, &ack));
    m_acked = acked;
    m_delivered += credited;
    m_inFlight = inFlight;
    m_restsSince = ack.now;
    Update();
    ReduceInProportion(credited);
}

void
TcpFirstflight::ReduceInProportion(uint64_t credited)
{
    if (m_flightAtLoss == 0 || firstflight_sets_recovery_window(m_sender))
    {
        return;
    }
    const uint64_t mss = m_tcb->m_segmentSize;
    const uint64_t target = firstflight_cwnd(m_sender);
    m_prrDelivered += credited;
    uint64_t may = 0;
    if (m_inFlight > target)
    {
        const uint64_t share = (m_prrDelivered * target + m_flightAtLoss - 1) / m_flightAtLoss;
        may = share - std::min(share, m_prrOut);
    }
    else
    {
        const uint64_t owed = m_prrDelivered - std::min(m_prrDelivered, m_prrOut);
        may = std::min(target - m_inFlight, std::max(owed, credited) + mss);
    }
    m_tcb->m_cWnd = uint32_t(std::min<uint64_t>(m_inFlight + may, UINT32_MAX));
}

void
TcpFirstflight::Update()
{
    m_tcb->m_cWnd = uint32_t(std::min<uint64_t>(firstflight_cwnd(m_sender), UINT32_MAX));
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_ssThresh = uint32_t(std::min<uint64_t>(firstflight_ssthresh(m_sender), UINT32_MAX));
    UpdatePace();
    const uint64_t at = firstflight_wake_at(m_sender);
    m_wake.Cancel();
    if (at != FIRSTFLIGHT_NEVER)
    {
        const uint64_t wait = at > Nanoseconds() ? at - Nanoseconds() : 0;
        m_wake = Simulator::Schedule(NanoSeconds(wait), &TcpFirstflight::OnWake, this);
    }
}

void
TcpFirstflight::UpdatePace()
{
    firstflight_pacing_now pacing;
    Must(firstflight_pacing(m_sender, &pacing));
    m_tcb->m_pacing = pacing.rate > 0;
    if (pacing.rate > 0)
    {
        const uint64_t rate = pacing.first_bytes > 0 ? pacing.first_rate : pacing.rate;
        m_tcb->m_pacingRate = DataRate(std::min<uint64_t>(rate, UINT64_MAX / 8) * 8);
    }
}

void
TcpFirstflight::OnWake()
{
    Must(firstflight_on_wake(m_sender, Nanoseconds()));
    Update();
}

} // namespace ns3
