//! The core for stacks in C and C++: one header, a static and a shared library.
//!
//! An [`Adapter`] holds a sender of the core's and translates. It refuses what is wrong, and then
//! changes nothing. [`calls`] has the functions of C, each a few lines around one of its methods,
//! and [`abi`] the types that cross the border. `include/firstflight.h` is made of these two by
//! cbindgen (`cargo xtask c --header`), and a test compares its layout with Rust's.
//!
//! A sender has one size for all controls ([`making::Policies`]), so that a caller without a heap
//! can give the memory for it. After it is made nothing is allocated. Nothing here is global.
//!
//! Without the feature `std` the library takes no operating system. With the feature `conformance`
//! every sender checks what is reported to it, for whoever writes the glue of a stack
//! ([`calls::firstflight_check`]).
#![cfg_attr(not(feature = "std"), no_std)]

pub mod abi;
mod adapter;
pub mod calls;
mod error;
pub mod making;
mod translate;

pub use adapter::{Adapter, Answer};

/// Without an operating system a panic can be reported to nobody. The core is tested never to
/// panic.
#[cfg(all(not(feature = "std"), not(test)))]
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// The compiler's own library for targets that can unwind asks for this function, which nothing
/// calls where a panic ends in the loop above.
#[cfg(all(not(feature = "std"), not(test)))]
#[allow(unsafe_code, reason = "its name is the linker's")]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
