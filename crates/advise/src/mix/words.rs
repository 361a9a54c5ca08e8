//! The answer for a mix in words.

use firstflight_outside::digits;

use super::answer::{Effect, MixAnswer, Over, Runs, WAITED, WhatIf};
use super::groups::Kind;
use super::{Mix, Rate, UNSEEN};
use crate::answer::Unknown;
use crate::choose::EQUAL;
use crate::request::FIRST_WINDOW;
use crate::words::{changed, percent, seconds, unknown as of_path};

/// What the recording does not tell, and what it can be.
pub(super) fn unknown(mix: &Mix<'_>, runs: &Runs<'_>) -> Vec<Unknown> {
    let mut all = of_path(runs.table.request);
    for unknown in all.iter_mut().filter(|unknown| unknown.name == "loss") {
        if let Some(lost) = mix.lost {
            unknown.between +=
                &format!(", and no more than {}, by what was sent again", part(lost));
        }
    }
    let groups = || runs.groups.iter().map(|at| &mix.groups[*at]);
    let count = |is: fn(Rate) -> bool| -> f64 {
        let found =
            groups().filter(|group| mix.rtt_and_rate(group.transfer).is_ok_and(|it| is(it.1)));
        found.map(|group| group.stands_for).sum::<usize>() as f64
    };
    let simulated = groups().map(|group| group.stands_for).sum::<usize>() as f64;
    let open = count(|rate| rate.at_most.is_none()) / simulated;
    let between = count(|rate| rate.at_most.is_some_and(|most| most > rate.at_least)) / simulated;
    let mut ways = Vec::new();
    if open > 0.0 {
        let of = part(open);
        ways.push(format!(
            "of {of} 1 to {UNSEEN} times what they carried, as they never filled it"
        ));
    }
    if between > 0.0 {
        let of = part(between);
        ways.push(format!("of {of} from what was delivered to the longest window over the RTT"));
    }
    if !ways.is_empty() {
        all.push(Unknown { name: "rate", between: ways.join(", ") });
    }
    all
}

/// The answer.
pub(super) fn sentences(mix: &Mix<'_>, runs: Option<&Runs<'_>>, answer: &MixAnswer) -> Vec<String> {
    let mut sentences = vec![counted(answer)];
    let Some(runs) = runs else { return sentences };
    let own = &answer.control;
    let best = &answer.controls[0];
    if best.control == *own {
        sentences.push(format!(
            "No control that sends as little again is more than {} % quicker than {own} over all.",
            digits(EQUAL * 100.0, 0)
        ));
    }
    let others = answer.controls.iter().filter(|it| it.control != *own);
    let shown = others.filter(|it| mix.named || it.role.is_some());
    sentences.extend(shown.map(|control| with(mix, control, answer)));
    sentences.extend(changed(runs.table.request, &answer.changes));
    sentences.extend(recorded(answer));
    sentences.push(format!(
        "In brackets stands from the least to the most of {} paths that each may have had; {} of \
         100 such paths lie between.",
        answer.paths,
        digits(answer.interval * 100.0, 0)
    ));
    sentences.extend(stand_ins(answer));
    if let Some(bytes) = answer.simulated_bytes {
        sentences.push(format!("Of larger transfers the first {} are simulated.", size(bytes)));
    }
    sentences
}

/// How many gain nothing from any control, and how many may.
fn counted(answer: &MixAnswer) -> String {
    let [first, held, stayed, left] = [0, 1, 2, 3].map(|at| part(answer.parts[at].share));
    let none = answer.parts[0].share + answer.parts[1].share;
    let all = format!("{} connections under {}", answer.connections, answer.control);
    let all = format!("{all} ({})", size(answer.bytes));
    let held = match answer.parts[1].connections {
        0 => String::new(),
        _ => format!(", {held} were held back by the receiver's window or the send buffer"),
    };
    let nothing = match none {
        0.0 => format!("{all} have more than the first window of {FIRST_WINDOW} packets:"),
        none => format!(
            "{} of {all} gain nothing from any control: {first} fit into the first window of \
             {FIRST_WINDOW} packets{held}. Of all",
            part(none)
        ),
    };
    format!("{nothing} {stayed} were over before slow start was, {left} left it.")
}

/// What a control does.
fn with(mix: &Mix<'_>, control: &WhatIf, answer: &MixAnswer) -> String {
    let name = &control.control;
    let head = match control.role {
        _ if mix.named => format!("With {name},"),
        Some("quickest") => format!("Take {name}:"),
        Some("quicker") => format!("{name} is quicker, at a price:"),
        Some("gentler") => format!("{name} is gentler:"),
        _ => format!("{name} is the next:"),
    };
    let share = |at: usize| part(answer.parts[at].share);
    let mut parts = Vec::new();
    if let Some(effect) = &control.left {
        let saved = saved(effect, answer.parts[3].connections);
        parts.push(format!("of the {} that left slow start {saved}", share(3)));
        parts.push(again(effect));
    }
    if let Some(effect) = &control.stayed {
        let saved = saved(effect, answer.parts[2].connections);
        parts.push(format!("of the {} that never left it {saved}", share(2)));
        if control.left.is_none() {
            parts.push(again(effect));
        }
    }
    parts.extend(control.others.map(|ratio| {
        format!("others take {} times as long as beside slow start", digits(ratio, 2))
    }));
    format!("{head} {}.", parts.join("; "))
}

/// What so many connections save.
fn saved(effect: &Effect, connections: usize) -> String {
    let mut parts = Vec::new();
    let tenths = connections >= 10;
    if effect.saved_median.median >= EQUAL {
        parts.push(format!("half save {} or more", time(&effect.saved_median_s)));
    }
    if tenths && effect.saved_p90.median >= EQUAL {
        parts.push(format!("one in ten saves {} or more", time(&effect.saved_p90_s)));
    }
    if tenths && effect.saved_p10.median <= -EQUAL {
        let Over { median, least, most } = effect.saved_p10_s;
        let longer = Over { median: -median, least: -most, most: -least };
        parts.push(format!("one in ten takes {} longer or more", time(&longer)));
    }
    if parts.is_empty() { "none gains anything".to_owned() } else { parts.join(", ") }
}

/// What is sent again, beside what the host's own control sends.
fn again(effect: &Effect) -> String {
    let (other, own) = (effect.again.median, effect.own_again.median);
    if other.max(own).max(effect.again.most) <= LITTLE {
        return "hardly anything is sent again".to_owned();
    }
    let times = match own > LITTLE && other > LITTLE {
        true => format!(", {} times as much", digits(other / own, 1)),
        false => String::new(),
    };
    let Over { least, most, .. } = effect.again;
    format!(
        "{} ({} to {}) is sent again instead of {}{times}",
        percent(other),
        digits(least * 100.0, 1),
        percent(most),
        percent(own)
    )
}

/// How the simulator's times fit those that were recorded.
fn recorded(answer: &MixAnswer) -> Option<String> {
    let (over, waited) = (answer.over_recorded?, answer.waited?);
    let waited = match waited {
        0.0 => String::new(),
        share => format!(
            "; {} took more than {WAITED} times as long as simulated on any path: they waited for \
             the application or carried several requests, and save at most what is said",
            part(share)
        ),
    };
    Some(format!(
        "Under {} the simulated time is {} of the recorded, median{waited}.",
        answer.control,
        digits(over, 2)
    ))
}

/// Which connections stand for all, unless all stand for themselves.
fn stand_ins(answer: &MixAnswer) -> Option<String> {
    let parts = [(Kind::Stayed, "that never left slow start"), (Kind::Left, "that left it")];
    let parts = parts.into_iter().filter_map(|(kind, words)| {
        let part = answer.parts.iter().find(|part| part.kind == kind.name())?;
        let is_less = part.groups < part.connections;
        is_less.then(|| format!("{} for the {} {words}", part.groups, part.connections))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| {
        format!(
            "{} stand for all, evenly chosen in the order of RTT, rate and size: {}.",
            "A few connections",
            parts.join(", ")
        )
    })
}

/// `0.12 s (0.05 to 0.2 s)`
fn time(over: &Over) -> String {
    // No digit of what is smaller than a millisecond.
    let shown = |time: f64| seconds(if time.abs() < 0.000_5 { 0.0 } else { time });
    let [median, least, most] = [over.median, over.least, over.most].map(shown);
    format!("{median} s ({least} to {most} s)")
}

/// A share as a percentage, in three digits where it is small.
fn part(share: f64) -> String {
    format!("{} %", digits(share * 100.0, if share < 0.01 { 3 } else { 0 }))
}

/// `345 MB`
fn size(bytes: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)];
    let unit = units.iter().find(|(_, unit)| bytes as f64 >= *unit);
    let (name, unit) = unit.unwrap_or(&("B", 1.0));
    format!("{} {name}", digits(bytes as f64 / unit, 1))
}

/// Below this share sent again the answer has no ratio.
const LITTLE: f64 = 0.000_5;
