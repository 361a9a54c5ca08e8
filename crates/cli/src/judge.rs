//! `judge`: a control on the catalogue of paths, with a verdict for every rule.

mod ci;
mod interop;
mod programs;
mod rows;
mod sarif;
mod text;

use std::path::PathBuf;

use firstflight_judge::{Judgement, Keep, MOST_SEEDS, Question, REFERENCES, Request, Transports};
use firstflight_outside::{FileStore, content_name};
use firstflight_report::{write_dir, write_file};
use firstflight_runner::Options;
use firstflight_sweep::VERSION;
use firstflight_transports::{On, SIM};

use crate::failure::{Failure, Status};
use crate::measure::parts;
use crate::progress::Progress;
use crate::{command_line, interrupt, output};

/// Judge a control on the catalogue of paths: fast, gentle, safe to others, never stuck, Pareto
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The control, such as hystart or scout+cubic(beta=0.7); with --server or --interop a name for
    /// the programs
    #[arg(required_unless_present_any = ["server", "interop"])]
    control: Option<String>,
    /// Further references beside slow-start+cubic, hystart and hystart-pp, with commas between
    #[arg(long, value_name = "CONTROLS")]
    against: Option<String>,
    /// Only these groups or scenarios, with commas between: F, A3, wifi
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    on: On,
    /// Where the references run: sim, beside a control on another transport; a reference that is
    /// Linux's own runs where the control does [default: on the control's transport]
    #[arg(long, value_name = "TRANSPORT", value_parser = ["sim"])]
    references: Option<String>,
    #[command(flatten)]
    programs: programs::ProgramFlags,
    /// Seeds of each scenario in which something is random [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: Option<u64>,
    /// Three seeds, and without the longest transfers: less than a minute, for other projects' CI
    #[arg(long, conflicts_with = "seeds")]
    quick: bool,
    /// Print the judgement as one JSON document
    #[arg(long)]
    json: bool,
    /// Write a row per scenario and control here, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    ci: ci::CiFlags,
    /// Write report.html, its figures and data and judgement.json here, and keep finished runs here
    /// [default: no report, and the runs in firstflight-out/judge]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
The rules: R1 fast, at most 2 % longer than the better of HyStart and HyStart++, or within a
published bound. R2 gentle, no more loss and no longer a queue than slow start. R3 safe, others keep
20 to 80 % and take at most 1.1 times as long as beside slow start. R4 never stuck, at most 1.5
times slow start's time. R5, no reference is as good in time, loss and queue and better in one.
The exit code is 1 if one does not hold, with --baseline if one ranks lower than there.
docs/judge.md has more; `firstflight scenarios` the paths.

Examples:
  firstflight judge hystart-pp
  firstflight judge scout --against bbr,search --only C,F
  firstflight judge cubic --on quic --quick --json | jq .summary
  firstflight judge cubic --quick --baseline stored.json --markdown summary.md
  firstflight judge linux-bbr --on linux --virtual-time --references sim --only A
  firstflight judge --on linux --virtual-time --only A1 --server 'iperf3 -s -1 -p {port}' \\
      --client 'iperf3 -c {address} -p {port} -C cubic -R -n {bytes}'";

/// Runs the command.
pub(crate) fn judge(args: &Args) -> Result<Status, Failure> {
    let on = args.on.with_queue()?;
    let transport = on.transport()?;
    let against = args.against.as_deref().map(parts).unwrap_or_default();
    let programs = args.programs.carried_by(&on)?;
    let name = args.control.as_deref().unwrap_or("programs");
    let request = Request {
        control: name,
        against: &against,
        only: &args.only,
        seeds: args.seeds,
        quick: args.quick,
    };
    if programs.is_some() && REFERENCES.contains(&name) {
        let problem = "is a reference; accepted: a name of the programs' own";
        return Err(Failure::Usage(format!("control: found `{name}`, which {problem}")));
    }
    // Programs are compared with the simulator's references, and a control if that is asked for.
    let on_sim = programs.is_some() || args.references.is_some();
    let transports = Transports {
        judged: programs.as_ref().map_or(&*transport, |programs| programs),
        references: if on_sim { &SIM } else { &*transport },
        linux: &*transport,
    };
    let question = request.question(&transports)?;
    let store = store(args)?;
    if let Some(file) = &args.csv {
        output::check_file("--csv", file)?;
    }
    let baseline = args.ci.check()?;
    let _lock = output::lock_out(args.out.as_deref())?;
    let who = who(args, &transports)?;
    let keep = store.as_ref().map(|store| Keep { store, who });
    let judgement = match with_progress(&question, &transports, keep.as_ref()) {
        Err(Failure::Interrupted) => {
            output::complain(&match &store {
                Some(store) => {
                    format!("interrupted: {} has what was finished", store.dir().display())
                }
                None => "interrupted: nothing was kept".to_owned(),
            });
            return Ok(Status::Interrupted);
        }
        judgement => judgement?,
    };
    if args.json {
        output::print(&judgement.to_json()?)?;
    } else {
        output::print(&text::judgement(&judgement, output::screen()))?;
    }
    if let Some(out) = &args.out {
        let page = firstflight_judge::page(&judgement).command(command_line::typed());
        write_dir(out, &page, vec![("judgement.json".into(), judgement.to_json()?)])?;
        output::note_report(&out.join("report.html"));
    }
    if let Some(file) = &args.csv {
        let mut text = Vec::new();
        rows::table(&judgement)?.write_csv(&mut text)?;
        write_file(file, text)?;
        output::note(&format!("table: {}", file.display()));
    }
    args.ci.end(&judgement, baseline)
}

/// Where finished runs are kept. Nobody asked for that without --out, so a folder in which nothing
/// can be made is no error then.
///
/// # Errors
/// The folder of --out cannot be written.
fn store(args: &Args) -> Result<Option<FileStore>, Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("firstflight-out/judge"));
    let runs = out.join("runs");
    match output::check_directory("--out", &out) {
        Ok(()) => Ok(Some(FileStore::new(runs, "json"))),
        Err(failure) if args.out.is_some() => Err(failure.into()),
        Err(_) => {
            output::note(&format!("finished runs are not kept: {} cannot be made", runs.display()));
            Ok(None)
        }
    }
}

/// Runs what is not kept, with a bar on standard error.
fn with_progress(
    question: &Question,
    transports: &Transports<'_>,
    keep: Option<&Keep<'_>>,
) -> Result<Judgement, Failure> {
    let progress = Progress::new("runs", None);
    progress.say(&question.control.text);
    let (done, say) = (|done, total| progress.set(done, total), |words: &str| progress.say(words));
    let stop = Some(interrupt::listen());
    let options = Options { stop, on_done: Some(&done), say: Some(&say), ..Options::default() };
    Ok(question.judge(transports, keep, &options)?)
}

/// The program by its content, the transport with its flags, and what of the transports no flag
/// says. Another build's results are not used.
fn who(args: &Args, transports: &Transports<'_>) -> Result<String, Failure> {
    let program =
        content_name(&std::env::current_exe().and_then(std::fs::read).unwrap_or_default());
    let (on, version) = (&args.on, transports.judged.version()?);
    let references = if args.references.is_some() { " references on sim" } else { "" };
    Ok(format!("{VERSION} {program} {on:?} {version}{references}"))
}

#[cfg(test)]
mod tests {
    use firstflight_scenario::Scenario;
    use firstflight_transports::{GuestPrograms, Programs, QUIC, Transport as _, VirtualTime};

    use super::*;

    /// Those that docs/judge.md names, with the key that each is refused for.
    #[test]
    fn linux_has_all_of_the_catalogue_but_what_the_page_says() {
        let page = include_str!("../../../docs/judge.md");
        let lab = On::lab(false, None).transport().unwrap();
        let mut listed = Vec::new();
        for entry in firstflight_judge::select(&[]).unwrap() {
            let mut scenario = entry.scenario.clone();
            scenario.controls = vec!["linux-cubic".parse().unwrap()];
            if let Err(why) = lab.complete(&scenario) {
                let key = ["handshake_delay", "delayed_ack", "[[udp]]", "ecn_feedback", "writes"];
                let key = key.into_iter().chain(["receiver_window_until", "files"]);
                let key = key.into_iter().find(|key| why.to_string().contains(key)).unwrap();
                listed.push(format!("{} (`{key}`)", entry.id));
            }
        }
        let listed = listed.join(", ");
        assert!(
            page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&listed),
            "{listed}"
        );
    }

    /// Those that docs/judge.md names, where a build can load controls for the others on the path.
    #[test]
    fn programs_have_all_of_the_catalogue_but_what_the_page_says() {
        let page = include_str!("../../../docs/judge.md");
        let line = || "true".to_owned();
        let programs =
            Programs { server: line(), client: line(), upload: false, folder: "/".into() };
        let guests = VirtualTime::new(None, None, None).running(GuestPrograms {
            programs,
            script: String::new(),
            with: Vec::new(),
            longest: std::time::Duration::ZERO,
        });
        let mut listed = Vec::new();
        for entry in firstflight_judge::select(&[]).unwrap() {
            let mut scenario = entry.scenario.clone();
            scenario.controls = vec!["programs".parse().unwrap()];
            match guests.complete(&scenario) {
                Err(why) if !why.to_string().contains("--features kernel") => listed.push(entry.id),
                _ => {}
            }
        }
        let listed = format!("**What is not covered**: {}.", listed.join(", "));
        assert!(page.contains(&listed), "{listed}");
    }

    /// As docs/judge.md says; whatever becomes of one that a new scenario sets, it is told by name.
    #[test]
    fn quic_has_all_of_the_catalogue() {
        let refused = |scenario: &Scenario| -> Result<(), Failure> {
            QUIC.check_keys(scenario)?;
            let complete = QUIC.complete(scenario)?;
            let flows = complete.flows.iter();
            let applied = flows.map(|flow| firstflight_quic_sim::applies(&complete, flow));
            applied.collect::<Result<(), String>>().map_err(Failure::Usage)
        };
        for control in ["slow-start+cubic", "quinn-bbr"] {
            for entry in firstflight_judge::select(&[]).unwrap() {
                let mut scenario = entry.scenario.clone();
                scenario.controls = vec![control.parse().unwrap()];
                if let Err(why) = refused(&scenario) {
                    panic!("{}: {why:?}", entry.id);
                }
            }
        }
    }
}
