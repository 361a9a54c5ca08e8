//! Tables as Arrow record batches, which pandas, polars, DuckDB and Parquet take.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchOptions, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use firstflight_results::table::SCHEMA;
use firstflight_results::{Column, Kind, Table, TableError, Values};

/// The Arrow schema of columns: every field has `unit`, `role` and `meaning` as metadata.
pub fn schema(columns: &[Column]) -> Schema {
    let field = |column: &Column| {
        let kind = match column.kind {
            Kind::Text => DataType::Utf8,
            Kind::Count => DataType::UInt64,
            Kind::Number => DataType::Float64,
            Kind::Flag => DataType::Boolean,
        };
        let role = format!("{:?}", column.role).to_lowercase();
        let about = [("unit", column.unit), ("role", &role), ("meaning", column.meaning)];
        let about = about.into_iter().filter(|(_, text)| !text.is_empty());
        let about: HashMap<String, String> =
            about.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Field::new(column.name, kind, column.nullable).with_metadata(about)
    };
    let fields: Vec<Field> = columns.iter().map(field).collect();
    let about = HashMap::from([("firstflight".to_owned(), SCHEMA.to_owned())]);
    Schema::new_with_metadata(fields, about)
}

/// The table as one record batch.
///
/// # Errors
/// A null in a column that has none, which would be an error of the program.
pub fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let array = |values: &Values| -> ArrayRef {
        match values {
            Values::Text(all) => {
                Arc::new(all.iter().map(Option::as_deref).collect::<StringArray>())
            }
            Values::Count(all) => Arc::new(all.iter().copied().collect::<UInt64Array>()),
            Values::Number(all) => Arc::new(all.iter().copied().collect::<Float64Array>()),
            Values::Flag(all) => Arc::new(all.iter().copied().collect::<BooleanArray>()),
        }
    };
    let rows = RecordBatchOptions::new().with_row_count(Some(table.len()));
    let arrays = table.values().iter().map(array).collect();
    RecordBatch::try_new_with_options(Arc::new(schema(table.columns())), arrays, &rows)
}

/// The table of a record batch whose columns are those of the table, by name and type.
///
/// # Errors
/// [`TableError::Unreadable`] with the column that is missing or of another type.
pub fn table(batch: &RecordBatch, columns: Vec<Column>) -> Result<Table, TableError> {
    let values = columns.iter().map(|column| {
        let array = batch.column_by_name(column.name);
        let values = array.and_then(|array| values(array, column.kind));
        values.ok_or_else(|| {
            let (name, kind) = (column.name, column.kind.json());
            TableError::Unreadable(format!("found no column {name} of {kind}; accepted: {SCHEMA}"))
        })
    });
    let values = values.collect::<Result<Vec<Values>, TableError>>()?;
    Table::of(columns, values)
}

fn values(array: &ArrayRef, kind: Kind) -> Option<Values> {
    let array = array.as_any();
    Some(match kind {
        Kind::Text => {
            let texts = array.downcast_ref::<StringArray>()?.iter();
            Values::Text(texts.map(|text| text.map(str::to_owned)).collect())
        }
        Kind::Count => Values::Count(array.downcast_ref::<UInt64Array>()?.iter().collect()),
        Kind::Number => Values::Number(array.downcast_ref::<Float64Array>()?.iter().collect()),
        Kind::Flag => Values::Flag(array.downcast_ref::<BooleanArray>()?.iter().collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array as _;
    use firstflight_results::table::{Factors, flows, series};
    use firstflight_results::{FlowResult, RunResult};

    #[test]
    fn a_batch_has_the_columns_their_units_and_nulls() {
        let flows = vec![FlowResult { delivered_bytes: 7, ..FlowResult::default() }];
        let run = RunResult { flows, ..RunResult::default() };
        let table = flows::table(&Factors::default(), [&run]).unwrap();
        let batch = batch(&table).unwrap();
        assert_eq!((batch.num_rows(), batch.num_columns()), (1, table.columns().len()));
        let field = batch.schema().field_with_name("rtt_s").unwrap().clone();
        assert_eq!(field.metadata()["unit"], "s");
        assert!(batch.column_by_name("completion_time_s").unwrap().is_null(0));
        assert_eq!(super::table(&batch, table.columns().to_vec()).unwrap(), table);
        let fault = super::table(&batch, series::columns()).unwrap_err().to_string();
        assert!(fault.contains("no column link of string"), "{fault}");
        let bytes = batch.column_by_name("delivered_bytes").unwrap();
        assert_eq!(bytes.as_any().downcast_ref::<UInt64Array>().unwrap().value(0), 7);
    }
}
