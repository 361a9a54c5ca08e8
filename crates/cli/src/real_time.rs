//! `--on quic --real-time`: quinn over real sockets, between two network namespaces with the lab's
//! emulated link between them, in the results of all transports.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use firstflight_lab::link::{LinkReport, LinkSpec};
use firstflight_lab::path::far_address;
use firstflight_lab::{LinkKind, Namespace, Path, lab_figures};
use firstflight_quic_sim::applies;
use firstflight_runner::{Options, Report, Run};
use firstflight_scenario::resolved::ResolvedFlow;
use firstflight_scenario::{Resolved, RunResult, Scenario};
use firstflight_transfer::{
    Fingerprint, Identity, Inbox, Limits, Listening, Progress, Sending, Sent, Source, Store,
    TransferError, receive, send,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::failure::Failure;
use crate::interrupt;
use crate::transport::Transport;

/// The scenario as it can be run here, in base units.
///
/// # Errors
/// A scenario that cannot be, or not over one pair of sockets.
pub(crate) fn resolve(scenario: &Scenario) -> Result<Resolved, Failure> {
    let resolved = firstflight_runner::resolve(scenario, Transport::Quic.over())?;
    refuse(&resolved)?;
    Ok(resolved)
}

/// What a transfer over sockets has no place for, in the words of the scenario.
fn refuse(resolved: &Resolved) -> Result<(), Failure> {
    let no = |problem: &str| Err(Failure::Usage(format!("--real-time: {problem}")));
    if resolved.links.len() != 1 || resolved.flow_count() != 1 || !resolved.udp.is_empty() {
        return no("more than one link or flow; accepted: one [path] and one flow, no [[udp]]");
    }
    let flow = &resolved.flows[0];
    applies(resolved, flow).map_err(Failure::Usage)?;
    if flow.iw_bytes.given || flow.ssthresh_bytes.given {
        return no("iw and ssthresh are the control's here; accepted: slow-start(iw=32pkt)");
    }
    if flow.delayed_ack.given || flow.duplicate_acks.given || flow.receiver_window_bytes.is_some() {
        return no("delayed_ack, duplicate_acks and windows are quinn's own; accepted: none");
    }
    if flow.start_until_ns > 0 || flow.stop_ns.is_some() || flow.lifetime_ns.is_some() {
        return no("the flow begins with the run; accepted: duration or size, no start, no stop");
    }
    Ok(())
}

/// Runs every control, one after the other, each over a link of its own.
///
/// # Errors
/// The machine lacks something, a transfer broke or did not end in time, or an interruption before
/// any was finished.
pub(crate) fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Report, Failure> {
    let resolved = resolve(scenario)?;
    let plans = scenario.plans()?;
    let total = plans.len() * resolved.seeds().count();
    let mut runs = Vec::new();
    for (plan, seed) in plans.iter().flat_map(|plan| resolved.seeds().map(move |s| (plan, s))) {
        let control = plan.controls[0].text.clone();
        match one(&resolved, &control, seed) {
            Err(Failure::Interrupted) if runs.is_empty() => return Err(Failure::Interrupted),
            Err(Failure::Interrupted) => break,
            Err(failure) => return Err(failure),
            Ok(result) => {
                let result = RunResult { alias: plan.name.clone(), seed, ..result };
                runs.push(Run::new(result, Vec::new(), Vec::new()));
            }
        }
        if let Some(done) = options.on_done {
            done(runs.len(), total);
        }
    }
    let interrupted = runs.len() < total;
    Ok(Report::new(resolved, runs, interrupted))
}

fn one(resolved: &Resolved, control: &str, seed: u64) -> Result<RunResult, Failure> {
    let spec = link(resolved, seed);
    let mut path = Path::new(&spec)?;
    path.measure(path.clock.now(), u64::MAX);
    let sent = transfer(&path.near, &path.far, resolved, control);
    let report = path.stop();
    Ok(result(resolved, control, &sent?, &report))
}

/// The scenario's bottleneck, with the access links' delay on it too.
fn link(resolved: &Resolved, seed: u64) -> LinkSpec {
    let mut link = LinkSpec::of_bottleneck(resolved, seed);
    let access = 2 * resolved.flows[0].access_delay_ns;
    link.forward.delay_ns += access;
    link.backward.delay_ns += access;
    link
}

/// A receiver at the far end, a sender at the near one, each on a thread of its own.
fn transfer(
    near: &Namespace,
    far: &Namespace,
    resolved: &Resolved,
    control: &str,
) -> Result<Sent, Failure> {
    let identity = Identity::make()?;
    let accepted = Vec::from_iter(identity.fingerprint());
    let (ready, is_ready) = channel();
    thread::scope(|scope| {
        let (over, ended) = watch::channel(false);
        let taking =
            scope.spawn(move || far.run(|| take(identity, &ready, ended)).map_err(machine)?);
        if is_ready.recv().is_err() {
            // It ended before it listened, and says why.
            let took = taking.join().unwrap_or_else(|_| Err(broke("the receiver panicked")));
            return Err(took.err().unwrap_or_else(|| broke("the receiver did not listen")));
        }
        let sent = near.run(|| give(resolved, control, accepted)).map_err(machine);
        // The receiver may wait for a sender that never came.
        let _ = over.send(true);
        let took = taking.join().unwrap_or_else(|_| Err(broke("the receiver panicked")));
        let sent = sent??;
        took.map(|()| sent)
    })
}

fn take(
    identity: Identity,
    ready: &Sender<()>,
    mut ended: watch::Receiver<bool>,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let inbox = Inbox::open(Listening {
            at: format!("{}:{PORT}", far_address(0)),
            accepted: Vec::new(),
            secret: None,
            identity,
            timeout: SILENCE,
            limits: Limits { window: WINDOW, size: None },
            store: Store::Discard,
        })?;
        // Whoever waits for it has not gone.
        let _ = ready.send(());
        let (progress, _) = watch::channel(Progress::default());
        let over = async {
            // An error says that the other thread is gone, which is an end too.
            let _ = ended.wait_for(|ended| *ended).await;
        };
        match receive(&inbox, &progress, |_| {}, over).await {
            Ok(_) | Err(TransferError::Interrupted { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    })
}

fn give(resolved: &Resolved, control: &str, accepted: Vec<Fingerprint>) -> Result<Sent, Failure> {
    let duration = Duration::from_nanos(resolved.duration_ns);
    let size = resolved.flows[0].size_bytes;
    let sending = Sending {
        to: format!("{}:{PORT}", far_address(0)),
        source: size.map_or(Source::Duration(duration), Source::Memory),
        name: None,
        control: control.to_owned(),
        accepted,
        identity: Identity::make()?,
        secret: None,
        timeout: SILENCE,
        qlog: None,
        paths: None,
    };
    // What is under way when the time is over has to arrive.
    let limit = if size.is_some() { duration } else { duration + SILENCE };
    runtime()?.block_on(async {
        let (progress, _) = watch::channel(Progress::default());
        let over = async {
            tokio::select! {
                () = tokio::time::sleep(limit) => {}
                () = crate::transfer::interrupted() => {}
            }
        };
        match send(sending, progress, over).await {
            Err(TransferError::Interrupted { .. })
                if !interrupt::listen().load(Ordering::Relaxed) =>
            {
                Err(broke(&format!(
                    "{control}: not all had arrived after {} s; a longer --duration lets it",
                    limit.as_secs_f64()
                )))
            }
            Err(TransferError::Interrupted { .. }) => Err(Failure::Interrupted),
            sent => Ok(sent?),
        }
    })
}

/// The transfer's own result, with what the link saw.
fn result(resolved: &Resolved, control: &str, sent: &Sent, report: &LinkReport) -> RunResult {
    let results = sent.results(control, env!("CARGO_PKG_VERSION"));
    let mut result = results.runs.into_iter().next().unwrap_or_default();
    let (link, flow): (_, &ResolvedFlow) = (&resolved.links[0], &resolved.flows[0]);
    for sent in &mut result.flows {
        sent.utilization = sent.throughput_bps / link.rate_bps as f64;
        // Without a size nothing is complete.
        sent.completion_time_s = sent.completion_time_s.filter(|_| flow.size_bytes.is_some());
    }
    let way = &report.forward;
    result.bottleneck.drops = way.dropped_packets + way.lost_packets;
    result.bottleneck.random_losses = way.lost_packets;
    result.bottleneck.utilization = way.utilization;
    result.bottleneck.peak_queue_packets = way.peak_queue_packets;
    result.bottleneck.mean_queue_packets = way.mean_queue_packets;
    let rtt = flow.rtt_ns;
    result.note = report.disturbance(rtt);
    result.lab = Some(lab_figures(report, LinkKind::Tun, "quinn", rtt));
    result
}

/// quinn's sockets on the thread that made them: a namespace is a thread's.
fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(machine)
}

fn machine(error: std::io::Error) -> Failure {
    Failure::Broke(error.to_string())
}

fn broke(problem: &str) -> Failure {
    Failure::Broke(problem.to_owned())
}

const PORT: u16 = 4_433;
const SILENCE: Duration = Duration::from_secs(10);
/// Flow control that does not limit.
const WINDOW: u64 = 256 << 20;
