//! Judges an endpoint that was made for the QUIC interop runner. Its script `run_endpoint.sh` runs
//! twice, as server and as client; variables of the environment tell it which of the two it is and
//! which files to transfer (quic-interop-runner, README and quic.md).

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// What runs in the guest.
pub(super) struct Endpoint {
    pub(super) server: String,
    pub(super) client: String,
    /// The script, whose programs the guest needs.
    pub(super) script: String,
}

impl Endpoint {
    /// That of a folder, for one of the runner's test cases.
    ///
    /// # Errors
    /// There is no script, or the test case is no word.
    pub(super) fn of(folder: &Path, case: &str) -> Result<Self, Failure> {
        let place = folder.join(SCRIPT);
        let script = fs::read_to_string(&place).map_err(|error| {
            Failure::Usage(format!(
                "--interop {}: {}: {error}; accepted: a folder that has {SCRIPT}, as an image for \
                 the QUIC interop runner has it in its root",
                folder.display(),
                place.display()
            ))
        })?;
        if case.is_empty() || !case.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(Failure::Usage(format!(
                "--testcase: found `{case}`; accepted: a test case of the runner, as transfer or \
                 http3"
            )));
        }
        let folder = quoted(&folder.to_string_lossy());
        let environment = format!("TESTCASE={case} WWW=/www DOWNLOADS=/downloads CERTS=/certs");
        let server = format!(
            "{}\nexec env ROLE=server SSLKEYLOGFILE=/logs/server.keys QLOGDIR={{qlog}} \
             {environment} /{SCRIPT}",
            prepared(&folder)
        );
        let client = format!(
            "cd /\nenv ROLE=client REQUESTS=https://server4:443/{{file}} QLOGDIR=/logs/client \
             SSLKEYLOGFILE=/logs/client.keys {environment} /{SCRIPT} && \
             cmp /www/{{file}} /downloads/{{file}}"
        );
        Ok(Self { server, client, script })
    }
}

/// What the runner prepares before it starts a container: the image's files in the root, those to
/// be served, certificates, names, and the two scripts by which a container finds the simulator,
/// which have nothing to do here.
fn prepared(folder: &str) -> String {
    let files = [
        ("ca.pem", include_str!("interop/ca.pem")),
        ("cert.pem", include_str!("interop/cert.pem")),
        ("priv.key", include_str!("interop/priv.key")),
    ];
    let write = files.map(|(name, text)| format!("cat > /certs/{name} <<'END'\n{text}END\n"));
    format!(
        "set -e\n\
         for part in {folder}/*; do\n\
         [ -e \"/${{part##*/}}\" ] || ln -s \"$part\" /\n\
         done\n\
         mkdir -p /certs /downloads /logs/client\n\
         ln -s {{folder}} /www\n\
         {}\
         echo '{{address}} server server4 server46' >> /etc/hosts\n\
         for script in setup wait-for-it; do\n\
         echo '#!/bin/sh' > /$script.sh\n\
         chmod +x /$script.sh\n\
         done\n\
         cd /",
        write.concat()
    )
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The entry point of an image.
const SCRIPT: &str = "run_endpoint.sh";

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(folder: &Path, case: &str) -> String {
        match Endpoint::of(folder, case) {
            Err(Failure::Usage(problem)) => problem,
            _ => panic!("{case}"),
        }
    }

    #[test]
    fn what_is_no_endpoint_and_what_is_no_test_case_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let missing = problem(folder.path(), "transfer");
        assert!(missing.contains("; accepted: a folder that has run_endpoint.sh"), "{missing}");
        fs::write(folder.path().join(SCRIPT), "#!/bin/sh\n").unwrap();
        assert!(problem(folder.path(), "a; b").starts_with("--testcase: found `a; b`; accepted"));
    }

    #[test]
    fn a_shell_runs_both_lines_and_a_folder_may_have_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("it's 1");
        fs::create_dir(&odd).unwrap();
        fs::write(odd.join(SCRIPT), "#!/bin/sh\n").unwrap();
        let endpoint = Endpoint::of(&odd, "http3").unwrap();
        assert!(endpoint.server.contains(r"/it'\''s 1'/*; do"), "{}", endpoint.server);
        for line in [&endpoint.server, &endpoint.client] {
            let checked = std::process::Command::new("sh").args(["-n", "-c", line]).status();
            assert!(checked.unwrap().success(), "{line}");
            assert!(line.contains("TESTCASE=http3 "));
        }
    }

    /// The client's line, with a script in place of the guest's: one that lacks the test case ends
    /// with 127, as the runner has it, and so does the line.
    #[test]
    fn a_test_case_that_the_endpoint_lacks_ends_the_line_with_its_code() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(SCRIPT);
        fs::write(&place, "case $TESTCASE in http3) exit 0;; *) exit 127;; esac\n").unwrap();
        let ended = |case: &str, file: &str| {
            let endpoint = Endpoint::of(folder.path(), case).unwrap();
            let script = format!("sh {}", place.display());
            let line = endpoint.client.replace(&format!("/{SCRIPT}"), &script);
            let line = line
                .replace("{file}", file)
                .replace("/www/", "/dev/")
                .replace("/downloads/", "/dev/");
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &line]).stderr(std::process::Stdio::null()).status().unwrap().code()
        };
        assert_eq!([ended("http3", "null"), ended("transfer", "null")], [Some(0), Some(127)]);
        assert_ne!(ended("http3", "nothing"), Some(0), "no file came");
    }
}
