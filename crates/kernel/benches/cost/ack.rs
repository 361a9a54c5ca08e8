//! The time of every single ACK in the function that handles it, over a router with a slow link.
//!
//! It goes into histograms in the kernel (`probe.bpf.c`). Printed are the mean, which holds what
//! sending takes, and the mean of those ACKs alone that let nothing go, of which the control is the
//! largest share. The clock's own time, measured on a function that does nothing, is taken off.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{self, sleep};
use std::time::Duration;

use socket2::SockRef;

use crate::network::Network;
use crate::probe::{Probe, Sample};
use crate::{Problem, Subject, drain, fill};

/// Measures and prints.
pub(crate) fn report(subjects: &[Subject], probe: &Probe, rounds: u32) -> Result<(), Problem> {
    let network = Network::new(0);
    let done = thread::scope(|scope| {
        let (sender, receiver) = connect(&network)?;
        let writer = sender.try_clone()?;
        scope.spawn(|| drain(receiver));
        scope.spawn(|| fill(writer));
        let done = measure(&sender, subjects, probe, rounds);
        sender.shutdown(Shutdown::Both)?;
        done
    });
    done.and_then(|()| print(subjects, probe))
}

/// Both ends, each in its namespace.
fn connect(network: &Network) -> Result<(TcpStream, TcpStream), Problem> {
    let listener = network.within("b", || TcpListener::bind("0.0.0.0:0"))?;
    let port = listener.local_addr()?.port();
    let sender = network.within("a", || TcpStream::connect((network.address(2, 2), port)))?;
    Ok((sender, listener.accept()?.0))
}

fn measure(
    sender: &TcpStream,
    subjects: &[Subject],
    probe: &Probe,
    rounds: u32,
) -> Result<(), Problem> {
    let port = sender.local_addr()?.port();
    let socket = SockRef::from(sender);
    sleep(Duration::from_secs(1));
    for round in 0..usize::try_from(rounds)? {
        for turn in 0..subjects.len() {
            let number = (round + turn) % subjects.len();
            socket.set_tcp_congestion(subjects[number].name.as_bytes())?;
            sleep(SETTLING);
            probe.watch(port, number)?;
            sleep(SLICE);
            probe.clock(CLOCK_RUNS)?;
            probe.watch(0, number)?;
        }
    }
    Ok(())
}

fn print(subjects: &[Subject], probe: &Probe) -> Result<(), Problem> {
    println!("\n{:<16} {:>7} {:>9} {:>8} {:>9}", "", "ACKs", "mean", "", "quiet");
    let mut reno: Option<(f64, f64)> = None;
    for (number, subject) in subjects.iter().enumerate() {
        let clock = probe.histogram(number, Sample::Clock)?.middle();
        let all = probe.histogram(number, Sample::All)?;
        let (acks, mean) = (all.samples(), all.mean() - clock);
        let quiet = probe.histogram(number, Sample::Quiet)?.middle() - clock;
        let (of_mean, of_quiet) = *reno.get_or_insert((mean, quiet));
        let percent = |ours: f64, renos: f64| 100.0 * (ours / renos - 1.0);
        println!(
            "{:<16} {acks:>7} {mean:>6.0} ns {:>+7.1}% {quiet:>6.0} ns {:>+7.1}%",
            subject.text,
            percent(mean, of_mean),
            percent(quiet, of_quiet),
        );
    }
    println!(
        "ns of an ACK that delivers two segments, from the IP layer to the segments sent \
         (tcp_rcv_established());\nquiet: of those that let none go; percent: against linux-reno"
    );
    Ok(())
}

const SETTLING: Duration = Duration::from_millis(30);
const SLICE: Duration = Duration::from_millis(220);
const CLOCK_RUNS: u32 = 50;
