//! Checks of docs/which-control.md: every number that its prose quotes is computed from the
//! measurements of its tables.

use std::ops::RangeInclusive;

use super::*;
use crate::tables::with_parts;

/// All that was measured.
struct Measured(Vec<Value>);

impl Measured {
    fn run(&self, on: &str, path: usize, size: &str, control: &str) -> Option<&Value> {
        let transport = ASKED.transport.iter().find(|transport| transport.on == on).unwrap();
        let asked = transport.asked(&ASKED.path[path], size);
        self.0.iter().find(|run| run["asked"] == asked && run["control"] == control)
    }

    /// A number of each clean path with a buffer of a BDP that was measured.
    fn clean(&self, on: &str, size: &str, control: &str, key: &str) -> Vec<f64> {
        let runs = CLEAN.iter().filter_map(|path| self.run(on, *path, size, control));
        runs.map(|run| run[key].as_f64().unwrap()).collect()
    }

    /// A number of `hoe+cubic` there with each size.
    fn both(&self, key: &str, on: &str) -> impl Iterator<Item = f64> {
        ASKED.sizes.iter().flat_map(move |size| self.clean(on, size, "hoe+cubic", key))
    }

    fn drops(&self, on: &str, control: &str) -> Vec<f64> {
        self.clean(on, "20MB", control, "drops")
    }

    fn seconds(&self, on: &str, path: usize, size: &str, control: &str) -> f64 {
        let run = self.run(on, path, size, control).unwrap();
        run["seconds"].as_f64().unwrap_or(f64::INFINITY)
    }

    /// How many percent longer than another's its transfers took on the clean paths.
    fn longer(&self, on: &str, control: &str, other: &str) -> RangeInclusive<f64> {
        let of = |control| {
            ASKED.sizes.iter().flat_map(move |size| self.clean(on, size, control, "seconds"))
        };
        let more = of(control).zip(of(other)).map(|(one, other)| 100.0 * (one / other - 1.0));
        range(more)
    }

    /// In how many cells of a table it was the quickest, or as quick.
    fn wins(&self, on: &str, control: &str) -> usize {
        let transport = ASKED.transport.iter().find(|transport| transport.on == on).unwrap();
        let cells =
            (0..ASKED.path.len()).flat_map(|path| ASKED.sizes.iter().map(move |size| (path, size)));
        // As the table shows them.
        let shown = |seconds: f64| (seconds * 100.0).round();
        let is_quickest = |(path, size): &(usize, &String)| {
            let all = transport.controls.iter().map(|other| self.seconds(on, *path, size, other));
            shown(self.seconds(on, *path, size, control)) <= all.map(shown).fold(f64::MAX, f64::min)
        };
        cells.filter(is_quickest).count()
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> RangeInclusive<f64> {
    values
        .into_iter()
        .fold(f64::MAX..=f64::MIN, |range, value| range.start().min(value)..=range.end().max(value))
}

fn list(values: &[f64], digits: usize) -> String {
    let all: Vec<String> = values.iter().map(|value| format!("{value:.digits$}")).collect();
    let (last, others) = all.split_last().unwrap();
    format!("{} and {last}", others.join(", "))
}

fn to(range: RangeInclusive<f64>) -> String {
    format!("{:.0} to {:.0}", range.start(), range.end())
}

#[test]
fn the_sentences_of_the_page_have_their_numbers_from_the_tables() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = Measured(serde_json::from_str(&read_text(&root, DATA)).unwrap());
    let seconds = |on, control| list(&all.clean(on, "20MB", control, "seconds"), 2);
    let drops = |on, control| list(&all.drops(on, control), 0);
    let short = |control: &str| all.seconds("sim", GEO, "1MB", control);
    let long = |on: &str, control: &str| all.seconds(on, LOSSY, "20MB", control);
    let dropped = |path, control| all.run("sim", path, "20MB", control).unwrap()["drops"].clone();
    let kernel = |control: &str, name: &str| {
        let drops = &all.run("linux", LOSSY, "20MB", control).unwrap()["drops"];
        format!("{name} takes {:.2} s and drops {drops}", long("linux", control))
    };
    let sentences = [
        format!("20 MB take it {} s", seconds("quic", "hoe+cubic")),
        format!("quinn's CUBIC takes {} s", seconds("quic", "quinn-cubic")),
        format!("drops {} packets", drops("quic", "quinn-cubic")),
        format!("Linux's CUBIC drops {} packets", drops("linux", "linux-cubic")),
        format!("takes `suss` {:.2} s", short("suss")),
        format!("`rapid-start` {:.2} s", short("rapid-start")),
        format!("slow start {:.2} s", short("newreno")),
        format!(
            "drops more than slow start in all of them ({} packets)",
            to(range(RAPID.map(|path| { dropped(path, "rapid-start").as_f64().unwrap() })))
        ),
        format!("{} instead of {}", dropped(SHALLOW, "suss"), dropped(SHALLOW, "newreno")),
        format!(
            "the quickest in {} of 20 cells",
            all.wins("sim", "mstart") + all.wins("quic", "mstart")
        ),
        format!("{:.0} packets of 20 MB", range(all.drops("quic", "mstart")).end()),
        format!(
            "{:.2} s over TCP and {:.2} s over QUIC",
            long("sim", "astart"),
            long("quic", "astart")
        ),
        format!("`mstart` takes {:.2} and {:.2} s", long("sim", "mstart"), long("quic", "mstart")),
        kernel("astart", "Astart"),
        kernel("linux-bbr", "Linux's BBR"),
        format!(
            "drops {} packets where HyStart drops {}, and takes {:.2} s instead of {:.2} s",
            dropped(SHALLOW, "astart"),
            dropped(SHALLOW, "hystart"),
            all.seconds("sim", SHALLOW, "20MB", "astart"),
            all.seconds("sim", SHALLOW, "20MB", "hystart")
        ),
        format!("{} % longer than HyStart", to(all.longer("sim", "astart", "hystart"))),
        format!("{} % longer than `hoe+cubic`", to(all.longer("quic", "astart", "hoe+cubic"))),
        format!("`hystart-pp` drops {}", to(range(all.drops("sim", "hystart-pp")))),
        format!("`search` {}", to(range(all.drops("sim", "search")))),
    ];
    let page = read_text(&root, DOCUMENT);
    let page: Vec<&str> = page.split_whitespace().collect();
    let page = page.join(" ");
    let missing: Vec<&String> = sentences.iter().filter(|said| !page.contains(*said)).collect();
    assert!(missing.is_empty(), "{DOCUMENT} does not say: {missing:#?}");
    for on in ["sim", "quic"] {
        assert!(all.both("drops", on).all(|drops| drops == 0.0), "`hoe+cubic` drops nothing");
        let others = ASKED.transport.iter().find(|it| it.on == on).unwrap().controls.iter();
        let mut others = others.filter(|name| !["astart", "mstart"].contains(&name.as_str()));
        assert!(others.all(|name| long(on, name).is_infinite()), "all others take over 120 s");
    }
    assert!(all.drops("sim", "hystart").iter().all(|drops| *drops == 0.0), "nor does HyStart");
    let fewer = |path: &usize| dropped(*path, "suss").as_f64() < dropped(*path, "newreno").as_f64();
    assert!(CLEAN.iter().all(fewer), "SUSS drops fewer on the clean paths");
    let more =
        |path: &usize| dropped(*path, "rapid-start").as_f64() > dropped(*path, "newreno").as_f64();
    assert!(RAPID.iter().all(more), "Rapid Start drops more");
}

fn read_text(root: &Path, file: &str) -> String {
    fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("{file}"))
}

#[test]
fn the_tables_of_the_page_are_those_of_the_measurements() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join(DATA);
    let kept = Kept::load(&file).unwrap_or_else(|_| panic!("{DATA}"));
    let old = fs::read_to_string(root.join(DOCUMENT)).unwrap();
    let new = with_parts(&old, "choice", &parts(&kept));
    assert!(new.is_some_and(|new| new == old), "cargo xtask choice --page");
    let places: Vec<_> = kept.runs.iter().map(place).collect();
    assert!(places.iter().flatten().all(Option::is_some), "a run that no table has");
    assert!(places.is_sorted(), "sorted as the tables are");
}

#[test]
fn a_row_that_lacks_a_control_is_left_out() {
    let (transport, path) = (&ASKED.transport[0], &ASKED.path[0]);
    let asked = transport.asked(path, &ASKED.sizes[0]);
    let numbers = json!({ "seconds": 1.0, "drops": 2, "peak_queue": 3 });
    let run = |control: &String| {
        let mut run = numbers.clone();
        (run["asked"], run["control"]) = (asked.clone(), control.as_str().into());
        run
    };
    let mut kept = Kept { file: Path::new(""), runs: vec![] };
    kept.runs.extend(transport.controls.iter().skip(1).map(run));
    assert_eq!(transport.table(&kept), "");
    kept.runs.push(run(&transport.controls[0]));
    assert!(transport.table(&kept).contains("1MB | 1.00 s (2) |"));
}

/// Places in [`Transfers::path`].
const CLEAN: [usize; 3] = [0, 1, 3];
const SHALLOW: usize = 2;
const GEO: usize = 3;
const LOSSY: usize = 4;
/// Those without random loss.
const RAPID: [usize; 4] = [0, 1, 2, 3];
