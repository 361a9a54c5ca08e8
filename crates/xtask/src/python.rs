//! The Python package: its wheel, installed into an environment of its own, its tests, and the
//! documentation site, which takes both.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toml::Table;

use crate::Stop;
use crate::step::{announce, read_toml, succeed, target, unable, without_variables_of_cargo};
use crate::web;

/// Makes the environment and the wheel, installs it there, and looks at its sources, where its
/// tests can run; otherwise they say what they lack.
///
/// The wheel is of the profile `dev`, in which the workspace's tests have built much of it.
pub(crate) fn build(root: &Path) -> Result<(), Stop> {
    if lacks().is_some() {
        return Ok(());
    }
    let python = installed(root)?;
    for words in [&["check", "--quiet"][..], &["format", "--quiet", "--check"]] {
        succeed("ruff", Command::new(python.with_file_name("ruff")).args(words).current_dir(root))?;
    }
    Ok(())
}

/// The tests of what is installed, as a command.
pub(crate) fn tests(root: &Path) -> Command {
    // The tests see the package as it was installed, not the sources beside them.
    let mut tests = Command::new(interpreter(root));
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests"]).current_dir(root);
    tests.env("MPLBACKEND", "agg").env_remove("PYTHONPATH");
    tests.env("FIRSTFLIGHT_WHEELS", wheels(root));
    tests
}

/// How the site is made.
#[derive(clap::Args)]
pub(crate) struct Site {
    /// Shows it on 127.0.0.1:8000
    #[arg(long)]
    serve: bool,
}

/// Builds the documentation site into `target/site`, as `python/site/build.py` says. Its plots live
/// where the page that simulates was built.
pub(crate) fn site(root: &Path, asked: &Site) -> Result<(), Stop> {
    if let Some(why) = lacks() {
        return Err(Stop::lacks(&why));
    }
    let python = installed(root)?;
    announce("the site, in target/site");
    let mut build = Command::new(python);
    build.arg("python/site/build.py").current_dir(root);
    let page = web::one_file(root);
    match page.is_file() {
        true => drop(build.arg("--page").arg(page)),
        false => println!("no {}: plots are pictures (cargo xtask web)", page.display()),
    }
    succeed("site", build.args(asked.serve.then_some("--serve")))
}

/// The interpreter of the environment, with the wheel of these sources in it.
fn installed(root: &Path) -> Result<PathBuf, Stop> {
    let python = environment(root)?;
    announce("the wheel");
    let wheels = wheels(root);
    // One of an earlier version would be installed too.
    let _ = fs::remove_dir_all(&wheels);
    // The wheel is built as by `pip install .`, with the maturin of the environment. clippy-driver
    // is the compiler, so that the package's crate is linted while it is compiled.
    let mut build = pip(&python, "wheel");
    build.args(["--no-deps", "--no-build-isolation", "--wheel-dir"]).arg(&wheels).arg(".");
    build.env("MATURIN_PEP517_ARGS", "--profile dev -- --deny warnings");
    build.env("RUSTC_WRAPPER", "clippy-driver").env("CARGO_TARGET_DIR", target(root));
    succeed("the wheel", build.env("PATH", first_on_the_path(&python)).current_dir(root))?;
    let mut install = pip(&python, "install");
    install.args(["--force-reinstall", "--no-deps", "--no-index", "--find-links"]).arg(&wheels);
    succeed("pip", install.arg("firstflight"))?;
    Ok(python)
}

/// The folder of the wheel.
fn wheels(root: &Path) -> PathBuf {
    target(root).join("wheels")
}

/// What this machine lacks, in a line; nothing where the tests can run.
pub(crate) fn lacks() -> Option<String> {
    let found = Command::new(PYTHON)
        .args(["-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let why = "the Python package: no python3 of 3.11 or later with venv (Debian: python3-venv)";
    (!found.is_ok_and(|status| status.success())).then(|| why.to_owned())
}

/// The interpreter of the environment.
fn interpreter(root: &Path) -> PathBuf {
    target(root).join("python/bin/python")
}

/// The interpreter of an environment that has what the tests and the site take, as pyproject.toml
/// lists it; makes it first, if it is not there.
fn environment(root: &Path) -> Result<PathBuf, Stop> {
    let folder = target(root).join("python");
    let python = interpreter(root);
    let wanted = packages(&read_toml(&root.join("pyproject.toml"))?);
    let kept = folder.join("packages");
    if python.exists() && fs::read_to_string(&kept).is_ok_and(|had| had == wanted.join("\n")) {
        return Ok(python);
    }
    announce("an environment for Python, in target/python");
    succeed("venv", Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(&folder))?;
    // Python compiles a module when it is first imported. To compile all of them here would take as
    // long as to unpack them.
    succeed("pip", pip(&python, "install").arg("--no-compile").args(&wanted))?;
    fs::write(kept, wanted.join("\n")).map_err(|error| unable("target/python", &error))?;
    Ok(python)
}

fn pip(python: &Path, word: &str) -> Command {
    let mut pip = without_variables_of_cargo(Command::new(python));
    pip.args(["-m", "pip", "--disable-pip-version-check", word, "--quiet"]);
    pip
}

/// The PATH with the programs of the environment before all others.
pub(crate) fn first_on_the_path(python: &Path) -> OsString {
    let mut path = python.parent().unwrap_or(python).as_os_str().to_owned();
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

/// What builds the wheel and the site, and what their tests take.
fn packages(project: &Table) -> Vec<String> {
    let list = |value: Option<&toml::Value>| {
        let all = value.and_then(toml::Value::as_array).into_iter().flatten();
        all.filter_map(|one| Some(one.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let build = project.get("build-system").and_then(|build| build.get("requires"));
    let extras = project.get("project").and_then(|all| all.get("optional-dependencies"));
    let extra = |name| list(extras.and_then(|extras| extras.get(name)));
    [list(build), extra("test"), extra("docs")].concat()
}

const PYTHON: &str = "python3";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_has_what_builds_and_what_tests() {
        let text = "[build-system]\nrequires = ['maturin']\n\
            [project.optional-dependencies]\nplots = ['x']\ntest = ['pytest', 'polars>=1']\n\
            docs = ['zensical']";
        let packages = packages(&toml::from_str(text).unwrap());
        assert_eq!(packages, ["maturin", "pytest", "polars>=1", "zensical"]);
    }
}
