//! Who may send, and how much.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;

use crate::pair::{Receiver, complaint, content, private};
use crate::process::{Outcome, Place};

/// Sends with other words about who it is than the receiver printed.
fn send_as(place: &Place, receiver: &Receiver, words: &[&str]) -> Outcome {
    let to = ["send", &receiver.address, "f", "--pin", &receiver.pin];
    place.run(&[&to[..], words].concat())
}

#[test]
fn without_the_secret_nothing_is_taken_and_the_message_says_what_to_type() {
    let place = Place::new();
    place.write("f", "content");
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    assert_eq!(receiver.secret.len(), 32, "it is printed: {}", receiver.secret);
    let absent = send_as(&place, &receiver, &[]);
    assert_eq!(absent.code, 1, "{absent:?}");
    for part in ["--secret-file FILE", "FIRSTFLIGHT_SECRET", "--allow-anyone"] {
        assert!(complaint(&absent).contains(part), "{part}: {absent:?}");
    }
    let wrong = send_as(&place, &receiver, &["--secret", &"0".repeat(32)]);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    assert!(complaint(&wrong).contains("its secret is not the one given here"), "{wrong:?}");
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 0);

    assert_eq!(receiver.send(&place, &["f"]).code, 0);
    let ended = receiver.running.end();
    assert_eq!(ended.code, 0, "strangers end nothing: {ended:?}");
    assert!(ended.stderr.contains("came to nothing: it has no secret"), "{ended:?}");
    assert!(ended.stderr.contains("came to nothing: it has another secret"), "{ended:?}");
    let mode = fs::metadata(place.path("in/f")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_secret_comes_from_a_file_or_a_variable_and_is_then_not_printed() {
    let place = Place::new();
    let secret = "correct horse battery staple";
    private(&place, "secret", &format!("{secret}\n"));
    let receiver = Receiver::new(&place, &["--discard", "--secret-file", "secret"]);
    let mut command =
        place.command(&["send", &receiver.address, "--pin", &receiver.pin, "--size", "1kB"]);
    let sent = command.env("FIRSTFLIGHT_SECRET", secret).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    let ended = receiver.running.end();
    assert!(ended.stderr.contains("--secret-file FILE"), "{ended:?}");
    assert!(!ended.stderr.contains("horse"), "{ended:?}");
}

#[test]
fn a_key_or_a_secret_that_others_can_read_is_refused() {
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(["recv".to_owned()]).unwrap();
    place.write("recv.pem", made.cert.pem());
    private(&place, "recv.key", &made.signing_key.serialize_pem());
    private(&place, "secret", &"s".repeat(32));
    for (mode, name, words) in [
        (0o644, "recv.key", ["--cert", "recv.pem", "--key", "recv.key"]),
        (0o640, "secret", ["--secret-file", "secret", "--timeout", "5s"]),
    ] {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.path(name), permissions).unwrap();
        let outcome = place.run(&[&["recv", "--listen", "0", "--discard"], &words[..]].concat());
        assert_eq!(outcome.code, 2, "{outcome:?}");
        let message = format!("{name}: others can read it (mode {mode:03o}; chmod 600 {name})");
        assert!(complaint(&outcome).contains(&message), "{outcome:?}");
    }
}

#[test]
fn who_takes_from_anybody_keeps_nothing_that_broke_off_and_has_bounds() {
    let place = Place::new();
    place.write("f", content(300_000));
    fs::create_dir(place.path("in")).unwrap();
    // What somebody else began.
    place.write("in/f.part", &content(300_000)[..100_000]);
    let words = ["--dir", "in", "--allow-anyone", "--serve", "--max-size", "300kB"];
    let receiver = Receiver::new(&place, &[&words[..], &["--max-files", "2"]].concat());
    assert!(receiver.secret.is_empty());
    let first = receiver.send(&place, &["f"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(!first.stdout.contains("already"), "it did not learn of it: {first:?}");
    assert_eq!(fs::read(place.path("in/f.part")).unwrap().len(), 100_000);

    place.write("g", content(300_001));
    let large = receiver.send(&place, &["g"]);
    assert!(complaint(&large).contains("more than recv --max-size 300000B takes"), "{large:?}");
    assert_eq!(receiver.send(&place, &["f", "--name", "h"]).code, 0);
    let ended = receiver.running.end();
    assert_eq!(ended.code, 0, "after as many as it may take: {ended:?}");
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 3);
}

#[test]
fn names_that_mislead_are_refused_with_another_way() {
    let place = Place::new();
    place.write("f", "content");
    for name in [".bashrc", "-rf", "photo\u{202e}gpj.exe", "a\u{2066}b"] {
        let pin = format!("sha256:{}", "0".repeat(64));
        let named = format!("--name={name}");
        let outcome = place.run(&["send", "4433", "f", "--pin", &pin, &named]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        let text = complaint(&outcome);
        assert!(text.contains("send --name gives it another"), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "it is escaped: {text}");
    }
}

#[test]
fn a_partial_file_that_is_a_link_is_not_followed() {
    let place = Place::new();
    place.write("f", "content");
    place.write("outside", "precious");
    fs::create_dir(place.path("in")).unwrap();
    symlink("../outside", place.path("in/f.part")).unwrap();
    let receiver = Receiver::new(&place, &["--dir", "in", "--force"]);
    let outcome = receiver.send(&place, &["f"]);
    let ended = receiver.running.end();
    assert_eq!((outcome.code, ended.code), (1, 1), "{outcome:?} {ended:?}");
    assert!(complaint(&ended).contains("f.part: a symbolic link"), "{ended:?}");
    assert_eq!(fs::read(place.path("outside")).unwrap(), b"precious");
}
