//! The kernel's verifier never loses its bounds over any control.
//!
//! It may find that what it knows of a number from one instruction contradicts what it knows from
//! another, as clang can make arithmetic that it does not see through. By default it then only
//! writes "REG INVARIANTS VIOLATION" into its log and goes on without bounds, so the control loads
//! and nobody hears of it; with a flag of Linux 6.8 it refuses.
//!
//! Needs root and such a kernel; elsewhere it says that it was skipped, and with
//! FIRSTFLIGHT_REQUIRE_BPF=1 it fails instead.

use firstflight_control::Control;
use firstflight_kernel::catalogue::PAIRS;
use firstflight_kernel::load::{Options, Prepared};
use firstflight_kernel::{KernelControl, LoadError, requirements};

#[test]
fn the_verifier_never_contradicts_itself() {
    if let Err(lack) = requirements::check() {
        return skip(&lack.to_string());
    }
    // Knobs are numbers that the verifier knows as any; but some take the object in which the
    // avoidance keeps an estimate beside the start-up's, or shares one that it asks for.
    let apart = ["tcpw-a(preset=ns2)", "dbc(wth=ere)+westwood"].map(str::to_owned);
    let all = PAIRS.iter().map(|pair| format!("{}+{}", pair.startup, pair.avoidance));
    for (number, text) in all.chain(apart).enumerate() {
        match prepare(&text, number, true) {
            // Without the flag it loads too: the verifier then looks at the same, and allows more.
            Ok(_) => println!("{text}: bounds kept"),
            Err(LoadError::Refused { reason, .. }) if number == 0 && reason.contains("nvalid") => {
                return skip("the kernel has no BPF_F_TEST_REG_INVARIANTS (Linux 6.8)");
            }
            Err(error) => {
                let plain = prepare(&text, number, false).map(drop);
                panic!("{text}: {error}; without the flag: {plain:?}");
            }
        }
    }
}

/// Has the kernel check a control, without registering it.
fn prepare(text: &str, number: usize, strict: bool) -> Result<Prepared, LoadError> {
    let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
    let name = Some(format!("ff_v{number}_{}", std::process::id() % 10_000));
    Prepared::load(&control, &Options { name, strict, ..Options::default() })
}

fn skip(why: &str) {
    eprintln!("skipped: {why}");
    assert!(std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_none(), "BPF is required here: {why}");
}
