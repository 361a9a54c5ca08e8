# A queue of the kernel's between two ends, traffic through it, and what arrives at it and leaves it.
# Before it: ecn, delay_us, the words of `traffic` for iperf3, and `queue` with those for tc.
exec 2>&1
mkdir -p /var/run
for end in near middle far; do ip netns add $end; done
inside() { ip netns exec "$@"; }
ip -n middle link add n0 type veth peer name e0 netns near
ip -n middle link add f0 type veth peer name e0 netns far
for end in near middle far; do
    inside $end sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6' || true
    ip -n $end link set lo up
done
# Each device has one address, so that none must be asked for.
for device in near:e0 far:e0 middle:n0 middle:f0; do
    ip -n ${device%:*} link set ${device#*:} address 02:00:00:00:00:01 arp off mtu 1500 gso_max_segs 1 up
done
ip -n near address add 10.0.0.2/24 dev e0
ip -n middle address add 10.0.0.1/24 dev n0
ip -n middle address add 10.0.1.1/24 dev f0
ip -n far address add 10.0.1.2/24 dev e0
ip -n near route add default via 10.0.0.1
ip -n far route add default via 10.0.1.1
inside middle sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
for end in near far; do
    inside $end sh -c "echo $ecn > /proc/sys/net/ipv4/tcp_ecn"
    inside $end sh -c 'echo "4096 4194304 268435456" > /proc/sys/net/ipv4/tcp_wmem'
    inside $end sh -c 'echo "4096 67108864 268435456" > /proc/sys/net/ipv4/tcp_rmem'
done
queue
echo "began $(date +%s.%N)"
tc -n middle qdisc add dev n0 root netem delay ${delay_us}us limit 1000000
inside middle tcpdump -i n0 -Q in -s 96 --time-stamp-precision=nano -Z root -w /tmp/in ip 2> /tmp/in.said &
inside middle tcpdump -i f0 -Q out -s 96 --time-stamp-precision=nano -Z root -w /tmp/out ip 2> /tmp/out.said &
inside far iperf3 --server --daemon
sleep 2
inside near iperf3 --client 10.0.1.2 $traffic > /tmp/said 2>&1
sleep 1
for process in /proc/[0-9]*; do
    case $(cat $process/comm 2> /dev/null) in tcpdump) kill -INT ${process#/proc/} ;; esac
done
sleep 1
tc -n middle -s qdisc show dev f0
tail -n 4 /tmp/said /tmp/in.said /tmp/out.said
for way in in out; do
    echo "packets $way"
    tcpdump -Z root -r /tmp/$way -n -tt --nano -v -q 2> /dev/null
done
echo "ended"
