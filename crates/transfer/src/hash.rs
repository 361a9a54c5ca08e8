//! SHA-256, so that `sha256sum` can check what firstflight checked.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

/// A SHA-256, written in hexadecimal.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sha256(String);

impl Sha256 {
    /// The hash of bytes at hand.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hashing = Hashing::default();
        hashing.update(bytes);
        hashing.finish()
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A SHA-256 of what has been seen so far.
#[derive(Clone)]
pub(crate) struct Hashing(Context);

impl Default for Hashing {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Hashing {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes in the next `count` bytes of a file.
    ///
    /// # Errors
    /// Those of reading; a file with fewer bytes too.
    pub(crate) fn read(&mut self, file: &mut File, count: u64) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        let mut left = count;
        while left > 0 {
            let wanted = usize::try_from(left).map_or(BLOCK, |left| left.min(BLOCK));
            file.read_exact(&mut block[..wanted])?;
            self.update(&block[..wanted]);
            left -= wanted as u64;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Sha256 {
        let digest = self.0.finish();
        Sha256(base16ct::lower::encode_string(digest.as_ref()))
    }
}

const BLOCK: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sha_256_of_fips_180_4() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256::of(b"abc").to_string(), expected);
    }
}
