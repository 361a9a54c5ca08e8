//! A disk that takes no more: in a way that every Unix has, and with a small file system of its own
//! where the test may mount one.

use std::env;
use std::fs;
use std::process::Command;

use crate::pair::{Receiver, complaint, content};
use crate::process::Place;

/// What has to hold, however little there is.
fn holds(place: &Place, receiver: Receiver, problem: &str) {
    place.write("f", content(6_000_000));
    let outcome = receiver.send(place, &["f"]);
    let ended = receiver.running.end();
    assert_eq!((outcome.code, ended.code), (1, 3), "{outcome:?} {ended:?}");
    for text in [complaint(&outcome), complaint(&ended)] {
        assert!(text.contains("f.part") && text.contains(problem), "{text}");
    }
    assert!(complaint(&outcome).contains("the receiver gave up"), "{outcome:?}");
}

/// `sh` runs the command after its own lines.
fn after(place: &Place, lines: &str, around: &[&str]) -> Command {
    let script = format!("{lines}\nexec \"$@\"");
    let recv = place.command(&["recv", "--listen", "0", "--dir", "in"]);
    let shell = ["sh", "-c", &script, "sh"];
    let words: Vec<&str> = around.iter().copied().chain(shell).collect();
    let mut command = place.command(&[]);
    let directory = command.get_current_dir().unwrap().to_owned();
    command = Command::new(words[0]);
    command.args(&words[1..]).arg(recv.get_program()).args(recv.get_args());
    command.current_dir(directory).stdin(std::process::Stdio::null());
    command
}

#[test]
fn a_limit_on_the_size_of_files_is_told_to_both_and_what_fits_is_kept() {
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    // Blocks of 512 bytes; without the trap the signal would end the program.
    let receiver = Receiver::of(after(&place, "trap '' XFSZ; ulimit -f 4000", &[]));
    holds(&place, receiver, "File too large");
    assert!(!place.path("in/f").exists());
    assert!(place.path("in/f.part").exists(), "for the next attempt, with more room");

    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let outcome = receiver.send(&place, &["f"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("were there already"), "{outcome:?}");
    assert_eq!(receiver.running.end().code, 0);
    assert!(fs::read(place.path("in/f")).unwrap() == content(6_000_000), "the content differs");
}

#[test]
fn a_file_that_the_file_system_has_no_room_for_is_refused_before_it_comes() {
    let mount = ["unshare", "--mount", "--map-root-user"];
    let tried = Command::new(mount[0])
        .args(&mount[1..])
        .args(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", env!("CARGO_TARGET_TMPDIR")])
        .output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        let required = env::var_os("FIRSTFLIGHT_REQUIRE_TMPFS").is_some_and(|value| value == "1");
        assert!(!required, "no tmpfs, but FIRSTFLIGHT_REQUIRE_TMPFS asks for one");
        eprintln!("skipped: a full file system: no tmpfs can be mounted in a namespace here");
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    let lines = "mount -t tmpfs -o size=1m tmpfs in || exit 9";
    let receiver = Receiver::of(after(&place, lines, &mount));
    holds(&place, receiver, "no room for 6000000 bytes more");
}
