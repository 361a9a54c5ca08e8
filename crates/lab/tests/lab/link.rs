//! Packets through a running link: counts, never times.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use firstflight_control::quantity::Rate;
use firstflight_lab::link::DirectionSpec;
use firstflight_lab::path::far_address;
use firstflight_lab::{Namespace, Path};
use firstflight_link::{Buffer, Framing};

const MS: u64 = 1_000_000;
/// So long a busy machine may take.
const TIMEOUT: Option<Duration> = Some(Duration::from_secs(30));

/// Sends numbered packets of 1000 bytes on the link, few enough for a socket's buffer; the first
/// `wanted` of those that arrive, in order of arrival. The link's report counts the others.
fn arrivals(path: &Path, packets: u16, wanted: usize) -> Vec<u16> {
    let far = (far_address(0), 7);
    let receiver = path.far.run(|| UdpSocket::bind(far)).unwrap().unwrap();
    let sender = path.near.run(|| UdpSocket::bind("0.0.0.0:0")).unwrap().unwrap();
    receiver.set_read_timeout(TIMEOUT).unwrap();
    for number in 0..packets {
        let mut payload = [0; 1_000 - 28];
        payload[..2].copy_from_slice(&number.to_be_bytes());
        sender.send_to(&payload, far).unwrap();
    }
    let mut payload = [0; 2_000];
    std::iter::from_fn(|| {
        let length = receiver.recv(&mut payload).ok()?;
        assert_eq!(length, 1_000 - 28);
        Some(u16::from_be_bytes([payload[0], payload[1]]))
    })
    .take(wanted)
    .collect()
}

#[test]
fn every_packet_of_an_idle_link_arrives_in_order() {
    let way = DirectionSpec { delay_ns: 5 * MS, ..DirectionSpec::default() };
    let Some(path) = super::path(way.clone(), way) else { return };
    assert_eq!(arrivals(&path, 80, 80), (0..80).collect::<Vec<_>>());
    let report = path.stop();
    assert_eq!((report.forward.delivered_packets, report.overruns), (80, 0));
    assert_eq!(report.forward.delivered_bytes, 80_000);
    assert_eq!(report.lateness.packets, 80 + report.backward.delivered_packets);
}

#[test]
fn a_burst_into_a_small_buffer_loses_its_tail() {
    // A packet takes 400 ms: the burst is over long before the first has left.
    let forward = DirectionSpec {
        rate: Some(Rate::from_bps(20_000)),
        buffer: Buffer::Packets(4),
        ..DirectionSpec::default()
    };
    let Some(path) = super::path(forward, DirectionSpec::default()) else { return };
    assert_eq!(arrivals(&path, 20, 5), [0, 1, 2, 3, 4]);
    let report = path.stop();
    assert_eq!((report.forward.dropped_packets, report.forward.peak_queue_packets), (15, Some(4)));
}

#[test]
fn chosen_packets_are_the_ones_lost() {
    let forward = DirectionSpec { drop: vec![2, 5], ..DirectionSpec::default() };
    let Some(path) = super::path(forward, DirectionSpec::default()) else { return };
    assert_eq!(arrivals(&path, 7, 5), [0, 2, 3, 5, 6]);
    assert_eq!(path.stop().forward.lost_packets, 2);
}

#[test]
fn what_a_kernel_hands_over_as_one_arrives_in_packets_and_whole() {
    let rate = Some(Rate::from_bps(1_000_000_000));
    let forward = DirectionSpec { rate, ..DirectionSpec::default() };
    let Some(path) = super::path(forward, DirectionSpec::default()) else { return };
    let far = (far_address(0), 7);
    let listener = path.far.run(|| TcpListener::bind(far)).unwrap().unwrap();
    let sent: Vec<u8> = (0..4_000_000_u32).map(|at| (at / 5) as u8).collect();
    let received = thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let (mut receiver, mut received) = (listener.accept().unwrap().0, Vec::new());
            receiver.set_read_timeout(TIMEOUT).unwrap();
            // Of a connection that stalls, what came until then.
            let _ = receiver.read_to_end(&mut received);
            received
        });
        let mut sender = path.near.run(|| TcpStream::connect(far)).unwrap().unwrap();
        sender.set_write_timeout(TIMEOUT).unwrap();
        let _ = sender.write_all(&sent);
        drop(sender);
        receiving.join().unwrap()
    });
    assert!(received == sent, "{} of {} bytes, or others", received.len(), sent.len());
    let forward = path.stop().forward;
    assert_eq!((forward.offload_packets, forward.refused_packets), (8, 0));
    assert!(forward.delivered_packets >= 4_000_000 / 1_460, "{}", forward.delivered_packets);
}

#[test]
fn nothing_is_left_of_a_path() {
    let Some(path) = super::path(DirectionSpec::default(), DirectionSpec::default()) else {
        return;
    };
    let mut numbers = [path.near.number().unwrap(), path.far.number().unwrap()];
    assert_eq!(known_namespaces(&numbers), 0, "no process but a passing thread is in one");
    path.stop();
    numbers.sort_unstable();
    // A namespace that nobody holds is gone, and so is its device: its number may be given again.
    let held = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let held = held.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let names = numbers.map(|number| format!("net:[{number}]"));
    assert!(!held.into_iter().any(|link| names.iter().any(|name| link.as_os_str() == &**name)));
}

/// How many processes are in one of these namespaces.
fn known_namespaces(numbers: &[u64]) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let of = |path: std::path::PathBuf| std::fs::read_link(path.join("ns/net")).ok();
    let links = processes.filter_map(|entry| of(entry.path()));
    let names: Vec<String> = numbers.iter().map(|number| format!("net:[{number}]")).collect();
    links.filter(|link| names.iter().any(|name| link.as_os_str() == &**name)).count()
}

/// A datagram of each length through the kernel's own size tables (tc-stab(8)). A table rounds a
/// length that has no line of its own up by a byte.
#[test]
fn the_kernels_size_tables_frame_as_the_link_does() {
    let Some(end) = crate::granted(Namespace::new("an end")) else { return };
    end.ip("link set lo up").unwrap();
    let [sender, receiver] = [(); 2].map(|()| end.run(|| UdpSocket::bind("127.0.0.1:0")));
    let [sender, receiver] = [sender, receiver].map(|made| made.unwrap().unwrap());
    let to = receiver.local_addr().unwrap();
    let sent = || {
        let printed = end.tool("tc", "-s qdisc show dev lo").unwrap();
        let (_, behind) = printed.split_once("Sent ").unwrap();
        behind.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    for (words, framing) in [
        ("overhead 18 linklayer atm", Framing { overhead: 18, least: 0, atm: true }),
        ("mpu 84 overhead 24", Framing { overhead: 24, least: 84, atm: false }),
        ("mpu 120 overhead 4 linklayer atm", Framing { overhead: 4, least: 120, atm: true }),
    ] {
        let table = format!("stab mtu 2048 tsize 2048 {words} pfifo");
        end.tool("tc", &format!("qdisc replace dev lo root {table}")).unwrap();
        for payload in [1, 10, 27, 28, 29, 75, 76, 77, 500, 1_000, 1_458] {
            let before = sent();
            sender.send_to(&vec![0; payload], to).unwrap();
            // Ethernet, IP and UDP headers.
            let bytes = payload as u64 + 14 + 20 + 8;
            let (took, exact) = (sent() - before, framing.bytes(bytes));
            assert!(took == exact || took == framing.bytes(bytes + 1), "{words}: {bytes}, {took}");
        }
        end.tool("tc", "qdisc del dev lo root").unwrap();
    }
}
