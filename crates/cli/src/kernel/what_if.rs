//! `kernel what-if`: what another control would do for the transfers that a host has recorded. It
//! simulates, and needs no kernel.

use std::collections::BTreeMap;

use firstflight_advise::mix::{Mix, MixAnswer};
use firstflight_advise::{Candidate, Stack};
use firstflight_kernel::catalogue::{self, kernel_name};
use firstflight_outside::digits;
use firstflight_record::mix::{self, Transfer};
use firstflight_report::{Column, Table, terminal, wrapped};
use firstflight_runner::Options;
use firstflight_scenario::PathFlags;
use firstflight_terminal::words::count;
use serde::Serialize;

use super::WhatIf as Args;
use crate::advise::controls;
use crate::document::document;
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::{interrupt, output};

/// What `--json` prints.
#[derive(Serialize)]
struct Recording<'a> {
    file: &'a str,
    /// What the file is.
    form: &'static str,
    /// Connections without data, and lines that were left out.
    idle: u64,
    skipped: u64,
    /// Transfers under other controls, which this answer is not about.
    others: &'a BTreeMap<String, usize>,
    #[serde(flatten)]
    answer: &'a MixAnswer,
}

/// Runs the command.
pub(super) fn what_if(args: &Args) -> Result<Status, Failure> {
    let stop = interrupt::listen();
    let file = args.recording.display().to_string();
    let mix = mix::open(&args.recording)?;
    if let Some(first) = &mix.skipped.first {
        let more = count(mix.skipped.count, "line");
        output::complain(&format!("left out: {first} ({more} in all)"));
    }
    let (seen, transfers, others) = under_one(&mix.transfers, args.of.as_deref(), &file)?;
    let (candidates, stands_for) = candidates(&seen, &args.control)?;
    let progress = Progress::new("transfers", None);
    let done = |done, total| progress.set(done, total);
    let options = Options { stop: Some(stop), on_done: Some(&done), ..Options::default() };
    let named = !args.control.is_empty();
    let asked = Mix::new(&transfers, &candidates, named, args.shared, &args.path());
    let answer = asked.and_then(|asked| asked.answer(&options))?;
    drop(progress);
    if args.json {
        let recording = Recording {
            file: &file,
            form: mix.form,
            idle: mix.idle,
            skipped: mix.skipped.count,
            others: &others,
            answer: &answer,
        };
        output::print(&document("firstflight/what-if@1", &recording)?)?;
        return Ok(Status::Done);
    }
    let mut sentences = vec![path(&file, &mix, &answer)];
    sentences.extend(answer.sentences.iter().cloned());
    sentences.extend(stands_for);
    sentences.extend((!others.is_empty()).then(|| {
        let names = others.iter().map(|(name, number)| format!("{name} ({number})"));
        format!("Not counted: {}; --of CONTROL takes them.", names.collect::<Vec<_>>().join(", "))
    }));
    let screen = output::screen();
    let sentences: String = sentences.iter().map(|it| wrapped(it, screen.width, "  ")).collect();
    let table = match answer.controls.is_empty() {
        true => String::new(),
        false => format!("\n{}", terminal::table(&table(&answer), screen)),
    };
    output::print(&format!("{sentences}{table}"))?;
    Ok(Status::Done)
}

impl Args {
    fn path(&self) -> PathFlags {
        let given = [&self.rtt, &self.rate, &self.buffer, &self.loss, &self.jitter];
        let names = ["--rtt", "--rate", "--buffer", "--loss", "--jitter"];
        let given = names.into_iter().zip(given.map(Option::as_ref));
        given.filter_map(|(name, text)| Some((name, text?.as_str()))).collect()
    }
}

type UnderOne<'a> = (String, Vec<&'a Transfer>, BTreeMap<String, usize>);

/// The transfers under one control, the commonest without another word, and how many are under
/// others. A transfer that names no control has the kernel's default.
fn under_one<'a>(
    transfers: &'a [Transfer],
    of: Option<&str>,
    file: &str,
) -> Result<UnderOne<'a>, Failure> {
    let name = |transfer: &'a Transfer| transfer.control.as_deref().unwrap_or(DEFAULT);
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    transfers.iter().for_each(|transfer| *all.entry(name(transfer)).or_default() += 1);
    let commonest = all.iter().max_by_key(|(_, number)| **number).map(|(name, _)| *name);
    let seen = of.or(commonest).unwrap_or(DEFAULT);
    if all.remove(seen).is_none() {
        let accepted = all.keys().copied().collect::<Vec<_>>().join(", ");
        let seen = seen.escape_debug();
        let problem = format!("no transfer under {seen}; accepted: {accepted}");
        return Err(Failure::Usage(format!("{file}: --of {seen}: {problem}")));
    }
    let taken = transfers.iter().filter(|transfer| name(transfer) == seen).collect();
    let others = all.into_iter().map(|(name, number)| (output::plain(name), number)).collect();
    Ok((seen.to_owned(), taken, others))
}

/// The controls that run, the one that was seen first; and which stands for it, if it is not
/// simulated itself.
fn candidates(seen: &str, named: &[String]) -> Result<(Vec<Candidate>, Option<String>), Failure> {
    let all = controls(Stack::Linux);
    let known = |name: &str| all.iter().find(|candidate| candidate.name == name).cloned();
    let loaded = |name: &str| {
        let found = catalogue::loadable().into_iter().find(|it| kernel_name(it) == name)?;
        Some(Candidate { name: found.to_owned(), model: found.to_owned() })
    };
    // What the kernel calls cubic is its own control; ours is ff_cubic.
    let one = |name: &str| {
        known(&format!("linux-{name}")).or_else(|| known(name)).or_else(|| loaded(name))
    };
    let own = one(seen);
    let stands_for = own.is_none().then(|| {
        format!("{} is not simulated; {} stands for it.", output::plain(seen), all[0].name)
    });
    let own = own.unwrap_or_else(|| all[0].clone());
    let mut chosen = vec![own];
    for name in named {
        let found = one(name).or_else(|| loaded(&kernel_name(name)));
        chosen.push(found.ok_or_else(|| unknown(name, &all))?);
    }
    if named.is_empty() {
        let model = chosen[0].model.clone();
        chosen.extend(all.into_iter().filter(|one| one.model != model));
    }
    Ok((chosen, stands_for))
}

fn unknown(name: &str, all: &[Candidate]) -> Failure {
    let accepted: Vec<&str> = all.iter().map(|candidate| candidate.name.as_str()).collect();
    let (name, accepted) = (name.escape_debug(), accepted.join(", "));
    Failure::Usage(format!("--control {name}: no control; accepted: {accepted}"))
}

/// What was read, and what is not known of it.
fn path(file: &str, mix: &mix::Mix, answer: &MixAnswer) -> String {
    let idle = match mix.idle {
        0 => String::new(),
        idle => format!(", {} without data", count(idle, "connection")),
    };
    let unknown: Vec<String> =
        answer.unknown.iter().map(|of| format!("{} ({})", of.name, of.between)).collect();
    let unknown = match unknown.is_empty() {
        true => String::new(),
        false => format!(" Assumed: {}.", unknown.join("; ")),
    };
    let transfers = count(mix.transfers.len() as u64, "transfer");
    format!("{} is {}: {transfers}{idle}.{unknown}", output::plain(file), mix.form)
}

/// The controls that ran on all paths.
fn table(answer: &MixAnswer) -> Table {
    let columns = [
        Column::text("control"),
        Column::number("time over own", ""),
        Column::number("saved, half", "s"),
        Column::number("one in ten", "s"),
        Column::number("sent again", "%"),
        Column::number("never left: half", "s"),
        Column::number("one in ten", "s"),
        Column::text(""),
    ];
    let title = format!(
        "In place of {}: those that left slow start, and those that did not",
        answer.control
    );
    let mut table = Table::new("controls", title, columns);
    for control in &answer.controls {
        let none = || "-".to_owned();
        let (left, stayed) = (control.left.as_ref(), control.stayed.as_ref());
        let role = control.role.unwrap_or(if control.gentle { "" } else { "not gentle" });
        let cells = [
            control.control.clone(),
            digits(control.over_own, 2),
            left.map_or_else(none, |it| digits(it.saved_median_s.median, 3)),
            left.map_or_else(none, |it| digits(it.saved_p90_s.median, 3)),
            left.or(stayed).map_or_else(none, |it| digits(it.again.median * 100.0, 1)),
            stayed.map_or_else(none, |it| digits(it.saved_median_s.median, 3)),
            stayed.map_or_else(none, |it| digits(it.saved_p90_s.median, 3)),
            role.to_owned(),
        ];
        table.push(cells.map(Into::into));
    }
    table
}

/// Linux's default.
const DEFAULT: &str = "cubic";
