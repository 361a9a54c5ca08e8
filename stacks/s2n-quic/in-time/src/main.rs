//! One transfer over s2n-quic in virtual time, for tables.

use std::fmt::Display;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use firstflight_s2n_quic::control;
use firstflight_s2n_quic_in_time::{Outcome, Path, Problem, transfer};
use s2n_quic::provider::congestion_controller::{Bbr, Cubic};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut all_succeeded = true;
    for words in words.chunks(WORDS) {
        match run(words) {
            Ok(line) => println!("{line}"),
            Err(problem) => {
                eprintln!("{}: {problem}", words.join(" "));
                all_succeeded = false;
            }
        }
    }
    match words.is_empty() {
        true => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        false if all_succeeded => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn run(words: &[String]) -> Result<String, Problem> {
    let [name, rate, rtt, buffer, bytes] = words else { return Err(USAGE.into()) };
    let path = Path {
        rate_bps: number::<u64>("Mbit/s", rate)?.saturating_mul(1_000_000),
        rtt: Duration::from_millis(number("ms", rtt)?),
        buffer_packets: number("packets of buffer", buffer)?,
        headers: HEADERS,
        marks_every: 0,
    };
    let bytes = number("bytes", bytes)?;
    let Outcome { took, carried } = match name.as_str() {
        "s2n-cubic" => transfer(&path, bytes, Cubic::default()),
        "s2n-bbr" => transfer(&path, bytes, Bbr::default()),
        name => transfer(&path, bytes, control(name)?),
    }?;
    Ok(format!(
        r#"{{"control":"{name}","seconds":{:.6},"drops":{},"packets":{}}}"#,
        took.as_secs_f64(),
        carried.drops,
        carried.packets
    ))
}

fn number<T: FromStr<Err: Display>>(what: &str, word: &str) -> Result<T, Problem> {
    let problem = |error| format!("{what}: found {word}; accepted: a whole number ({error})");
    word.parse().map_err(|error| problem(error).into())
}

const USAGE: &str = "\
usage: firstflight-s2n-quic-in-time CONTROL MBPS RTT_MS BUFFER_PACKETS BYTES ...

Prints for each five words how long s2n-quic takes for a transfer, in virtual time. CONTROL is one
of firstflight's (`firstflight list`), s2n-cubic or s2n-bbr.";
const WORDS: usize = 5;
/// The headers of IPv4 and UDP.
const HEADERS: u64 = 28;
