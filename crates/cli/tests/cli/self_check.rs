//! `self-check`: what it says of a machine that has nothing but the program.

use serde_json::Value;

use crate::process::{Outcome, Place};

#[test]
fn parts_that_need_nothing_work_and_the_others_say_what_they_lack() {
    let check = |words: &[&str]| {
        let place = Place::new();
        Outcome::of(place.command(words).env("PATH", "/no-such-folder").output().unwrap())
    };
    let outcome = check(&["self-check", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["schema"], "firstflight/self-check@1");
    let parts = document["parts"].as_array().unwrap();
    let works: Vec<bool> = parts.iter().map(|part| part["works"].as_bool().unwrap()).collect();
    assert_eq!(works[..5], [true, true, false, false, false], "{document}");
    assert!(parts[4]["problem"].as_str().unwrap().contains("apt install qemu"), "{document}");
    let text = check(&["self-check"]).stdout;
    assert!(text.contains("simulator") && text.contains("works"), "{text}");
    assert!(text.contains("Linux's TCP in virtual time: `qemu-system-x86_64`"), "{text}");
}
