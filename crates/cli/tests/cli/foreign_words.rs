//! Words of files that somebody else wrote, wherever `show` puts them.

use std::fs;

use crate::process::Place;

/// Text with control characters that clear a terminal, set its title, ring its bell and reverse the
/// direction of writing.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{9b}b";

/// A file of each form with such words in every place that has words.
fn hostile_files(place: &Place) -> Vec<&'static str> {
    let word = serde_json::to_string(HOSTILE).unwrap();
    let state = format!(
        r#"{{"time":3,"name":"recovery:congestion_state_updated","data":{{"old":"slow_start",
        "new":{word},"trigger":{word}}}}}"#
    );
    let window = |time: &str, more: &str| {
        format!(
            r#"{{"time":{time},{more}"name":"recovery:metrics_updated","data":{{
            "congestion_window":12000,"smoothed_rtt":1}}}}"#
        )
    };
    let header = format!(
        r#"{{"qlog_version":{word},"title":{word},"trace":{{"title":{word},"vantage_point":{{
        "type":{word}}}}}}}"#
    );
    let events = [
        window("1", &format!(r#""group_id":{word},"path_id":{word},"#)),
        state.replacen('{', &format!(r#"{{"group_id":{word},"path_id":{word},"#), 1),
        window(&word, ""),
        format!(r#"{{"time":4,"name":{word},"data":{word}}}"#),
        word.clone(),
    ];
    let lines = std::iter::once(&header).chain(&events).map(|line| line.replace('\n', " "));
    let lines: Vec<String> = lines.collect();
    place.write("lines.sqlog", lines.join("\n"));
    place.write("sequence.sqlog", lines.iter().fold(String::new(), |all, it| all + "\u{1e}" + it));
    let document = format!(
        r#"{{"qlog_version":{word},{word}:{word},"traces":[{{"title":{word},"vantage_point":{{
        "type":{word}}},{word}:1,"events":[{}]}}]}}"#,
        lines[1..].join(",")
    );
    place.write("document.qlog", &document);
    place.write("no-log.json", format!("{{{word}:1}}"));
    place.write("no-window.sqlog", format!("{}\n{}", lines[0], lines[4]));
    let ends = format!("ESTAB 0 0 {HOSTILE}:1 {HOSTILE}:2");
    let sample = format!("\t {HOSTILE} cubic mss:1000 cwnd:10 rtt:40/2 bytes_sent:1000 unacked:1");
    let more = sample.replace("bytes_sent:1000", "bytes_sent:9000");
    place.write("ss.txt", format!("1.0\n{ends}\n{sample}\n2.0\n{HOSTILE}\n{ends}\n{more}\n"));
    let iperf = format!(
        r#"{{"start":{{"version":{word},"connected":[{{"socket":5,"local_host":{word},
        "local_port":1,
        "remote_host":{word},"remote_port":2}}],"test_start":{{"protocol":"TCP"}}}},"intervals":[{{
        "streams":[{{"socket":5,"start":0,"end":0.1,"seconds":0.1,"bytes":1000,"snd_cwnd":14480,
        "rtt":40000,"retransmits":0}}]}}],"end":{{}}}}"#
    );
    place.write("iperf3.json", iperf);
    vec![
        "lines.sqlog",
        "sequence.sqlog",
        "document.qlog",
        "no-log.json",
        "no-window.sqlog",
        "ss.txt",
        "iperf3.json",
    ]
}

/// A file comes from elsewhere.
#[test]
fn no_word_of_a_file_writes_to_the_terminal_or_into_a_page() {
    let place = Place::new();
    let files = hostile_files(&place);
    let clean = |text: &str, whence: &str| {
        let found = text.find(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']);
        assert_eq!(found, None, "{whence}: {text:?}");
    };
    let mut shown = 0;
    for file in files {
        let path = ["--rate", "1Mbps", "--rtt", "40ms"];
        let out = format!("out-{file}");
        let words = [&["show", file, "--out", &out][..], &path].concat();
        for words in
            [&["show", file][..], &["show", file, "--list"], &["show", file, "--json"], &words]
        {
            let outcome = place.run(words);
            assert!([0, 2].contains(&outcome.code), "{words:?}: {outcome:?}");
            clean(&outcome.stdout, file);
            clean(&outcome.stderr, file);
            shown += usize::from(outcome.code == 0 && outcome.stdout.contains("\\u{1b}"));
        }
        let folder = place.path(&out);
        if !folder.exists() {
            continue;
        }
        for written in files_below(&folder) {
            clean(&fs::read_to_string(&written).unwrap(), &written.display().to_string());
        }
    }
    assert!(shown >= 9, "the words are shown, escaped: {shown}");
}

/// The text files below a folder.
fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let deep = all.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    let texts = ["html", "svg", "csv", "json", "txt"];
    deep.filter(|path| path.extension().is_some_and(|end| texts.iter().any(|it| end == *it)))
        .collect()
}
