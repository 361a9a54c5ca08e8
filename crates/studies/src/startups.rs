//! `docs/startups.md`: every start-up explained, drawn, and measured over a grid of paths, and all
//! numbers as CSV; and the pages on Scout. The start-ups, and what is said of them, are those of
//! the cards.

mod grid;
mod page;
mod picture;
mod scout;
mod summary;

use std::error::Error;
use std::fs;
use std::path::Path;

use firstflight_report::write_file;

use crate::step;
use crate::{Stop, no_arguments};

/// Writes the pages, pictures and numbers, or with `--scout` those of Scout alone. The
/// simulator is optimised in every profile, so that what the tests have built serves.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    if matches!(args, [only] if only == "--scout") {
        pages_of_scout(root).map_err(|problem| failed(&*problem))?;
        println!("startups: docs/scout.md and docs/scout-choices.md are written");
        return Ok(());
    }
    if let [first, second, minutes @ ..] = args
        && (first.as_str(), second.as_str()) == ("--scout", "--linux")
    {
        return scout::measure_on_linux(root, self::minutes(minutes)?);
    }
    if let [first, second, half, words @ ..] = args
        && (first.as_str(), second.as_str()) == ("--scout", "--half")
    {
        let half = half.parse().map_err(|()| {
            Stop::usage(&format!("--half: found `{half}`, accepted: working or held"))
        })?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        println!("{}", scout::tables_of_half(half, &words).map_err(|problem| failed(&*problem))?);
        return Ok(());
    }
    no_arguments("startups", args)?;
    let pictures = root.join(PICTURES);
    if pictures.is_dir() {
        // Nothing is to stay of a start-up that was renamed.
        fs::remove_dir_all(&pictures).map_err(|error| step::unable(PICTURES, &error))?;
    }
    fs::create_dir_all(&pictures).map_err(|error| step::unable(PICTURES, &error))?;
    survey(root).map_err(|problem| failed(&*problem))?;
    println!(
        "startups: docs/startups.md, docs/startups.csv, docs/scout.md, docs/scout-choices.md and \
         {PICTURES} are written"
    );
    Ok(())
}

fn survey(root: &Path) -> Result<(), Box<dyn Error>> {
    let folder = &root.join("docs");
    let runs = grid::measure()?;
    write_file(&folder.join("startups.csv"), grid::csv(&runs))?;
    let summaries = summary::of(&runs);
    for (name, svg) in picture::maps(&summaries).into_iter().chain(picture::windows()?) {
        write_file(&folder.join(picture::FOLDER).join(format!("{name}.svg")), &svg)?;
    }
    write_file(&folder.join("startups.md"), page::markdown(&summaries))?;
    pages_of_scout(root)
}

fn pages_of_scout(root: &Path) -> Result<(), Box<dyn Error>> {
    let folder = root.join("docs");
    for (name, svg) in scout::pictures()? {
        write_file(&folder.join(picture::FOLDER).join(format!("{name}.svg")), &svg)?;
    }
    for (name, page) in scout::pages(root)? {
        write_file(&folder.join(name), page)?;
    }
    Ok(())
}

/// `--minutes N`, or nothing.
fn minutes(args: &[String]) -> Result<Option<u64>, Stop> {
    match args {
        [] => Ok(None),
        [flag, value] if flag == "--minutes" => {
            crate::number("--minutes", value, 1..=9_999).map(Some)
        }
        [first, ..] => {
            Err(Stop::usage(&format!("--linux: found `{first}`, accepted: --minutes and a number")))
        }
    }
}

fn failed(problem: &dyn Error) -> Stop {
    Stop::failed(&format!("startups: {problem}"))
}

const PICTURES: &str = "docs/img/startups";
