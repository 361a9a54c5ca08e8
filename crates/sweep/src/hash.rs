//! Names by content.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// The first 128 bits of the SHA-256 as 32 hexadecimal digits.
pub fn name(bytes: &[u8]) -> String {
    digits(Sha256::digest(bytes).as_slice())
}

/// [`name`] of some bytes and then all of a file.
pub(crate) fn of(begin: &[u8], file: &mut impl Read) -> io::Result<String> {
    let mut hash = Sha256::new_with_prefix(begin);
    let mut block = vec![0; 64 << 10];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(digits(hash.finalize().as_slice())),
            read => hash.update(&block[..read]),
        }
    }
}

fn digits(hash: &[u8]) -> String {
    hash.iter().take(16).fold(String::with_capacity(32), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
