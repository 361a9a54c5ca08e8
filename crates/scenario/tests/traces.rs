//! Traces that a scenario names: what is read of them, and the errors of files that are none.

use std::fs;
use std::path::PathBuf;

use firstflight_scenario::Scenario;
use firstflight_scenario::trace::Rates;

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("traces").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A scenario whose `key` names a file of that content beside it.
fn with(test: &str, key: &str, file: &str, content: &[u8]) -> Result<Scenario, String> {
    let folder = folder(test);
    fs::write(folder.join(file), content).unwrap();
    let scenario = folder.join("x.toml");
    fs::write(&scenario, format!("[path]\n{key} = '{file}'\n")).unwrap();
    Scenario::load(&scenario)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

fn refused(key: &str, file: &str, content: &[u8]) -> String {
    let problem = with("refused", key, file, content).unwrap_err();
    let start = format!("x.toml:2: path.{key} = \"{file}\": ");
    problem.strip_prefix(&start).unwrap_or_else(|| panic!("{problem}")).to_owned()
}

#[test]
fn a_trace_of_opportunities_is_counted_by_its_milliseconds() {
    let scenario = with("counted", "rate_trace", "a.trace", b"0\n0\n3\n7\r\n7\n7").unwrap();
    let complete = scenario.complete().unwrap();
    let elements = &complete.links[0].elements.written;
    let trace = elements.rate_trace.as_ref().unwrap();
    assert_eq!(trace.content, Rates::Opportunities([(0, 2), (3, 1), (7, 3)].into()));
    let shown = serde_json::to_string(&complete.links[0]).unwrap();
    let digest = &trace.digest;
    let named = format!("\"rate_trace\":{{\"file\":\"a.trace\",\"digest\":\"{digest}\"}}}}");
    assert!(shown.ends_with(&named), "{shown}");
    assert_eq!(trace.digest.len(), 32);
    // Another content has another digest, so that results of the two differ.
    let other = with("counted", "rate_trace", "a.trace", b"0\n0\n3\n8\n").unwrap();
    let other = other.complete().unwrap().links[0].elements.written.rate_trace.clone().unwrap();
    assert_ne!(other.digest, trace.digest);
}

#[test]
fn delays_columns_and_recorded_jitter_are_read_exactly() {
    let delays = with("exact", "delay_trace", "a.delay", b"25\n25\n35.5\n").unwrap();
    let delays =
        delays.complete().unwrap().links[0].elements.written.delay_trace.clone().unwrap().content;
    assert_eq!(*delays.steps, [(0, 25_000_000), (20_000_000, 35_500_000)]);
    assert_eq!(delays.period_ns, Some(30_000_000));

    let columns = b"time_s, rate_mbps, delay_ms\n0,10,25\n1.5,0,25\n2,0.5,30\n";
    let rates = with("exact", "rate_trace", "a.csv", columns).unwrap();
    let rates =
        rates.complete().unwrap().links[0].elements.written.rate_trace.clone().unwrap().content;
    let steps = [(0, 10_000_000), (1_500_000_000, 0), (2_000_000_000, 500_000)];
    assert_eq!(rates, Rates::Steps { steps: steps.into(), period_ns: None });
    let delays = with("exact", "delay_trace", "a.csv", columns).unwrap();
    let delays =
        delays.complete().unwrap().links[0].elements.written.delay_trace.clone().unwrap().content;
    assert_eq!(delays.steps[2], (2_000_000_000, 30_000_000));

    let folder = folder("exact");
    fs::write(folder.join("recorded.txt"), "1\n2.5\n").unwrap();
    fs::write(folder.join("x.toml"), "path = { jitter = 'recorded:recorded.txt' }").unwrap();
    let scenario = Scenario::load(folder.join("x.toml")).unwrap();
    let words: Vec<String> = scenario.complete().unwrap().links[0].words().collect();
    assert_eq!(words, ["jitter of recorded.txt"]);
    assert!(scenario.to_toml().contains("jitter = \"recorded:recorded.txt\""));
}

/// One trace in every form of columns, whatever the file is called: 4.5 Mbit/s, from half a second
/// on 3.2, from one on nothing.
#[test]
fn columns_are_read_with_any_separator_with_or_without_a_heading() {
    let read = |content: &str| {
        let scenario = with("columns", "rate_trace", "a.trace", content.as_bytes());
        scenario.unwrap().complete().unwrap().links[0]
            .elements
            .written
            .rate_trace
            .clone()
            .unwrap()
            .content
    };
    let steps: [(u64, u64); 3] = [(0, 4_500_000), (500_000_000, 3_200_000), (1_000_000_000, 0)];
    let once = Rates::Steps { steps: steps.into(), period_ns: None };
    for content in [
        "0.0\t4.5\n0.5\t3.2\n1.0\t0\n",
        "0 4.5\n0.5   3.2\n1 0.0",
        "0,4.5\r\n0.5, 3.2\r\n1,none\r\n",
        "# seconds and Mbit/s\n\n0 4.5\n0.5 3.2 # slower\n1 0\n",
        "0s 4.5Mbps\n500ms 3200kbps\n1s none",
        "time_s\trate_mbps\n0\t4.5\n0.5\t3.2\n1\t0",
        "time_ms rate_kbps\n0 4500\n500 3200\n1000 0",
        "time_s,rate_bps,delay_ms\n0,4500000,9\n0.5,3200000,9\n1,0,9",
    ] {
        assert_eq!(read(content), once, "{content}");
    }
    let again = Rates::Steps { steps: steps.into(), period_ns: Some(2_000_000_000) };
    assert_eq!(read("0 4.5\n0.5 3.2\n1 0\n2 repeat"), again);
    assert_eq!(read("time_s,rate_mbps\n0,4.5\n0.5,3.2\n1,0\n2s repeat"), again);
    assert_eq!(again.mean_bps(), 1_925_000, "2.25 and 1.6 of 4.5 and 3.2 Mbit in two seconds");

    let delays = with("columns", "delay_trace", "a.delay", b"0s 25ms\n1s 30ms\n").unwrap();
    let delays =
        delays.complete().unwrap().links[0].elements.written.delay_trace.clone().unwrap().content;
    assert_eq!(*delays.steps, [(0, 25_000_000), (1_000_000_000, 30_000_000)]);
}

#[test]
fn columns_that_are_none_are_refused_at_their_line() {
    let line = "a time and what holds from then on, such as `0.5 3.2` (s and Mbit/s) or \
                `0.5s 3.2Mbps`";
    for (content, expected) in [
        ("0 4.5\n0.5\n", format!("x:2: found \"0.5\"; accepted: {line}")),
        ("0 4.5\n1 2 3\n", format!("x:2: found \"1 2 3\"; accepted: {line}")),
        ("0 4.5\n1 fast\n", format!("x:2: found \"1 fast\"; accepted: {line}")),
        ("0.5 4.5\n", "x:1: found \"0.5 4.5\"; accepted: times that rise from 0".to_owned()),
        (
            "0 1\n2 repeat\n3 1\n",
            "x:3: found \"3 1\"; accepted: nothing behind `repeat`".to_owned(),
        ),
        ("0 repeat\n", "x:1: found \"0 repeat\"; accepted: times that rise from 0".to_owned()),
    ] {
        assert_eq!(refused("rate_trace", "x", content.as_bytes()), expected);
    }
    // A delay has no usual unit.
    let found = refused("delay_trace", "x", b"0 25\n");
    assert!(found.starts_with("x:1: found \"0 25\"; accepted: a time and what"), "{found}");
}

#[test]
fn a_trace_without_a_rate_has_its_mean() {
    // Five opportunities of 1500 bytes in 20 ms.
    let trace = b"4\n8\n12\n16\n20\n";
    let complete = with("mean", "rate_trace", "a.trace", trace).unwrap().complete().unwrap();
    assert_eq!(complete.links[0].rate.bps(), 3_000_000);
    assert_eq!(complete.path_bps(&[0]), 3_000_000);
    let columns = b"0 1\n15 5\n";
    let complete = with("mean", "rate_trace", "a.txt", columns).unwrap().complete().unwrap();
    assert_eq!(complete.links[0].rate.bps(), 2_000_000, "over the run of 20 s");

    let link = "rates = [{ rate = '1Mbps' }, { at = '1s', rate = '3Mbps' }]\nrates_period = '2s'";
    let text = format!("[[link]]\nname = 'a'\ndelay = '1ms'\n{link}\n[[flow]]\npath = ['a']");
    let complete = Scenario::parse(&text, "x.toml").unwrap().complete().unwrap();
    assert_eq!(complete.links[0].rate.bps(), 2_000_000);
    let none = text.replace(link, "");
    let problem = Scenario::parse(&none, "x.toml").unwrap_err().to_string();
    assert!(problem.contains("or `rates` or `rate_trace`"), "{problem}");
    let late = "[path]\nrates = [{ rate = 'none' }, { at = '30s', rate = '3Mbps' }]";
    let problem = Scenario::parse(late, "x.toml").unwrap_err().to_string();
    assert!(problem.contains("nothing would be sent within the run"), "{problem}");
}

#[test]
fn a_bad_trace_is_answered_with_file_line_and_reason() {
    let ms = "whole milliseconds of an opportunity, 0 to 43200000, or in all lines a time and a \
              rate, such as `0.5 3.2` (s and Mbit/s) or `0.5s 3.2Mbps`";
    for (content, expected) in [
        (&b""[..], format!("bad.trace:1: the file is empty; accepted: {ms}")),
        (b"1\n2\nthree\n4", format!("bad.trace:3: found \"three\"; accepted: {ms}")),
        (b"1\n\n4", format!("bad.trace:2: found \"\"; accepted: {ms}")),
        (b"1\n-2", format!("bad.trace:2: found \"-2\"; accepted: {ms}")),
        (b"1\n99999999999", format!("bad.trace:2: found \"99999999999\"; accepted: {ms}")),
        (
            b"5\n4",
            "bad.trace:2: 4 after 5: earlier than the line before; accepted: times that do not \
             fall"
                .to_owned(),
        ),
        (
            b"0\n0\n",
            "bad.trace:2: it ends at 0 ms, as it begins; accepted: a last line of 1 or more"
                .to_owned(),
        ),
        (
            b"\x7fELF\x02\x01\0\0",
            "bad.trace:1: not text; accepted: numbers, one entry a line".to_owned(),
        ),
        (b"1\n\xff\xfe", "bad.trace:2: not UTF-8 text".to_owned()),
        (
            &[b'7'; 101],
            "bad.trace:1: longer than 100 characters; accepted: one entry a line".to_owned(),
        ),
        (
            &[b'7'; 4000],
            "bad.trace:1: longer than 100 characters; accepted: one entry a line".to_owned(),
        ),
    ] {
        assert_eq!(refused("rate_trace", "bad.trace", content), expected);
    }
    let number = "a number of milliseconds, 0 to 3600000";
    assert_eq!(
        refused("delay_trace", "bad.delay", b"1\n2\nx\n"),
        format!("bad.delay:3: found \"x\"; accepted: {number}")
    );
    for (content, expected) in [
        (
            &b"time,rate\n"[..],
            "bad.csv:1: found \"time,rate\"; accepted: a heading of columns, time_s or time_ms, \
             and rate_bps or rate_kbps or rate_mbps, or lines such as `0.5 3.2` (s and Mbit/s) or \
             `0.5s 3.2Mbps`",
        ),
        (
            b"time_s,rate_mbps\n0,1\n1,\n",
            "bad.csv:3: found \"1,\"; accepted: numbers in range under time_s,rate_mbps",
        ),
        (
            b"time_s,rate_mbps\n0,1\n1,2,3\n",
            "bad.csv:3: found \"1,2,3\"; accepted: numbers in range under time_s,rate_mbps",
        ),
        (b"time_s,rate_mbps\n1,1\n", "bad.csv:2: found \"1,1\"; accepted: times that rise from 0"),
        (
            b"time_s,rate_mbps\n0,0\n1,0.0\n",
            "bad.csv:3: nothing would ever be sent; accepted: a rate above 0",
        ),
        (
            b"time_s,rate_mbps\n",
            "bad.csv:1: no line follows; accepted: one from time 0 on, or more",
        ),
    ] {
        assert_eq!(refused("rate_trace", "bad.csv", content), expected);
    }
}

/// Ten gigabytes take no time, and no memory, whether of nothing or after lines of a trace; nor do
/// a folder and a device.
#[test]
fn a_hundred_characters_are_none_too_many_however_the_line_ends() {
    let content = format!("{}\r\n\u{1}", "0".repeat(100));
    let problem = with("long", "rate_trace", "a.trace", content.as_bytes()).unwrap_err();
    assert!(problem.ends_with("a.trace:2: not text; accepted: numbers, one entry a line"));
}

#[test]
fn what_is_huge_or_no_file_is_refused_at_once() {
    let folder = folder("huge");
    let file = fs::File::create(folder.join("huge.trace")).unwrap();
    file.set_len(10 << 30).unwrap();
    fs::write(folder.join("long.trace"), "1\n2\n").unwrap();
    let file = fs::File::options().write(true).open(folder.join("long.trace")).unwrap();
    file.set_len(10 << 30).unwrap();
    let before = std::time::Instant::now();
    for (name, expected) in [
        ("huge.trace", "huge.trace:1: not text; accepted: numbers, one entry a line"),
        ("long.trace", "long.trace:1: the file is larger than 256 MiB; accepted: a shorter trace"),
        ("/dev/zero", "/dev/zero: no regular file; accepted: a file of lines"),
        (".", ".: this is a directory; accepted: a file of lines"),
        ("nothing.trace", "nothing.trace: no such file"),
    ] {
        let text = format!("path = {{ rate_trace = '{name}' }}");
        let scenario = folder.join("x.toml");
        fs::write(&scenario, text).unwrap();
        let problem = Scenario::load(&scenario).unwrap_err().to_string();
        assert!(problem.ends_with(expected), "{problem}");
    }
    assert!(before.elapsed().as_secs() < 5);
    for name in ["huge.trace", "long.trace"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

#[test]
fn a_trace_and_what_is_written_are_one_too_many() {
    let trace = "rate_trace = '../../scenarios/traces/cell.trace'";
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/x.toml");
    for (more, expected) in [
        ("rates = [{ rate = '1Mbps' }]", "a link has either rates or rate_trace; accepted: one of"),
        ("rates_period = '1s'", "such a trace begins again at its own end; accepted: none"),
    ] {
        let text = format!("[path]\n{trace}\n{more}");
        let problem = Scenario::parse(&text, place).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}
