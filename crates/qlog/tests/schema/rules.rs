//! Version 0.3 as far as it is used here, as rules. Sources: draft-ietf-quic-qlog-main-schema-05
//! (file and trace: sections 3.1 to 3.3; event: 3.4; JSON text sequences: 6.2) and
//! draft-ietf-quic-qlog-quic-events-05 (sections 4 and 5, packet header: appendix A.5). And what
//! the loader of qvis (quiclog/qvis, `QlogLoaderV2.ts`) needs or complains about besides.
//!
//! The tests of the command hold its files to it too.

use serde_json::Value;

/// A rule for a value, after CDDL's types.
enum Rule {
    /// A number, not negative.
    Number,
    /// A whole number below 2^bits.
    Uint(u32),
    Text,
    /// One of these texts.
    Words(&'static [&'static str]),
    /// A list of at least one.
    List(Box<Rule>),
    /// A list of two.
    Pair(Box<Rule>),
    /// Fields: a name with `?` in front may be absent; others may not be there.
    Fields(Vec<(&'static str, Rule)>),
}

use Rule::{Fields, List, Number, Pair, Text, Uint, Words};

fn check(rule: &Rule, value: &Value, at: &str) -> Result<(), String> {
    let ok = match rule {
        Number => value.as_f64().is_some_and(|number| number >= 0.0),
        Uint(bits) => {
            value.as_u64().is_some_and(|number| *bits == 64 || number < 1u64 << bits.min(&63))
        }
        Text => value.is_string(),
        Words(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        List(rule) => {
            let items = value.as_array().ok_or(format!("{at}: no list"))?;
            items.iter().try_for_each(|item| check(rule, item, at))?;
            !items.is_empty()
        }
        Pair(rule) => {
            let items = value.as_array().ok_or(format!("{at}: no list"))?;
            items.iter().try_for_each(|item| check(rule, item, at))?;
            items.len() == 2
        }
        Fields(rules) => return check_fields(rules, value, at),
    };
    if ok { Ok(()) } else { Err(format!("{at}: {value}")) }
}

fn check_fields(rules: &[(&str, Rule)], value: &Value, at: &str) -> Result<(), String> {
    let fields = value.as_object().ok_or(format!("{at}: no object"))?;
    for (name, rule) in rules {
        let plain = name.trim_start_matches('?');
        match fields.get(plain) {
            Some(value) => check(rule, value, &format!("{at}.{plain}"))?,
            None if name.starts_with('?') => {}
            None => return Err(format!("{at}: no {plain}")),
        }
    }
    let known = |name: &String| rules.iter().any(|(rule, _)| rule.trim_start_matches('?') == name);
    match fields.keys().find(|name| !known(name)) {
        Some(name) => Err(format!("{at}: unknown {name}")),
        None => Ok(()),
    }
}

fn header_rule() -> Rule {
    let vantage = Fields(vec![
        ("?name", Text),
        ("type", Words(&["client", "server", "network", "unknown"])),
        ("?flow", Words(&["client", "server", "unknown"])),
    ]);
    let common = Fields(vec![
        ("?time_format", Words(&["absolute", "delta", "relative"])),
        ("?reference_time", Number),
        ("?protocol_type", List(Box::new(Text))),
        ("?group_id", Text),
    ]);
    let trace = Fields(vec![
        ("?title", Text),
        ("?description", Text),
        ("?common_fields", common),
        ("?vantage_point", vantage),
    ]);
    Fields(vec![
        ("qlog_version", Words(&["0.3"])),
        ("qlog_format", Words(&["JSON-SEQ"])),
        ("?title", Text),
        ("?description", Text),
        ("trace", trace),
    ])
}

fn packet_header() -> Rule {
    let types = Words(&["initial", "handshake", "0RTT", "1RTT", "retry", "unknown"]);
    Fields(vec![("packet_type", types), ("?packet_number", Uint(64)), ("?length", Uint(16))])
}

fn data_rule(name: &str) -> Option<Rule> {
    let raw = || Fields(vec![("?length", Uint(64)), ("?payload_length", Uint(64))]);
    let ranges = List(Box::new(Pair(Box::new(Uint(64)))));
    let ack = Fields(vec![("frame_type", Words(&["ack"])), ("?acked_ranges", ranges)]);
    let frames = ("?frames", List(Box::new(ack)));
    Some(match name {
        "transport:packet_sent" | "transport:packet_received" => {
            Fields(vec![("header", packet_header()), frames, ("?raw", raw())])
        }
        "recovery:packet_lost" => {
            let triggers = Words(&["reordering_threshold", "time_threshold", "pto_expired"]);
            Fields(vec![("?header", packet_header()), frames, ("?trigger", triggers)])
        }
        "recovery:congestion_state_updated" => Fields(vec![
            ("?old", Text),
            ("new", Text),
            ("?trigger", Words(&["persistent_congestion", "ECN"])),
            // A field of our own (main-schema-05, section 3.4.6).
            ("?reason", Text),
        ]),
        "recovery:metrics_updated" => Fields(vec![
            ("?min_rtt", Number),
            ("?smoothed_rtt", Number),
            ("?latest_rtt", Number),
            ("?rtt_variance", Number),
            ("?pto_count", Uint(16)),
            ("?congestion_window", Uint(64)),
            ("?bytes_in_flight", Uint(64)),
            ("?ssthresh", Uint(64)),
            ("?packets_in_flight", Uint(64)),
            ("?pacing_rate", Uint(64)),
        ]),
        _ => return None,
    })
}

/// Checks a whole file; the number of its events.
pub(crate) fn validate(bytes: &[u8]) -> Result<usize, String> {
    if bytes.first() != Some(&0x1e) {
        return Err("no record separator at the start".to_owned());
    }
    let mut records = bytes[1..].split(|byte| *byte == 0x1e).map(|record| {
        if record.last() != Some(&b'\n') {
            return Err("a record without a line feed at its end".to_owned());
        }
        serde_json::from_slice::<Value>(record).map_err(|error| error.to_string())
    });
    let header = records.next().ok_or("no header")??;
    check(&header_rule(), &header, "header")?;
    check_for_qvis_header(&header)?;
    let (mut events, mut last) = (0, 0.0);
    for record in records {
        let record = record?;
        let name = record["name"].as_str().ok_or("an event without a name")?.to_owned();
        let data = data_rule(&name).ok_or(format!("unknown event {name}"))?;
        let rules = vec![("time", Number), ("name", Text), ("data", data), ("?group_id", Text)];
        check(&Fields(rules), &record, &name)?;
        check_for_qvis(&record, &mut last)?;
        events += 1;
    }
    if events == 0 { Err("qvis takes no log without events".to_owned()) } else { Ok(events) }
}

/// Relative times count from a reference, which qvis asks for.
fn check_for_qvis_header(header: &Value) -> Result<(), String> {
    let common = &header["trace"]["common_fields"];
    if common["time_format"] == "relative" && common["reference_time"].is_null() {
        return Err("relative times without a reference_time".to_owned());
    }
    if header["trace"]["vantage_point"]["type"].is_null() {
        return Err("no type of the vantage point".to_owned());
    }
    Ok(())
}

/// Times that do not go back; one group, which has no id; lengths and types where 0.3 has them, and
/// a length for every packet sent, which is what the picture of a connection is drawn from.
fn check_for_qvis(record: &Value, last: &mut f64) -> Result<(), String> {
    let (data, time) = (&record["data"], record["time"].as_f64().unwrap_or(-1.0));
    let older = ["/header/packet_size", "/header/payload_length", "/packet_type"];
    let sent = record["name"] == "transport:packet_sent";
    let problem = if time < *last {
        "a time that goes back"
    } else if !record["group_id"].is_null() {
        "a group of its own"
    } else if older.iter().any(|place| data.pointer(place).is_some()) {
        "a field of an older version"
    } else if sent && !(data["raw"]["length"].is_u64() && data["header"]["packet_number"].is_u64())
    {
        "a packet without length or number"
    } else {
        *last = time;
        return Ok(());
    };
    Err(format!("{problem}: {record}"))
}
