//! Every grid file of a page is understood, and the sentences of docs/which-control.md have their
//! numbers from its maps.

use std::collections::BTreeMap;

use firstflight_quic_sim::quinn::QUIC as QUINN;

use super::*;

#[test]
fn a_table_comes_out_as_it_stands_on_its_page() {
    let (root, page, file) = (xtask::root(), "papers/scout/tables.md", "papers/scout/lies.toml");
    let folder = tempfile::tempdir().unwrap();
    let tables = tables(&root, file, folder.path()).ok().unwrap();
    let text = fs::read_to_string(root.join(page)).unwrap();
    assert_eq!(into_page(&text, file.as_ref(), &tables), Some(text));
}

/// One that boots a kernel is read up to its controls, which the simulator does not know.
#[test]
fn every_grid_file_of_a_page_is_understood() {
    let usual: Arc<dyn Transport> = Arc::new(SIM);
    let on = |words: &str| match words {
        "quic" => Ok(Arc::new(QUINN) as Arc<dyn Transport>),
        _ => Ok(Arc::clone(&usual)),
    };
    let root = xtask::root();
    let pages = ["docs/stacks.md", "docs/scout.md", "docs/which-control.md"];
    let more = ["papers/scout/tables.md", "scenarios/quic/README.md"];
    for page in pages.iter().chain(&more) {
        let text = fs::read_to_string(root.join(page)).unwrap();
        assert!(!grid_files(&text).is_empty(), "{page}");
        for file in grid_files(&text) {
            let read = Experiment::load(&root.join(file), &usual, &on);
            let problem = read.err().map_or(String::new(), |error| error.to_string());
            assert!(problem.is_empty() || problem.contains("linux-cubic"), "{file}: {problem}");
        }
    }
}

/// A cell of a map: the time, and packets sent again, over those of all transfers.
type Cell = (f64, f64);

/// The cells of the maps whose title has a word, by control.
fn cells(page: &str, word: &str) -> BTreeMap<String, Vec<(String, Cell)>> {
    let mut all: BTreeMap<String, Vec<(String, Cell)>> = BTreeMap::new();
    let has = |map: &&str| map.lines().next().is_some_and(|title| title.contains(word));
    for map in page.split("\n### ").filter(has) {
        let packets = if map.starts_with("1MB") { 691.0 } else { 13_812.0 };
        // Of a shared path the other's 5 MB too.
        let packets = packets + if word == SHARED { 3_453.0 } else { 0.0 };
        let mut rows = map.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| {
            line.trim_end_matches(" |").split(" | ").map(str::to_owned).collect::<Vec<_>>()
        });
        let controls = rows.next().unwrap();
        for row in rows {
            for (control, cell) in controls.iter().zip(&row).skip(1) {
                let (time, again) = cell.split_once(" (").unwrap_or_else(|| panic!("{cell}"));
                let again: f64 = again.trim_end_matches(')').parse().unwrap();
                let cell = (time.parse().unwrap(), again / packets);
                all.entry(control.clone()).or_default().push((row[0].clone(), cell));
            }
        }
    }
    assert_eq!(all["scout"].len(), 54, "{word}");
    all
}

/// What a control takes over HyStart's time, in the mean and at most; in how many cells it is
/// within 3 % of the quickest; and the percent that it sends again.
fn sentence(cells: &BTreeMap<String, Vec<(String, Cell)>>, control: &str) -> String {
    let ratios: Vec<f64> = cells[control]
        .iter()
        .zip(&cells["hystart"])
        .map(|((_, one), (_, other))| one.0 / other.0)
        .collect();
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let best = (0..ratios.len()).filter(|at| {
        let least = cells.values().map(|all| all[*at].1.0).fold(f64::MAX, f64::min);
        cells[control][*at].1.0 <= 1.03 * least
    });
    let again = cells[control].iter().map(|(_, cell)| cell.1).sum::<f64>() / ratios.len() as f64;
    format!(
        "{:.2} of HyStart's time (at most {most:.2}), is within 3 % of the quickest in {} of 54 \
         cells, and sends {:.1} % again",
        mean.exp(),
        best.count(),
        100.0 * again
    )
}

/// In the titles of shared paths.
const SHARED: &str = "beside a CUBIC";

#[test]
fn the_sentences_of_the_page_have_their_numbers_from_its_maps() {
    let page = fs::read_to_string(xtask::root().join("docs/which-control.md")).unwrap();
    let words: Vec<&str> = page.split_whitespace().collect();
    let words = words.join(" ");
    let mut missing = Vec::new();
    for word in [", clean", "lost at random", SHARED] {
        let cells = cells(&page, word);
        for control in ["scout", "suss", "rapid-start", "bbr(preset=v1)", "astart"] {
            let sentence = format!("`{control}` takes {}", sentence(&cells, control));
            if !words.contains(&sentence) {
                missing.push(format!("{word}: {sentence}"));
            }
        }
    }
    assert!(missing.is_empty(), "docs/which-control.md does not say: {missing:#?}");
}
