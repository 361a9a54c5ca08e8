//! What holds of every run, whatever its scenario has: no flow and no sum of flows gets more than
//! what the links let pass until then, and what was sent was delivered, dropped, or is under way.
//!
//! What links let pass is added up here from what was drawn, millisecond by millisecond, and not
//! asked of the code under test.

use std::fmt::Write as _;

use firstflight_quic_sim::quinn::SIM;
use firstflight_results::Series;
use firstflight_runner::{Options, Report, Transport as _};
use firstflight_scenario::Scenario;
use proptest::prelude::*;
use proptest::sample::select;

/// A link as it is drawn, all times in ms and all rates in kbit/s.
#[derive(Clone, Debug)]
struct Link {
    kbps: u64,
    delay: u64,
    rates: Rates,
    policer: Option<(u64, u64)>,
    queue: Queue,
    more: &'static str,
}

#[derive(Clone, Debug)]
enum Rates {
    Own,
    Steps(Vec<(u64, u64)>, Option<u64>),
    /// In a file of two columns, of whole Mbit/s.
    Columns(Vec<(u64, u64)>),
    /// In a file of Mahimahi's form.
    Opportunities(Vec<u64>),
}

#[derive(Clone, Debug)]
enum Queue {
    DropTail(u64),
    /// Rate, and bytes of the bucket.
    Tbf(u64, u64),
    Other(&'static str),
}

#[derive(Clone, Debug)]
struct Flow {
    control: &'static str,
    quic: bool,
    count: u64,
    start: u64,
    ends: &'static str,
    first: usize,
    last: usize,
    more: &'static str,
}

#[derive(Clone, Debug)]
struct Drawn {
    links: Vec<Link>,
    flows: Vec<Flow>,
    udp: bool,
    duration: u64,
    packet: u64,
    headers: u64,
    head: &'static str,
    seed: u64,
}

fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let first = prop_oneof![1 => Just(0_u64), 9 => 200_u64..20_000];
    prop::collection::vec((1_u64..800, first), 1..5).prop_map(|drawn| {
        let mut at = 0;
        let mut steps = Vec::new();
        for (gap, kbps) in drawn {
            steps.push((at, kbps));
            at += gap;
        }
        steps[0].1 = steps[0].1.max(200);
        steps
    })
}

fn rates() -> impl Strategy<Value = Rates> {
    prop_oneof![
        3 => Just(Rates::Own),
        2 => (steps(), prop::option::of(1_u64..900)).prop_map(|(steps, more)| {
            let last = steps.last().unwrap().0;
            Rates::Steps(steps, more.map(|more| last + more))
        }),
        1 => steps().prop_map(|steps| {
            Rates::Columns(steps.into_iter().map(|(at, kbps)| (at, kbps / 1_000 + 1)).collect())
        }),
        1 => prop::collection::vec(0_u64..20, 2..60).prop_map(|gaps| {
            let mut at = 1;
            Rates::Opportunities(gaps.into_iter().map(|gap| { at += gap; at }).collect())
        }),
    ]
}

fn link() -> impl Strategy<Value = Link> {
    let queue = prop_oneof![
        4 => (2_u64..200).prop_map(Queue::DropTail),
        1 => (300_u64..20_000, 4_000_u64..60_000).prop_map(|(rate, burst)| Queue::Tbf(rate, burst)),
        1 => select(vec!["codel", "fq_codel", "pie", "red", "dualpi2"]).prop_map(Queue::Other),
    ];
    let more = select(vec![
        "",
        "",
        "",
        "loss = '1%'",
        "loss = 'ge:1%,30%'",
        "jitter = '5ms'",
        "wifi = '3ms'",
        "release = '10ms'",
        "drop = [3, 20, 21]",
        "back = { rate = '1Mbps', buffer = '40pkt' }",
    ]);
    let policer = prop::option::weighted(0.3, (300_u64..10_000, 4_000_u64..90_000));
    (500_u64..30_000, 1_u64..60, rates(), policer, queue, more).prop_map(
        |(kbps, delay, rates, policer, queue, more)| Link {
            kbps,
            delay,
            rates,
            policer,
            queue,
            more,
        },
    )
}

fn flow(links: usize) -> impl Strategy<Value = Flow> {
    let controls = ["newreno", "cubic", "hystart", "hystart-pp", "astart", "bbr", "suss", "hoe"];
    let ends = select(vec![
        "",
        "stop = '900ms'",
        "stop = '1500ms'",
        "lifetime = '400ms'",
        "lifetime = '1s'",
        "size = '80KB'",
        "size = '2MB'",
        "size = '3MB'\nlifetime = '700ms'",
        "files = { size = '10KB..80KB', pause = '0s..50ms' }",
        "files = { size = '60KB', keep_alive = true }\nlifetime = '800ms'",
        "writes = [{ size = '20KB', every = '30ms', count = 20 }]",
    ]);
    let more = select(vec!["", "", "delayed_ack = 2", "iw = '40pkt'", "receiver_window = '40pkt'"]);
    (
        select(controls.to_vec()),
        prop::bool::weighted(0.2),
        1_u64..4,
        0_u64..800,
        ends,
        more,
        0..links,
        0..links,
    )
        .prop_map(|(control, quic, count, start, ends, more, one, other)| Flow {
            control,
            quic,
            count,
            start,
            ends,
            more,
            first: one.min(other),
            last: one.max(other),
        })
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let heads = select(vec!["", "", "profile = 'rfc'", "profile = 'ns2'", "ecn = true"]);
    (1_usize..4).prop_flat_map(move |links| {
        let (links, flows) =
            (prop::collection::vec(link(), links), prop::collection::vec(flow(links), 1..4));
        (
            links,
            flows,
            any::<bool>(),
            1_600_u64..3_500,
            1_200_u64..1_500,
            0_u64..60,
            heads.clone(),
            1_u64..1_000,
        )
            .prop_map(|(links, flows, udp, duration, packet, headers, head, seed)| Drawn {
                links,
                flows,
                udp,
                duration,
                packet,
                headers,
                head,
                seed,
            })
    })
}

impl Drawn {
    /// Its endpoints have constants that are TCP's alone.
    fn is_tcps(&self) -> bool {
        self.head.contains("rfc") || self.head.contains("ns2")
    }

    fn text(&self, folder: &std::path::Path) -> String {
        let Self { duration, packet, headers, head, seed, .. } = self;
        let mut text = format!(
            "duration = '{duration}ms'\npacket = '{packet}B'\nheaders = '{headers}B'\n\
             seed = {seed}\n{head}\n"
        );
        for (i, link) in self.links.iter().enumerate() {
            let Link { kbps, delay, more, .. } = link;
            // One link of a path may have it.
            let more = if i > 0 && more.starts_with("back") { "" } else { more };
            let _ = write!(text, "[[link]]\nname = 'l{i}'\ndelay = '{delay}ms'\n{more}\n");
            let file = folder.join(format!("{i}.trace"));
            match &link.rates {
                Rates::Own => {}
                Rates::Steps(steps, period) => {
                    let step = |(at, kbps): &(u64, u64)| match kbps {
                        0 => format!("{{ at = '{at}ms', rate = 'none' }}"),
                        kbps => format!("{{ at = '{at}ms', rate = '{kbps}kbps' }}"),
                    };
                    let steps: Vec<String> = steps.iter().map(step).collect();
                    let _ = writeln!(text, "rates = [{}]", steps.join(", "));
                    if let Some(period) = period {
                        let _ = writeln!(text, "rates_period = '{period}ms'");
                    }
                }
                Rates::Columns(steps) => {
                    let line = |(at, mbps): &(u64, u64)| format!("{}\t{mbps}\n", *at as f64 / 1e3);
                    std::fs::write(&file, steps.iter().map(line).collect::<String>()).unwrap();
                }
                Rates::Opportunities(lines) => {
                    let line = |ms: &u64| format!("{ms}\n");
                    std::fs::write(&file, lines.iter().map(line).collect::<String>()).unwrap();
                }
            }
            if matches!(link.rates, Rates::Columns(_) | Rates::Opportunities(_)) {
                let _ = writeln!(text, "rate_trace = '{i}.trace'");
            } else {
                let _ = writeln!(text, "rate = '{kbps}kbps'");
            }
            if let Some((rate, bucket)) = link.policer {
                let _ = writeln!(text, "policer = {{ rate = '{rate}kbps', bucket = '{bucket}B' }}");
            }
            match &link.queue {
                Queue::DropTail(packets) => writeln!(text, "buffer = '{packets}pkt'"),
                Queue::Tbf(rate, burst) => {
                    writeln!(text, "queue = 'tbf(rate={rate}kbps,burst={burst}B)'")
                }
                Queue::Other(queue) => writeln!(text, "queue = '{queue}'"),
            }
            .unwrap();
        }
        for flow in &self.flows {
            let Flow { control, count, start, ends, first, last, more, .. } = flow;
            let path: Vec<String> = (*first..=*last).map(|link| format!("'l{link}'")).collect();
            // quinn has no timer for it.
            let control = if flow.quic && *control == "suss" { "newreno" } else { control };
            let carrier = if flow.quic && !self.is_tcps() { "quic" } else { "tcp" };
            let _ = write!(
                text,
                "[[flow]]\ncontrol = '{control}'\ncount = {count}\nstart = '{start}ms'\n{ends}\n\
                 transport = '{carrier}'\npath = [{}]\n{more}\n",
                path.join(", ")
            );
        }
        if self.udp {
            text += "[[udp]]\nrate = '1Mbps'\nstart = '300ms'\nstop = '1s'\npath = ['l0']\n";
        }
        text
    }
}

/// Bits that a link can have sent by the end of each millisecond.
fn line(link: &Link, duration: u64) -> Vec<f64> {
    let mut sent = vec![0.0];
    for ms in 0..=duration {
        let at = |steps: &[(u64, u64)], ms: u64| {
            steps.iter().rev().find(|(from, _)| *from <= ms).map_or(0, |(_, kbps)| *kbps)
        };
        let bits = match &link.rates {
            Rates::Own => link.kbps,
            Rates::Steps(steps, period) => at(steps, period.map_or(ms, |period| ms % period)),
            Rates::Columns(steps) => at(steps, ms) * 1_000,
            // What can leave at the end of this millisecond.
            Rates::Opportunities(lines) => {
                let last = *lines.last().unwrap();
                let within = (ms + 1) % last;
                let within = if within == 0 { last } else { within };
                lines.iter().filter(|line| **line == within).count() as u64 * 12_000
            }
        };
        sent.push(sent[ms as usize] + bits as f64);
    }
    sent
}

/// The most bits that a link lets pass between two times in ms.
fn passes(link: &Link, line: &[f64], from: u64, until: u64) -> f64 {
    let mut most = line[until as usize] - line[from as usize];
    let shaper = if let Queue::Tbf(rate, burst) = link.queue { Some((rate, burst)) } else { None };
    for (kbps, bytes) in link.policer.into_iter().chain(shaper) {
        most = most.min((kbps * (until - from)) as f64 + bytes as f64 * 8.0);
    }
    most
}

/// What a series says last before a time, in s.
fn last(series: &Series, column: &str, time: f64) -> f64 {
    let times = series.column("time_s").unwrap();
    let values = series.column(column).unwrap();
    let all = times.zip(values).filter_map(|(at, value)| Some((at?, value?)));
    all.take_while(|(at, _)| *at <= time).last().map_or(0.0, |(_, value)| value)
}

fn check(drawn: &Drawn, report: &Report) -> Result<(), TestCaseError> {
    let run = &report.runs[0];
    let lines: Vec<Vec<f64>> = drawn.links.iter().map(|link| line(link, drawn.duration)).collect();
    let groups = drawn.flows.iter().flat_map(|f| std::iter::repeat_n(f, f.count as usize));
    let flows: Vec<_> = groups.zip(&run.result.flows).zip(&run.flows).collect();
    let packet = (drawn.packet * 8) as f64;
    let least = |flow: &Flow, from: u64, until: u64| {
        let links = (flow.first..=flow.last).map(|i| (&drawn.links[i], &lines[i]));
        links.map(|(link, line)| passes(link, line, from, until)).fold(f64::INFINITY, f64::min)
    };
    for ((flow, result), series) in &flows {
        let lives = match flow.ends {
            "stop = '900ms'" => 900,
            "stop = '1500ms'" => 1_500,
            ends => ends.split_once("lifetime = '").map_or(u64::MAX, |(_, life)| {
                flow.start + if life == "1s'" { 1_000 } else { life[..3].parse::<u64>().unwrap() }
            }),
        };
        let until = lives.min(drawn.duration);
        let most = least(flow, flow.start, until);
        let delivered = result.delivered_bytes as f64 * 8.0;
        prop_assert!(delivered <= most + packet, "{delivered} of {most} bits: {flow:?} {result:?}");
        prop_assert!(result.utilization <= 1.001, "{flow:?} {result:?}");
        for ms in (flow.start..=drawn.duration).step_by(50) {
            let acked = last(series, "delivered_packets", ms as f64 / 1e3) * packet;
            let most = least(flow, flow.start, ms);
            prop_assert!(acked <= most + packet, "{acked} of {most} bits by {ms} ms: {flow:?}");
        }
        if !flow.quic || drawn.is_tcps() {
            prop_assert!(
                result.delivered_packets + result.counts.retransmitted_packets
                    <= result.counts.sent_packets
            );
        }
    }
    for (i, (link, line)) in drawn.links.iter().zip(&lines).enumerate() {
        let mine = || flows.iter().filter(|((flow, _), _)| (flow.first..=flow.last).contains(&i));
        let most = passes(link, line, 0, drawn.duration);
        let delivered = mine().map(|((_, it), _)| it.delivered_bytes as f64 * 8.0).sum::<f64>();
        prop_assert!(delivered <= most + packet, "l{i}: {delivered} of {most} bits");
        for ms in (0..=drawn.duration).step_by(50) {
            let acked = |((_, _), series): &((_, _), &Series)| {
                last(series, "delivered_packets", ms as f64 / 1e3) * packet
            };
            let (acked, most) = (mine().map(acked).sum::<f64>(), passes(link, line, 0, ms));
            prop_assert!(acked <= most + packet, "l{i}: {acked} of {most} bits by {ms} ms");
        }
    }
    prop_assert!(run.result.utilization <= 1.001, "{}", run.result.utilization);
    Ok(())
}

fn run_drawn(drawn: &Drawn, name: &str) -> Report {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let (text, file) = (drawn.text(&folder), folder.join("x.toml"));
    let scenario = Scenario::parse(&text, file.to_str().unwrap());
    let scenario = scenario.unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    let options = Options { samples: Some(200), ..Options::default() };
    SIM.run(&scenario, &options).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nobody_gets_more_than_what_passes(drawn in drawn()) {
        check(&drawn, &run_drawn(&drawn, "passes"))?;
    }

    /// One link, sources that stop long before the end, no handshakes, nothing but data: what
    /// arrives at the link is dropped there or carried, and nothing is left over.
    #[test]
    fn what_was_sent_was_dropped_or_carried(drawn in drawn()) {
        let mut drawn = Drawn { udp: false, head: "profile = 'rfc'", duration: 12_000, ..drawn };
        drawn.links.truncate(1);
        let link = &mut drawn.links[0];
        // A link with a queue of its own counts what it carried only up to its last arrival, and
        // one that loses at random not at a loss.
        link.queue = Queue::DropTail(link.delay);
        let loses = link.more.contains("drop") || link.more.contains("loss");
        link.more = if loses { "" } else { link.more };
        link.rates = Rates::Own;
        for flow in &mut drawn.flows {
            (flow.first, flow.last, flow.quic) = (0, 0, false);
            flow.ends = if flow.ends.contains("lifetime") { flow.ends } else { "stop = '1500ms'" };
        }
        let report = run_drawn(&drawn, "conserved");
        let run = &report.runs[0];
        let sent: u64 = run.result.flows.iter().map(|flow| flow.counts.sent_packets).sum();
        let carried = last(&run.queues[0], "carried_packets", 1e9) as u64;
        let link = run.result.bottleneck;
        prop_assert_eq!(sent, link.drops - link.random_losses + carried, "{:?}", drawn);
    }
}
