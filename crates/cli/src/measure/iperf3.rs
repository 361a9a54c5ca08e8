//! Transfers of the kernel's TCP to an `iperf3 -s`.
//!
//! iperf3 ends a transfer when the last byte is in the sender's buffer. So the throughput is that
//! of the bytes which its receiver had by then; when the last one arrived is not known.

use std::fs;
use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use firstflight_control::Control;
use firstflight_core::units::{Bytes, Span};
use firstflight_kernel::catalogue::{self, KernelControl};
use firstflight_record::iperf::{Document, Sum};
use firstflight_results::{Counts, FlowContext, FlowOutcome, FlowResult, RunResult};

use super::{Args, Broken, Sender};
use crate::failure::Failure;
use crate::interrupt;

pub(super) struct Iperf3<'a> {
    names: &'a [String],
    /// What the kernel calls them.
    kernel_names: Vec<String>,
    /// Everything but the control.
    words: Vec<String>,
    /// When a flow counts as silent, and what is said then.
    silence: Silence,
}

impl<'a> Iperf3<'a> {
    /// # Errors
    /// A control that the running kernel does not have.
    pub(super) fn new(args: &Args, names: &'a [String]) -> Result<Self, Failure> {
        let available = catalogue::available();
        let kernel_names =
            names.iter().map(|name| kernel_name(name, &available)).collect::<Result<_, _>>()?;
        let (host, port) = address(&args.to)?;
        let silence = Silence { port: port.parse().unwrap_or(0), most: args.common.timeout()? };
        let timeout = silence.most.as_millis().to_string();
        let size = args.size.bytes().to_string();
        let words = ["-c", host, "-p", port, "-n", &size, "--connect-timeout", &timeout, "-J"];
        Ok(Self { names, kernel_names, words: words.map(str::to_owned).to_vec(), silence })
    }
}

impl Sender for Iperf3<'_> {
    fn send(&self, control: usize) -> Result<RunResult, Broken> {
        let (alias, control) = (&self.names[control], &self.kernel_names[control]);
        let began = Instant::now();
        let sent = run(&self.words, control, self.silence);
        let sent = sent.and_then(|text| flow(&text).map_err(Failure::Broke));
        let took = began.elapsed();
        let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let run = |flow: FlowResult, note: String| RunResult {
            control: control.clone(),
            alias: alias.clone(),
            transport: "linux".to_owned(),
            profile: "linux".to_owned(),
            note: Some(note),
            total_throughput_bps: flow.throughput_bps,
            ..RunResult::of_flows(
                vec![FlowResult { control: control.clone(), ..flow }],
                took_ns,
                (took, 0),
            )
        };
        match sent {
            Ok(flow) => Ok(run(flow, NOTE.to_owned())),
            Err(failure) => {
                let run = run(FlowResult::default(), format!("failed: {failure}"));
                Err(Broken { run: Box::new(run), failure: Box::new(failure) })
            }
        }
    }

    fn what(&self) -> &'static str {
        "linux"
    }
}

/// The host and the port of `HOST`, `HOST:PORT` or `[V6]:PORT`.
fn address(to: &str) -> Result<(&str, &str), Failure> {
    let (host, port) = match to.rsplit_once(':') {
        // An address of IPv6 alone has several colons.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port),
        _ => (to, "5201"),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() || host.starts_with('-') || port.parse::<u16>().is_err() {
        let accepted = "accepted: HOST or HOST:PORT of an `iperf3 -s`";
        return Err(Failure::Usage(format!("--to {to}: {accepted}")));
    }
    Ok((host, port))
}

/// What the kernel calls a control that it has; `available` are those it knows.
fn kernel_name(name: &str, available: &[String]) -> Result<String, Failure> {
    let known = |name: &str| available.iter().any(|known| known == name);
    if known(name) {
        return Ok(name.to_owned());
    }
    let list = available.join(", ");
    let ours = name.strip_prefix("ff_").map(|own| own.replace('_', "-"));
    let ours = ours.as_deref().unwrap_or(name);
    match Control::named(ours).ok().and_then(|control| KernelControl::new(&control).ok()) {
        // Which knobs a loaded control has its name does not say.
        Some(control) if known(&control.name) && !name.contains('(') => Ok(control.name),
        Some(_) => {
            let load = match name.contains('(') {
                true => format!("`firstflight kernel load 'NAME={name}'` and --controls NAME"),
                false => format!("`firstflight kernel load {ours}`"),
            };
            Err(Failure::Lacks(format!(
                "--controls {name}: the kernel does not have it; load it by {load}; \
                 accepted now: {list}"
            )))
        }
        None => Err(Failure::Lacks(format!(
            "--controls {name}: the kernel does not have it; accepted: {list}; \
             `modprobe tcp_NAME` loads others of Linux, `firstflight kernel load` some of ours"
        ))),
    }
}

/// iperf3's document.
fn run(words: &[String], control: &str, silence: Silence) -> Result<String, Failure> {
    let mut command = Command::new("iperf3");
    command.args(words).args(["-C", control]).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Lacks(
            "`iperf3` is missing: install the package iperf3, or measure QUIC without --iperf3"
                .to_owned(),
        ),
        _ => Failure::Broke(format!("iperf3: {error}")),
    })?;
    let mut stdout = child.stdout.take();
    // A pipe that nobody reads would stop the process.
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.as_mut().map(|stdout| stdout.read_to_string(&mut text));
        read.transpose().map(|_| text)
    });
    let ended = wait(&mut child, silence);
    let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    ended.map(|()| text)
}

fn wait(child: &mut Child, silence: Silence) -> Result<(), Failure> {
    let stop = interrupt::listen();
    let (mut seen, mut since) = (None, Instant::now());
    loop {
        let moved = silence.moved(child.id());
        if moved.is_none() || moved != seen {
            (seen, since) = (moved, Instant::now());
        }
        let ended = child.try_wait().map_err(|error| Failure::Broke(format!("iperf3: {error}")))?;
        // Ctrl-C in a terminal reaches the child too, which then ends by itself.
        if stop.load(Ordering::Relaxed) {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::Interrupted);
        }
        if ended.is_some() {
            return Ok(());
        }
        if since.elapsed() > silence.most {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::Broke(format!(
                "iperf3: no byte moved for {} s (--timeout): is the server of iperf3 busy or gone?",
                silence.most.as_secs_f64()
            )));
        }
        thread::sleep(LOOK);
    }
}

/// How long nothing may move in the connections to a port. iperf3 3.12 itself waits for ever for a
/// server that took the connection and says nothing.
#[derive(Clone, Copy)]
struct Silence {
    port: u16,
    most: Duration,
}

impl Silence {
    /// What changes as long as bytes move: the queues of the connections to the port in the network
    /// namespace of a process, and what it has written and read. `None` where no system tells.
    fn moved(self, process: u32) -> Option<String> {
        let file = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).ok();
        let mut moved = file("io")?;
        for table in ["net/tcp", "net/tcp6"] {
            moved.extend(file(table).iter().flat_map(|text| queues(text, self.port)));
        }
        Some(moved)
    }
}

/// Reads a table as /proc/net/tcp: the state and the bytes that wait, sent and unread, of the
/// connections to a port.
fn queues(table: &str, port: u16) -> impl Iterator<Item = String> {
    let to = format!(":{port:04X}");
    table.lines().filter_map(move |line| {
        let mut words = line.split_whitespace();
        let remote = words.nth(2)?;
        let (state, waiting) = (words.next()?, words.next()?);
        remote.ends_with(&to).then(|| format!("{state} {waiting}\n"))
    })
}

/// What a document of iperf3 says of its one connection; its exit code is 0 after an error too.
fn flow(text: &str) -> Result<FlowResult, String> {
    let all: Document = serde_json::from_str(text)
        .map_err(|error| format!("iperf3 ended without a document of results: {error}"))?;
    if let Some(error) = all.error {
        return Err(format!("iperf3: {error}"));
    }
    let received = all.end.sum_received.filter(|sum| sum.bytes > 0 && sum.seconds > 0.0);
    let Some(Sum { bytes, seconds, .. }) = received else {
        return Err("iperf3: its document lacks what the receiver got".to_owned());
    };
    let mss = all.start.tcp_mss_default.map_or(0, |bytes| bytes as u64).max(1);
    let peak = all.end.streams.first().map_or(0, |stream| stream.sender.max_snd_cwnd);
    let took = Duration::try_from_secs_f64(seconds).map_or(0, |it| it.as_nanos() as u64);
    let context = FlowContext { period: Span(took), packet_bytes: mss, ..FlowContext::default() };
    let retransmitted_packets = all.end.sum_sent.retransmits;
    let flow = FlowOutcome {
        delivered_bytes: Bytes(bytes),
        delivered_packets: bytes / mss,
        counts: Counts { retransmitted_packets, ..Counts::default() },
        peak_cwnd: Bytes(peak),
        ..FlowOutcome::default()
    };
    Ok(FlowResult::of(&flow, context))
}

const LOOK: Duration = Duration::from_millis(20);
const NOTE: &str = "iperf3 ends when the last byte is in the sender's buffer: throughput is what \
    its receiver had got by then, and when all had arrived is not known";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Fault as _;

    #[test]
    fn controls_are_the_kernels_or_ours_that_are_loaded() {
        let available = ["reno", "cubic", "ff_astart", "ff_tcpw_a"].map(str::to_owned);
        let name = |name: &str| kernel_name(name, &available).map_err(|error| error.to_string());
        assert_eq!(name("cubic").unwrap(), "cubic");
        assert_eq!(name("astart").unwrap(), "ff_astart");
        assert_eq!(name("ff_tcpw_a").unwrap(), "ff_tcpw_a");
        assert_eq!(name("tcpw-a").unwrap(), "ff_tcpw_a");
        assert!(name("mstart").unwrap_err().contains("`firstflight kernel load mstart`"));
        assert!(name("ff_mstart").unwrap_err().contains("`firstflight kernel load mstart`"));
        let knobs = name("astart(ere.N=3)").unwrap_err();
        assert!(knobs.contains("kernel load 'NAME=astart(ere.N=3)'"), "{knobs}");
        assert!(name("nothing").unwrap_err().contains("modprobe tcp_NAME"));
        assert_eq!(kernel_name("nothing", &available).unwrap_err().code(), 3);
    }

    #[test]
    fn the_queues_of_the_connections_to_a_port_are_read() {
        let line = "   1: 0100007F:A1B2 0100007F:1451 01 00000A00:00000000 01:00000014 0";
        let table = format!("  sl  local_address rem_address   st tx_queue rx_queue\n{line}\n");
        assert_eq!(queues(&table, 5201).collect::<Vec<_>>(), ["01 00000A00:00000000\n"]);
        assert_eq!(queues(&table, 5202).count(), 0);
        let own = Silence { port: 1, most: Duration::ZERO }.moved(std::process::id());
        assert_eq!(own.is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn a_port_may_be_left_out() {
        assert_eq!(address("h").unwrap(), ("h", "5201"));
        assert_eq!(address("h:1").unwrap(), ("h", "1"));
        assert_eq!(address("[2001:db8::1]:7").unwrap(), ("2001:db8::1", "7"));
        assert_eq!(address("2001:db8::1").unwrap(), ("2001:db8::1", "5201"));
        for wrong in ["", "-x", "h:", "h:x", ":1"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_document_gives_what_the_receiver_had_or_the_error() {
        let text = r#"{"start":{"tcp_mss_default":1000},"end":{"streams":[{"sender":
            {"max_snd_cwnd":50000}}],"sum_sent":{"bytes":3000000,"seconds":1,"retransmits":7},
            "sum_received":{"bytes":2000000,"seconds":2}}}"#;
        let flow = flow(text).unwrap();
        assert_eq!((flow.throughput_bps, flow.counts.retransmitted_packets), (8e6, 7));
        assert_eq!((flow.peak_cwnd_packets, flow.completion_time_s), (50, None));
        let error = super::flow(r#"{"end":{},"error":"the server is busy"}"#);
        assert_eq!(error.unwrap_err(), "iperf3: the server is busy");
        assert!(super::flow(r#"{"end":{}}"#).is_err() && super::flow("").is_err());
    }
}
