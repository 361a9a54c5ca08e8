//! Tasks of the repository that are not part of the product: `cargo xtask TASK`.
//!
//! `test` is what CI runs. `tidy` holds the sources to the style rules that rustfmt and clippy do
//! not know. What measures and writes a page (`oracle`, `startups`, `lab`) is a study of
//! `crates/studies`, which this starts.

use std::process::ExitCode;

use xtask::{Stop, no_arguments, root, step};

mod check;
mod deb;
mod example;
mod fuzz;
mod mutants;
mod notes;
mod package;
mod papers;
mod pictures;
mod python;
mod qemu;
mod readings;
mod soak;
mod steps;
mod test;
mod tidy;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let help = rest.iter().any(|word| word == "--help" || word == "-h");
    let outcome = match if help { "help" } else { task.as_str() } {
        "check" => check::check(&root(), &rest),
        "test" => test::test(&root(), &rest),
        "fuzz" => fuzz::fuzz(&root(), &rest),
        "mutants" => mutants::mutants(&root(), &rest),
        "bench" | "choice" | "judge" | "lab" | "oracle" | "queues" | "quic" | "stacks"
        | "startups" => study(&task, &rest),
        "tidy" => tidy::run(&root(), &rest),
        "papers" => papers::run(&root(), &rest),
        "pictures" => pictures::run(&root(), &rest),
        "python" => test::python(&root(), &rest),
        "site" => python::site(&root(), &rest),
        "qemu" => qemu::run(&root(), &rest),
        "soak" => soak::run(&root(), &rest),
        "package" => package::package(&root(), &rest),
        "deb" => deb::run(&root(), &rest),
        "notes" => notes::notes(&root(), &rest),
        "own" => example::own(&root(), &rest),
        "readings" => readings::run(&root(), &rest),
        "" | "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Stop::usage(&format!("unknown task `{task}`\n{USAGE}"))),
    };
    xtask::ended(outcome)
}

/// Runs a study of `crates/studies`, which measures and writes a page.
fn study(task: &str, args: &[String]) -> Result<(), Stop> {
    let words = ["run", "--quiet", "--package", "firstflight-studies", "--", task];
    let status = step::cargo(&root(), &words).args(args).status();
    match status.map_err(|error| step::unable(task, &error))?.code() {
        Some(0) => Ok(()),
        // It has said why.
        Some(code) => Err(Stop { message: String::new(), code: u8::try_from(code).unwrap_or(1) }),
        None => Err(Stop::failed(&format!("{task}: interrupted"))),
    }
}

const USAGE: &str = "\
usage: cargo xtask TASK
  test [--quick]                   what CI runs: the checks, all tests and doctests, what fails most
                                   cheaply first; it says first which steps, how long they took
                                   the last time, and what is skipped here; --quick: tests of core,
                                   simulator, scenarios and command, without kernel and lab
  check                            rustfmt, clippy, rustdoc, tidy, package, and cargo-deny if
                                   installed
  tidy                             the style rules of CONTRIBUTING.md that a program can see
  fuzz [--seconds N] [--seed N]    the fuzz targets under libFuzzer, 20 s each unless told (a C++
       [--only TARGET]             compiler); what they find is left in target/fuzz/failures
  mutants [--package NAME]         change the core, or queue or judge, in one place at a time and
          [--only FILE]...         see its tests notice it (cargo-mutants; an hour, or by file, or
          [--shard I/N]            part I of N)
  papers [--check]                 write docs/papers.md from `firstflight reproduce` (minutes, or
                                   nothing when its runs are kept), or say whether it is as written
  python                           the Python package's wheel, installed into target/python, and its
                                   tests (part of test)
  site [--serve] [--zensical]      the documentation site, checked, in target/site; --serve shows it
                                   on 127.0.0.1:8000; --zensical takes Zensical, not MkDocs
  pictures                         draw the pictures of the README and of docs/paths.md
  bench                            speed and memory of the simulator, and the speed of ns-2 and ns-3
                                   on validation/bench.toml if installed (three minutes)
  oracle [--only ID]... [--json]   ns-2, ns-3 and firstflight on the points of `validation` (needs
         [--no-ns3] [--jobs N]     the Debian packages ns2, ns3, libns3-dev and g++), or on N points
         [--random N [--seed N]]   drawn at random
         [--release R]             with the constants of that release of ns-2
  readings [POINT]...              the core beside s2n-quic's controllers and plain readings of RFC
                                   9002, 9406 and 9438, round by round (a minute; part of test)
  lab [--minutes N] [--tries N]    write docs/lab.md: a kernel in virtual time beside the simulator
      [--again] [--real-time]      on the paths of `validation`, and the papers' lab (qemu; half an
      [--rows]                     hour; goes on with what was measured before); --real-time takes
                                   the running kernel, and has the emulated link's own figures
                                   (root); --rows measures the papers' lab alone
  lab --random N [--seed N]        a kernel in virtual time beside the simulator's profile `linux`,
      [--only N]... [--page]       on N points drawn at random (qemu; half a minute of CPU a point,
      [--kernel KERNEL] [--today]  kept until what runs in the guest changes); --today takes
                                   controls that pace on the same paths; --page writes
                                   docs/lab-random.md
  queues [--random N] [--seed N]   write the table of docs/queues.md: each discipline beside the
      [--runs N] [--only NAME]...  kernel's in virtual time, on N points drawn at random, 10 without
      [--page]                     a word (qemu; ten seconds of CPU a run; kept like the lab's)
  quic                             write the tables of scenarios/quic/README.md (minutes)
  startups [--scout]               write docs/startups.md: every start-up explained, drawn, and
                                   measured over 192 paths, with pictures and CSV, and the two
                                   pages on Scout, or those alone (three minutes)
  startups --scout --half working  print what rules of Scout are changed by: `paths`, `beside`,
      [TABLE]... CONTROL...        `together`, `hostile`; `held` is for when they are done
  startups --scout --linux         run 40 of its paths over a kernel in virtual time, as far as
      [--minutes N]                docs/scout-linux.csv has not got them (qemu; an hour)
  judge [--quic]                   write docs/judgement.md: every start-up judged on the catalogue
        [--linux [--page]]         (a quarter of an hour; what was measured is kept); --linux: the
                                   kernel's own controls, docs/judgement-linux.md (qemu; half an
                                   hour, goes on with what is kept); --page: only write that page;
                                   --quic: some over quinn, docs/judgement-quic.md (minutes)
  stacks [--again]                 write the tables of docs/stacks.md: Linux's and quinn's controls
                                   beside ours (qemu, ten minutes; what was measured is kept)
  choice [--linux] [--missing]     measure what `predict` and docs/which-control.md say of controls
         [--page]                  (minutes; the kernel too: qemu, half an hour), or what of it was
                                   not measured yet, or only write the page's tables again
  qemu [--kernel PACKAGE]          the controls in Debian's stock kernel, booted in qemu (two
       [--short] [--cost] [--soak] minutes; Debian's qemu-system-x86); or only load, a flow and
                                   unload; or what each costs per ACK there, in instructions; or a
                                   small soak there
  soak [--flows N] [--seconds N]   controls loaded and unloaded under the flows that use them, then
       [--cycles N] [--dev]        what is left in the kernel (root; 200 flows, 300 s, 1000 cycles)
       [--link tun|netem]          over firstflight's link or netem; --dev takes the programs as the
       [--built FOLDER]            tests build them, --built those that are in a folder
  soak recv [--clients N]          `recv` under that many clients, half of them hostile: memory, and
            [--seconds N] [--dev]  whether every honest transfer is whole (200 clients, 300 s)
  package                          the crates that others would use build from their packages
                                   (part of check)
  deb [--release]                  the Debian package of the command, in target/deb, installed,
                                   used and removed again in a copy of this system (root; cargo-deb)
  own FOLDER                       a crate of your own with a start-up of your own, to begin with:
                                   examples/own-startup, copied so that it builds there
  notes [VERSION]                  what CHANGELOG.md says of a version, of this one without VERSION
  help                             this list";
