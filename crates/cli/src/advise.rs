//! `advise`: which control to take on a path, from simulating it there and then.

use std::path::PathBuf;

use firstflight_advise::{Answer, Candidate, Request, Stack, Verified, advise as ask};
use firstflight_answers::json;
use firstflight_report::terminal;
use firstflight_report::{
    Axis, Column, Figure, Panel, Series, Table, Width, digits, svg, wrapped, write_file,
};
use firstflight_runner::Options;
use firstflight_scenario::{PathFlags, hint};
use firstflight_transports::{On, transports_of};

use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::{command_line, interrupt, output};

/// Say which control to take on a path, what is gained and what it costs, by simulating the path
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rate of the bottleneck
    #[arg(long, allow_hyphen_values = true)]
    rate: String,
    /// Two-way propagation of the path
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    rtt: String,
    /// Size of the transfer [default: 5MB]
    #[arg(long, allow_hyphen_values = true)]
    size: Option<String>,
    /// Random loss, if it is known: 0%, 0.1%, or in bursts ge:0.5%,20%
    #[arg(long, allow_hyphen_values = true)]
    loss: Option<String>,
    /// Buffer of the bottleneck, if it is known: 500pkt, 64KB or 0.25bdp
    #[arg(long, allow_hyphen_values = true)]
    buffer: Option<String>,
    /// By how much packets are late at most, if it is known
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    jitter: Option<String>,
    /// Who sends: linux, quinn, noq, or quic for any other stack of QUIC [default: linux]
    #[arg(long, value_name = "STACK")]
    on: Option<String>,
    /// Others are on the path too
    #[arg(long)]
    shared: bool,
    /// Print the answer as one JSON document
    #[arg(long)]
    json: bool,
    /// Write a picture here, as SVG: the times of each control on all paths that yours may be
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure the advised control and the stack's own on the path as told, on Linux, over quinn or
    /// over noq in virtual time
    #[arg(long)]
    verify: bool,
}

const EXAMPLES: &str = "\
What is not told is drawn: the buffer, loss, jitter, how many packets an ACK answers, and who else
is there. Every control that the stack can have runs on such paths, so that the answer says how much
hangs on them. docs/advise.md has the ranges, the rules, and how good the answers are.

Examples:
  firstflight advise --rate 40Mbps --rtt 100ms
  firstflight advise --rate 20Mbps --rtt 209ms --size 550KB --loss 5%
  firstflight advise --rate 50Mbps --rtt 600ms --size 20MB --on quinn --out satellite.svg
  firstflight advise --rate 100Mbps --rtt 20ms --shared --json | jq -r '.sentences[]'
  firstflight advise --rate 10Mbps --rtt 50ms --verify        measured on Linux, too";

/// Runs the command.
pub(crate) fn advise(args: &Args) -> Result<Status, Failure> {
    let request = request(args.on.as_deref(), args.shared, &args.path())?;
    if let Some(file) = &args.out {
        output::check_file("--out", file)?;
    }
    let stop = Some(interrupt::listen());
    let progress = Progress::new("paths", None);
    let (done, say) = (|done, total| progress.set(done, total), |words: &str| progress.say(words));
    let options = Options { stop, on_done: Some(&done), say: Some(&say), ..Options::default() };
    let mut answer = ask(&request, &controls(request.stack), &options)?;
    if args.verify {
        answer.verify(&request, &*transport(request.stack)?, &options)?;
    }
    drop(progress);
    let screen = output::screen();
    if args.json {
        output::print(&json(&answer)?)?;
    } else {
        let sentences =
            answer.sentences.iter().map(|sentence| wrapped(sentence, screen.width, "  "));
        let sentences: String = sentences.collect();
        let path = wrapped(&answer.path(), screen.width, "  ");
        let mut tables = vec![terminal::table(&table(&answer), screen)];
        tables.extend(
            answer.verified.as_deref().map(|all| terminal::table(&verified_table(all), screen)),
        );
        output::print(&format!("{path}\n{sentences}\n{}", tables.join("\n")))?;
    }
    if let Some(file) = &args.out {
        write_file(file, svg::render(&picture(&answer), Width::default())?)?;
        output::note(&format!("picture: {}", file.display()));
    }
    Ok(Status::Done)
}

impl Args {
    fn path(&self) -> PathFlags {
        let given = [("--rate", Some(&self.rate)), ("--rtt", Some(&self.rtt))];
        let more = [&self.size, &self.loss, &self.buffer, &self.jitter].map(Option::as_ref);
        let more = ["--size", "--loss", "--buffer", "--jitter"].into_iter().zip(more);
        let all = given.into_iter().chain(more);
        all.filter_map(|(name, text)| Some((name, text?.as_str()))).collect()
    }
}

/// The request, checked.
pub(crate) fn request(
    on: Option<&str>,
    shared: bool,
    path: &PathFlags,
) -> Result<Request, Failure> {
    let on = on.unwrap_or(Stack::Linux.name());
    let names = Stack::ALL.map(Stack::name);
    let Some(stack) = Stack::ALL.into_iter().find(|stack| stack.name() == on) else {
        let (hint, accepted) = (hint(on, names), names.join(", "));
        let on = on.escape_debug();
        return Err(Failure::Usage(format!("--on {on}: no stack{hint}; accepted: {accepted}")));
    };
    Ok(Request::new(stack, shared, path)?)
}

/// The controls of a stack, by what its transport here carries; another stack of QUIC has what the
/// simulator has.
pub(crate) fn controls(stack: Stack) -> Vec<Candidate> {
    let on = match stack {
        Stack::Linux => "linux",
        Stack::Quinn => "quic",
        Stack::Noq => "noq",
        Stack::Quic => "sim",
    };
    stack.controls(|card, needs| transports_of(card, needs).iter().any(|runs| runs.on == on))
}

/// Where an answer is measured.
fn transport(
    stack: Stack,
) -> Result<std::sync::Arc<dyn firstflight_transports::Transport>, Failure> {
    Ok(match stack {
        Stack::Linux => On::lab(true, None).transport()?,
        Stack::Noq => On::named("noq").transport()?,
        Stack::Quinn | Stack::Quic => On::named("quic").transport()?,
    })
}

/// All controls, the quickest first.
fn table(answer: &Answer) -> Table {
    let mut columns = vec![
        Column::text("control"),
        Column::number("median", "s"),
        Column::number("least", "s"),
        Column::number("most", "s"),
        Column::number("over the stack's own", ""),
        Column::number("sent again", "%"),
    ];
    let shared = answer.told.shared;
    if shared {
        columns.push(Column::number("time of others", ""));
    }
    columns.extend([Column::number("paths", ""), Column::text("")]);
    let title = "Every control, the quickest first; others' time is over that beside slow start";
    let title = if shared { title } else { "Every control, the quickest first" };
    let mut table = Table::new("controls", title, columns);
    let mut all: Vec<_> = answer.controls.iter().collect();
    all.sort_by(|one, other| one.over_own.total_cmp(&other.over_own));
    for choice in all {
        let times = [choice.median_s, choice.least_s, choice.most_s].map(|time| digits(time, 3));
        let mut cells = vec![choice.control.clone()];
        cells.extend(times);
        cells.push(digits(choice.over_own, 2));
        cells.push(digits(choice.again * 100.0, 1));
        cells.extend(choice.others.map(|ratio| digits(ratio, 2)));
        cells.push(choice.seconds.len().to_string());
        let role = choice.role.unwrap_or(if choice.gentle { "" } else { "not gentle" });
        cells.push(role.to_owned());
        table.push(cells.into_iter().map(Into::into));
    }
    table
}

/// What was measured, beside what was simulated.
fn verified_table(all: &[Verified]) -> Table {
    let columns =
        [("simulated", "s"), ("measured", "s"), ("sent again", "%"), ("measured again", "%")];
    let columns = columns.map(|(name, unit)| Column::number(name, unit));
    let columns = [Column::text("control"), Column::text("on")].into_iter().chain(columns);
    let title = "On the path as told, with a buffer of a BDP, no loss and no jitter if not told";
    let mut table = Table::new("verified", title, columns);
    for row in all {
        let share = |share: f64| digits(share * 100.0, 1);
        table.push([
            row.control.as_str().into(),
            row.on.as_str().into(),
            digits(row.simulated_s, 3).into(),
            digits(row.measured_s, 3).into(),
            share(row.simulated_again).into(),
            share(row.measured_again).into(),
        ]);
    }
    table
}

/// The times of the controls worth taking, on every path.
fn picture(answer: &Answer) -> Figure {
    let is_unknown = |name: &str| answer.unknown.iter().any(|unknown| unknown.name == name);
    let (x, buffer) = match is_unknown("buffer") {
        true => (Axis::new("buffer", "BDP").log(), true),
        false => (Axis::new("packets an ACK", ""), false),
    };
    let at = |place: usize| match buffer {
        true => answer.points[place].buffer_bdp,
        false => answer.points[place].acks as f64,
    };
    let mut panel = Panel::new(Axis::new("time", "s").log());
    let own = [&answer.own].into_iter().filter(|own| own.role.is_none());
    for choice in answer.take.iter().chain(own) {
        let points = choice.seconds.iter().enumerate().map(|(place, time)| (at(place), *time));
        panel = panel.with(Series::points(choice.control.as_str(), points.collect()));
    }
    Figure::new("advise", "Time of the controls worth taking, on paths that yours may be", x)
        .subtitle(answer.path())
        .command(command_line::typed())
        .panel(panel)
}
