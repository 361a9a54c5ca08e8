//! `web`: the page that simulates in a browser, of `web/` and the module of `crates/web`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Stop;
use crate::deb::licences;
use crate::step::{self, announce, built, cargo, succeed, target, unable, which};

/// A build of the page: the profile of its module, and how large it may be, in KB.
pub(crate) struct Build {
    profile: &'static str,
    /// The module, packed by gzip.
    module: u64,
    /// The page in one file.
    one_file: u64,
}

/// As it is handed out.
const HANDED_OUT: Build = Build { profile: "web", module: 750, one_file: 3_500 };
/// As tests take it: macros and build scripts are those of all other tests. Its module has 2.1
/// times what the one that is handed out has, and may have 2.1 times as much.
pub(crate) const TESTED: Build = Build { profile: "dev", module: 1_575, one_file: 3_500 };

/// Builds the page as it is handed out.
pub(crate) fn build(root: &Path) -> Result<(), Stop> {
    if !has_target() {
        return Err(Stop::lacks(NO_TARGET));
    }
    if let Some(lack) = no_npm() {
        return Err(Stop::lacks(&format!("the page in a browser: {lack}")));
    }
    let out = target(root).join("web");
    page(root, &HANDED_OUT, &out)?;
    println!("{}, {}", one_file(root).display(), out.join("folder").display());
    Ok(())
}

/// Builds the page for its tests, where these can run; otherwise they say what they lack.
pub(crate) fn build_for_tests(root: &Path) -> Result<(), Stop> {
    if lacks().is_some() {
        return Ok(());
    }
    page(root, &TESTED, &for_tests(root))
}

fn for_tests(root: &Path) -> PathBuf {
    target(root).join("web-test")
}

/// The tests of the page in a browser, beside the command.
pub(crate) fn tests(root: &Path) -> Result<Command, Stop> {
    let command = built(root, &["build", "--bin", "firstflight"])?;
    let mut tests = Command::new("node");
    tests.args(["tests/all.js"]).current_dir(root.join(FOLDER));
    tests
        .env("FIRSTFLIGHT", command)
        .env("FIRSTFLIGHT_WEB", for_tests(root))
        .env("CHROMIUM", browser());
    Ok(tests)
}

/// Has `build` make a command whose reports hold the small bundle of plotly.js, if npm is here.
pub(crate) fn small_reports(root: &Path, build: &mut Command) -> Result<(), Stop> {
    if let Some(lack) = no_npm() {
        println!("{lack}: reports hold all of plotly.js and are 1.4 MB larger");
        return Ok(());
    }
    libraries(root)?;
    build.env("FIRSTFLIGHT_PLOTLY", root.join(FOLDER).join(PLOTLY));
    Ok(())
}

fn npm(root: &Path, words: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(words).current_dir(root.join(FOLDER));
    npm
}

/// Fetches the libraries of the lock file, where others are here or none.
fn libraries(root: &Path) -> Result<(), Stop> {
    if is_older(root) {
        announce("npm ci");
        succeed("npm ci", &mut npm(root, &["ci", "--prefer-offline", "--ignore-scripts"]))?;
    }
    Ok(())
}

/// Builds module and page into a folder.
fn page(root: &Path, build: &Build, out: &Path) -> Result<(), Stop> {
    let module = module(root, build)?;
    libraries(root)?;
    announce("page");
    succeed("types of the page", &mut npm(root, &["run", "--silent", "check"]))?;
    let mut vite = npm(root, &["run", "--silent", "build"]);
    vite.env("FIRSTFLIGHT_WEB_OUT", out.join("folder")).env("FIRSTFLIGHT_WEB_MODULE", module);
    succeed("page", &mut vite)?;
    fits("the module", &out.join("folder/firstflight.wasm.gz"), build.module)?;
    fits("the page in one file", &out.join("firstflight.html"), build.one_file)?;
    let crates = licences::of_others(root, &licences::PAGE)?;
    licensed(out, &crates).map_err(|error| unable("licences of the page", &error))
}

/// Says how large a file is, and stops where that is more than the KB it may have.
fn fits(name: &str, file: &Path, most: u64) -> Result<(), Stop> {
    let about = fs::metadata(file).map_err(|error| unable(&file.display().to_string(), &error))?;
    let found = about.len().div_ceil(1000);
    println!("{name} has {found} KB");
    if found <= most {
        return Ok(());
    }
    let found = format!("found {found} KB; accepted: at most {most} KB");
    Err(Stop::failed(&format!("{name}: {}: {found}", file.display())))
}

/// Puts the licences of all that is inside beside the folder's page and the one file.
fn licensed(out: &Path, crates: &str) -> std::io::Result<()> {
    let inside = out.join("folder").join(LICENCES);
    let scripts = fs::read_to_string(&inside)?;
    fs::write(&inside, format!("{}\n\n{crates}", scripts.trim_end()))?;
    fs::copy(inside, out.join(LICENCES)).map(drop)
}

/// Where the page is that people download: one file, with the optimised module in it.
pub(crate) fn one_file(root: &Path) -> PathBuf {
    target(root).join("web/firstflight.html")
}

/// Builds the module.
pub(crate) fn module(root: &Path, build: &Build) -> Result<PathBuf, Stop> {
    let profile = build.profile;
    let words = ["build", "--package", "firstflight-web", "--lib", "--target", TARGET];
    succeed("module", cargo(root, &words).args(["--profile", profile]))?;
    let folder = if profile == TESTED.profile { "debug" } else { profile };
    Ok(target(root).join(TARGET).join(folder).join("firstflight_web.wasm"))
}

/// Whether the libraries of the page are not those of its lock file.
fn is_older(root: &Path) -> bool {
    let changed = |file: &str| {
        let about = fs::metadata(root.join(FOLDER).join(file));
        about.and_then(|about| about.modified()).ok()
    };
    changed("node_modules/.package-lock.json") < changed("package-lock.json")
}

/// What the tests lack here.
pub(crate) fn lacks() -> Option<String> {
    if !has_target() {
        return Some("the page in a browser: as its module".to_owned());
    }
    let no_browser = "the page in a browser: no chromium (Debian package chromium)";
    let no_npm = no_npm().map(|lack| format!("the page in a browser: {lack}"));
    no_npm.or_else(|| browser().is_empty().then(|| no_browser.to_owned()))
}

fn no_npm() -> Option<&'static str> {
    let missing = ["node", "npm"].into_iter().any(|tool| which(tool).is_none());
    missing.then_some("no npm (Debian packages nodejs npm, Node 20)")
}

/// The browser, or nothing.
pub(crate) fn browser() -> std::ffi::OsString {
    let named = std::env::var_os("CHROMIUM");
    let known = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(which);
    named.or(known.map(PathBuf::into_os_string)).unwrap_or_default()
}

/// Whether the standard library for a page in a browser is here.
pub(crate) fn has_target() -> bool {
    step::has_target(TARGET)
}

const FOLDER: &str = "web";
const PLOTLY: &str = "node_modules/plotly.js-basic-dist-min/plotly-basic.min.js";
/// As vite writes it, of what is inside of others' scripts.
const LICENCES: &str = "licences.md";
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
pub(crate) const NO_TARGET: &str =
    "module of the page, C without a system: no target (rustup target add wasm32-unknown-unknown)";
