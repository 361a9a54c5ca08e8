//! A scenario as written: a tree of keys and values that knows where each one stands.
//!
//! Files and flags become one kind of tree, so one reader serves both, and its errors name the line
//! or the flag. [`Document::set`] replaces single values, for sweeps over a scenario.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use firstflight_outside::Unread;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::error::{Place, ScenarioError};
use crate::flags::PathFlags;
use crate::schema::Probe;

/// A scenario as written, before its values are understood.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    files: Files,
    root: Node,
}

/// Where the files are that a scenario names: in the file system, or, for a page in a browser,
/// which has none, in memory by their paths.
#[derive(Clone, Debug, Default)]
pub struct Files(Option<Arc<BTreeMap<PathBuf, Arc<[u8]>>>>);

impl Files {
    /// These files and no others, by their paths: the scenario's folder and the names in it.
    pub fn in_memory(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path, bytes.into()));
        Self(Some(Arc::new(files.collect())))
    }

    /// A file's bytes to be read, and how many they are.
    pub(crate) fn open(&self, path: &Path) -> Result<(Box<dyn Read>, u64), Unread> {
        let Some(files) = &self.0 else {
            // `Lines` refuses a file that is too large, after the check that it is text.
            let file = firstflight_outside::open(path, u64::MAX)?;
            let bytes = file.get_ref().metadata().map_or(0, |about| about.len());
            return Ok((Box::new(file), bytes));
        };
        let bytes = files.get(path).ok_or(Unread::Missing)?.clone();
        let size = bytes.len() as u64;
        Ok((Box::new(Cursor::new(bytes)), size))
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) raw: Raw,
    /// Where the files are that it may name.
    pub(crate) files: Files,
}

/// The kinds of TOML values that scenarios use; other kinds are kept as text for messages.
#[derive(Clone, Debug)]
pub(crate) enum Raw {
    Text(String),
    Integer(i64),
    Flag(bool),
    Other(String),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
    /// A table without entries, which notes the keys that its reader asks for.
    Probe(Arc<Probe>),
}

impl Document {
    /// An empty document; `file` names it in messages.
    pub fn new(file: &str) -> Self {
        Self::within(file, Files::default())
    }

    fn within(file: &str, files: Files) -> Self {
        let place = Place::Key { file: file.to_owned(), line: None, key: String::new() };
        let root = Node { place, raw: table(), files: files.clone() };
        Self { file: file.to_owned(), files, root }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that is missing, a directory, empty, too large, not UTF-8 or not TOML.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = Self::text(path)
            .map_err(|problem| ScenarioError::Unreadable { file: file.clone(), problem })?;
        Self::parse(&text, &file)
    }

    /// Reads standard input.
    ///
    /// # Errors
    /// As [`Document::load`].
    pub fn from_standard_input() -> Result<Self, ScenarioError> {
        let file = "standard input";
        let text = firstflight_outside::standard_input(MOST_BYTES).map_err(|unread| {
            ScenarioError::Unreadable { file: file.to_owned(), problem: unread.to_string() }
        })?;
        Self::parse(&text, file)
    }

    /// The text of a file, at most 4 MiB of UTF-8, or in words why there is none.
    ///
    /// # Errors
    /// A file that is missing, no regular one, too large or not UTF-8.
    pub fn text(path: &Path) -> Result<String, String> {
        firstflight_outside::text(path, MOST_BYTES).map_err(|unread| unread.to_string())
    }

    /// Reads TOML text; `file` names it in messages.
    ///
    /// # Errors
    /// Text that is empty or not TOML, with the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScenarioError> {
        Self::parse_among(text, file, Files::default())
    }

    /// [`Document::parse`], where the files that the text names are among these.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub fn parse_among(text: &str, file: &str, files: Files) -> Result<Self, ScenarioError> {
        let lines = line_starts(text);
        let table = DeTable::parse(text).map_err(|error| syntax(text, file, &lines, &error))?;
        if table.get_ref().is_empty() {
            let problem = "the file is empty".to_owned();
            return Err(ScenarioError::Unreadable { file: file.to_owned(), problem });
        }
        let mut document = Self::within(file, files);
        let files = &document.files;
        document.root.raw = Tree { text, file, files, lines }.table(table.get_ref(), "");
        Ok(document)
    }

    /// The tree of the flags that were given.
    ///
    /// # Errors
    /// As [`Document::apply`]; values are understood later, by [`Document::scenario`].
    pub fn from_flags(flags: &PathFlags) -> Result<Self, ScenarioError> {
        let mut document = Self::new("command line");
        document.apply(flags)?;
        Ok(document)
    }

    /// Replaces what the given flags name, for `run SCENARIO --seed 3`.
    ///
    /// # Errors
    /// A flag whose place in the document is taken by something else.
    pub fn apply(&mut self, flags: &PathFlags) -> Result<(), ScenarioError> {
        for (flag, text) in flags.given() {
            self.put(flag.key, text, Place::Flag(&flag.name))?;
        }
        Ok(())
    }

    /// Replaces the value at a dotted key, such as `path.rtt` or `flow[0].count`.
    ///
    /// `text` is read as a whole number, `true`, `false`, or else as text.
    ///
    /// # Errors
    /// A key that leads through something that is no table, or past the end of a list.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ScenarioError> {
        let place = Place::Key { file: self.file.clone(), line: None, key: key.to_owned() };
        self.put(key, text, place)
    }

    /// Replaces the controls, one run each.
    ///
    /// # Errors
    /// As [`Document::set`].
    pub fn set_controls(&mut self, controls: &[String]) -> Result<(), ScenarioError> {
        let place = Place::Flag("control");
        let files = self.files.clone();
        let node = |raw| Node { place: place.clone(), raw, files: files.clone() };
        let list = controls.iter().map(|text| node(Raw::Text(text.clone())));
        *self.slot("controls", &place)? = node(Raw::List(list.collect()));
        Ok(())
    }

    /// Takes the keys of the top that another document has.
    pub fn replace(&mut self, with: &Self) {
        if let (Raw::Table(own), Raw::Table(other)) = (&mut self.root.raw, &with.root.raw) {
            own.extend(other.iter().map(|(key, node)| (key.clone(), node.clone())));
        }
    }

    /// The table at a key of the top, as a document whose messages name the places of this one.
    pub fn part(&self, key: &str) -> Option<Self> {
        let Raw::Table(entries) = &self.root.raw else { return None };
        let root = entries.get(key).filter(|node| matches!(node.raw, Raw::Table(_)))?.clone();
        Some(Self { file: self.file.clone(), files: self.files.clone(), root })
    }

    /// Where a value stands by its dotted key, list items counted from 0: `grid.path.rate[1]`. Of a
    /// key that is not there, the place has no line.
    pub fn place(&self, key: &str) -> Place {
        let mut found = None;
        self.root.walk("", &mut |name, node| {
            if name == key {
                found.get_or_insert_with(|| node.place.clone());
            }
        });
        let nowhere = || Place::Key { file: self.file.clone(), line: None, key: key.to_owned() };
        found.unwrap_or_else(nowhere)
    }

    /// The file's name as used in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    fn put(&mut self, key: &str, text: &str, place: Place) -> Result<(), ScenarioError> {
        let raw = match (text.parse(), text.parse()) {
            (Ok(number), _) => Raw::Integer(number),
            (_, Ok(flag)) => Raw::Flag(flag),
            _ => Raw::Text(text.to_owned()),
        };
        let node = Node { place: place.clone(), raw, files: self.files.clone() };
        *self.slot(key, &place)? = node;
        Ok(())
    }

    /// The node at a dotted key, made if it is not there.
    fn slot(&mut self, key: &str, place: &Place) -> Result<&mut Node, ScenarioError> {
        let blocked = || ScenarioError::Value {
            place: place.clone(),
            found: None,
            problem: format!("there is no place for `{key}` in {}", self.file),
        };
        let files = &self.files;
        let mut node = &mut self.root;
        for step in key.split('.') {
            let (name, index) = match step.strip_suffix(']').and_then(|s| s.split_once('[')) {
                Some((name, index)) => (name, Some(index.parse().map_err(|_| blocked())?)),
                None => (step, None),
            };
            let empty = |raw| Node { place: place.clone(), raw, files: files.clone() };
            let Raw::Table(entries) = &mut node.raw else { return Err(blocked()) };
            let fresh = if index.is_some() { Raw::List(Vec::new()) } else { table() };
            node = entries.entry(name.to_owned()).or_insert_with(|| empty(fresh));
            let Some(index) = index else { continue };
            let Raw::List(items) = &mut node.raw else { return Err(blocked()) };
            if index == items.len() {
                items.push(empty(table()));
            }
            node = items.get_mut::<usize>(index).ok_or_else(blocked)?;
        }
        Ok(node)
    }
}

impl Node {
    /// The value as written, for messages.
    pub(crate) fn shown(&self) -> String {
        match &self.raw {
            Raw::Text(text) => format!("\"{}\"", text.escape_debug()),
            Raw::Integer(n) => n.to_string(),
            Raw::Flag(flag) => flag.to_string(),
            Raw::Other(text) => text.clone(),
            Raw::List(items) => {
                let items: Vec<_> = items.iter().map(Self::shown).collect();
                format!("[{}]", items.join(", "))
            }
            Raw::Table(_) | Raw::Probe(_) => "a table".to_owned(),
        }
    }

    /// Every node below by its dotted key, this one included.
    pub(crate) fn walk(&self, key: &str, visit: &mut impl FnMut(&str, &Self)) {
        visit(key, self);
        match &self.raw {
            Raw::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.walk(&format!("{key}[{i}]"), visit);
                }
            }
            Raw::Table(entries) => {
                for (name, node) in entries {
                    node.walk(&joined(key, name), visit);
                }
            }
            _ => {}
        }
    }
}

/// Turns what the TOML parser yields into nodes.
struct Tree<'a> {
    text: &'a str,
    file: &'a str,
    files: &'a Files,
    /// The offset at which each line begins, so that it is not counted anew for each value.
    lines: Vec<usize>,
}

impl Tree<'_> {
    fn table(&self, table: &DeTable<'_>, key: &str) -> Raw {
        let entry = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let name = name.get_ref().to_string();
            let node = self.node(value, joined(key, &name));
            (name, node)
        };
        Raw::Table(table.iter().map(entry).collect())
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, key: String) -> Node {
        let span = value.span();
        let raw = match value.get_ref() {
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Boolean(flag) => Raw::Flag(*flag),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| Raw::Other(number.as_str().to_owned()), Raw::Integer),
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                Raw::List(items.map(|(i, v)| self.node(v, format!("{key}[{i}]"))).collect())
            }
            DeValue::Table(entries) => self.table(entries, &key),
            _ => Raw::Other(self.text.get(span.clone()).unwrap_or("a value").to_owned()),
        };
        let line = Some(line_of(&self.lines, span.start));
        let place = Place::Key { file: self.file.to_owned(), line, key };
        Node { place, raw, files: self.files.clone() }
    }
}

fn table() -> Raw {
    Raw::Table(BTreeMap::new())
}

fn joined(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// What the TOML parser says, with the word in question if it leaves that out: `duplicate key:
/// controls`.
fn syntax(text: &str, file: &str, lines: &[usize], error: &toml::de::Error) -> ScenarioError {
    let span = error.span().unwrap_or(0..0);
    let found = text.get(span.clone()).unwrap_or("").trim();
    let short = !found.is_empty() && found.len() < 40 && !found.contains(char::is_control);
    let found = if short { format!(": {found}") } else { String::new() };
    ScenarioError::Syntax {
        file: file.to_owned(),
        line: line_of(lines, span.start),
        problem: format!("{}{found}", error.message()),
    }
}

fn line_of(lines: &[usize], at: usize) -> usize {
    lines.partition_point(|start| *start <= at)
}

/// The first line begins at the first byte, the next ones after each line break.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// The largest file that is read, in bytes. No scenario is so long; a device or a data set is.
const MOST_BYTES: u64 = 4 << 20;
