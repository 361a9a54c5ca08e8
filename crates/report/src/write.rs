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
    for still in page.stills() {
        let place = out.join("figures").join(format!("{}.svg", still.id));
        files.push((place, still.svg.clone().into_bytes()));
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
    parts.into_iter().try_for_each(Part::finish)?;
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}

/// Writes a file so that it appears whole or not at all, making its directory if it is missing.
/// A device, a FIFO or a link at that path is not replaced by a regular file: it stays, and the
/// content is written to it.
///
/// # Errors
/// [`ReportError::Write`] with the path at fault; an older file of that name is then untouched.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ReportError> {
    Part::write(path, content.as_ref())?.finish()
}

/// Whether a result there is written to what exists, instead of taking its place: to a device, a
/// FIFO, or what a link leads to.
pub fn is_written_through(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// A file on its way to its name.
enum Part<'a> {
    /// Under a temporary name, which is removed unless it becomes the file's own.
    Beside { path: &'a Path, hidden: Option<PathBuf> },
    /// What is no regular file has no place beside it; it is written to at the end.
    Through { path: &'a Path, content: &'a [u8] },
}

impl<'a> Part<'a> {
    fn write(path: &'a Path, content: &'a [u8]) -> Result<Self, ReportError> {
        if is_written_through(path) {
            return Ok(Self::Through { path, content });
        }
        let Some(name) = path.file_name() else {
            return Err(fault(path, io::Error::from(io::ErrorKind::IsADirectory)));
        };
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(|source| fault(parent, source))?;
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", process::id()));
        let hidden = path.with_file_name(hidden);
        let part = Self::Beside { path, hidden: Some(hidden.clone()) };
        fs::write(&hidden, content).map_err(|source| fault(path, source))?;
        Ok(part)
    }

    fn finish(mut self) -> Result<(), ReportError> {
        let (path, done) = match &mut self {
            Self::Beside { path, hidden } => {
                let renamed = hidden.as_ref().map_or(Ok(()), |hidden| fs::rename(hidden, *path));
                (*path, renamed.map(|()| *hidden = None))
            }
            Self::Through { path, content } => (*path, fs::write(path, content)),
        };
        done.map_err(|source| fault(path, source))
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Self::Beside { hidden: Some(hidden), .. } = self {
            // An error that led here is reported already; failing to remove the part adds nothing.
            let _ = fs::remove_file(hidden);
        }
    }
}

fn fault(path: &Path, source: io::Error) -> ReportError {
    ReportError::Write { path: path.to_owned(), source }
}
