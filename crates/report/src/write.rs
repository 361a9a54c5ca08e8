//! Writes a report: one page, and beside it every figure as SVG and PDF and all data as CSV.

use std::{
    fs,
    path::{Path, PathBuf},
};

use firstflight_outside::{AtomicFile, is_written_through};

use crate::{Page, ReportError, csv, html, pdf, svg};

/// Writes `report.html`, `figures/<id>.svg` and `.pdf`, `data/<id>.csv` and `more_files`,
/// whose paths begin there, under `out`; returns all paths, the page first.
///
/// Everything is rendered before the first file is touched, and none appears before there is room
/// for all; the page comes last, so that its links lead somewhere. Directories are made as needed.
///
/// # Errors
/// What [`html::render`] finds, or [`ReportError::File`] with the path at fault; older files are
/// then untouched, unless it is the renaming that fails.
pub fn write_dir(
    out: &Path,
    page: &Page,
    more_files: Vec<(PathBuf, String)>,
) -> Result<Vec<PathBuf>, ReportError> {
    let html = html::render(page)?;
    let more_files = more_files.into_iter().map(|(path, text)| (out.join(path), text.into_bytes()));
    let mut files: Vec<(PathBuf, Vec<u8>)> = more_files.collect();
    for figure in page.figures() {
        let (figures, data) = (out.join("figures"), out.join("data"));
        let (file, width) = (|ending| format!("{}.{ending}", figure.id), page.figure_width);
        files.push((figures.join(file("svg")), svg::render(figure, width)?.into_bytes()));
        files.push((figures.join(file("pdf")), pdf::render(figure, width)?));
        files.push((data.join(file("csv")), csv::figure(figure)?.into_bytes()));
    }
    for figure in page.static_figures() {
        let figures = out.join("figures");
        files.push((figures.join(format!("{}.svg", figure.id)), figure.svg()?.into_bytes()));
        files.push((figures.join(format!("{}.pdf", figure.id)), figure.pdf()?));
    }
    for table in page.tables() {
        files.push((
            out.join("data").join(format!("{}.csv", table.id)),
            csv::table(table)?.into_bytes(),
        ));
    }
    files.push((out.join("report.html"), html.into_bytes()));
    let begun = files.iter().map(|(path, content)| Begun::write(path, content));
    let begun: Vec<Begun<'_>> = begun.collect::<Result<_, _>>()?;
    begun.into_iter().try_for_each(Begun::finish)?;
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}

/// Writes a file so that it appears whole or not at all, making its directory if it is missing.
/// A device, a FIFO or a link at that path is not replaced by a regular file: it stays, and the
/// content is written to it.
///
/// # Errors
/// [`ReportError::File`] with the path at fault; an older file of that name is then untouched.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ReportError> {
    Begun::write(path, content.as_ref())?.finish()
}

/// A file that has all it takes to be finished.
enum Begun<'a> {
    /// Written under another name, which becomes the right one.
    Renamed(AtomicFile),
    /// No regular file, such as a device: it is written to at the end.
    Through { path: &'a Path, content: &'a [u8] },
}

impl<'a> Begun<'a> {
    fn write(path: &'a Path, content: &'a [u8]) -> Result<Self, ReportError> {
        if is_written_through(path) {
            return Ok(Self::Through { path, content });
        }
        let file = AtomicFile::create(path);
        let written = file.and_then(|file| file.write(content).map(|()| file));
        written.map(Self::Renamed).map_err(ReportError::write(path))
    }

    fn finish(self) -> Result<(), ReportError> {
        match self {
            Self::Renamed(file) => {
                let path = file.path().to_owned();
                file.finish().map_err(ReportError::write(&path))
            }
            Self::Through { path, content } => {
                fs::write(path, content).map_err(ReportError::write(path))
            }
        }
    }
}
