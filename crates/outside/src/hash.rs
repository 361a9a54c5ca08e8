//! Names by content.

use std::io::{self, Read};

use base16ct::lower::encode_string;
use sha2::{Digest as _, Sha256};

/// The first 128 bits of the SHA-256 as 32 hexadecimal digits.
pub fn content_name(bytes: &[u8]) -> String {
    encode_string(&Sha256::digest(bytes)[..16])
}

/// [`content_name`] of some bytes and then all of a file.
pub(crate) fn of(begin: &[u8], file: &mut impl Read) -> io::Result<String> {
    let mut hash = Sha256::new_with_prefix(begin);
    let mut block = vec![0; 64 << 10];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(encode_string(&hash.finalize()[..16])),
            read => hash.update(&block[..read]),
        }
    }
}
