//! The result of a run of programs: the link counted what they sent, and the connections of the
//! cross traffic what they carried.

use std::fs;
use std::path::Path;
use std::time::Duration;

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::{Counts, FlowContext, FlowOutcome, FlowResult, RunResult, Series};
use firstflight_scenario::{Complete, Size, complete};

use super::{GENERATOR, NAME, PRINTED, Ran, wanted_bytes};
use crate::link::{DirectionReport, FlowSeen};
use crate::outcome::{bottleneck, lab_figures};
use crate::testbed::LinkKind;

/// Everything known about one run.
pub(super) struct Outcome<'a> {
    pub(super) complete: &'a Complete,
    pub(super) ran: &'a Ran,
    /// The direction of the data.
    pub(super) way: &'a DirectionReport,
    pub(super) seed: u64,
    pub(super) wall: Duration,
}

impl Outcome<'_> {
    /// The result, and of each flow what had arrived over time.
    pub(super) fn result(&self) -> (RunResult, Vec<Series>) {
        let (complete, link) = (self.complete, &self.ran.link);
        let spec = &complete.links[0];
        let rtt_ns = spec.delay.ns() + spec.return_delay.ns();
        let transfers = self.transfers();
        let mut seen = transfers.iter().map(Option::as_ref);
        let mut others = self.ran.others.iter();
        let (mut flows, mut series) = (Vec::new(), Vec::new());
        for group in &complete.flows {
            for _ in 0..group.count {
                let (flow, seen) = match &group.control {
                    None => {
                        let seen = seen.next().flatten();
                        (self.transfer(group, seen.unwrap_or(&FlowSeen::default())), seen)
                    }
                    Some(_) => {
                        let Some(other) = others.next() else { continue };
                        let seen = self.way.flows.to_port(other.job.port());
                        (self.other(group, other, seen), seen)
                    }
                };
                flows.push(FlowResult { id: flows.len() as u64, ..flow });
                series.push(self.delivered(seen));
            }
        }
        let result = RunResult {
            control: NAME.to_owned(),
            alias: NAME.to_owned(),
            transport: "linux".to_owned(),
            profile: complete.endpoint.profile.to_string(),
            seed: self.seed,
            bottleneck: bottleneck(self.way),
            note: self.note(&transfers, rtt_ns),
            lab: Some(lab_figures(link, LinkKind::Tun, GENERATOR, rtt_ns)),
            ..RunResult::of_flows(
                flows,
                complete.duration.ns() + self.ran.extension_ns,
                (self.wall, link.forward.offered_packets + link.backward.offered_packets),
            )
        };
        (result, series)
    }

    /// What the link counted of each transfer of the programs; `None` of one that did not begin.
    fn transfers(&self) -> Vec<Option<FlowSeen>> {
        let own = self.complete.flows.iter().filter(|flow| flow.control.is_none());
        let count = own.map(|flow| flow.count as usize).sum();
        let mut seen: Vec<Option<FlowSeen>> =
            self.way.flows.transfers(count).into_iter().cloned().map(Some).collect();
        seen.resize(count, None);
        seen
    }

    /// A time of the measured period as one of the run.
    fn at(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.ran.zero_ns)
    }

    fn context(&self, group: &complete::Flow, start: u64, end: u64) -> FlowContext {
        let complete = self.complete;
        let path = &group.data_path;
        FlowContext {
            start: Instant(start),
            period: Span(end.saturating_sub(start)),
            packet_bytes: complete.packet.bytes(),
            rate_bps: Some(complete.capacity().most_bps(path, start, end)),
            bdp_bytes: Some(complete.bdp_bytes(path, complete.path_bps(path))),
        }
    }

    fn transfer(&self, group: &complete::Flow, seen: &FlowSeen) -> FlowResult {
        let (first, last) = (self.at(seen.first_ns), self.at(seen.last_ns));
        let done = group.size.is_some() && self.is_done(group, seen);
        let flow = FlowOutcome {
            delivered_packets: seen.delivered_packets,
            delivered_bytes: Bytes(seen.delivered_bytes),
            counts: Counts { sent_packets: seen.packets, ..Counts::default() },
            finished_at: done.then_some(Instant(last)),
            ..FlowOutcome::default()
        };
        let context = self.context(group, first, last);
        FlowResult { control: NAME.to_owned(), ..FlowResult::of(&flow, context) }
    }

    fn other(
        &self,
        group: &complete::Flow,
        other: &super::cross_traffic::Connection,
        seen: Option<&FlowSeen>,
    ) -> FlowResult {
        let outcome = &other.outcome;
        let end = outcome.finished_ns.or(other.job.stop_ns);
        let end = end.unwrap_or(self.complete.duration.ns() + self.ran.extension_ns);
        let flow = FlowOutcome {
            delivered_packets: outcome.delivered_bytes / self.complete.packet.bytes().max(1),
            delivered_bytes: Bytes(outcome.delivered_bytes),
            counts: Counts {
                sent_packets: seen.map_or(0, |seen| seen.packets),
                ..Counts::default()
            },
            finished_at: outcome.finished_ns.map(Instant),
            ..FlowOutcome::default()
        };
        let context = self.context(group, other.job.start_ns, end);
        FlowResult { control: other.job.control.full.clone(), ..FlowResult::of(&flow, context) }
    }

    /// Packets' worth of payload that had arrived over time.
    fn delivered(&self, seen: Option<&FlowSeen>) -> Series {
        let mut series = Series::new(["time_s", "cwnd_packets", "delivered_packets"]);
        let packet = self.complete.packet.bytes().max(1) as f64;
        for (at, bytes) in seen.iter().flat_map(|seen| &seen.history) {
            let time = self.at(*at) as f64 / 1e9;
            series.push(&[Some(time), None, Some(*bytes as f64 / packet)]);
        }
        series
    }

    /// Whether all bytes were delivered and every client exited with 0. For a transfer without an
    /// end: some bytes were delivered, and no client has ended.
    fn is_done(&self, group: &complete::Flow, seen: &FlowSeen) -> bool {
        let mut exits = self.ran.exits.iter();
        match group.size.map(Size::bytes) {
            Some(wanted) => seen.delivered_bytes >= wanted && exits.all(|exit| *exit == Some(0)),
            None => seen.delivered_bytes > 0 && exits.all(Option::is_none),
        }
    }

    /// How the programs ended, unless all went well, with the last lines that they printed.
    fn note(&self, transfers: &[Option<FlowSeen>], rtt_ns: u64) -> Option<String> {
        let group = &self.complete.flows[0];
        let done =
            |seen: &Option<FlowSeen>| seen.as_ref().is_some_and(|seen| self.is_done(group, seen));
        if transfers.iter().all(done) {
            // For a transfer without an end the note is kept for a failure.
            return group.size.and_then(|_| self.ran.link.disturbance(rtt_ns));
        }
        let seconds = self.complete.duration.ns() as f64 / 1e9;
        let ended = how_ended(&self.ran.exits, self.ran.far_exit, seconds);
        let wanted = wanted_bytes(self.complete) * transfers.len() as u64;
        let came: u64 = transfers.iter().flatten().map(|seen| seen.delivered_bytes).sum();
        let came = format!("{came} of {wanted} bytes came");
        let printed =
            [("client", "near"), ("server", "far")].into_iter().filter_map(|(who, file)| {
                let lines =
                    last_lines(&fs::read(Path::new(PRINTED).join(file)).unwrap_or_default());
                (!lines.is_empty()).then(|| format!("the {who} said: {lines}"))
            });
        Some([ended, came].into_iter().chain(printed).collect::<Vec<_>>().join("; "))
    }
}

/// How the first client ended that failed, which had so many seconds, and the server, if it did.
fn how_ended(clients: &[Option<i32>], server: Option<i32>, seconds: f64) -> String {
    let failed = clients.iter().find(|exit| **exit != Some(0)).copied();
    let client = match failed.unwrap_or(Some(0)) {
        None => format!("the client had not ended after {seconds} s of its time"),
        Some(NOT_FOUND) => format!(
            "the client ended with code {NOT_FOUND}: a program is missing, or an endpoint for the \
             interop runner has no such test case"
        ),
        Some(code) => format!("the client ended with code {code}"),
    };
    let server = server.map(|code| format!("; the server ended with code {code}"));
    client + &server.unwrap_or_default()
}

/// The last lines of what a program printed, as one.
fn last_lines(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(&printed[printed.len().saturating_sub(MOST_BYTES)..]);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(MOST_LINES)..].join(" | ");
    last.chars().map(plain).collect()
}

/// The exit code of a shell that finds no program, and of the interop runner's endpoints that do
/// not know a test case.
const NOT_FOUND: i32 = 127;
/// Bytes that are read from the end of what a program printed.
const MOST_BYTES: usize = 1_000;
const MOST_LINES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_client_that_failed_is_told_with_its_code_and_then_the_server() {
        let client = |exits: &[Option<i32>]| how_ended(exits, None, 60.0);
        assert_eq!(client(&[Some(0)]), "the client ended with code 0");
        assert_eq!(client(&[Some(0), Some(7), Some(1)]), "the client ended with code 7");
        assert_eq!(client(&[Some(137)]), "the client ended with code 137");
        assert_eq!(client(&[None]), "the client had not ended after 60 s of its time");
        let missing = "the client ended with code 127: a program is missing, or an endpoint";
        assert!(client(&[Some(127)]).starts_with(missing));
        let both = "the client ended with code 1; the server ended with code 7";
        assert_eq!(how_ended(&[Some(1)], Some(7), 60.0), both);
    }

    #[test]
    fn last_lines_are_few_and_plain() {
        assert_eq!(last_lines(b"a\n\nb\x1b[0m\nc\nd\ne\n"), "b [0m | c | d | e");
        assert_eq!(last_lines(b""), "");
        assert!(last_lines(&[b'x'; 5_000]).len() <= MOST_BYTES);
    }
}
