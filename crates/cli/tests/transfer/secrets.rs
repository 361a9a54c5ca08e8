//! No command shows a secret that it was given: not on a page, in a result, a log or a message.

use std::fs;
use std::path::Path;

use crate::pair::Receiver;
use crate::process::{Outcome, Place};

/// A user's own, with what shells and pages quote.
const SECRET: &str = "it's a <correct> \"horse\" & battery";

/// Everything that a file, a folder or a stream holds, with what it is.
fn collect(place: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(place).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            all.push((path.display().to_string(), text));
        }
    }
}

/// Neither the secret nor a part of it that quoting leaves whole is anywhere.
fn hides(place: &Place, outcomes: Vec<(&str, Outcome)>) {
    let mut all = Vec::new();
    collect(&place.path("."), &mut all);
    for (words, outcome) in outcomes {
        all.push((format!("standard output of {words}"), outcome.stdout));
        all.push((format!("standard error of {words}"), outcome.stderr));
    }
    for (what, text) in all {
        for part in [SECRET, "correct", "horse", "battery"] {
            assert!(!text.contains(part), "`{part}` in {what}: {text}");
        }
    }
}

#[test]
fn no_page_result_log_or_message_holds_a_secret_whatever_command_was_given_it() {
    let place = Place::new();
    place.write("f", "content");
    let flags = firstflight_cli::calls::secret_flags();
    assert!(flags.len() >= 3, "{flags:?}");
    for (command, flag) in flags {
        let given = [format!("--{flag}={SECRET}"), format!("--{flag}")];
        let [equals, flag] = &given;
        let secret = [flag.as_str(), SECRET];
        let recv = ["recv", "--listen", "0", "--discard", "--serve", "--json"];
        let receiver = Receiver::of(place.command(&[&recv[..], &secret].concat()));
        let (to, pin) = (receiver.address.clone(), receiver.pin.clone());
        let send = ["send", &to, "--size", "10kB", "--pin", &pin, "--json"];
        let measure = ["measure", "--to", &to, "--controls", "cubic,astart", "--size", "10kB"];
        let measure = [&measure[..], &["--runs", "1", "--pin", &pin, "--out"]].concat();
        let out = format!("out-{command}");
        let ways: Vec<Vec<&str>> = match command.as_str() {
            "send" => vec![
                [&send[..], &["--qlog", "q.sqlog"], &secret].concat(),
                [&send[..], &[equals.as_str()]].concat(),
                // Refused by the parser, by the file, and by nobody who is there.
                [&send[..], &secret, &["--secret-file", "f"]].concat(),
                [&send[..], &secret, &["--trust", "f"]].concat(),
                [&["send", "9", "f", "--pin", &pin, "--timeout", "1s"], &secret[..]].concat(),
                [&send[..], &[flag.as_str(), &SECRET[..8]]].concat(),
            ],
            "recv" => vec![
                [&recv[..], &secret, &["--secret-file", "f"]].concat(),
                [&["recv", "--listen", "nowhere", "--discard"], &secret[..]].concat(),
                [&["recv", "--listen", "nowhere"], &[equals.as_str()][..]].concat(),
            ],
            "measure" => vec![
                [&measure[..], &[&out, "--json"], &secret].concat(),
                [&measure[..], &[&out, equals.as_str()]].concat(),
                [&measure[..], &["f/out"], &secret].concat(),
            ],
            _ => panic!("{command} {flag}: it takes a secret, and this test has to run it"),
        };
        let ran = ways.iter().map(|words| (words[0], place.run(words)));
        let mut ran: Vec<(&str, Outcome)> = ran.collect();
        receiver.running.interrupt();
        ran.push(("recv", receiver.running.end()));
        hides(&place, ran);
    }
    // What is left is what the secret was for.
    assert!(place.path("q.sqlog").exists() && place.path("out-measure/report.html").exists());
    let page = fs::read_to_string(place.path("out-measure/report.html")).unwrap();
    assert!(page.contains("--secret ...") || page.contains("--secret=..."), "{page}");
}

/// A command line within a word, as `link` and `judge` take them, is as bare.
#[test]
fn a_message_holds_no_secret_of_a_command_within_a_command() {
    let place = Place::new();
    let words = format!("recv --secret '{}'", SECRET.replace('\'', ""));
    let outcome = place.run(&[
        "link",
        "--rate",
        "4",
        "--serve",
        &words,
        "--",
        "send",
        "--secret=a correct horse",
    ]);
    assert_eq!(outcome.code, 2);
    hides(&place, vec![("link", outcome)]);
    let line = format!("no-such-program --secret '{}'", SECRET.replace('\'', ""));
    let words = ["judge", "--on", "linux", "--virtual-time", "--server", &line, "--client", &line];
    let outcome = place.run(&words);
    assert_ne!(outcome.code, 0);
    hides(&place, vec![("judge", outcome)]);
}
