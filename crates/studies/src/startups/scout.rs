//! One path, seen closely: the queue that trains build, the windows, and one round with its train.

use std::error::Error;

use firstflight_report::{Axis, Figure, Panel, Series, Width, svg};
use firstflight_runner::Run;

use super::column;

/// What a picture shows of the path: until when, and how many samples are taken.
struct Look {
    seconds: f64,
    samples: u32,
}

const WHOLE: Look = Look { seconds: 1.2, samples: 1_200 };
/// Twenty samples in the time of a packet of the bottleneck.
const CLOSE: Look = Look { seconds: 0.46, samples: 40_000 };
/// The round begins after this time: the third, of which W is four fifths of the BDP.
const ROUND_AFTER_S: f64 = 0.25;
/// The title of both pictures.
const PATH: &str = "50 Mbit/s, 100 ms, a buffer of a BDP";

/// The pictures as SVG, with their names.
pub(crate) fn pictures() -> Result<[(String, String); 2], Box<dyn Error>> {
    Ok([drawn(&queue()?)?, drawn(&round()?)?])
}

fn drawn(figure: &Figure) -> Result<(String, String), Box<dyn Error>> {
    let width: Width = "760px".parse()?;
    Ok((figure.id.clone(), svg::render(figure, width)?))
}

fn runs(controls: &[&str], look: &Look) -> Result<Vec<Run>, Box<dyn Error>> {
    let text = format!(
        "controls = {controls:?}\nduration = \"{}s\"\npacket = \"1448B\"\n\
         [path]\nrate = \"50Mbps\"\nrtt = \"100ms\"\nbuffer = \"1bdp\"\n",
        look.seconds
    );
    Ok(super::runs(&text, look.samples)?)
}

/// Queue and window of Scout and of HyStart++.
fn queue() -> Result<Figure, Box<dyn Error>> {
    let bdp = 50.0 * 100.0 * 125.0 / 1_448.0;
    let level = |packets: f64| vec![(0.0, packets), (WHOLE.seconds, packets)];
    let mut queue = Panel::new(Axis::new("queue", "packets"));
    let mut window =
        Panel::new(Axis::new("cwnd", "packets")).with(Series::reference("BDP", level(bdp)));
    for run in &runs(&["hystart-pp", "scout"], &WHOLE)? {
        let name = run.result.alias.clone();
        queue = queue.with(Series::steps(&name, column(run.queues.first(), "queue_packets")));
        window = window.with(Series::steps(&name, column(run.flows.first(), "cwnd_packets")));
    }
    Ok(Figure::new("scout-queue", PATH, Axis::new("time", "s")).panel(queue).panel(window))
}

/// What Scout sends in one round, what is acknowledged, the queue, and W.
fn round() -> Result<Figure, Box<dyn Error>> {
    let runs = runs(&["scout"], &CLOSE)?;
    let run = runs.first().ok_or("no run")?;
    let acknowledged = column(run.flows.first(), "delivered_packets");
    let in_flight = column(run.flows.first(), "in_flight_packets");
    let sent = acknowledged.iter().zip(&in_flight);
    let sent: Vec<_> = sent.map(|(acked, flight)| (acked.0, acked.1 + flight.1)).collect();
    let window = column(run.flows.first(), "scout_window");
    let window: Vec<_> = window.into_iter().map(|(time, bytes)| (time, bytes / 1_448.0)).collect();

    let grows = window.windows(2).position(|pair| {
        let [(time, before), (_, after)] = *pair else { return false };
        time > ROUND_AFTER_S && after > before
    });
    let begins = grows.ok_or("W does not grow")?;
    let (from_s, first) = sent[begins];
    let train = first..first + window[begins + 1].1 / 8.0;
    let of_train = [&sent, &acknowledged]
        .into_iter()
        .flatten()
        .filter(|(_, packet)| *packet > train.start && *packet <= train.end);
    let mut of_train: Vec<_> = of_train.copied().collect();
    of_train.dedup_by_key(|(_, packet)| *packet);

    let shown = |points: Vec<(f64, f64)>| {
        points.into_iter().filter(|(time, _)| *time > from_s - 0.01).collect::<Vec<_>>()
    };
    let packets = Panel::new(Axis::new("packets", ""))
        .with(Series::steps("sent", shown(sent)))
        .with(Series::steps("acknowledged", shown(acknowledged)))
        .with(Series::points("train", of_train));
    let queue = shown(column(run.queues.first(), "queue_packets"));
    let queue = Panel::new(Axis::new("queue", "packets")).with(Series::steps("queue", queue));
    let window = shown(window);
    let decided = window.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    let decided: Vec<_> = decided.map(|pair| pair[1]).collect();
    let window = Panel::new(Axis::new("W", "packets"))
        .with(Series::steps("W", window))
        .with(Series::points("decision", decided));
    let title = format!("One round of Scout: {PATH}");
    let figure = Figure::new("scout-round", title, Axis::new("time", "s"));
    Ok(figure.panel(packets).panel(queue).panel(window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_train_of_the_round_is_drawn_where_it_leaves_and_where_it_is_acknowledged() {
        let figure = round().unwrap();
        let train = figure.panels[0].series.iter().find(|it| it.name == "train").unwrap();
        let (leaves, acknowledged): (Vec<_>, Vec<_>) =
            train.points.iter().partition(|(time, _)| *time < 0.4);
        assert_eq!(leaves.len(), acknowledged.len());
        assert!(leaves.len() >= 8, "{train:?}");
        // It leaves at four times the round's rate, and comes as the bottleneck forwards it.
        let lasts = |points: &[(f64, f64)]| points[points.len() - 1].0 - points[0].0;
        assert!(lasts(&acknowledged) > 2.0 * lasts(&leaves), "{train:?}");
    }
}
