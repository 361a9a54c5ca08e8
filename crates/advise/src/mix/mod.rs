//! What another control would do for the transfers that a host has recorded.
//!
//! [`Mix::new`] sorts them by what start-up means to them: what fits into the first window and what
//! buffers held back no control changes, and is only counted. Of the others a few connections stand
//! for all. [`Mix::answer`] simulates each of them on several paths that it may have
//! had, and compares, path by path, the control that the host has with those that it can have.

mod answer;
mod groups;
mod run;
mod words;

pub use answer::{Effect, MixAnswer, MixPart, Over, Shown, WhatIf};

use firstflight_record::mix::{Rate, Transfer};
use firstflight_runner::{Options, RunError};
use firstflight_scenario::{self as scenario, PathFlags, Size, Time};

use self::answer::Runs;
use self::groups::Group;
use crate::choose::Table;
use crate::request::{FIRST_WINDOW, Point, Request, between, halton};
use crate::stack::{Candidate, Stack};

/// The transfers of a host under one control, as they are simulated.
#[derive(Clone, Debug)]
pub struct Mix<'a> {
    candidates: &'a [Candidate],
    /// All of them run at all points, instead of the best.
    named: bool,
    shared: bool,
    path: PathFlags,
    transfers: Vec<&'a Transfer>,
    groups: Vec<Group<'a>>,
    bytes: u64,
    /// The most that the path can have lost at random, as a share.
    lost: Option<f64>,
}

impl<'a> Mix<'a> {
    /// Sorts transfers. The first of the `candidates` is the control that the host has; if the
    /// others are `named` by a person, the answer has all of them. `path` may have `--buffer`,
    /// `--loss` and `--jitter` of all paths, and `--rtt` and `--rate` for transfers whose recording
    /// lacks them.
    ///
    /// # Errors
    /// A flag that is none, or an RTT or a rate that neither the recording nor a flag has.
    pub fn new(
        transfers: &[&'a Transfer],
        candidates: &'a [Candidate],
        named: bool,
        shared: bool,
        path: &PathFlags,
    ) -> Result<Self, RunError> {
        let mix = Self {
            candidates,
            named,
            shared,
            path: path.clone(),
            groups: groups::of(transfers, groups::MOST),
            transfers: transfers.to_vec(),
            bytes: transfers.iter().map(|transfer| transfer.bytes).sum(),
            lost: most_lost(transfers),
        };
        for transfer in transfers.iter().filter(|transfer| !is_in_first_window(transfer)) {
            mix.rtt_and_rate(transfer)?;
        }
        Ok(mix)
    }

    /// Simulates the mix and says what the controls would change. `options` may have what stops it,
    /// what hears how far it is, and whether it keeps to this thread.
    ///
    /// # Errors
    /// A control that the simulator does not know, or an interruption.
    pub fn answer(mut self, options: &Options<'_>) -> Result<MixAnswer, RunError> {
        let plan = self.plan()?;
        let simulated: Vec<usize> =
            (0..self.groups.len()).filter(|at| self.groups[*at].kind.is_simulated()).collect();
        let Some(first) = simulated.first() else { return Ok(MixAnswer::of(&self, None, &plan)) };
        let request = self.request(&self.groups[*first], 0)?;
        let points = (0..plan.paths).flat_map(|path| simulated.iter().map(move |_| path));
        let points = points.map(|path| self.point(&request, path)).collect();
        let mut table = Table::new(&request, self.candidates, points);
        self.run(&plan, &simulated, &mut table, options)?;
        let runs = Runs { table: &table, groups: &simulated };
        Ok(MixAnswer::of(&self, Some(&runs), &plan))
    }

    /// The path of a group, by the number of the path; the rate is drawn where it is not known.
    fn request(&self, group: &Group<'_>, path: usize) -> Result<Request, RunError> {
        let (rtt_s, rate) = self.rtt_and_rate(group.transfer)?;
        // Other digits of the number than those that the points of a path take.
        let share = halton(RATE_STEP * (path as u64 + 1), RATE_BASE);
        let (least, most) = bounds(rate);
        let rate = between(share, least, most).min(MOST_IN_PATH / rtt_s);
        let mut flags: PathFlags = self.path.clone();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let (rate, rtt) = (rate.round() as u64, (rtt_s * 1e9).round() as u64);
        flags.set("--rate", scenario::Rate::from_bps(rate).to_string());
        flags.set("--rtt", Time::from_ns(rtt).to_string());
        flags.set("--size", Size::from_bytes(group.transfer.bytes).to_string());
        Request::new(Stack::Linux, self.shared, &flags)
    }

    /// What is not known of a path, by its number.
    fn point(&self, request: &Request, path: usize) -> Point {
        let mut point = request.point(path as u64);
        point.loss = point.loss.min(self.lost.unwrap_or(1.0));
        point
    }

    /// A transfer's RTT in seconds, and what is known of its rate.
    fn rtt_and_rate(&self, transfer: &Transfer) -> Result<(f64, Rate), RunError> {
        let given = |name: &str| {
            self.path.given().find(|(flag, _)| flag.name == name).map(|(_, text)| text)
        };
        let unread =
            |name: &str, error: &dyn std::fmt::Display| RunError::Input(format!("{name}: {error}"));
        let missing = |what: &str, name: &str| {
            let problem = format!("a transfer of {} bytes tells no {what}", transfer.bytes);
            RunError::Input(format!("{problem}; accepted: {name} for those that do not"))
        };
        let rtt_s = match (transfer.rtt_s, given("--rtt")) {
            (Some(rtt_s), _) => rtt_s,
            (None, Some(text)) => {
                let time: Time = text.parse().map_err(|error| unread("--rtt", &error))?;
                time.ns() as f64 / 1e9
            }
            (None, None) => return Err(missing("RTT", "--rtt TIME")),
        };
        let rate = match (transfer.rate, given("--rate")) {
            (Some(rate), _) => rate,
            (None, Some(text)) => {
                let rate: scenario::Rate =
                    text.parse().map_err(|error| unread("--rate", &error))?;
                let rate = rate.bps() as f64;
                Rate { at_least: rate, at_most: Some(rate) }
            }
            (None, None) => return Err(missing("rate", "--rate RATE")),
        };
        Ok((rtt_s.clamp(RTT_S.0, RTT_S.1), rate))
    }
}

/// Between what a rate is drawn.
fn bounds(rate: Rate) -> (f64, f64) {
    let least = rate.at_least.clamp(RATE_BPS.0, RATE_BPS.1);
    let most = rate.at_most.unwrap_or(rate.at_least * UNSEEN);
    (least, most.clamp(least, RATE_BPS.1))
}

fn is_in_first_window(transfer: &Transfer) -> bool {
    transfer.bytes <= FIRST_WINDOW * PACKET
}

/// The most that can have been lost at random, 95 of 100 times: all that was sent again, and three
/// packets more (the rule of three, Hanley and Lippman-Hand 1983, JAMA 249).
fn most_lost(transfers: &[&Transfer]) -> Option<f64> {
    let recorded =
        transfers.iter().filter_map(|transfer| Some((transfer.again_bytes?, transfer.bytes)));
    let (again, bytes) = recorded
        .fold((0, 0), |(again, all), (sent_again, bytes)| (again + sent_again, all + bytes));
    (bytes > 0).then(|| ((again + 3 * PACKET) as f64 / bytes as f64).min(1.0))
}

/// Payload of a full packet of TCP on Ethernet with time stamps.
const PACKET: u64 = 1448;
/// How many times faster than its transfers a path may be that none of them filled.
const UNSEEN: f64 = 10.0;
/// What the simulator takes: rates in bits per second, and RTTs in seconds.
const RATE_BPS: (f64, f64) = (8_000.0, 400e9);
const RTT_S: (f64, f64) = (10e-6, 60.0);
/// Bits that a path holds at most, a million packets: 100 Gbit/s over 120 ms.
const MOST_IN_PATH: f64 = 1e6 * 12_000.0;
/// The base of the rate, a prime that no other unknown has, and the step in its sequence.
const RATE_BASE: u64 = 17;
const RATE_STEP: u64 = 5;
