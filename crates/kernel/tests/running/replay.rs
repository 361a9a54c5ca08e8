//! Replays the kernel's records in the Rust core.

use std::collections::HashMap;

use firstflight_control::Control;
use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
use firstflight_core::conformance::Recorder;
use firstflight_core::event::{Ack, Loss, LossKind, Sent};
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::needs::Facilities;
use firstflight_core::pacing::Pacing;
use firstflight_core::pair::Pair;
use firstflight_core::policy::Exit;
use firstflight_core::sender::{Config, Sender, StartupExit};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Window;
use firstflight_kernel::PROVIDES;
use firstflight_kernel::record::{Kind, Record};
use firstflight_kernel::watch::End;

/// A sender of the Rust core, whose start-up also checks the events that it gets.
type CoreSender = Sender<Pair<Recorder<ChosenStartup>, ChosenAvoidance>>;

/// Every connection's sender.
pub(crate) struct Replay {
    control: Control,
    connections: HashMap<(u32, u32), Connection>,
    /// How often start-up's pace was compared.
    pub(crate) paced: u64,
}

struct Connection {
    sender: CoreSender,
    first: Record,
    last: Record,
}

impl Replay {
    pub(crate) fn new(control: &str) -> Self {
        let control = Control::named(control).unwrap();
        Self { control, connections: HashMap::new(), paced: 0 }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Replays a record in the connection's sender, and compares its window with the kernel's.
    pub(crate) fn take(&mut self, record: &Record) {
        if record.kind == Kind::New {
            let (sender, first, last) = (self.begin(record), *record, *record);
            let connection = Connection { sender, first, last };
            self.connections.insert(record.ports, connection);
        }
        let connection =
            self.connections.get_mut(&record.ports).expect("a connection begins first");
        connection.last = *record;
        replay_sends(&mut connection.sender, record, connection.first.sent);
        let sender = &mut connection.sender;
        replay(sender, record);
        // The kernel's own rate at an ACK is that of what follows a train.
        if let Some((length, _)) = sender.pacing().and_then(|pacing| pacing.first) {
            sender.on_paced(length);
        }
        let text = &self.control.full;
        let core = (sender.cwnd().0, sender.ssthresh().0);
        assert_eq!(
            core,
            (record.cwnd, record.ssthresh),
            "{text}: core and kernel after {record:?}"
        );
        let has_exit = self.control.needs().all().has(Facilities::TIMES);
        if has_exit && matches!(record.kind, Kind::Ack | Kind::Loss) {
            same_exit(text, sender.first_exit(), record);
        }
        if record.kind == Kind::Wrote {
            let mss = u64::from(record.mss);
            let segments = |bytes: u64| u32::try_from(bytes / mss).unwrap_or(u32::MAX);
            assert_eq!(segments(core.0).max(1), record.snd_cwnd, "{text}: cwnd of {record:?}");
            let ssthresh = segments(core.1).clamp(1, LARGEST_SSTHRESH);
            assert_eq!(ssthresh, record.snd_ssthresh, "{text}: ssthresh of {record:?}");
            // After start-up the default holds, which is the kernel's.
            let sets = sender.first_exit().is_none() && sender.pacing().is_some();
            if let Some(Pacing { rate, .. }) = sender.pacing().filter(|_| sets) {
                assert_eq!(rate.0, record.pacing_rate, "{text}: pace of {record:?}");
                self.paced += 1;
            }
        }
    }

    /// Checks that for every connection what the kernel provides came once and in order, and that
    /// the totals are the socket's own. Returns how many connections were checked.
    pub(crate) fn check(&self) -> usize {
        let text = &self.control.full;
        let checked = self.connections.values().filter(|it| it.last.sent > MIN_SENT);
        checked
            .map(|Connection { sender, first, last }| {
                let report = sender.policies().startup().report();
                let wrong = report.check(Facilities::TIMES).err().unwrap_or_default();
                // The kernel reports what it believes lost. Where that arrives in the end, more was
                // delivered or lost than was sent.
                let wrong: Vec<&str> =
                    wrong.lines().filter(|line| !line.contains(" lost of ")).collect();
                assert!(wrong.is_empty(), "{text}: {}", wrong.join("\n"));
                // A program may choose its control after it has sent something.
                let begins = u64::from(first.sent == 0);
                assert_eq!((report.handshakes, report.begins), (1, begins), "{text}");
                assert_eq!(report.acked.0, last.acked - first.acked, "{text}: acknowledged");
                // SND.NXT counts the FIN.
                let beyond = sender.view().sent.0 - (last.sent - first.sent);
                assert!(beyond <= 1, "{text}: sent {:?}, {last:?}", sender.view().sent);
            })
            .count()
    }

    fn begin(&self, record: &Record) -> CoreSender {
        let [mss, initial_window, initial_ssthresh, max_cwnd, ..] = record.numbers.map(Bytes);
        let (startup, avoidance) = (self.control.startup.clone(), self.control.avoidance.clone());
        let config = Config {
            mss,
            initial_window,
            initial_ssthresh,
            max_cwnd,
            // Both are the kernel's: it says by app_limited that a window is not used.
            limit_growth_to_flight: false,
            segment_per_ack: false,
            paces: false,
        };
        Sender::new(Recorder::around(startup, PROVIDES), avoidance, config)
    }
}

/// Replays what has left since the last event: new data, of which an ACK has the position, and what
/// was sent again, for which not every sender of the kernel asks.
fn replay_sends(sender: &mut CoreSender, record: &Record, at_start: u64) {
    let view = sender.view();
    let new = match record.kind {
        Kind::Ack => Bytes(record.numbers[5]) - view.snd_nxt,
        // What has left again follows from the total.
        Kind::Sent if record.numbers[3] == 0 => Bytes(record.numbers[1]),
        Kind::Sent | Kind::Loss => Bytes(0),
        _ => return,
    };
    let again = Bytes(record.sent - at_start) - view.sent - new;
    let now = Instant(record.numbers[0]);
    let in_flight = match record.kind {
        Kind::Sent => Bytes(record.numbers[2]),
        _ => view.snd_nxt + new - view.acked,
    };
    for (bytes, again) in [(new, false), (again, true)] {
        if bytes > Bytes(0) {
            sender.on_sent(&Sent { now, bytes, in_flight, again });
        }
    }
}

/// The control writes into the socket the exit of start-up that the core has. In the core the
/// kernel's answer to a mark is a loss; what avoidance adds on the last ACK of start-up is not
/// start-up's.
fn same_exit(text: &str, core: Option<StartupExit>, record: &Record) {
    let why = core.map(|exit| match exit.why {
        Exit::Threshold => Exit::Heuristic,
        Exit::Mark => Exit::Loss,
        why => why,
    });
    let exit = record.exit.map(|exit| match exit.end {
        End::Heuristic => Exit::Heuristic,
        End::Timeout => Exit::Timeout,
        _ => Exit::Loss,
    });
    assert_eq!(exit, why, "{text}: the end of start-up in {record:?}");
    if let (Some(core), Some(exit)) = (core, record.exit) {
        let cwnd = core.cwnd.0 / u64::from(record.mss);
        let apart = cwnd.abs_diff(exit.cwnd.into());
        assert!(apart <= 1, "{text}: start-up ended at {cwnd} segments, {record:?}");
    }
}

fn replay(sender: &mut CoreSender, record: &Record) {
    let numbers = record.numbers;
    match record.kind {
        Kind::New | Kind::Sent | Kind::Wrote => {}
        Kind::Handshake => sender.on_handshake(Instant(numbers[0]), Span(numbers[1])),
        Kind::Begin => sender.begin(Instant(numbers[0])),
        Kind::Ack => {
            let [now, acked, credited, rtt, in_flight, snd_nxt, app_limited] = numbers;
            sender.on_ack(&Ack {
                now: Instant(now),
                acked: Bytes(acked),
                credited: Bytes(credited),
                rtt: (rtt != u64::MAX).then_some(Span(rtt)),
                in_flight: Bytes(in_flight),
                snd_nxt: Bytes(snd_nxt),
                app_limited: app_limited != 0,
                ..Ack::default()
            });
        }
        Kind::Loss => {
            let [now, lost, flight, timeout, again, answered, ..] = numbers;
            let kind = if timeout == 1 { LossKind::Timeout } else { LossKind::Recovery };
            let (now, lost, flight) = (Instant(now), Bytes(lost), Bytes(flight));
            let (again, answered) = (again != 0, answered != 0);
            sender.on_loss(&Loss { again, answered, ..Loss::of(now, kind, lost, flight) });
        }
        Kind::Recovered => {
            sender.on_recovered((numbers[0] != u64::MAX).then_some(Bytes(numbers[0])));
        }
        Kind::Wake => sender.on_wake(Instant(numbers[0])),
        Kind::Paced => sender.endpoint_paces(if numbers[0] == 0 { 0 } else { LINUX_PERCENT }),
        Kind::Spurious => sender.on_spurious_loss(),
        Kind::Rest => sender.on_rest(Instant(numbers[0]), Span(numbers[1]), None),
        Kind::Mss => sender.set_mss(Bytes(numbers[0])),
        Kind::Hint => {
            let [now, cwnd, ssthresh, rtt, min_rtt, per_round, age] = numbers;
            let learned = Learned {
                window: Window { cwnd: Bytes(cwnd), ssthresh: Bytes(ssthresh) },
                rtt: Span(rtt),
                min_rtt: Span(min_rtt),
                // Not recorded, and used by no start-up that has C.
                delivered: Bytes(per_round),
                per_round: Bytes(per_round),
                rate: None,
                age: Span(age),
            };
            sender.on_hint(Instant(now), &PathHint::Own(learned));
        }
    }
}

/// A connection that carries data, and not only what programs agree on.
const MIN_SENT: u64 = 100_000;

/// A window and as much again per RTT (`net.ipv4.tcp_pacing_ss_ratio`).
const LINUX_PERCENT: u16 = 200;

/// What the kernel calls no threshold yet.
pub(crate) const LARGEST_SSTHRESH: u32 = 0x7fff_ffff;
