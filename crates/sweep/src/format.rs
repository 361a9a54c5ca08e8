//! The form of the files: CSV, or Parquet if the program has named a writer of it
//! ([`set_parquet`]).

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use firstflight_outside::AtomicFile;
use firstflight_results::table::flows;
use firstflight_results::{Column, CsvRows, Table};

use crate::SweepError;

/// The form of the chunks' files and of the final table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// CSV.
    #[cfg_attr(not(feature = "parquet"), default)]
    Csv,
    /// Parquet, compressed with zstd. Without the feature `parquet` it takes a [`Parquet`].
    #[cfg_attr(feature = "parquet", default)]
    Parquet,
}

/// A library that writes Parquet files, and reads those of the table of flows.
pub trait Parquet: Sync {
    /// Why it cannot be used.
    ///
    /// # Errors
    /// What it lacks, and what is accepted.
    fn check(&self) -> Result<(), String>;

    /// Begins a file of these columns.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn create(&self, file: &Path, columns: &[Column]) -> io::Result<Box<dyn ParquetRows>>;

    /// Hands on the rows of a file, some thousands at a time.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged, and what `each` says.
    fn read(
        &self,
        file: &Path,
        each: &mut dyn FnMut(Table) -> Result<(), SweepError>,
    ) -> Result<(), SweepError>;
}

/// A Parquet file that is being written.
pub trait ParquetRows {
    /// Appends rows.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn write(&mut self, rows: Table) -> io::Result<()>;

    /// Ends the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Has Parquet files written and read by a library of the caller; the first call of a program
/// counts.
pub fn set_parquet(by: &'static dyn Parquet) {
    let _ = PARQUET.set(by);
}

static PARQUET: OnceLock<&'static dyn Parquet> = OnceLock::new();

fn parquet() -> Result<&'static dyn Parquet, String> {
    #[cfg(feature = "parquet")]
    let by = Some(*PARQUET.get_or_init(|| &crate::parquet::BuiltIn));
    #[cfg(not(feature = "parquet"))]
    let by = PARQUET.get().copied();
    let by = by.ok_or_else(|| {
        "this program was built without parquet; accepted: csv, or a program built with --features \
         parquet"
            .to_owned()
    })?;
    by.check().map(|()| by)
}

impl Format {
    /// The format of a name.
    ///
    /// # Errors
    /// A name that is none, or a format that this program was built without.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "csv" => Ok(Self::Csv),
            "parquet" => parquet().map(|_| Self::Parquet),
            _ => Err(format!("found \"{name}\"; accepted: csv, parquet")),
        }
    }

    /// Its name, and how its files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Hands on the rows of a file, some thousands at a time.
    pub(crate) fn read(
        self,
        path: &Path,
        mut each: impl FnMut(Table) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        match self {
            Self::Csv => {
                let fault = || SweepError::table("read", path);
                let file = BufReader::new(File::open(path).map_err(SweepError::read(path))?);
                let mut rows = CsvRows::new(file, flows::columns()).map_err(fault())?;
                loop {
                    let table = rows.next(ROWS).map_err(fault())?;
                    if table.is_empty() {
                        return Ok(());
                    }
                    each(table)?;
                }
            }
            Self::Parquet => {
                let by = parquet().map_err(io::Error::other).map_err(SweepError::read(path))?;
                by.read(path, &mut each)
            }
        }
    }

    /// Writes a table as a file, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(self, path: &Path, table: Table) -> Result<(), SweepError> {
        let mut rows = self.begin(path, table.columns())?;
        rows.write(table)?;
        rows.finish()
    }

    /// Begins a file for tables of these columns.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(self, path: &Path, columns: &[Column]) -> Result<Rows, SweepError> {
        self.rows(AtomicFile::create(path).map_err(SweepError::write(path))?, columns)
    }

    /// Tables of these columns, in a file that is begun.
    pub(crate) fn rows(self, to: AtomicFile, columns: &[Column]) -> Result<Rows, SweepError> {
        let form = match self {
            Self::Csv => Form::Csv {
                file: BufWriter::new(to.file().map_err(SweepError::write(to.path()))?),
                begun: false,
            },
            Self::Parquet => {
                let by = parquet().map_err(io::Error::other);
                let rows = by.and_then(|by| by.create(to.hidden(), columns));
                Form::Parquet(rows.map_err(SweepError::write(to.path()))?)
            }
        };
        Ok(Rows { form, to })
    }
}

/// A file of tables one after the other, which is there when it is whole.
pub struct Rows {
    form: Form,
    to: AtomicFile,
}

enum Form {
    Csv {
        file: BufWriter<File>,
        /// Whether the line of names is written.
        begun: bool,
    },
    Parquet(Box<dyn ParquetRows>),
}

impl Rows {
    /// Appends rows.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&mut self, table: Table) -> Result<(), SweepError> {
        match &mut self.form {
            Form::Csv { file, begun } => {
                let first = !std::mem::replace(begun, true);
                let written = if first { table.write_csv(file) } else { table.append_csv(file) };
                written.map_err(SweepError::table("write", self.to.path()))
            }
            Form::Parquet(rows) => rows.write(table).map_err(SweepError::write(self.to.path())),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> Result<(), SweepError> {
        let file = self.whole()?;
        let path = file.path().to_owned();
        file.finish().map_err(SweepError::write(&path))
    }

    /// The file with all that was written, which has yet to get its name.
    pub(crate) fn whole(self) -> Result<AtomicFile, SweepError> {
        let Self { form, to } = self;
        let written = match form {
            Form::Csv { mut file, .. } => file.flush(),
            Form::Parquet(rows) => rows.finish(),
        };
        written.map_err(SweepError::write(to.path()))?;
        Ok(to)
    }
}

/// Rows in memory at a time.
const ROWS: usize = 8192;
