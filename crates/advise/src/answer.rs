//! The answer as a document: what `firstflight advise --json` prints.

use firstflight_runner::{Options, RunError, Simulator, Transport};
use serde::Serialize;

use crate::choose::{Better, EQUAL, Table};
use crate::measure::{Cost, at};
use crate::request::{Point, Request};
use crate::words;

/// The name of the schema, first key of the document.
pub const SCHEMA: &str = "firstflight/advise@1";

/// Which control to take on a path.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What was told of the path.
    pub told: KnownPath,
    /// What was not, and between what it was drawn.
    pub unknown: Vec<Unknown>,
    /// Bytes of the transfer that were simulated: its beginning, if they are fewer.
    pub simulated_bytes: u64,
    /// The share of paths of this kind whose time lies between `least_s` and `most_s`.
    pub interval: f64,
    /// The answer in sentences.
    pub sentences: Vec<String>,
    /// The controls worth taking, the advised one first; none of the others is as gentle and as
    /// quick.
    pub take: Vec<Choice>,
    /// What the stack takes by itself.
    pub own: Choice,
    /// What would change the answer.
    pub changes: Vec<Change>,
    /// All controls, with what they took at the points at which they ran.
    pub controls: Vec<Choice>,
    /// The points.
    pub points: Vec<Drawn>,
    /// What was measured, beside what was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Vec<Verified>>,
}

/// What a person told of his path.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KnownPath {
    /// Who sends: `linux`, `quinn`, `noq` or `quic`.
    pub on: &'static str,
    /// Bottleneck rate.
    pub rate_bps: u64,
    /// Two-way propagation, seconds.
    pub rtt_s: f64,
    /// Size of the transfer.
    pub size_bytes: u64,
    /// Random loss, if it was told.
    pub loss: Option<f64>,
    /// Whether others are on the path.
    pub shared: bool,
}

/// Something that was not told.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Unknown {
    /// `buffer`, `loss`, `bursts`, `jitter`, `acks` or `others`.
    pub name: &'static str,
    /// What it can be, in words.
    pub between: String,
}

/// A control over all points.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name that the stack has for it.
    pub control: String,
    /// The control that the simulator ran in its place.
    pub simulated: String,
    /// Why it is among those to take: `own` or `quickest` of the gentle ones, `quicker` but not
    /// gentle, `gentler`, or the `next` that is quicker than the stack's own.
    pub role: Option<&'static str>,
    /// Whether it sends little again and leaves others their time.
    pub gentle: bool,
    /// The median of its times.
    pub median_s: f64,
    /// The shortest.
    pub least_s: f64,
    /// The longest.
    pub most_s: f64,
    /// Its time over that of the stack's own control, geometric mean.
    pub over_own: f64,
    /// Packets sent again over those of the transfer, mean.
    pub again: f64,
    /// Packets sent again over those of the transfer, most.
    pub most_again: f64,
    /// The time of the other flow over its time beside slow start, geometric mean; `null` alone.
    pub others: Option<f64>,
    /// Its times at the points, in their order; 3600 for one that was not done by then.
    pub seconds: Vec<f64>,
}

/// A condition on something unknown under which another control is quicker.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// What is unknown.
    pub unknown: &'static str,
    /// The condition, in words: `the buffer is below 0.3 BDP`.
    pub when: String,
    /// The control to take then.
    pub take: String,
    /// Its completion time over that of the advised control, geometric mean over these points.
    pub ratio: f64,
    /// How many points meet the condition.
    pub points: usize,
}

/// A control as it was measured on the path as told: with a buffer of a BDP, no loss and no jitter
/// where nothing was told of them, and an ACK for two packets.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The name that the stack has for it.
    pub control: String,
    /// The transport that measured.
    pub on: String,
    /// Its time in the simulator.
    pub simulated_s: f64,
    /// Its time as measured.
    pub measured_s: f64,
    /// What it sent again in the simulator, over the transfer.
    pub simulated_again: f64,
    /// What it sent again as measured.
    pub measured_again: f64,
}

/// A point, as it is printed.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Drawn {
    /// The buffer over the BDP.
    pub buffer_bdp: f64,
    /// The share lost at random.
    pub loss: f64,
    /// Whether losses come in bursts.
    pub bursts: bool,
    /// The most by which a packet is late, seconds.
    pub jitter_s: f64,
    /// Packets for which there is one ACK.
    pub acks: u64,
    /// The scenario of the catalogue whose other flow is there, on a shared path.
    pub others: Option<&'static str>,
}

impl Answer {
    pub(crate) fn new(request: &Request, table: &Table<'_>, bytes: u64) -> Self {
        let chosen = Chosen::of(table);
        let role = |at: usize| chosen.0.iter().find(|(of, _)| *of == at).map(|(_, role)| *role);
        let choice = |at: usize| Choice::of(table, at, role(at));
        let better = table.better_somewhere(chosen.0[0].0);
        let points = table.points.len() as f64;
        let mut answer = Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            told: KnownPath::of(request),
            unknown: words::unknown(request),
            simulated_bytes: bytes,
            interval: (points - 1.0) / (points + 1.0),
            sentences: Vec::new(),
            take: chosen.0.iter().map(|(at, _)| choice(*at)).collect(),
            own: choice(0),
            changes: better.iter().map(|better| Change::of(table, better)).collect(),
            controls: (0..table.candidates.len()).map(choice).collect(),
            points: table.points.iter().map(|point| Drawn::of(request, point)).collect(),
            verified: None,
        };
        answer.sentences = words::sentences(request, &answer);
        answer
    }

    /// Measures the advised control and the stack's own on the path as it was told, and simulates
    /// them there.
    ///
    /// # Errors
    /// A control that the transport does not carry, what the machine lacks, or an interruption.
    pub fn verify(
        &mut self,
        request: &Request,
        transport: &dyn Transport,
        options: &Options<'_>,
    ) -> Result<(), RunError> {
        let mut both = vec![&self.take[0]];
        both.extend(Some(&self.own).filter(|own| own.control != self.take[0].control));
        let of = |name: fn(&Choice) -> &String| both.iter().map(|it| name(it).clone()).collect();
        let (names, models): (Vec<String>, Vec<String>) =
            (of(|choice| &choice.control), of(|choice| &choice.simulated));
        let plain = request.plain();
        let simulated = at(request, &models, &plain, &Simulator::TCP, options)?;
        let measured = at(request, &names, &plain, transport, options)?;
        let on = transport.name();
        let rows = names.into_iter().zip(simulated.iter().zip(&measured));
        let row = |(control, (simulated, measured)): (String, (&Cost, &Cost))| Verified {
            control,
            on: on.to_owned(),
            simulated_s: simulated.seconds,
            measured_s: measured.seconds,
            simulated_again: simulated.again,
            measured_again: measured.again,
        };
        self.verified = Some(rows.map(row).collect());
        Ok(())
    }
}

/// The controls worth taking, with why.
pub(crate) struct Chosen(pub(crate) Vec<(usize, &'static str)>);

impl Chosen {
    pub(crate) fn of(table: &Table<'_>) -> Self {
        if table.request.is_in_first_window() {
            return Self(vec![(0, "own")]);
        }
        let take = table.take();
        let mut chosen = vec![(take, if take == 0 { "own" } else { "quickest" })];
        let all: Vec<usize> = table.complete().collect();
        let quicker = table.quickest(&all).filter(|at| table.over(*at, take) < 1.0 - EQUAL);
        chosen.extend(quicker.map(|at| (at, "quicker")));
        let gentler = all.iter().copied().filter(|at| {
            let is_worth_it =
                table.again(*at) < table.again(take) / 2.0 && table.over(*at, take) < SLOWER;
            is_worth_it && table.again(take) > NOTHING && table.is_gentle(*at)
        });
        chosen.extend(table.quickest(&gentler.collect::<Vec<_>>()).map(|at| (at, "gentler")));
        let next = all.into_iter().filter(|at| {
            let is_taken = chosen.iter().any(|(other, _)| other == at);
            !is_taken && table.is_gentle(*at) && table.over(*at, 0) < 1.0 - EQUAL
        });
        let next = table.quickest(&next.collect::<Vec<_>>()).filter(|_| chosen.len() < MOST);
        chosen.extend(next.map(|at| (at, "next")));
        Self(chosen)
    }
}

impl KnownPath {
    fn of(request: &Request) -> Self {
        Self {
            on: request.stack.name(),
            rate_bps: request.rate_bps,
            rtt_s: request.rtt_ns as f64 / 1e9,
            size_bytes: request.size_bytes,
            loss: request.given_loss(),
            shared: request.shared,
        }
    }
}

impl Choice {
    fn of(table: &Table<'_>, at: usize, role: Option<&'static str>) -> Self {
        let runs = &table.runs[at];
        let mut times: Vec<f64> = runs.iter().map(|took| took.seconds).collect();
        let seconds = times.clone();
        times.sort_by(f64::total_cmp);
        let middle = times.len() / 2;
        let median = (times[middle] + times[(times.len() - 1) / 2]) / 2.0;
        Self {
            control: table.candidates[at].name.clone(),
            simulated: table.candidates[at].model.clone(),
            role,
            gentle: table.is_gentle(at),
            median_s: median,
            least_s: times[0],
            most_s: times[times.len() - 1],
            over_own: table.over(at, 0),
            again: table.again(at),
            most_again: runs.iter().map(|took| took.again).fold(0.0, f64::max),
            others: table.harm(at),
            seconds,
        }
    }
}

impl Change {
    pub(crate) fn of(table: &Table<'_>, better: &Better) -> Self {
        Self {
            unknown: words::name(better.of),
            when: words::when(better.of, better.side),
            take: table.candidates[better.candidate].name.clone(),
            ratio: better.ratio,
            points: better.points,
        }
    }
}

impl Drawn {
    fn of(request: &Request, point: &Point) -> Self {
        let Point { buffer_bdp, loss, bursts, jitter_s, acks, .. } = *point;
        let others = request.shared.then(|| words::code(point.others));
        Self { buffer_bdp, loss, bursts, jitter_s, acks, others }
    }
}

/// A gentler control may take so much longer, as others may by rule R3 of `judge`.
const SLOWER: f64 = crate::choose::HARM;
/// Controls worth taking.
const MOST: usize = 3;
/// The largest share of bytes sent again that is still taken for none.
const NOTHING: f64 = 0.001;
