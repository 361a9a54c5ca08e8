//! `link`: the emulated link as a tool of its own.

use std::path::PathBuf;
use std::time::Duration;

use firstflight_lab::link::{DirectionSpec, ETHERNET_MTU, LinkSpec, SPIN_NS};
use firstflight_lab::tool::{self, Carried, LinkEnds, Prints};
use firstflight_report::terminal;
use firstflight_report::{Column, Table};
use firstflight_scenario::trace::Rates;
use firstflight_scenario::{Buffer, Loss, Rate, Time, complete};

use crate::document::document;
use crate::failure::{Failure, Status};
use crate::words::whole;
use crate::{interrupt, output};

/// Emulate a link between two network namespaces, or around commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rate from the near end to the far end, or `none`
    #[arg(long, value_name = "RATE", default_value = "none")]
    rate: String,
    /// File of rates over time instead, as the `rate_trace` of a scenario: lines `0s 40Mbps`, a
    /// last line `10s repeat` to begin again, or Mahimahi's opportunities to send
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    rate_trace: Option<PathBuf>,
    /// Two-way propagation, half of it each way
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    rtt: String,
    /// Room for waiting packets, drop-tail: 500pkt, 64KiB, 1bdp or none
    #[arg(long, value_name = "BUFFER", default_value = "1bdp")]
    buffer: String,
    /// Loss on the way there: 0.1%, or in bursts ge:0.5%,20% (good to bad, bad to good)
    #[arg(long, value_name = "LOSS", default_value = "0%")]
    loss: String,
    /// Rate of the reverse path
    #[arg(long, value_name = "RATE", default_value = "none")]
    back_rate: String,
    /// Buffer of the reverse path
    #[arg(long, value_name = "BUFFER", default_value = "1bdp")]
    back_buffer: String,
    /// Loss on the reverse path
    #[arg(long, value_name = "LOSS", default_value = "0%")]
    back_loss: String,
    /// Seed of the losses
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>)]
    seed: u64,
    /// Largest packet in bytes, 576 to 65521
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = ETHERNET_MTU,
        value_parser = whole::<usize>
    )]
    mtu: usize,
    /// How long to spin before a packet is due, longer if wake-ups are late, at most 600us; 0ms
    /// spares the processors, which otherwise poll when they are idle
    #[arg(long, value_name = "TIME", default_value = "60us")]
    spin: String,
    /// Near end: a namespace of `ip netns`; needs --far
    #[arg(long, value_name = "NAME", requires = "far")]
    near: Option<String>,
    /// Far end: a namespace of `ip netns`; needs --near
    #[arg(long, value_name = "NAME", requires = "near")]
    far: Option<String>,
    /// Runs at the far end by `sh -c`, started first and ended with the link
    #[arg(long, value_name = "COMMAND")]
    serve: Option<String>,
    /// Ends the link after so long
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// Print the link's figures as one JSON document; what the commands print goes to standard
    /// error
    #[arg(long)]
    json: bool,
    /// Runs at the near end; the link ends with it
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

const EXAMPLES: &str = "\
Each end has a TUN device `ff0`: 10.77.0.1 is near, 10.77.128.1 far (also in $FF_NEAR, $FF_FAR).
It takes root. Namespaces without names vanish with the link, however it ends. At the end it tells
what it carried, what it dropped, and how late it was itself. `degraded` means that 1 % of the
packets were late by more than 1 % of the RTT, or one packet by a quarter of the RTT, or that a
hypervisor took away more than 1 % of the processors' time. `invalid` means that 1 % of the packets
were late by more than 5 % of the RTT, or one packet by a whole RTT, or that the hypervisor took
away more than 5 %.

Examples:
  firstflight link --rate 40Mbps --rtt 100ms -- ping -c 10 10.77.128.1
  firstflight link --rate 10Mbps --rtt 400ms --serve 'iperf3 -s -1' -- \\
      iperf3 -c 10.77.128.1 -C cubic
  firstflight link --rate 20Mbps --loss ge:0.5%,20% --serve 'iperf3 -s' -- bash
  firstflight link --near left --far right --rate-trace rates.txt --duration 60s --json";

/// Runs the command.
pub(crate) fn link(args: &Args) -> Result<Status, Failure> {
    let (spec, ends) = (spec(args)?, ends(args)?);
    let stop = interrupt::listen();
    let carried = tool::carry(&spec, &ends, stop, || {
        if ends.near.is_empty() {
            let (near, far) = tool::addresses();
            output::note(&format!("link is up: {near} near, {far} far; Ctrl-C ends it"));
        }
    })?;
    if args.json {
        output::print(&document("firstflight/link@1", &carried)?)?;
    } else {
        output::note(&text(&carried));
    }
    Ok(match (carried.interrupted, carried.near_failed) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Unmet,
        (false, false) => Status::Done,
    })
}

fn spec(args: &Args) -> Result<LinkSpec, Failure> {
    let rtt = time("--rtt", &args.rtt)?;
    let (rate, elements) = match &args.rate_trace {
        Some(path) => {
            let rates = Rates::load(path).map_err(|problem| {
                let is_complete = problem.contains("; accepted: ");
                let accepted =
                    if is_complete { "" } else { "; accepted: a file of lines `0s 40Mbps`" };
                Failure::Usage(format!("--rate-trace {problem}{accepted}"))
            })?;
            let schedule = rates.element(None).map_err(|problem| {
                Failure::Usage(format!("--rate-trace {}: {problem}", path.display()))
            })?;
            (Some(Rate::from_bps(rates.mean_bps())), vec![schedule])
        }
        None => (rate("--rate", &args.rate)?, Vec::new()),
    };
    let back_rate = self::rate("--back-rate", &args.back_rate)?;
    if !(576..=65_521).contains(&args.mtu) {
        let problem = format!("--mtu {}: out of range; accepted: 576 to 65521", args.mtu);
        return Err(Failure::Usage(problem));
    }
    let spin_ns = time("--spin", &args.spin)?;
    if spin_ns > LONGEST_SPIN_NS {
        let problem = format!("--spin {}: out of range; accepted: 0ms to 600us", args.spin);
        return Err(Failure::Usage(problem));
    }
    let way = |rate: Option<Rate>, delay_ns, buffer: (&str, &str), loss: (&str, &str)| {
        let buffer = room(buffer, rate, rtt)?;
        let loss = loss
            .1
            .parse::<Loss>()
            .map_err(|problem| Failure::Usage(format!("{} {}: {problem}", loss.0, loss.1)))?;
        Ok::<_, Failure>(DirectionSpec { rate, delay_ns, buffer, loss, ..Default::default() })
    };
    let forward = way(rate, rtt / 2, ("--buffer", &args.buffer), ("--loss", &args.loss))?;
    Ok(LinkSpec {
        beyond: None,
        // A trace begins as the link does.
        forward: DirectionSpec { elements, ..forward },
        backward: way(
            back_rate,
            rtt - rtt / 2,
            ("--back-buffer", &args.back_buffer),
            ("--back-loss", &args.back_loss),
        )?,
        seed: args.seed,
        mtu: args.mtu,
        packet_bytes: 0,
        spin_ns,
        depth_every_ns: None,
        checksums: false,
    })
}

fn ends(args: &Args) -> Result<LinkEnds, Failure> {
    let duration = args.duration.as_ref().map(|text| time("--duration", text)).transpose()?;
    let sh = |line: &String| vec!["sh".to_owned(), "-c".to_owned(), line.clone()];
    Ok(LinkEnds {
        namespaces: args.near.clone().zip(args.far.clone()),
        near: args.command.clone(),
        far: args.serve.as_ref().map(sh).unwrap_or_default(),
        duration: duration.map(Duration::from_nanos),
        prints: if args.json { Prints::StandardError } else { Prints::Here },
        ..LinkEnds::default()
    })
}

fn time(flag: &str, text: &str) -> Result<u64, Failure> {
    text.parse::<Time>()
        .map(Time::ns)
        .map_err(|problem| Failure::Usage(format!("{flag} {text}: {problem}")))
}

fn rate(flag: &str, text: &str) -> Result<Option<Rate>, Failure> {
    if text == "none" {
        return Ok(None);
    }
    let wrong = |problem| Failure::Usage(format!("{flag} {text}: {problem}, or none"));
    text.parse::<Rate>().map(Some).map_err(wrong)
}

/// A buffer in BDP is one in bytes at the mean rate: packets are of any size here. Without a rate
/// nothing waits.
fn room(
    (flag, text): (&str, &str),
    rate: Option<Rate>,
    rtt: u64,
) -> Result<complete::Buffer, Failure> {
    if text == "none" {
        return Ok(complete::Buffer::Unlimited);
    }
    let buffer = text.parse::<Buffer>();
    let wrong = |problem| Failure::Usage(format!("{flag} {text}: {problem}, or none"));
    let buffer = buffer.map_err(wrong)?;
    let Some(rate) = rate else { return Ok(complete::Buffer::Unlimited) };
    Ok(match buffer {
        Buffer::Packets(packets) => complete::Buffer::Packets(packets),
        Buffer::Bytes(bytes) => complete::Buffer::Bytes(bytes),
        Buffer::Bdp(milli) => {
            let bits = u128::from(rate.bps()) * u128::from(rtt) * u128::from(milli);
            let bytes = bits / 8 / 1_000_000_000_000;
            complete::Buffer::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).max(SMALLEST))
        }
    })
}

fn text(carried: &Carried) -> String {
    let columns = ["way", "offered", "dropped", "lost", "delivered", "busy", "peak queue"];
    let mut table = Table::new("link", "", columns.map(Column::text));
    for (name, way) in [("there", &carried.link.forward), ("back", &carried.link.backward)] {
        table.push([
            name.into(),
            way.offered_packets.to_string().into(),
            way.dropped_packets.to_string().into(),
            way.lost_packets.to_string().into(),
            way.delivered_packets.to_string().into(),
            format!("{:.1} %", 100.0 * way.utilization).into(),
            way.peak_queue_packets.map_or(String::new(), |most| most.to_string()).into(),
        ]);
    }
    let late = &carried.link.lateness;
    format!(
        "{}{}\nlate by {:.0} us in the mean, 99 % by at most {:.0} us, all by at most {:.0} us; \
         {:.1} % of the processors' time was stolen",
        terminal::table(&table, output::screen()),
        carried.note.as_deref().unwrap_or("timing valid"),
        late.mean_us,
        late.p99_us,
        late.max_us,
        100.0 * carried.link.stolen_share
    )
}

/// A buffer holds at least one full packet.
const SMALLEST: u64 = 1_500;
const LONGEST_SPIN_NS: u64 = 10 * SPIN_NS;
