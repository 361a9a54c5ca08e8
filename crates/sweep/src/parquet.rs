//! Parquet files by the crate `parquet`: the table of flows with its units as metadata.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use firstflight_results::table::flows;
use firstflight_results::{Column, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::{Parquet, ParquetRows, SweepError, arrow};

pub(crate) struct BuiltIn;

/// Row groups hold the tables as they come, gathered to a size that does not depend on how the
/// sweep was run.
struct Writer(ArrowWriter<File>);

impl Parquet for BuiltIn {
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn create(&self, file: &Path, columns: &[Column]) -> io::Result<Box<dyn ParquetRows>> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROWS))
            .build();
        let schema = Arc::new(arrow::schema(columns));
        let writer = ArrowWriter::try_new(File::create(file)?, schema, Some(properties));
        Ok(Box::new(Writer(writer.map_err(fault)?)))
    }

    fn read(
        &self,
        path: &Path,
        each: &mut dyn FnMut(Table) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let damaged = |problem| SweepError::Folder { path: path.to_owned(), problem };
        let file = File::open(path).map_err(SweepError::read(path))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file);
        let batches = reader.and_then(|reader| reader.with_batch_size(8192).build());
        for batch in batches.map_err(|error| damaged(error.to_string()))? {
            let batch = batch.map_err(|error| damaged(error.to_string()))?;
            each(arrow::table(&batch, flows::columns()).map_err(SweepError::table("read", path))?)?;
        }
        Ok(())
    }
}

impl ParquetRows for Writer {
    fn write(&mut self, rows: Table) -> io::Result<()> {
        let batch = arrow::batch(&rows).map_err(io::Error::other)?;
        self.0.write(&batch).map_err(fault)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.close().map(drop).map_err(fault)
    }
}

/// What the file system said, if it did.
fn fault(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

/// Rows of a row group, some megabytes in memory.
const ROWS: usize = 65_536;
