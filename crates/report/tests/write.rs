//! Writing a report to disk, and failing to.

use std::{
    fs,
    path::{Path, PathBuf},
};

use firstflight_report::{
    Axis, Column, Figure, Page, Panel, ReportError, Section, Series, Table, write_dir, write_file,
};

fn page() -> Page {
    let figure = Figure::new("cwnd", "Window", Axis::new("time", "s"))
        .panel(Panel::new(Axis::new("cwnd", "packets")).with(Series::line("a", vec![(0.0, 1.0)])));
    let table = Table::new("claims", "Claims", [Column::text("id")]);
    Page::new("A page").section(Section::new("all", "All").figure(figure).table(table))
}

/// An empty directory of this test's own.
fn fresh(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_report_is_a_page_with_figures_and_data_beside_it_and_nothing_else() {
    let out = fresh("whole").join("new/dir");
    let written = write_dir(&out, &page(), Vec::new()).unwrap();
    assert_eq!(written[0], out.join("report.html"));
    assert_eq!(written.len(), 5);
    assert_eq!(names(&out), ["data", "figures", "report.html"]);
    assert_eq!(names(&out.join("data")), ["claims.csv", "cwnd.csv"]);
    assert_eq!(names(&out.join("figures")), ["cwnd.pdf", "cwnd.svg"]);
}

#[test]
fn the_same_page_gives_the_same_bytes() {
    let read = |name| {
        let written = write_dir(&fresh(name), &page(), Vec::new()).unwrap();
        written.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(read("first"), read("second"));
}

#[test]
fn an_output_that_is_a_file_is_named_with_the_reason() {
    let out = fresh("blocked").join("out");
    fs::write(&out, "in the way").unwrap();
    let error = write_dir(&out, &page(), Vec::new()).unwrap_err();
    assert!(matches!(error, ReportError::File(_)), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with("cannot write ") && message.contains("blocked"), "{message}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "in the way");
}

#[test]
fn a_file_that_cannot_be_replaced_leaves_no_part_behind() {
    let dir = fresh("parts");
    fs::create_dir_all(dir.join("report.html/not-empty")).unwrap();
    assert!(write_file(&dir.join("report.html"), "text").is_err());
    assert_eq!(names(&dir), ["report.html"]);
}

#[test]
fn where_one_file_has_no_place_none_appears() {
    let out = fresh("no-place");
    fs::write(out.join("data"), "in the way").unwrap();
    let more_files = vec![("results.json".into(), "{}".to_owned())];
    assert!(write_dir(&out, &page(), more_files).is_err());
    assert_eq!(names(&out), ["data", "figures"]);
    assert_eq!(names(&out.join("figures")), [""; 0]);
}

#[test]
fn a_bad_page_writes_nothing() {
    let out = fresh("bad").join("out");
    let section = Section::new("../up", "Up");
    assert!(matches!(
        write_dir(&out, &page().section(section), Vec::new()),
        Err(ReportError::BadId { what: "section", .. })
    ));
    assert!(!out.exists());
}
