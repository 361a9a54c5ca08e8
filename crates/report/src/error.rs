//! What can go wrong when a report is made.

use std::io;
use std::path::Path;

use firstflight_outside::FileFault;

/// Why a report could not be made or written. The message names the path or id at fault.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file or directory could not be written.
    #[error(transparent)]
    File(#[from] FileFault),
    /// An id cannot be a file name and an anchor.
    #[error("id {id:?} of a {what} cannot name a file: use letters, digits, '-', '_' and '.'")]
    BadId {
        /// What bears the id: figure, table or section.
        what: &'static str,
        /// The id as found.
        id: String,
    },
    /// Two figures, tables or sections of one page have one id.
    #[error("two things on the page have the id {id:?}: ids must differ")]
    DuplicateId {
        /// The id as found.
        id: String,
    },
    /// The number of cells of a row is not the number of columns.
    #[error("table {id:?}, row {row}: {found} cells for {expected} columns")]
    RaggedTable {
        /// The table's id.
        id: String,
        /// The row, counted from 1.
        row: usize,
        /// Cells in that row.
        found: usize,
        /// Columns of the table.
        expected: usize,
    },
    /// A picture or text could not be rendered.
    #[error("cannot render {id:?}: {reason}")]
    Render {
        /// The id of the figure, table or page.
        id: String,
        /// What the renderer said.
        reason: String,
    },
}

impl ReportError {
    /// Whether there is no room for what was to be written, which is no fault of its name.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::File(fault) if fault.is_full())
    }

    /// A file or a directory that could not be written.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let fault = FileFault::write(path);
        |source| fault(source).into()
    }

    /// What was to be rendered, and what the renderer said.
    pub(crate) fn render(id: &str, error: &dyn std::error::Error) -> Self {
        Self::Render { id: id.to_owned(), reason: error.to_string() }
    }
}
