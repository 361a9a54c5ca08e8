//! Names by content.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The first 128 bits of the SHA-256 as 32 hexadecimal digits.
pub fn name(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).fold(String::with_capacity(32), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
