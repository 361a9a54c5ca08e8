//! `list NAME`: all about one name, for people.

use std::fmt::Write as _;

use firstflight_report::terminal;
use firstflight_report::{Column, Table, wrapped};

use super::catalogue::{Around, Catalogue, Policy};
use crate::output;

/// Everything left in a narrowed catalogue.
pub(super) fn text(catalogue: &Catalogue) -> String {
    let mut parts = Vec::new();
    for alias in &catalogue.aliases {
        parts.push(format!("alias {} = {}\n  {}\n", alias.name, alias.control, alias.source));
    }
    for around in &catalogue.around {
        let Around { written, summary, source, transports, .. } = around;
        let runs_on = transports.join(", ");
        parts.push(format!("{written}\n  {summary}\n  source: {source}\n  runs on: {runs_on}\n"));
    }
    parts.extend(catalogue.startups.iter().map(|startup| policy("start-up", startup)));
    parts.extend(catalogue.avoidances.iter().map(|avoidance| policy("avoidance", avoidance)));
    for named in &catalogue.named {
        let note = named.note.map_or(String::new(), |note| format!("\n  {note}"));
        let papers = match named.papers {
            [one] => format!("the paper {one}"),
            [first @ .., last] => format!("the papers {} and {last}", first.join(", ")),
            [] => String::new(),
        };
        parts.push(format!("`{}` is its name in {papers}.{note}\n", named.name));
    }
    for own in &catalogue.kernels_own {
        let here = if own.here { "this kernel has it" } else { "this kernel has it not" };
        let (name, summary, source) = (own.name, own.summary, own.source);
        parts.push(format!(
            "the kernel's own {name}\n  {summary}\n  source: {source}\n  runs on: linux; {here}\n"
        ));
    }
    for (stack, on, all) in [("quinn", "quic", &catalogue.quinn), ("noq", "noq", &catalogue.noq)] {
        parts.extend(all.iter().map(|own| {
            let (name, summary, source) = (own.name, own.summary, own.source);
            format!("{stack}'s own {name}\n  {summary}\n  source: {source}\n  runs on: {on}\n")
        }));
    }
    if !catalogue.provided.is_empty() {
        let mut part = "transport, which provides beside ACKs and losses\n".to_owned();
        catalogue.provided.iter().for_each(|it| part.push_str(&format!("  {}\n", it.facility)));
        parts.push(part);
    }
    for queue in &catalogue.queues {
        let summary = wrapped(queue.summary, output::screen().width, "  ");
        let mut part = format!("queue {}\n  {summary}  source: {}\n", queue.name, queue.source);
        for (knob, usual) in &queue.knobs {
            let usual = if usual.is_empty() { "(needed)" } else { usual };
            let _ = writeln!(part, "  {knob:26}{usual}");
        }
        parts.push(part);
    }
    for profile in &catalogue.profiles {
        let mut part = format!("profile {}\n", profile.name);
        for constant in &profile.constants {
            let _ = writeln!(part, "  {:26}{}", constant.name, constant.value);
        }
        parts.push(part);
    }
    for flag in &catalogue.path_flags {
        let key = flag.key;
        parts.push(format!(
            "path flag {}\n  {}\n  default: {}\n  scenario key: {key}\n",
            flag.name, flag.help, flag.default
        ));
    }
    parts.join("\n")
}

fn policy(axis: &str, policy: &Policy) -> String {
    let mut text = format!("{axis} {}\n  {}\n", policy.name, policy.summary);
    let _ = writeln!(text, "  source: {}", policy.source);
    if let Some(about) = &policy.about {
        let parts =
            [("watches", about.watches), ("believes", about.believes), ("fails", about.fails)];
        for (what, words) in parts {
            let line = wrapped(&format!("{what}: {words}"), output::screen().width - 2, "  ");
            line.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    if let Some(avoidance) = policy.goes_on_with {
        let _ = writeln!(text, "  goes on with: {avoidance}, where a control names no avoidance");
    }
    let _ = writeln!(text, "  runs on: {}", super::transports(policy));
    if policy.own_end {
        text.push_str("  finds its own end: the ssthresh of a profile is not for it\n");
    }
    let mut say = |what: &str, words: &[&str]| {
        if !words.is_empty() {
            let _ = writeln!(text, "  {what}: {}", words.join(", "));
        }
    };
    say("needs", &policy.requires);
    say("uses", &policy.wants);
    policy.degraded_on.iter().for_each(|(on, without)| say(&format!("on {on} without"), without));
    if policy.knobs.is_empty() {
        text.push_str("  no knobs\n");
        return text;
    }
    let columns = ["knob", "default", "accepted", "what it does"].map(Column::text);
    let mut table = Table::new("knobs", "", columns);
    for knob in &policy.knobs {
        let accepted = knob.accepted.clone();
        table.push([
            knob.name.into(),
            knob.default.clone().into(),
            accepted.into(),
            knob.doc.into(),
        ]);
    }
    let _ = writeln!(text, "{}", terminal::table(&table, output::screen()).trim_end());
    text
}
