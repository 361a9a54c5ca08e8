//! One connection through the network, which sends as much as it can until it is told to stop.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Socket, Type};

use super::network::{Network, wait_until};

/// When a connection is given its control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    BeforeItConnects,
    /// After its first bytes, as iperf3 does it.
    WhileItRuns,
}

pub(crate) struct Flow {
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    arrived: Arc<AtomicU64>,
}

impl Flow {
    pub(crate) fn start(network: &Network, control: &str, given: Given) -> Self {
        let listener = network.within("b", || TcpListener::bind("0.0.0.0:0")).unwrap();
        let peer =
            SocketAddr::from((Ipv4Addr::new(10, 77, 2, 2), listener.local_addr().unwrap().port()));
        let socket = network.within("a", || Socket::new(Domain::IPV4, Type::STREAM, None)).unwrap();
        if given == Given::BeforeItConnects {
            socket.set_tcp_congestion(control.as_bytes()).unwrap();
        }
        socket.connect(&peer.into()).unwrap();
        let (stop, arrived) = <(Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let receiver = listener.accept().unwrap().0;
        let reader = thread::spawn({
            let arrived = arrived.clone();
            move || read(receiver, &arrived)
        });
        if given == Given::WhileItRuns {
            (&socket).write_all(b"first bytes").unwrap();
            wait_until("the first bytes", || arrived.load(Relaxed) > 0);
            socket.set_tcp_congestion(control.as_bytes()).unwrap();
        }
        let writer = thread::spawn({
            let stop = stop.clone();
            move || write(socket.into(), &stop)
        });
        Self { writer, reader, stop, arrived }
    }

    /// Waits until so many bytes more have arrived.
    pub(crate) fn carry(&self, bytes: u64) {
        let enough = self.arrived.load(Relaxed) + bytes;
        wait_until("its data", || self.arrived.load(Relaxed) >= enough);
    }

    /// Ends the connection; afterwards the kernel has none.
    pub(crate) fn end(self) {
        self.stop.store(true, Relaxed);
        self.writer.join().unwrap();
        self.reader.join().unwrap();
    }
}

/// Writes, then waits for the peer's FIN, with which everything has been acknowledged.
fn write(mut socket: TcpStream, stop: &AtomicBool) {
    let data = [0; 1 << 14];
    while !stop.load(Relaxed) {
        socket.write_all(&data).unwrap();
    }
    socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap(), 0, "the receiver sends nothing");
}

fn read(mut socket: TcpStream, arrived: &AtomicU64) {
    let mut data = vec![0; 1 << 16];
    loop {
        match socket.read(&mut data).unwrap() {
            0 => return,
            count => arrived.fetch_add(count as u64, Relaxed),
        };
    }
}
