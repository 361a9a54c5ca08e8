//! The Debian package of the command: made with cargo-deb, then installed, used and removed.
//!
//! cargo-deb finds what is built below `target/release`. Here that is a folder of its own, which
//! has the program of either profile, the files made of it, and nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::notes::VERSION;
use crate::step::{self, announce, built, cargo, has_tools, kernel_features, succeed};
use crate::{Stop, web};

pub(crate) mod licences;
pub(crate) mod stage;

/// Makes the package and tries it: of the programs that the tests have built, or of the release.
pub(crate) fn run(root: &Path, released: bool) -> Result<(), Stop> {
    has_tools("deb", &TOOLS, "dpkg-dev binutils xz-utils, and cargo install --locked cargo-deb")?;
    if kernel_features()?.is_empty() {
        return Err(Stop::lacks(&step::no_kernel("deb")));
    }
    let program = match released {
        true => {
            announce("build the release");
            let words = ["build", "--profile", "dist", "--quiet", "--package", "firstflight-cli"];
            let mut build = cargo(root, &words);
            web::small_reports(root, &mut build)?;
            succeed("build", build.args(["--features", "kernel"]))?;
            step::target(root).join("dist/firstflight")
        }
        false => built(root, &["build", "--bin", "firstflight"])?,
    };
    let folder = step::target(root).join("deb");
    stage::fill(root, &program, &folder.join("release"))?;
    announce("cargo-deb");
    let package = make(root, &folder, released)?;
    try_out(&package, &folder)
}

/// The package of what has been staged.
fn make(root: &Path, folder: &Path, released: bool) -> Result<PathBuf, Stop> {
    let name = if released { "firstflight" } else { "firstflight-dev" };
    let package = folder.join(format!("{name}_{VERSION}_{}.deb", architecture(root)?));
    let mut deb = cargo(root, &["deb", "--quiet", "--locked", "--no-build", "--no-strip"]);
    deb.args(["--package", "firstflight-cli", "--output"]).arg(&package);
    // Half a minute less for what is only tried here.
    deb.args((!released).then_some("--fast"));
    deb.env("CARGO_TARGET_DIR", folder).env("SOURCE_DATE_EPOCH", stage::time(root)?);
    succeed("cargo-deb", &mut deb)?;
    Ok(package)
}

fn architecture(root: &Path) -> Result<String, Stop> {
    let mut dpkg = Command::new("dpkg");
    let name = step::output("deb", dpkg.arg("--print-architecture").current_dir(root))?;
    Ok(name.trim().to_owned())
}

/// Installs, uses and removes it in a copy of this system, which is gone with the namespace.
fn try_out(package: &Path, folder: &Path) -> Result<(), Stop> {
    announce("install, use and remove it");
    let mut id = Command::new("id");
    if step::output("deb", id.arg("-u"))?.trim() != "0" {
        println!("skipped: to install the package takes root");
        return Ok(());
    }
    let mut script = Command::new("unshare");
    script.args(["--mount", "sh", "-c", include_str!("deb/installed.sh"), "deb"]);
    succeed("the package", script.arg(package).arg(folder.join("tried")).arg(VERSION))
}

const TOOLS: [&str; 5] = ["cargo-deb", "dpkg-deb", "dpkg-shlibdeps", "strip", "xz"];
