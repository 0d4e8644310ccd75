// Flows in ns-3: DCTCP over point-to-point links with marking queues, and when the last byte of each has arrived.
//
// Standard input: the number of nodes, of links and of flows; for each link its two nodes, bit/s and seconds of delay;
// for each flow its start in seconds, source, destination and bytes. Standard output: seconds per flow.

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

int main(int argc, char** argv) {
    const std::uint32_t payload = 1448;
    std::uint32_t threshold = 65;  // packets from which queues mark
    CommandLine command;
    command.AddValue("threshold", "packets in a queue from which it marks", threshold);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(10)));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1.0));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("10000p")));

    std::size_t nodes = 0, links = 0, flows = 0;
    std::cin >> nodes >> links >> flows;
    NodeContainer all;
    all.Create(nodes);
    InternetStackHelper().Install(all);
    std::vector<Ipv4Address> addresses(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    for (std::size_t link = 0; link < links; ++link) {
        std::size_t one = 0, other = 0;
        double capacity = 0, delay = 0;
        std::cin >> one >> other >> capacity >> delay;
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<std::uint64_t>(capacity))));
        wire.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize("1p")));
        const auto devices = wire.Install(all.Get(one), all.Get(other));
        TrafficControlHelper queues;
        queues.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth",
                                DataRateValue(DataRate(static_cast<std::uint64_t>(capacity))), "LinkDelay",
                                TimeValue(Seconds(delay)), "MinTh", DoubleValue(threshold), "MaxTh",
                                DoubleValue(threshold));
        queues.Install(devices);
        const auto interfaces = address.Assign(devices);
        address.NewNetwork();
        addresses[one] = interfaces.GetAddress(0);
        addresses[other] = interfaces.GetAddress(1);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<double> starts(flows), times(flows, -1.0);
    std::vector<std::uint64_t> left(flows);
    for (std::size_t flow = 0; flow < flows; ++flow) {
        std::size_t source = 0, destination = 0;
        std::cin >> starts[flow] >> source >> destination >> left[flow];
        const auto port = static_cast<std::uint16_t>(1024 + flow);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sinks = sink.Install(all.Get(destination));
        sinks.Get(0)->TraceConnectWithoutContext(
            "Rx", Callback<void, Ptr<const Packet>, const Address&>([&, flow](Ptr<const Packet> it, const Address&) {
                left[flow] -= it->GetSize();
                if (left[flow] == 0) {
                    times[flow] = Simulator::Now().GetSeconds() - starts[flow];
                }
            }));
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(addresses[destination], port));
        sender.SetAttribute("MaxBytes", UintegerValue(left[flow]));
        sender.SetAttribute("SendSize", UintegerValue(payload));
        sender.Install(all.Get(source)).Start(Seconds(starts[flow]));
    }
    Simulator::Stop(Seconds(20));
    Simulator::Run();
    std::cout << std::setprecision(12);
    for (const double time : times) {
        std::cout << time << '\n';
    }
    Simulator::Destroy();
}
