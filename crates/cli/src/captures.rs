//! What passes the senders of a run, as a capture of each run: `run --pcap`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use firstflight_outside::{MAKE_ROOM, Names};
use firstflight_record::Pcap;
use firstflight_report::{ReportError, write_file};
use firstflight_results::RunResult;
use firstflight_runner::{Passed, RunError, Segment};
use firstflight_scenario::{Complete, Recovery, complete};

use crate::failure::Failure;
use crate::trace::run_name;

/// A folder of captures.
pub(crate) struct Captures {
    folder: PathBuf,
    names: Names,
}

impl Captures {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), names: Names::default() }
    }

    /// Checks that the flows are TCP's: what QUIC sends is encrypted, and a capture of it tells
    /// nothing of what is acknowledged.
    ///
    /// # Errors
    /// A flow is QUIC's, or the simulator does not carry them.
    pub(crate) fn check(on: &str, complete: &Complete) -> Result<(), Failure> {
        let is_quic = |flow: &complete::Flow| flow.recovery.value == Recovery::Quic;
        let refused = |problem: &str| Err(Failure::Usage(format!("--pcap: {problem}")));
        match on {
            "sim" if complete.flows.iter().any(is_quic) => refused(
                "a flow is QUIC's, whose packets are encrypted; accepted: flows of TCP, or `--on \
                 quic --qlog DIR`",
            ),
            "sim" => Ok(()),
            _ => refused(
                "the simulator alone writes captures; accepted: no --on, else `tcpdump` beside \
                 `--on linux`",
            ),
        }
    }

    /// Writes the capture of a run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(
        &self,
        complete: &Complete,
        result: &RunResult,
        passed: &[Vec<Passed>],
    ) -> Result<(), RunError> {
        let name = run_name(complete, result);
        let path = self.folder.join(self.names.take(&name, ".pcap"));
        let content = capture(complete, passed).map_err(ReportError::write(&path));
        let written = content.and_then(|content| write_file(&path, content));
        written.map_err(|error| match error.is_full() {
            true => RunError::Lacks(format!("--pcap {error}; {MAKE_ROOM}")),
            false => RunError::Failed(format!("--pcap {error}")),
        })
    }

    /// What to tell the user of them.
    pub(crate) fn summary(&self) -> String {
        format!("captures: {} in {}", self.names.count(), self.folder.display())
    }
}

/// All flows of a run in one file, in order of time.
fn capture(complete: &Complete, passed: &[Vec<Passed>]) -> std::io::Result<Vec<u8>> {
    let groups = complete.flows.iter();
    let flows = groups.flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    let mut segments = Vec::new();
    for (flow, passed) in flows.zip(passed) {
        let mut connections: BTreeMap<u32, Vec<Passed>> = BTreeMap::new();
        for one in passed {
            connections.entry(one.connection).or_default().push(*one);
        }
        for passed in connections.into_values() {
            let number = segments.len() as u32;
            segments.push(connection(complete, flow, number, &passed));
        }
    }
    let mut segments: Vec<_> = segments.into_iter().flatten().collect();
    segments.sort_by_key(|segment| segment.at_ns);
    let mut pcap = Pcap::new(Vec::new())?;
    segments.iter().try_for_each(|segment| pcap.segment(segment))?;
    Ok(pcap.finish())
}

/// The segments of a connection. A scenario without a handshake has one all the same, before the
/// flow starts: without it nobody could tell where the capture was taken.
fn connection(
    complete: &Complete,
    flow: &complete::Flow,
    number: u32,
    passed: &[Passed],
) -> Vec<firstflight_record::Segment> {
    let payload = u16::try_from(complete.packet.bytes()).unwrap_or(u16::MAX);
    let has_syn = passed.iter().any(|one| one.what == Segment::Syn);
    // The SYN takes a number in either count.
    let byte = |packet: u32| {
        let packets = packet.saturating_sub(u32::from(has_syn));
        packets.wrapping_mul(payload.into()).wrapping_add(1)
    };
    let says_blocks = matches!(flow.recovery.value, Recovery::Sack | Recovery::Rack);
    let syn = Some((payload, says_blocks));
    let plain = firstflight_record::Segment { connection: number, ..Default::default() };
    let offered = |packets: u32| u64::from(packets) * u64::from(payload);
    let (mut arrived, mut segments) = (Arrived::default(), Vec::new());
    let (mut expected, mut is_open) = (1, has_syn);
    for Passed { at, what, .. } in passed {
        let at_ns = at.0 + EARLIER_NS;
        let plain = firstflight_record::Segment { at_ns, ..plain.clone() };
        if !std::mem::replace(&mut is_open, true) {
            let before = at_ns.saturating_sub(flow.rtt.ns());
            segments.push(firstflight_record::Segment { at_ns: before, syn, ..plain.clone() });
            let answer = firstflight_record::Segment { syn, is_back: true, ..plain.clone() };
            segments.push(firstflight_record::Segment { ack: Some(1), ..answer });
        }
        let ours = firstflight_record::Segment {
            ack: Some(1),
            sequence: expected,
            window: u64::MAX,
            ..plain.clone()
        };
        segments.push(match *what {
            Segment::Syn => firstflight_record::Segment { syn, ..plain },
            Segment::HandshakeAck => ours,
            Segment::Data(packet) => {
                let sequence = byte(packet);
                expected = expected.max(sequence.wrapping_add(payload.into()));
                firstflight_record::Segment { sequence, payload, ..ours }
            }
            Segment::Ack { next, cause, is_part, window } => {
                arrived.take(next, cause);
                if is_part {
                    continue;
                }
                let is_answer = has_syn && next == 1;
                let blocks = arrived.blocks().map(|(from, to)| (byte(from), byte(to)));
                firstflight_record::Segment {
                    is_back: true,
                    ack: Some(byte(next)),
                    sequence: u32::from(!is_answer),
                    syn: syn.filter(|_| is_answer),
                    window: offered(window),
                    blocks: blocks.filter(|_| says_blocks).collect(),
                    ..plain
                }
            }
        });
    }
    segments
}

/// The packets that a connection's ACKs have reported out of order, as runs (first, one past the
/// last), the newest report first (RFC 2018, section 4).
#[derive(Default)]
struct Arrived(Vec<(u32, u32)>);

impl Arrived {
    fn take(&mut self, next: u32, cause: u32) {
        self.0.retain(|(_, to)| *to > next);
        if cause < next {
            return;
        }
        let mut run = (cause, cause + 1);
        self.0.retain(|(from, to)| {
            let touches = *from <= run.1 && *to >= run.0;
            if touches {
                run = (run.0.min(*from), run.1.max(*to));
            }
            !touches
        });
        self.0.insert(0, run);
    }

    fn blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied().take(MOST_BLOCKS)
    }
}

/// The blocks that the simulator's receivers report at most, beside a time stamp.
const MOST_BLOCKS: usize = 3;
/// The run begins so long after the file, so that a handshake fits before: longer than any RTT.
const EARLIER_NS: u64 = 3_600_000_000_000;
