//! Records of `ss` in every usual form, of old and new versions, and what limited the sender.

use std::fmt::Write as _;
use std::io::Cursor;

use firstflight_qlog::Limit;
use firstflight_record::{Form, Recorded, read};

const ENDS: &str = "198.51.100.5:5202                198.51.100.9:56512";
const HEADING: &str = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n";

/// Start-up to 320 packets and a loss, at these seconds.
const SAMPLES: [(f64, &str); 8] = [
    (0.0, "cwnd:10 bytes_sent:14480 bytes_acked:1 data_segs_out:10 unacked:10"),
    (0.1, "cwnd:20 bytes_sent:43440 bytes_acked:14481 data_segs_out:30 unacked:20"),
    (0.2, "cwnd:40 bytes_sent:101360 bytes_acked:43441 data_segs_out:70 unacked:40"),
    (0.3, "cwnd:80 bytes_sent:217200 bytes_acked:101361 data_segs_out:150 unacked:80"),
    (0.4, "cwnd:160 bytes_sent:448880 bytes_acked:217201 data_segs_out:310 unacked:160"),
    (0.5, "cwnd:320 bytes_sent:883280 bytes_acked:448881 data_segs_out:610 unacked:300"),
    (
        0.6,
        "cwnd:224 ssthresh:224 bytes_sent:1207632 bytes_retrans:36200 bytes_acked:883281 \
         data_segs_out:834 unacked:224 retrans:0/25",
    ),
    (
        0.7,
        "cwnd:230 ssthresh:224 bytes_sent:1530144 bytes_retrans:36200 bytes_acked:1200001 \
         data_segs_out:1058 unacked:228 retrans:0/25",
    ),
];

fn of(text: &str) -> Recorded {
    read("ss.txt", Cursor::new(text.as_bytes()), None).unwrap()
}

fn refused(text: &str) -> String {
    read("ss.txt", Cursor::new(text.as_bytes()), None).unwrap_err().to_string()
}

/// A record whose samples are written so.
fn written(sample: impl Fn(f64, &str) -> String) -> String {
    SAMPLES.iter().map(|(at_s, numbers)| sample(*at_s, numbers)).collect()
}

fn numbers(counters: &str) -> String {
    format!("\t cubic wscale:7,7 rto:301 rtt:100.0/5 mss:1448 {counters} minrtt:100\n")
}

/// Every form says the same of the connection.
fn tells_the_connection(text: &str) {
    let found = of(text);
    assert_eq!((found.form, found.skipped.count), (Form::Sockets, 0), "{text}{:?}", found.skipped);
    let connection = &found.connection;
    assert_eq!(connection.hidden, None, "{text}");
    let summary = &connection.summary;
    let exit = summary.exit.as_ref().unwrap();
    assert!((exit.time_s - 0.6).abs() < 1e-3, "{} {text}", exit.time_s);
    assert!((summary.duration_s - 0.7).abs() < 1e-3, "{} {text}", summary.duration_s);
    assert_eq!((exit.reason.as_deref(), exit.packets_lost), (Some("loss"), Some(25)), "{text}");
    assert_eq!(exit.cwnd_bytes, Some(320 * 1448), "{text}");
    assert_eq!((summary.packets_sent, summary.bytes_sent), (Some(1058), Some(1_530_144)));
    assert_eq!((summary.packets_lost, summary.bytes_lost), (Some(25), Some(36_200)), "{text}");
    assert!(connection.title.starts_with("cubic ") && connection.title.contains(" to "), "{text}");
    assert!(connection.events < 20, "one for each sample");
}

#[test]
fn the_columns_may_be_there_or_not() {
    for begin in [
        format!("{HEADING}ESTAB 0 398200 {ENDS}\n"),
        format!("Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n0 398200 {ENDS}\n"),
        format!("0 398200 {ENDS}\n"),
        format!("tcp ESTAB 0 398200 {ENDS} timer:(on,200ms,0) uid:1000 ino:3456 sk:1f <->\n"),
        format!("ESTAB 0 398200 {ENDS} users:((\"a cwnd:7 b\",pid=1,fd=5)) "),
        "0 398200 [::ffff:198.51.100.5]:5202 [fe80::1%eth0]:56512 ts sack".to_owned(),
    ] {
        tells_the_connection(&written(|at_s, counters| {
            format!("{}\n{begin}{}", 1_754_776_664.0 + at_s, numbers(counters))
        }));
    }
}

#[test]
fn the_times_may_have_any_form() {
    type Form = fn(f64) -> String;
    let forms: [Form; 14] = [
        |at_s| format!("{:.9}", 1_754_776_664.0 + at_s),
        |at_s| format!("{:.3}", 1_754_776_664.0 + at_s).replace('.', ","),
        |at_s| format!("{:.0}", (1_754_776_664.0 + at_s) * 1e3),
        |at_s| format!("{:.0}", (1_754_776_664.0 + at_s) * 1e6),
        |at_s| format!("1754776664{:09.0}", at_s * 1e9),
        |at_s| format!("time:1754776664{:09.0}", at_s * 1e9),
        |at_s| format!("{at_s:.6}"),
        |at_s| format!("2025-08-09T21:57:4{:.9}+00:00", 4.0 + at_s),
        |at_s| format!("2025-08-09T21:57:4{:.9}+02:00", 4.0 + at_s).replace('.', ","),
        |at_s| format!("2025-08-09 21:57:4{:.3}Z", 4.0 + at_s),
        |at_s| format!("21:57:4{:.6}", 4.0 + at_s),
        // Past midnight.
        |at_s| match at_s {
            ..0.25 => format!("23:59:59.{:.0}", (0.75 + at_s) * 1e6),
            _ => format!("00:00:00.{:06.0}", (at_s - 0.25) * 1e6),
        },
        |at_s| format!("Sat Aug  9 21:57:4{:.3} UTC 2025", 4.0 + at_s),
        |at_s| format!("[{:.6}]", 5000.0 + at_s),
    ];
    for form in forms {
        tells_the_connection(&written(|at_s, counters| {
            format!("{}\n{HEADING}ESTAB 0 398200 {ENDS}\n{}", form(at_s), numbers(counters))
        }));
        // `ts` writes the time before each line.
        tells_the_connection(&written(|at_s, counters| {
            let time = form(at_s);
            format!("{time} ESTAB 0 398200 {ENDS}\n{time} {}", numbers(counters))
        }));
    }
}

#[test]
fn whole_seconds_are_seconds() {
    for form in ["Sat Aug  9 21:57:4", "21:57:4", "175477666", "2025-08-09T21:57:4"] {
        let found = of(&written(|at_s, counters| {
            let second = (at_s * 10.0).round();
            format!("{form}{second}\nESTAB 0 398200 {ENDS}\n{}", numbers(counters))
        }));
        let exit = found.connection.summary.exit.unwrap();
        assert_eq!((exit.time_s, found.connection.summary.duration_s), (6.0, 7.0), "{form}");
    }
}

/// The counters of milliseconds in the record say what its bare numbers count.
#[test]
fn the_unit_of_times_is_that_of_the_record() {
    for times in [1.0, 1e3, 1e6] {
        tells_the_connection(&written(|at_s, counters| {
            let busy = format!("{counters} busy:{:.0}ms", at_s * 1e3);
            let time = (2000.0 + at_s) * times;
            format!("{time}\nESTAB 0 398200 {ENDS}\n{}", numbers(&busy))
        }));
    }
}

#[test]
fn a_socket_that_is_not_connected_is_no_measurement() {
    let connecting =
        format!("SYN-SENT 0 1 {ENDS}\n\t cubic rto:1000 mss:524 cwnd:10 segs_out:1 unacked:1\n");
    let begin = format!("1.0\n{connecting}2.0\n{connecting}");
    let record = written(|at_s, counters| {
        format!("{}\nESTAB 0 398200 {ENDS}\n{}", 3.0 + at_s, numbers(counters))
    });
    let found = of(&format!("{begin}{record}"));
    assert_eq!(found.connection.summary.initial_cwnd_bytes, Some(10 * 1448));
    assert!((found.connection.summary.duration_s - 0.7).abs() < 1e-9);
    assert!(refused(&begin).contains("no sample of a connection that is open"));
}

#[test]
fn what_an_old_kernel_does_not_tell_is_not_0() {
    let old = |cwnd: u64, more: &str| {
        format!("ESTAB 0 398200 {ENDS}\n\t cubic rto:301 rtt:100/5 mss:1448 cwnd:{cwnd} {more}\n")
    };
    let begin = format!("1.0\n{}2.0\n{}", old(10, "unacked:10"), old(20, "unacked:20"));
    let found = of(&format!("{begin}3.0\n{}", old(14, "ssthresh:14 unacked:14 retrans:0/25")));
    let summary = &found.connection.summary;
    assert_eq!((summary.packets_sent, summary.bytes_sent), (None, None));
    assert_eq!((summary.packets_lost, summary.min_rtt_ms), (Some(25), None));
    assert_eq!(summary.exit.as_ref().unwrap().packets_lost, Some(25));
    assert_eq!(found.connection.hidden, None);
    // The bytes sent follow from those acknowledged and those in flight.
    let some = written(|at_s, counters| {
        let counters = counters.replace("bytes_sent:", "x:").replace("data_segs_out:", "y:");
        format!("{}\nESTAB 0 398200 {ENDS}\n{}", 3.0 + at_s, numbers(&counters))
    });
    let summary = of(&some).connection.summary;
    assert_eq!(summary.bytes_sent, Some(1_200_000 + 228 * 1448));
    assert_eq!(summary.packets_sent, None);
}

#[test]
fn a_record_that_begins_late_has_no_start_up() {
    let late = written(|at_s, counters| {
        if at_s < 0.35 {
            return String::new();
        }
        format!("{}\nESTAB 0 398200 {ENDS}\n{}", 3.0 + at_s, numbers(counters))
    });
    let found = of(&late);
    let hidden = found.connection.hidden.as_ref().unwrap();
    assert_eq!(hidden, "the record begins 217.2 kB into the connection");
    let summary = &found.connection.summary;
    assert_eq!(summary.exit, None);
    assert!((summary.duration_s - 0.3).abs() < 1e-9, "all of it can be drawn");
    assert_eq!(summary.bytes_sent, Some(1_530_144 - 448_880), "what was sent meanwhile");
    // An old kernel that has a threshold already.
    let old = format!("1.0\n0 0 {ENDS}\n cubic rto:301 mss:1448 cwnd:90 ssthresh:70 unacked:9\n");
    assert!(of(&old).connection.hidden.unwrap().contains("threshold of 70 packets"));
}

#[test]
fn a_record_of_the_receiver_says_nothing_of_the_sender() {
    let receives = written(|at_s, _| {
        let bytes = 1000.0 + at_s * 1e7;
        let text = format!("cwnd:10 bytes_sent:100 bytes_acked:101 bytes_received:{bytes}");
        format!("{}\nESTAB 0 0 {ENDS}\n{}", 3.0 + at_s, numbers(&text))
    });
    let hidden = of(&receives).connection.hidden.unwrap();
    assert!(hidden.contains("the end that receives: 7001.0 kB came"), "{hidden}");
}

/// One sample every 100 ms, of 3 s.
fn sampled(sample: impl Fn(u64) -> String) -> Recorded {
    let mut text = String::new();
    for at in 0..30 {
        let counters = sample(at);
        let _ = write!(text, "{}\n0 500000 {ENDS}\n{}", at as f64 / 10.0, numbers(&counters));
    }
    of(&text)
}

fn held(found: &Recorded, by: Limit) -> f64 {
    found.connection.limits.held_s(by, 0.0, 3.0)
}

#[test]
fn the_kernel_says_what_limits_a_sender() {
    let counters =
        |at: u64| format!("cwnd:58 bytes_acked:{} unacked:27 busy:{}ms", 1 + at * 39_000, at * 100);
    let window = sampled(|at| {
        format!("{} rwnd_limited:{}ms(98.1%) snd_wnd:39096 notsent:9000", counters(at), at * 98)
    });
    assert!(held(&window, Limit::Receiver) > 2.8, "{:?}", window.connection.limits);
    assert_eq!(window.connection.limits.intervals().len(), 1);
    let why = &window.connection.limits.intervals()[0].why;
    assert!(why.contains("2842 ms") && why.contains("39.1 kB"), "{why}");
    let buffer = sampled(|at| format!("{} sndbuf_limited:{}ms(64.3%)", counters(at), at * 64));
    assert!(held(&buffer, Limit::SendBuffer) > 2.8, "{:?}", buffer.connection.limits);
    assert_eq!(held(&buffer, Limit::Application), 0.0);
    let none = sampled(|at| format!("{} notsent:90000", counters(at)));
    assert!(none.connection.limits.intervals().is_empty(), "{:?}", none.connection.limits);
}

#[test]
fn a_sender_without_data_is_limited_by_its_application() {
    // Busy for a tenth of each second.
    let idle = sampled(|at| {
        let busy = (at / 10) * 100 + (at % 10).min(1) * 100;
        format!("cwnd:58 bytes_acked:{} busy:{busy}ms app_limited", 1 + at * 100)
    });
    assert!(held(&idle, Limit::Application) > 2.4, "{:?}", idle.connection.limits);
    // Always busy, with little in flight, and nothing waits.
    let few = sampled(|at| {
        format!("cwnd:58 bytes_acked:{} unacked:3 busy:{}ms notsent:0", 1 + at * 100, at * 100)
    });
    assert!(held(&few, Limit::Application) > 2.8, "{:?}", few.connection.limits);
    // Nothing waits: a version that reports what waits reports none.
    let flag = sampled(|_| "cwnd:58 unacked:3 app_limited".to_owned());
    assert!(held(&flag, Limit::Application) > 2.8, "{:?}", flag.connection.limits);
    // An old kernel: what is queued beyond what is in flight waits.
    let old = sampled(|at| format!("cwnd:58 unacked:3 lastsnd:{at}"));
    assert_eq!(held(&old, Limit::Application), 0.0, "500 kB wait");
}

/// As in a record that somebody wrote together: it cannot be so, and is not believed.
#[test]
fn a_counter_that_stands_still_while_data_pass_tells_nothing() {
    let still = sampled(|at| {
        format!("cwnd:58 bytes_acked:{} unacked:58 busy:132ms notsent:335936", 1 + at * 80_000)
    });
    assert!(still.connection.limits.intervals().is_empty(), "{:?}", still.connection.limits);
}

#[test]
fn a_fast_sender_takes_no_more_memory_than_its_lines() {
    let found = sampled(|at| {
        let segments = (at + 1) * 86_000_000;
        format!("cwnd:10 bytes_sent:{} data_segs_out:{segments} unacked:10", segments * 1448)
    });
    assert!(found.connection.events <= 60, "{}", found.connection.events);
    assert_eq!(found.connection.summary.packets_sent, Some(29 * 86_000_000));
}

#[test]
fn ends_that_meet_again_are_another_connection() {
    let record = written(|at_s, counters| {
        format!("{}\nESTAB 0 398200 {ENDS}\n{}", 3.0 + at_s, numbers(counters))
    });
    let again = written(|at_s, counters| {
        format!("{}\nESTAB 0 398200 {ENDS}\n{}", 9.0 + at_s, numbers(counters))
    });
    let found = of(&format!("{record}{again}"));
    assert_eq!((found.number, found.all.len()), (1, 2));
    assert!((found.connection.summary.duration_s - 0.7).abs() < 1e-9);
    assert_eq!(found.all[1].bytes, Some(1_530_144));
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_rest_is_read() {
    let good = format!("ESTAB 0 9 {ENDS}\n cubic mss:1448 cwnd:10 unacked:3\n");
    let bad = format!("ESTAB 0 9 {ENDS}\n mss:1448 cwnd:m\u{1b}ny\n");
    let found = of(&format!("1.0\n{good}2.0\nrubbish\n{bad}0.5\n{good}3.0\n{good}"));
    assert_eq!(found.skipped.count, 3, "{:?}", found.skipped);
    let first = found.skipped.first.unwrap();
    assert!(first.starts_with("ss.txt:5: found \"rubbish\""), "{first}");
    assert_eq!(found.connection.summary.duration_s, 2.0);
    let found = of(&format!("1.0\n{good}2.0\n{bad}3.0\n{good}"));
    let first = found.skipped.first.unwrap();
    assert!(first.contains("cwnd: found \"m\\u{1b}ny\""), "{first}");
    let long = format!("1.0\n{good}{}\n3.0\n{good}", "x:".repeat(40_000));
    assert!(of(&long).skipped.first.unwrap().contains("ss.txt:4: longer than 65536 bytes"));
}

#[test]
fn what_is_nearly_a_record_is_refused_with_what_it_lacks() {
    for (text, lacks) in [
        (format!("{HEADING}ESTAB 0 0 a:1 b:2\n cubic mss:1448 cwnd:10\n"), "no time before"),
        (format!("1.0\n{HEADING}ESTAB 0 0 a:1 b:2\n"), "without -i"),
        (HEADING.to_owned(), "no sample of a sender's cwnd"),
        (
            "Proto Recv-Q Send-Q Local Address Foreign Address State\n".to_owned(),
            "the output of netstat",
        ),
    ] {
        let text = refused(&text);
        assert!(text.starts_with("ss.txt: ") && text.contains(lacks), "{text}");
        assert!(text.contains("accepted: the output of `date +%s.%N; ss -tin`"), "{text}");
    }
}
