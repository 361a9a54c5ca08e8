//! Who can do what to pinned controls: each case in a mount namespace of its own, with a BPF file
//! system of its own, as root and as `nobody`.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use firstflight_kernel::catalogue::available;
use firstflight_kernel::requirements;

/// What a script said and how it ended, and what was registered when it had.
struct Told {
    code: i32,
    text: String,
}

/// Runs a shell script as root where the BPF file system has that mode. `nobody CMD` runs a command
/// as that user; `ff` is the program; `$NAME` is free for a control. Skips where that cannot be.
fn with_mode(mode: &str, name: &str, script: &str) -> Option<Told> {
    let name = format!("ff_{name}_{}", std::process::id() % 100_000);
    let lack = requirements::check().err().map(|lack| lack.to_string());
    let lack = lack.or_else(|| (!able()).then(|| "no namespaces, or no setpriv".to_owned()));
    if let Some(lack) = lack {
        eprintln!("skipped: {lack}");
        let required = env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some();
        assert!(!required, "BPF is required here: {lack}");
        return None;
    }
    let all = format!(
        "mount -t bpf -o mode={mode} bpf /sys/fs/bpf || exit 90
         ff() {{ {} \"$@\"; }}
         nobody() {{ setpriv --reuid=65534 --regid=65534 --clear-groups -- \"$@\"; }}
         PINS=/sys/fs/bpf/firstflight
         {script}",
        env!("CARGO_BIN_EXE_firstflight")
    );
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &all])
        .env("NAME", &name)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let code = output.status.code().unwrap_or(-1);
    assert!(!available().contains(&name), "{name} is still registered");
    Some(Told { code, text: String::from_utf8_lossy(&text).into_owned() })
}

fn able() -> bool {
    let words = ["--mount", "setpriv", "--reuid=65534", "--clear-groups", "true"];
    let tried = Command::new("unshare").args(words).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Every way to make a name there lead elsewhere. The last line is printed if none was there.
const ATTACKS: &str = "
    ff kernel load $NAME=newreno || exit 1
    for attack in \"mv $PINS $PINS.old\" \"mv $PINS/$NAME $PINS/other\" \"rmdir $PINS\" \\
        \"rm $PINS/$NAME/link\" \"mv $PINS/$NAME/link $PINS/$NAME/old\" \"mkdir $PINS/ff_fake\" \\
        \"ln -s /tmp $PINS/ff_fake\" \"ls $PINS\" \"flock -n $PINS true\"
    do
        nobody sh -c \"$attack\" 2>/dev/null && { echo \"nobody could: $attack\"; exit 2; }
    done
    ff kernel status | grep -q \"^$NAME: \" || exit 3
    ff kernel unload $NAME || exit 4
    test ! -e $PINS || exit 5
    echo held";

#[test]
fn nobody_can_neither_rename_nor_replace_nor_see_a_pin() {
    // As documented, as `mount -t bpf` makes it, and as some distributions have it.
    for mode in ["0700", "1777", "0755"] {
        let Some(output) = with_mode(mode, "held", ATTACKS) else { return };
        assert_eq!(output.code, 0, "mode {mode}: {}", output.text);
        assert!(output.text.ends_with("held\n"), "mode {mode}: {}", output.text);
    }
}

#[test]
fn a_folder_that_nobody_made_first_is_not_used() {
    for (making, problem) in [
        ("mkdir $PINS", "user 65534 made it"),
        ("mkdir -p $PINS/$NAME", "user 65534 made it"),
        ("ln -s /tmp $PINS", "no directory"),
    ] {
        let script = format!(
            "nobody sh -c \"{making}\" || exit 1
             ff kernel load $NAME=newreno; test $? -eq 3 || exit 2
             ff kernel unload --all; test $? -eq 3 || exit 3
             ff kernel status; test $? -eq 3 || exit 4"
        );
        let Some(output) = with_mode("1777", "made", &script) else { return };
        assert_eq!(output.code, 0, "{making}: {}", output.text);
        assert!(output.text.contains("pins would not be safe in /sys/fs/bpf/firstflight"));
        assert_eq!(output.text.matches(problem).count(), 3, "{making}: {}", output.text);
    }
}

#[test]
fn folders_of_rules_and_trials_that_nobody_made_first_are_not_used() {
    for (folder, making) in [("steer", "mkdir"), ("trial", "mkdir"), ("steer", "ln -s /tmp")] {
        let script = format!(
            "nobody {making} $PINS-{folder} || exit 1
             case {folder} in
                 steer) for words in 'reno --to 203.0.113.0/24' --clear ''; do
                     ff kernel steer $words; test $? -eq 3 || exit 2
                 done ;;
                 trial) for words in '--control reno --against cubic --for 0.1s' --clear; do
                     ff kernel trial $words; test $? -eq 3 || exit 3
                 done ;;
             esac"
        );
        let Some(output) = with_mode("1777", "rules", &script) else { return };
        assert_eq!(output.code, 0, "{making} {folder}: {}", output.text);
        let message = format!(
            "firstflight: kernel: pins would not be safe in /sys/fs/bpf/firstflight-{folder}: "
        );
        let times = if folder == "steer" { 3 } else { 2 };
        assert_eq!(
            output.text.matches(&message).count(),
            times,
            "{making} {folder}: {}",
            output.text
        );
    }
}

/// Whatever others put among the pins, empty folders too.
#[test]
fn what_firstflight_did_not_make_is_left_and_named() {
    let script = "
        ff kernel load $NAME=newreno || exit 1
        mkdir $PINS/foreign $PINS/more; mkdir $PINS/more/below; ln -s /tmp $PINS/elsewhere
        ff kernel status || exit 2
        ff kernel status --json | grep -A4 '\"foreign\"' || exit 3
        ff kernel unload --all || exit 4
        ls $PINS; ls $PINS/more
        ff kernel status || exit 5
        ff kernel load $NAME=newreno || exit 6
        stat -c 'mode %a' $PINS/$NAME
        ff kernel unload $NAME || exit 7
        rm $PINS/elsewhere; rmdir $PINS/more/below $PINS/more $PINS/foreign $PINS";
    let Some(output) = with_mode("0700", "left", script) else { return };
    assert_eq!(output.code, 0, "{}", output.text);
    for name in ["foreign", "more", "elsewhere"] {
        let line = format!(
            "/sys/fs/bpf/firstflight/{name}: not made by `firstflight kernel load`, and left as"
        );
        assert_eq!(output.text.matches(&line).count(), 3, "{name}: {}", output.text);
        assert!(output.text.contains(&format!("\"/sys/fs/bpf/firstflight/{name}\"")), "{name}");
    }
    assert!(output.text.contains("\nelsewhere\nforeign\nmore\nbelow\n"), "{}", output.text);
    assert!(output.text.contains("mode 700\n"), "{}", output.text);
}

#[test]
fn a_directory_in_which_everybody_renames_is_refused_with_how_to_mount_it() {
    // The kernel mounts with the sticky bit; what changes modes later may not know it.
    let script = "chmod 0777 /sys/fs/bpf; ff kernel load $NAME=newreno";
    let Some(output) = with_mode("0777", "open", script) else { return };
    assert_eq!(output.code, 3, "{}", output.text);
    assert!(output.text.contains("others can rename what is in it (mode 0777)"), "{}", output.text);
    assert!(output.text.contains("mount -t bpf -o mode=0700 bpf /sys/fs/bpf"), "{}", output.text);
}

#[test]
fn a_folder_of_an_older_version_is_closed_to_others() {
    let script = "
        umask 022; mkdir $PINS
        ff kernel load $NAME=newreno || exit 1
        stat -c %a $PINS
        ff kernel unload $NAME";
    let Some(output) = with_mode("1777", "older", script) else { return };
    assert_eq!(output.code, 0, "{}", output.text);
    assert!(output.text.contains("\n700\n"), "{}", output.text);
}

/// As the unit of systemd has them: its bounding set, and no new privileges.
#[test]
fn the_capabilities_of_the_unit_suffice_and_each_is_needed() {
    let unit = include_str!("../../../../docs/firstflight-kernel.service");
    capabilities(unit, "unit", "kernel load $NAME=astart", "kernel unload --all --force");
}

#[test]
fn the_capabilities_of_the_unit_of_rules_suffice_and_each_is_needed() {
    let unit = include_str!("../../../../docs/firstflight-steer.service");
    // To nobody: other tests have rules of their own for loopback.
    let steer = "kernel steer reno --to 203.0.113.0/24 --share 5%";
    capabilities(unit, "rules", steer, "kernel steer --clear");
}

/// `kernel trial` has no unit: an operator sits before it.
#[test]
fn the_capabilities_of_rules_suffice_for_a_trial_and_each_is_needed() {
    let unit = include_str!("../../../../docs/firstflight-steer.service");
    let trial = "kernel trial --control reno --against cubic --to 203.0.113.0/24 --for 0.1s";
    capabilities(unit, "trial", trial, "kernel trial --clear");
}

#[test]
fn the_capabilities_of_rules_suffice_to_watch_and_each_is_needed() {
    let unit = include_str!("../../../../docs/firstflight-steer.service");
    capabilities(unit, "watch", "kernel watch --for 0.1s", "kernel watch --for 0.1s");
}

/// As root and as a user of the BPF file system's folder who is not root.
fn capabilities(unit: &str, name: &str, begin: &str, end: &str) {
    let set = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).unwrap();
    let names = set.split(' ').map(|name| name.trim_start_matches("CAP_").to_lowercase());
    let names: Vec<String> = names.collect();
    let bounded = |without: usize| {
        let kept = names.iter().enumerate().filter(|(at, _)| *at != without);
        kept.fold("-all".to_owned(), |set, (_, name)| format!("{set},+{name}"))
    };
    let as_root = |set: &str| format!("--inh-caps=-all --bounding-set={set}");
    let as_nobody = |set: &str| {
        let sets = format!("--inh-caps={set} --ambient-caps={set} --bounding-set={set}");
        format!("{sets} --reuid=65534 --regid=65534 --clear-groups")
    };
    // Nobody may not look where the program lies.
    let folder = Path::new(env!("CARGO_BIN_EXE_firstflight")).parent().unwrap().display();
    let mut script = format!("mount --bind {folder} /mnt || exit 9\n");
    let users: [&dyn Fn(&str) -> String; 2] = [&as_root, &as_nobody];
    for user in users {
        let run = |set: &str, words: &str| {
            format!("setpriv --no-new-privs {} /mnt/firstflight {words}", user(set))
        };
        let all = bounded(usize::MAX);
        script += &format!("{} || exit 1\n{} || exit 2\n", run(&all, begin), run(&all, end));
        for without in 0..names.len() {
            script += &format!("{} && exit 3\n", run(&bounded(without), begin));
        }
        script += "chown 65534 /sys/fs/bpf\n";
    }
    let Some(output) = with_mode("0700", name, &(script + "exit 0")) else { return };
    assert_eq!(output.code, 0, "{}", output.text);
}

/// Whatever is wrong with a rule or a trial, nothing is attached for it, and what held goes on.
#[test]
fn bad_rules_change_nothing() {
    let script = "
        nothing_new() {
            for words in '--to 203.0.113.0/24 --share 101%' '--to 203.0.113.0/24 --share 1001' \\
                '--to 203.0.113.0/24 --share 0.05%' '--to 203.0.113.0/33' '--port 0' \\
                '--cgroup /tmp' '--cgroup /nowhere'
            do
                ff kernel steer reno $words; test $? -eq 2 || { echo \"accepted: $words\"; exit 1; }
            done
            ff kernel steer ff_nobodys; test $? -eq 2 || exit 2
            ff kernel trial --control ff_nobodys --against cubic; test $? -eq 2 || exit 3
            test ! -e $PINS-trial || exit 4
        }
        nothing_new; test ! -e $PINS-steer || exit 5
        ff kernel steer reno --to 203.0.113.0/24 --share 5% || exit 6
        ff kernel steer cubic --to 203.0.113.0/28 --dry-run || exit 7
        nothing_new
        ff kernel steer --json; ff kernel steer --clear";
    let Some(output) = with_mode("0700", "bad", script) else { return };
    assert_eq!(output.code, 0, "{}", output.text);
    assert!(output.text.contains("the kernel has no control `ff_nobodys`"), "{}", output.text);
    assert_eq!(output.text.matches("\"share\": 0.05").count(), 1, "{}", output.text);
    assert!(!output.text.contains("\"control\": \"cubic\""), "{}", output.text);
}

/// Another's program that is attached without `multi` admits none beside it.
#[test]
fn beside_a_program_that_wants_to_be_alone_the_refusal_names_it() {
    let script = "
        bpftool version || { echo no bpftool; exit 0; }
        root=$(awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts); own=$root/fft-alone-$$
        ff kernel steer reno --to 203.0.113.0/24 --share 5% || exit 1
        id=$(bpftool cgroup show $root | awk '/ff_steer/ { print $1 }')
        mkdir $own && bpftool cgroup attach $own sock_ops id ${id##* } || exit 2
        ff kernel trial --control reno --against cubic --cgroup $own --for 0.1s; code=$?
        ff kernel watch --cgroup $own --for 0.1s; test $? -eq $code || code=0
        test ! -e $PINS-trial || exit 3
        rmdir $own; ff kernel steer --clear; exit $code";
    let Some(output) = with_mode("0700", "alone", script) else { return };
    if output.text.contains("no bpftool") {
        eprintln!("skipped: no bpftool (Debian: bpftool)");
        return;
    }
    assert_eq!(output.code, 3, "{}", output.text);
    let message = "another program is attached there that admits no second one";
    assert_eq!(output.text.matches(message).count(), 2, "{}", output.text);
}
