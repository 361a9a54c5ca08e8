//! `kernel`: what needs no kernel at all, and where it can be had the whole way from load to
//! unload.

use crate::process::run;

#[test]
fn a_control_is_checked_before_the_machine_is() {
    for (control, wanted) in [
        ("nonsense", "unknown start-up `nonsense`"),
        ("slow-start+vegas", "no kernel version of slow-start+vegas"),
        ("newreno(sums=double)", "eBPF has no floating point; accepted: exact"),
    ] {
        let outcome = run(&["kernel", "load", control]);
        assert_eq!(outcome.code, 2, "{control}: {outcome:?}");
        assert!(outcome.stderr.contains(wanted), "{control}: {}", outcome.stderr);
    }
}

/// As for `kernel load`: nothing that could be added to the machine would help.
#[cfg(target_os = "linux")]
#[test]
fn a_control_without_a_kernel_version_is_wrong_input_for_the_lab_too() {
    let outcome = run(&["compare", "limited", "--on", "linux"]);
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (2, 1), "{outcome:?}");
    assert!(outcome.stderr.contains("no kernel version of limited+newreno"), "{outcome:?}");
}

#[test]
fn help_tells_which_controls_there_are_and_how_to_use_one() {
    let help = run(&["kernel", "load", "--help"]).stdout;
    for wanted in ["astart", "newreno", "tcpw-a", "congctl", "tcp_congestion_control"] {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
}

#[cfg(not(feature = "kernel"))]
#[test]
fn a_build_without_it_says_what_to_install() {
    for words in [&["load", "astart"][..], &["unload", "--all"], &["status"]] {
        let outcome = run(&[&["kernel"], words].concat());
        assert_eq!((outcome.code, outcome.stderr.lines().count()), (3, 1), "{outcome:?}");
        assert!(outcome.stderr.contains("--features kernel"), "{}", outcome.stderr);
    }
}

#[cfg(feature = "kernel")]
mod loaded {
    use firstflight_control::Control;
    use firstflight_kernel::catalogue::available;
    use firstflight_kernel::load::Options;
    use firstflight_kernel::{KernelControl, Prepared, pinned, requirements};

    use crate::process::run;

    /// Whether this machine can load; says why not.
    fn able() -> bool {
        match requirements::check().and_then(|_| requirements::check_pinning()) {
            Ok(()) => true,
            Err(lack) => {
                eprintln!("skipped: {lack}");
                let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some();
                assert!(!required, "BPF is required here: {lack}");
                false
            }
        }
    }

    fn name(what: &str) -> String {
        format!("ff_{what}_{}", std::process::id() % 100_000)
    }

    #[test]
    fn a_loaded_control_outlives_the_command_until_unloaded() {
        if able() {
            from_load_to_unload(&name("cli"), &[]);
        }
    }

    #[test]
    fn so_it_does_where_the_kernel_has_no_links() {
        if able() {
            from_load_to_unload(&name("old"), &["--without-link"]);
        }
    }

    fn from_load_to_unload(name: &str, how: &[&str]) {
        let control = format!("{name}=astart(ere.N=7)");
        let loaded = run(&[&["kernel", "load", &control, "--json"], how].concat());
        assert_eq!(loaded.code, 0, "{loaded:?}");
        let known = |name: &str| available().iter().any(|known| known == name);
        assert!(known(name));
        let status = run(&["kernel", "status", "--json"]);
        let document: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
        let entries = document["loaded"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!(entry["control"], "astart(ere.N=7)+westwood");
        assert_eq!(entry["registered"], true);
        let unloaded = run(&["kernel", "unload", name]);
        assert_eq!(unloaded.code, 0, "{unloaded:?}");
        assert!(!known(name));
        let again = run(&["kernel", "unload", name]);
        assert_eq!(again.code, 2, "{again:?}");
    }

    /// The command refuses a name given twice; here it shows when two are registered.
    #[test]
    fn of_several_controls_all_are_loaded_or_none() {
        if !able() {
            return;
        }
        let (first, second) = (name("one"), name("two"));
        for without_link in [false, true] {
            let prepare = |(name, text): (&str, &str)| {
                let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
                let name = Some(name.to_owned());
                Prepared::load(&control, &Options { name, without_link, ..Options::default() })
            };
            let all = [(&*first, "newreno"), (&*second, "astart"), (&*first, "newreno")];
            let error = pinned::pin(all.map(|one| prepare(one).unwrap()).into()).unwrap_err();
            assert!(error.to_string().contains(&first), "{error}");
            nothing_is_left(&first, &second);
        }
    }

    fn nothing_is_left(first: &str, second: &str) {
        let known = available();
        assert!(!known.iter().any(|name| name == first || name == second), "{known:?}");
        let status = run(&["kernel", "status"]);
        assert!(!status.stdout.contains(first), "{}", status.stdout);
    }
}
