//! A point as firstflight's scenario.

use std::fmt::Write as _;

use firstflight_scenario::Scenario;

use super::point::Point;
use crate::Stop;

/// The scenario that says what the point says.
pub(super) fn of(point: &Point) -> Result<Scenario, Stop> {
    let text = text(point);
    Scenario::parse(&text, &point.id).map_err(|error| Stop::failed(&error.to_string()))
}

fn text(point: &Point) -> String {
    let (control, recovery) = match point.text("alg") {
        "tahoe" => ("tahoe", "tahoe"),
        "reno" => ("reno", "reno"),
        "sack" => ("newreno", "sack"),
        "vegas" => ("vegas", "newreno"),
        "hoe" => ("hoe", "newreno"),
        "linux" => ("cubic(preset=ns2)", "ns2-linux"),
        _ => ("newreno", "newreno"),
    };
    let ssthresh = match point.text("ssthresh") {
        "0" => "none".to_owned(),
        packets => format!("{packets}pkt"),
    };
    let of = |key: &str| point.text(key);
    let mut text = format!(
        "name = '{}'\nprofile = 'ns2'\ncontrols = ['{control}']\nrecovery = '{recovery}'\n\
         duration = '{}s'\npacket = '{}B'\niw = '{}pkt'\nssthresh = '{ssthresh}'\n\
         delayed_ack = {}\n",
        point.id,
        of("dur"),
        of("pkt"),
        of("iw"),
        of("ack")
    );
    // TCP/Linux and Vegas have rules of their own for duplicate ACKs, and ns-2.1b6 has none.
    let release = of("release");
    if recovery != "ns2-linux" && control != "vegas" && release != "2.1b6" {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "limited_transmit = {}", of("lt") != "0");
    }
    if matches!(release, "2.26" | "2.1b6") {
        let _ = writeln!(text, "ns2_release = '{release}'");
    }
    let access_delay = point.number("adelay");
    // To the nanosecond and the bit, which is as fine as a scenario's times and rates are.
    let (rtt, access) = (point.number("rtt") - 4.0 * access_delay, point.access());
    let (rate, buffer) = (of("rate"), point.buffer());
    let _ = match point.second() {
        None => writeln!(
            text,
            "[path]\nrate = '{rate}Mbps'\nrtt = '{rtt:.6}ms'\nbuffer = '{buffer}pkt'\n\
             access_delay = '{access_delay}ms'\naccess_rate = '{access:.6}Mbps'"
        ),
        Some([rate2, buffer2, delay2]) => writeln!(
            text,
            "[[link]]\nname = 'first'\nrate = '{rate}Mbps'\ndelay = '{:.6}ms'\n\
             buffer = '{buffer}pkt'\n[[link]]\nname = 'second'\nrate = '{rate2}Mbps'\n\
             delay = '{delay2}ms'\nbuffer = '{buffer2}pkt'",
            rtt / 2.0
        ),
    };
    let in_a_row = point.second().map_or(String::new(), |_| {
        format!(
            "path = ['first', 'second']\naccess_delay = '{access_delay}ms'\n\
             access_rate = '{access:.6}Mbps'\n"
        )
    });
    let (delays, rates) = (point.list("adelays"), point.list("accesses"));
    for (flow, start) in point.starts().into_iter().enumerate() {
        let _ = write!(text, "[[flow]]\nstart = '{start}s'\n{in_a_row}");
        let own = [("access_delay", "ms", &delays), ("access_rate", "Mbps", &rates)];
        for (key, unit, values) in own {
            if let Some(value) = values.get(flow) {
                let _ = writeln!(text, "{key} = '{value}{unit}'");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::point;
    use super::*;

    /// `ns2-dumbbell.tcl` overrides `lt` with the release's own: none in 2000.
    #[test]
    fn limited_transmit_is_that_of_the_release() {
        let text_of = |words: &str| {
            let random = BTreeMap::from([("one".to_owned(), words.to_owned())]);
            let file = xtask::root().join("validation/points.toml");
            text(&point::load(&file, Some(random), &[]).ok().unwrap()[0])
        };
        assert!(text_of("sack").contains("limited_transmit = true"));
        assert!(text_of("sack release=2.26").contains("limited_transmit = true"));
        let of_2000 = text_of("sack release=2.1b6");
        assert!(of_2000.contains("ns2_release = '2.1b6'") && !of_2000.contains("limited"));
    }

    #[test]
    fn every_point_is_a_scenario() {
        let file = xtask::root().join("validation/points.toml");
        let points = point::load(&file, None, &[]).ok().unwrap();
        for point in &points {
            assert!(of(point).is_ok_and(|scenario| scenario.complete().is_ok()), "{}", point.id);
        }
    }
}
