//! What a run on real Linux yielded, in the schema of all transports.
//!
//! What the simulator knows from its own state is read here from samples of `TCP_INFO`: windows,
//! the end of start-up and the repairs of loss are known to the nearest 10 ms. Bytes and packets
//! are the kernel's counts, and exact. Drops in the round of the exit are those that firstflight's
//! link noted within an RTT of it; netem notes none, so that they stay unknown there.

use std::time::Duration;

use firstflight_core::policy::Exit;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::statistics::distinct;
use firstflight_results::{
    Bottleneck, Counts, FilesResult, FlowContext, FlowOutcome, FlowResult, LabFigures, RunResult,
    StartupOutcome,
};
use firstflight_scenario::{Complete, Plan};

use crate::control::LinuxControl;
use crate::job::{FlowJob, Job};
use crate::link::{DirectionReport, LinkReport, Timing};
use crate::tcp_info::{CaState, TcpInfo};
use crate::testbed::LinkKind;
use crate::traffic::ConnectionOutcome;

/// Everything known about one run.
pub(crate) struct LabRun<'a> {
    pub(crate) complete: &'a Complete,
    pub(crate) plan: &'a Plan,
    pub(crate) controls: &'a [LinuxControl],
    pub(crate) job: &'a Job,
    pub(crate) flows: &'a [ConnectionOutcome],
    pub(crate) link: &'a LinkReport,
    pub(crate) kind: LinkKind,
    pub(crate) generator: &'static str,
    pub(crate) wall: Duration,
}

impl LabRun<'_> {
    /// The result of the run.
    pub(crate) fn result(&self) -> RunResult {
        let flows: Vec<FlowResult> = self
            .job
            .flows
            .iter()
            .zip(self.flows)
            .map(|(job, outcome)| self.flow(job, outcome))
            .collect();
        let events = self.link.forward.offered_packets + self.link.backward.offered_packets;
        RunResult {
            control: distinct(self.controls.iter().map(|control| control.full.as_str())),
            alias: self.plan.name.clone(),
            preset: distinct(
                self.controls.iter().map(|c| c.preset.as_str()).filter(|preset| !preset.is_empty()),
            ),
            transport: "linux".to_owned(),
            profile: self.complete.endpoint.profile.to_string(),
            seed: self.job.link.seed,
            utilization: self.complete.utilization(&flows),
            bottleneck: bottleneck(&self.link.forward),
            note: self.note(),
            lab: Some(lab_figures(self.link, self.kind, self.generator, self.rtt_ns())),
            ..RunResult::of_flows(flows, self.job.duration_ns, (self.wall, events))
        }
    }

    fn flow(&self, job: &FlowJob, outcome: &ConnectionOutcome) -> FlowResult {
        let end = [job.stop_ns, outcome.finished_ns].into_iter().flatten().min();
        let end = end.unwrap_or(u64::MAX).min(self.job.duration_ns);
        let period = outcome.measured_ns.unwrap_or(end.saturating_sub(job.start_ns));
        let last = outcome.samples.last().map(|(_, info)| *info).unwrap_or_default();
        let peak = outcome.samples.iter().map(|(_, info)| info.cwnd).max().unwrap_or(0);
        let packet = self.job.packet_bytes;
        let capacity = self.complete.capacity();
        let group = &self.complete.flows[job.group];
        let context = FlowContext {
            start: Instant(job.start_ns),
            period: Span(period),
            packet_bytes: packet,
            rate_bps: Some(capacity.most_bps(&group.data_path, job.start_ns, end)),
            bdp_bytes: Some(job.bdp_bytes),
        };
        let flow = FlowOutcome {
            delivered_packets: outcome.delivered_bytes / packet.max(1),
            delivered_bytes: Bytes(outcome.delivered_bytes),
            counts: Counts {
                sent_packets: last.data_segs_out.into(),
                retransmitted_packets: last.total_retrans.into(),
                fast_retransmits: entries(&outcome.samples, CaState::Recovery),
                timeouts: u64::from(last.timeouts).max(entries(&outcome.samples, CaState::Loss)),
                ..Counts::default()
            },
            finished_at: outcome.finished_ns.map(Instant),
            peak_cwnd: Bytes(u64::from(peak) * packet),
            final_cwnd: Bytes(u64::from(last.cwnd) * packet),
            startup: self.startup(job, &outcome.samples),
            ..FlowOutcome::default()
        };
        FlowResult {
            id: job.id as u64,
            control: job.control.full.clone(),
            files: job.files.as_ref().map(|_| FilesResult::of(packet, &outcome.files)),
            ..FlowResult::of(&flow, context)
        }
    }

    /// How start-up went, with what the link dropped around its end.
    fn startup(&self, job: &FlowJob, samples: &[(u64, TcpInfo)]) -> StartupOutcome {
        let found = exit(job, samples);
        let (way, _) = self.job.groups[job.group].ends(&self.link.forward, &self.link.backward);
        let losses = found.zip(way.losses.as_deref());
        let drops = losses.map(|((index, _), losses)| {
            // The exit lies between two samples.
            let (before, _) = samples[index.saturating_sub(1)];
            let (at, info) = samples[index];
            let rtt = u64::from(info.rtt_us) * 1_000;
            let round = before.saturating_sub(rtt)..=at + rtt;
            let own = |(at, port): &&(u64, u16)| *port == job.port() && round.contains(at);
            losses.iter().filter(own).count() as u64
        });
        let seen = startup(job, self.job.packet_bytes, samples, found);
        StartupOutcome { drops_in_exit_round: drops, ..seen }
    }

    fn note(&self) -> Option<String> {
        let disturbance = self.link.disturbance(self.rtt_ns());
        let problems = self.flows.iter().filter_map(|flow| flow.problem.clone());
        let notes: Vec<String> = problems.chain(disturbance).collect();
        Some(notes.join("; ")).filter(|notes| !notes.is_empty())
    }

    fn rtt_ns(&self) -> u64 {
        self.job.link.forward.delay_ns + self.job.link.backward.delay_ns
    }
}

/// What the bottleneck did with the data's direction.
pub fn bottleneck(way: &DirectionReport) -> Bottleneck {
    Bottleneck {
        drops: way.dropped_packets + way.lost_packets,
        random_losses: way.lost_packets,
        marks: way.marked_packets,
        utilization: way.utilization,
        peak_queue_packets: way.peak_queue_packets,
        mean_queue_packets: way.mean_queue_packets,
    }
}

/// How often a state was entered, as far as the samples show.
fn entries(samples: &[(u64, TcpInfo)], state: CaState) -> u64 {
    let before = std::iter::once(CaState::Open).chain(samples.iter().map(|(_, info)| info.state));
    let now = samples.iter().map(|(_, info)| info.state);
    before.zip(now).filter(|(before, now)| *before != state && *now == state).count() as u64
}

/// How start-up went as far as the samples show, if it was over at the sample `found`.
fn startup(
    job: &FlowJob,
    packet: u64,
    samples: &[(u64, TcpInfo)],
    found: Option<(usize, Exit)>,
) -> StartupOutcome {
    let exit = found.map(|found| exit_at(packet, samples, found));
    let time_to_bdp = [0.6, 0.8, 0.9].map(|share| {
        let enough = share * job.bdp_bytes as f64;
        let flies = |info: &TcpInfo| (u64::from(info.in_flight()) * packet) as f64;
        samples.iter().find(|(_, info)| flies(info) >= enough).map(|(at, _)| Instant(*at))
    });
    StartupOutcome {
        exit: exit.map(|(exit, _)| exit),
        drops_in_exit_round: None,
        reductions_next_10_rtt: exit.map(|(_, reductions)| reductions),
        time_to_bdp,
    }
}

/// The end of start-up at a sample, and how often the window was reduced after it.
fn exit_at(
    packet: u64,
    samples: &[(u64, TcpInfo)],
    (index, why): (usize, Exit),
) -> (StartupExit, u64) {
    let (at, now) = samples[index];
    // The window before any cut: that of the sample before, unless it grew since.
    let before = samples[index.saturating_sub(1)].1;
    let last = if before.cwnd > now.cwnd { before } else { now };
    let span = 10 * u64::from(last.rtt_us) * 1_000;
    let after = samples[index..].iter().take_while(|(then, _)| *then <= at + span).copied();
    let after: Vec<(u64, TcpInfo)> = after.collect();
    let repairs = entries(&after, CaState::Recovery) + entries(&after, CaState::Loss);
    // The repair that ended start-up is not one after it.
    let own = u64::from(after.first().is_some_and(|(_, info)| info.repairs()));
    let exit = StartupExit {
        at: Instant(at),
        why,
        cwnd: Bytes(u64::from(last.cwnd) * packet),
        in_flight: Bytes(u64::from(last.in_flight()) * packet),
    };
    (exit, repairs.saturating_sub(own))
}

/// The sample at which start-up was over, and why: a repair of loss, or a window that is at
/// ssthresh without one, because the threshold fell to it (HyStart, and BBR when it drains) or
/// because it grew to the threshold. One that fell to above the window (Hoe) is only where start-up
/// will end. Controls that go on above their threshold leave by a loss alone.
fn exit(job: &FlowJob, samples: &[(u64, TcpInfo)]) -> Option<(usize, Exit)> {
    let ignores_loss = job.control.kernel_name == "bbr";
    let goes_on = job.control.goes_on_above_its_threshold();
    let mut threshold = samples.first()?.1.ssthresh;
    samples.iter().enumerate().find_map(|(index, (_, info))| {
        let before = std::mem::replace(&mut threshold, info.ssthresh);
        let repaired = info.repairs() || info.total_retrans > 0;
        let why = if repaired && !ignores_loss {
            if info.timeouts > 0 { Exit::Timeout } else { Exit::Loss }
        } else if goes_on || info.cwnd < info.ssthresh {
            return None;
        } else if info.ssthresh < before && info.state == CaState::Reduced {
            Exit::Mark
        } else if info.ssthresh < before {
            Exit::Heuristic
        } else {
            Exit::Threshold
        };
        Some((index, why))
    })
}

/// How a run over a link of this kind was measured: what sent, and whether the link and the machine
/// were in time for a round trip of `rtt_ns`.
pub fn lab_figures(link: &LinkReport, kind: LinkKind, generator: &str, rtt_ns: u64) -> LabFigures {
    let late = &link.lateness;
    let timing = match (kind, link.timing(rtt_ns)) {
        // Its lateness is unknown.
        (LinkKind::Netem, Timing::Valid) => "unknown",
        (_, timing) => timing.name(),
    };
    LabFigures {
        kernel: kernel_release(),
        link: kind.name().to_owned(),
        generator: generator.to_owned(),
        timing: timing.to_owned(),
        late_mean_us: late.mean_us,
        late_p99_us: late.p99_us,
        late_max_us: late.max_us,
        late_over_1ms: late.over_1ms,
        overruns: link.overruns,
        stolen_share: link.stolen_share,
        guest: None,
    }
}

/// The running kernel's release, such as `6.1.0-18-amd64`.
pub fn kernel_release() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use firstflight_results::Startup;

    use super::*;

    /// The start-up of a flow that sent what the samples show.
    fn startup(job: &FlowJob, packet: u64, samples: &[(u64, TcpInfo)]) -> Startup {
        let startup = super::startup(job, packet, samples, exit(job, samples));
        let bdp_bytes = Some(job.bdp_bytes);
        let context = FlowContext { packet_bytes: packet, bdp_bytes, ..FlowContext::default() };
        FlowResult::of(&FlowOutcome { startup, ..FlowOutcome::default() }, context).startup
    }

    fn job(kernel_name: &str) -> FlowJob {
        let control = LinuxControl {
            kernel_name: kernel_name.to_owned(),
            full: String::new(),
            preset: String::new(),
            kernel: None,
        };
        job_of(control)
    }

    fn job_of(control: LinuxControl) -> FlowJob {
        FlowJob {
            files: None,
            id: 0,
            group: 0,
            control,
            start_ns: 0,
            stop_ns: None,
            size_bytes: None,
            receiver_window: None,
            bdp_bytes: 100_000,
        }
    }

    /// Samples every 10 ms: cwnd, ssthresh, whether a loss is being repaired.
    fn samples(rows: &[(u32, u32, bool)]) -> Vec<(u64, TcpInfo)> {
        let info = |(cwnd, ssthresh, repair): &(u32, u32, bool)| TcpInfo {
            cwnd: *cwnd,
            ssthresh: *ssthresh,
            unacked: *cwnd,
            rtt_us: 10_000,
            state: if *repair { CaState::Recovery } else { CaState::Open },
            total_retrans: u32::from(*repair),
            ..TcpInfo::default()
        };
        rows.iter().enumerate().map(|(i, row)| (i as u64 * 10_000_000, info(row))).collect()
    }

    const NONE: u32 = crate::tcp_info::NO_THRESHOLD;

    #[test]
    fn netem_tells_no_lateness_but_the_machine_tells_what_was_stolen() {
        let timings = |kind| {
            [0.0, 0.02].map(|stolen_share| {
                let link = LinkReport { stolen_share, ..LinkReport::default() };
                lab_figures(&link, kind, "own", 100_000_000).timing
            })
        };
        assert_eq!(timings(LinkKind::Netem), ["unknown", "degraded"]);
        assert_eq!(timings(LinkKind::Tun), ["valid", "degraded"]);
    }

    #[test]
    fn a_loss_ends_start_up_at_the_window_before_the_cut() {
        let sampled =
            samples(&[(10, NONE, false), (80, NONE, false), (40, 40, true), (40, 40, false)]);
        let startup = startup(&job("reno"), 1_000, &sampled);
        assert_eq!(startup.exit_reason.as_deref(), Some("loss"));
        assert_eq!((startup.exit_time_s, startup.exit_cwnd_packets), (Some(0.02), Some(80)));
        assert_eq!(startup.time_to_bdp_s.at_80, Some(0.01));
        assert_eq!(startup.reductions_next_10_rtt, Some(0));
    }

    #[test]
    fn a_window_that_is_not_used_fills_no_path() {
        let mut sampled = samples(&[(10, NONE, false), (80, NONE, false), (80, NONE, false)]);
        sampled[1].1.unacked = 20;
        let startup = startup(&job("reno"), 1_000, &sampled);
        assert_eq!(startup.time_to_bdp_s.at_80, Some(0.02));
    }

    #[test]
    fn a_window_that_is_reduced_without_a_repair_was_marked() {
        let mut sampled = samples(&[(10, NONE, false), (60, 40, false), (40, 40, false)]);
        sampled[1].1.state = CaState::Reduced;
        let startup = startup(&job("cubic"), 1_000, &sampled);
        assert_eq!(startup.exit_reason.as_deref(), Some("ecn"));
    }

    #[test]
    fn an_ssthresh_that_falls_without_loss_is_a_heuristic() {
        let sampled = samples(&[(10, NONE, false), (60, 60, false), (61, 60, false)]);
        let startup = startup(&job("cubic"), 1_000, &sampled);
        assert_eq!(startup.exit_reason.as_deref(), Some("heuristic"));
        assert_eq!(startup.exit_window_over_bdp, Some(0.6));
    }

    #[test]
    fn a_threshold_that_falls_to_above_the_window_is_where_start_up_will_end() {
        let sampled =
            samples(&[(10, NONE, false), (20, 60, false), (40, 60, false), (60, 60, false)]);
        let startup = startup(&job("ff_hoe_cubic"), 1_000, &sampled);
        assert_eq!(startup.exit_reason.as_deref(), Some("ssthresh"));
        assert_eq!((startup.exit_time_s, startup.exit_window_over_bdp), (Some(0.03), Some(0.6)));
    }

    #[test]
    fn loss_does_not_end_the_start_up_of_bbr() {
        let sampled = samples(&[(10, NONE, false), (60, NONE, true), (61, 50, false)]);
        assert_eq!(startup(&job("bbr"), 1_000, &sampled).exit_time_s, Some(0.02));
    }

    /// Its estimate raises the threshold from 2 packets on, and cwnd is at it most of the time.
    #[test]
    fn only_loss_ends_the_start_up_of_astart() {
        let job = job_of(LinuxControl::resolve(&"astart".parse().unwrap(), false).unwrap());
        let mut rows = vec![(10, NONE, false), (10, 2, false), (60, 60, false), (61, 60, false)];
        let exit_of = |rows: &[_]| startup(&job, 1_000, &samples(rows)).exit_reason;
        assert_eq!(exit_of(&rows), None);
        rows.push((40, 40, true));
        assert_eq!(exit_of(&rows).as_deref(), Some("loss"));
    }

    #[test]
    fn a_window_at_its_first_threshold_has_left_start_up() {
        let sampled = samples(&[(10, 32, false), (32, 32, false)]);
        let startup = startup(&job("reno"), 1_000, &sampled);
        assert_eq!(startup.exit_reason.as_deref(), Some("ssthresh"));
        assert_eq!(startup.exit_time_s, Some(0.01));
    }
}
