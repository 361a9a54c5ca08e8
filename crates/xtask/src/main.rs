//! Tasks of the repository that are not part of the product: `cargo xtask TASK`.
//!
//! `test` is what CI runs. `tidy` holds the sources to the style rules that rustfmt and clippy do
//! not know. What measures and writes a page is a study of `crates/studies`, which this starts.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{Stop, root, step};

mod background;
mod c;
mod check;
mod deb;
mod dist;
mod example;
mod fuzz;
mod notes;
mod package;
mod papers;
mod pictures;
mod python;
mod qemu;
mod readings;
mod s2n;
mod soak;
mod steps;
mod test;
mod tidy;
mod web;

/// Tasks of this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", after_help = STUDIES, max_term_width = 100)]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// What CI runs: the checks and all tests, what fails most cheaply first
    ///
    /// It says first which steps there are, how long they took the last time, and what is skipped
    /// here.
    Test {
        /// Tests of core, simulator, scenarios and command alone, which need nothing of a machine
        #[arg(long)]
        quick: bool,
    },
    /// The steps of `test` that only need a processor, which `test` runs while its tests wait:
    /// documentation, packages, readings, other workspaces
    Background,
    /// rustfmt, clippy, rustdoc, tidy, package, and cargo-deny if it is installed
    Check,
    /// The style rules of CONTRIBUTING.md that a program can see
    Tidy,
    /// The fuzz targets under libFuzzer (cargo-fuzz, a C++ compiler)
    Fuzz(fuzz::Options),
    /// Writes docs/papers.md from `firstflight reproduce` (minutes, or none if its runs are kept)
    Papers(papers::Options),
    /// The Python package's wheel, installed into target/python, and its tests (part of test)
    Python,
    /// The page that simulates in a browser: target/web, a folder for a server and
    /// firstflight.html, one file that opens from disk (wasm32-unknown-unknown, npm)
    Web {
        /// Builds the page quickly and tests it in Chromium (part of test)
        #[arg(long)]
        test: bool,
    },
    /// The documentation site, checked, in target/site
    Site(python::Site),
    /// Draws the pictures of the README and of docs/paths.md
    Pictures,
    /// The core beside s2n-quic's controllers and plain readings of RFCs, round by round (part of
    /// test)
    Readings {
        /// Points of it; all if none is named
        points: Vec<String>,
    },
    /// The adapter for s2n-quic, its whole stack in virtual time and over sockets (Rust 1.95; eight
    /// minutes of CPU the first time)
    S2n(s2n::Options),
    /// The controls in Debian's stock kernel, booted in qemu (two minutes; qemu-system-x86)
    Qemu(qemu::Options),
    /// Controls loaded and unloaded under the flows that use them, then what is left in the kernel
    /// (root)
    Soak(soak::Args),
    /// Builds the crates that others would use from their packages (part of check)
    Package,
    /// The Debian package of the command, in target/deb, installed, used and removed again in a
    /// copy of this system (root; cargo-deb)
    Deb {
        /// Builds what is handed out; without it the package has the programs of the tests
        #[arg(long)]
        release: bool,
    },
    /// What people download, in target/downloads: a static program, a wheel for any Linux, both for
    /// x86-64 and 64-bit ARM, checksums and a bill of materials, tried where nothing else is
    /// (musl-gcc)
    Dist {
        /// Tries alone a static program of what the tests have built, in the same empty roots
        #[arg(long)]
        dev: bool,
    },
    /// Makes a crate of your own with a start-up to change, a copy of examples/own-startup
    Own {
        /// The folder, which it makes
        folder: PathBuf,
    },
    /// The C interface, built and installed into a folder, and its example tried from there
    C(c::Options),
    /// What CHANGELOG.md says of a version
    Notes {
        #[arg(default_value = notes::VERSION)]
        version: String,
    },
    #[command(external_subcommand)]
    Study(Vec<String>),
}

const STUDIES: &str = "\
Studies measure and write a page of docs/: bench, judge, lab, oracle, page (of grid files),
queues, startups. `cargo xtask lab --help` says what one takes.";

fn main() -> ExitCode {
    let root = &root();
    xtask::ended(match Xtask::parse().task {
        Task::Test { quick: false } => test::whole(root),
        Task::Test { quick: true } => test::quick(root),
        Task::Background => background::run(root),
        Task::Check => check::check(root),
        Task::Tidy => tidy::run(root),
        Task::Fuzz(asked) => fuzz::fuzz(root, &asked),
        Task::Papers(asked) => papers::run(root, &asked),
        Task::Python => test::python(root),
        Task::Web { test: false } => web::build(root),
        Task::Web { test: true } => test::page(root),
        Task::Site(site) => python::site(root, &site),
        Task::Pictures => pictures::run(root),
        Task::S2n(asked) => s2n::run(root, &asked),
        Task::Readings { points } => readings::run(root, &points),
        Task::Qemu(options) => qemu::run(root, &options),
        Task::Soak(asked) => soak::run(root, &asked),
        Task::Package => package::package(root),
        Task::Deb { release } => deb::run(root, release),
        Task::Dist { dev } => dist::dist(root, dev),
        Task::Own { folder } => example::own(root, &folder),
        Task::C(asked) => c::c(root, &asked),
        Task::Notes { version } => notes::notes(root, &version),
        Task::Study(words) => study(&words),
    })
}

/// Runs a study of `crates/studies`, which measures and writes a page.
fn study(words: &[String]) -> Result<(), Stop> {
    let start = ["run", "--quiet", "--package", "firstflight-studies", "--"];
    let status = step::cargo(&root(), &start).args(words).status();
    match status.map_err(|error| step::unable(&words[0], &error))?.code() {
        Some(0) => Ok(()),
        // It has said why.
        Some(code) => Err(Stop { message: String::new(), code: u8::try_from(code).unwrap_or(1) }),
        None => Err(Stop::failed(&format!("{}: interrupted", words[0]))),
    }
}
