//! `--on quic --real-time`: quinn over real sockets, between two network namespaces with the lab's
//! emulated link between them, in the results of all transports.

mod measured;
mod transfer;

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use firstflight_lab::link::{LinkReport, LinkSpec};
use firstflight_lab::{Namespace, Path};
use firstflight_quic_sim::applies;
use firstflight_quic_sim::quinn::{QUIC, constants};
use firstflight_results::RunResult;
use firstflight_runner::{Options, Report, Run, RunError, Transport, start};
use firstflight_scenario::{Complete, ControlSpec, Plan, Scenario, Size, Time};
use firstflight_transfer::{LEAST_WINDOW, Tuning};

use self::measured::SocketRun;
use self::transfer::{SocketFlow, Transferred, failed};

/// quinn over sockets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sockets;

impl Transport for Sockets {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
        QUIC.full_name(control)
    }

    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
        let complete = QUIC.complete(scenario)?;
        refuse(&complete)?;
        Ok(complete)
    }

    fn check_keys(&self, scenario: &Scenario) -> Result<(), RunError> {
        QUIC.check_keys(scenario)
    }

    /// One run after the other, each over a link of its own.
    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
        let complete = self.complete(scenario)?;
        let plans = scenario.plans()?;
        let total = plans.len() * complete.seeds().count();
        let never = AtomicBool::new(false);
        let stop = options.stop.unwrap_or(&never);
        let mut runs = Vec::new();
        for (seed, plan) in complete.seeds().flat_map(|seed| plans.iter().map(move |it| (seed, it)))
        {
            let one = One { complete: &complete, plan, seed, options, stop };
            match one.run() {
                Err(RunError::Interrupted) if runs.is_empty() => return Err(RunError::Interrupted),
                Err(RunError::Interrupted) => break,
                Err(error) => return Err(error),
                Ok(run) => runs.push(run),
            }
            if let Some(done) = options.on_done {
                done(runs.len(), total);
            }
        }
        let interrupted = runs.len() < total;
        Ok(Report::new(complete, runs, interrupted))
    }

    fn version(&self) -> Result<String, RunError> {
        Ok("in real time".to_owned())
    }

    fn is_in_real_time(&self) -> bool {
        true
    }
}

/// Refuses what transfers over sockets cannot do, by the scenario's key.
fn refuse(complete: &Complete) -> Result<(), RunError> {
    let no = |problem: String| Err(RunError::Input(format!("--real-time: {problem}")));
    if complete.links.len() != 1 || complete.flows.len() != 1 || !complete.udp.is_empty() {
        let accepted = "accepted: one [path], one group of flows, no [[udp]]";
        return no(format!("more than one link or group of flows, or cross traffic; {accepted}"));
    }
    if let Some(key) = complete.links[0].beyond_drop_tail() {
        return no(format!("path.{key}: not over sockets in real time; accepted: virtual time"));
    }
    let flow = &complete.flows[0];
    applies(complete, flow).map_err(RunError::Input)?;
    if flow.files.is_some() {
        return no("found a source of files; accepted: size, or none".to_owned());
    }
    if flow.count > MOST_FLOWS {
        let found = flow.count;
        return no(format!(
            "each flow has two threads: accepted are 1 to {MOST_FLOWS}, not {found}"
        ));
    }
    if let Some(window) = flow.receiver_window.filter(|window| window.bytes() < LEAST_WINDOW) {
        let accepted = format!("accepted: {LEAST_WINDOW}B or more, which has room for a message");
        return no(format!("receiver_window: found {}B; {accepted}", window.bytes()));
    }
    if flow.start_until > Time::ZERO || flow.stop.is_some() || flow.lifetime.is_some() {
        return no(
            "a flow ends with its size or the run; accepted: start_jitter, no start, no stop"
                .to_owned(),
        );
    }
    Ok(())
}

/// One control with one seed.
struct One<'a> {
    complete: &'a Complete,
    plan: &'a Plan,
    seed: u64,
    options: &'a Options<'a>,
    stop: &'a AtomicBool,
}

impl One<'_> {
    fn run(&self) -> Result<Run, RunError> {
        let flows = self.flows()?;
        let mut path = Path::new(&self.link())?;
        let from = path.clock.now();
        path.measure(from, from.saturating_add(self.complete.duration.ns()));
        let transferred = carry(&path.near, &path.far, &flows);
        let link = path.stop();
        Ok(self.measured(&flows, &transferred?, &link))
    }

    /// The scenario's bottleneck, with the access links' delay on it too.
    fn link(&self) -> LinkSpec {
        let mut link = LinkSpec::of_bottleneck(self.complete, self.seed);
        let access = 2 * self.complete.flows[0].access_delay.ns();
        link.forward.delay_ns += access;
        link.backward.delay_ns += access;
        link.forward.udp_header_bytes = Some(self.complete.headers.bytes());
        link.mtu = link.mtu.max(self.complete.packet.bytes() as usize + IP_AND_UDP);
        link.measured(self.options.samples, self.complete.duration.ns())
    }

    fn flows(&self) -> Result<Vec<SocketFlow<'_>>, RunError> {
        let (complete, group) = (self.complete, &self.complete.flows[0]);
        let control = self.plan.controls[0].text.as_str();
        let packet = u16::try_from(complete.packet.bytes()).unwrap_or(u16::MAX);
        let mut constants = constants(group, control);
        constants.packet_bytes = Some(packet);
        let every = Duration::from_nanos(complete.duration.ns() / MOST_SAMPLES).max(SAMPLE);
        let seed = (complete.runs > 1).then_some(self.seed);
        let flow = |id: u64| {
            let path =
                self.options.logs.map(|logs| logs.path(&self.plan.name, seed, id)).transpose();
            Ok(SocketFlow {
                id,
                control,
                start: Duration::from_nanos(start(self.seed, group, id)),
                duration: Duration::from_nanos(complete.duration.ns()),
                size: group.size.map(Size::bytes),
                window: group.receiver_window.map(Size::bytes),
                packet,
                tuning: Tuning { constants, samples: Some(every) },
                stop: self.stop,
                qlog: path.map_err(RunError::Failed)?,
            })
        };
        (0..group.count).map(flow).collect()
    }

    fn measured(
        &self,
        flows: &[SocketFlow<'_>],
        transferred: &[Transferred],
        link: &LinkReport,
    ) -> Run {
        let measured = SocketRun { complete: self.complete, flows, transferred, link };
        let result = measured.result();
        let result = RunResult { alias: self.plan.name.clone(), seed: self.seed, ..result };
        let Some(most) = self.options.samples else {
            return Run::new(result, Vec::new(), Vec::new());
        };
        Run::new(
            result,
            measured.flow_series(most),
            vec![firstflight_lab::queue_series(&link.forward.depth)],
        )
    }
}

/// All flows at once, each with a receiver of its own.
fn carry(
    near: &Namespace,
    far: &Namespace,
    flows: &[SocketFlow<'_>],
) -> Result<Vec<Transferred>, RunError> {
    let began = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> =
            flows.iter().map(|flow| scope.spawn(move || flow.carry(near, far, began))).collect();
        // All threads are joined; the first failure is returned.
        let transferred: Vec<Result<Transferred, RunError>> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(failed("a flow panicked"))))
            .collect();
        transferred.into_iter().collect()
    })
}

/// The headers of IPv4 and UDP, bytes.
const IP_AND_UDP: usize = 28;
const MOST_FLOWS: u64 = 100;
const SAMPLE: Duration = Duration::from_millis(10);
/// Samples kept of one flow, so that long runs do not take the memory.
const MOST_SAMPLES: u64 = 20_000;
