//! Mutation testing of the core: `cargo mutants` changes one thing at a time in the policies, the
//! estimators and the sender, and the core's own tests must notice each change. Mutants that no
//! test can tell from the original are listed with their reasons in `crates/core/mutants.toml`.
//!
//! It runs in a copy of the core, because the modules of the policies are declared inside a macro,
//! where `cargo mutants` does not look: the copy declares them once more, switched off.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Stop;
use crate::step::{announce, cargo, read_toml, target, unable, which};

/// What may be asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    /// Files below `crates/core/src`; all that are to be tested if none is named.
    only: Vec<String>,
    /// Part I of N, counted from 0.
    shard: Option<String>,
}

/// The list of mutants that no test can notice.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    equivalent: Vec<Mutant>,
}

/// One change. The line's text finds it again when lines are added above it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    /// Below `crates/core/src`.
    file: String,
    /// The line that is changed, without its indentation.
    line: String,
    /// The change, in the words of `cargo mutants`.
    change: String,
    /// Why nobody can notice it; empty for a mutant that a run reports.
    #[serde(default)]
    why: String,
}

/// Runs the mutants asked for and compares the survivors with the list.
pub(crate) fn mutants(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked = Asked::read(root, args)?;
    if which("cargo-mutants").is_none() {
        let how = "mutants: cargo-mutants is missing; cargo install --locked cargo-mutants";
        return Err(Stop::lacks(how));
    }
    let list: List = read_toml(&root.join(LIST))?;
    list.check(root)?;
    let folder = root.join(target(root)).join("mutants");
    let tree = folder.join("tree");
    copy(root, &tree).map_err(|error| unable("mutants", &error))?;
    announce("mutants of the core");
    let mut command = cargo(&tree, &["mutants", "--in-place", "--no-shuffle", "--output"]);
    command.arg(&folder).args(["--test-package", "firstflight-core", "--timeout", WALL_SECONDS]);
    for file in &asked.only {
        command.arg("--file").arg(format!("{SOURCES}/{file}"));
    }
    if let Some(shard) = &asked.shard {
        command.args(["--shard", shard]);
    }
    // The same draws for every mutant, none kept for the next, and no time for finding the smallest.
    command.env("PROPTEST_RNG_SEED", "1").env("PROPTEST_MAX_SHRINK_ITERS", "0");
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.env("CARGO_TARGET_DIR", folder.join("build")).args(["--", "--lib", "--tests"]);
    let status = command.status().map_err(|error| unable("cargo mutants", &error))?;
    // 2 and 3: mutants were missed, or ran into their time limit.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(Stop::failed(&format!("cargo mutants: failed, {status}")));
    }
    let missed = folder.join("mutants.out/missed.txt");
    let missed = fs::read_to_string(missed).map_err(|error| unable("missed.txt", &error))?;
    let survivors = survivors(root, &missed)?;
    let whole = asked.shard.is_none();
    list.judge(&survivors, |file| whole && asked.only.iter().any(|only| only == file))
}

/// The core alone, as a workspace of its own.
fn copy(root: &Path, tree: &Path) -> std::io::Result<()> {
    if tree.exists() {
        fs::remove_dir_all(tree)?;
    }
    copy_folder(&root.join("crates/core"), &tree.join("crates/core"))?;
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    fs::write(tree.join("Cargo.toml"), manifest.replace("crates/*", "crates/core"))?;
    fs::copy(root.join("Cargo.lock"), tree.join("Cargo.lock"))?;
    fs::create_dir(tree.join(".cargo"))?;
    fs::write(tree.join(".cargo/config.toml"), RUNNER)?;
    for side in ["startup", "avoidance"] {
        let path = tree.join(SOURCES).join(side).join("mod.rs");
        let text = fs::read_to_string(&path)?;
        let text = text.clone() + &declarations(&text);
        fs::write(path, text)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// The modules of the lines `module::Policy,`, declared where `cargo mutants` sees them and the
/// compiler does not.
fn declarations(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.trim().strip_suffix(','));
    let modules = lines.filter_map(|line| line.split_once("::")).filter(|(module, policy)| {
        let word = |text: &str| text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
        word(module) && word(policy)
    });
    modules.map(|(module, _)| format!("#[cfg(any())]\nmod {module};\n")).collect()
}

/// The mutants of `missed.txt`, a line each: `file:line:column: change`.
fn survivors(root: &Path, missed: &str) -> Result<Vec<Mutant>, Stop> {
    let read = |text: &str| {
        let (place, change) = text.split_once(": ")?;
        let mut place = place.split(':');
        let file = place.next()?.strip_prefix(SOURCES)?.strip_prefix('/')?.to_owned();
        let number: usize = place.next()?.parse().ok()?;
        let source = fs::read_to_string(root.join(SOURCES).join(&file)).ok()?;
        let line = source.lines().nth(number.checked_sub(1)?)?.trim().to_owned();
        Some(Mutant { file, line, change: change.to_owned(), why: String::new() })
    };
    let lines = missed.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| read(line).ok_or_else(|| Stop::failed(&format!("cargo mutants said `{line}`"))))
        .collect()
}

impl Asked {
    fn read(root: &Path, args: &[String]) -> Result<Self, Stop> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().map_or("", String::as_str);
            match flag.as_str() {
                "--only" if value.ends_with(".rs") && root.join(SOURCES).join(value).is_file() => {
                    asked.only.push(value.to_owned());
                }
                "--only" => {
                    return Err(Stop::usage(&format!(
                        "mutants --only: found `{value}`; accepted: a file below {SOURCES}, as \
                         startup/hystart.rs"
                    )));
                }
                "--shard" if is_shard(value) => asked.shard = Some(value.to_owned()),
                "--shard" => {
                    return Err(Stop::usage(&format!(
                        "mutants --shard: found `{value}`; accepted: I/N, as 0/8, with I below N"
                    )));
                }
                _ => {
                    return Err(Stop::usage(&format!(
                        "mutants: found `{flag}`; accepted: --only FILE, --shard I/N"
                    )));
                }
            }
        }
        if asked.only.is_empty() {
            asked.only = files(root).map_err(|error| unable("mutants", &error))?;
        }
        Ok(asked)
    }
}

fn is_shard(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    text.split_once('/')
        .and_then(|(part, of)| Some(number(part)? < number(of)?))
        .unwrap_or_default()
}

/// What is to be tested: the rules of the sender, then every policy and estimator.
fn files(root: &Path) -> std::io::Result<Vec<String>> {
    let mut files: Vec<String> = RULES.map(str::to_owned).to_vec();
    for folder in ["startup", "avoidance", "estimate"] {
        let entries = fs::read_dir(root.join(SOURCES).join(folder))?;
        let mut names: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        names.sort();
        let names = names.iter().filter_map(|path| path.file_name()?.to_str());
        files.extend(names.filter(|name| *name != "mod.rs").map(|name| format!("{folder}/{name}")));
    }
    Ok(files)
}

impl List {
    /// Every listed line is still there, and has a reason.
    fn check(&self, root: &Path) -> Result<(), Stop> {
        let wrong = |mutant: &Mutant, what: &str| {
            Err(Stop::usage(&format!("{LIST}: {mutant}: {what}; correct the entry or remove it")))
        };
        for mutant in &self.equivalent {
            let source = fs::read_to_string(root.join(SOURCES).join(&mutant.file));
            if !source.unwrap_or_default().lines().any(|line| line.trim() == mutant.line) {
                return wrong(mutant, "there is no such line");
            }
            if mutant.why.is_empty() {
                return wrong(mutant, "it has no reason");
            }
        }
        Ok(())
    }

    fn has(&self, survivor: &Mutant) -> bool {
        self.equivalent.iter().any(|mutant| mutant.is(survivor))
    }

    /// Fails for a survivor that is not listed, and for a listed mutant that was noticed in a file
    /// of which all were tried.
    fn judge(&self, survivors: &[Mutant], all_tried: impl Fn(&str) -> bool) -> Result<(), Stop> {
        let new: Vec<String> =
            survivors.iter().filter(|one| !self.has(one)).map(Mutant::to_string).collect();
        let listed = self.equivalent.iter().filter(|mutant| all_tried(&mutant.file));
        let noticed: Vec<String> = listed
            .filter(|mutant| !survivors.iter().any(|survivor| mutant.is(survivor)))
            .map(Mutant::to_string)
            .collect();
        println!(
            "{} survivors, {} of them equivalent",
            survivors.len(),
            survivors.len() - new.len()
        );
        let mut problems = Vec::new();
        if !new.is_empty() {
            let new = new.join("\n  ");
            problems.push(format!("no test of the core notices:\n  {new}\nwrite one"));
        }
        if !noticed.is_empty() {
            let noticed = noticed.join("\n  ");
            problems.push(format!("{LIST}: a test notices these, remove them:\n  {noticed}"));
        }
        if problems.is_empty() { Ok(()) } else { Err(Stop::failed(&problems.join("\n"))) }
    }
}

impl Mutant {
    fn is(&self, other: &Self) -> bool {
        (&self.file, &self.line, &self.change) == (&other.file, &other.line, &other.change)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`: {}", self.file, self.line, self.change)
    }
}

/// Every test program gets 20 s of CPU time, four times what the slowest one takes: a mutant that
/// never ends is noticed, and a loaded machine makes no test fail.
const RUNNER: &str = r#"[target.'cfg(all())']
runner = ["sh", "-c", 'ulimit -t 20; exec "$0" "$@"']
"#;

/// Longest wait for the build or the tests of one mutant, in seconds.
const WALL_SECONDS: &str = "600";

const SOURCES: &str = "crates/core/src";
const LIST: &str = "crates/core/mutants.toml";
const RULES: [&str; 4] = ["sender.rs", "mechanism.rs", "loss.rs", "pair.rs"];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_is_read_and_anything_else_refused() {
        let root = crate::root();
        let one = Asked::read(&root, &words("--only loss.rs --shard 1/3"));
        let expected = Asked { only: words("loss.rs"), shard: Some("1/3".to_owned()) };
        assert_eq!(one.ok(), Some(expected));
        let all = Asked::read(&root, &[]).map(|asked| asked.only).unwrap_or_default();
        for file in ["pair.rs", "startup/hystart.rs", "avoidance/cubic.rs", "estimate/ere.rs"] {
            assert!(all.iter().any(|one| one == file), "{file}");
        }
        assert!(!all.iter().any(|one| one.ends_with("mod.rs")));
        for wrong in ["--only nothing.rs", "--only startup", "--shard 3/3", "--shard 1", "--fast"] {
            let stop = Asked::read(&root, &words(wrong)).expect_err(wrong);
            assert!(stop.code == 2 && stop.message.contains("accepted"), "{wrong}");
        }
    }

    #[test]
    fn every_listed_mutant_has_a_reason_and_its_line_exists() {
        let root = crate::root();
        let list: List = read_toml(&root.join(LIST)).expect("the list can be read");
        list.check(&root).map_err(|stop| stop.message).expect("the list is true");
        let of = |line: &str, why: &str| Mutant {
            file: "pair.rs".to_owned(),
            line: line.to_owned(),
            change: "replace + with -".to_owned(),
            why: why.to_owned(),
        };
        let refused = |mutant| List { equivalent: vec![mutant] }.check(&root).is_err();
        assert!(!refused(of("use crate::view::Window;", "reason")));
        assert!(
            refused(of("no such line", "reason")) && refused(of("use crate::view::Window;", ""))
        );
    }

    #[test]
    fn survivors_are_read_with_their_lines() {
        let root = crate::root();
        let text = "crates/core/src/pair.rs:1:5: replace + with - in f\n\n";
        let read = survivors(&root, text).expect("it is one");
        assert_eq!((read.len(), read[0].file.as_str()), (1, "pair.rs"));
        assert!(read[0].line.starts_with("//! The two policies"));
        assert_eq!(read[0].change, "replace + with - in f");
        assert!(survivors(&root, "anything else").is_err());
    }

    #[test]
    fn a_survivor_off_the_list_fails_and_so_does_a_listed_one_that_is_noticed() {
        let mutant = |line: &str| Mutant {
            file: "pair.rs".to_owned(),
            line: line.to_owned(),
            change: "replace + with -".to_owned(),
            why: "reason".to_owned(),
        };
        let list = List { equivalent: vec![mutant("a"), mutant("b")] };
        let (both, all) = ([mutant("a"), mutant("b")], |_: &str| true);
        assert!(list.judge(&both, all).is_ok());
        assert!(list.judge(&both[..1], all).is_err(), "b was noticed");
        assert!(list.judge(&both[..1], |_| false).is_ok(), "b may not have been tried");
        assert!(list.judge(&[mutant("c")], |_| false).is_err());
    }

    #[test]
    fn the_modules_of_a_macro_are_declared() {
        let text = "use crate::x::Y;\nstartups! {\n    hoe::Hoe,\n    fast_start::FastStart,\n}\n";
        let expected = "#[cfg(any())]\nmod hoe;\n#[cfg(any())]\nmod fast_start;\n";
        assert_eq!(declarations(text), expected);
    }
}
