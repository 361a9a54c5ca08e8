//! The answer in words.

use firstflight_outside::{digits, short};
use firstflight_scenario::{Rate, Size, Time};

use crate::answer::{Answer, Change, Choice, Unknown};
use crate::choose::{EQUAL, Side};
use crate::request::{
    ACKS, BUFFER_BDP, FIRST_WINDOW, Factor, JITTER_S, LONGEST_S, LOSS, MOST_LATE, OTHERS, Request,
};

/// As the document calls it.
pub(crate) fn name(of: Factor) -> &'static str {
    match of {
        Factor::Buffer => "buffer",
        Factor::Loss => "loss",
        Factor::Bursts => "bursts",
        Factor::Jitter => "jitter",
        Factor::Acks => "acks",
        Factor::Others => "others",
    }
}

/// The scenario of the catalogue that another flow is of.
pub(crate) fn code(others: usize) -> &'static str {
    OTHERS[others].code
}

/// What was not told, and what it can be.
pub(crate) fn unknown(request: &Request) -> Vec<Unknown> {
    let between = |of: Factor| match of {
        Factor::Buffer => format!("{} to {} BDP", BUFFER_BDP.0, BUFFER_BDP.1),
        Factor::Loss => {
            format!("none, or {} to {} %", short(LOSS.0 * 100.0), short(LOSS.1 * 100.0))
        }
        Factor::Bursts => "losses one by one, or in bursts of 5".to_owned(),
        Factor::Jitter => format!(
            "none, or up to {} to {} ms, at most {} % of the RTT",
            short(JITTER_S.0 * 1e3),
            short(JITTER_S.1 * 1e3),
            short(MOST_LATE * 100.0)
        ),
        Factor::Acks => format!("one for {} to {} packets", ACKS[0], ACKS[ACKS.len() - 1]),
        Factor::Others => OTHERS.map(|other| other.words).join(", or "),
    };
    let all = request.unknown.iter();
    all.map(|of| Unknown { name: name(*of), between: between(*of) }).collect()
}

/// A side of what is not known, after "if".
pub(crate) fn when(of: Factor, side: Side) -> String {
    let (word, at) = match side {
        Side::Below(at) => ("below", at),
        Side::Above(at) => ("above", at),
        Side::Is(place) => return OTHERS[place].words.to_owned(),
    };
    let none = matches!(side, Side::Below(_));
    match of {
        Factor::Buffer => format!("the buffer is {word} {} BDP", digits(at, 2)),
        Factor::Loss => format!("the path loses {} {} %", more(none), digits(at * 100.0, 3)),
        Factor::Bursts if none => "losses come one by one".to_owned(),
        Factor::Bursts => "losses come in bursts".to_owned(),
        Factor::Jitter => format!("packets are late by {} {} ms", more(none), digits(at * 1e3, 1)),
        Factor::Acks => format!("there is one ACK for {} {} packets", more(none), digits(at, 0)),
        Factor::Others => String::new(),
    }
}

fn more(below: bool) -> &'static str {
    if below { "less than" } else { "more than" }
}

/// The answer.
pub(crate) fn sentences(request: &Request, answer: &Answer) -> Vec<String> {
    let (take, own) = (&answer.take[0], &answer.own);
    let mut sentences = vec![gain(request, take, own)];
    sentences.extend(answer.take[1..].iter().map(|choice| alternative(choice, take)));
    sentences.extend(changed(request, &answer.changes));
    let points = answer.points.len();
    sentences.push(format!(
        "Times are from the quickest to the slowest of {points} paths that yours may be; {} of 100 \
         such paths lie between.",
        digits(answer.interval * 100.0, 0)
    ));
    if answer.simulated_bytes < request.size_bytes {
        let first = Size::from_bytes(answer.simulated_bytes);
        sentences
            .push(format!("Simulated was the beginning alone, {first}: all times are of that."));
    }
    sentences
}

/// What would change an answer, and what would not.
pub(crate) fn changed(request: &Request, changes: &[Change]) -> Vec<String> {
    let one = |change: &Change| {
        let (when, other, ratio) = (&change.when, &change.take, share(change.ratio));
        format!("If {when}, take {other}: it needs {ratio} that time there.")
    };
    let mut sentences: Vec<String> = changes.iter().map(one).collect();
    let is_unchanged = |of: &&Factor| changes.iter().all(|change| change.unknown != name(**of));
    let rest: Vec<&str> = request.unknown.iter().filter(is_unchanged).map(|of| name(*of)).collect();
    if !rest.is_empty() {
        sentences.push(format!("What would not change the answer: {}.", rest.join(", ")));
    }
    sentences
}

/// What is gained over the stack's own.
fn gain(request: &Request, take: &Choice, own: &Choice) -> String {
    let (stack, own_name) = (request.stack.title(), &own.control);
    if request.is_in_first_window() {
        let (size, window) = (Size::from_bytes(request.size_bytes), FIRST_WINDOW);
        return format!(
            "Nothing is gained: a transfer of {size} is over in the first window of {window} \
             packets. {} takes {}.",
            own_name,
            times(own)
        );
    }
    if take.control == own.control {
        return format!(
            "Nothing is gained: no control that sends as little again is more than {} % quicker \
             than {own_name}, which {stack} has by itself. It takes {}{}.",
            digits(EQUAL * 100.0, 0),
            times(own),
            price(own)
        );
    }
    format!(
        "Take {}: it needs {} the time of {own_name}, which {stack} has by itself. It takes {}{}; \
         {own_name} takes {}{}.",
        take.control,
        share(take.over_own),
        times(take),
        price(take),
        times(own),
        price(own)
    )
}

/// Another choice, beside the advised one.
fn alternative(choice: &Choice, take: &Choice) -> String {
    let ratio = share(choice.over_own / take.over_own);
    let what = match choice.role {
        Some("quicker") => "is quicker, at a price",
        Some("gentler") => "is gentler",
        _ => "is the next",
    };
    format!("{} {what}: {ratio} that time, {}{}.", choice.control, times(choice), price(choice))
}

/// A time over another, before "the time": `0.79 of`, `1.3 times`.
fn share(ratio: f64) -> String {
    let word = if ratio < 1.0 { "of" } else { "times" };
    format!("{} {word}", digits(ratio, 2))
}

/// `1.42 s (1.2 to 3 s)`
fn times(choice: &Choice) -> String {
    let most = match choice.most_s >= LONGEST_S {
        true => "more than an hour".to_owned(),
        false => format!("{} s", seconds(choice.most_s)),
    };
    format!("{} s ({} to {most})", seconds(choice.median_s), seconds(choice.least_s))
}

/// Three digits, as far as a time needs them.
pub(crate) fn seconds(time: f64) -> String {
    digits(time, if time < 1.0 { 3 } else { 2 })
}

/// What it costs: itself, and others.
fn price(choice: &Choice) -> String {
    let others = choice.others.map_or_else(String::new, |ratio| {
        format!(", and others take {} the time that they take beside slow start", share(ratio))
    });
    format!(", sends {} again{others}", percent(choice.again))
}

pub(crate) fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0, 1))
}

impl Answer {
    /// What was told of the path and what was not, in a line.
    pub fn path(&self) -> String {
        let path = &self.told;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        let rtt = Time::from_ns((path.rtt_s * 1e9).round() as u64);
        let rate = Rate::from_bps(path.rate_bps);
        let size = Size::from_bytes(path.size_bytes);
        let alone = if path.shared { "shared" } else { "alone" };
        let loss = path.loss.map_or_else(String::new, |loss| format!(", loss {}", percent(loss)));
        let unknown: Vec<String> =
            self.unknown.iter().map(|of| format!("{} ({})", of.name, of.between)).collect();
        format!(
            "{size} at {rate}, {rtt}{loss}, {alone}, over {}. Not told: {}.",
            path.on,
            unknown.join("; ")
        )
    }
}
