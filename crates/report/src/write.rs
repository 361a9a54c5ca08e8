//! Writes a report: one page, and beside it every figure as SVG and all data as CSV.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

use crate::{Page, ReportError, csv, html, svg};

/// Writes `report.html`, `figures/<id>.svg` and `data/<id>.csv` under `out`, and returns their
/// paths, the page first.
///
/// Everything is rendered before the first file is touched, and each file appears whole or not at
/// all; the page comes last, so that its links lead somewhere. Directories are made as needed.
///
/// # Errors
/// What [`html::render`] finds, or [`ReportError::Write`] with the path at fault.
pub fn write_dir(out: &Path, page: &Page) -> Result<Vec<PathBuf>, ReportError> {
    let html = html::render(page)?;
    let mut files = Vec::new();
    for figure in page.figures() {
        let (figures, data) = (out.join("figures"), out.join("data"));
        files.push((figures.join(format!("{}.svg", figure.id)), svg::render(figure)?));
        files.push((data.join(format!("{}.csv", figure.id)), csv::figure(figure)?));
    }
    for table in page.tables() {
        files.push((out.join("data").join(format!("{}.csv", table.id)), csv::table(table)?));
    }
    files.push((out.join("report.html"), html));
    for (path, text) in &files {
        write_file(path, text)?;
    }
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}

/// Writes a file so that it appears whole or not at all, making its directory if it is missing.
///
/// # Errors
/// [`ReportError::Write`] with the path at fault; an older file of that name is then untouched.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ReportError> {
    let fault = |path: &Path, source| ReportError::Write { path: path.to_owned(), source };
    let Some(name) = path.file_name() else {
        return Err(fault(path, io::Error::from(io::ErrorKind::IsADirectory)));
    };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent).map_err(|source| fault(parent, source))?;
    }
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", process::id()));
    let part = path.with_file_name(hidden);
    fs::write(&part, content).and_then(|()| fs::rename(&part, path)).map_err(|source| {
        // What failed is worth reporting; that the part could not be removed either is not.
        let _ = fs::remove_file(&part);
        fault(path, source)
    })
}
