//! Judges the claims named on the command line, all without any, and prints a line for each:
//! `cargo run --release -p firstflight-reproduce --example claims -- S0-T1`. With `--out DIR` first
//! the report is written too.

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use firstflight_reproduce::{Options, reproduce};
use firstflight_results::ClaimValue;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let command_line = format!("firstflight reproduce {}", words.join(" "));
    let out = (words.first().map(String::as_str) == Some("--out") && words.len() > 1)
        .then(|| PathBuf::from(words.drain(..2).nth(1).unwrap_or_default()));
    let outcome = reproduce(&Options {
        select: &words,
        out: out.as_deref(),
        cache: None,
        stop: &AtomicBool::new(false),
        progress: &|at| eprintln!("{}/{} {}", at.done, at.total, at.name),
        figure_width: Default::default(),
        command_line,
        quick: false,
        lab: None,
    })?;
    for row in &outcome.rows {
        let (expected, measured) = (shown(&row.expected), shown(&row.measured));
        println!("{:<8} {:<17} {expected} {} | {measured}", row.id, row.verdict.name(), row.unit);
        if let Some(note) = &row.note {
            println!("         {note}");
        }
    }
    if let Some(report) = outcome.report {
        println!("{}", report.display());
    }
    Ok(())
}

fn shown(value: &ClaimValue) -> String {
    match value {
        ClaimValue::Flag(flag) => flag.to_string(),
        ClaimValue::Number(number) => number.to_string(),
        ClaimValue::Text(text) => text.clone(),
    }
}
