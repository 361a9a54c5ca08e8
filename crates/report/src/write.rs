//! Writes a report: one page, and beside it every figure as SVG and PDF and all data as CSV.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

use crate::{Page, ReportError, csv, html, pdf, svg};

/// Writes `report.html`, `figures/<id>.svg` and `.pdf`, `data/<id>.csv` and the files `beside`
/// them, named from there, under `out`; returns their paths, the page first.
///
/// Everything is rendered before the first file is touched, and none appears before there is room
/// for all; the page comes last, so that its links lead somewhere. Directories are made as needed.
///
/// # Errors
/// What [`html::render`] finds, or [`ReportError::Write`] with the path at fault; older files are
/// then untouched, unless it is the renaming that fails.
pub fn write_dir(
    out: &Path,
    page: &Page,
    beside: Vec<(PathBuf, String)>,
) -> Result<Vec<PathBuf>, ReportError> {
    let html = html::render(page)?;
    let beside = beside.into_iter().map(|(path, text)| (out.join(path), text.into_bytes()));
    let mut files: Vec<(PathBuf, Vec<u8>)> = beside.collect();
    for figure in page.figures() {
        let (figures, data) = (out.join("figures"), out.join("data"));
        let (file, width) = (|ending| format!("{}.{ending}", figure.id), page.figure_width);
        files.push((figures.join(file("svg")), svg::render(figure, width)?.into_bytes()));
        files.push((figures.join(file("pdf")), pdf::render(figure, width)?));
        files.push((data.join(file("csv")), csv::figure(figure)?.into_bytes()));
    }
    for table in page.tables() {
        files.push((
            out.join("data").join(format!("{}.csv", table.id)),
            csv::table(table)?.into_bytes(),
        ));
    }
    files.push((out.join("report.html"), html.into_bytes()));
    let parts = files.iter().map(|(path, content)| Part::write(path, content));
    let parts: Vec<Part<'_>> = parts.collect::<Result<_, _>>()?;
    parts.into_iter().try_for_each(Part::rename)?;
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}

/// Writes a file so that it appears whole or not at all, making its directory if it is missing.
///
/// # Errors
/// [`ReportError::Write`] with the path at fault; an older file of that name is then untouched.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ReportError> {
    Part::write(path, content.as_ref())?.rename()
}

/// A file under a temporary name; it is removed unless it is renamed.
struct Part<'a> {
    path: &'a Path,
    hidden: Option<PathBuf>,
}

impl<'a> Part<'a> {
    fn write(path: &'a Path, content: &[u8]) -> Result<Self, ReportError> {
        let Some(name) = path.file_name() else {
            return Err(fault(path, io::Error::from(io::ErrorKind::IsADirectory)));
        };
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(|source| fault(parent, source))?;
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", process::id()));
        let part = Self { path, hidden: Some(path.with_file_name(hidden)) };
        let written = part.hidden.as_ref().map_or(Ok(()), |hidden| fs::write(hidden, content));
        written.map_err(|source| fault(path, source))?;
        Ok(part)
    }

    fn rename(mut self) -> Result<(), ReportError> {
        let renamed = self.hidden.as_ref().map_or(Ok(()), |hidden| fs::rename(hidden, self.path));
        renamed.map_err(|source| fault(self.path, source))?;
        self.hidden = None;
        Ok(())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // An error that led here is reported already; failing to remove the part adds nothing.
        let _ = self.hidden.as_ref().map(fs::remove_file);
    }
}

fn fault(path: &Path, source: io::Error) -> ReportError {
    ReportError::Write { path: path.to_owned(), source }
}
