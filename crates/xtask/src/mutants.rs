//! Mutation testing of a package: one thing at a time is changed in the files that decide something
//! (the core's policies, estimators and sender, the queue disciplines, the judge's rules), and the
//! package's own tests must notice each change. `cargo mutants` says what to change. Mutants that
//! no test can tell from the original are listed with their reasons in the package's
//! `mutants.toml`.
//!
//! It runs in a copy of the package ([`tree`]) that holds all of the mutants, because a build for
//! each takes ten times as long.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::Stop;
use crate::step::{announce, cargo, output, read_toml, target, unable, which};
use tree::{Change, Tree};
use tried::Trial;

mod constant;
mod tree;
mod tried;

/// A package that is tested so, and which of its sources decide something: these files, and all
/// in these folders.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    /// Its folder below `crates`.
    name: &'static str,
    files: &'static [&'static str],
    folders: &'static [&'static str],
}

/// What may be asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    package: &'static Package,
    /// Files below the package's `src`; all that are to be tested if none is named.
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
    /// Below the package's `src`.
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
    let package = asked.package;
    let list = List::read(root, package)?;
    let folder = root.join(target(root)).join("mutants");
    let tree = Tree::copy(root, package, folder.join("tree"), &asked.only);
    let tree = tree.map_err(|error| unable("mutants", &error))?;
    let changes = asked.changes(&tree)?;
    announce(&format!("{} mutants of {}", changes.len(), package.cargo_name()));
    let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
    let mutants = named(&root.join(package.sources()), &names.join("\n"))?;
    let trial = Trial { package, tree, target: folder.join("build"), changes };
    let survivors: Vec<Mutant> =
        trial.survivors()?.iter().map(|number| mutants[*number].clone()).collect();
    let whole = asked.shard.is_none();
    list.judge(&survivors, package, |file| whole && asked.only.iter().any(|only| only == file))
}

/// The mutants of these names, a line each: `file:line:column: change`.
fn named(sources: &Path, names: &str) -> Result<Vec<Mutant>, Stop> {
    let read = |text: &str| {
        let (place, change) = text.split_once(": ")?;
        let mut place = place.split(':');
        let file = place.next()?.split_once("/src/")?.1.to_owned();
        let number: usize = place.next()?.parse().ok()?;
        let source = fs::read_to_string(sources.join(&file)).ok()?;
        let line = source.lines().nth(number.checked_sub(1)?)?.trim().to_owned();
        Some(Mutant { file, line, change: change.to_owned(), why: String::new() })
    };
    let lines = names.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| read(line).ok_or_else(|| Stop::failed(&format!("cargo mutants said `{line}`"))))
        .collect()
}

impl Package {
    /// The name for cargo.
    fn cargo_name(&self) -> String {
        format!("firstflight-{}", self.name)
    }

    /// Where its sources are, below the workspace.
    fn sources(&self) -> String {
        format!("crates/{}/src", self.name)
    }

    /// The list of its mutants that no test can notice.
    fn list(&self) -> String {
        format!("crates/{}/mutants.toml", self.name)
    }

    /// What is to be tested of it.
    fn all_files(&self, root: &Path) -> std::io::Result<Vec<String>> {
        let sources = root.join(self.sources());
        let mut files: Vec<String> = self.files.iter().map(|file| (*file).to_owned()).collect();
        let mut folders: Vec<String> = self.folders.iter().map(|it| (*it).to_owned()).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(sources.join(&folder))? {
                let entry = entry?;
                let name = format!("{folder}/{}", entry.file_name().display());
                if entry.path().is_dir() {
                    folders.push(name);
                } else if is_source(&name) {
                    files.push(name);
                }
            }
        }
        files[self.files.len()..].sort();
        Ok(files)
    }
}

impl Asked {
    fn read(root: &Path, args: &[String]) -> Result<Self, Stop> {
        let mut args = args.iter().peekable();
        let package = match args.next_if(|flag| *flag == "--package") {
            None => &PACKAGES[0],
            Some(_) => package(args.next().map_or("", String::as_str))?,
        };
        let mut asked = Self { package, only: Vec::new(), shard: None };
        let sources = package.sources();
        while let Some(flag) = args.next() {
            let value = args.next().map_or("", String::as_str);
            match flag.as_str() {
                "--only" if value.ends_with(".rs") && root.join(&sources).join(value).is_file() => {
                    asked.only.push(value.to_owned());
                }
                "--only" => {
                    return Err(Stop::usage(&format!(
                        "mutants --only: found `{value}`; accepted: a file below {sources}, as {}",
                        package.files[0]
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
                        "mutants: found `{flag}`; accepted: --package NAME first, then --only \
                         FILE, --shard I/N"
                    )));
                }
            }
        }
        if asked.only.is_empty() {
            asked.only = package.all_files(root).map_err(|error| unable("mutants", &error))?;
        }
        Ok(asked)
    }

    /// What `cargo mutants` would change: the part asked for.
    fn changes(&self, tree: &Tree) -> Result<Vec<Change>, Stop> {
        let mut command = cargo(&tree.path, &["mutants", "--list", "--json"]);
        for file in &self.only {
            command.arg("--file").arg(format!("{}/{file}", self.package.sources()));
        }
        if let Some(shard) = &self.shard {
            command.args(["--shard", shard]);
        }
        let json = output("mutants", &mut command)?;
        let wrong = |error| Stop::failed(&format!("cargo mutants --list: {error}"));
        serde_json::from_str(&json).map_err(wrong)
    }
}

fn is_shard(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    text.split_once('/')
        .and_then(|(part, of)| Some(number(part)? < number(of)?))
        .unwrap_or_default()
}

fn package(name: &str) -> Result<&'static Package, Stop> {
    PACKAGES.iter().find(|package| package.name == name).ok_or_else(|| {
        let names = PACKAGES.map(|package| package.name).join(", ");
        Stop::usage(&format!("mutants --package: found `{name}`; accepted: {names}"))
    })
}

/// A policy, a part of one or an estimator, and neither the list of them nor the tests of one.
fn is_source(file: &str) -> bool {
    file.ends_with(".rs") && !file.ends_with("/mod.rs") && !file.ends_with("/tests.rs")
}

impl List {
    /// That of a package, empty where it has none.
    fn read(root: &Path, package: &Package) -> Result<Self, Stop> {
        let path = root.join(package.list());
        let list = if path.exists() { read_toml(&path)? } else { Self::default() };
        list.check(root, package)?;
        Ok(list)
    }

    /// Every listed line is still there, and has a reason.
    fn check(&self, root: &Path, package: &Package) -> Result<(), Stop> {
        let list = package.list();
        let wrong = |mutant: &Mutant, what: &str| {
            Err(Stop::usage(&format!("{list}: {mutant}: {what}; correct the entry or remove it")))
        };
        for mutant in &self.equivalent {
            let source = fs::read_to_string(root.join(package.sources()).join(&mutant.file));
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
    fn judge(
        &self,
        survivors: &[Mutant],
        package: &Package,
        all_tried: impl Fn(&str) -> bool,
    ) -> Result<(), Stop> {
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
            problems.push(format!("no test of the package notices:\n  {new}\nwrite one"));
        }
        if !noticed.is_empty() {
            let noticed = noticed.join("\n  ");
            let list = package.list();
            problems.push(format!("{list}: a test notices these, remove them:\n  {noticed}"));
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

/// The first is tested where none is named.
const PACKAGES: [Package; 3] = [
    Package {
        name: "core",
        files: &[
            "sender.rs",
            "mechanism.rs",
            "mechanism/timing.rs",
            "mechanism/loss.rs",
            "mechanism/recovery.rs",
            "pair.rs",
            "frame.rs",
        ],
        folders: &["startup", "avoidance", "estimate"],
    },
    Package {
        name: "queue",
        files: &[
            "codel.rs",
            "drop_tail.rs",
            "dualpi2.rs",
            "fq_codel.rs",
            "pie.rs",
            "red.rs",
            "server.rs",
            "tbf.rs",
        ],
        folders: &[],
    },
    Package { name: "judge", files: &["rules.rs"], folders: &[] },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_is_read_and_anything_else_refused() {
        let root = crate::root();
        let one = Asked::read(&root, &words("--only frame.rs --shard 1/3"));
        let shard = Some("1/3".to_owned());
        let expected = Asked { package: &PACKAGES[0], only: words("frame.rs"), shard };
        assert_eq!(one.ok(), Some(expected));
        let Ok(queue) = Asked::read(&root, &words("--package queue")) else {
            panic!("it has files");
        };
        assert!(queue.package.name == "queue" && queue.only.contains(&"pie.rs".to_owned()));
        let all = Asked::read(&root, &[]).map(|asked| asked.only).unwrap_or_default();
        for file in ["pair.rs", "startup/hystart.rs", "avoidance/bbr/cycle.rs", "estimate/ere.rs"] {
            assert!(all.iter().any(|one| one == file), "{file}");
        }
        assert!(!all.iter().any(|one| one.ends_with("mod.rs") || one.ends_with("tests.rs")));
        for wrong in [
            "--package sim",
            "--package queue --only frame.rs",
            "--only nothing.rs",
            "--only startup",
            "--shard 3/3",
            "--shard 1",
            "--fast",
        ] {
            let stop = Asked::read(&root, &words(wrong)).expect_err(wrong);
            assert!(stop.code == 2 && stop.message.contains("accepted"), "{wrong}");
        }
    }

    #[test]
    fn every_listed_mutant_has_a_reason_and_its_line_exists() {
        let root = crate::root();
        for package in &PACKAGES {
            List::read(&root, package).map_err(|stop| stop.message).expect("the list is true");
        }
        let of = |line: &str, why: &str| Mutant {
            file: "pair.rs".to_owned(),
            line: line.to_owned(),
            change: "replace + with -".to_owned(),
            why: why.to_owned(),
        };
        let core = &PACKAGES[0];
        let refused = |mutant| List { equivalent: vec![mutant] }.check(&root, core).is_err();
        assert!(!refused(of("pub trait Policies: Both {", "reason")));
        assert!(
            refused(of("no such line", "reason")) && refused(of("pub trait Policies: Both {", ""))
        );
    }

    #[test]
    fn mutants_are_read_with_their_lines() {
        let sources = crate::root().join(PACKAGES[0].sources());
        let text = "crates/core/src/pair.rs:1:5: replace + with - in f\n\n";
        let read = named(&sources, text).expect("it is one");
        assert_eq!((read.len(), read[0].file.as_str()), (1, "pair.rs"));
        assert!(read[0].line.starts_with("//! The two policies"));
        assert_eq!(read[0].change, "replace + with - in f");
        assert!(named(&sources, "anything else").is_err());
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
        let (both, all, core) = ([mutant("a"), mutant("b")], |_: &str| true, &PACKAGES[0]);
        assert!(list.judge(&both, core, all).is_ok());
        assert!(list.judge(&both[..1], core, all).is_err(), "b was noticed");
        assert!(list.judge(&both[..1], core, |_| false).is_ok(), "b may not have been tried");
        assert!(list.judge(&[mutant("c")], core, |_| false).is_err());
    }
}
