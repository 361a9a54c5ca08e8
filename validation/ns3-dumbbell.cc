// ns-3 oracle: greedy (or finite) TCP flows over one dumbbell bottleneck.
//
//   ./ns3-dumbbell key=value ...             prints one line of JSON
//
// Keys (defaults in brackets), the same as ns2-dumbbell.tcl where both have them:
//   alg      newreno | reno (TcpLinuxReno) | vegas | westwood (Westwood+) | westwood0
//            (the original Westwood filter) | cubic | bbr | hybla | highspeed | htcp |
//            veno | bic | yeah | illinois | scalable | ledbat | lp, or another class that is
//            linked, such as TcpFirstflight of examples/ns3 [newreno]
//   rate     bottleneck, Mbps [40]          rtt   two-way propagation, ms [100]
//   buf      bottleneck buffer: packets, "bdp", or e.g. "0.25bdp" [bdp]
//   flows    number of flows [1]            dur   simulated seconds [20]
//   ssthresh initial, packets; 0 = unlimited [32]
//   pkt      packet size, bytes [1000]
//   hdr      in: pkt is the size on the wire (payload pkt - 42); add: payload pkt [in]
//   ack      DelAckCount: 1 = an ACK per packet [1]
//   access   access-link rate, Mbps, or a multiple of rate such as 10x [10x]
//   adelay   one-way delay of each access link, ms [0]
//   accesses, adelays  the same for each flow, comma-separated, in Mbps and ms; adelays come on
//            top of what inc leaves of rtt for the bottleneck []
//   inc      1 = rtt includes the access links, 0 = they come on top [1]
//   iw       initial window, packets [2]
//   packets  packets per flow; 0 = greedy [0]
//   at       start time of the first flow, s [0]
//   spread   flow starts drawn uniformly over this many seconds [0]
//   starts   start times in seconds, one per flow, comma-separated; replaces at and spread []
//   life     seconds a flow lives; 0 = to the end [0]
//   seed     random seed (used by spread) [1]
//   sack     1 = SACK + PRR (ns-3's own defaults), 0 = no SACK, classic recovery [1]
//   lt       1 = limited transmit (RFC 3042) [1]
//   ts       1 = TCP timestamps (12 bytes more of header) [0]
//   minrto   smallest retransmission timeout, s [0.2]
//   hystart  CUBIC's HyStart, 0 or 1 [1]
//   ssexit   1 = report how slow start of the first flow ended [0]
//   trace    file for the cwnd of the first flow ("time cwnd" lines, packets) []
//   routing  nix (NixVector) | global: ns-3's global routing scans a list of routes for
//            every packet, and the routers' lists grow with the flows [nix]
//   sndbuf   send buffer, in multiples of BDP + buffer; too small a one is not only a
//            limit: with 1.5, ns-3.37 crashed in loss recovery [8]
//   mon      1 = also count retransmitted packets (a trace hook per send) [1]

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
std::map<std::string, std::string> o{
    {"alg", "newreno"}, {"rate", "40"}, {"rtt", "100"},  {"buf", "bdp"},    {"flows", "1"},
    {"dur", "20"},      {"pkt", "1000"}, {"hdr", "in"},  {"ack", "1"},      {"access", "10x"},
    {"adelay", "0"},    {"inc", "1"},   {"iw", "2"},     {"packets", "0"},  {"at", "0"},
    {"spread", "0"},    {"life", "0"},  {"seed", "1"},   {"sack", "1"},     {"ts", "0"},
    {"minrto", "0.2"},  {"hystart", "1"}, {"ssexit", "0"}, {"trace", ""},   {"mon", "1"},
    {"ssthresh", "32"}, {"sndbuf", "8"},
    {"starts", ""},     {"accesses", ""}, {"adelays", ""}, {"lt", "1"},     {"routing", "nix"}};

const std::map<std::string, std::string> kTypes{
    {"newreno", "TcpNewReno"},   {"reno", "TcpLinuxReno"},   {"vegas", "TcpVegas"},
    {"westwood", "TcpWestwood"}, {"westwood0", "TcpWestwood"}, {"cubic", "TcpCubic"},
    {"bbr", "TcpBbr"},           {"hybla", "TcpHybla"},      {"highspeed", "TcpHighSpeed"},
    {"htcp", "TcpHtcp"},         {"veno", "TcpVeno"},        {"bic", "TcpBic"},
    {"yeah", "TcpYeah"},         {"illinois", "TcpIllinois"}, {"scalable", "TcpScalable"},
    {"ledbat", "TcpLedbat"},     {"lp", "TcpLp"}};

double
Num(const std::string& k)
{
    return std::atof(o[k].c_str());
}

// The values of a key that has one for each flow; none if it is not given.
std::vector<double>
ForEachFlow(const std::string& k, int flows)
{
    std::vector<double> values;
    std::stringstream given(o[k]);
    for (std::string one; std::getline(given, one, ','); values.push_back(std::atof(one.c_str())))
    {
    }
    if (!values.empty() && values.size() != size_t(flows))
    {
        std::fprintf(stderr, "%s: %zu values, %d flows\n", k.c_str(), values.size(), flows);
        std::exit(2);
    }
    return values;
}

uint32_t g_seg = 1000;

// What is watched of one flow.
struct Flow
{
    Ptr<BulkSendApplication> app;
    Ptr<PacketSink> sink;
    uint64_t highTx = 0; // bytes, unwrapped
    uint32_t lastHigh = 0;
    bool haveHigh = false;
    uint64_t rto = 0;
    double cwnd = 0;
    double th = 4294967295.0;
    bool ssDone = false;
    double ssT = 0;
    double ssCwnd = 0;
    double finish = 0;
    uint64_t want = 0;
    std::ofstream* out = nullptr;
    bool watchCwnd = false;
};

void
OnHigh(Flow* f, SequenceNumber32, SequenceNumber32 now)
{
    uint32_t v = now.GetValue();
    if (f->haveHigh)
    {
        f->highTx += uint32_t(v - f->lastHigh);
    }
    f->lastHigh = v;
    f->haveHigh = true;
}

void
OnState(Flow* f, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    if (now == TcpSocketState::CA_LOSS)
    {
        f->rto++;
    }
}

void
OnCwnd(Flow* f, uint32_t, uint32_t now)
{
    double w = double(now) / g_seg;
    double t = Simulator::Now().GetSeconds();
    if (f->out)
    {
        *f->out << t << ' ' << w << '\n';
    }
    if (!f->ssDone)
    {
        if (w < f->cwnd && f->cwnd > 2)
        {
            f->ssDone = true;
        }
        else
        {
            f->ssCwnd = std::max(f->ssCwnd, w);
        }
        f->ssT = t;
        if (w >= f->th)
        {
            f->ssDone = true;
        }
    }
    f->cwnd = w;
}

void
OnThresh(Flow* f, uint32_t, uint32_t now)
{
    double th = double(now) / g_seg;
    if (!f->ssDone && th < f->th && f->cwnd > 2 && th < f->cwnd)
    {
        f->ssDone = true;
        f->ssT = Simulator::Now().GetSeconds();
    }
    f->th = th;
}

void
OnRx(Flow* f, Ptr<const Packet>, const Address&)
{
    if (f->finish == 0 && f->sink->GetTotalRx() >= f->want)
    {
        f->finish = Simulator::Now().GetSeconds();
    }
}

// The socket exists only once the application has started.
void
Hook(Flow* f)
{
    Ptr<Socket> s = f->app->GetSocket();
    if (!s)
    {
        return;
    }
    if (o["mon"] == "1")
    {
        s->TraceConnectWithoutContext("HighestSequence", MakeBoundCallback(&OnHigh, f));
        s->TraceConnectWithoutContext("CongState", MakeBoundCallback(&OnState, f));
    }
    if (f->watchCwnd)
    {
        f->th = Num("ssthresh") > 0 ? Num("ssthresh") : 1e9;
        s->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&OnCwnd, f));
        s->TraceConnectWithoutContext("SlowStartThreshold", MakeBoundCallback(&OnThresh, f));
    }
}

// The end of a flow's life. Stopping the application is not enough: TCP would go on
// sending what is in its buffer, tens of seconds of it.
// (Taking its interface down instead made ns-3.37 crash with 100 flows.)
void
Cut(Ptr<NetDevice> firstHop)
{
    auto all = CreateObject<RateErrorModel>();
    all->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    all->SetRate(1.0);
    DynamicCast<PointToPointNetDevice>(firstHop)->SetReceiveErrorModel(all);
}

NetDeviceContainer
Link(Ptr<Node> a, Ptr<Node> b, double mbps, double ms, uint64_t packets)
{
    PointToPointHelper p2p;
    p2p.DisableFlowControl(); // so the device's queue is the buffer, and counts its drops
    p2p.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps * 1e6 + 0.5))));
    p2p.SetChannelAttribute("Delay", TimeValue(NanoSeconds(int64_t(ms * 1e6 + 0.5))));
    p2p.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(packets) + "p"));
    return p2p.Install(a, b);
}

Ptr<Queue<Packet>>
QueueOf(NetDeviceContainer d, uint32_t i)
{
    return DynamicCast<PointToPointNetDevice>(d.Get(i))->GetQueue();
}
} // namespace

int
main(int argc, char** argv)
{
    for (int i = 1; i < argc; i++)
    {
        std::string a = argv[i];
        size_t eq = a.find('=');
        if (eq == std::string::npos || !o.count(a.substr(0, eq)))
        {
            std::fprintf(stderr, "unknown argument: %s\n", a.c_str());
            return 2;
        }
        o[a.substr(0, eq)] = a.substr(eq + 1);
    }
    TypeId type;
    const auto known = kTypes.find(o["alg"]);
    const std::string name = known == kTypes.end() ? o["alg"] : known->second;
    if (!TypeId::LookupByNameFailSafe("ns3::" + name, &type))
    {
        std::fprintf(stderr, "unknown alg: %s\n", o["alg"].c_str());
        return 2;
    }

    const double rate = Num("rate");
    const double rtt = Num("rtt");
    const double dur = Num("dur");
    const double at = Num("at");
    const int flows = int(Num("flows"));
    const uint32_t pkt = uint32_t(Num("pkt"));
    const uint32_t header = 20 + 20 + 2 + (o["ts"] == "1" ? 12 : 0); // TCP, IP, PPP
    g_seg = o["hdr"] == "add" ? pkt : pkt - header;
    const uint32_t wire = g_seg + header;
    const double bdp = rate * 1e6 * rtt * 1e-3 / (8.0 * pkt);
    uint64_t buf;
    size_t p = o["buf"].find("bdp");
    if (p != std::string::npos)
    {
        double f = p == 0 ? 1.0 : std::atof(o["buf"].substr(0, p).c_str());
        buf = uint64_t(f * bdp + 0.5);
    }
    else
    {
        buf = uint64_t(Num("buf"));
    }
    buf = std::max<uint64_t>(buf, 2);
    double access = Num("access");
    if (!o["access"].empty() && o["access"].back() == 'x')
    {
        access *= rate;
    }
    const double adelay = Num("adelay");
    const double oneway = rtt / 2 - (o["inc"] == "1" ? 2 * adelay : 0);
    const uint64_t pipe = uint64_t(bdp + buf);
    const uint64_t window = std::min<uint64_t>((8 * pipe + 2000) * g_seg, 1000000000);
    const uint64_t wanted = uint64_t(Num("sndbuf") * pipe + 200) * g_seg;
    const uint64_t sndbuf = std::min<uint64_t>(wanted, window);

    RngSeedManager::SetSeed(uint32_t(Num("seed")));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(g_seg));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(sndbuf));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(uint32_t(Num("iw"))));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(uint32_t(Num("ack"))));
    if (Num("ssthresh") > 0)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(uint32_t(Num("ssthresh") * g_seg)));
    }
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(o["lt"] == "1"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(o["ts"] == "1"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(o["sack"] == "1"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(Num("minrto"))));
    if (o["sack"] != "1")
    {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                           TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    }
    if (o["alg"] == "cubic")
    {
        Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(o["hystart"] == "1"));
    }
    if (o["alg"] == "westwood")
    {
        Config::SetDefault("ns3::TcpWestwood::ProtocolType", EnumValue(TcpWestwood::WESTWOODPLUS));
    }

    NodeContainer routers;
    routers.Create(2);
    NodeContainer left;
    left.Create(flows);
    NodeContainer right;
    right.Create(flows);
    InternetStackHelper stack;
    const bool global = o["routing"] == "global";
    if (!global)
    {
        stack.SetRoutingHelper(Ipv4NixVectorHelper());
    }
    stack.Install(routers);
    stack.Install(left);
    stack.Install(right);

    NetDeviceContainer mid = Link(routers.Get(0), routers.Get(1), rate, oneway, buf);
    QueueOf(mid, 1)->SetMaxSize(QueueSize("1000000p"));
    Ipv4AddressHelper net("10.0.0.0", "255.255.255.252");
    net.Assign(mid);

    const std::vector<double> starts = ForEachFlow("starts", flows);
    const std::vector<double> accesses = ForEachFlow("accesses", flows);
    const std::vector<double> adelays = ForEachFlow("adelays", flows);

    auto start = CreateObject<UniformRandomVariable>();
    std::vector<Flow> f(flows);
    std::vector<Ptr<Queue<Packet>>> senderQueue;
    std::ofstream cwndFile;
    for (int i = 0; i < flows; i++)
    {
        net.NewNetwork();
        const double ownRate = accesses.empty() ? access : accesses[i];
        const double ownDelay = adelays.empty() ? adelay : adelays[i];
        auto l = Link(left.Get(i), routers.Get(0), ownRate, ownDelay, 1000000);
        net.Assign(l);
        net.NewNetwork();
        auto r = Link(routers.Get(1), right.Get(i), ownRate, ownDelay, 1000000);
        auto addr = net.Assign(r);
        senderQueue.push_back(QueueOf(l, 0));

        InetSocketAddress peer(addr.GetAddress(1), 5001);
        BulkSendHelper bulk("ns3::TcpSocketFactory", peer);
        bulk.SetAttribute("SendSize", UintegerValue(g_seg));
        uint64_t want = uint64_t(Num("packets")) * g_seg;
        bulk.SetAttribute("MaxBytes", UintegerValue(want));
        auto app = bulk.Install(left.Get(i));
        InetSocketAddress any(Ipv4Address::GetAny(), 5001);
        PacketSinkHelper sink("ns3::TcpSocketFactory", any);
        auto sapp = sink.Install(right.Get(i));
        double t0 = at + (Num("spread") > 0 ? start->GetValue(0, Num("spread")) : 0);
        if (!starts.empty())
        {
            t0 = starts[i];
        }
        app.Start(Seconds(t0));
        app.Stop(Seconds(Num("life") > 0 ? t0 + Num("life") : dur + 1));
        sapp.Start(Seconds(0));
        if (Num("life") > 0)
        {
            Simulator::Schedule(Seconds(t0 + Num("life")), &Cut, l.Get(1));
        }

        f[i].app = DynamicCast<BulkSendApplication>(app.Get(0));
        f[i].sink = DynamicCast<PacketSink>(sapp.Get(0));
        f[i].watchCwnd = i == 0 && (o["ssexit"] == "1" || !o["trace"].empty());
        if (f[i].watchCwnd && !o["trace"].empty())
        {
            cwndFile.open(o["trace"]);
            f[i].out = &cwndFile;
        }
        if (o["mon"] == "1" || f[i].watchCwnd)
        {
            Simulator::Schedule(Seconds(t0) + NanoSeconds(1), &Hook, &f[i]);
        }
        if (want > 0)
        {
            f[i].want = want;
            f[i].sink->TraceConnectWithoutContext("Rx", MakeBoundCallback(&OnRx, &f[i]));
        }
    }
    if (global)
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    auto wall0 = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(dur));
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall0).count();

    double got = 0;
    double sq = 0;
    uint64_t sent = 0, rtx = 0, rto = 0;
    int finished = 0;
    double last = 0;
    for (int i = 0; i < flows; i++)
    {
        double g = double(f[i].sink->GetTotalRx()) / g_seg;
        got += g;
        sq += g * g;
        uint64_t n = senderQueue[i]->GetTotalReceivedPackets();
        sent += n;
        // Not data: the SYN and the ACK that ends the handshake.
        uint64_t fresh = f[i].highTx / g_seg + 2;
        rtx += n > fresh ? n - fresh : 0;
        rto += f[i].rto;
        finished += f[i].finish > 0;
        last = std::max(last, f[i].finish);
    }
    auto q = QueueOf(mid, 0);
    const double denom = rate * 1e6 * (dur - at);
    uint64_t linkPkts = q->GetTotalReceivedPackets() - q->GetCurrentSize().GetValue();
    uint64_t linkBytes = q->GetTotalReceivedBytes() - q->GetNBytes();
    std::printf("{\"sim\":\"ns-3.37\",\"alg\":\"%s\",\"rate_mbps\":%g,\"rtt_ms\":%g,"
                "\"buf_pkts\":%lu,"
                "\"flows\":%d,\"dur_s\":%g,\"ssthresh\":%s,\"pkt\":%u,\"wire\":%u,\"ack\":%s",
                o["alg"].c_str(), rate, rtt, (unsigned long)buf, flows, dur,
                o["ssthresh"].c_str(), pkt, wire, o["ack"].c_str());
    std::printf(",\"bdp_pkts\":%.1f,\"delivered\":%.0f,\"util\":%.5f,\"mbps\":%.4f", bdp, got,
                got * 8 * pkt / denom, got * 8e-6 * pkt / (dur - at));
    std::printf(",\"sent\":%lu", (unsigned long)sent);
    if (o["mon"] == "1")
    {
        std::printf(",\"rtx\":%lu,\"timeouts\":%lu", (unsigned long)rtx, (unsigned long)rto);
    }
    std::printf(",\"drops\":%lu,\"link_pkts\":%lu,\"link_util\":%.5f,\"jain\":%.4f",
                (unsigned long)q->GetTotalDroppedPackets(), (unsigned long)linkPkts,
                linkBytes * 8.0 / denom, sq > 0 ? got * got / (flows * sq) : 0.0);
    if (f[0].watchCwnd)
    {
        std::printf(",\"cwnd_end\":%.2f,\"ss_exit_s\":%.4f,\"ss_exit_cwnd\":%.2f"
                    ",\"ss_exit_ratio\":%.4f",
                    f[0].cwnd, f[0].ssT, f[0].ssCwnd, f[0].ssCwnd / bdp);
    }
    if (Num("packets") > 0)
    {
        std::printf(",\"finished\":%d,\"last_finish_s\":%.4f", finished, last);
    }
    std::printf(",\"wall_s\":%.3f}\n", wall);
    Simulator::Destroy();
    return 0;
}
