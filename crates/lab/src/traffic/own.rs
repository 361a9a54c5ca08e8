//! The lab's own source: a thread for each end of a connection, and one more that samples all of
//! them every 10 ms and ends them in time.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use nix::sys::prctl::set_timerslack;
use socket2::{Domain, Protocol, Socket, Type};

use firstflight_sim::FileDraws;

use super::descriptors::make_room;
use super::files::Files;
use super::{ConnectionOutcome, LONGEST_SLEEP, Schedule};
use crate::job::{FlowJob, Group, Job};
use crate::link::Clock;
use crate::namespace::Namespace;
use crate::sys;
use crate::tcp_info::TcpInfo;
use firstflight_runner::RunError;

/// The sources and sinks of a run, ready to start.
pub(crate) struct Own {
    flows: Vec<Arc<Connection>>,
    clock: Clock,
    /// How much later than its schedule the run ends, ns.
    extension: AtomicU64,
}

/// A connection, shared by its two threads and the one that samples.
struct Connection {
    job: FlowJob,
    packet_bytes: u64,
    receives_at: SocketAddr,
    /// The sending socket, made in its namespace before the run, so that a start costs a connect
    /// alone.
    sender: Socket,
    /// The socket to connect to.
    listener: Socket,
    /// The handshake is over.
    connected: AtomicBool,
    /// The socket that accepted it.
    receiver: OnceLock<Socket>,
    /// The flow is to stop.
    over: AtomicBool,
    /// When all was delivered, ns; `u64::MAX` before.
    finished: AtomicU64,
    /// What is written, file by file.
    files: Files,
    /// What went wrong.
    problem: Mutex<Option<String>>,
}

impl Own {
    /// Makes the sockets.
    ///
    /// # Errors
    /// The kernel gives no socket or refuses one of its options, or the flows need more open files
    /// than the process may have.
    pub(crate) fn new(
        near: &Namespace,
        far: &Namespace,
        job: &Job,
        clock: Clock,
    ) -> Result<Self, RunError> {
        make_room(job.flows.len()).map_err(|error| failed("have room for", &error))?;
        let mut flows = Vec::new();
        for flow in &job.flows {
            let group = &job.groups[flow.group];
            let (sends, receives) = group.ends(near, far);
            let listener = receives.run(|| listen(flow, group)).and_then(|made| made);
            let listener = listener.map_err(|error| failed("listen", &error))?;
            let sender = sends.run(|| sender(job, flow, group));
            let sender = sender.map_err(|error| failed("open", &error))??;
            flows.push(Arc::new(Connection {
                job: flow.clone(),
                packet_bytes: job.packet_bytes,
                receives_at: SocketAddr::from((group.addresses().1, flow.port())),
                sender,
                listener,
                connected: AtomicBool::new(false),
                receiver: OnceLock::new(),
                over: AtomicBool::new(false),
                finished: AtomicU64::new(u64::MAX),
                files: Files::default(),
                problem: Mutex::new(None),
            }));
        }
        Ok(Self { flows, clock, extension: AtomicU64::new(0) })
    }

    /// Sets how much later than its schedule a run ends.
    pub(crate) fn extend(&self, ns: u64) {
        self.extension.store(ns, Ordering::Relaxed);
    }

    /// Runs all connections over the schedule, or until nothing more can happen; `None` if `stop`
    /// became true.
    pub(crate) fn run(
        &self,
        schedule: Schedule,
        stop: &AtomicBool,
    ) -> Option<Vec<ConnectionOutcome>> {
        let clock = self.clock;
        let outcomes = thread::scope(|scope| {
            for flow in &self.flows {
                // A machine without room for threads fails the flow, not the program.
                let send = thread::Builder::new().stack_size(STACK);
                let receive = thread::Builder::new().stack_size(STACK);
                let sending = send.spawn_scoped(scope, move || flow.send(schedule, clock));
                let receiving = receive.spawn_scoped(scope, move || flow.receive(schedule, clock));
                for error in [sending.err(), receiving.err()].into_iter().flatten() {
                    flow.fail(&error);
                }
            }
            let outcomes = self.sample(schedule, stop);
            self.flows.iter().for_each(|flow| flow.end());
            outcomes
        });
        outcomes.filter(|_| !stop.load(Ordering::Relaxed))
    }

    fn sample(&self, schedule: Schedule, stop: &AtomicBool) -> Option<Vec<ConnectionOutcome>> {
        let _ = (sys::set_nice(), set_timerslack(1));
        let mut outcomes = vec![ConnectionOutcome::default(); self.flows.len()];
        let mut next = schedule.from;
        loop {
            let now = self.clock.now();
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            if now < next {
                thread::sleep(Duration::from_nanos((next - now).min(LONGEST_SLEEP)));
                continue;
            }
            let until = schedule.until + self.extension.load(Ordering::Relaxed);
            let since = now - schedule.from;
            for (flow, outcome) in self.flows.iter().zip(&mut outcomes) {
                flow.sample(since, now >= until, outcome);
            }
            let quiet = now >= schedule.quiet && self.flows.iter().all(|flow| flow.is_over());
            if quiet || now >= until {
                return Some(outcomes);
            }
            // After a late sample the next ones do not come early.
            next = (next + schedule.every).max(now.saturating_sub(schedule.every));
            next = next.min(until);
        }
    }
}

impl Connection {
    /// Takes a sample; ends the flow when its time or the run's is over.
    fn sample(&self, since: u64, last: bool, outcome: &mut ConnectionOutcome) {
        if self.is_over() {
            return;
        }
        if self.connected.load(Ordering::Acquire) {
            outcome.samples.extend(TcpInfo::of(&self.sender).ok().map(|info| (since, info)));
        }
        let finished = Some(self.finished.load(Ordering::Acquire)).filter(|at| *at < u64::MAX);
        let stopped = self.job.stop_ns.is_some_and(|stop| since >= stop);
        if !last && !stopped && finished.is_none() {
            return;
        }
        let received = self.receiver.get().and_then(|socket| TcpInfo::of(socket).ok());
        outcome.delivered_bytes = received.map_or(0, |info| info.bytes_received);
        // The end of a connection is numbered like a byte.
        let most = self.job.size_bytes.unwrap_or(u64::MAX);
        outcome.delivered_bytes = outcome.delivered_bytes.min(most);
        outcome.finished_ns = finished;
        outcome.files = self.files.take();
        outcome.problem = self.problem.lock().map(|problem| problem.clone()).unwrap_or_default();
        if outcome.samples.is_empty() && since > self.job.start_ns {
            let never = "no connection in its time, its SYN may have been dropped";
            outcome.problem.get_or_insert_with(|| format!("flow {}: {never}", self.job.id));
        }
        self.end();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Aborts both ends: what is queued is not sent, and nobody waits for a last packet.
    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        for socket in [Some(&self.sender), self.receiver.get()].into_iter().flatten() {
            // A connection that has ended by itself is as good.
            let _ = socket.set_linger(Some(Duration::ZERO));
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }

    fn send(&self, schedule: Schedule, clock: Clock) {
        let _ = (sys::set_nice(), set_timerslack(1));
        let start = schedule.from + self.job.start_ns;
        if !self.sleep_until(start, clock) {
            return;
        }
        let left = schedule.until.saturating_sub(clock.now()).max(1);
        let connected =
            self.sender.connect_timeout(&self.receives_at.into(), Duration::from_nanos(left));
        match connected {
            Ok(()) => self.connected.store(true, Ordering::Release),
            // The run, or the flow, was over first.
            Err(_) if clock.now() >= schedule.until || self.is_over() => return,
            Err(error) => return self.fail(&error),
        }
        let written = match &self.job.files {
            None => self.write_all(),
            Some(draws) => self.write_files(draws.clone(), schedule, clock),
        };
        if let Err(error) = written
            && !self.is_over()
        {
            self.fail(&error);
        }
    }

    /// Writes all there is to send.
    fn write_all(&self) -> io::Result<()> {
        self.write(self.job.size_bytes.unwrap_or(u64::MAX))?;
        self.sender.shutdown(std::net::Shutdown::Write)
    }

    fn write(&self, bytes: u64) -> io::Result<()> {
        let chunk = vec![0_u8; CHUNK];
        let mut left = bytes;
        while left > 0 {
            let length = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
            left -= self.sender.send(&chunk[..length])? as u64;
        }
        Ok(())
    }

    /// Writes file after file: each a pause after all of the one before has been acknowledged.
    fn write_files(&self, mut draws: FileDraws, run: Schedule, clock: Clock) -> io::Result<()> {
        // The first begins with the connection.
        let mut begins = run.from + self.job.start_ns;
        loop {
            let packets = draws.packets(self.packet_bytes);
            let sent = TcpInfo::of(&self.sender)?.data_segs_out;
            self.files.begin(begins.saturating_sub(run.from), packets, self.packet_bytes);
            self.write(u64::from(packets) * self.packet_bytes)?;
            while sys::unacknowledged(&self.sender)? > 0 {
                if self.is_over() {
                    return Ok(());
                }
                thread::sleep(POLL);
            }
            let acknowledged = clock.now();
            self.files.end(TcpInfo::of(&self.sender)?.data_segs_out - sent);
            if !self.sleep_until(acknowledged + draws.pause().0, clock) {
                return Ok(());
            }
            begins = clock.now();
        }
    }

    fn receive(&self, schedule: Schedule, clock: Clock) {
        let _ = sys::set_nice();
        while !self.is_over() {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    let _ = socket.set_read_timeout(Some(READ_TIMEOUT));
                    let _ = self.receiver.set(socket);
                    break;
                }
                Err(error) if timed_out(&error) => {}
                Err(error) => return self.fail(&error),
            }
        }
        let Some(socket) = self.receiver.get() else { return };
        let size = self.job.size_bytes.unwrap_or(u64::MAX);
        let mut room = vec![MaybeUninit::uninit(); CHUNK];
        let mut received = 0;
        while received < size && !self.is_over() {
            // The kernel throws the bytes away instead of copying them (tcp(7), MSG_TRUNC).
            match socket.recv_with_flags(&mut room, libc::MSG_TRUNC) {
                Ok(0) => break,
                Ok(length) => {
                    received += length as u64;
                    if self.job.files.is_some() {
                        self.files.receive(received, clock.now().saturating_sub(schedule.from));
                    }
                }
                Err(error) if timed_out(&error) => {}
                // It was aborted, which the other end knows about.
                Err(_) => break,
            }
        }
        if received >= size {
            let at = clock.now().saturating_sub(schedule.from);
            self.finished.store(at, Ordering::Release);
        }
    }

    /// Sleeps until `moment`; `false` if the flow ended first.
    fn sleep_until(&self, moment: u64, clock: Clock) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let left = moment.saturating_sub(clock.now());
            if left == 0 {
                return true;
            }
            thread::sleep(Duration::from_nanos(left.min(LONGEST_SLEEP)));
        }
    }

    fn fail(&self, error: &io::Error) {
        if let Ok(mut problem) = self.problem.lock() {
            problem.get_or_insert_with(|| format!("flow {}: {error}", self.job.id));
        }
    }
}

fn listen(flow: &FlowJob, group: &Group) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    if let Some(window) = flow.receiver_window {
        sys::set_window_clamp(&socket, i32::try_from(window).unwrap_or(i32::MAX))?;
    }
    if let Some(name) = flow.control.receiver_control() {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    socket.bind(&SocketAddr::from((group.addresses().1, flow.port())).into())?;
    socket.set_read_timeout(Some(READ_TIMEOUT))?;
    socket.listen(1)?;
    Ok(socket)
}

fn sender(job: &Job, flow: &FlowJob, group: &Group) -> Result<Socket, RunError> {
    let open = || -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_tcp_mss(job.mss() as u32)?;
        socket.bind(&SocketAddr::from((group.addresses().0, 0)).into())?;
        Ok(socket)
    };
    let socket = open().map_err(|error| failed("open", &error))?;
    let name = &flow.control.kernel_name;
    socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
        RunError::Failed(format!(
            "control `{}`: the kernel does not take `{name}`: {error}",
            flow.control.full
        ))
    })?;
    Ok(socket)
}

fn timed_out(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

fn failed(what: &str, error: &io::Error) -> RunError {
    RunError::Failed(format!("cannot {what} a connection: {error}"))
}

const CHUNK: usize = 256 * 1024;
const STACK: usize = 128 * 1024;
/// Between two checks whether a file has been acknowledged.
const POLL: Duration = Duration::from_micros(100);
/// Between two checks whether the flow is over.
const READ_TIMEOUT: Duration = Duration::from_millis(100);
