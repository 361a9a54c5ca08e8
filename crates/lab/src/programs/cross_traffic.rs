//! Cross traffic on the path of two programs, in the direction of their data: TCP connections of
//! the guest's kernel, with the controls that the scenario names, and UDP at a constant rate.
//!
//! A program needs some time before it sends its first packet. If the scenario starts the transfer
//! at time 0, the start times of the cross traffic count from that packet. If it starts the
//! transfer later, the run is prolonged by the program's delay.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use firstflight_runner::RunError;
use firstflight_scenario::{Complete, ControlSpec};

use super::Ran;
use crate::control::{LinuxControl, Loaded};
use crate::job::{FlowJob, Job};
use crate::link::{Clock, LinkSpec};
use crate::path::Path;
use crate::process_tree::ProcessTree;
use crate::routes;
use crate::tool::{self, LinkEnds};
use crate::traffic::own::Own;
use crate::traffic::udp::{self, Source};
use crate::traffic::{ConnectionOutcome, Schedule};

/// The cross traffic of a run, and when the clients of the programs start.
#[derive(Debug)]
pub(super) struct CrossTraffic {
    /// The connections and datagrams of the cross traffic.
    job: Job,
    /// When each client is to start, ns of the run.
    starts: Vec<u64>,
    /// The transfers have no end but the run's.
    endless: bool,
}

/// A connection of the cross traffic, and what became of it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) job: FlowJob,
    pub(super) outcome: ConnectionOutcome,
}

impl CrossTraffic {
    /// The cross traffic of a scenario; `None` if one transfer of a given size is alone on the
    /// path.
    ///
    /// # Errors
    /// A control that no kernel has.
    pub(super) fn of(
        complete: &Complete,
        seed: u64,
        upload: bool,
    ) -> Result<Option<Self>, RunError> {
        let controls = complete.flows.iter().map(|flow| match &flow.control {
            Some(control) => LinuxControl::resolve(control, flow.delayed_ack.value > 1),
            // A program's own control is unknown, and none is loaded for it.
            None => LinuxControl::resolve(&usual_control()?, false),
        });
        let controls: Vec<LinuxControl> = controls.collect::<Result<_, _>>()?;
        let mut job = Job::new(complete, &controls, seed);
        let is_programs = |flow: &FlowJob| complete.flows[flow.group].control.is_none();
        let (own, others): (Vec<FlowJob>, Vec<FlowJob>) =
            job.flows.into_iter().partition(is_programs);
        let starts: Vec<u64> = own.iter().map(|flow| flow.start_ns).collect();
        let endless = own.iter().all(|flow| flow.size_bytes.is_none());
        if starts[..] == [0] && others.is_empty() && job.udp.is_empty() && !endless {
            return Ok(None);
        }
        job.flows = others;
        job.groups.iter_mut().for_each(|group| group.reverse = !upload);
        Ok(Some(Self { job, starts, endless }))
    }

    /// The ports to which the cross traffic goes, which no program may take.
    pub(super) fn ports(&self) -> Vec<u16> {
        let flows = self.job.flows.iter().map(FlowJob::port);
        flows.chain((0..self.job.udp.len()).map(udp::port)).collect()
    }

    /// Runs the programs and the cross traffic over a link.
    ///
    /// # Errors
    /// The machine lacks something, or a program cannot be started.
    pub(super) fn carry(
        &mut self,
        link: &LinkSpec,
        ends: &LinkEnds,
        stop: &AtomicBool,
    ) -> Result<Ran, RunError> {
        let _loaded = self.load()?;
        let mut path = Path::new(link)?;
        self.set_up(&path)?;
        let measured_from = path.clock.now();
        path.measure(measured_from, u64::MAX);
        let mut far = tool::start(&path.far, &ends.far, &ends.prints, "far")?;
        tool::wait_until_listening(&path.far, ends.listen_timeout);
        let (near, far_end) = (&path.near, &path.far);
        let own = Own::new(near, far_end, &self.job, path.clock)?;
        let sources = self.sources(&path)?;
        let mut clients = Clients { traffic: self, path: &path, ends, running: Vec::new() };
        let zero = clients.start_time(stop)?;
        let until = zero.saturating_add(self.job.duration_ns);
        let schedule = Schedule { from: zero, until, quiet: zero, every: SAMPLE_EVERY };
        let (over, failed) = (AtomicBool::new(false), AtomicBool::new(false));
        let (extension_ns, outcomes) = thread::scope(|scope| {
            for source in &sources {
                scope.spawn(|| source.run(schedule, path.clock, &over));
            }
            let others = scope.spawn(|| own.run(schedule, &failed));
            let extension = clients.run_until_end(zero, &own, stop);
            failed.store(!clients.have_succeeded(), Ordering::Relaxed);
            // Flows without an end last until the run's. After a failure nothing is waited for.
            let outcomes = others.join().ok().flatten().unwrap_or_default();
            over.store(true, Ordering::Relaxed);
            extension.map(|extension| (extension, outcomes))
        })?;
        clients.server_grace(stop);
        let exits = clients.exits();
        drop(clients);
        let ended =
            |tree: &mut ProcessTree| tree.try_wait().ok().flatten().and_then(|it| it.code());
        let far_exit = far.as_mut().and_then(ended);
        drop((far, own, sources));
        let jobs = self.job.flows.iter().cloned();
        let outcomes = outcomes.into_iter().chain(std::iter::repeat_with(Default::default));
        Ok(Ran {
            link: path.stop(),
            exits,
            far_exit,
            zero_ns: zero - measured_from,
            extension_ns,
            others: jobs.zip(outcomes).map(|(job, outcome)| Connection { job, outcome }).collect(),
        })
    }

    /// Loads the controls of the cross traffic that the kernel does not have.
    fn load(&mut self) -> Result<Loaded, RunError> {
        let flows = &mut self.job.flows;
        let mut controls: Vec<LinuxControl> = flows.iter().map(|it| it.control.clone()).collect();
        let loaded = Loaded::load(&mut controls)?;
        flows.iter_mut().zip(controls).for_each(|(flow, control)| flow.control = control);
        Ok(loaded)
    }

    fn set_up(&self, path: &Path) -> Result<(), RunError> {
        let ports: Vec<String> = self.ports().iter().map(u16::to_string).collect();
        for end in [&path.near, &path.far] {
            end.set("ipv4/ip_local_reserved_ports", &ports.join(","))?;
        }
        // The first address of each end is the programs'.
        let groups = self.job.groups.iter().enumerate().skip(1);
        groups
            .into_iter()
            .try_for_each(|(index, group)| routes::add(&path.near, &path.far, index, group))
    }

    fn sources(&self, path: &Path) -> Result<Vec<Source>, RunError> {
        let group = &self.job.groups[0];
        let (from, to) = group.ends(&path.near, &path.far);
        let address = group.addresses().1;
        let made = self.job.udp.iter().enumerate().map(|(index, udp)| {
            Source::new(from, (to, address), index, udp)
                .map_err(|error| RunError::Failed(format!("cross traffic {index}: {error}")))
        });
        made.collect()
    }
}

/// The clients of a run, as far as they have started.
struct Clients<'a> {
    traffic: &'a CrossTraffic,
    path: &'a Path,
    ends: &'a LinkEnds,
    /// Each with its exit code once it has ended.
    running: Vec<(ProcessTree, Option<i32>)>,
}

impl Clients<'_> {
    /// The beginning of the run, ns of the clock: the first packet of a transfer that begins with
    /// it, else a moment from now.
    fn start_time(&mut self, stop: &AtomicBool) -> Result<u64, RunError> {
        let clock = self.path.clock;
        let begun = clock.now();
        if self.traffic.starts.iter().all(|start| *start > 0) {
            return Ok(begun + LEAD);
        }
        self.start_until(0)?;
        loop {
            if let Some(at) = self.path.transfer_began() {
                return Ok(at);
            }
            let over = clock.now() - begun > self.traffic.job.duration_ns;
            if over || stop.load(Ordering::Relaxed) || self.have_ended()? {
                return Ok(clock.now());
            }
            thread::sleep(BEGIN_POLL);
        }
    }

    /// Starts the clients whose time has come.
    fn start_until(&mut self, since: u64) -> Result<(), RunError> {
        let due = self.traffic.starts.iter().filter(|start| **start <= since).count();
        while self.running.len() < due {
            let number = self.running.len();
            let name = if number == 0 { "near".to_owned() } else { format!("near-{number}") };
            let (words, prints) = (&self.ends.near, &self.ends.prints);
            let Some(tree) = tool::start(&self.path.near, words, prints, &name)? else { break };
            self.running.push((tree, None));
        }
        Ok(())
    }

    /// Whether all have ended, or one of them not well.
    fn have_ended(&mut self) -> Result<bool, RunError> {
        for (tree, code) in self.running.iter_mut().filter(|(_, code)| code.is_none()) {
            let ended = tree.try_wait().map_err(|error| RunError::Failed(error.to_string()))?;
            *code = ended.map(|status| status.code().unwrap_or(SIGNAL));
        }
        let all = self.running.len() == self.traffic.starts.len();
        let mut codes = self.running.iter().map(|(_, code)| *code);
        Ok(codes.clone().any(|code| code.is_some_and(|code| code != 0))
            || all && codes.all(|code| code.is_some()))
    }

    /// Starts the clients and waits for their end or the run's. Returns how much later that is than
    /// in the scenario, ns.
    fn run_until_end(&mut self, zero: u64, own: &Own, stop: &AtomicBool) -> Result<u64, RunError> {
        let clock: Clock = self.path.clock;
        let first = self.traffic.starts.iter().copied().min().unwrap_or(0);
        let mut extension = 0;
        loop {
            let since = clock.now().saturating_sub(zero);
            self.start_until(since)?;
            let began = self.path.transfer_began().filter(|_| first > 0 && extension == 0);
            if let Some(at) = began {
                extension = at.saturating_sub(zero + first);
                own.extend(extension);
            }
            let over = since >= self.traffic.job.duration_ns + extension;
            if self.have_ended()? || over || stop.load(Ordering::Relaxed) {
                return Ok(extension);
            }
            thread::sleep(tool::POLL);
        }
    }

    /// Whether no client has failed; a transfer without an end must still run.
    fn have_succeeded(&self) -> bool {
        let wanted = if self.traffic.endless { None } else { Some(0) };
        self.running.iter().all(|(_, code)| *code == wanted)
    }

    /// Gives a server that logs the time to write.
    fn server_grace(&self, stop: &AtomicBool) {
        let begun = std::time::Instant::now();
        while begun.elapsed() < self.ends.server_grace && !stop.load(Ordering::Relaxed) {
            thread::sleep(tool::POLL);
        }
    }

    /// Their exit codes, of those that have ended.
    fn exits(&self) -> Vec<Option<i32>> {
        let codes = self.running.iter().map(|(_, code)| *code);
        codes.chain(std::iter::repeat(None)).take(self.traffic.starts.len()).collect()
    }
}

fn usual_control() -> Result<ControlSpec, RunError> {
    "linux-cubic".parse().map_err(|problem| RunError::Input(format!("linux-cubic: {problem}")))
}

/// From now to the beginning of a run whose programs start later, ns.
const LEAD: u64 = 50_000_000;
/// Between two samples of a connection, ns.
const SAMPLE_EVERY: u64 = 10_000_000;
/// Between two checks whether the transfer has begun, for which the cross traffic waits.
const BEGIN_POLL: std::time::Duration = std::time::Duration::from_millis(1);
/// The exit code of a client that a signal ended.
const SIGNAL: i32 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::complete;
    use firstflight_scenario::Scenario;

    fn traffic(more: &str) -> Result<Option<CrossTraffic>, String> {
        let text = format!("controls = ['linux-reno']\n{more}");
        let scenario = Scenario::parse(&text, "x.toml").map_err(|error| error.to_string())?;
        let complete = complete(&scenario).map_err(|error| error.to_string())?;
        CrossTraffic::of(&complete, 1, false).map_err(|error| error.to_string())
    }

    #[test]
    fn one_transfer_alone_has_no_cross_traffic() {
        assert!(traffic("[[flow]]\nsize = '1MB'").unwrap().is_none());
        assert!(traffic("[[flow]]").unwrap().is_some(), "its end is the run's");
        assert!(traffic("[[flow]]\nsize = '1MB'\nstart = '1s'").unwrap().is_some());
    }

    #[test]
    fn others_send_as_the_programs_do_by_the_controls_of_the_scenario() {
        let flows = "[[flow]]\nsize = '1MB'\ncount = 2\n[[flow]]\ncontrol = 'linux-reno'\n\
                     start = '3s'\n[[udp]]\nrate = '1Mbps'";
        let traffic = traffic(flows).unwrap().unwrap();
        assert_eq!((&traffic.starts[..], traffic.endless), (&[0, 0][..], false));
        let [other] = &traffic.job.flows[..] else { panic!("{traffic:?}") };
        assert_eq!((&*other.control.kernel_name, other.start_ns), ("reno", 3_000_000_000));
        assert!(traffic.job.groups[1].reverse, "a server sends the data");
        assert_eq!(traffic.ports(), [other.port(), udp::port(0)]);
    }
}
