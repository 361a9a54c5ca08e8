//! The secret that `recv` and its senders share, from wherever the user has it.

use std::env;
use std::path::PathBuf;

use firstflight_transfer::{Secret, TransferError};

/// Where the secret is.
#[derive(Debug, clap::Args)]
pub(crate) struct SecretArgs {
    /// What a sender has to know; whoever lists this host's processes sees it
    #[arg(long, value_name = "SECRET", conflicts_with = "secret_file")]
    secret: Option<String>,
    /// A file with the secret that only its owner can read [default: variable FIRSTFLIGHT_SECRET]
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// A secret, and the words with which a sender gives it.
pub(crate) struct Given {
    pub(crate) secret: Secret,
    pub(crate) shown: &'static str,
}

impl SecretArgs {
    /// The one that was given, if any was.
    pub(crate) fn read(&self) -> Result<Option<Given>, TransferError> {
        let in_file = "--secret-file FILE";
        if let Some(text) = &self.secret {
            let secret = Secret::new(text, "--secret")?;
            return Ok(Some(Given { secret, shown: "--secret SECRET" }));
        }
        if let Some(path) = &self.secret_file {
            return Ok(Some(Given { secret: Secret::load(path)?, shown: in_file }));
        }
        let variable = env::var_os(VARIABLE).filter(|text| !text.is_empty());
        let Some(text) = variable else { return Ok(None) };
        let secret = Secret::new(&text.to_string_lossy(), VARIABLE)?;
        Ok(Some(Given { secret, shown: in_file }))
    }
}

const VARIABLE: &str = "FIRSTFLIGHT_SECRET";
