//! What the numbers mean, in plain words.

use crate::packets::{Packets, float};
use crate::prediction::{Case, Prediction};
use crate::startups::{StartupFit, Verdict};
use crate::words::{duration, number, packets};

/// The answers a user asks for, in this order: does it overflow, does it fill the path, which
/// ssthresh and which growth are safe, which start-up fits. A line each.
pub(crate) fn advice(case: &Case, prediction: &Prediction) -> String {
    let mut sentences = Vec::new();
    sentences.push(overflow(case, prediction));
    sentences.extend(transfer(case, prediction));
    if !case.model.first_burst_overflows() {
        sentences.push(pipe(case, prediction));
        sentences.push(threshold(case, prediction));
        sentences.extend(growth(case, prediction));
    }
    sentences.push(startups(&prediction.startups));
    sentences.join("\n")
}

fn overflow(case: &Case, prediction: &Prediction) -> String {
    let first = case.model.initial_window();
    if case.model.first_burst_overflows() {
        let fits = case.model.buffer() + 1;
        return format!(
            "The first window of {} does not fit: unless it is paced, {} of it are lost. Start \
             with {} at most.",
            packets(first as f64),
            number((first - fits) as f64),
            packets(fits as f64),
        );
    }
    let who = if case.joins_others() { "A flow alone in slow start" } else { "Slow start" };
    let window = packets(prediction.overflow_window_packets);
    let share = |window: f64| number(window / prediction.bdp_packets);
    if let (false, Some(ssthresh)) = (prediction.overflows, prediction.ssthresh_packets) {
        let close = match ssthresh > prediction.robust_ssthresh_packets {
            true => format!(
                " But that is close: where the rounds fall otherwise it may overflow from {} on \
                 (equation 4).",
                packets(prediction.overflow_window_approx_packets),
            ),
            false => String::new(),
        };
        return format!(
            "{who} does not overflow this path: it ends at its ssthresh of {} ({} BDP), and the \
             buffer overflows at {window}.{close}",
            packets(ssthresh),
            share(ssthresh),
        );
    }
    format!(
        "{who} overflows the buffer at about {window} ({} BDP), {} after its first packet. It \
         notices at {} having lost about {}, and Reno goes on with an ssthresh of {} ({} BDP), or \
         {} if duplicate ACKs show only the first loss.",
        share(prediction.overflow_window_packets),
        duration(prediction.overflow_after_s),
        packets(prediction.detection_window_packets),
        number(prediction.expected_losses_packets),
        packets(prediction.threshold_after_packets),
        share(prediction.threshold_after_packets),
        number(prediction.threshold_after_one_fast_retransmit_packets),
    )
}

/// A transfer that is over before the window gets there overflows nothing.
fn transfer(case: &Case, prediction: &Prediction) -> Option<String> {
    let transfer = float(case.transfer.as_ref()?);
    let short = prediction.overflows && transfer < prediction.overflow_after_packets;
    short.then(|| {
        format!(
            "But a transfer of {} is over before that: it takes {}.",
            packets(transfer.ceil()),
            packets(prediction.overflow_after_packets.ceil()),
        )
    })
}

fn pipe(case: &Case, prediction: &Prediction) -> String {
    if prediction.fills_pipe {
        return "The buffer takes its bursts until the path is full.".to_owned();
    }
    let buffer = case.model.buffer() as f64;
    let slower = match prediction.least_pipe_filling_d {
        Some(d) => format!(", or growth by 1/{d} a round at most"),
        None => String::new(),
    };
    format!(
        "Its bursts fill the buffer before they fill the path: to fill the path first takes a \
         buffer of {} (this one has {}, {} BDP){slower}.",
        packets(prediction.fills_pipe_from_buffer_packets.ceil()),
        number(buffer),
        number(buffer / prediction.bdp_packets),
    )
}

fn threshold(case: &Case, prediction: &Prediction) -> String {
    let (safe, robust) = (prediction.safe_ssthresh_packets, prediction.robust_ssthresh_packets);
    if case.joins_others() {
        return format!(
            "Beside other flows an ssthresh up to {} is safe on average; from {} on a newcomer \
             always overflows the buffer.",
            packets(safe),
            packets(prediction.most_overflow_window_among_flows_packets),
        );
    }
    if case.model.buffer() == 0 {
        return "No ssthresh is safe, since nothing can wait.".to_owned();
    }
    if safe <= robust {
        return format!("An ssthresh up to {} is safe.", packets(safe));
    }
    format!(
        "An ssthresh up to {} is safe however the rounds fall, up to {} where they are those of \
         the model.",
        packets(robust),
        number(safe),
    )
}

fn growth(case: &Case, prediction: &Prediction) -> Option<String> {
    let given = case.threshold.as_ref()?;
    if !prediction.overflows || case.joins_others() {
        return None;
    }
    let ssthresh = packets(float(given));
    Some(match prediction.least_safe_d {
        // Equation 4 may allow what Theorem 1 does not where a first window is large.
        Some(d) if Packets::from_integer(d.into()) > case.model.aggressiveness().d() => {
            format!("An ssthresh of {ssthresh} is safe with growth by 1/{d} a round (d = {d}).")
        }
        Some(_) => return None,
        None => format!("No growth makes an ssthresh of {ssthresh} safe."),
    })
}

fn startups(fits: &[StartupFit]) -> String {
    let names = |verdict| {
        let of = fits.iter().filter(move |fit| fit.verdict == verdict);
        of.map(|fit| format!("{} ({})", fit.control, fit.why)).collect::<Vec<_>>().join("; ")
    };
    let groups = [
        ("What fits", Verdict::Fits),
        ("What overflows the buffer", Verdict::Overflows),
        ("What stops short", Verdict::StopsShort),
        ("What the model does not know", Verdict::Unknown),
    ];
    let lines = groups.into_iter().filter_map(|(title, verdict)| {
        let names = names(verdict);
        (!names.is_empty()).then(|| format!("{title}: {names}."))
    });
    lines.collect::<Vec<_>>().join("\n")
}
