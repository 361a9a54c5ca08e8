// A transfer of 3 MB over 40 Mbit/s and 100 ms, under a control of firstflight's.
//
//   ./firstflight-example --control=scout
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include "tcp-firstflight.h"

#include <cstdio>

using namespace ns3;

namespace
{
const uint32_t kBytes = 3000000;

void
Received(Ptr<PacketSink> sink, Ptr<const Packet>, const Address&)
{
    if (sink->GetTotalRx() >= kBytes)
    {
        std::printf("%u bytes after %.3f s\n", kBytes, Simulator::Now().GetSeconds());
        Simulator::Stop();
    }
}
} // namespace

int
main(int argc, char** argv)
{
    std::string control = "scout";
    CommandLine command(__FILE__);
    command.AddValue("control", "a control, as `firstflight list` has it", control);
    command.Parse(argc, argv);

    // These three lines are all that a simulation of yours needs.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpFirstflight::GetTypeId()));
    Config::SetDefault("ns3::TcpFirstflight::Control", StringValue(control));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8000000));
    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("40Mbps"));
    link.SetChannelAttribute("Delay", StringValue("50ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("340p"));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    const uint16_t port = 5001;
    PacketSinkHelper sinks("ns3::TcpSocketFactory",
                           InetSocketAddress(Ipv4Address::GetAny(), port));
    Ptr<PacketSink> sink = DynamicCast<PacketSink>(sinks.Install(nodes.Get(1)).Get(0));
    sink->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, sink));
    BulkSendHelper source("ns3::TcpSocketFactory",
                          InetSocketAddress(interfaces.GetAddress(1), port));
    source.SetAttribute("MaxBytes", UintegerValue(kBytes));
    source.Install(nodes.Get(0));
    Simulator::Stop(Seconds(60));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
