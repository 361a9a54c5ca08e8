//! The pictures of the README, one comparison under the papers' conditions and under today's, those
//! of `docs/paths.md`, of scenarios, and those in whose place the site has plots that live.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{self, target};

/// Draws them anew with the release build of the command.
pub(crate) fn run(root: &Path) -> Result<(), Stop> {
    let program = step::release(root, &[])?;
    let compared = PICTURES.iter().map(|(name, conditions)| {
        ((*name).to_owned(), CONTROLS.iter().chain(*conditions).map(ToString::to_string).collect())
    });
    let paths = PATHS.iter().map(|name| {
        let scenario = format!("scenarios/{name}.toml");
        (format!("paths/{name}"), vec!["run".to_owned(), scenario, WIDTH.to_owned()])
    });
    for (name, words) in compared.chain(paths).chain(live(root)?) {
        draw(root, &program, &name, &words)?;
    }
    Ok(())
}

/// The pictures below `<!-- live: firstflight compare ... -->`, and the words of each.
fn live(root: &Path) -> Result<Vec<(String, Vec<String>)>, Stop> {
    let mut all = Vec::new();
    let unread = |error| step::unable("docs", &error);
    for page in fs::read_dir(root.join("docs")).map_err(unread)? {
        let path = page.map_err(unread)?.path();
        if path.extension().is_none_or(|kind| kind != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(unread)?;
        for (line, below) in text.lines().zip(text.lines().skip(1)) {
            let marked = line.strip_prefix("<!-- live: firstflight ");
            let Some(words) = marked.and_then(|rest| rest.strip_suffix(" -->")) else { continue };
            let picture = below.split_once("](img/").and_then(|(_, rest)| rest.split_once(".svg)"));
            let (name, _) = picture.ok_or_else(|| {
                Stop::failed(&format!("{}: no picture below {line}", path.display()))
            })?;
            let words = words.split(' ').chain([WIDTH]).map(ToOwned::to_owned);
            all.push((name.to_owned(), words.collect()));
        }
    }
    Ok(all)
}

/// Has the command draw what happens over time, and copies it to `docs/img`.
fn draw(root: &Path, program: &Path, name: &str, words: &[String]) -> Result<(), Stop> {
    let out = target(root).join("pictures").join(name);
    step::output(
        "pictures",
        Command::new(program).current_dir(root).args(words).arg("--out").arg(&out),
    )?;
    let drawn = out.join("figures/over-time.svg");
    let place = root.join("docs/img").join(name).with_extension("svg");
    fs::copy(&drawn, &place).map_err(|error| step::unable(name, &error))?;
    println!("docs/img/{name}.svg");
    Ok(())
}

/// The arguments of both. At this width the two pictures fill a page side by side.
const CONTROLS: [&str; 10] = [
    "compare",
    "newreno",
    "hystart",
    "hoe",
    "vegas",
    "astart",
    "--buffer",
    "125pkt",
    "--figure-width",
    "440px",
];

const PICTURES: [(&str, &[&str]); 2] =
    [("compare-papers", &["--profile", "rfc"]), ("compare", &[])];

/// The scenarios in `docs/paths.md`.
const PATHS: [&str; 5] = ["cell-trace", "longer-path", "slow-way-back", "writes", "late-window"];

const WIDTH: &str = "--figure-width=120mm";
