//! Points on several sides, and tables of what came out.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use firstflight_quic_sim::quinn::{QUIC, SIM};
use firstflight_runner::{RunError, Transport};
use firstflight_sweep::{Experiment, Format, Shard, Store, Sweep, SweepError};

use crate::place::{Place, run_shard};

const FILE: &str = "
    unrepeatable = false
    [scenario]
    controls = ['newreno', 'hystart']
    duration = '2s'
    flow = [{ size = '200kB' }]
    path = { rtt = '40ms' }
    [grid]
    'path.rate' = ['10Mbps', '20Mbps']
    [[side]]
    name = 'sim'
    title = 'TCP'
    [[side]]
    name = 'paced'
    pacing = true
    [[side]]
    name = 'quinn'
    on = 'quic'
    controls = ['newreno']
    packet = '1200B'
";

fn load(place: &Place, text: &str) -> Result<(Experiment, PathBuf), Box<SweepError>> {
    let file = place.path("experiment.toml");
    fs::write(&file, text).unwrap();
    let usual: Arc<dyn Transport> = Arc::new(SIM);
    let on = |words: &str| match words {
        "quic" => Ok(Arc::new(QUIC) as Arc<dyn Transport>),
        other => Err(Box::new(RunError::Input(format!("--on {other}")))),
    };
    Ok((Experiment::load(&file, &usual, &on)?, place.path("out")))
}

/// Runs all sides of the experiment and returns the tables that `layouts` asks for.
fn tables(layouts: &str) -> String {
    let place = Place::new();
    let (experiment, out) = load(&place, &format!("{FILE}{layouts}")).unwrap();
    for side in experiment.sides() {
        let store =
            Store::open(&side.folder(&out), &side.sweep, Format::Csv, Shard::WHOLE).unwrap();
        run_shard(&side.sweep, &store, "1/1");
        store.merge(&side.sweep).unwrap();
    }
    let tables = experiment.tables(&out, Format::Csv).unwrap();
    tables.into_iter().map(|(_, table)| table).collect()
}

#[test]
fn rows_are_points_and_columns_are_sides_with_their_controls() {
    let table = tables(
        "[[table]]
        head = 'rate'
        row = '{path.rate}'
        cell = ['{delivered_bytes*8/1000:.0} kbit', 'none']",
    );
    assert_eq!(
        table,
        "\n| rate | TCP, newreno | TCP, hystart | paced, newreno | paced, hystart \
         | quinn, newreno |\n|---|---|---|---|---|---|\n\
         | 10Mbps | 1600 kbit | 1600 kbit | 1600 kbit | 1600 kbit | 1600 kbit |\n\
         | 20Mbps | 1600 kbit | 1600 kbit | 1600 kbit | 1600 kbit | 1600 kbit |\n"
    );
}

#[test]
fn a_cell_compares_named_runs_and_marks_what_is_apart() {
    let table = tables(
        "[[table]]
        head = 'path'
        row = '{path.rate}'
        agree = 'plain'
        [[table.column]]
        head = 'more'
        cell = ['<{100*(ours.packet_bytes/theirs.packet_bytes - 1):+.1} %>']
        mark = { of = 'ours.packet_bytes/theirs.packet_bytes - 1', beyond = 0.1 }
        [[table.column]]
        head = 'transports'
        cell = ['{ours.transport}, {theirs.transport}']
        [[table.each]]
        title = 'Ours'
        when = { 'path.rate' = '20Mbps' }
        runs = { ours = ['sim', 'hystart'], theirs = ['quinn', 'newreno'] }",
    );
    let wanted = "\n### Ours\n| path | more | transports |\n|---|---|---|\n\
                  | 20Mbps | **-16.7 %** | sim, quic |\n| plain | 0 of 1 | 1 of 1 |\n";
    assert_eq!(table, wanted);
}

#[test]
fn rows_of_controls_have_the_sides_for_columns() {
    let table = tables(
        "[[table]]
        head = 'control'
        row = '`{control}`, {path.rate}'
        sides = ['sim', 'paced']
        cell = ['{pacing}']",
    );
    assert!(table.starts_with("\n| control | TCP | paced |\n|---|---|---|\n"), "{table}");
    assert!(table.contains("| `hystart`, 10Mbps | 0 | 1 |\n"), "{table}");
    let (first, last) = (table.find("`newreno`, 20Mbps"), table.find("`hystart`, 10Mbps"));
    assert!(first < last, "{table}");
}

#[test]
fn points_whose_rows_begin_alike_share_one_and_functions_are_of_all_of_them() {
    let table = tables(
        "[[table]]
        head = 'side'
        row = '{side} ({points})'
        controls = ['newreno']
        runs = { other = 'hystart' }
        cell = [
          '{mean(other.delivered_bytes/1000):.0}: {quantile(0.5, path.rate/1000000):.1}',
          '{sum(delivered_bytes/1000):.0}: {count(path.rate > 15000000):.0} of {max(1):.0}',
        ]",
    );
    assert_eq!(
        table,
        "\n| side | newreno |\n|---|---|\n| TCP (2) | 200: 15.0 |\n| paced (2) | 200: 15.0 |\n\
         | quinn (2) | 400: 1 of 1 |\n"
    );
}

#[test]
fn a_side_can_have_points_and_flows_of_its_own_and_rows_be_of_its_groups() {
    let own = "
        [[side]]
        name = 'own'
        controls = ['newreno']
        grid = { 'path.rate' = ['8Mbps', '4Mbps', '2Mbps'], 'path.rtt' = ['40ms', '80ms'] }
        flow = [{ size = '100kB' }, { control = 'cubic', size = '50kB' }]
        [[table]]
        sides = ['own']
        head = 'rtt'
        row = '{path.rtt}'
        sort = 'max(path.rtt)'
        cell = ['{max(flow[1].delivered_bytes*path.rate/1000000):.0}']
        [[table]]
        sides = ['own']
        head = 'rates'
        row = '{points} in groups'
        by = 'path.rtt'
        cell = ['{max(mean(path.rate/1000000)):.2}']
        [[table]]
        sides = ['own']
        head = 'rate'
        row = '{path.rate}'
        keep = 'max(path.rate) > 3000000'
        cell = ['{sum(flow[0].size_bytes - flow[1].size_bytes):.0}', '{size_bytes}']";
    assert_eq!(
        tables(own),
        "\n| rtt | newreno |\n|---|---|\n| 80ms | 400000 |\n| 40ms | 400000 |\n\
         \n| rates | newreno |\n|---|---|\n| 6 in groups | 4.67 |\n\
         \n| rate | newreno |\n|---|---|\n| 8Mbps | 100000 |\n| 4Mbps | 100000 |\n"
    );
}

#[test]
fn points_that_differ_in_their_seed_alone_are_points_of_their_own() {
    let seeds = "
        [[side]]
        name = 'seeds'
        controls = ['newreno']
        grid = { seed = [1, 2] }
        path = { loss = '2%' }
        [[table]]
        sides = ['seeds']
        head = 'all'
        row = 'all'
        cell = ['{max(completion_time_s) > min(completion_time_s):.0}']";
    assert_eq!(tables(seeds), "\n| all | newreno |\n|---|---|\n| all | 1 |\n");
}

#[test]
fn a_side_that_is_not_understood_is_refused() {
    let place = Place::new();
    let refused = |text: &str| load(&place, &format!("{FILE}{text}")).unwrap_err().to_string();
    assert!(refused("[[side]]\nname = 'x'\non = 'tcp'").contains("--on tcp"));
    assert!(refused("[[side]]\nname = 'x'\nrat = 3").contains("rat"));
    assert!(refused("[[side]]\nname = 'x'\nflow = [{ siz = '1MB' }]").contains("siz"));
    assert!(refused("[[side]]\nname = 'x'\ngrid = { 'path.rat' = ['1'] }").contains("path.rat"));
    assert!(refused("[[table]]\nhead = 'x'\nrwo = 'y'").contains("rwo"));
    let alone = Sweep::parse(FILE, "x.toml", ".".as_ref(), Arc::new(SIM)).unwrap_err();
    assert!(alone.to_string().contains("several sides"), "{alone}");
}
