//! Who uses a control: connections, defaults of network namespaces, routes. Read in every network
//! namespace that has a process or a name, through `ss`, `ip` and `nsenter`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A socket that uses a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The network namespace, as [`Uses`] has them.
    pub namespace: String,
    /// The state in the words of `ss`: `ESTAB`, `LISTEN`.
    pub state: String,
    /// Address and port here.
    pub local: String,
    /// Address and port there.
    pub peer: String,
}

/// Everything that uses one control. A network namespace is called `host`, by its name, or by a
/// process that is in it: `NAME`, `of process 42`, `of this program`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Sockets.
    pub connections: Vec<Connection>,
    /// Network namespaces whose default it is.
    pub defaults: Vec<String>,
    /// Routes, each with its namespace in front.
    pub routes: Vec<String>,
    /// Network namespaces that could not be entered (it takes CAP_SYS_ADMIN).
    pub unseen: Vec<String>,
}

/// Who uses each of these controls, in the order given.
///
/// # Errors
/// `ss`, `ip` or `nsenter` is missing or fails in the namespace of this program.
pub fn of(names: &[String]) -> io::Result<Vec<Uses>> {
    let mut uses = vec![Uses::default(); names.len()];
    if names.is_empty() {
        return Ok(uses);
    }
    let own = fs::metadata(OWN).map(|metadata| metadata.ino()).ok();
    for (inode, (path, label)) in namespaces() {
        let is_own = Some(inode) == own;
        let Facts { default, sockets, routes } = match Facts::read(&path, is_own) {
            Err(error) if is_own || error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(_) => {
                // It went away while we looked, or is not ours to enter.
                let unseen = path.exists().then(|| label.clone());
                uses.iter_mut().for_each(|uses| uses.unseen.extend(unseen.clone()));
                continue;
            }
            Ok(facts) => facts,
        };
        for (name, uses) in names.iter().zip(&mut uses) {
            if default.trim() == name {
                uses.defaults.push(label.clone());
            }
            uses.connections.extend(sockets.lines().filter_map(|line| socket(line, name, &label)));
            let of_routes = routes.lines().filter(|line| names_control(line, name));
            uses.routes.extend(of_routes.map(|line| format!("{label}: {}", line.trim())));
        }
    }
    Ok(uses)
}

/// What programs print in one network namespace.
struct Facts {
    default: String,
    sockets: String,
    routes: String,
}

impl Facts {
    fn read(path: &Path, is_own: bool) -> io::Result<Self> {
        let run = |program: &[&str]| run(path, is_own, program);
        let default = run(&["cat", "/proc/sys/net/ipv4/tcp_congestion_control"])?;
        let sockets = run(&["ss", "-tainHO"])?;
        let mut routes = run(&["ip", "-4", "route", "show", "table", "all"])?;
        routes.push_str(&run(&["ip", "-6", "route", "show", "table", "all"])?);
        Ok(Self { default, sockets, routes })
    }
}

/// A line of `ss` about a socket with that control.
fn socket(line: &str, name: &str, namespace: &str) -> Option<Connection> {
    let mut words = line.split_whitespace();
    let (state, local, peer) = (words.next()?, words.nth(2)?, words.next()?);
    words.any(|word| word == name).then(|| Connection {
        namespace: namespace.to_owned(),
        state: state.to_owned(),
        local: local.to_owned(),
        peer: peer.to_owned(),
    })
}

/// A line of `ip route` with `congctl NAME` or `congctl lock NAME`.
fn names_control(line: &str, name: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| *word != "congctl").skip(1);
    let first = words.next();
    first == Some(name) || first == Some("lock") && words.next() == Some(name)
}

/// Every network namespace once, by its number: a path to it, and what to call it.
fn namespaces() -> BTreeMap<u64, (PathBuf, String)> {
    let mut found: BTreeMap<u64, (PathBuf, String)> = BTreeMap::new();
    let mut add = |path: PathBuf, label: String| {
        if let Ok(metadata) = fs::metadata(&path) {
            found.entry(metadata.ino()).or_insert((path, label));
        }
    };
    add("/proc/1/ns/net".into(), "host".to_owned());
    add(OWN.into(), "of this program".to_owned());
    for entry in fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        add(entry.path(), entry.file_name().to_string_lossy().into_owned());
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            add(entry.path().join("ns/net"), format!("of process {name}"));
        }
    }
    found
}

/// What a program prints in a network namespace; its own can be looked into without entering.
fn run(namespace: &Path, is_own: bool, program: &[&str]) -> io::Result<String> {
    let mut command = Command::new(if is_own { program[0] } else { "nsenter" });
    if is_own {
        command.args(&program[1..]);
    } else {
        command.arg(format!("--net={}", namespace.display())).args(program);
    }
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), missing(&command)),
        kind => io::Error::new(kind, format!("{}: {error}", program.join(" "))),
    })?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    // A protocol that the kernel lacks has no routes.
    if !output.status.success() && !program.contains(&"-6") {
        return Err(io::Error::other(format!("{}: {}", program.join(" "), complaint.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Debian's names of packages; others have the same programs in them.
fn missing(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let package = match &*program {
        "ss" | "ip" => "iproute2",
        "nsenter" => "util-linux",
        _ => "coreutils",
    };
    format!("`{program}` is missing, which tells who uses a control: install {package}")
}

/// The network namespace of this program.
const OWN: &str = "/proc/self/ns/net";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_found_by_its_control() {
        let line = "ESTAB 0 0 10.9.0.1:40 10.9.0.2:5201 ff_astart wscale:7,7 rto:204 cwnd:34";
        let found = socket(line, "ff_astart", "host").unwrap();
        assert_eq!((found.state.as_str(), found.peer.as_str()), ("ESTAB", "10.9.0.2:5201"));
        assert_eq!(socket(line, "ff_ast", "host"), None);
        assert_eq!(socket("", "ff_astart", "host"), None);
    }

    #[test]
    fn a_route_is_found_by_its_congctl() {
        assert!(names_control("10.0.0.0/8 via 10.9.0.2 dev va congctl ff_astart", "ff_astart"));
        assert!(names_control("default dev va congctl lock ff_astart", "ff_astart"));
        assert!(!names_control("default dev ff_astart congctl cubic", "ff_astart"));
    }
}
