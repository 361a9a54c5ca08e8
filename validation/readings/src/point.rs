//! Where two controllers meet, and what is compared of them.

use serde::Deserialize;

use crate::explained::Accepted;
use crate::ours::Ours;
use crate::path::{Path, Seen, run};
use crate::peer::Peer;
use crate::reading::Reading;
use crate::s2n::S2n;

/// A controller of the core beside another one, over a path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) path: Path,
    pub(crate) ours: String,
    /// One of [`OTHERS`].
    pub(crate) other: String,
    pub(crate) compared: Vec<What>,
}

/// A number, or a row of them, that is compared.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// The window as each round begins, until one of them leaves start-up or has a loss.
    Rounds,
    /// The window at each second.
    Seconds,
    /// The window on leaving start-up.
    Exit,
    /// The longest queue until start-up is over, Drain included.
    Queue,
    /// Packets dropped.
    Drops,
}

impl What {
    /// As the file of points has it.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The numbers compared of both.
    fn of(self, ours: &Seen, other: &Seen) -> [Vec<f64>; 2] {
        let both = [ours, other];
        match self {
            Self::Rounds => {
                let most = both.map(in_start).into_iter().min().unwrap_or(0);
                both.map(|seen| seen.rounds[..most.min(seen.rounds.len())].to_vec())
            }
            Self::Seconds => both.map(|seen| seen.seconds.clone()),
            Self::Exit => both.map(|seen| seen.exit.iter().map(|exit| exit.window).collect()),
            Self::Queue => both.map(|seen| vec![seen.peak_queue as f64]),
            Self::Drops => both.map(|seen| vec![seen.drops as f64]),
        }
    }

    /// By how much two numbers may differ: what rounding to whole bytes and samples in integers
    /// leave; and a twentieth of a queue, because the versions of BBR average differently.
    fn accepted(self) -> Accepted {
        let (percent, least) = match self {
            Self::Rounds | Self::Exit => (0.1, 1.0),
            Self::Seconds => (0.5, 1.0),
            Self::Queue => (5.0, 0.0),
            Self::Drops => (2.0, 2.0),
        };
        Accepted { percent, least }
    }

    /// Where they differ most by this measure, if anywhere: the place and both numbers.
    pub(crate) fn difference(self, ours: &Seen, other: &Seen) -> Option<String> {
        let [ours, other] = self.of(ours, other);
        if ours.len() != other.len() {
            return Some(format!("{} of {} numbers", ours.len(), other.len()));
        }
        let off = |(at, (ours, other)): (usize, (&f64, &f64))| {
            (!self.accepted().holds(*ours, *other)).then_some((at, *ours, *other))
        };
        let (at, ours, other) = ours.iter().zip(&other).enumerate().find_map(off)?;
        Some(format!("{ours:.1} for {other:.1} at place {at}"))
    }
}

/// Rounds that began before start-up ended; with a loss it ends, too.
fn in_start(seen: &Seen) -> usize {
    let falls = seen.rounds.windows(2).position(|pair| pair[1] < pair[0]);
    let left = seen.exit.and_then(|exit| seen.rounds.iter().position(|it| *it > exit.window));
    [falls.map(|at| at + 1), left].into_iter().flatten().min().unwrap_or(seen.rounds.len())
}

impl Point {
    /// The points of the file.
    ///
    /// # Errors
    /// What is no point, or stands beside nobody.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        #[derive(Deserialize)]
        struct File {
            point: Vec<Point>,
        }
        let File { point: points } =
            toml::from_str(include_str!("../points.toml")).map_err(|error| error.to_string())?;
        match points.iter().find(|point| point.peer().is_none()) {
            Some(point) => {
                let known = OTHERS.map(|(name, _)| name).join(", ");
                Err(format!("{}: found {}, accepted: {known}", point.name, point.other))
            }
            None => Ok(points),
        }
    }

    fn peer(&self) -> Option<Box<dyn Peer>> {
        OTHERS.iter().find(|(name, _)| *name == self.other).map(|(_, peer)| peer())
    }

    /// What both show.
    pub(crate) fn run(&self) -> [Seen; 2] {
        let ours = run(self.path, &mut Ours::new(&self.ours));
        let other = self.peer().map(|mut peer| run(self.path, &mut *peer));
        [ours, other.unwrap_or_default()]
    }
}

/// Makes a controller as new.
type Make = fn() -> Box<dyn Peer>;

/// Who stands beside the core.
const OTHERS: [(&str, Make); 5] = [
    ("RFC 9002", || Box::new(Reading::new_reno())),
    ("RFC 9438", || Box::new(Reading::cubic())),
    // RFC 9406 section 4.3: a paced sender has no limit L, and QUIC's senders are paced.
    ("RFC 9406", || Box::new(Reading::hystart_pp(f64::INFINITY))),
    ("s2n-quic's CUBIC", || Box::new(S2n::cubic())),
    ("s2n-quic's BBR", || Box::new(S2n::bbr())),
];
