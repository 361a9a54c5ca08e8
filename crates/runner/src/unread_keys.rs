//! A row of the endpoints' keys that nothing reads would be accepted and change nothing.

use firstflight_scenario::Scenario;
use firstflight_scenario::keys::{Key, Kind};

use crate::simulator::prepare;
use crate::{Simulator, network};

/// The networks that a scenario becomes, as text, or what is wrong with it.
fn networks(lines: &str) -> Result<String, String> {
    // A queue may mark only where packets may be marked.
    let marks = if lines.contains("ecn = true") { "[path]\necn_threshold = '30pkt'" } else { "" };
    let text = format!("controls = ['slow-start+newreno']\n{lines}\n{marks}");
    let scenario = Scenario::parse(&text, "x.toml").map_err(|error| error.to_string())?;
    let (complete, prepared) =
        prepare(&scenario, Simulator::TCP).map_err(|error| error.to_string())?;
    let all = prepared.iter().map(|(_, controls)| network::build(&complete, controls, None));
    Ok(all.map(|network| format!("{network:?}")).collect())
}

fn values(kind: Kind) -> Vec<String> {
    let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match kind {
        Kind::Switch => plain(&["true", "false"]),
        Kind::Count => plain(&["1", "2", "3", "5"]),
        Kind::Quantity => plain(&["'7ms'", "'700ms'", "'3s'", "'3pkt'", "'20kB'", "'3'"]),
        Kind::Word(words) => words.iter().map(|word| format!("'{word}'")).collect(),
    }
}

#[test]
fn every_row_changes_what_the_simulator_is_given_where_it_is_accepted() {
    let stacks = ["linux", "rfc", "ns2", "quic"].map(|name| format!("profile = '{name}'\n"));
    let more =
        ["", "delayed_ack = 2\n", "syn = true\n", "delayed_ack = 2\nsyn = true\n", "ecn = true\n"];
    let bases: Vec<String> =
        stacks.iter().flat_map(|stack| more.map(|more| format!("{stack}{more}"))).collect();
    let reads = |key: &&Key| {
        let others = bases.iter().filter(|base| !base.contains(&format!("\n{} =", key.name)));
        others.into_iter().any(|base| {
            // ns-2's endpoints have no ECN.
            let Ok(usual) = networks(base) else { return false };
            let set = |value| networks(&format!("{base}{} = {value}", key.name));
            values(key.kind).into_iter().filter_map(|value| set(value).ok()).any(|it| it != usual)
        })
    };
    let unread: Vec<&str> = Key::all().filter(|key| !reads(key)).map(|key| key.name).collect();
    assert_eq!(unread, [""; 0], "nothing reads these keys");
}
