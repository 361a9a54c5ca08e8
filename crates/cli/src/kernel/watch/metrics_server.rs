//! The summary for Prometheus, on a port of this host alone.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;

/// What is answered to `GET /metrics`.
pub(super) struct MetricsServer {
    text: Arc<Mutex<String>>,
    /// Where it listens, with the port that the system chose for 0.
    pub(super) address: SocketAddr,
}

impl MetricsServer {
    /// Listens until the program ends.
    pub(super) fn at(text: &str) -> Result<Self, Failure> {
        let refused = |found: &dyn std::fmt::Display| {
            let accepted = "accepted: an address of this host alone and a port";
            let text = text.escape_debug();
            Failure::Usage(format!(
                "kernel watch: --listen {text}: {found}; {accepted}, such as 127.0.0.1:9435"
            ))
        };
        let address: SocketAddr = text.parse().map_err(|_| refused(&"no address"))?;
        if !address.ip().is_loopback() {
            return Err(refused(&"others could read it"));
        }
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        let address = listener.local_addr().map_err(|error| refused(&error))?;
        let text = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&text);
        // One after the other: each has a second, and who scrapes is one program.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shown = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // Who asked is gone.
                let _ = answer(stream, &shown);
            }
        });
        Ok(Self { text, address })
    }

    pub(super) fn set(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn answer(mut stream: TcpStream, shown: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let status = loop {
        let mut bytes = [0; 1024];
        let length = stream.read(&mut bytes)?;
        request.extend_from_slice(&bytes[..length]);
        if let Some(status) = status_of(&request) {
            break status;
        }
        if length == 0 || request.len() > LONGEST {
            break BAD;
        }
    };
    let body = if status == OK { shown } else { "accepted: GET /metrics\n" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes())
}

/// The status for what was asked, once all of it is there.
fn status_of(request: &[u8]) -> Option<&'static str> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(httparse::Status::Partial) => None,
        Err(_) => Some(BAD),
        Ok(httparse::Status::Complete(_)) => {
            let path = parsed.path.unwrap_or_default().split('?').next();
            let is_it = parsed.method == Some("GET") && path == Some("/metrics");
            Some(if is_it { OK } else { "404 Not Found" })
        }
    }
}

const OK: &str = "200 OK";
const BAD: &str = "400 Bad Request";
/// How long one may take to ask.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of a request.
const LONGEST: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &MetricsServer, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn this_host_alone_reads_the_newest_summary() {
        let server = MetricsServer::at("127.0.0.1:0").unwrap();
        server.set("one 1\n".to_owned());
        server.set("two 2\n".to_owned());
        let found = ask(&server, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with("\r\n\r\ntwo 2\n"));
        assert!(ask(&server, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(ask(&server, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
        for (text, wanted) in [("0.0.0.0:0", "others could read it"), ("9435", "no address")] {
            let Err(refused) = MetricsServer::at(text) else { panic!("{text}") };
            assert!(refused.to_string().contains(wanted), "{refused}");
        }
        let Err(taken) = MetricsServer::at(&server.address.to_string()) else { panic!() };
        assert!(taken.to_string().contains("accepted: an address of this host"), "{taken}");
    }

    #[test]
    fn who_says_nothing_or_too_much_is_sent_away() {
        let server =
            MetricsServer::at("[::1]:0").or_else(|_| MetricsServer::at("127.0.0.1:0")).unwrap();
        let silent = TcpStream::connect(server.address).unwrap();
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(2 * LONGEST));
        let mut stream = TcpStream::connect(server.address).unwrap();
        // The answer may come before all of it is written.
        let _ = stream.write_all(long.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        drop(silent);
        assert!(ask(&server, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
    }
}
