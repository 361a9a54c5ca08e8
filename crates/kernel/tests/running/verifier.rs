//! In no control does the verifier lose the bounds of a number.
//!
//! It may find that what it knows of a number from one instruction contradicts what it knows from
//! another, as clang can make arithmetic that it does not see through. By default it then only
//! writes "REG INVARIANTS VIOLATION" into its log and goes on without bounds, so the control loads
//! and the fault stays unseen; with a flag of Linux 6.8 it refuses. Every control that is replayed
//! is loaded with it.

use std::sync::LazyLock;

use firstflight_control::Control;
use firstflight_kernel::load::{Options, Prepared};
use firstflight_kernel::{KernelControl, LoadError};

use crate::{able, skip};

/// Knobs are numbers that the verifier knows as any; but these take the object in which the
/// avoidance keeps an estimate besides the start-up's, or shares one that it asks for.
#[test]
fn the_verifier_never_contradicts_itself() {
    if !able() {
        return;
    }
    if !*STRICT {
        return skip("slow-start+newreno is refused with BPF_F_TEST_REG_INVARIANTS (Linux 6.8)");
    }
    for (number, text) in ["tcpw-a(preset=ns2)", "dbc(wth=ere)+westwood"].into_iter().enumerate() {
        let checked = prepare(text, number + 1);
        assert!(checked.is_ok(), "{text}: {checked:?}");
    }
}

/// Whether this kernel can be asked to refuse what its verifier contradicts itself over.
pub(crate) static STRICT: LazyLock<bool> =
    LazyLock::new(|| prepare("slow-start+newreno", 0).is_ok());

/// Has the kernel check a control, without registering it.
fn prepare(text: &str, number: usize) -> Result<(), LoadError> {
    let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
    let name = Some(format!("ff_v{number}_{}", std::process::id() % 10_000));
    Prepared::load(&control, &Options { name, strict: true, ..Options::default() }).map(drop)
}
