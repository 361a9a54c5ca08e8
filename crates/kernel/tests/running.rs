//! In the running kernel: what it did to real flows is what the Rust core does with the same
//! events, its verifier never loses its bounds over any control, and loading and unloading leave
//! nothing behind.
//!
//! Needs root, BPF and network namespaces; where one is missing each test says that it was
//! skipped, and with FIRSTFLIGHT_REQUIRE_BPF=1 it fails instead. FIRSTFLIGHT_CONTROLS, words apart,
//! are replayed instead of all, one after the other.

mod running {
    pub(crate) mod dealt;
    pub(crate) mod floods;
    pub(crate) mod flow;
    pub(crate) mod load;
    pub(crate) mod network;
    pub(crate) mod paths;
    pub(crate) mod replay;
    pub(crate) mod verifier;
    pub(crate) mod watching;
}

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::knob::KnobKind;
use firstflight_core::needs::Facilities;
use firstflight_kernel::catalogue::{PAIRS, available, distinct};
use firstflight_kernel::cgroup::Cgroup;
use firstflight_kernel::load::Options;
use firstflight_kernel::record::{Kind, Record};
use firstflight_kernel::requirements;
use firstflight_kernel::steer::{self, Counts, Rule};
use firstflight_kernel::trial::dealing;
use firstflight_kernel::watch::default_cgroup;
use firstflight_kernel::{KernelControl, LoadError, Registered};

use running::flow::{Flow, Given, rest_once, send_full_segments};
use running::network::{Network, has_tools, wait_until};
use running::replay::{LARGEST_SSTHRESH, Replay};
use running::verifier::STRICT;

/// Whether this machine can run a test; says why not.
fn able() -> bool {
    let lack = match requirements::check() {
        Err(lack) => lack.to_string(),
        Ok(_) if !has_tools() => "needs ip and tc (iproute2)".to_owned(),
        Ok(_) => return true,
    };
    skip(&lack);
    false
}

fn skip(why: &str) {
    eprintln!("skipped: {why}");
    assert!(std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_none(), "BPF is required here: {why}");
}

/// The cgroup of all; says why if there is none.
fn cgroup() -> Option<PathBuf> {
    let found = default_cgroup();
    if found.is_none() {
        skip("no cgroup2 file system is mounted");
    }
    found
}

fn load(text: &str, name: &str) -> Result<Registered, LoadError> {
    load_with(text, Options { name: Some(name.to_owned()), ..Options::default() })
}

fn load_with(text: &str, options: Options) -> Result<Registered, LoadError> {
    let control = KernelControl::new(&Control::named(text).unwrap()).unwrap();
    Registered::load(&control, &options)
}

#[test]
fn the_core_replays_what_the_kernel_did() {
    if !able() {
        return;
    }
    let few = std::env::var("FIRSTFLIGHT_CONTROLS").ok();
    let at_once = if few.is_some() { 1 } else { AT_ONCE };
    let some = few.map(|few| few.split_whitespace().map(str::to_owned).collect());
    let texts: Vec<String> = some.unwrap_or_else(controls);
    std::thread::scope(|scope| {
        for first in 0..at_once {
            let mine = texts.iter().enumerate().skip(first).step_by(at_once);
            scope.spawn(move || {
                let network = Network::new(first);
                mine.for_each(|(number, text)| replay(&network, number, text));
            });
        }
    });
}

/// A kernel that leaves calls out reduces to a threshold that nobody gave. With the next ACK it has
/// the sender's: beginnings and losses are reported to the sender late.
#[test]
fn what_a_kernel_leaves_out_is_made_good() {
    if !able() {
        return;
    }
    let network = Network::new(100);
    for (number, text) in ["astart", "mstart", "newreno"].into_iter().enumerate() {
        let records = recorded(&network, 100 + number, text, true, |records| {
            (count(records, Kind::Loss) == 0).then(|| "no loss was recorded".to_owned())
        });
        let stray = |record: &&Record| record.snd_ssthresh > LARGEST_SSTHRESH;
        let late = records.iter().filter(|record| record.kind == Kind::Ack).find(stray);
        assert!(late.is_none(), "{text}: {late:?}");
    }
}

/// Careful Resume finds what the connection before learned, and jumps.
#[test]
fn what_a_connection_learned_is_handed_to_the_next() {
    if !able() {
        return;
    }
    let name = Some(format!("ff_m_{}", std::process::id() % 10_000));
    let options = Options { name, recording: true, ..Options::default() };
    let control = load_with("careful-resume+cubic", options).unwrap();
    let network = Network::new(200);
    for _ in 0..2 {
        let flow = Flow::start(&network, control.name(), Given::BeforeItConnects);
        flow.carry(SIZE);
        flow.end();
    }
    let records = control.records().unwrap();
    let mut replay = Replay::new("careful-resume+cubic");
    records.iter().for_each(|record| replay.take(record));
    let hints: Vec<&Record> = records.iter().filter(|it| it.kind == Kind::Hint).collect();
    println!("{} hints, of which the pace was compared {} times", hints.len(), replay.paced);
    assert_eq!(hints.len(), 1, "of two connections the second has a hint");
    let [_, cwnd, _, rtt, min_rtt, per_round, age] = hints[0].numbers;
    assert!(cwnd > 0 && rtt >= min_rtt && min_rtt > 0 && per_round > 0, "{:?}", hints[0]);
    assert!((1..60_000_000_000).contains(&age), "{:?}", hints[0]);
}

/// The last segment's FIN has a byte that is acknowledged, and is in no segment of its own: as much
/// was delivered as is acknowledged.
#[test]
fn a_fin_with_the_last_full_segment_is_delivered_with_it() {
    if !able() {
        return;
    }
    let name = Some(format!("ff_f_{}", std::process::id() % 10_000));
    let options = Options { name, recording: true, ..Options::default() };
    let control = load_with("slow-start+westwood", options).unwrap();
    send_full_segments(&Network::new(201), control.name(), 200);
    let mut replay = Replay::new("slow-start+westwood");
    control.records().unwrap().iter().for_each(|record| replay.take(record));
    assert_eq!(replay.check(), 1);
}

/// CUBIC's clock stands still while the source rests.
#[test]
fn a_control_with_on_rest_gets_the_length_of_a_rest() {
    if !able() {
        return;
    }
    let name = Some(format!("ff_r_{}", std::process::id() % 10_000));
    let options = Options { name, recording: true, ..Options::default() };
    let control = load_with("slow-start+cubic", options).unwrap();
    rest_once(&Network::new(202), control.name(), Duration::from_millis(300));
    let records = control.records().unwrap();
    let mut replay = Replay::new("slow-start+cubic");
    records.iter().for_each(|record| replay.take(record));
    assert_eq!(replay.check(), 1);
    let rests = records.iter().filter(|record| record.kind == Kind::Rest);
    let longest = rests.map(|record| record.numbers[1]).max().unwrap();
    assert!((250_000_000..60_000_000_000).contains(&longest), "{longest} ns");
}

/// A program may choose its control while the connection opens, and its SYN may carry data: the
/// control decides on all that leaves after the handshake.
#[test]
fn a_control_begins_after_the_handshake_however_it_was_chosen() {
    if !able() {
        return;
    }
    let ways = [Given::BeforeItConnects, Given::WhileItConnects, Given::BeforeFastOpen];
    // One whose state is within the socket, and one that paces: their first windows.
    let texts = [("liw", 64), ("rapid-start", 20)];
    for (number, (text, window)) in texts.into_iter().enumerate() {
        let name = Some(format!("ff_b{number}_{}", std::process::id() % 10_000));
        let options = Options { name, recording: true, ..Options::default() };
        let control = load_with(text, options).unwrap();
        let network = Network::new(300 + number);
        for given in ways {
            let flow = Flow::start(&network, control.name(), given);
            flow.carry(SIZE);
            flow.end();
            let records = control.records().unwrap();
            let mut replay = Replay::new(text);
            records.iter().for_each(|record| replay.take(record));
            let first = |kind| records.iter().position(|record| record.kind == kind);
            assert!(first(Kind::Begin).is_some(), "{text}, {given:?}: it never began");
            assert!(first(Kind::Begin) < first(Kind::Ack), "{text}, {given:?}: it began late");
            assert_eq!(count(&records, Kind::New), 1, "{text}, {given:?}");
            let wrote = first(Kind::Wrote).map(|at| records[at].snd_cwnd);
            assert_eq!(wrote, Some(window), "{text}, {given:?}");
        }
    }
}

/// Rules give new connections their control before the first data, change while connections go on,
/// and leave the application its own choice.
#[test]
fn rules_steer_new_connections_and_are_undone() {
    let Some((cgroup, _lock)) = exclusive() else { return };
    assert!(steer::list().unwrap().is_empty(), "rules of somebody else hold on this machine");
    // What a command leaves that was killed before it attached the program.
    fs::DirBuilder::new().mode(0o700).create("/sys/fs/bpf/firstflight-steer").unwrap();
    assert_eq!(steer::list().unwrap(), []);
    let name = Some(format!("ff_s_{}", std::process::id() % 10_000));
    let options = Options { name, recording: true, ..Options::default() };
    let control = load_with("liw", options).unwrap();
    let network = Network::new(599);
    let _undone = ClearedOnDrop;
    let rule = |length: u8, per_mille, control: &str| Rule {
        to: format!("{}/{length}", network.address(2, 0)).parse().unwrap(),
        port: None,
        per_mille,
        control: control.to_owned(),
        cgroup: None,
    };
    let unknown = steer::set(&cgroup, &[rule(16, 1000, "ff_none")]).unwrap_err();
    assert!(unknown.to_string().contains("no control `ff_none`"), "{unknown}");
    // The narrower prefix decides: this is all of it, and nothing of the other.
    let narrow = rule(24, 1000, control.name());
    steer::set(&cgroup, &[rule(16, 1000, "reno"), narrow.clone()]).unwrap();
    Flow::start(&network, "reno", Given::ByOthers).end();
    let records = control.records().unwrap();
    let wrote = records.iter().find(|record| record.kind == Kind::Wrote).unwrap();
    assert_eq!((records[0].kind, wrote.snd_cwnd), (Kind::New, 64), "{records:?}");
    Flow::start(&network, "reno", Given::BeforeItConnects).end();
    assert_eq!(control.records().unwrap().len(), 0, "the application had chosen reno");
    let counts = |at: usize| steer::list().unwrap()[at].1;
    assert_eq!((counts(0).matched, counts(0).steered, counts(0).own_choice), (2, 1, 1));
    // The listener's ends: their peer is in the other subnet.
    assert_eq!((counts(1).matched, counts(1).steered), (2, 2));
    // A route that insists on its own control refuses any other.
    network.lock_control("reno");
    Flow::start(&network, "reno", Given::ByOthers).end();
    assert_eq!((counts(0).failed, counts(0).last_error), (1, 1), "EPERM");
    network.unlock_control();
    steer::set(&cgroup, &[Rule { per_mille: 200, ..narrow }]).unwrap();
    (0..200).for_each(|_| Flow::start(&network, "reno", Given::ByOthers).end());
    let Counts { matched, steered, failed, .. } = counts(0);
    println!("{steered} of {matched} steered at 20 %");
    assert_eq!((matched, failed), (200, 0));
    // Four standard deviations of a binomial.
    assert!((18..=62).contains(&steered), "{steered} of {matched}");
    assert!(steer::clear().unwrap() && !steer::clear().unwrap());
    control.records().unwrap();
    Flow::start(&network, "reno", Given::ByOthers).end();
    assert_eq!(control.records().unwrap().len(), 0, "no rule holds any more");
}

/// A socket counts to the cgroup in which it was made, and to those above.
#[test]
fn a_rule_may_be_for_a_cgroup_and_those_below() {
    let Some((root, _lock)) = exclusive() else { return };
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap();
    let above = root.join(format!("fft{}", std::process::id()));
    let below = above.join("below");
    fs::create_dir_all(&below).unwrap();
    let enter = |folder: &Path| fs::write(folder.join("cgroup.procs"), "0").unwrap();
    let network = Network::new(598);
    let _undone = ClearedOnDrop;
    let matched = |folder: &Path| {
        let cgroup = Cgroup::of(folder).unwrap();
        assert_eq!(cgroup.folder().as_deref(), Some(folder));
        let to = format!("{}/24", network.address(2, 0)).parse().unwrap();
        let control = "reno".to_owned();
        let cgroup = Some(cgroup);
        steer::set(&root, &[Rule { to, port: None, per_mille: 1000, control, cgroup }]).unwrap();
        Flow::start(&network, "reno", Given::ByOthers).end();
        steer::list().unwrap()[0].1.matched
    };
    assert_eq!(matched(&above), 0, "made outside of it");
    enter(&below);
    let found = [&above, &below, &root].map(|folder| matched(folder));
    enter(&above);
    let from_above = matched(&below);
    enter(&root.join(own));
    // A command of a test that runs at the same time may have begun in it.
    for folder in [below, above] {
        wait_until("the folder's removal", || fs::remove_dir(&folder).is_ok());
    }
    assert_eq!((found, from_above), ([1; 3], 0));
}

/// One test at a time sets rules, floods the host, or relies on a report of every connection.
static EXCLUSIVE: Mutex<()> = Mutex::new(());

/// Waits for [`EXCLUSIVE`], and returns the root cgroup with the lock. Where BPF cannot be used it
/// prints that the test is skipped, and returns `None`.
fn exclusive() -> Option<(PathBuf, MutexGuard<'static, ()>)> {
    let root = able().then(cgroup).flatten()?;
    Some((root, EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Clears the rules of `steer` and the trial when it is dropped, after a panic too.
struct ClearedOnDrop;

impl Drop for ClearedOnDrop {
    fn drop(&mut self) {
        let _ = (steer::clear(), dealing::clear());
    }
}

/// Runs a flow through a network, with a pause, until there is enough to compare, and
/// replays the records. Every second flow gets its control while it runs.
fn recorded(
    network: &Network,
    number: usize,
    text: &str,
    leaving_out: bool,
    lacks: impl Fn(&[Record]) -> Option<String>,
) -> Vec<Record> {
    let name = Some(format!("ff_t{number}_{}", std::process::id() % 10_000));
    let strict = *STRICT;
    let options = Options { name, recording: true, leaving_out, strict, ..Options::default() };
    let control = load_with(text, options).unwrap();
    let mut replay = Replay::new(text);
    let paces = replay.control().startup_name == "rapid-start" && !leaving_out;
    let late = number % 2 == 1 && !paces;
    let given = if late { Given::WhileItRuns } else { Given::BeforeItConnects };
    let flow = Flow::start(network, control.name(), given);
    flow.carry(SIZE);
    network.pause();
    let mut records = records_until(&flow, &control, |records| lacks(records).is_none());
    flow.end();
    records.extend(control.records().unwrap());
    assert_eq!(lacks(&records), None, "{text}");
    records.iter().for_each(|record| replay.take(record));
    assert!(!paces || replay.paced > 10, "{text}: paced {} times", replay.paced);
    // Policies that watch no ACKs get what ACKs acknowledge and no more.
    if !leaving_out && replay.control().needs().all().has(Facilities::TIMES) {
        println!("{text}: {} connections got all that is promised", replay.check());
    }
    records
}

/// Sends [`SIZE`] bytes over the flow up to 21 times, until `is_enough` is true of the records so
/// far, and returns the records.
fn records_until(
    flow: &Flow,
    control: &Registered,
    is_enough: impl Fn(&[Record]) -> bool,
) -> Vec<Record> {
    let mut records = Vec::new();
    for _ in 0..21 {
        flow.carry(SIZE);
        records.extend(control.records().unwrap());
        if is_enough(&records) {
            break;
        }
    }
    records
}

fn replay(network: &Network, number: usize, text: &str) {
    let records = recorded(network, number, text, false, |records| {
        let wanted = [(Kind::Ack, 200), (Kind::Wrote, 100), (Kind::Loss, 0), (Kind::Recovered, 0)];
        let lack = wanted.into_iter().find(|(kind, least)| count(records, *kind) <= *least);
        lack.map(|(kind, least)| format!("{} records {kind:?} of {least}", count(records, kind)))
    });
    let timeouts = records.iter().filter(|r| r.kind == Kind::Loss && r.numbers[3] == 1).count();
    println!(
        "{text}: {} ACKs, {} losses of which {timeouts} timeouts, {} undone, {} windows taken \
         over, all equal",
        count(&records, Kind::Ack),
        count(&records, Kind::Loss),
        count(&records, Kind::Spurious),
        count(&records, Kind::Recovered),
    );
    assert!(timeouts > 0, "{text}: no timeout in spite of the pause");
}

fn count(records: &[Record], kind: Kind) -> usize {
    records.iter().filter(|record| record.kind == kind).count()
}

#[test]
fn a_name_is_registered_once_and_gone_after_the_drop() {
    if !able() {
        return;
    }
    let name = format!("ff_n_{}", std::process::id() % 10_000);
    let first = load("astart(ere.N=7)", &name).unwrap();
    assert!(available().contains(&name));
    let second = load("newreno", &name).unwrap_err();
    assert!(matches!(second, LoadError::Taken(_)), "{second}");
    drop(first);
    assert!(!available().contains(&name));
    load("newreno", &name).unwrap();
}

/// Every pair that has a kernel version, then what has a name and sets knobs, then every preset and
/// every threshold that is measured.
fn controls() -> Vec<String> {
    let pairs = PAIRS.iter().map(|pair| format!("{}+{}", pair.startup, pair.avoidance));
    let named = distinct().into_iter().map(|name| Control::named(name).unwrap());
    let knobs = named.flat_map(|control| {
        let cards = [control.startup.card(), control.avoidance.card()];
        let words =
            cards.into_iter().flat_map(|card| card.knobs).flat_map(|knob| match knob.kind {
                KnobKind::Word(words) if matches!(knob.name, "preset" | "wth") => {
                    words[1..].iter().map(|word| format!("({}={word})", knob.name)).collect()
                }
                _ => Vec::new(),
            });
        let words: Vec<String> = words.collect();
        let (alias, full) = (control.alias, control.full);
        let with = words.into_iter().map(move |knob| format!("{alias}{knob}"));
        with.chain(full.contains('(').then_some(full)).collect::<Vec<_>>()
    });
    let mut all: Vec<String> = pairs.chain(knobs).collect();
    let mut seen = Vec::new();
    all.retain(|text| {
        let full = Control::named(text).unwrap().full;
        let new = !seen.contains(&full);
        seen.push(full);
        new
    });
    all
}

/// Flows that run at the same time; of more, each would get too little of two processors.
const AT_ONCE: usize = 6;

/// Bytes of a flow before and after its pause: half a second of the slow link.
const SIZE: u64 = 3_000_000;
