//! Opens the demo page in a real browser, without a network, and uses it as a reader would.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use firstflight_report::{Axis, Column, Figure, Panel, Section, Series, Table, html};
use serde_json::Value;

#[path = "../examples/demo.rs"]
#[allow(dead_code, reason = "only the page of the example is used")]
mod demo;

/// A browser that takes longer is ended.
const PATIENCE: Duration = Duration::from_secs(90);

/// Text that is markup wherever it is not escaped.
const HOSTILE: &str = "</script><i class=alive>&amp; \"'</i><!--";

fn hostile() -> Section {
    let points = vec![(0.0, 1.0), (1.0, 2.0)];
    let panel = Panel::new(Axis::new(HOSTILE, "")).with(Series::line(HOSTILE, points));
    let figure = Figure::new("hostile-figure", HOSTILE, Axis::new("x", ""));
    let mut table = Table::new("hostile-table", HOSTILE, [Column::text(HOSTILE)]);
    table.push([HOSTILE.into()]);
    Section::new("hostile", HOSTILE)
        .text(HOSTILE)
        .figure(figure.panel(panel).caption(HOSTILE).command(HOSTILE))
        .figure(stacked())
        .table(table)
}

/// Panels with names that are longer than they are high.
fn stacked() -> Figure {
    let figure = Figure::new("stacked", "Stacked", Axis::new("time", "s"));
    (0..4).fold(figure, |figure, _| {
        let name = Axis::new("time until the first 100000 bytes were acknowledged", "times");
        figure.panel(Panel::new(name).with(Series::line("a", vec![(0.0, 1.0), (1.0, 2.0)])))
    })
}

#[test]
fn the_page_names_nothing_outside_itself() {
    let page = html::render(&demo::page()).unwrap();
    let reaching = ["http:", "https:", "src=", "<link", "@import", "url(", "fetch(", "XMLHttp"];
    for word in reaching {
        assert!(!page.contains(word), "the page holds {word}");
    }
    assert!(page.contains("default-src 'none'"), "the page does not forbid itself the network");
}

#[test]
fn a_browser_draws_zooms_hovers_and_filters() {
    let Some(browser) = chromium() else {
        // Past the capture of the test harness, so that it is seen.
        let required = env::var_os("FIRSTFLIGHT_REQUIRE_BROWSER").is_some();
        assert!(!required, "no chromium, but FIRSTFLIGHT_REQUIRE_BROWSER asks for one");
        let _ = writeln!(io::stderr(), "skipped: no chromium (Debian package chromium)");
        return;
    };
    let probe = format!("<body>\n<script>{}</script>", include_str!("probe.js"));
    let page = html::render(&demo::page().section(hostile())).unwrap();
    let page = page.replacen("<body>", &probe, 1);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join("report.html");
    fs::write(&path, page).unwrap();

    let dom = dump_dom(&browser, &path, &dir.join("profile"));
    let seen = seen(&dom);

    assert_eq!(seen["violations"], Value::Array(vec![]), "{seen:#}");
    assert_eq!(seen["loaded"], Value::Array(vec![]), "{seen:#}");
    assert_eq!(seen["drawn"], 5, "{seen:#}");
    // 9 curves, 2 limits; 3 curves and 2 published ones; 2 curves, the points have no line; 1; 4.
    assert_eq!(seen["curves"], 11 + 5 + 2 + 1 + 4, "{seen:#}");
    assert_eq!(seen["names"], 4, "{seen:#}");
    assert!(seen["apart"].as_f64() > Some(0.0), "names of axes meet or are cut off: {seen:#}");
    assert_eq!((&seen["panels"], &seen["x_axes"]), (&3.into(), &1.into()), "{seen:#}");
    assert_eq!(seen["hovered"].as_array().map(Vec::len), Some(9), "{seen:#}");
    assert!((seen["zoomed"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-6, "{seen:#}");
    assert!((seen["reset"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{seen:#}");
    assert_eq!(seen["hidden"], 3, "one name, three panels: {seen:#}");
    assert_eq!((&seen["rows"], &seen["failed"]), (&60.into(), &2.into()), "{seen:#}");
    assert_eq!(seen["found"], 4, "A-T2-1 and A-T2-10 to A-T2-12: {seen:#}");
    assert_eq!(seen["refuted"], 5, "{seen:#}");
    let hostile = &seen["hostile"];
    assert_eq!(hostile["alive"], 0, "markup came alive: {seen:#}");
    for place in ["title", "caption", "legend", "axis", "cell"] {
        assert_eq!(hostile[place], HOSTILE, "{place}: {seen:#}");
    }
}

/// The browser's path: `CHROMIUM`, or the first known name on the search path.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let dirs: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let candidates = names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

/// The page's elements after eight seconds of the page's own time.
fn dump_dom(browser: &Path, page: &Path, profile: &Path) -> String {
    let output = page.with_extension("dom");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,900"])
        .args(["--virtual-time-budget=8000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .stdout(fs::File::create(&output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the browser did not finish in {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    fs::read_to_string(output).unwrap()
}

/// What `probe.js` noted at the end of the page.
fn seen(dom: &str) -> Value {
    let marker = "<script type=\"text/plain\" id=\"seen\">";
    let start = dom.find(marker).expect("the probe did not finish") + marker.len();
    let end = start + dom[start..].find("</script>").unwrap();
    serde_json::from_str(&dom[start..end]).unwrap()
}
