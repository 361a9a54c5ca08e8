//! A copy of a package that holds many mutants at once: a function asks which mutant is on and has
//! a body for each of them, so that one build serves them all. A constant that has mutants becomes
//! a function, which returns the value of the mutant that is on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Package;
use super::constant::Constant;

/// A mutant, as `cargo mutants --list --json` describes it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    /// Below the workspace.
    pub(super) file: String,
    /// `file:line:column: change`.
    pub(super) name: String,
    /// The function in which it is.
    function: Option<Function>,
    /// What it replaces.
    span: Span,
    /// What stands in the place of the span.
    replacement: String,
}

/// The function that the change is in.
#[derive(Clone, Debug, Deserialize)]
struct Function {
    span: Span,
}

/// A part of a file, without its end.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: Place,
    end: Place,
}

/// Both counted from one, columns in characters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: usize,
    column: usize,
}

/// The copy.
pub(super) struct Tree {
    pub(super) path: PathBuf,
    /// The files that will be changed, by their paths below the copy.
    sources: BTreeMap<String, String>,
}

/// The lines that a mutant has in its file, by the mutant's number.
pub(super) type Lines = BTreeMap<usize, (String, RangeInclusive<usize>)>;

impl Tree {
    /// The package alone, as a workspace of its own; what it depends on stays where it is. Of its
    /// sources `files` will be changed.
    pub(super) fn copy(
        root: &Path,
        package: &Package,
        path: PathBuf,
        files: &[String],
    ) -> io::Result<Self> {
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        let folder = format!("crates/{}", package.name);
        copy_folder(&root.join(&folder), &path.join(&folder))?;
        let elsewhere = format!("path = \"{}/crates/", root.display());
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?
            .replace("crates/*", &folder)
            .replace("path = \"crates/", &elsewhere)
            .replace(OPTIMISED, "opt-level = 1");
        fs::write(path.join("Cargo.toml"), manifest)?;
        fs::copy(root.join("Cargo.lock"), path.join("Cargo.lock"))?;
        let root_module = path.join(package.sources()).join("lib.rs");
        let mut root_module = OpenOptions::new().append(true).open(root_module)?;
        root_module.write_all(SWITCH.as_bytes())?;
        let mut sources = BTreeMap::new();
        for file in files {
            let file = format!("{}/{file}", package.sources());
            let text = fs::read_to_string(path.join(&file))?;
            sources.insert(file, text);
        }
        Ok(Self { path, sources })
    }

    /// Writes the sources with every mutant that can be switched on, without those in `left_out`
    /// and in functions that must be `constant`. It returns where they stand.
    pub(super) fn switch(
        &self,
        changes: &[Change],
        left_out: &BTreeSet<usize>,
        constant: &BTreeSet<String>,
    ) -> io::Result<Lines> {
        let mut lines = Lines::new();
        for (file, text) in &self.sources {
            let of_file = (0..).zip(changes);
            let of_file = of_file
                .filter(|(number, change)| change.file == *file && !left_out.contains(number));
            let (switched, places) = switched(text, of_file, constant);
            fs::write(self.path.join(file), switched)?;
            lines.extend(places.map(|(number, place)| (number, (file.clone(), place))));
        }
        Ok(lines)
    }

    /// Writes the sources as they are, but for one mutant.
    pub(super) fn change(&self, one: &Change) -> io::Result<()> {
        for (file, text) in &self.sources {
            let changed = (one.file == *file).then(|| one.applied(text, 0..text.len()));
            fs::write(self.path.join(file), changed.as_deref().unwrap_or(text))?;
        }
        Ok(())
    }
}

impl Change {
    /// Only a constant of its file is known to be changed, which other files may use too.
    pub(super) fn is_of_constant(&self) -> bool {
        self.function.is_none()
    }

    /// That part of the file with the change made.
    fn applied(&self, text: &str, part: Range<usize>) -> String {
        let (from, to) = (offset(text, self.span.start), offset(text, self.span.end));
        format!("{}{}{}", &text[part.start..from], self.replacement, &text[to..part.end])
    }
}

/// The file with a body for each mutant in the functions that can choose one, and the lines of each
/// mutant. A `const fn` cannot look at a variable: only those that must be are `constant`.
fn switched<'a>(
    text: &str,
    changes: impl Iterator<Item = (usize, &'a Change)>,
    constant: &BTreeSet<String>,
) -> (String, impl Iterator<Item = (usize, RangeInclusive<usize>)>) {
    let mut functions: BTreeMap<Span, Vec<(usize, &Change)>> = BTreeMap::new();
    // By where their values stand.
    let mut constants: BTreeMap<usize, Vec<(usize, &Change)>> = BTreeMap::new();
    for (number, change) in changes {
        if let Some(function) = &change.function {
            functions.entry(function.span).or_default().push((number, change));
        } else if let Some(item) = Constant::around(text, offset(text, change.span.start))
            && !constant.contains(&item.function())
        {
            constants.entry(item.value.start).or_default().push((number, change));
        }
    }
    let (mut new, mut done, mut places) = (String::new(), 0, Vec::new());
    for (span, changes) in functions {
        let (start, end) = (offset(text, span.start), offset(text, span.end));
        let Some(body) = body(&text[start..end]).map(|at| start + at) else { continue };
        let must_be = |name: &str| constant.contains(name);
        if start < done || const_names(&text[start..body]).any(must_be) {
            // A function within the one before, or one that a constant calls.
            continue;
        }
        new += &text[done..body];
        new += "{ match crate::mutant::on() {\n";
        for (number, change) in changes {
            let first = new.matches('\n').count() + 1;
            new += &format!("{} => {}\n", number + 1, change.applied(text, body..end));
            places.push((number, first..=new.matches('\n').count()));
        }
        new += &format!("_ => {} }} }}", &text[body..end]);
        done = end;
    }
    // Inlined, all of these bodies would be compiled many times over.
    let mut new = (new + &text[done..]).replace("#[inline]", "").replace("#[inline(always)]", "");
    for name in const_names(text).filter(|name| !constant.contains(*name)) {
        for next in ["(", "<"] {
            new = new.replace(&format!("const fn {name}{next}"), &format!("fn {name}{next}"));
        }
    }
    let constants =
        constants.iter().filter_map(|(at, of)| Some((Constant::around(text, *at)?, of)));
    let constants: Vec<_> = constants.collect();
    new = constants.iter().fold(new, |new, (item, _)| item.called(&new));
    for (item, changes) in &constants {
        let (head, end) = item.ends();
        new += &format!("{head} match crate::mutant::on() {{\n");
        for (number, change) in *changes {
            let first = new.matches('\n').count() + 1;
            new += &format!("{} => {},\n", number + 1, change.applied(text, item.value.clone()));
            places.push((*number, first..=new.matches('\n').count()));
        }
        new += &format!("_ => {} {end}\n", &text[item.value.clone()]);
    }
    (new, places.into_iter())
}

/// The names of the functions in this text that are `const`.
fn const_names(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("const fn ").skip(1);
    after.filter_map(|rest| rest.split(['(', '<']).next())
}

/// Where the body of a function begins.
fn body(function: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < function.len() {
        let rest = &function[at..];
        if rest.starts_with("//") {
            at += rest.find('\n')?;
            continue;
        }
        match rest.chars().next()? {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            '{' if depth == 0 => return Some(at),
            _ => {}
        }
        at += rest.chars().next()?.len_utf8();
    }
    None
}

fn offset(text: &str, place: Place) -> usize {
    let before = text.split_inclusive('\n').take(place.line - 1).map(str::len).sum::<usize>();
    let columns = text[before..].chars().take(place.column - 1).map(char::len_utf8);
    before + columns.sum::<usize>()
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
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

/// The level of optimisation; that of the other tests takes minutes for this many bodies.
const OPTIMISED: &str = "opt-level = 2";

/// Which mutant is on: the one whose number, counted from one, the environment says.
const SWITCH: &str = r#"
pub mod mutant {
    extern crate std;
    #[inline(never)]
    pub fn on() -> usize {
        static ON: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *ON.get_or_init(|| {
            let number = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok());
            number.unwrap_or_default()
        })
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of what stands between these words of a text, in a function from `fn` on.
    fn change(text: &str, what: &str, replacement: &str, function: Option<&str>) -> Change {
        let place = |at: usize| Place {
            line: text[..at].matches('\n').count() + 1,
            column: text[..at].rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
        };
        let span = |from: &str| {
            let start = text.find(from).expect("it is in the text");
            Span { start: place(start), end: place(start + from.len()) }
        };
        let function = function.map(|function| Function { span: span(function) });
        let (file, name, replacement) = (String::new(), String::new(), replacement.to_owned());
        Change { file, name, function, span: span(what), replacement }
    }

    #[test]
    fn a_function_has_a_body_for_each_mutant() {
        let text = "// é\nfn f(a: [u8; { 2 }]) -> bool { a < b }\nconst fn g() -> u8 { 7 }\n\
            const fn h() -> u8 { 8 }\n";
        let f = Some("fn f(a: [u8; { 2 }]) -> bool { a < b }");
        let changes = [
            change(text, "<", "<=", f),
            change(text, "a < b", "true", f),
            change(text, "7", "0", Some("const fn g() -> u8 { 7 }")),
            change(text, "8", "0", Some("const fn h() -> u8 { 8 }")),
            change(text, "é", "e", None),
        ];
        let constant = BTreeSet::from(["h".to_owned()]);
        let (new, places) = switched(text, (0..).zip(&changes), &constant);
        let expected = "// é\nfn f(a: [u8; { 2 }]) -> bool { match crate::mutant::on() {\n\
            1 => { a <= b }\n2 => { true }\n_ => { a < b } } }\n\
            fn g() -> u8 { match crate::mutant::on() {\n3 => { 0 }\n_ => { 7 } } }\n\
            const fn h() -> u8 { 8 }\n";
        assert_eq!(new, expected);
        assert_eq!(places.collect::<Vec<_>>(), [(0, 3..=3), (1, 4..=4), (2, 7..=7)]);
    }

    #[test]
    fn a_constant_is_a_function_that_its_file_calls() {
        let text = "const A: u64 = 1 << 3;\nimpl S {\n    pub const B: [u8; 2] = [7, 8];\n}\n\
            impl T for S {\n    const C: u8 = 9;\n}\nconst D: u64 = A;\n\
            fn f() -> u64 { A + AA + S::B + S::C + B } // A\n";
        let changes = [
            change(text, "<<", ">>", None),
            change(text, "7", "0", None),
            change(text, "9", "0", None),
        ];
        let none = BTreeSet::new();
        let (new, places) = switched(text, (0..).zip(&changes), &none);
        let (before, after) = new.split_once("fn f()").expect("it stays");
        assert_eq!(before, &text[..before.len()]);
        let expected = " -> u64 { A__() + AA + S::B__() + S::C + B } // A__()\n\
            pub fn A__() -> u64 { match crate::mutant::on() {\n1 =>  1 >> 3,\n_ =>  1 << 3 } }\n\
            impl S { pub fn B__() -> [u8; 2] { match crate::mutant::on() {\n\
            2 =>  [0, 8],\n_ =>  [7, 8] } } }\n";
        assert_eq!(after, expected);
        assert_eq!(places.collect::<Vec<_>>(), [(0, 11..=11), (1, 14..=14)]);
        let (same, _) = switched(text, (0..1).zip(&changes), &BTreeSet::from(["A__".to_owned()]));
        assert_eq!(same, text);
    }
}
