//! The secret that `recv` and its senders share, from wherever the user has it.

use std::env;
use std::path::PathBuf;

use firstflight_terminal::command_line::Hidden;
use firstflight_transfer::{Secret, TransferError};

/// Where the secret is.
#[derive(Debug, clap::Args)]
pub(crate) struct SecretArgs {
    /// What a sender has to know; whoever lists this host's processes sees it
    #[arg(long, value_name = "SECRET", conflicts_with = "secret_file", allow_hyphen_values = true)]
    secret: Option<Hidden>,
    /// A file with the secret that only its owner can read [default: variable FIRSTFLIGHT_SECRET]
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// A secret, and how the other side may be told to give it.
pub(crate) struct Given {
    pub(crate) secret: Secret,
    pub(crate) how: How,
}

/// How a command is given a secret, so that the list of processes does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By a file.
    File,
    /// By the variable.
    Variable,
}

impl How {
    /// What a sender types with this secret in place of `firstflight`, and behind the rest. Only a
    /// secret that was made here is shown: its user has to see it once.
    pub(crate) fn typed(self, made: Option<&Secret>) -> (String, &'static str) {
        match self {
            Self::File => ("firstflight".to_owned(), " --secret-file FILE"),
            Self::Variable => {
                let secret = made.map_or("SECRET", Secret::reveal);
                (format!("{VARIABLE}={secret} firstflight"), "")
            }
        }
    }
}

impl SecretArgs {
    /// The one that was given, if any was.
    pub(crate) fn read(&self) -> Result<Option<Given>, TransferError> {
        if let Some(text) = &self.secret {
            let secret = Secret::new(text.reveal(), "--secret")?;
            return Ok(Some(Given { secret, how: How::File }));
        }
        if let Some(path) = &self.secret_file {
            return Ok(Some(Given { secret: Secret::load(path)?, how: How::File }));
        }
        let variable = env::var_os(VARIABLE).filter(|text| !text.is_empty());
        let Some(text) = variable else { return Ok(None) };
        let secret = Secret::new(&text.to_string_lossy(), VARIABLE)?;
        Ok(Some(Given { secret, how: How::Variable }))
    }
}

const VARIABLE: &str = "FIRSTFLIGHT_SECRET";
