//! The documents of `--json` that are this crate's own.

use firstflight_answers::json;
use serde::Serialize;

use crate::failure::Failure;

#[derive(Serialize)]
struct Document<T> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    content: T,
}

/// The text of a document, which begins with its schema and the version that wrote it.
pub(crate) fn document(schema: &'static str, content: impl Serialize) -> Result<String, Failure> {
    Ok(json(&Document { schema, version: env!("CARGO_PKG_VERSION"), content })?)
}
