//! Pages: sections of text, figures and tables.

use std::collections::BTreeSet;

use crate::{Figure, ReportError, StaticFigure, Table, Verdict, Width};

/// A report: everything that goes into one file.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The heading, also the title of the window.
    pub title: String,
    /// One line below the heading; may be empty.
    pub subtitle: String,
    /// The parts, from top to bottom.
    pub sections: Vec<Section>,
    /// The command line that makes this page again; may be empty.
    pub command: String,
    /// How wide the figures beside it are.
    pub figure_width: Width,
    /// Names and values at the foot: version, seed, profile.
    pub facts: Vec<(String, String)>,
}

/// A part of a page under one heading.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Section {
    /// Anchor: letters, digits, `-`, `_` and `.`; unique on a page.
    pub id: String,
    /// The heading.
    pub heading: String,
    /// Its name in the bar on top; `None` for the heading, empty for a section that has no link
    /// there.
    pub short: Option<String>,
    /// What follows it, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph of plain text.
    Text(String),
    /// A picture.
    Figure(Figure),
    /// A table.
    Table(Table),
    /// A picture without axes to move.
    Static(StaticFigure),
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the line below the heading.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// Adds a section below those already there.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Sets the command line that makes this page again.
    #[must_use]
    pub fn command(mut self, line: impl Into<String>) -> Self {
        self.command = line.into();
        self
    }

    /// Sets how wide the figures beside the page are, as SVG and PDF.
    #[must_use]
    pub fn figure_width(mut self, width: Width) -> Self {
        self.figure_width = width;
        self
    }

    /// Adds a name and a value to the foot.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.facts.push((name.into(), value.to_string()));
        self
    }

    /// All figures, from top to bottom.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// All tables, from top to bottom.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// All pictures without axes to move, from top to bottom.
    pub fn static_figures(&self) -> impl Iterator<Item = &StaticFigure> {
        self.blocks().filter_map(|block| match block {
            Block::Static(figure) => Some(figure),
            _ => None,
        })
    }

    /// How many cells of all tables hold the verdict, but for those that are counted apart.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tables()
            .filter(|table| !table.apart)
            .flat_map(Table::verdicts)
            .filter(|found| *found == verdict)
            .count()
    }

    /// Checks that ids are usable and distinct and that rows fit their columns.
    ///
    /// # Errors
    /// [`ReportError::BadId`], [`ReportError::DuplicateId`] or [`ReportError::RaggedTable`].
    pub fn check(&self) -> Result<(), ReportError> {
        let mut seen = BTreeSet::new();
        let sections = self.sections.iter().map(|section| ("section", &section.id));
        let figures = self.figures().map(|figure| ("figure", &figure.id));
        let tables = self.tables().map(|table| ("table", &table.id));
        let static_figures = self.static_figures().map(|figure| ("picture", &figure.id));
        for (what, id) in sections.chain(figures).chain(tables).chain(static_figures) {
            if !names_a_file(id) {
                return Err(ReportError::BadId { what, id: id.clone() });
            }
            if !seen.insert(id.to_lowercase()) {
                return Err(ReportError::DuplicateId { id: id.clone() });
            }
        }
        self.tables().try_for_each(rows_fit)
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().flat_map(|section| &section.blocks)
    }
}

impl Section {
    /// A section without content.
    pub fn new(id: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { id: id.into(), heading: heading.into(), ..Self::default() }
    }

    /// Sets a name for the bar on top, which has room for a few words.
    #[must_use]
    pub fn short(mut self, name: impl Into<String>) -> Self {
        self.short = Some(name.into());
        self
    }

    /// Leaves the section out of the bar on top: another leads to it.
    #[must_use]
    pub fn unlisted(self) -> Self {
        self.short("")
    }

    /// What the bar on top calls it, if it has a link there.
    pub fn nav(&self) -> Option<&str> {
        let name = self.short.as_deref().unwrap_or(&self.heading);
        (!name.is_empty()).then_some(name)
    }

    /// Adds a paragraph of plain text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn figure(mut self, figure: Figure) -> Self {
        self.blocks.push(Block::Figure(figure));
        self
    }

    /// Adds a picture without axes to move.
    #[must_use]
    pub fn static_figure(mut self, figure: StaticFigure) -> Self {
        self.blocks.push(Block::Static(figure));
        self
    }

    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }
}

/// Whether the id is safe as a file name on every system and as an anchor.
fn names_a_file(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.len() <= 100 && id.chars().all(plain)
}

fn rows_fit(table: &Table) -> Result<(), ReportError> {
    let expected = table.columns.len();
    match table.rows.iter().position(|row| row.len() != expected) {
        None => Ok(()),
        Some(index) => Err(ReportError::RaggedTable {
            id: table.id.clone(),
            row: index + 1,
            found: table.rows[index].len(),
            expected,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Column};

    fn figure(id: &str) -> Section {
        Section::new("s", "S").figure(Figure::new(id, "t", Axis::new("x", "")))
    }

    #[test]
    fn an_id_that_would_leave_the_directory_is_refused() {
        for id in ["../up", "", ".hidden", "a b", "a/b"] {
            let error = Page::new("p").section(figure(id)).check().unwrap_err();
            assert!(matches!(error, ReportError::BadId { what: "figure", .. }), "{id}: {error}");
        }
    }

    #[test]
    fn ids_that_differ_only_in_case_are_one_file_on_some_systems() {
        let page =
            Page::new("p").section(figure("a").figure(Figure::new("A", "t", Axis::new("x", ""))));
        assert!(matches!(page.check(), Err(ReportError::DuplicateId { .. })));
    }

    #[test]
    fn verdicts_of_something_else_are_not_counted() {
        let judged = |id: &str| {
            let mut table = Table::new(id, "T", [Column::text("verdict")]);
            table.push([Verdict::Fail.into()]);
            table
        };
        let section = Section::new("s", "S").table(judged("rules")).table(judged("asked").apart());
        assert_eq!(Page::new("p").section(section).count(Verdict::Fail), 1);
    }

    #[test]
    fn the_bar_has_a_link_to_each_section_but_those_that_another_leads_to() {
        let section = |id: &str| Section::new(id, "A long heading");
        let all = [section("a"), section("b").short("Short"), section("c").unlisted()];
        let page = all.into_iter().fold(Page::new("p"), Page::section);
        let names: Vec<&str> = page.sections.iter().filter_map(Section::nav).collect();
        assert_eq!(names, ["A long heading", "Short"]);
        let text = crate::html::render(&page).unwrap();
        let bar = text.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
        assert!(bar.contains("#b\">Short</a>") && !bar.contains("#c"), "{bar}");
    }

    #[test]
    fn a_row_with_a_missing_cell_is_named() {
        let mut table = Table::new("t", "T", [Column::text("a"), Column::text("b")]);
        table.push(["1".into(), "2".into()]);
        table.push(["3".into()]);
        let page = Page::new("p").section(Section::new("s", "S").table(table));
        let message = page.check().unwrap_err().to_string();
        assert_eq!(message, "table \"t\", row 2: 1 cells for 2 columns");
    }
}
