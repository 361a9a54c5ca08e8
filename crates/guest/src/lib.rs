//! A Linux kernel in qemu with programs of this machine in it: makes the initramfs, boots it, and
//! reads what the guest writes.
//!
//! The guest has no disk and no network, and needs no privilege on the host. A [`Kernel`] comes out
//! of a Debian package or is a bzImage; an [`Image`] holds programs with the libraries they ask for
//! and the kernel's modules; a [`Machine`] boots them. What takes long is kept in the user's
//! [`Cache`], by hash.

mod cache;
mod error;
mod host;
mod image;
mod kernel;
mod machine;
mod temporary;
mod tool;

pub use cache::{Cache, sha256};
pub use error::GuestError;
pub use image::{Image, JOB};
pub use kernel::{DEFAULT_KERNEL, Kernel};
pub use machine::{Machine, Time, qemu_version};
pub use temporary::{Scratch, concatenated};
pub use tool::which;
