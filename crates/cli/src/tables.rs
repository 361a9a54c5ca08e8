//! A table as files in a folder: CSV, and Parquet where the build has it.

use std::path::{Path, PathBuf};

use firstflight_results::{Column, Table};
use firstflight_sweep::{Format, Rows};

use crate::failure::Failure;
use crate::output;

/// Files of the connections of a recording, which are written part by part.
pub(crate) struct Tables {
    files: Vec<(PathBuf, Rows)>,
}

impl Tables {
    /// Creates `connections.csv`. A build with the feature `parquet` creates `connections.parquet`
    /// too.
    pub(crate) fn begin(folder: &Path, columns: Vec<Column>) -> Result<Self, Failure> {
        let formats = [Some(Format::Csv), Format::named("parquet").ok()].into_iter().flatten();
        let begin = |format: Format| {
            let file = folder.join(format!("connections.{}", format.name()));
            Ok((file.clone(), format.begin(&file, &columns)?))
        };
        Ok(Self { files: formats.map(begin).collect::<Result<_, Failure>>()? })
    }

    /// Appends rows.
    pub(crate) fn write(&mut self, rows: Table) -> Result<(), Failure> {
        for (_, file) in &mut self.files {
            file.write(rows.clone())?;
        }
        Ok(())
    }

    /// Ends the files, and names them.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        for (path, file) in self.files {
            file.finish()?;
            output::note(&format!("table: {}", path.display()));
        }
        Ok(())
    }
}
