//! `predict`: the closed-form model of slow start applied to a path, and which control to take.

mod which;

use std::fmt::Write as _;

use firstflight_model::{Conditions, MiniCycle, ModelError, Prediction, predict as apply};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Column, Table, short, wrapped};
use firstflight_scenario::{
    Loss, PathFlags, Rate, Recovery, Resolved, ResolvedBuffer, Scenario, Size, Time,
};

use serde::Serialize;

use crate::failure::{Failure, Status};
use crate::output;
use crate::path_args::PathArgs;
use crate::socket_buffers::Needed;
use which::Which;

/// Predict how slow start ends on a path, from the closed-form model; and which control to take
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the prediction as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    path: PathArgs,
}

const EXAMPLES: &str = "\
The model is that of Barakat and Altman, \"Performance of Short TCP Transfers\": one drop-tail
buffer, slow start in bursts. It knows neither random loss nor pacing. With --flows above 1 the
prediction is for a flow that joins others in congestion avoidance. Which control to take is not the
model's: it is what transfers took and lost over one of some typical paths, if one is near.

Examples:
  firstflight predict
  firstflight predict --rate 1.5Mbps --rtt 190ms --packet 512B --buffer 20pkt --ssthresh none
  firstflight predict --buffer 0.25bdp --delayed-ack 2 --profile rfc
  firstflight predict --rate 50Mbps --rtt 600ms --size 5MB           a geostationary satellite
  firstflight predict --buffer 0.5bdp --json | jq '.advice, .which_control.choices'";

/// Runs the command.
pub(crate) fn predict(args: &Args) -> Result<Status, Failure> {
    let (resolved, conditions, prediction) = prediction(&args.path.0)?;
    if resolved.links[0].loss != Loss::default() {
        output::note(
            "the model knows no random loss: --loss decides only which measured path is nearest",
        );
    }
    if let Some(key) = resolved.links[0].beyond_drop_tail() {
        output::note(&format!("the model knows a drop-tail buffer alone: --{key} changes nothing"));
    }
    if resolved.endpoint.switches.pacing {
        output::note("the model knows no pacing: --pacing changes nothing here");
    }
    let text = if args.json {
        json(&resolved, &conditions, &prediction)?
    } else {
        let screen = output::screen();
        let which_control = Which::of(path(&resolved, &conditions))?;
        let model = page(&resolved, &conditions, &prediction, screen);
        let buffers = wrapped(&buffers(&conditions).sentence(), screen.width, "  ");
        format!("{model}\n{}{buffers}", which_control.text(screen))
    };
    output::print(&text)?;
    Ok(Status::Done)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    prediction: &'a Prediction,
    which_control: Which,
    socket_buffers: Needed,
}

/// What the path needs of the hosts at its ends.
fn buffers(path: &Conditions) -> Needed {
    Needed::of(path.rate_bps as f64, path.rtt_ns as f64 / 1e9, path.transfer_bytes)
}

/// The path as controls were measured on it.
fn path(resolved: &Resolved, conditions: &Conditions) -> which::Path {
    let rtt_s = conditions.rtt_ns as f64 / 1e9;
    let wire_bits = conditions.wire_bytes as f64 * 8.0;
    let bdp_packets = conditions.rate_bps as f64 * rtt_s / wire_bits;
    which::Path {
        rate_bps: conditions.rate_bps as f64,
        rtt_s,
        // A packet in service at least.
        buffer_bdp: conditions.buffer_packets.max(1) as f64 / bdp_packets,
        loss: resolved.links[0].loss.mean().ppb() as f64 / 1e9,
        size_bytes: conditions.transfer_bytes,
        flows: conditions.flows,
    }
}

/// What the model says of the path that the flags make.
pub(crate) fn prediction(path: &PathFlags) -> Result<(Resolved, Conditions, Prediction), Failure> {
    let scenario = Scenario::from_flags(path, &["slow-start".to_owned()])?;
    let resolved = scenario.resolve()?;
    let conditions = conditions(&resolved);
    let prediction = apply(&conditions).map_err(refused)?;
    Ok((resolved, conditions, prediction))
}

/// The document of `--json`.
pub(crate) fn json(
    resolved: &Resolved,
    conditions: &Conditions,
    prediction: &Prediction,
) -> Result<String, Failure> {
    let which_control = Which::of(path(resolved, conditions))?;
    let socket_buffers = buffers(conditions);
    let document = Document { prediction, which_control, socket_buffers };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn refused(error: ModelError) -> Failure {
    let flag = match error {
        ModelError::Aggressiveness { .. } => "--delayed-ack: ",
        ModelError::Zero { .. } => "",
    };
    Failure::Usage(format!("{flag}{error}"))
}

/// What the model needs of the scenario that path flags make: one link, one group of flows.
fn conditions(resolved: &Resolved) -> Conditions {
    let (link, flow) = (&resolved.links[0], &resolved.flows[0]);
    let places = match link.buffer {
        ResolvedBuffer::Packets(packets) => packets,
        ResolvedBuffer::Bytes(bytes) => bytes / resolved.wire_bytes().max(1),
    };
    // QUIC's senders count packets, whatever else is said.
    let quic = flow.recovery.value == Recovery::Quic;
    let counts_acks = resolved.endpoint.switches.segment_per_ack && !quic;
    let in_service = u64::from(resolved.endpoint.switches.buffer_counts_in_service);
    Conditions {
        rate_bps: link.rate_bps,
        rtt_ns: flow.rtt_ns,
        wire_bytes: resolved.wire_bytes(),
        payload_bytes: resolved.packet_bytes,
        buffer_packets: places.saturating_sub(in_service),
        ssthresh_bytes: flow.ssthresh_bytes.value,
        initial_window_bytes: flow.iw_bytes.value,
        packets_per_ack: if counts_acks { flow.delayed_ack.value } else { 1 },
        flows: resolved.flow_count(),
        transfer_bytes: flow.size_bytes,
    }
}

fn page(resolved: &Resolved, path: &Conditions, found: &Prediction, screen: Screen) -> String {
    let mut text = wrapped(&heading(resolved, path, found), screen.width, "  ");
    let _ = writeln!(text, "{}", terminal::table(&numbers(found), screen));
    let _ = writeln!(text, "{}", terminal::table(&rounds(found), screen));
    for line in found.advice.lines() {
        text.push_str(&wrapped(line, screen.width, "  "));
    }
    text
}

/// The path in a line.
fn heading(resolved: &Resolved, path: &Conditions, found: &Prediction) -> String {
    let mut parts = vec![
        Rate::from_bps(path.rate_bps).to_string(),
        Time::from_ns(path.rtt_ns).to_string(),
        format!("buffer {} packets of {}", path.buffer_packets, Size::from_bytes(path.wire_bytes)),
        format!("d = {}", short(found.d)),
    ];
    if found.flows > 1 {
        parts.push(format!("{} flows", found.flows));
    }
    format!("{}; {}\n", parts.join(", "), resolved.endpoints())
}

/// The numbers, in packets and in BDP.
fn numbers(found: &Prediction) -> Table {
    let columns = [Column::text(""), Column::number("packets", ""), Column::number("BDP", "")];
    let mut table = Table::new("prediction", "", columns);
    let mut row = |name: &str, packets: f64| {
        let share = short(packets / found.bdp_packets);
        table.push([name.into(), short(packets).into(), share.into()]);
    };
    row("BDP", found.bdp_packets);
    row("buffer", found.buffer_packets as f64);
    row("overflow window, Theorem 1", found.overflow_window_packets);
    row("overflow window, equation 4", found.overflow_window_approx_packets);
    if found.overflows {
        row("window when noticed", found.detection_window_packets);
        row("lost by then, about", found.expected_losses_packets);
        row("ssthresh afterwards", found.threshold_after_packets);
    }
    row("safe ssthresh", found.safe_ssthresh_packets);
    if found.flows > 1 {
        row("overflow window among others, most", found.most_overflow_window_among_flows_packets);
    }
    row("buffer to fill the path", found.fills_pipe_from_buffer_packets);
    row("buffer for an ssthresh of 1 BDP", found.bdp_ssthresh_above_buffer_packets);
    table
}

/// Slow start against the buffer: a bar per round, as long as its queue.
fn rounds(found: &Prediction) -> Table {
    let title =
        "Rounds of slow start without ssthresh: cwnd, and the queue at the end of the burst";
    let columns =
        [Column::number("round", ""), Column::number("cwnd", ""), Column::text("queue / buffer")];
    let mut table = Table::new("rounds", title, columns);
    let skipped = found.rounds.len().saturating_sub(MOST_ROUNDS);
    for round in &found.rounds[skipped..] {
        let window = match round.number {
            0 => short(round.to),
            _ => format!("{} to {}", short(round.from), short(round.to)),
        };
        table.push([round.number.to_string().into(), window.into(), bar(round, found).into()]);
    }
    table
}

fn bar(round: &MiniCycle, found: &Prediction) -> String {
    let buffer = found.buffer_packets.max(1) as f64;
    let filled = (round.queue_peak / buffer * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    let drawn = format!("|{}{}|", "#".repeat(filled), ".".repeat(BAR - filled));
    let said = match round.overflows {
        true => format!("overflows at {}", short(found.overflow_window_packets)),
        false => short(round.queue_peak),
    };
    format!("{drawn} {said}")
}

/// Width of a bar.
const BAR: usize = 30;
/// The last so many rounds are drawn; the first are all alike.
const MOST_ROUNDS: usize = 12;
