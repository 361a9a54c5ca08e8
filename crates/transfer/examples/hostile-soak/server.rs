//! The `recv` that is soaked: a process of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustls::pki_types::CertificateDer;

use crate::clients::SECRET;
use crate::peer;

pub(crate) struct Server {
    pub(crate) at: SocketAddr,
    pub(crate) certificate: CertificateDer<'static>,
    /// `in` here is its directory.
    pub(crate) place: PathBuf,
    /// The receiver's process.
    child: Child,
}

impl Server {
    /// Starts it and waits until it listens.
    pub(crate) fn start(program: &str, place: &Path) -> Result<Self, String> {
        let fault = |error: std::io::Error| format!("{}: {error}", place.display());
        fs::create_dir_all(place.join("in")).map_err(fault)?;
        let made = rcgen::generate_simple_self_signed([peer::NAME.to_owned()]);
        let made = made.map_err(|error| error.to_string())?;
        let key = made.signing_key.serialize_pem();
        for (name, text) in [("pem", made.cert.pem()), ("key", key), ("secret", SECRET.into())] {
            fs::write(place.join(name), text).map_err(fault)?;
            let permissions = fs::Permissions::from_mode(0o600);
            fs::set_permissions(place.join(name), permissions).map_err(fault)?;
        }
        let words = "recv --listen 127.0.0.1:0 --dir in --serve --timeout 5s --max-size 3MB \
                     --secret-file secret --cert pem --key key";
        let mut child = Command::new(program)
            .args(words.split_whitespace())
            .current_dir(place)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no standard error")?).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        let at = first.strip_prefix("listening on ").and_then(|rest| rest.split(';').next());
        let at = at.and_then(|at| at.parse().ok()).ok_or(format!("recv printed: {first}"))?;
        // What it says later must be read, or it would wait.
        thread::spawn(move || lines.for_each(drop));
        Ok(Self { at, certificate: made.cert.into(), place: place.to_owned(), child })
    }

    /// KiB in use (Linux; 0 elsewhere).
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Ctrl-C: it has to be there to hear it.
    pub(crate) fn end(mut self) -> Result<(), String> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().map_err(|error| error.to_string())?;
        let status = self.child.wait().map_err(|error| error.to_string())?;
        match status.code() {
            Some(130) => Ok(()),
            _ => Err(format!("recv ended with {status}")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended by itself if all went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
