//! Files that a user names: what is no regular file, or longer than any of its kind.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::bad_input::refused;
use crate::process::{Outcome, Place};

/// Every file that a user names, by what names it: a device that never ends, one that is not there,
/// a directory, a FIFO that nobody writes to, and a file longer than any of its kind.
#[test]
fn a_file_that_a_user_names_is_a_regular_one_with_a_bound_and_is_told_with_what_names_it() {
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(["recv".to_owned()]).unwrap();
    place.write("recv.pem", made.cert.pem());
    let long = File::create(place.path("long")).unwrap();
    long.set_len(1 << 30).unwrap();
    long.set_permissions(Permissions::from_mode(0o600)).unwrap();
    let made = Command::new("mkfifo").arg(place.path("fifo")).status();
    assert!(made.unwrap().success());
    let pin = ["sha256:", &"5f".repeat(32)].concat();
    let send = ["send", "127.0.0.1:9", "--size", "5B"];
    let known = [&send[..], &["--pin", &pin]].concat();
    let recv = ["recv", "--listen", "0", "--discard"];
    let measure = ["measure", "--to", "9", "--controls", "hoe,hoe"];
    let jump = [&known[..], &["--control", "jump-start"]].concat();
    let cases: &[(&[&str], &str)] = &[
        (&[&send[..], &["--trust"]].concat(), "--trust "),
        (&[&recv[..], &["--trust"]].concat(), "--trust "),
        (&[&measure[..], &["--trust"]].concat(), "--trust "),
        (&[&known[..], &["--key", "recv.pem", "--cert"]].concat(), "--cert "),
        (&[&recv[..], &["--key", "recv.pem", "--cert"]].concat(), "--cert "),
        (&[&recv[..], &["--cert", "recv.pem", "--key"]].concat(), "--key "),
        (&[&known[..], &["--secret-file"]].concat(), "--secret-file "),
        (&[&recv[..], &["--secret-file"]].concat(), "--secret-file "),
        (&[&measure[..], &["--pin", &pin, "--secret-file"]].concat(), "--secret-file "),
        (&[&jump[..], &["--paths"]].concat(), "--paths "),
        (&["run"], ""),
        (&["sweep"], ""),
    ];
    for (words, names) in cases {
        for (file, problem) in [
            ("/dev/zero", "no regular file"),
            ("fifo", "no regular file"),
            (".", "this is a directory"),
            ("none", "no such file"),
            ("long", "the file is larger than "),
        ] {
            if file == "none" && *names == "--paths " {
                continue; // It is made.
            }
            let outcome = place.run(&[words, &[file][..]].concat());
            refused(&outcome, 2, &[&format!("{names}{file}: {problem}"), "accepted: "]);
        }
    }
    // What a grid file names.
    for file in ["/dev/zero", "fifo", "long"] {
        for key in ["points", "scenario"] {
            let other = if key == "points" { "scenario = { controls = ['hoe'] }\n" } else { "" };
            place.write("g.toml", format!("{other}{key} = '{file}'\n"));
            refused(&place.run(&["sweep", "g.toml"]), 2, &[file, ": ", "accepted: "]);
        }
    }
}

#[test]
fn a_scenario_is_read_from_standard_input_too() {
    let place = Place::new();
    place.write("x.toml", "name = 'x'\ncontrols = ['hoe']\nduration = '100ms'\n");
    let file = File::open(place.path("x.toml")).unwrap();
    let piped = place.command(&["run", "-", "--csv", "-"]).stdin(file).output().unwrap();
    assert_eq!(Outcome::of(piped).stdout, place.run(&["run", "x.toml", "--csv", "-"]).stdout);
    let nothing = place.run(&["run", "-"]);
    refused(&nothing, 2, &["standard input: the file is empty"]);
}
