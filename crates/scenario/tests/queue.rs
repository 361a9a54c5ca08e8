//! A link's queue: how it is read, completed and displayed, and every refusal.

use firstflight_link::{CodelRules, Discipline, FqCodelRules, RedRules, TbfRules};
use firstflight_scenario::{Complete, Scenario, complete};

fn complete(text: &str) -> Result<Complete, String> {
    let scenario = Scenario::parse(text, "x.toml").map_err(|error| error.to_string())?;
    let again =
        Scenario::parse(&scenario.to_toml(), "x.toml").map_err(|error| error.to_string())?;
    let complete = scenario.complete().map_err(|error| error.to_string())?;
    assert_eq!(Ok(&complete), again.complete().as_ref().map_err(|error| error.to_string()));
    Ok(complete)
}

fn discipline(queue: &str) -> Discipline {
    // 250 packets of 1000 bytes are a BDP.
    let text = format!("[path]\nrate = '20Mbps'\nrtt = '100ms'\nqueue = '{queue}'");
    complete(&text).unwrap().links[0].queue.clone().unwrap().discipline
}

#[test]
fn a_queue_has_linuxs_defaults_and_what_is_written() {
    assert_eq!(discipline("codel"), Discipline::Codel(CodelRules::default()));
    let codel = CodelRules {
        target_ns: 2_000_000,
        interval_ns: 30_000_000,
        limit_packets: 500,
        ecn: true,
        ce_threshold_ns: Some(1_000_000),
    };
    let written = "codel(target=2ms,interval=30ms,limit=2bdp,ecn=on,ce_threshold=1ms)";
    assert_eq!(discipline(written), Discipline::Codel(codel));
    let usual = FqCodelRules::default();
    let codel = CodelRules { ecn: false, ..usual.codel };
    let fq = FqCodelRules { codel, flows: 8, quantum_bytes: Some(300) };
    assert_eq!(discipline("fq_codel(flows=8,quantum=300B,ecn=off)"), Discipline::FqCodel(fq));
    let tbf = TbfRules { rate_bps: 5_000_000, burst_bytes: 16_000, limit_bytes: 250_000 };
    assert_eq!(discipline("tbf(rate=5Mbps,burst=16KB)"), Discipline::Tbf(tbf));
}

/// As `tc` has it: `max` is a quarter of the limit, `min` a third of that, and the burst two
/// thirds of the one and a third of the other.
#[test]
fn red_follows_from_its_limit() {
    let red = RedRules {
        limit_bytes: 1_000_000,
        min_bytes: 83_333,
        max_bytes: 250_000,
        avpkt_bytes: 1_000,
        burst_packets: 138,
        probability_ppb: 20_000_000,
        ecn: false,
    };
    assert_eq!(discipline("red"), Discipline::Red(red));
}

#[test]
fn results_and_headers_say_it_and_its_limit_is_the_buffer() {
    let complete = complete("[path]\nqueue = 'pie(limit=200pkt)'").unwrap();
    assert_eq!(complete.links[0].buffer, complete::Buffer::Packets(200));
    let text = serde_json::to_string(&complete.links[0]).unwrap();
    assert!(text.contains("\"queue\":\"pie(limit=200pkt)\""), "{text}");
    assert!(complete.path().contains(", queue pie(limit=200pkt)"), "{}", complete.path());
}

#[test]
fn drop_tail_by_its_name_is_no_other_queue() {
    let plain = complete("[path]\nbuffer = '10pkt'").unwrap();
    assert_eq!(complete("[path]\nbuffer = '10pkt'\nqueue = 'drop-tail'").unwrap(), plain);
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    let cards = Discipline::cards();
    let names = cards.iter().fold("drop-tail".to_owned(), |names, it| names + ", " + it.name);
    let no_name = format!("no queue is named `codle`, did you mean `codel`; accepted: {names}");
    for (queue, expected) in [
        ("codle", no_name.as_str()),
        (
            "codel(targt=5ms)",
            "`codel` has no `targt`, did you mean `target`; accepted: target, interval, limit, \
             ecn, ce_threshold",
        ),
        ("drop-tail(x=1)", "`drop-tail` has no parameters, found `x`; accepted: drop-tail"),
        ("codel(ecn=yes)", "ecn: found `yes`; accepted: on, off"),
        ("codel(target=200s)", "target: out of range; accepted: 1us to 100s"),
        ("pie(alpha=33)", "alpha: found `33`; accepted: 0 to 32"),
        ("codel+pie", "a queue has one part; accepted: codel, or codel(target=5ms,ecn=on)"),
        ("tbf(rate=1Mbps)", "`burst` is missing; accepted: tbf(rate=10Mbps,burst=16KB,limit=1bdp)"),
        (
            "tbf(rate=1Mbps,burst=999B)",
            "burst: no packet of 1000 bytes would pass; accepted: one or more",
        ),
        ("red(min=9KB,max=8KB)", "min, max and limit do not rise; accepted: min < max <= limit"),
    ] {
        let problem = complete(&format!("[path]\nqueue = '{queue}'")).unwrap_err();
        assert_eq!(problem, format!("x.toml:2: path.queue = \"{queue}\": {expected}"));
    }
    for (key, instead) in [("buffer", "its `limit`"), ("ecn_threshold", "its own marks")] {
        let text = format!("ecn = true\n[path]\nqueue = 'codel'\n{key} = '20pkt'");
        let expected = format!(
            "x.toml:4: path.{key} = \"20pkt\": beside `queue`; accepted: codel with {instead}"
        );
        assert_eq!(complete(&text).unwrap_err(), expected);
    }
}
