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
    // The summary of a command may go on in the next line, further to the right.
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

#[test]
fn a_shell_completes_the_names_of_controls_and_the_words_of_keys() {
    let place = Place::new();
    place.write("completions", place.run(&["completions", "bash"]).stdout);
    for (typed, wanted) in [
        (&["judge", "hystart-"][..], "hystart-pp"),
        (&["run", "x.toml", "--recovery", "ra"], "rack"),
        (&["scenarios", "C1"], "C1-wifi"),
        (&["compare", "--on", "no"], "noq"),
        (&["list", "pi"], "pie"),
    ] {
        let [.., before, last] = typed else { unreachable!("two words at least") };
        let script = format!(
            ". ./completions; COMP_WORDS=(firstflight {}); COMP_CWORD={}; \
             _firstflight firstflight '{last}' '{before}'; printf '%s\n' \"${{COMPREPLY[@]}}\"",
            typed.join(" "),
            typed.len()
        );
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &script]).current_dir(place.path(""));
        let Ok(output) = bash.output() else {
            println!("skipped: no bash");
            return;
        };
        let words = String::from_utf8(output.stdout).unwrap();
        assert!(words.lines().any(|line| line == wanted), "{typed:?}: {words}");
    }
}
