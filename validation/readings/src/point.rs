//! Where two controllers meet, and what is compared of them.

use crate::explained::Accepted;
use crate::ours::Ours;
use crate::path::{Path, SECOND, Seen, Sending, run};
use crate::peer::Peer;
use crate::reading::Reading;
use crate::s2n::S2n;

/// A controller of the core beside another one, over a path.
pub(crate) struct Point {
    pub(crate) name: &'static str,
    pub(crate) path: Path,
    pub(crate) ours: &'static str,
    pub(crate) other: Other,
    pub(crate) compared: &'static [What],
}

/// Who stands beside the core.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other {
    /// A plain reading of RFC 9002's NewReno.
    NewReno,
    /// A plain reading of RFC 9438.
    Cubic,
    /// A plain reading of RFC 9406, with RFC 9438 after it.
    HystartPp,
    S2nCubic,
    S2nBbr,
}

/// A number, or a row of them, that is compared.
#[derive(Clone, Copy, Debug)]
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

impl Other {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NewReno => "RFC 9002",
            Self::Cubic => "RFC 9438",
            Self::HystartPp => "RFC 9406",
            Self::S2nCubic => "s2n-quic's CUBIC",
            Self::S2nBbr => "s2n-quic's BBR",
        }
    }

    fn peer(self) -> Box<dyn Peer> {
        match self {
            Self::NewReno => Box::new(Reading::new_reno()),
            Self::Cubic => Box::new(Reading::cubic()),
            // RFC 9406 section 4.3: a paced sender has no limit L, and QUIC's senders are paced.
            Self::HystartPp => Box::new(Reading::hystart_pp(f64::INFINITY)),
            Self::S2nCubic => Box::new(S2n::cubic()),
            Self::S2nBbr => Box::new(S2n::bbr()),
        }
    }
}

impl What {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Seconds => "seconds",
            Self::Exit => "exit",
            Self::Queue => "queue",
            Self::Drops => "drops",
        }
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
    /// What both show.
    pub(crate) fn run(&self) -> [Seen; 2] {
        let ours = run(self.path, &mut Ours::new(self.ours));
        [ours, run(self.path, &mut *self.other.peer())]
    }
}

const LONG: Path = Path {
    rate: 20_000_000,
    rtt: 100_000_000,
    buffer: None,
    sending: Sending::Bursts,
    ack_every: 1,
    lasts: 5 * SECOND,
};

const SHORT: Path = Path { rtt: 60_000_000, buffer: Some(125), lasts: 30 * SECOND, ..LONG };

const FAST: Path = Path {
    rate: 100_000_000,
    rtt: 40_000_000,
    buffer: Some(1_666),
    sending: Sending::OwnRate,
    ack_every: 2,
    lasts: 2 * SECOND,
};

const START: &[What] = &[What::Rounds, What::Exit];

/// All points. The first are those on which this comparison began.
pub(crate) const POINTS: &[Point] = &[
    Point {
        name: "hystart-pp-bursts",
        path: LONG,
        ours: "hystart-pp+cubic",
        other: Other::HystartPp,
        compared: START,
    },
    Point {
        name: "hystart-pp-every-second",
        path: Path { ack_every: 2, ..LONG },
        ours: "hystart-pp+cubic",
        other: Other::HystartPp,
        compared: START,
    },
    Point {
        name: "hystart-pp-paced",
        path: Path { sending: Sending::Paced(200), ..LONG },
        ours: "hystart-pp+cubic",
        other: Other::HystartPp,
        compared: START,
    },
    Point {
        name: "hystart-pp-as-quinn",
        path: Path { sending: Sending::AsQuinn, ack_every: 2, ..LONG },
        ours: "hystart-pp+cubic",
        other: Other::HystartPp,
        compared: START,
    },
    Point {
        name: "hystart-pp-as-quinn-1bdp",
        path: Path { sending: Sending::AsQuinn, ack_every: 2, buffer: Some(208), ..LONG },
        ours: "hystart-pp+cubic",
        other: Other::HystartPp,
        compared: &[What::Rounds, What::Drops],
    },
    Point {
        name: "newreno",
        path: SHORT,
        ours: "newreno",
        other: Other::NewReno,
        compared: &[What::Rounds, What::Seconds, What::Drops],
    },
    Point {
        name: "newreno-as-quinn",
        path: Path { sending: Sending::AsQuinn, ack_every: 2, ..SHORT },
        ours: "newreno",
        other: Other::NewReno,
        compared: &[What::Rounds, What::Seconds, What::Drops],
    },
    Point {
        name: "cubic",
        path: SHORT,
        ours: "cubic",
        other: Other::Cubic,
        compared: &[What::Rounds, What::Seconds, What::Drops],
    },
    Point {
        name: "cubic-as-quinn",
        path: Path { sending: Sending::AsQuinn, ack_every: 2, ..SHORT },
        ours: "cubic",
        other: Other::Cubic,
        compared: &[What::Rounds, What::Seconds, What::Drops],
    },
    Point {
        name: "hystart-s2n",
        path: LONG,
        ours: "hystart+cubic",
        other: Other::S2nCubic,
        compared: START,
    },
    Point {
        name: "bbr-fast",
        path: FAST,
        ours: "bbr",
        other: Other::S2nBbr,
        compared: &[What::Queue, What::Drops],
    },
    Point {
        name: "bbr-2bdp",
        path: Path { buffer: Some(416), sending: Sending::OwnRate, ack_every: 2, ..LONG },
        ours: "bbr",
        other: Other::S2nBbr,
        compared: &[What::Queue, What::Drops],
    },
    Point {
        name: "bbr-1bdp",
        path: Path { buffer: Some(208), sending: Sending::OwnRate, ack_every: 2, ..LONG },
        ours: "bbr",
        other: Other::S2nBbr,
        compared: &[What::Queue, What::Drops],
    },
];
