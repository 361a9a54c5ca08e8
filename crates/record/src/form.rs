//! What a file is, by its first bytes. A file that is nearly a record is refused by the name of its
//! format, with the command that makes a record of it.

use crate::error::ACCEPTED;
use crate::sockets;

/// What a file is that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The log of a QUIC stack.
    #[default]
    Qlog,
    /// A pcap or pcapng.
    Capture,
    /// The output of `ss`, again and again.
    Sockets,
    /// The JSON of iperf3.
    Iperf,
}

impl Form {
    /// In a word, as `pcap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qlog => "qlog",
            Self::Capture => "pcap",
            Self::Sockets => "ss",
            Self::Iperf => "iperf3",
        }
    }
}

/// What is found instead of a record, and what to do.
pub(crate) type Other = (String, String);

/// What a file is that begins so.
pub(crate) fn of(first: &[u8]) -> Result<Form, Other> {
    if first.get(..4).is_some_and(|magic| CAPTURES.iter().any(|known| known == magic)) {
        return Ok(Form::Capture);
    }
    let named = OTHERS.iter().find(|(magic, ..)| first.starts_with(magic));
    if let Some((_, found, way)) = named {
        return other(found, way);
    }
    let text = String::from_utf8_lossy(first);
    let text = text.trim_start_matches(['\u{feff}', '\u{1e}']).trim_start();
    if !text.starts_with('{') && text.contains("[ ID]") && text.contains("Interval") {
        return other("the text of iperf3", "its JSON: iperf3 --json");
    }
    match text.as_bytes().first() {
        None => other("the file is empty", ACCEPTED),
        // A time may stand in such brackets.
        Some(b'[') if text.lines().take(LINES).any(sockets::begins) => Ok(Form::Sockets),
        Some(b'{' | b'[') => json(text),
        Some(_) => lines(text),
    }
}

fn other(found: &str, way: &str) -> Result<Form, Other> {
    Err((found.to_owned(), way.to_owned()))
}

fn json(text: &str) -> Result<Form, Other> {
    let has = |names: &[&str]| names.iter().all(|name| text.contains(&format!("\"{name}\"")));
    if has(&["qlog_version"]) || has(&["file_schema"]) {
        return Ok(Form::Qlog);
    }
    if has(&["start", "connected"]) || has(&["start", "event", "data"]) {
        return Ok(Form::Iperf);
    }
    if text.contains("\"firstflight/connection@") {
        return other(
            "connections that kernel watch recorded, whose lines have no curve to draw",
            "firstflight show FILE for a table, firstflight kernel what-if FILE, or a capture of \
             one connection",
        );
    }
    match JSON.iter().find(|(names, ..)| has(names)) {
        Some((_, found, way)) => other(found, way),
        None => Ok(Form::Qlog),
    }
}

fn lines(text: &str) -> Result<Form, Other> {
    let any = |is: fn(&str) -> bool| text.lines().take(LINES).any(is);
    if any(|line| line.contains("Recv-Q") && line.contains("Foreign Address")) {
        return other("the output of netstat, which has no windows", SS);
    }
    if any(sockets::begins) {
        return Ok(Form::Sockets);
    }
    if any(|line| (line.contains(" IP ") || line.contains(" IP6 ")) && line.contains(" > ")) {
        return other("the text of tcpdump", "a capture: tcpdump -w FILE");
    }
    if any(|line| line.contains(" \u{2192} ") || line.contains(" -> ")) && text.contains("TCP") {
        return other("packets as text", "a capture: tshark -w FILE, or tcpdump -w FILE");
    }
    if any(|line| line.contains("ss -t")) && any(|line| line.contains("Every ")) {
        return other("the screen of watch", SS);
    }
    let begin: String = text.chars().take(20).collect();
    other(&format!("no record that is known, begins with \"{}\"", begin.escape_debug()), ACCEPTED)
}

const SS: &str = "the output of `date +%s.%N; ss -tin` again and again";
/// Lines that are looked at.
const LINES: usize = 500;

/// The first bytes of captures (draft-ietf-opsawg-pcap, section 4; draft-ietf-opsawg-pcapng,
/// section 4.1).
const CAPTURES: [[u8; 4]; 7] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xcd, 0x34],
    [0x34, 0xcd, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// First bytes of others: what it is, and the way out.
const OTHERS: [(&[u8], &str, &str); 11] = [
    (b"snoop\0", "a capture of Solaris' snoop", PCAPNG),
    (b"GMBU", "a capture of Microsoft Network Monitor", PCAPNG),
    (b"RTSS", "a capture of Microsoft Network Monitor", PCAPNG),
    (b"TRSNIFF", "a capture of a Sniffer", PCAPNG),
    (
        b"\xfd7zXZ\0",
        "packed with xz",
        "unpack it first: xz -d FILE, or xz -dc FILE | firstflight show -",
    ),
    (b"BZh", "packed with bzip2", "unpack it first: bzip2 -d FILE"),
    (b"\x04\x22\x4d\x18", "packed with lz4", "unpack it first: lz4 -d FILE"),
    (b"PK\x03\x04", "a zip archive", "unpack it first, and name the record in it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first, and name the record in it"),
    (b"\x1f\x8b", "packed with gzip twice", "unpack it first: gzip -d FILE"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd twice", "unpack it first: zstd -d FILE"),
];
/// Others that are JSON: names that all of them have, what it is, and the way out.
const JSON: [(&[&str], &str, &str); 5] = [
    (
        &["constants", "logEventTypes"],
        "Chrome's netlog",
        "a qlog: start Chrome with --quic-log-dir, or take the log of the server; or a capture of \
         the connection",
    ),
    (
        &["protocolVersion", "events"],
        "a quic-trace",
        "a qlog: qvis (https://qvis.quictools.info) reads quic-trace and saves qlog",
    ),
    (
        &["log", "creator"],
        "a HAR, which has requests and no packets",
        "a capture, or the qlog of a QUIC stack",
    ),
    (&["_source", "layers"], "packets as JSON, as tshark writes them", TSHARK),
    (&["timestamp", "layers"], "packets as JSON, as tshark writes them", TSHARK),
];
const TSHARK: &str = "the capture itself: tshark -r FILE -w OTHER.pcapng";
const PCAPNG: &str = "pcap or pcapng: editcap -F pcapng FILE OTHER.pcapng";
