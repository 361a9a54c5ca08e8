//! Parts of documents that a command measures and writes between two marks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use firstflight_sweep::into_page;

use crate::Stop;
use crate::step;

/// The title and the head of a table.
pub(crate) fn head(text: &mut String, title: &str, first: &str, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|name| format!(" {name} |")).collect();
    let rule = "---|".repeat(names.len() + 1);
    let _ = writeln!(text, "\n### {title}\n| {first} |{}\n|{rule}", names.concat());
}

/// A row of it.
pub(crate) fn row(text: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| format!(" {cell} |")).collect();
    let _ = writeln!(text, "| {first} |{}", cells.concat());
}

/// A document with parts, each with its name, where it has places for what a task measures: between
/// `<!-- measured: cargo xtask TASK#NAME -->` and the end. Other places stay as they are; `None` if
/// it has no such place.
pub(crate) fn with_parts(old: &str, task: &str, parts: &[(&str, String)]) -> Option<String> {
    let beneath = |text: &str| format!("\n{}", text.trim_start_matches('\n'));
    let parts = parts.iter().map(|(name, text)| ((*name).to_owned(), beneath(text)));
    into_page(old, format!("cargo xtask {task}").as_ref(), &parts.collect::<Vec<_>>())
}

/// Writes parts into a document, named from the repository's root.
pub(crate) fn write_parts(
    root: &Path,
    document: &str,
    task: &str,
    parts: &[(&str, String)],
) -> Result<(), Stop> {
    let file = root.join(document);
    let old = fs::read_to_string(&file).map_err(|error| step::unable(document, &error))?;
    let new = with_parts(&old, task, parts).ok_or_else(|| {
        Stop::failed(&format!("{document}: no place for what `cargo xtask {task}` measures"))
    })?;
    fs::write(&file, new).map_err(|error| step::unable(document, &error))?;
    println!("{document} is written");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_the_places_of_its_task() {
        let pages: [(&str, &str, &[&str]); 7] = [
            (
                "docs/judgement.md",
                "judge",
                &["learned", "front", "simulated", "quinn", "published"],
            ),
            ("docs/judgement-linux.md", "judge --linux", &[""]),
            ("docs/judgement-quic.md", "judge --quic", &[""]),
            ("docs/lab.md", "lab", &["link", "points", "rows"]),
            ("docs/lab-random.md", "lab --random", &[""]),
            ("docs/queues.md", "queues", &[""]),
            (
                "docs/startups.md",
                "startups",
                &["learned", "alone", "routers", "memory", "explained"],
            ),
        ];
        for (document, task, names) in pages {
            let text = fs::read_to_string(xtask::root().join(document)).unwrap();
            for name in names {
                let new = with_parts(&text, task, &[(*name, "a new part".to_owned())]);
                assert!(
                    new.is_some_and(|new| new.contains("\n\na new part\n")),
                    "{document} {name}"
                );
            }
        }
    }
}
