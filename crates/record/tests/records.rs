//! Recordings of Linux 6.18 over the lab's link (20 Mbit/s, 40 ms), and what may be in a file.
//!
//! `cubic.pcap` is 700 kB with CUBIC and a buffer of a quarter BDP, by `tcpdump -s 88`; `cubic.txt`
//! 1.5 MB with half a BDP and `bbr.txt` 2 MB with BBR and one BDP, by `ss -tin`.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use firstflight_qlog::Evidence;
use firstflight_record::{RecordError, Recorded, open};
use proptest::prelude::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

fn read(bytes: &[u8], number: Option<usize>) -> Result<Recorded, RecordError> {
    firstflight_record::read("x", Cursor::new(bytes), number)
}

#[test]
fn a_capture_tells_what_the_link_counted() {
    let found = open(&file("cubic.pcap"), None).unwrap();
    assert!(!found.truncated && found.skipped.count == 0, "{:?}", found.skipped);
    assert_eq!((found.number, found.all.len(), found.mss), (1, 1, Some(1448)));
    assert_eq!((&found.connection.hidden, found.connection.vantage.as_str()), (&None, "sender"));
    let summary = &found.connection.summary;
    // The link dropped 21 packets, and each was sent again.
    assert_eq!(summary.packets_lost, Some(21));
    assert_eq!(summary.bytes_sent.unwrap() - summary.bytes_lost.unwrap(), 700_000);
    let rtt = summary.min_rtt_ms.unwrap();
    assert!((40.0..41.5).contains(&rtt), "{rtt}");
    let exit = summary.exit.as_ref().unwrap();
    assert_eq!((exit.evidence, exit.reason.as_deref()), (Evidence::Flight, Some("loss")));
    // 66 packets of 1500 bytes on the path and 16 in the buffer overflow within a round trip.
    let packets = exit.cwnd_bytes.unwrap() / 1448;
    assert!((66..=140).contains(&packets), "{packets}");
    assert!((0.1..0.4).contains(&exit.time_s), "{}", exit.time_s);
    assert!(found.connection.limits.intervals().is_empty(), "the path limited it");
}

#[test]
fn samples_of_the_kernel_tell_windows_and_the_end_of_start_up() {
    let cubic = open(&file("cubic.txt"), None).unwrap();
    assert_eq!(cubic.skipped.count, 0, "{:?}", cubic.skipped);
    assert!(cubic.connection.title.starts_with("cubic 10.77.0.1:"), "{}", cubic.connection.title);
    let exit = cubic.connection.summary.exit.as_ref().unwrap();
    // HyStart left at 76 packets, below the 99 that path and buffer hold; four were lost later.
    assert_eq!((exit.evidence, exit.reason.as_deref()), (Evidence::Threshold, Some("ssthresh")));
    assert_eq!(exit.cwnd_bytes, Some(76 * 1448));
    assert_eq!(cubic.connection.summary.packets_lost, Some(4));
    let bbr = open(&file("bbr.txt"), None).unwrap().connection;
    assert_eq!(bbr.summary.exit.as_ref().unwrap().evidence, Evidence::State);
    // The link dropped 150 of 1535 packets.
    assert_eq!(bbr.summary.packets_lost, Some(150));
    assert!(bbr.summary.bytes_sent.unwrap() - bbr.summary.bytes_lost.unwrap() >= 1_990_000);
    for connection in [&cubic.connection, &bbr] {
        assert_eq!(connection.hidden, None);
        assert!(connection.limits.intervals().is_empty(), "{:?}", connection.limits);
    }
}

#[test]
fn a_capture_that_breaks_off_is_read_as_far_as_it_goes() {
    let whole = bytes("cubic.pcap");
    let cut = read(&whole[..30_001], None).unwrap();
    assert!(cut.truncated);
    assert!(cut.connection.summary.packets_sent.unwrap() > 100);
    let header = read(&whole[..24], None).unwrap_err().to_string();
    assert!(header.starts_with("x: no packet of TCP or UDP"), "{header}");
}

#[test]
fn what_is_no_capture_is_refused_with_file_byte_and_reason() {
    let refusal = |bytes: &[u8]| read(bytes, None).unwrap_err().to_string();
    assert!(refusal(b"\xd4\xc3\xb2\xa1 and rubbish").starts_with("x, byte 0: "));
    let mut other = bytes("cubic.pcap");
    other[20] = 105;
    let found = refusal(&other);
    assert!(found.starts_with("x, byte 0: link type 105; accepted: Ethernet (1)"), "{found}");
    let mut long = bytes("cubic.pcap");
    // The first packet claims to be of four gigabytes.
    long[32..36].copy_from_slice(&[0xff; 4]);
    assert!(refusal(&long).starts_with("x, byte 24: "), "{}", refusal(&long));
    let number = read(&bytes("cubic.pcap"), Some(3)).unwrap_err().to_string();
    assert_eq!(number, "x: --connection 3: the file has 1; accepted: 1 to 1");
}

/// The packets of the capture behind other headers of the link.
fn behind(link: u8, header: &[u8]) -> Vec<u8> {
    let whole = bytes("cubic.pcap");
    let mut file = whole[..24].to_vec();
    file[20] = link;
    let mut at = 24;
    while at + 16 <= whole.len() {
        let field = |place: usize| u32::from_le_bytes(whole[place..place + 4].try_into().unwrap());
        let (captured, original) = (field(at + 8), field(at + 12));
        let more = header.len() as u32;
        file.extend(&whole[at..at + 8]);
        file.extend((captured + more).to_le_bytes());
        file.extend((original + more).to_le_bytes());
        file.extend(header);
        file.extend(&whole[at + 16..at + 16 + captured as usize]);
        at += 16 + captured as usize;
    }
    file
}

#[test]
fn every_link_shows_the_same_connection() {
    let raw = open(&file("cubic.pcap"), None).unwrap().connection;
    let ethernet = [&[2; 12][..], &[8, 0]].concat();
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked2 = [&[8, 0][..], &[0; 18]].concat();
    for (link, header) in
        [(1, &ethernet[..]), (0, &[2, 0, 0, 0]), (113, &cooked), (228, &[]), (108, &[0, 0, 0, 2])]
    {
        let found = read(&behind(link, header), None).unwrap();
        assert_eq!(found.connection, raw, "link type {link}");
    }
    let mut second = behind(20, &cooked2);
    second[20..24].copy_from_slice(&276_u32.to_le_bytes());
    assert_eq!(read(&second, None).unwrap().connection, raw);
}

/// Sequence numbers that wrap in the middle of the transfer.
#[test]
fn sequence_numbers_wrap() {
    let mut wrapped = bytes("cubic.pcap");
    let raw = read(&wrapped, None).unwrap().connection;
    let first = u32::from_be_bytes(wrapped[24 + 16 + 24..24 + 16 + 28].try_into().unwrap());
    let shift = (u32::MAX - 300_000).wrapping_sub(first);
    let mut at = 24;
    while at + 16 <= wrapped.len() {
        let captured = u32::from_le_bytes(wrapped[at + 8..at + 12].try_into().unwrap()) as usize;
        let packet = &mut wrapped[at + 16..at + 16 + captured];
        // From the client its sequence number, to it what is acknowledged.
        let place = if packet[12..16] == [10, 77, 0, 1] { 24 } else { 28 };
        let number = u32::from_be_bytes(packet[place..place + 4].try_into().unwrap());
        packet[place..place + 4].copy_from_slice(&number.wrapping_add(shift).to_be_bytes());
        at += 16 + captured;
    }
    assert_eq!(read(&wrapped, None).unwrap().connection, raw);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bytes_never_panic(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&noise, None);
        let begins: [&[u8]; 5] = [
            b"\xd4\xc3\xb2\xa1",
            b"1.0\n",
            b"{\"start\":{\"connected\":",
            b"\x1f\x8b",
            b"\x28\xb5\x2f\xfd",
        ];
        for begin in begins {
            let _ = read(&[begin, &noise].concat(), None);
        }
    }

    #[test]
    fn a_capture_with_wrong_bytes_never_panics(
        changes in prop::collection::vec((0_usize..6000, any::<u8>()), 1..40),
        cut in 24_usize..6000,
    ) {
        let mut broken = bytes("cubic.pcap");
        for (place, byte) in changes {
            broken[place] = byte;
        }
        broken.truncate(cut);
        let _ = read(&broken, None);
    }

    #[test]
    fn a_record_of_ss_with_wrong_bytes_never_panics(
        changes in prop::collection::vec((0_usize..5000, any::<u8>()), 1..40),
    ) {
        let mut broken = bytes("cubic.txt");
        for (place, byte) in changes {
            broken[place] = byte;
        }
        let _ = read(&broken, None);
    }
}
