//! The form of the files: CSV, or Parquet where it is built in.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;

use firstflight_table::{CsvRows, Table, flows};

use crate::SweepError;
#[cfg(feature = "parquet")]
use crate::parquet;

/// The form of the chunks' files and of the final table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// CSV.
    #[cfg_attr(not(feature = "parquet"), default)]
    Csv,
    /// Parquet, compressed with zstd.
    #[cfg(feature = "parquet")]
    #[default]
    Parquet,
}

impl Format {
    /// The format of a name.
    ///
    /// # Errors
    /// A name that is none, or a format that this program was built without.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "csv" => Ok(Self::Csv),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Self::Parquet),
            #[cfg(not(feature = "parquet"))]
            "parquet" => {
                Err("this program was built without parquet; accepted: csv, or a program \
                              built with --features parquet"
                    .to_owned())
            }
            _ => Err(format!("found \"{name}\"; accepted: csv, parquet")),
        }
    }

    /// Its name, and how its files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// Hands on the rows of a file, some thousands at a time.
    pub(crate) fn read(
        self,
        path: &Path,
        mut each: impl FnMut(Table) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let file = File::open(path).map_err(SweepError::read(path))?;
        match self {
            Self::Csv => {
                let fault = || SweepError::table("read", path);
                let file = BufReader::new(file);
                let mut rows = CsvRows::new(file, flows::columns()).map_err(fault())?;
                loop {
                    let table = rows.next(ROWS).map_err(fault())?;
                    if table.is_empty() {
                        return Ok(());
                    }
                    each(table)?;
                }
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => parquet::read(file, path, each),
        }
    }

    /// A writer of tables into one file.
    pub(crate) fn writer(self, file: File) -> Writer {
        match self {
            Self::Csv => Writer::Csv { file: BufWriter::new(file), begun: false },
            #[cfg(feature = "parquet")]
            Self::Parquet => Writer::Parquet(Box::new(parquet::Writer::new(file))),
        }
    }
}

/// Writes tables into one file.
pub(crate) enum Writer {
    Csv {
        file: BufWriter<File>,
        /// Whether the line of names is written.
        begun: bool,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Writer>),
}

impl Writer {
    pub(crate) fn write(&mut self, table: Table, path: &Path) -> Result<(), SweepError> {
        match self {
            Self::Csv { file, begun } => {
                let first = !std::mem::replace(begun, true);
                let written = if first { table.write_csv(file) } else { table.append_csv(file) };
                written.map_err(SweepError::table("write", path))
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.write(table, path),
        }
    }

    /// Ends the file and waits until the disk has it.
    pub(crate) fn finish(self, path: &Path) -> Result<(), SweepError> {
        let file = match self {
            Self::Csv { mut file, .. } => {
                file.flush().map_err(SweepError::write(path))?;
                file.into_inner().map_err(|error| SweepError::write(path)(error.into_error()))?
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.finish(path)?,
        };
        file.sync_all().map_err(SweepError::write(path))
    }
}

/// Rows in memory at a time.
const ROWS: usize = 8192;
