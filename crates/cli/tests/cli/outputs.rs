//! Where results go: files appear whole, and what is no regular file stays what it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::{Command, Stdio};

use crate::process::Place;
use crate::small_disk::on_small_disk;

const WORDS: [&str; 5] = ["compare", "newreno", "--duration", "1s", "--csv"];

/// Makes a FIFO or a device in a folder of the test's own; whether it could (devices take root, and
/// a file system that has them).
fn make(place: &Place, command: &[&str]) -> bool {
    let mut made = Command::new(command[0]);
    made.args(&command[1..]).current_dir(place.path(".")).stderr(Stdio::null());
    made.status().is_ok_and(|status| status.success())
}

#[test]
fn a_fifo_is_written_to_and_stays_a_fifo() {
    let place = Place::new();
    assert!(make(&place, &["mkfifo", "pipe"]));
    let mut reader = Command::new("cat");
    let reader = reader.arg(place.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    let outcome = place.run(&[&WORDS[..], &["pipe"]].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(fs::symlink_metadata(place.path("pipe")).unwrap().file_type().is_fifo());
    let read = String::from_utf8(reader.wait_with_output().unwrap().stdout).unwrap();
    assert!(read.starts_with("point,control,") && read.lines().count() == 2, "{read}");
}

#[test]
fn a_link_stays_a_link_wherever_it_leads() {
    let place = Place::new();
    place.write("old.csv", "something longer than nothing");
    symlink("old.csv", place.path("link.csv")).unwrap();
    symlink("new.csv", place.path("dangling.csv")).unwrap();
    for (link, file) in [("link.csv", "old.csv"), ("dangling.csv", "new.csv")] {
        let outcome = place.run(&[&WORDS[..], &[link]].concat());
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{link}");
        assert_eq!(fs::read_to_string(place.path(file)).unwrap().lines().count(), 2);
    }
    symlink("nowhere/new.csv", place.path("lost.csv")).unwrap();
    let outcome = place.run(&[&WORDS[..], &["lost.csv"]].concat());
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("--csv lost.csv: ") && outcome.stdout.is_empty(),
        "{outcome:?}"
    );
}

/// As root in the test's own folder, never those of the machine.
#[test]
fn a_device_is_written_to_and_stays_a_device() {
    let place = Place::new();
    if !make(&place, &["mknod", "null", "c", "1", "3"])
        || !make(&place, &["mknod", "full", "c", "1", "7"])
        || fs::write(place.path("null"), "").is_err()
    {
        eprintln!("skipped: devices take root and a file system that has them");
        return;
    }
    for (device, code) in [("null", 0), ("full", 3)] {
        let outcome = place.run(&[&WORDS[..], &[device]].concat());
        assert_eq!(outcome.code, code, "{outcome:?}");
        assert!(fs::metadata(place.path(device)).unwrap().file_type().is_char_device());
    }
    let page = ["compare", "newreno", "--duration", "1s", "--out", "."];
    assert!(make(&place, &["mknod", "report.html", "c", "1", "3"]));
    assert_eq!(place.run(&page).code, 0);
    let found = fs::metadata(place.path("report.html")).unwrap();
    assert!(found.file_type().is_char_device());
    // `--markdown` has the same rule as `--csv`.
    let document = ["reproduce", "S0-T1a", "--out", "r", "--markdown", "null"];
    assert_eq!(place.run(&document).code, 0);
    assert!(fs::metadata(place.path("null")).unwrap().file_type().is_char_device());
    assert!(place.files().iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn a_hyphen_is_standard_output_which_then_has_nothing_else() {
    let place = Place::new();
    let outcome = place.run(&[&WORDS[..], &["-"]].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.starts_with("point,control,"), "{outcome:?}");
    assert_eq!(outcome.stdout.lines().count(), 2);
    assert!(place.files().is_empty());
    let outcome = place.run(&[&WORDS[..], &["-", "--json"]].concat());
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("--csv - and --json both print"), "{outcome:?}");
}

#[test]
fn what_cannot_be_written_is_found_before_anything_runs() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    for file in ["folder", "folder/..", "x/"] {
        fs::create_dir_all(place.path("x")).unwrap();
        // A run as long as this one would take minutes.
        let words = ["compare", "newreno", "--rate", "10Gbps", "--duration", "1h", "--csv", file];
        let outcome = place.run(&words);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        let message = format!("--csv {file}: a directory; accepted: a file");
        assert!(outcome.stderr.contains(&message), "{outcome:?}");
    }
}

#[test]
fn too_many_traces_for_figures_are_refused_in_words() {
    let place = Place::new();
    let words = ["compare", "newreno", "--flows", "4001", "--duration", "10ms", "--out", "o"];
    let outcome = place.run(&words);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let why = "No figures: 4001 flows in each of 1 runs are 4001 traces, and at most 4000 are kept";
    assert!(outcome.stderr.contains(why), "{outcome:?}");
    let page = fs::read_to_string(place.path("o/report.html")).unwrap();
    assert!(page.contains(why));
}

/// Each command that writes, on a file system of its own that is full before the command ends.
#[test]
fn a_full_disk_ends_every_command_with_exit_code_3() {
    let place = Place::new();
    place.write("ok.toml", "controls = [\"hoe\"]\nduration = \"1s\"\n");
    let commands = [
        "run ok.toml --out small/a",
        "run ok.toml --trace small/b",
        "run ok.toml --on quic --qlog small/c",
        "compare hoe --duration 1s --out small/d",
        "compare hoe newreno --duration 1s --flows 99 --csv small/e.csv",
        "judge hoe --only A1,A2,A3 --quick --out small/f",
        "reproduce table1 --out small/g",
        "manual small/h",
        "list",
    ];
    let mut script = String::new();
    for command in commands {
        let to = if command == "list" { "small/list" } else { "/dev/null" };
        // What is left of one leaves no room for the next.
        script += &format!("\"$0\" {command} > {to}; echo \"{command}: $?\" >&2; rm -rf small/*\n");
    }
    let Some(outcome) = on_small_disk(&place, "12k", &script) else { return };
    let notes = outcome.stderr;
    for command in commands {
        assert!(notes.contains(&format!("\n{command}: 3\n")), "{command}: {notes}");
    }
}

#[test]
fn colours_are_as_the_flag_says_and_without_it_as_the_environment() {
    let place = Place::new();
    let colored = |words: &[&str], variable: Option<&str>| {
        let mut command = place.command(&["compare", "hoe", "--duration", "1s"]);
        command.args(words).envs(variable.map(|name| (name, "1")));
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\u{1b}')
    };
    assert!(colored(&["--color", "always"], Some("NO_COLOR")));
    assert!(!colored(&["--color", "never"], Some("CLICOLOR_FORCE")));
    assert!(colored(&[], Some("CLICOLOR_FORCE")) && !colored(&[], None));
}

#[test]
fn notes_are_left_out_by_quiet_and_what_runs_is_told_by_verbose() {
    let place = Place::new();
    let stderr = |words: &[&str], variable: Option<(&str, &str)>| {
        let words = [words, &["--out", "report"]].concat();
        let mut command = place.command(&["compare", "hoe", "--duration", "1s"]);
        let output = command.args(words).envs(variable).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(stderr(&[], None).contains("report: "));
    assert_eq!(stderr(&["-q"], Some(("RUST_LOG", "trace"))), "");
    let verbose = stderr(&["-v"], None);
    let line = "firstflight_cli::shared: done control=\"hoe\" seed=1";
    assert!(verbose.contains(line) && verbose.contains("report: "), "{verbose}");
    // A flag wins over the environment, which chooses where there is none.
    let both = stderr(&["-v"], Some(("RUST_LOG", "firstflight_cli=off")));
    assert!(both.contains(line), "{both}");
    let chosen = stderr(&[], Some(("RUST_LOG", "firstflight_cli=info")));
    assert!(chosen.contains(line), "{chosen}");
    assert_eq!(stderr(&[], Some(("RUST_LOG", "quinn=debug"))), stderr(&[], None));
    let unreadable = stderr(&[], Some(("RUST_LOG", "quinn=loud")));
    let problem = "RUST_LOG: found \"quinn=loud\"; accepted: off, error,";
    assert!(unreadable.starts_with(problem) && unreadable.contains("report: "), "{unreadable}");
    // Over quinn the stack tells what it does.
    let quic = stderr(&["-vv", "--on", "quic"], None);
    assert!(quic.contains("quinn_proto::connection"), "{quic}");
    let refused = place.command(&["compare", "hoe", "-q", "-v"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
