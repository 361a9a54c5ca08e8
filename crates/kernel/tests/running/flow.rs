//! One connection through the network, which sends as much as it can until `stop` is set.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::libc::{EINPROGRESS, MSG_FASTOPEN};
use socket2::{Domain, Socket, Type};

use super::network::{Network, wait_until};

/// When a connection is given its control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    BeforeItConnects,
    /// After a connect that does not wait, before the SYN is answered.
    WhileItConnects,
    /// Before it connects by TCP Fast Open, with data in the SYN (RFC 7413).
    BeforeFastOpen,
    /// Not by its program.
    ByOthers,
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
        let socket = network.within("a", || Socket::new(Domain::IPV4, Type::STREAM, None)).unwrap();
        let choose = || socket.set_tcp_congestion(control.as_bytes()).unwrap();
        let receiver = match given {
            Given::BeforeItConnects => {
                choose();
                connect(network, &socket, &listener)
            }
            Given::WhileItConnects => {
                connect_without_an_answer(network, &socket, &listener, choose)
            }
            Given::BeforeFastOpen => {
                choose();
                let data = b"data of the SYN";
                socket
                    .send_to_with_flags(data, &peer(network, &listener).into(), MSG_FASTOPEN)
                    .unwrap();
                listener.accept().unwrap().0
            }
            Given::ByOthers | Given::WhileItRuns => connect(network, &socket, &listener),
        };
        let (stop, arrived) = <(Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let reader = thread::spawn({
            let arrived = arrived.clone();
            move || read(receiver, &arrived)
        });
        if given == Given::WhileItRuns {
            (&socket).write_all(b"first bytes").unwrap();
            wait_until("the first bytes", || arrived.load(Relaxed) > 0);
            choose();
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

/// A connection under that control, and its receiver's end.
fn open(network: &Network, control: &str) -> (Socket, TcpStream) {
    let listener = network.within("b", || TcpListener::bind("0.0.0.0:0")).unwrap();
    let socket = network.within("a", || Socket::new(Domain::IPV4, Type::STREAM, None)).unwrap();
    socket.set_tcp_congestion(control.as_bytes()).unwrap();
    let receiver = connect(network, &socket, &listener);
    (socket, receiver)
}

/// A connection that sends something twice, with a rest in between.
pub(crate) fn rest_once(network: &Network, control: &str, rest: Duration) {
    let (socket, receiver) = open(network, control);
    let arrived = Arc::<AtomicU64>::default();
    let reader = thread::spawn({
        let arrived = arrived.clone();
        move || read(receiver, &arrived)
    });
    let (mut socket, data) = (TcpStream::from(socket), vec![0; 200_000]);
    socket.write_all(&data).unwrap();
    wait_until("the data before the rest", || arrived.load(Relaxed) == 200_000);
    thread::sleep(rest);
    socket.write_all(&data).unwrap();
    finish(&mut socket);
    reader.join().unwrap();
}

/// A connection that sends so many full segments at once, the last with its FIN.
pub(crate) fn send_full_segments(network: &Network, control: &str, segments: u64) {
    let (socket, receiver) = open(network, control);
    let size = segments * u64::from(socket.tcp_mss().unwrap());
    // Everything waits in the socket when the FIN comes.
    socket.set_send_buffer_size(2 * usize::try_from(size).unwrap()).unwrap();
    let reader = thread::spawn(move || read(receiver, &AtomicU64::new(0)));
    let mut socket = TcpStream::from(socket);
    socket.write_all(&vec![0; usize::try_from(size).unwrap()]).unwrap();
    finish(&mut socket);
    reader.join().unwrap();
}

/// Connects and returns the receiver's end.
fn connect(network: &Network, socket: &Socket, listener: &TcpListener) -> TcpStream {
    socket.connect(&peer(network, listener).into()).unwrap();
    listener.accept().unwrap().0
}

/// Connects, and does something before the SYN can be answered.
fn connect_without_an_answer(
    network: &Network,
    socket: &Socket,
    listener: &TcpListener,
    before: impl FnOnce(),
) -> TcpStream {
    network.set_first_link("down");
    socket.set_nonblocking(true).unwrap();
    let begun = socket.connect(&peer(network, listener).into()).unwrap_err();
    assert_eq!(begun.raw_os_error(), Some(EINPROGRESS));
    before();
    network.set_first_link("up");
    socket.set_nonblocking(false).unwrap();
    listener.accept().unwrap().0
}

/// The receiver's address.
fn peer(network: &Network, listener: &TcpListener) -> SocketAddr {
    SocketAddr::from((network.address(2, 2), listener.local_addr().unwrap().port()))
}

fn write(mut socket: TcpStream, stop: &AtomicBool) {
    let data = [0; 1 << 14];
    while !stop.load(Relaxed) {
        socket.write_all(&data).unwrap();
    }
    finish(&mut socket);
}

/// Sends a FIN and waits for the peer's, with which everything has been acknowledged.
fn finish(socket: &mut TcpStream) {
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
