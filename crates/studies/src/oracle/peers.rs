//! Runs ns-2 and ns-3, and keeps their output. A program and its arguments determine the output, so
//! a second run only reads the file.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight_outside::AtomicFile;

use super::measured::OracleRun;
use super::point::Point;
use crate::Stop;
use crate::cache::{ResultCache, content_name};
use crate::step::read_text;

/// The oracle programs, ready to run.
pub(crate) struct Peers {
    script: PathBuf,
    script_text: String,
    ns3: Option<(PathBuf, String)>,
    cache: ResultCache,
}

impl Peers {
    /// Looks for `ns`, and compiles the ns-3 program unless it is not wanted.
    pub(crate) fn new(root: &Path, cache: &Path, with_ns3: bool) -> Result<Self, Stop> {
        let script = root.join("validation/ns2-dumbbell.tcl");
        let script_text = read_text(&script)?;
        fs::create_dir_all(cache)
            .map_err(|error| Stop::usage(&format!("{}: {error}", cache.display())))?;
        if !has_ns2() {
            return Err(Stop::lacks("ns-2 is missing: `ns` cannot be run; apt-get install ns2"));
        }
        let ns3 = if with_ns3 { Some(compile_ns3(root, cache)?) } else { None };
        Ok(Self { script, script_text, ns3, cache: ResultCache::new(cache) })
    }

    /// What ns-2 measures at a point.
    pub(crate) fn ns2(&self, point: &Point) -> Result<OracleRun, Stop> {
        let mut args = vec![self.script.display().to_string()];
        args.extend(point.args());
        self.measure("ns2", Path::new("ns"), &args, (&self.script_text, &point.args()))
    }

    /// What ns-3 measures at a point; `None` where it has nothing like it.
    pub(crate) fn ns3(&self, point: &Point) -> Result<Option<OracleRun>, Stop> {
        let (Some((program, text)), Some(args)) = (&self.ns3, ns3_args(point)) else {
            return Ok(None);
        };
        self.measure("ns3", program, &args, (text, &args)).map(Some)
    }

    fn measure(
        &self,
        name: &str,
        program: &Path,
        args: &[String],
        (text, words): (&str, &[String]),
    ) -> Result<OracleRun, Stop> {
        let key = format!("{name}\n{text}\n{}", words.join(" "));
        if let Some(Ok(measured)) =
            self.cache.get::<String>(&key).map(|text| OracleRun::from_line(&text))
        {
            return Ok(measured);
        }
        let failed = |problem: &str| {
            Stop::failed(&format!("{name} failed with {}: {problem}", words.join(" ")))
        };
        let output = Command::new(program)
            .args(args)
            .output()
            .map_err(|error| failed(&error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let measured = OracleRun::from_line(&text).map_err(|problem| {
            failed(&format!("{problem}; {}", String::from_utf8_lossy(&output.stderr).trim()))
        })?;
        self.cache.put(&key, &text)?;
        Ok(measured)
    }
}

/// The nearest that ns-3 has. Its TCP always has partial ACKs, so Reno as of 1990 is not there;
/// Hoe's threshold is not either. It starts with a SYN, so the initial window means the same.
fn ns3_args(point: &Point) -> Option<Vec<String>> {
    if point.second().is_some() {
        return None;
    }
    let (alg, sack) = match point.text("alg") {
        "newreno" => ("newreno", 0),
        "sack" => ("newreno", 1),
        "vegas" => ("vegas", 0),
        _ => return None,
    };
    let mut args: Vec<String> = point.args().into_iter().filter(|arg| ns3_has(arg)).collect();
    args.extend([format!("alg={alg}"), format!("sack={sack}")]);
    Some(args)
}

/// What the ns-3 program takes as it is.
fn ns3_has(arg: &str) -> bool {
    !arg.starts_with("alg=") && !arg.starts_with("release=")
}

/// Whether ns-2 can be run.
pub(crate) fn has_ns2() -> bool {
    // ns reads its script from standard input, where an empty one ends it at once.
    Command::new("ns").arg("-").stdin(std::process::Stdio::null()).output().is_ok()
}

/// Compiles the ns-3 program of the repository `root` against the libraries of the system, once for
/// each text: the program below `cache`, and that text.
///
/// # Errors
/// g++ or ns-3 is missing, or refuses.
pub(crate) fn compile_ns3(root: &Path, cache: &Path) -> Result<(PathBuf, String), Stop> {
    let source = root.join("validation/ns3-dumbbell.cc");
    let text = read_text(&source)?;
    let program = cache.join(format!("ns3-dumbbell-{}", content_name(text.as_bytes())));
    if program.exists() {
        return Ok((program, text));
    }
    let fresh = AtomicFile::create(&program).map_err(|error| Stop::failed(&error.to_string()))?;
    let output = Command::new("g++")
        .args(["-O2", "-std=c++17", "-o"])
        .args([fresh.hidden(), &source])
        .args(LIBRARIES.map(|library| format!("-lns3-{library}")))
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Stop::lacks(
                "g++ is missing; apt-get install g++, or leave ns-3 out: --no-ns3",
            ));
        }
        Err(error) => return Err(Stop::failed(&format!("g++: {error}"))),
        Ok(output) => output,
    };
    if output.status.success() {
        fresh.finish().map_err(|error| Stop::failed(&error.to_string()))?;
        return Ok((program, text));
    }
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    if problem.contains("cannot find -lns3") || problem.contains("No such file or directory") {
        return Err(Stop::lacks(
            "ns-3 is missing; apt-get install ns3 libns3-dev, or leave it out: --no-ns3",
        ));
    }
    Err(Stop::failed(&format!("{} does not compile:\n{problem}", source.display())))
}

const LIBRARIES: [&str; 6] =
    ["applications", "internet", "nix-vector-routing", "point-to-point", "network", "core"];
