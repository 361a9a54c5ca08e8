//! Programs in C and C++ that others would write: they compile without a warning, link both
//! libraries, and run under the sanitizers that the compiler has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use firstflight_c::abi::*;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The libraries that cargo has built for this test.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(1).unwrap().to_owned()
}

/// Compiles a program; `None`, said on standard error, where there is no compiler.
fn compiled(compiler: &str, source: &Path, flags: &[&str], name: &str) -> Option<PathBuf> {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I"]);
    command.arg(Path::new(HERE).join("include")).arg(source).args(flags).arg("-o").arg(&to);
    match command.output() {
        Err(error) => {
            eprintln!("skipped: {compiler}: {error}");
            None
        }
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && errors.is_empty(), "{compiler} {name}: {errors}");
            Some(to)
        }
    }
}

fn statically() -> String {
    libraries().join("libfirstflight_c.a").display().to_string()
}

fn output(program: &mut Command) -> Output {
    program.env("LD_LIBRARY_PATH", libraries()).output().unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_in_c_prints_what_its_page_shows_under_the_sanitizers() {
    let source = Path::new(HERE).join("examples/windows.c");
    let library = statically();
    let mut flags = vec!["-std=c99", &*library, "-lpthread", "-ldl", "-lm"];
    // Where the compiler has the sanitizers they are part of the test.
    let probe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probe.c");
    fs::write(&probe, "int main(void) { return 0; }\n").unwrap();
    let sanitizers = "-fsanitize=address,undefined";
    let mut has = Command::new("cc");
    has.arg(sanitizers).arg(&probe).arg("-o").arg(probe.with_extension("out"));
    match has.output() {
        Ok(output) if output.status.success() => {
            flags.extend([sanitizers, "-fno-sanitize-recover=all"]);
        }
        _ => eprintln!("skipped: the sanitizers of addresses and of undefined behaviour"),
    }
    let Some(program) = compiled("cc", &source, &flags, "windows-c") else { return };
    let printed = text(output(&mut Command::new(&program)));
    let page = fs::read_to_string(Path::new(HERE).join("../../docs/c.md")).unwrap();
    assert!(page.contains(&printed), "docs/c.md does not show\n{printed}");
    let (_, heart) = page.split_once("```c\n").unwrap();
    let heart = heart.split_once("```").unwrap().0;
    let file = probe.with_file_name("page.c");
    let includes = "#include <firstflight.h>\n#include <stdio.h>\n";
    fs::write(
        &file,
        format!("{includes}void page(uint64_t now);\nvoid page(uint64_t now)\n{{\n{heart}}}\n"),
    )
    .unwrap();
    compiled("cc", &file, &["-std=c99", "-fsyntax-only"], "page");
    for control in ["newreno", "scout", "landed(hystart-pp)+cubic", "bbr", "astart"] {
        let printed = text(output(Command::new(&program).arg(control)));
        assert!(printed.lines().count() > 10, "{control}: {printed}");
    }
    let wrong = output(Command::new(&program).arg("hystrat"));
    assert_eq!(wrong.status.code(), Some(2));
    let errors = String::from_utf8(wrong.stderr).unwrap();
    assert!(errors.contains("did you mean `hystart`"), "{errors}");
}

#[test]
fn the_program_in_cpp_runs_with_the_shared_library() {
    let source = Path::new(HERE).join("examples/windows.cpp");
    let (from, path) = (libraries(), libraries().display().to_string());
    assert!(from.join("libfirstflight_c.so").exists());
    // The name by which a program asks for it is the one that it is installed under.
    let wanted = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libfirstflight_c.so.0");
    let _ = fs::remove_file(&wanted);
    std::os::unix::fs::symlink(from.join("libfirstflight_c.so"), &wanted).unwrap();
    let flags = ["-std=c++11", "-L", &*path, "-lfirstflight_c"];
    let Some(program) = compiled("c++", &source, &flags, "windows-cpp") else { return };
    let mut run = Command::new(&program);
    run.arg("newreno").env("LD_LIBRARY_PATH", wanted.parent().unwrap());
    let printed = text(run.output().unwrap());
    // Slow start from RFC 6928's window: it doubles.
    assert!(printed.starts_with("round 1:   10 packets\nround 2:   20 packets\n"), "{printed}");
}

/// The module for ns-3 moves a transfer in the time that its page says.
#[test]
fn the_example_in_ns3_takes_the_time_that_its_page_says() {
    if !Path::new("/usr/include/ns3/core-module.h").exists() {
        return eprintln!("skipped: no ns-3 (libns3-dev)");
    }
    let folder = Path::new(HERE).join("../../examples/ns3");
    let module = folder.join("model").display().to_string();
    let (include, source) = (format!("-I{module}"), format!("{module}/tcp-firstflight.cc"));
    let library = statically();
    let parts = ["applications", "internet", "point-to-point", "network", "core"];
    let parts: Vec<String> = parts.iter().map(|part| format!("-lns3-{part}")).collect();
    let mut flags = vec!["-std=c++17", "-O0", &*include, &*source, &*library];
    flags.extend(parts.iter().map(|part| &**part));
    flags.extend(["-lpthread", "-ldl", "-lm"]);
    let example = folder.join("examples/firstflight-example.cc");
    let Some(program) = compiled("c++", &example, &flags, "ns3-example") else { return };
    let page = fs::read_to_string(folder.join("README.md")).unwrap();
    let printed = text(output(Command::new(&program).arg("--control=scout")));
    assert!(page.contains(&format!("`{}`", printed.trim())), "{printed}");
    let wrong = output(Command::new(&program).arg("--control=scuot"));
    assert!(!wrong.status.success());
    let errors = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(errors.contains("did you mean `scout`"), "{errors}");
}

/// Every field's place, as C and as Rust have it.
macro_rules! places {
    ($($c:literal = $rust:ident { $($field:ident),* })*) => {
        vec![$(
            (format!("sizeof({})", $c), size_of::<$rust>()),
            $(
                (
                    format!("offsetof({}, {})", $c, stringify!($field)),
                    std::mem::offset_of!($rust, $field),
                ),
                (
                    format!("sizeof((({} *)0)->{})", $c, stringify!($field)),
                    size_of_field(|it: &$rust| &it.$field),
                ),
            )*
        )*]
    };
}

/// The size of the field that a function shows.
fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

#[test]
fn the_header_has_the_layout_of_the_library() {
    let places = places! {
        "firstflight_config" = Config {
            abi, provides, rules, own_pacer, mss, initial_window, initial_ssthresh, max_cwnd
        }
        "firstflight_sent" = Sent { now, bytes, in_flight, again, reserved }
        "firstflight_packet" = Packet {
            sent_at, delivered, in_flight, first_sent_at, delivered_at, app_limited
        }
        "firstflight_ack" = Ack {
            now, acked, credited, in_flight, snd_nxt, rtt, marked, packet, sample_delivered,
            sample_interval, sample_app_limited, app_limited
        }
        "firstflight_loss" = Loss { now, kind, flags, lost, gaps, reserved, flight, sent_at }
        "firstflight_learned_path" = Learned {
            cwnd, ssthresh, rtt, min_rtt, delivered, per_round, rate, age
        }
        "firstflight_pacing_now" = Pacing { rate, burst, first_bytes, first_rate, not_before }
        "firstflight_startup_exit" = Exit { at, cwnd, in_flight, why }
    };
    let mut source = "#include <firstflight.h>\nint main(void) { return 0; }\n".to_owned();
    for (what, is) in places {
        source += &format!("_Static_assert({what} == {is}, \"{what}\");\n");
    }
    for (name, is) in [("NEVER", FIRSTFLIGHT_NEVER), ("L4S", FIRSTFLIGHT_L4S.into())] {
        source += &format!("_Static_assert(FIRSTFLIGHT_{name} == {is}u, \"{name}\");\n");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layout.c");
    fs::write(&file, source).unwrap();
    compiled("cc", &file, &["-std=c11", "-fsyntax-only"], "layout");
}

/// The header is what cbindgen makes of the crate.
#[test]
fn the_header_is_up_to_date() {
    let mut make = Command::new("cbindgen");
    let version = match make.arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => error.to_string(),
    };
    if !version.starts_with("cbindgen 0.29") {
        let version = version.trim();
        return eprintln!(
            "skipped: takes cbindgen 0.29 (cargo install cbindgen), found: {version}"
        );
    }
    let mut make = Command::new("cbindgen");
    let made = make.args(["--quiet", "--config", "cbindgen.toml", "."]).current_dir(HERE).output();
    let header = fs::read_to_string(Path::new(HERE).join("include/firstflight.h")).unwrap();
    assert!(text(made.unwrap()) == header, "`cargo xtask c --header` writes it anew");
}
