//! A source file as the rules see it.

/// A file's name and lines.
pub(super) struct Source {
    /// The path from the root, with slashes.
    pub(super) path: String,
    pub(super) lines: Vec<String>,
}

impl Source {
    pub(super) fn new(path: String, text: String) -> Self {
        Self { path, lines: text.lines().map(str::to_owned).collect() }
    }

    /// The last part of the path behind the dot.
    pub(super) fn kind(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, kind)| kind)
    }

    /// The files that its `#[path]` attributes name, as paths from the root.
    pub(super) fn named_paths(&self) -> Vec<String> {
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let named = |line: &String| {
            let path = line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]")?;
            Some(format!("{folder}/{path}"))
        };
        self.lines.iter().filter_map(named).collect()
    }

    /// The number of lines before the file's test module, or all of them.
    pub(super) fn before_tests(&self) -> usize {
        let begins = |at: &usize| {
            let mut after = self.lines[at + 1..].iter().skip_while(|line| line.starts_with("#["));
            after.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
        };
        let marked = |at: &usize| self.lines[*at] == "#[cfg(test)]";
        let tests = (0..self.lines.len()).filter(marked).find(begins);
        tests.unwrap_or(self.lines.len())
    }

    /// Lines that hold code, the test module left out.
    pub(super) fn code_lines(&self) -> usize {
        let mark = match self.kind() {
            "rs" | "cc" | "c" | "h" | "js" | "ts" | "svelte" => "//",
            _ => "#",
        };
        let holds_code = |line: &&String| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with(mark)
        };
        self.lines[..self.before_tests()].iter().filter(holds_code).count()
    }

    /// First line (from 0) and length of each function of a Rust file formatted by rustfmt,
    /// the test module left out.
    pub(super) fn functions(&self) -> Vec<(usize, usize)> {
        let lines = &self.lines[..self.before_tests()];
        let mut found = Vec::new();
        for (start, line) in lines.iter().enumerate() {
            if !begins_function(line) {
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            let (closing, one_line) = (format!("{indent}}}"), format!("{indent});"));
            let end = lines[start..].iter().position(|line| *line == closing || *line == one_line);
            let declared_only = line.ends_with(';') || (line.ends_with('}') && line.contains('{'));
            match end {
                Some(length) if !declared_only => found.push((start, length + 1)),
                _ => {}
            }
        }
        found
    }
}

/// Whether a line is the first of a function's signature.
fn begins_function(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.find(|word| !QUALIFIERS.contains(word) && !word.starts_with("pub(")) == Some("fn")
}

/// The name of a function in the first line of its signature.
pub(super) fn name_of_function(line: &str) -> &str {
    let behind = line.split_once("fn ").map_or("", |(_, behind)| behind);
    behind.split(['(', '<']).next().unwrap_or_default()
}

const QUALIFIERS: [&str; 5] = ["pub", "const", "async", "unsafe", "extern"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blank_lines_are_not_code() {
        let text =
            "//! Doc.\n\nfn a() {\n    // why\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n}\n";
        let source = Source::new("a.rs".into(), text.into());
        assert_eq!(source.code_lines(), 3);
        assert_eq!(source.functions(), [(2, 4)]);
        assert_eq!(name_of_function(&source.lines[2]), "a");
        let allowing = text.replace("mod tests", "#[allow(dead_code)]\nmod tests");
        assert_eq!(Source::new("a.rs".into(), allowing).code_lines(), 3);
    }

    #[test]
    fn a_declaration_without_a_body_is_no_function() {
        let text =
            "trait T {\n    fn a(&self);\n    fn b() {}\n    pub(crate) fn c(\n    ) {\n    }\n}\n";
        assert_eq!(Source::new("a.rs".into(), text.into()).functions(), [(3, 3)]);
    }
}
