//! Parquet files: the table of flows with its units as metadata.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use firstflight_table::{Table, arrow, flows};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::SweepError;

/// Writes tables into one file. Row groups hold the tables as they come, gathered to a size that
/// does not depend on how the sweep was run.
pub(crate) struct Writer {
    to: Result<ArrowWriter<File>, ParquetError>,
}

impl Writer {
    pub(crate) fn new(file: File) -> Self {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROWS))
            .build();
        let schema = Arc::new(arrow::schema(&flows::columns()));
        Self { to: ArrowWriter::try_new(file, schema, Some(properties)) }
    }

    pub(crate) fn write(&mut self, table: Table, path: &Path) -> Result<(), SweepError> {
        let batch = arrow::batch(&table)
            .map_err(|error| fault("write", path)(ParquetError::General(error.to_string())))?;
        match &mut self.to {
            Ok(writer) => writer.write(&batch).map_err(fault("write", path)),
            Err(error) => Err(fault("write", path)(ParquetError::General(error.to_string()))),
        }
    }

    /// Ends the file and hands it back.
    pub(crate) fn finish(self, path: &Path) -> Result<File, SweepError> {
        let written = self.to.and_then(ArrowWriter::into_inner);
        written.map_err(fault("write", path))
    }
}

/// Hands on the rows of a file.
pub(crate) fn read(
    file: File,
    path: &Path,
    mut each: impl FnMut(Table) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(fault("read", path))?;
    let batches = builder.with_batch_size(8192).build().map_err(fault("read", path))?;
    for batch in batches {
        let damaged = |problem| SweepError::Folder { path: path.to_owned(), problem };
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        each(arrow::table(&batch, flows::columns()).map_err(SweepError::table("read", path))?)?;
    }
    Ok(())
}

/// What the file system said, if it did; what is wrong with the file otherwise.
fn fault(what: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> SweepError {
    let path = path.to_owned();
    move |error| {
        let problem = error.to_string();
        match error {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => SweepError::File { what, path, source: *source },
                Err(_) => SweepError::Folder { path, problem },
            },
            _ => SweepError::Folder { path, problem },
        }
    }
}

/// Rows of a row group, some megabytes in memory.
const ROWS: usize = 65_536;
