//! Every command that the documentation and the help print is one that the program takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::process::run;

/// Files whose lines `firstflight ...` are meant to be typed.
const PAGES: &[&str] = &[
    "README.md",
    "papers/README.md",
    "docs/advise.md",
    "docs/operators.md",
    "docs/transfer.md",
    "docs/threats.md",
    "docs/quic.md",
    "docs/lab.md",
    "docs/sweep.md",
    "docs/results.md",
];

const COMMANDS: &[&str] = &[
    "",
    "reproduce",
    "compare",
    "run",
    "sweep",
    "advise",
    "predict",
    "show",
    "send",
    "recv",
    "measure",
    "link",
    "kernel",
    "kernel what-if",
    "list",
    "schema",
    "self-check",
    "completions",
    "manual",
];

#[test]
fn the_words_of_every_documented_command_are_known() {
    let mut commands = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in PAGES {
        let text = fs::read_to_string(root.join(page)).unwrap();
        // Every second part is code.
        let code: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
        commands.extend(typed(&code.join("\n")).map(|line| (page.to_string(), line)));
    }
    for command in COMMANDS {
        let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
        let help = run(&[&words[..], &["--help"]].concat()).stdout;
        commands.extend(typed(&help).map(|line| (format!("{command} --help"), line)));
    }
    assert!(commands.len() > 60, "{}", commands.len());
    for (place, line) in commands {
        let mut words = words(&line);
        // Before what belongs to another program.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.truncate(end);
        for word in words.iter_mut().filter(|word| word.starts_with("sha256:")) {
            *word = format!("sha256:{}", "0".repeat(64));
        }
        words.push("--help".to_owned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(run(&words).code, 0, "{place}: {line}");
        if quick(&words) {
            let outcome = run(&words[..words.len() - 1]);
            assert_eq!(outcome.code, 0, "{place}: {line}: {}", outcome.stderr);
        }
    }
}

/// What runs in an instant and leaves only files behind.
fn quick(words: &[&str]) -> bool {
    let simulated = !words.contains(&"linux") && !words.contains(&"--on");
    matches!(words[0], "list" | "predict" | "completions")
        || words[0] == "compare" && simulated && !words.contains(&"60s")
}

/// The commands of a text: lines that begin with `firstflight`, in a shell's prompt or not, without
/// remarks, pipes and what follows `&&`, and with their continuation lines.
fn typed(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(|line| line.trim().trim_start_matches("$ ").to_owned());
    let command = |line: &String| line.starts_with("firstflight ") && !line.contains(" = ");
    let lines: Vec<String> = lines.filter(command).collect();
    lines.into_iter().map(|line| {
        let line = line.trim_start_matches("firstflight ");
        let ends = [" #", "  ", " | ", " && ", " > "].iter().filter_map(|end| line.find(end));
        line[..ends.min().unwrap_or(line.len())].trim().to_owned()
    })
}

/// As a shell takes them apart, single quotes only.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// All Rust of the repository, in one text.
fn sources() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    let mut folders = ["crates", "python/src", "examples"].map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    text
}

/// Pages that people write: the root's and those of `docs/`.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "papers/README.md"]
        .map(str::to_owned)
        .to_vec();
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let docs = docs.map(|name| format!("docs/{}", name.to_string_lossy()));
    names.extend(docs.filter(|name| name.ends_with(".md")));
    let read = |name: String| (name.clone(), fs::read_to_string(root.join(name)).unwrap());
    names.into_iter().map(read).collect()
}

/// What stands in back-ticks within the lines of a page, not in blocks of code.
fn in_back_ticks(page: &str) -> Vec<String> {
    let prose = page.split("```").step_by(2);
    let lines = prose.flat_map(str::lines);
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn every_name_and_path_in_back_ticks_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources();
    let words: BTreeSet<&str> =
        sources.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let letters = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (mut names, mut paths, mut wrong) = (0, 0, Vec::new());
    for (page, text) in pages() {
        for word in in_back_ticks(&text) {
            let bare = word.split('(').next().unwrap_or_default();
            let parts: Vec<&str> = bare.split("::").collect();
            if parts.len() > 1 && parts.iter().all(|part| !part.is_empty() && letters(part)) {
                names += 1;
                if !parts.iter().all(|part| words.contains(part) || OTHERS.contains(part)) {
                    wrong.push(format!("{page}: `{word}` is no name of the sources"));
                }
            }
            let first = word.split('/').next().unwrap_or_default();
            let is_path = word.contains('/')
                && FOLDERS.contains(&first)
                && !word.contains([' ', '*', '<', '{', '$']);
            if is_path {
                paths += 1;
                let below = ["", "crates"].map(|above| root.join(above).join(&word));
                if !below.iter().any(|path| path.exists()) {
                    wrong.push(format!("{page}: `{word}` is no path of the repository"));
                }
            }
        }
    }
    assert!(names > 20 && paths > 50, "{names} names, {paths} paths");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Parts of names that are quinn's, which our sources need not say.
const OTHERS: [&str; 2] = ["transport_config", "initial_rtt"];
/// Where a path of the repository begins.
const FOLDERS: [&str; 8] =
    ["crates", "core", "docs", "papers", "python", "scenarios", "examples", "validation"];

/// The page of threats names a test for every bound.
#[test]
fn the_tests_that_the_page_of_threats_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/threats.md")).unwrap();
    let sources = sources();
    let words = page.split('`').skip(1).step_by(2);
    let tests: Vec<&str> =
        words.filter(|word| word.matches('_').count() > 1 && !word.contains(['.', ' '])).collect();
    assert!(tests.len() > 30, "{}", tests.len());
    for test in tests {
        assert!(sources.contains(&format!("fn {test}(")), "no test {test}");
    }
}
