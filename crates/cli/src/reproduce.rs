//! `reproduce` with the lab: the running kernel's TCP, or a kernel's in virtual time, over
//! firstflight's own link, which is the same on every kernel and tells how late it was.

use firstflight_reproduce::command;
use firstflight_transports::On;

use crate::failure::{Failure, Status};

// The help begins with the sentence of `common`, and clap's group is that of `common`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    common: command::Args,
    /// Run the rows of the lab on a kernel in virtual time, as `run --on linux --virtual-time`: no
    /// root, all cores, equal results on every run
    #[arg(long)]
    virtual_time: bool,
    /// In virtual time, the kernel: a Debian package's name, FILE.deb, a folder of unpacked
    /// packages, or an x86-64 bzImage [default: linux-image-cloud-amd64]
    #[arg(long, value_name = "KERNEL", requires = "virtual_time")]
    kernel: Option<String>,
}

/// Runs the command.
pub(crate) fn reproduce(args: &Args) -> Result<Status, Failure> {
    let asked = args.common.check()? || args.virtual_time;
    let lab = On::lab(args.virtual_time, args.kernel.as_deref()).transport()?;
    // What a guest lacks is said before anything runs.
    lab.version()?;
    Ok(args.common.run(asked.then_some(&*lab))?)
}
