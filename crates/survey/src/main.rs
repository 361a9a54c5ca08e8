//! Every start-up on one path, and over a grid of them: `docs/startups.md`, its pictures, and all
//! numbers as CSV; and `docs/scout.md`. The start-ups, and what is said of them, are those of the
//! cards.

mod grid;
mod page;
mod picture;
mod scout;
mod summary;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use firstflight_report::write_file;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(folder), None) = (args.next(), args.next()) else {
        eprintln!("usage: firstflight-survey FOLDER, such as docs");
        return ExitCode::from(2);
    };
    match survey(&PathBuf::from(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("firstflight-survey: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn survey(folder: &Path) -> Result<(), Box<dyn Error>> {
    let runs = grid::measure()?;
    write_file(&folder.join("startups.csv"), grid::csv(&runs))?;
    let summaries = summary::of(&runs);
    for (name, svg) in picture::maps(&summaries).into_iter().chain(picture::windows()?) {
        write_file(&folder.join(picture::FOLDER).join(format!("{name}.svg")), &svg)?;
    }
    write_file(&folder.join("startups.md"), page::markdown(&summaries))?;
    let (name, svg) = scout::queue()?;
    write_file(&folder.join(picture::FOLDER).join(format!("{name}.svg")), &svg)?;
    write_file(&folder.join("scout.md"), scout::markdown()?)?;
    Ok(())
}
