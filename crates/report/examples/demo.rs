//! Writes a made-up but realistic report: `cargo run -p firstflight-report --example demo -- DIR`.
//! The curves are drawn by formula; nothing is simulated.

use std::{env, error::Error, io, path::Path};

use firstflight_report::{
    Axis, Cell, Column, Figure, Page, Panel, Section, Series, Table, Verdict,
    terminal::{self, Screen},
    write_dir,
};

type Curve = fn(f64) -> f64;

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::args().nth(1).unwrap_or_else(|| "demo-report".to_owned());
    let page = page();
    let screen = Screen::of(&io::stdout());
    for figure in page.figures() {
        println!("{}", terminal::figure(figure, screen));
    }
    for table in page.tables() {
        println!("{}", terminal::table(table, screen));
    }
    for path in write_dir(Path::new(&out), &page, Vec::new())? {
        println!("{}", path.display());
    }
    Ok(())
}

/// A page with three figures and sixty claims.
pub(crate) fn page() -> Page {
    Page::new("Start-up in large bandwidth-delay networks")
        .subtitle("Every table, figure and stated number of the paper beside what was measured.")
        .command("firstflight reproduce astart --seed 1 --out report")
        .fact("version", "0.1.0")
        .fact("seed", 1)
        .fact("profile", "ns2")
        .section(
            Section::new("claims", "Claims")
                .text("A refuted claim is one the paper's own numbers contradict.")
                .table(claims()),
        )
        .section(
            Section::new("window", "Window and queue")
                .text("One flow, 40 Mbps, 100 ms, a buffer of 500 packets of 1000 bytes.")
                .figure(time_series()),
        )
        .section(
            Section::new("sweeps", "Over rate & buffer")
                .figure(buffer_sweep())
                .figure(loss_sweep()),
        )
}

/// Twenty seconds in samples of a millisecond: long enough to be thinned.
fn sampled(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..20_000).map(|ms| f64::from(ms) / 1000.0).map(|t| (t, value(t))).collect()
}

fn sawtooth(t: f64) -> f64 {
    let slow_start = 2f64.powf(t / 0.1).min(1_000.0);
    if t < 1.0 { slow_start } else { 500.0 + ((t - 1.0) / 0.1) % 500.0 }
}

fn early_exit(t: f64) -> f64 {
    if t < 0.5 { 2f64.powf(t / 0.1) } else { 32.0 + (t - 0.5) / 0.1 }
}

fn astart(t: f64) -> f64 {
    510.0 * (1.0 - (-t / 0.45).exp()) + 18.0 * (t * 3.0).sin().abs()
}

fn time_series() -> Figure {
    let controls: [(&str, Curve); 3] =
        [("astart+westwood", astart), ("newreno", sawtooth), ("newreno, ssthresh 32", early_exit)];
    let panel = |axis, value: Curve| {
        controls.iter().fold(Panel::new(axis), |panel, (name, control)| {
            panel.with(Series::steps(*name, sampled(|t| value(control(t)))))
        })
    };
    let limit = |panel: Panel, name: &str, y| {
        panel.with(Series::reference(name, vec![(0.0, y), (20.0, y)]))
    };
    Figure::new("fig-cwnd", "Window, queue and throughput", Axis::new("time", "s"))
        .panel(limit(panel(Axis::new("cwnd", "packets"), |w| w), "BDP", 500.0))
        .panel(panel(Axis::new("queue", "packets"), |w| (w - 500.0).clamp(0.0, 500.0)))
        .panel(limit(
            panel(Axis::new("throughput", "Mbps"), |w| (w / 500.0).min(1.0) * 40.0),
            "capacity",
            40.0,
        ))
        .caption("The estimate lets the window follow the path up without filling the queue.")
        .command("firstflight compare astart newreno --rate 40Mbps --rtt 100ms --buffer 500pkt")
}

fn buffer_sweep() -> Figure {
    let buffers = [50.0, 100.0, 125.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0];
    let over = |value: Curve| buffers.iter().map(|b| (*b, value(*b))).collect::<Vec<_>>();
    let panel = Panel::new(Axis::new("throughput", "Mbps"))
        .with(Series::line("astart", over(|b| 38.9 - 90.0 / b)))
        .with(Series::line("hoe", over(|b| if b < 250.0 { 6.0 + b / 20.0 } else { 37.0 })))
        .with(Series::line("vegas", over(|b| 9.0 + b / 900.0)))
        .with(Series::reference("astart, paper", over(|b| 38.5 - 70.0 / b)).like("astart"))
        .with(Series::reference("hoe, paper", over(|b| 5.0 + b / 14.0)).like("hoe"));
    Figure::new("fig-buffer", "Throughput over buffer", Axis::new("buffer", "packets"))
        .panel(panel)
        .caption("Below half a BDP of buffer the window never reaches what the path holds.")
        .command("firstflight reproduce A-F10")
}

fn loss_sweep() -> Figure {
    let losses = || (0..24).map(|i| 1e-5 * 10f64.powf(f64::from(i) / 7.0));
    let response = |gain: f64| losses().map(|p| (p * 100.0, gain / p.sqrt())).collect::<Vec<_>>();
    let samples = losses().flat_map(|p| [0.8, 1.0, 1.3].map(|j| (p * 100.0, j * 1.22 / p.sqrt())));
    Figure::new("fig-loss", "Window over random loss", Axis::new("loss", "%").log())
        .panel(
            Panel::new(Axis::new("mean cwnd", "packets").log())
                .with(Series::points("newreno, each seed", samples.collect()))
                .with(Series::line("westwood", response(2.1)))
                .with(Series::reference("1.22 / √p", response(1.22))),
        )
        .caption("Both axes are logarithmic.")
}

fn claims() -> Table {
    let columns = [
        Column::text("id"),
        Column::text("what"),
        Column::number("expected", ""),
        Column::number("measured", ""),
        Column::text("unit"),
        Column::text("class"),
        Column::number("deviation", "%"),
        Column::text("verdict"),
        Column::text("figure"),
    ];
    let mut table = Table::new("claims-table", "Every claim with its verdict", columns);
    for row in 0..60 {
        table.push(claim(row));
    }
    table
}

fn claim(row: u32) -> [Cell; 9] {
    let rate = [10.0, 20.0, 40.0, 80.0, 150.0][(row % 5) as usize];
    let expected = rate * (0.55 + f64::from(row % 7) / 20.0);
    let measured = expected * (1.0 + (f64::from(row * 37 % 19) - 9.0) / 600.0);
    let verdict = match row {
        17 | 41 => Verdict::Fail,
        _ if row % 11 == 5 => Verdict::RefutedConfirmed,
        _ => Verdict::Pass,
    };
    let figure = ["fig-cwnd", "fig-buffer", "fig-loss"][(row % 3) as usize];
    [
        format!("A-T{}-{}", 1 + row / 12, 1 + row % 12).into(),
        format!("NewReno's mean throughput over the first 20 s at {rate} Mbps, RTT < 100 ms")
            .into(),
        Cell::number(expected, 2),
        Cell::number(measured, 2),
        "Mbps".into(),
        ["exact", "tight", "shape"][(row % 3) as usize].into(),
        Cell::number((measured / expected - 1.0) * 100.0, 1),
        verdict.into(),
        Cell::figure(figure, "drawing"),
    ]
}
