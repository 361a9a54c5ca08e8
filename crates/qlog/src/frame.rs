//! How records stand in a file: JSON text sequences, lines of JSON, or one document.

use serde_json::Value;

use crate::QlogError;
use crate::cut_short::complete_part;

/// Before each record of a JSON text sequence (RFC 7464, section 2.2).
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

/// A file taken apart, before anything is known of its content.
pub(crate) enum Framed {
    /// One JSON document.
    Document(Value),
    /// The complete part of a document that breaks off, and the error at its end.
    CutShort(Value, serde_json::Error),
    /// One value per record: a header, then events.
    Records(Vec<serde_json::Result<Value>>),
}

/// Finds out how the file is written and takes it apart.
pub(crate) fn take_apart(file: &str, bytes: &[u8]) -> Result<Framed, QlogError> {
    let not = |found: &str| QlogError::NotQlog { file: file.to_owned(), found: found.to_owned() };
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    match bytes {
        [] => Err(not("the file is empty")),
        [0x1f, 0x8b, ..] => Err(not("compressed by gzip, unpack it first")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(not("compressed by zstd, unpack it first")),
        [RECORD_SEPARATOR, ..] => {
            Ok(Framed::Records(records(bytes.split(|byte| *byte == RECORD_SEPARATOR))))
        }
        [b'{', ..] => match serde_json::from_slice(bytes) {
            Ok(document) => Ok(Framed::Document(document)),
            // Several documents, one a line; or one that is broken.
            Err(error) => {
                let records = records(bytes.split(|byte| *byte == b'\n'));
                if let [Ok(_), _, ..] = records.as_slice() {
                    return Ok(Framed::Records(records));
                }
                match complete_part(bytes).filter(|_| error.is_eof()) {
                    Some(document) => Ok(Framed::CutShort(document, error)),
                    None => Err(not(&format!("JSON that does not parse: {error}"))),
                }
            }
        },
        [other, ..] => Err(not(&format!("begins with {}", std::ascii::escape_default(*other)))),
    }
}

fn records<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<serde_json::Result<Value>> {
    let pieces = pieces.map(<[u8]>::trim_ascii).filter(|piece| !piece.is_empty());
    pieces.map(serde_json::from_slice).collect()
}

const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
