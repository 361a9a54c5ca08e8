//! `judge`: a control on the catalogue of paths, with a verdict for every rule.

mod programs;
mod rows;
mod told;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use firstflight_control::own::OF_LINUX;
use firstflight_judge::{Carrier, Judgement, Question, REFERENCES, Refusal};
use firstflight_report::{write_dir, write_file};
use firstflight_runner::Options;
use firstflight_scenario::{ControlSpec, Scenario};
use firstflight_sweep::{Shelf, VERSION, content_name};

use crate::failure::{Failure, Status};
use crate::in_turn::parts;
use crate::progress::Progress;
use crate::scenarios::found;
use crate::transport::{On, Transport};
use crate::{command_line, interrupt, output};

/// How many seeds a scenario may have.
const SEEDS: RangeInclusive<u64> = 1..=10_000;

/// Judge a control on the catalogue of paths: fast, gentle, safe to others, never stuck, Pareto
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The control, such as hystart or scout+cubic(beta=0.7); with --server a name for the programs
    #[arg(required_unless_present = "server")]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(SEEDS))]
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
    /// Write report.html, its figures and data and judgement.json here, and keep finished runs here
    /// [default: no report, and the runs in firstflight-out/judge]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
The rules: R1 fast, at most 2 % longer than the better of HyStart and HyStart++, or within a
published bound. R2 gentle, no more loss and no longer a queue than slow start. R3 safe, others keep
20 to 80 % and take at most 1.1 times as long as beside slow start. R4 never stuck, at most 1.5
times slow start's time. R5, no reference is as good in time, loss and queue and better in one.
The exit code is 1 if one does not hold. docs/judge.md has more; `firstflight scenarios` the paths.

Examples:
  firstflight judge hystart-pp
  firstflight judge scout --against bbr,search --only C,F
  firstflight judge cubic --on quic --quick --json | jq .summary
  firstflight judge linux-bbr --on linux --virtual-time --references sim --only A
  firstflight judge --on linux --virtual-time --only A1 --server 'iperf3 -s -1 -p {port}' \\
      --client 'iperf3 -c {address} -p {port} -C cubic -R -n {bytes}'";

/// What is asked of a judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The control.
    pub control: &'a str,
    /// Further references.
    pub against: &'a [String],
    /// Groups or scenarios; all if there are none.
    pub only: &'a [String],
    /// Seeds where something is random, 1 to 10,000; the scenario's own number if there is none.
    pub seeds: Option<u64>,
    /// Few seeds and no long transfers.
    pub quick: bool,
}

/// Who hears how far a judgement is.
pub(crate) struct Listener<'a> {
    /// Hears how many runs are finished, of how many.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Hears in a few words what is being done: a guest that boots may take longer than its runs.
    pub(crate) say: &'a (dyn Fn(&str) + Sync),
}

/// What carries the runs.
pub(crate) struct Carried {
    pub(crate) transport: Transport,
    /// What carries the control under judgement, where that is two programs under a name.
    pub(crate) programs: Option<(String, Transport)>,
    /// The control under judgement, where references that Linux has not run on the simulator.
    pub(crate) alone: Option<String>,
    /// The program and the flags, by which kept runs are told apart.
    pub(crate) who: String,
    /// The transport, as results name it.
    pub(crate) on: String,
    /// One run after the other, in the calling thread.
    pub(crate) in_turn: bool,
}

impl Carried {
    /// What runs a control. Programs are compared with the simulator's references, and a control if
    /// that is asked for; only Linux's own run in a guest too.
    fn transport_of(&self, spec: &ControlSpec) -> Transport {
        let (programs, alone) = (self.programs.as_ref(), self.alone.as_ref());
        match programs.filter(|(name, _)| *name == spec.text) {
            Some((_, programs)) => programs.clone(),
            None if programs.is_none() && alone.is_none() => self.transport.clone(),
            None if alone == Some(&spec.text) => self.transport.clone(),
            None if spec.startup.name.starts_with(OF_LINUX) => self.transport.clone(),
            None => Transport::Sim,
        }
    }

    /// Checks that a control exists where it would run.
    fn check(&self, spec: &ControlSpec) -> Result<(), Failure> {
        match &self.programs {
            Some((name, _)) if *name == spec.text => Ok(()),
            _ => self.transport_of(spec).check_control(spec),
        }
    }
}

/// Runs the command.
pub(crate) fn judge(args: &Args) -> Result<Status, Failure> {
    let transport = args.on.with_queue()?;
    let against = args.against.as_deref().map(parts).unwrap_or_default();
    let programs = args.programs.carried_by(&transport)?;
    let name = args.control.as_deref().unwrap_or("programs");
    let asked = Asked {
        control: name,
        against: &against,
        only: &args.only,
        seeds: args.seeds,
        quick: args.quick,
    };
    let (on, in_turn) = (transport.name().to_owned(), transport.is_in_real_time());
    let programs = programs.map(|programs| (name.to_owned(), programs));
    let alone = args.references.as_ref().map(|_| name.to_owned());
    let mut carried = Carried { transport, programs, alone, who: String::new(), on, in_turn };
    let question = question(&asked, &carried)?;
    let shelf = shelf(args)?;
    if let Some(file) = &args.csv {
        output::check_file("--csv", file)?;
    }
    let _held = args.out.as_ref().map(|out| output::hold("--out", out)).transpose()?;
    carried.who = who(&args.on, &carried)?;
    let judgement = match with_progress(&question, &carried, shelf.as_ref()) {
        Err(Failure::Interrupted) => {
            output::complain(&match &shelf {
                Some(shelf) => {
                    format!("interrupted: {} has what was finished", shelf.dir().display())
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
        output::print(&told::text(&judgement, output::screen()))?;
    }
    if let Some(out) = &args.out {
        let page = firstflight_judge::page(&judgement).command(command_line::typed());
        write_dir(out, &page, vec![("judgement.json".into(), judgement.to_json()?)])?;
        output::note(&format!("report: {}", out.join("report.html").display()));
    }
    if let Some(file) = &args.csv {
        let mut text = Vec::new();
        rows::table(&judgement)?.write_csv(&mut text)?;
        write_file(file, text)?;
        output::note(&format!("table: {}", file.display()));
    }
    Ok(if judgement.fails() { Status::Unmet } else { Status::Done })
}

/// Where finished runs are kept. Nobody asked for that without --out, so a folder in which nothing
/// can be made is no error then.
///
/// # Errors
/// The folder of --out cannot be written.
fn shelf(args: &Args) -> Result<Option<Shelf>, Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("firstflight-out/judge"));
    let runs = out.join("runs");
    match output::check_directory("--out", &out) {
        Ok(()) => Ok(Some(Shelf::new(runs, "json"))),
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
    carried: &Carried,
    shelf: Option<&Shelf>,
) -> Result<Judgement, Failure> {
    let progress = Progress::new("runs", None);
    progress.say(&question.control.text);
    let shown = |done, total| progress.set(done, total);
    let listener = Listener { progress: &shown, say: &|words| progress.say(words) };
    judgement(question, carried, shelf, interrupt::listen(), &listener)
}

/// What is asked, checked.
///
/// # Errors
/// A control or a scenario that is none, with the nearest that is.
pub(crate) fn question(asked: &Asked<'_>, carried: &Carried) -> Result<Question, Failure> {
    let control = |place: &str, name: &str| -> Result<ControlSpec, Failure> {
        let wrong = |problem: String| Failure::Usage(format!("{place}{problem}"));
        let spec: ControlSpec = name.parse().map_err(|error| wrong(format!("{error}")))?;
        carried.check(&spec).map_err(|failure| match failure {
            Failure::Usage(problem) => wrong(problem),
            failure => failure,
        })?;
        Ok(spec)
    };
    // The command's flags are checked before; these are for Python.
    if let Some(seeds) = asked.seeds {
        let (least, most) = (SEEDS.start(), SEEDS.end());
        if asked.quick {
            let problem = "seeds: found together with quick; accepted: one of the two";
            return Err(Failure::Usage(problem.to_owned()));
        }
        if !SEEDS.contains(&seeds) {
            return Err(Failure::Usage(format!(
                "seeds: found {seeds}; accepted: a whole number from {least} to {most}"
            )));
        }
    }
    let mut question = Question {
        control: control("", asked.control)?,
        against: asked
            .against
            .iter()
            .map(|name| control("--against: ", name))
            .collect::<Result<_, _>>()?,
        entries: found("--only", asked.only)?,
        seeds: asked.seeds,
    };
    for reference in REFERENCES {
        if carried.programs.as_ref().is_some_and(|(name, _)| name == reference) {
            let problem = "is a reference; accepted: a name of the programs' own";
            return Err(Failure::Usage(format!("control: found `{reference}`, which {problem}")));
        }
        control("reference: ", reference)?;
    }
    if asked.quick {
        question.quicken();
    }
    Ok(question)
}

/// Runs what the shelf does not have, and judges.
///
/// # Errors
/// An interruption, or what a run says that concerns more than one scenario.
pub(crate) fn judgement(
    question: &Question,
    carried: &Carried,
    shelf: Option<&Shelf>,
    stop: &AtomicBool,
    listener: &Listener<'_>,
) -> Result<Judgement, Failure> {
    let run = |scenario: &Scenario, options: &Options<'_>| {
        // What this transport cannot do is no reason to leave out the scenarios that it can.
        let not_carried = |failure| match failure {
            Failure::Usage(why) => Refusal::NotCarried(why),
            Failure::Interrupted => Refusal::Interrupted,
            failure => Refusal::Failed(failure),
        };
        let transport = match scenario.controls.first() {
            Some(spec) => carried.transport_of(spec),
            None => carried.transport.clone(),
        };
        transport.check_keys(scenario).map_err(not_carried)?;
        let report = transport.run(scenario, options, listener.say).map_err(not_carried)?;
        if report.interrupted { Err(Refusal::Interrupted) } else { Ok(report) }
    };
    let progress = listener.progress;
    let carrier =
        Carrier { run: &run, who: carried.who.clone(), in_turn: carried.in_turn, stop, progress };
    question.judge(&carried.on, shelf, &carrier).map_err(|refusal| match refusal {
        Refusal::NotCarried(why) => Failure::Usage(why),
        Refusal::Interrupted => Failure::Interrupted,
        Refusal::Failed(failure) => failure,
    })
}

/// The program by its content, the transport with its flags and its kernel, and the programs under
/// judgement: what another build has measured says nothing of this one.
fn who(on: &On, carried: &Carried) -> Result<String, Failure> {
    let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    let judged = carried.programs.as_ref().map_or(&carried.transport, |(_, programs)| programs);
    let alone = if carried.alone.is_some() { " references on sim" } else { "" };
    Ok(format!("{VERSION} {} {on:?} {}{alone}", content_name(&program), judged.kernel()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Lab;

    #[test]
    fn references_run_on_the_simulator_where_that_is_asked_for_but_linuxs_own() {
        let on_sim = |alone: Option<&str>| {
            let carried = Carried {
                transport: Transport::Linux(Lab::TUN),
                programs: None,
                alone: alone.map(str::to_owned),
                who: String::new(),
                on: "linux".to_owned(),
                in_turn: true,
            };
            ["suss", "hystart", "linux-reno"]
                .map(|name| carried.transport_of(&name.parse().unwrap()).is_sim())
        };
        assert_eq!(on_sim(None), [false; 3]);
        assert_eq!(on_sim(Some("suss")), [false, true, false]);
    }

    /// Those that docs/judge.md names, with the key that each is refused for.
    #[test]
    fn linux_has_all_of_the_catalogue_but_what_the_page_says() {
        let page = include_str!("../../../docs/judge.md");
        let mut told = Vec::new();
        for entry in firstflight_judge::select(&[]).unwrap() {
            let mut scenario = entry.scenario.clone();
            scenario.controls = vec!["linux-cubic".parse().unwrap()];
            if let Err(why) = crate::lab::resolve(&scenario) {
                let key = ["handshake_delay", "delayed_ack", "[[udp]]", "ecn_feedback", "writes"];
                let key = key.into_iter().chain(["receiver_window_until", "files"]);
                let key = key.into_iter().find(|key| why.to_string().contains(key)).unwrap();
                told.push(format!("{} (`{key}`)", entry.id));
            }
        }
        let told = told.join(", ");
        assert!(page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&told), "{told}");
    }

    /// As docs/judge.md says; whatever becomes of one that a new scenario sets, it is told by name.
    #[test]
    fn quic_has_all_of_the_catalogue() {
        let refused = |scenario: &Scenario| -> Result<(), Failure> {
            Transport::Quic.check_keys(scenario)?;
            firstflight_runner::check(scenario, Transport::Quic.over())?;
            let resolved = Transport::Quic.resolve(scenario)?;
            let flows = resolved.flows.iter();
            let applied = flows.map(|flow| firstflight_quic_sim::applies(&resolved, flow));
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
