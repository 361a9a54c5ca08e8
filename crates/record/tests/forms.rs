//! One door for every form of file: through pipes, packed, refused by name, with foreign words.

use std::io::{Cursor, Write as _};
use std::path::Path;

use firstflight_record::{Form, open, read};
use flate2::Compression;
use flate2::write::GzEncoder;

const SS: &str = "1.0\nESTAB 0 9 10.0.0.1:1 10.0.0.2:2\n cubic rto:9 mss:1000 cwnd:10 unacked:3\n\
                  2.0\nESTAB 0 9 10.0.0.1:1 10.0.0.2:2\n cubic rto:9 mss:1000 cwnd:20 unacked:9\n";
const QLOG: &str = concat!(
    "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"T\",",
    "\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n\u{1e}{\"time\":0,",
    "\"name\":\"recovery:metrics_updated\",\"data\":{\"congestion_window\":1000}}\n",
);

fn refusal(bytes: &[u8]) -> String {
    read("x", Cursor::new(bytes), None).unwrap_err().to_string()
}

#[test]
fn a_qlog_is_read_through_the_same_door() {
    let found = read("x", Cursor::new(QLOG), None).unwrap();
    assert_eq!(
        (found.form, found.form.name(), found.version.as_str()),
        (Form::Qlog, "qlog", "0.3")
    );
    assert_eq!((found.number, found.all.len()), (1, 1));
    assert_eq!(found.connection.summary.initial_cwnd_bytes, Some(1000));
}

#[test]
fn a_packed_record_is_the_record() {
    let pcap = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records/cubic.pcap");
    for plain in [SS.as_bytes(), QLOG.as_bytes(), &std::fs::read(pcap).unwrap()] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(plain).unwrap();
        let packed = packed.finish().unwrap();
        let [plain, packed] =
            [plain, &packed].map(|bytes| read("x", Cursor::new(bytes), None).unwrap());
        assert_eq!((&plain.connection, plain.form), (&packed.connection, packed.form));
    }
    let zst = ruzstd::encoding::compress_to_vec(
        SS.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let found = read("x.txt", Cursor::new(zst), None).unwrap();
    assert_eq!((found.form, found.connection.summary.duration_s), (Form::Sockets, 1.0));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // More than a pipe holds, and than the first read takes.
    let lines = format!("{SS}{}", "noise\n".repeat(40_000));
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, lines).unwrap()
    });
    let found = open(&pipe, None).unwrap();
    writer.join().unwrap();
    assert_eq!((found.skipped.count, found.connection.summary.duration_s), (40_000, 1.0));
}

#[test]
fn what_cannot_be_opened_names_all_that_can() {
    for (path, found) in [("/nonexistent/x", "no such file"), ("/", "this is a directory")] {
        let refusal = open(Path::new(path), None).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{path}: {found}; accepted: a qlog")), "{refusal}");
        for form in ["pcapng", "ss -tin", "iperf3", ".gz", ".zst"] {
            assert!(refusal.contains(form), "{refusal}");
        }
    }
}

#[test]
fn what_is_nearly_a_record_is_refused_by_name_with_the_way_out() {
    for (text, name, way) in [
        (&b""[..], "the file is empty", "a qlog"),
        (b"# A page\n", "begins with \"# A page\\n\"", "a qlog"),
        (b"\0\x01\x02", "begins with \"\\0", "a qlog"),
        (
            b"{\"constants\":{\"logEventTypes\":{}},\"events\":[]}",
            "Chrome's netlog",
            "--quic-log-dir",
        ),
        (b"{\"protocolVersion\":\"Q\",\"events\":[]}", "a quic-trace", "qvis"),
        (b"{\"log\":{\"version\":\"1.2\",\"creator\":{}}}", "a HAR", "a capture"),
        (b"[{\"_index\":\"p\",\"_source\":{\"layers\":{}}}]", "as tshark writes", "tshark -r"),
        (
            b"12:00:00.1 IP 10.0.0.1.5 > 10.0.0.2.6: Flags [S]\n",
            "the text of tcpdump",
            "tcpdump -w",
        ),
        (b"  1 0.0 10.0.0.1 \xe2\x86\x92 10.0.0.2 TCP 74\n", "packets as text", "tcpdump -w"),
        (b"[ ID] Interval  Transfer  Bitrate\n", "the text of iperf3", "iperf3 --json"),
        (b"snoop\0\0\0", "Solaris' snoop", "editcap"),
        (b"GMBU\0", "Network Monitor", "editcap"),
        (b"\xfd7zXZ\0", "packed with xz", "xz -d"),
        (b"PK\x03\x04", "a zip archive", "unpack it"),
    ] {
        let message = refusal(text);
        assert!(message.starts_with("x: ") && message.contains(name), "{message}");
        let (_, accepted) = message.split_once("; accepted: ").unwrap();
        assert!(accepted.contains(way), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

/// Words of a file are handed on as they are, for the one place that writes them, and are bounded;
/// what an error says of them is escaped.
#[test]
fn foreign_words_are_bounded_and_escaped_in_errors() {
    let evil = "\u{1b}]0;pwned\u{7}";
    let long = "y".repeat(5000);
    for word in [evil, &long] {
        let json = word.escape_default().to_string().replace("\\u{1b}", "\\u001b");
        let json = json.replace("\\u{7}", "\\u0007");
        let ss = SS.replace("10.0.0.1:1", &format!("10.0.0.1{word}:1"));
        let iperf = format!(
            "{{\"start\":{{\"connected\":[{{\"socket\":1,\"local_host\":\"{json}\"}}],\
             \"version\":\"{json}\"}},\"intervals\":[{{\"streams\":[{{\"socket\":1,\"end\":1,\
             \"bytes\":9}}]}}],\"title\":\"{json}\"}}"
        );
        let qlog = QLOG.replace("\"T\"", &format!("\"{json}\""));
        for text in [ss, iperf, qlog] {
            match read("x", Cursor::new(&text), None) {
                Ok(found) => {
                    let words =
                        [&found.version, &found.connection.title, &found.connection.vantage];
                    let words = words.into_iter().chain(found.all.iter().map(|it| &it.title));
                    for word in words {
                        assert!(word.chars().count() <= 400, "{}", word.len());
                    }
                    let first = found.skipped.first.unwrap_or_default();
                    assert!(!first.contains('\u{1b}') && first.len() < 400, "{first}");
                }
                Err(error) => {
                    let refusal = error.to_string();
                    assert!(!refusal.contains('\u{1b}') && refusal.len() < 700, "{refusal}");
                }
            }
        }
    }
    let failed = format!("{{\"start\":{{\"connected\":[]}},\"error\":\"{}\"}}", "\\u001b[2J");
    assert!(!refusal(failed.as_bytes()).contains('\u{1b}'));
    assert!(!refusal(format!("{evil} text").as_bytes()).contains('\u{1b}'));
}
