//! `predict`: the closed-form model of slow start applied to a path.

use std::fmt::Write as _;

use firstflight_answers::{Predicted, predict as ask};
use firstflight_model::{MiniCycle, Prediction};
use firstflight_report::terminal::{self, Screen};
use firstflight_report::{Column, Table, short, wrapped};
use firstflight_scenario::{Rate, Size, Time};

use crate::failure::{Failure, Status};
use crate::output;
use crate::path_args::PathArgs;

/// Predict how slow start ends on a path, from the closed-form model
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
model's to say: `firstflight advise` simulates the path.

Examples:
  firstflight predict
  firstflight predict --rate 1.5Mbps --rtt 190ms --packet 512B --buffer 20pkt --ssthresh none
  firstflight predict --buffer 0.25bdp --delayed-ack 2 --profile rfc
  firstflight predict --rate 50Mbps --rtt 600ms --size 5MB           a geostationary satellite
  firstflight predict --buffer 0.5bdp --json | jq '.advice, .startups'";

/// Runs the command.
pub(crate) fn predict(args: &Args) -> Result<Status, Failure> {
    let found = ask(&args.path.0)?;
    found.cautions().iter().for_each(|caution| output::note(caution));
    output::print(&if args.json { found.to_json()? } else { page(&found, output::screen()) })?;
    Ok(Status::Done)
}

fn page(found: &Predicted, screen: Screen) -> String {
    let mut text = wrapped(&heading(found), screen.width, "  ");
    let model = &found.prediction;
    let _ = writeln!(text, "{}", terminal::table(&numbers(model), screen));
    let _ = writeln!(text, "{}", terminal::table(&rounds(model), screen));
    let buffers = found.socket_buffers.sentence();
    for line in model.advice.lines() {
        text.push_str(&wrapped(line, screen.width, "  "));
    }
    format!("{text}\n{}", wrapped(&buffers, screen.width, "  "))
}

/// The path in a line.
fn heading(found: &Predicted) -> String {
    let Predicted { complete, conditions: path, prediction, .. } = found;
    let mut parts = vec![
        Rate::from_bps(path.rate_bps).to_string(),
        Time::from_ns(path.rtt_ns).to_string(),
        format!("buffer {} packets of {}", path.buffer_packets, Size::from_bytes(path.wire_bytes)),
        format!("d = {}", short(prediction.d)),
    ];
    if prediction.flows > 1 {
        parts.push(format!("{} flows", prediction.flows));
    }
    format!("{}; {}\n", parts.join(", "), complete.endpoints())
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
    let words = match round.overflows {
        true => format!("overflows at {}", short(found.overflow_window_packets)),
        false => short(round.queue_peak),
    };
    format!("{drawn} {words}")
}

/// Width of a bar.
const BAR: usize = 30;
/// The last so many rounds are drawn; the first are all alike.
const MOST_ROUNDS: usize = 12;
