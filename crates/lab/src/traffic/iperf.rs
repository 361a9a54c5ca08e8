//! iperf3 as an independent source: a server and a client process per connection.
//!
//! It sends for whole seconds. A given amount it calls sent when the kernel has taken it, long
//! before it has arrived, so that flows of a given size are for the lab's own source.

use std::io::Read as _;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use firstflight_record::iperf::Document;

use super::{ConnectionOutcome, Schedule};
use crate::job::{FlowJob, Job};
use crate::link::Clock;
use crate::namespace::Namespace;
use crate::tcp_info::{NO_THRESHOLD, TcpInfo};
use firstflight_runner::RunError;

/// Runs all connections by iperf3; `None` if `stop` became true.
///
/// # Errors
/// No iperf3 on the machine.
pub(crate) fn run(
    near: &Namespace,
    far: &Namespace,
    job: &Job,
    schedule: Schedule,
    clock: Clock,
    stop: &AtomicBool,
) -> Result<Option<Vec<ConnectionOutcome>>, RunError> {
    if job.flows.iter().any(|flow| flow.size_bytes.is_some()) {
        return Err(RunError::Input(
            "--generator iperf3: it ends a transfer before it has arrived; accepted: flows \
             without `size`, or `--generator own`"
                .to_owned(),
        ));
    }
    let mut servers = Vec::new();
    for flow in &job.flows {
        let to = job.groups[flow.group].far;
        servers.push(start(far, &format!("-s -1 -B {to} -p {}", flow.port()))?);
    }
    // A client that comes before its server listens has failed.
    while clock.now() < schedule.from {
        thread::sleep(POLL);
    }
    let mut clients: Vec<Option<Started>> = job.flows.iter().map(|_| None).collect();
    let mut outcomes: Vec<Option<ConnectionOutcome>> = vec![None; job.flows.len()];
    while outcomes.iter().any(Option::is_none) {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let since = clock.now().saturating_sub(schedule.from);
        for (flow, (client, outcome)) in job.flows.iter().zip(clients.iter_mut().zip(&mut outcomes))
        {
            if client.is_none() && since >= flow.start_ns {
                *client = Some(start(near, &words(job, flow))?);
            }
            if let Some(running) = client
                && outcome.is_none()
                && running.has_ended()
            {
                *outcome = Some(read(flow, job.packet_bytes, &running.output()));
            }
        }
        if since > job.duration_ns + DRAIN_NS {
            break;
        }
        thread::sleep(POLL);
    }
    let never = |id: usize| ConnectionOutcome {
        problem: Some(format!("flow {id}: iperf3 did not come to an end")),
        ..ConnectionOutcome::default()
    };
    let outcomes = outcomes.into_iter().enumerate();
    Ok(Some(outcomes.map(|(id, outcome)| outcome.unwrap_or_else(|| never(id))).collect()))
}

fn words(job: &Job, flow: &FlowJob) -> String {
    let group = &job.groups[flow.group];
    let (to, from, port): (Ipv4Addr, Ipv4Addr, u16) = (group.far, group.near, flow.port());
    let end = flow.stop_ns.unwrap_or(u64::MAX).min(job.duration_ns);
    let seconds = end.saturating_sub(flow.start_ns).div_ceil(1_000_000_000).max(1);
    let mss = job.mss();
    let control = &flow.control.kernel_name;
    format!("-c {to} -B {from} -p {port} -C {control} -M {mss} -t {seconds} -i 0.1 -J")
}

/// A process of ours that ends with us.
struct Started {
    child: Child,
    reader: Option<thread::JoinHandle<String>>,
}

fn start(end: &Namespace, words: &str) -> Result<Started, RunError> {
    let mut command = Command::new("iperf3");
    command.args(words.split(' ')).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    end.confine(&mut command);
    tracing::debug!(?command, "starts");
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            RunError::Lacks("`iperf3` is missing: install it, or use `--generator own`".to_owned())
        }
        _ => RunError::Failed(format!("iperf3 {words}: {error}")),
    })?;
    // A pipe that nobody reads would stop the process.
    let reader = child.stdout.take().map(|mut stdout| {
        thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.read_to_string(&mut text);
            text
        })
    });
    Ok(Started { child, reader })
}

impl Started {
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn output(&mut self) -> String {
        self.reader.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended already is no problem.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The outcome in a client's document.
fn read(flow: &FlowJob, packet: u64, text: &str) -> ConnectionOutcome {
    let failed = |problem: &str| ConnectionOutcome {
        problem: Some(format!("flow {}: iperf3{problem}", flow.id)),
        ..ConnectionOutcome::default()
    };
    let document: Document = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(_) if text.trim().is_empty() => Document::default(),
        Err(error) => return failed(&format!("'s document: {error}")),
    };
    if let Some(error) = document.error {
        return failed(&format!(": {error}"));
    }
    let Some(received) = document.end.sum_received else {
        return failed(" ended without a result");
    };
    let mut total_retrans = 0_u32;
    let streams = document.intervals.iter().filter_map(|interval| interval.streams.first());
    let samples = streams.map(|stream| {
        total_retrans = total_retrans.saturating_add(stream.retransmits.unwrap_or(0.0) as u32);
        let info = TcpInfo {
            cwnd: (stream.snd_cwnd.unwrap_or(0.0) / packet.max(1) as f64) as u32,
            ssthresh: NO_THRESHOLD,
            rtt_us: stream.rtt.unwrap_or(0.0) as u32,
            total_retrans,
            ..TcpInfo::default()
        };
        (flow.start_ns + (stream.end * 1e9) as u64, info)
    });
    ConnectionOutcome {
        files: Vec::new(),
        samples: samples.collect(),
        delivered_bytes: received.bytes,
        measured_ns: Some((received.seconds * 1e9) as u64),
        finished_ns: None,
        problem: None,
    }
}

const POLL: Duration = Duration::from_millis(10);
/// After the run's end, for what is queued to arrive, ns.
const DRAIN_NS: u64 = 20_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::LinuxControl;

    #[test]
    fn a_clients_document_becomes_an_outcome() {
        let flow = FlowJob {
            files: None,
            id: 0,
            group: 0,
            control: LinuxControl {
                kernel_name: "reno".to_owned(),
                full: "linux-reno".to_owned(),
                preset: String::new(),
                kernel: None,
            },
            start_ns: 1_000_000_000,
            stop_ns: None,
            size_bytes: None,
            receiver_window: None,
            bdp_bytes: 1,
        };
        let text = r#"{"intervals":[{"streams":[{"snd_cwnd":10000,
            "rtt":40000,"retransmits":2,"end":0.1}]}],
            "end":{"sum_received":{"bytes":5000,"seconds":1.0}}}"#;
        let outcome = read(&flow, 1_000, text);
        assert_eq!((outcome.delivered_bytes, outcome.measured_ns), (5_000, Some(1_000_000_000)));
        let (at, info) = outcome.samples[0];
        assert_eq!((at, info.cwnd, info.total_retrans), (1_100_000_000, 10, 2));
        let broken = read(&flow, 1_000, r#"{"error":"unable to connect"}"#);
        assert_eq!(broken.problem.as_deref(), Some("flow 0: iperf3: unable to connect"));
        let problem = |text: &str| read(&flow, 1_000, text).problem.unwrap();
        assert_eq!(problem(""), "flow 0: iperf3 ended without a result");
        assert_eq!(problem(r#"{"end":{}}"#), "flow 0: iperf3 ended without a result");
        let odd = problem(&text.replace("5000", "\"many\""));
        assert!(
            odd.starts_with("flow 0: iperf3's document: invalid type: string \"many\""),
            "{odd}"
        );
    }
}
