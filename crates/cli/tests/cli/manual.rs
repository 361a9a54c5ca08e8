//! Manual pages: one for the program and one for each command.

use std::fs;

use crate::process::{Place, run};

#[test]
fn every_command_has_a_page_of_the_manual() {
    let place = Place::new();
    assert_eq!(place.run(&["manual", "man/man1"]).code, 0);
    let page = |name: &str| fs::read_to_string(place.path("man/man1").join(name)).unwrap();
    let whole = page("firstflight.1");
    assert!(whole.contains("\n.SH EXAMPLES\n.nf\n") && whole.contains(".SH \"EXIT STATUS\"\n"));
    let compare = page("firstflight-compare.1");
    assert!(compare.contains("\n.TH firstflight-compare 1 "), "{compare}");
    assert!(compare.contains(r"\-\-access\-delay"), "{compare}");
    assert!(page("firstflight-kernel-load.1").contains("firstflight kernel load"));
    let help = run(&["--help"]).stdout;
    let listed = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    // What is told of a command may go on in the next line, further to the right.
    let lines = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert!(commands.contains(&"manual"), "{commands:?}");
    for command in commands.into_iter().filter(|command| !["", "help"].contains(command)) {
        page(&format!("firstflight-{command}.1"));
    }
}

#[test]
fn a_folder_that_cannot_be_is_refused() {
    let place = Place::new();
    place.write("file", "");
    let outcome = place.run(&["manual", "file/man1"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("FOLDER file/man1: file is not a directory"), "{outcome:?}");
}
