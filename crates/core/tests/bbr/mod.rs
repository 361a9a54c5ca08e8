//! The cases of draft-ietf-ccwg-bbr-06, appendix A, one test each, on a path of 5 MB/s and 50 ms
//! where nothing else is said: 250 packets fill it.

mod path;
mod probing;
mod startup;
mod upsets;

/// The table of `papers/modern/deviations.md` has a row for each case and names its test.
#[test]
fn the_table_of_cases_names_a_test_for_each() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../papers/modern/deviations.md")).unwrap();
    let (_, table) = page.split_once("## BBR's test cases").unwrap();
    let tests = ["probing", "startup", "upsets"]
        .map(|file| std::fs::read_to_string(root.join(format!("tests/bbr/{file}.rs"))).unwrap());
    for case in 1..=22 {
        let row = table.lines().find(|line| line.starts_with(&format!("| {case} | "))).unwrap();
        let test = row.split('`').find(|word| word.contains('_')).unwrap();
        let after = format!("fn {test}()");
        let source = tests.iter().find(|text| text.contains(&after)).expect(row);
        let before = &source[..source.find(&after).unwrap()];
        let about = &before[before.rfind("/// A.").unwrap()..];
        assert!(about.contains(&format!("A.{case}")), "{row}: {about}");
    }
}
