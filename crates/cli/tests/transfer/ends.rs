//! Transfers that break off: each side says why in one line, and no file has the final name that is
//! not whole.

use std::fs;
use std::io::Write as _;
use std::net::UdpSocket;
use std::process::Command;

use crate::pair::{Receiver, complaint, content, wait_for};
use crate::process::Place;

/// Long enough to be caught in the middle.
const LONG: usize = 60_000_000;
/// A first part of it that is surely more than one packet.
const SOME: u64 = 2_000_000;

#[test]
fn a_killed_sender_is_missed_and_the_transfer_goes_on_where_it_stopped() {
    let place = Place::new();
    let sent = content(LONG);
    place.write("f", &sent);
    let receiver = Receiver::new(&place, &["--dir", "in", "--timeout", "1s"]);
    let sending = receiver.sending(&place, &["f"]);
    wait_for(&place, "in/f.part", SOME);
    sending.kill();
    let ended = receiver.running.end();
    assert_eq!(ended.code, 1, "{ended:?}");
    let text = complaint(&ended);
    assert!(text.contains("the sender vanished: nothing came from it for 1 s"), "{text}");
    assert!(text.contains("bytes are kept in") && text.contains("f.part"), "{text}");
    assert!(!place.path("in/f").exists());

    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let outcome = receiver.send(&place, &["f"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("were there already"), "{outcome:?}");
    assert_eq!(receiver.running.end().code, 0);
    assert!(fs::read(place.path("in/f")).unwrap() == sent, "the content differs");
    assert!(!place.path("in/f.part").exists());
}

#[test]
fn a_killed_receiver_is_missed_and_the_transfer_goes_on_where_it_stopped() {
    let place = Place::new();
    let sent = content(LONG);
    place.write("f", &sent);
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let sending = receiver.sending(&place, &["f", "--timeout", "1s", "--json"]);
    wait_for(&place, "in/f.part", SOME);
    receiver.running.kill();
    let ended = sending.end();
    assert_eq!(ended.code, 1, "{ended:?}");
    let results: firstflight_results::Results = serde_json::from_str(&ended.stdout).unwrap();
    let run = &results.runs[0];
    assert_eq!((&*run.control, &*run.transport), ("slow-start+cubic", "quic"));
    assert!(run.note.as_ref().unwrap().starts_with("failed: the receiver vanished"), "{run:?}");
    assert_eq!(run.flows[0].completion_time_s, None);
    assert!(run.flows[0].delivered_bytes < LONG as u64, "{run:?}");
    let text = complaint(&ended);
    assert!(text.contains("the receiver vanished: nothing came from it for 1 s"), "{text}");
    assert!(text.contains("send it again to go on"), "{text}");
    assert!(!place.path("in/f").exists());

    let receiver = Receiver::new(&place, &["--dir", "in", "--json"]);
    assert_eq!(receiver.send(&place, &["f"]).code, 0);
    let ended = receiver.running.end();
    let results: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let resumed = results["scenario"]["resumed_from_bytes"].as_u64().unwrap();
    assert!(resumed >= SOME, "{resumed}");
    let delivered = &results["runs"][0]["flows"][0]["delivered_bytes"];
    assert_eq!(delivered.as_u64().unwrap() + resumed, LONG as u64);
    assert!(fs::read(place.path("in/f")).unwrap() == sent, "the content differs");
}

#[test]
fn ctrl_c_at_the_sender_is_told_to_both() {
    let place = Place::new();
    place.write("f", content(LONG));
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let sending = receiver.sending(&place, &["f"]);
    wait_for(&place, "in/f.part", SOME);
    sending.interrupt();
    let (sender, receiver) = (sending.end(), receiver.running.end());
    assert_eq!((sender.code, receiver.code), (130, 1), "{sender:?} {receiver:?}");
    assert!(complaint(&sender).contains("interrupted; send it again to go on"), "{sender:?}");
    let text = complaint(&receiver);
    assert!(text.contains("the sender gave up: interrupted"), "{text}");
    assert!(text.contains("bytes are kept in"), "{text}");
    assert!(!place.path("in/f").exists() && place.path("in/f.part").exists());
}

#[test]
fn ctrl_c_at_the_receiver_is_told_to_both() {
    let place = Place::new();
    place.write("f", content(LONG));
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let sending = receiver.sending(&place, &["f"]);
    wait_for(&place, "in/f.part", SOME);
    receiver.running.interrupt();
    let (sender, receiver) = (sending.end(), receiver.running.end());
    assert_eq!((sender.code, receiver.code), (1, 130), "{sender:?} {receiver:?}");
    assert!(complaint(&sender).contains("the receiver gave up: interrupted"), "{sender:?}");
    assert!(complaint(&receiver).contains("kept for the next attempt"), "{receiver:?}");
    assert!(!place.path("in/f").exists() && place.path("in/f.part").exists());
}

#[test]
fn nobody_there_is_told_with_what_to_look_at() {
    let place = Place::new();
    // A port that was free a moment ago, on which nothing listens.
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let pin = format!("sha256:{}", "0".repeat(64));
    let words = ["send", &free, "--size", "1kB", "--pin", &pin, "--timeout", "1s"];
    let outcome = place.run(&words);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let text = complaint(&outcome);
    assert!(text.contains(&format!("nobody answered at {free} within 1 s")), "{text}");
}

#[test]
fn another_certificate_is_not_talked_to() {
    let place = Place::new();
    place.write("f", "secret");
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let pin = format!("sha256:{}", "0".repeat(64));
    let outcome = place.run(&["send", &receiver.address, "f", "--pin", &pin]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let text = complaint(&outcome);
    assert!(
        text.contains("is not the one given with --pin or --trust: it showed sha256:"),
        "{text}"
    );
    assert!(text.contains(&receiver.pin), "{text}");
    receiver.running.interrupt();
    let ended = receiver.running.end();
    assert_eq!(ended.code, 130, "recv goes on waiting for the right one: {ended:?}");
    let message =
        "came to nothing: the sender does not trust this certificate; it has another --pin";
    assert!(ended.stderr.contains(message), "{ended:?}");
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_there_is_kept_unless_force_is_given() {
    let place = Place::new();
    place.write("f", "new");
    fs::create_dir(place.path("in")).unwrap();
    place.write("in/f", "old");
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let outcome = receiver.send(&place, &["f"]);
    let ended = receiver.running.end();
    assert_eq!((outcome.code, ended.code), (1, 1), "{outcome:?} {ended:?}");
    for text in [complaint(&outcome), complaint(&ended)] {
        assert!(text.contains("there already; recv --force replaces it"), "{text}");
    }
    assert_eq!(fs::read(place.path("in/f")).unwrap(), b"old");

    let receiver = Receiver::new(&place, &["--dir", "in", "--force"]);
    assert_eq!(receiver.send(&place, &["f"]).code, 0);
    assert_eq!(receiver.running.end().code, 0);
    assert_eq!(fs::read(place.path("in/f")).unwrap(), b"new");
}

#[test]
fn a_file_that_changes_while_it_is_sent_gets_no_name() {
    let place = Place::new();
    place.write("f", content(LONG));
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    let sender = receiver.sending(&place, &["f"]);
    wait_for(&place, "in/f.part", 1);
    fs::OpenOptions::new().append(true).open(place.path("f")).unwrap().write_all(b"x").unwrap();
    let (sent, received) = (sender.end(), receiver.running.end());
    assert_eq!((sent.code, received.code), (1, 1), "{sent:?} {received:?}");
    for text in [complaint(&sent), complaint(&received)] {
        assert!(text.contains("f: it changed while it was being sent"), "{text}");
    }
    assert!(!place.path("in/f").exists());
}

#[test]
fn a_second_sender_is_told_that_the_receiver_is_busy() {
    let place = Place::new();
    place.write("f", "content");
    let receiver = Receiver::new(&place, &["--discard", "--serve"]);
    let first = receiver.sending(&place, &["--duration", "60s", "--qlog", "log"]);
    wait_for(&place, "log", 100_000);
    let second = receiver.send(&place, &["f"]);
    assert_eq!(second.code, 1, "{second:?}");
    assert!(complaint(&second).contains("it is busy with other transfers"), "{second:?}");
    first.kill();
}

#[test]
fn a_second_sender_does_not_wait_for_the_first_and_ctrl_c_ends_both() {
    let place = Place::new();
    let receiver = Receiver::new(&place, &["--discard", "--serve", "--concurrent", "3"]);
    let endless = |log| receiver.sending(&place, &["--duration", "60s", "--qlog", log]);
    let mut first = [endless("a"), endless("b")].into_iter();
    wait_for(&place, "a", 100_000);
    wait_for(&place, "b", 100_000);
    assert_eq!(receiver.send(&place, &["--size", "1MB"]).code, 0);
    receiver.running.interrupt();
    let ended = receiver.running.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.stdout.contains("1.000 MB, not stored, from 127.0.0.1:"), "{ended:?}");
    assert_eq!(ended.stderr.matches("firstflight: interrupted").count(), 2, "{ended:?}");
    let all_gave_up = first.all(|sending| sending.end().stderr.contains("the receiver gave up"));
    assert!(all_gave_up, "each is told");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_wants_another_and_a_pipe_is_no_file() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff");
    fs::write(place.path(".").join(name), "content").unwrap();
    let pin = format!("sha256:{}", "0".repeat(64));
    let mut command = place.command(&["send", "4433", "--pin", &pin]);
    let output = command.arg(name).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("its name is not UTF-8; send --name"), "{errors}");

    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    let outcome = place.run(&["send", "4433", "pipe", "--pin", &pin]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(complaint(&outcome).contains("FILE pipe: no regular file"), "{outcome:?}");
}

#[test]
fn what_has_no_size_is_not_sent() {
    let place = Place::new();
    let pin = format!("sha256:{}", "0".repeat(64));
    let outcome = place.run(&["send", "4433", "/proc/self/status", "--pin", &pin]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let message = "FILE /proc/self/status: its size says 0, and its content does not; accepted: ";
    assert!(complaint(&outcome).contains(message), "{outcome:?}");
}

#[test]
fn what_a_receiver_does_not_take_is_told_to_both() {
    let place = Place::new();
    place.write("f", "content");
    let refused = |words: &[&str], part: &str| {
        let receiver = Receiver::new(&place, &["--dir", "in"]);
        let outcome = receiver.send(&place, words);
        let ended = receiver.running.end();
        assert_eq!((outcome.code, ended.code), (1, 1), "{outcome:?} {ended:?}");
        assert!(complaint(&outcome).contains(part), "{outcome:?}");
        assert!(complaint(&ended).contains(part), "{ended:?}");
        ended.stderr
    };
    let text = refused(&["--size", "1kB"], "recv --discard takes what belongs to none");
    assert!(text.starts_with("made the folder in, which was not there\n"), "{text}");
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 0);
    fs::create_dir(place.path("in/d")).unwrap();
    let text = refused(&["f", "--name", "d"], "d: a directory; send --name calls the file");
    assert!(text.contains(": in/d: a directory") && !text.contains("made"), "{text}");
    assert!(fs::read(place.path("f")).unwrap() == b"content");
}

#[test]
fn wrong_words_are_told_before_anybody_is_asked() {
    let place = Place::new();
    place.write("f", "content");
    place.write("no.pem", "no certificate");
    let pin = format!("sha256:{}", "0".repeat(64));
    let refused = |words: &[&str], part: &str| {
        let outcome = place.run(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(complaint(&outcome).contains(part), "no `{part}` in {outcome:?}");
    };
    refused(&["send", "4433", "f"], "--pin");
    refused(&["send", "4433", "f", "--pin", "12"], "`12` is no fingerprint; accepted: sha256:");
    refused(&["send", "4433", "f", "--trust", "no.pem"], "accepted: certificates in PEM");
    refused(&["send", "4433", "f", "--trust", "none"], "--trust none: no such file");
    refused(&["send", "4433", "f", "--pin", &pin, "--name", "../f"], "`../f`: a name with");
    refused(&["send", "4433", "f", "--pin", &pin, "--name", "f.part"], "ends with .part");
    refused(
        &["send", "4433", "f", "--pin", &pin, "--qlog", "./f"],
        "f: the file to send; accepted",
    );
    refused(&["send", "4433", "--pin", &pin], "FILE");
    refused(&["send", "4433", "none", "--pin", &pin], "FILE none: no such file");
    refused(&["send", "4433", ".", "--pin", &pin], "FILE .: this is a directory");
    refused(&["send", "here", "f", "--pin", &pin], "here: found no port");
    refused(&["send", "4433", "f", "--pin", &pin, "--control", "astrat"], "did you mean `astart`");
    refused(&["send", "4433", "f", "--pin", &pin, "--timeout", "1ms"], "accepted: 1 s to 3600 s");
    refused(&["send", "4433", "f", "--pin", &pin, "--qlog", "no/a.sqlog"], "--qlog no/a.sqlog");
    refused(&["send", "4433", "f", "--pin", &pin, "--cert", "no.pem"], "--key");
    refused(&["recv", "--listen", "1.2.3.4"], "HOST:PORT");
    refused(&["recv", "--dir", "f"], "f is not a directory");
    refused(&["recv", "--listen", "0", "--trust", "no.pem"], "accepted: certificates in PEM");
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&["recv", "--listen", &address], "port 0 for any that is free");
    assert_eq!(fs::read(place.path("f")).unwrap(), b"content");
}
