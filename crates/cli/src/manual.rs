//! `manual`: manual pages of the same definitions as the help.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use firstflight_report::ReportError;

use crate::args::Cli;
use crate::failure::{Failure, Status};
use crate::output;

/// Write the manual pages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder that takes them
    folder: PathBuf,
}

const EXAMPLES: &str = "\
There is one page for the program and one for each command: firstflight(1), firstflight-compare(1).
The Debian package brings them.

Examples:
  firstflight manual ~/.local/share/man/man1";

/// Runs the command.
pub(crate) fn manual(args: &Args) -> Result<Status, Failure> {
    output::check_directory("FOLDER", &args.folder)?;
    write(&args.folder).map_err(ReportError::write(&args.folder))?;
    Ok(Status::Done)
}

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    // Only then a command knows the words before its own.
    program.build();
    let mut left = vec![program];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned());
        let (name, page) = page(command)?;
        fs::write(folder.join(name), page)?;
    }
    Ok(())
}

/// The name of a command's page, and the page.
fn page(command: Command) -> io::Result<(String, Vec<u8>)> {
    let remarks = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.after_help(Resettable::Reset))
        .manual("firstflight")
        .source(concat!("firstflight ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    sections(&remarks).to_writer(&mut page)?;
    Ok((man.get_filename(), page))
}

/// What stands below the flags in the help: examples as they are typed, and remarks, which are
/// filled to the width of the page.
fn sections(remarks: &str) -> Roff {
    let mut roff = Roff::new();
    let mut section = "";
    let mut verbatim = false;
    for line in remarks.lines() {
        if verbatim != line.starts_with(' ') {
            verbatim = !verbatim;
            roff.control(if verbatim { "nf" } else { "fi" }, []);
        }
        let wanted = match line {
            "Examples:" => "EXAMPLES",
            _ if line.starts_with("Exit codes:") => "EXIT STATUS",
            _ if line.is_empty() || verbatim => section,
            // Text below examples is about something else.
            _ if ["", "EXAMPLES"].contains(&section) => "NOTES",
            _ => section,
        };
        if wanted != section {
            section = wanted;
            roff.control("SH", [section]);
        }
        match line {
            "Examples:" => {}
            "" => drop(roff.control("PP", [])),
            _ => drop(roff.text([roman(line.strip_prefix("Exit codes: ").unwrap_or(line))])),
        }
    }
    if verbatim {
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_remarks_are_filled() {
        let remarks = "Told\nfirst.\n\nExamples:\n  a  b\n  .c 'd'\n\nLast.\n\nExit codes: 0 done";
        let text = sections(remarks).to_roff();
        let wanted = ".SH NOTES\nTold\nfirst.\n.PP\n.SH EXAMPLES\n.nf\n  a  b\n  .c 'd'\n.fi\n.PP\n\
            .SH NOTES\nLast.\n.PP\n.SH \"EXIT STATUS\"\n0 done\n";
        assert_eq!(text, wanted);
    }
}
