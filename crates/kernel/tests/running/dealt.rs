//! Who is dealt what, by a rule and by a trial: not who chooses.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use firstflight_kernel::steer::{self, Rule};
use firstflight_kernel::trial::judge::By;
use firstflight_kernel::trial::{Dealing, Plan};
use socket2::{Domain, Socket, Type};

use crate::{ClearedOnDrop, exclusive};

/// A client that has found a port for which it gets what it wants comes from it again and again.
#[test]
fn a_client_that_keeps_its_port_is_dealt_anew_each_time() {
    let Some((cgroup, _lock)) = exclusive() else { return };
    let (listener, half) = half_of_a_service();
    let _undone = ClearedOnDrop;
    steer::set(&cgroup, std::slice::from_ref(&half)).unwrap();
    deals_both("the rule", &listener);
    steer::clear().unwrap();
    let (dealing, _) = Dealing::begin(&cgroup, &trial_of(half)).unwrap();
    deals_both("the trial", &listener);
    dealing.end().unwrap();
}

/// A service of loopback, and a rule for half of its connections.
pub(crate) fn half_of_a_service() -> (TcpListener, Rule) {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 77, 0, 1), 0)).unwrap();
    let (to, port) = ("127.0.0.0/8".parse().unwrap(), listener.local_addr().unwrap().port());
    let (port, control) = (Some(port), "reno".to_owned());
    (listener, Rule { to, port, per_mille: 500, control, cgroup: None })
}

pub(crate) fn trial_of(treated: Rule) -> Plan {
    let (other, age) = ("cubic".to_owned(), Duration::from_secs(1));
    Plan { treated, other, seed: 7, by: By::Connection, bytes: 1, age }
}

/// The control goes to some of 60 connections between the same two ports, and not to all: by chance
/// all are equal once in 2^59 times.
fn deals_both(what: &str, listener: &TcpListener) {
    // An address of its own, so that no other program's connection takes the port between two.
    let mut client = SocketAddr::from((Ipv4Addr::new(127, 77, 0, 2), 0));
    let mut given = 0;
    for _ in 0..60 {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&client.into()).unwrap();
        socket.connect(&listener.local_addr().unwrap().into()).unwrap();
        client = socket.local_addr().unwrap().as_socket().unwrap();
        let (accepted, from) = listener.accept().unwrap();
        assert_eq!(from, client);
        let control = socket.tcp_congestion().unwrap();
        given += usize::from(control.starts_with(b"reno"));
        // A reset leaves nothing of the connection, so that the port is free.
        socket.set_linger(Some(Duration::ZERO)).unwrap();
        drop(socket);
        drop(accepted);
    }
    println!("{what} gave its control to {given} of 60 from {client}");
    assert!((1..60).contains(&given), "{what} gave its control to {given} of 60 from {client}");
}
