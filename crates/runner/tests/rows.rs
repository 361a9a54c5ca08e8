//! The rows of real runs, in every form.

use firstflight_results::table::series::Curves;
use firstflight_results::table::{flows, series};
use firstflight_results::{CsvRows, Kind, Table, TableError, Value, Values};
use firstflight_runner::{Options, Report, run};
use firstflight_scenario::Scenario;

fn report(text: &str) -> Report {
    let scenario = Scenario::parse(text, "test.toml").unwrap();
    run(&scenario, &Options { samples: Some(10), ..Options::default() }).unwrap()
}

fn rows(report: &Report) -> Table {
    flows::table(&report.scenario.factors(), report.runs.iter().map(|run| &run.result)).unwrap()
}

fn cell<'a>(table: &'a Table, column: &str, row: usize) -> Value<'a> {
    table.column(column).unwrap_or_else(|| panic!("{column}")).at(row)
}

const TWO_GROUPS: &str = "
controls = ['newreno', 'astart']
duration = '3s'
runs = 2
packet = '1000B'
[path]
rate = '8Mbps'
rtt = '100ms'
buffer = '50pkt'
loss = '0.1%'
[[flow]]
size = '100KB'
[[flow]]
count = 2
rtt = '140ms'
";

#[test]
fn every_flow_of_every_run_is_a_row_with_the_factors_of_its_group() {
    let report = report(TWO_GROUPS);
    let table = rows(&report);
    assert_eq!(table.len(), 2 * 2 * 3);
    assert_eq!(cell(&table, "alias", 6), Value::Text("astart"));
    assert_eq!(cell(&table, "control", 6), Value::Text("astart+westwood"));
    assert_eq!((cell(&table, "seed", 3), cell(&table, "flow", 3)), (2.into(), 0.into()));
    assert_eq!(cell(&table, "size_bytes", 0), Value::Count(100_000));
    assert_eq!(cell(&table, "size_bytes", 1), Value::Null);
    assert_eq!(cell(&table, "rtt_s", 0), Value::Number(0.1));
    assert_eq!(cell(&table, "rtt_s", 2), Value::Number(0.14));
    // 8 Mbps for 100 ms are 100 packets of 1000 bytes.
    assert_eq!(cell(&table, "bdp_packets", 2), Value::Count(100));
    assert_eq!(cell(&table, "buffer_over_bdp", 2), Value::Number(0.5));
    assert_eq!(cell(&table, "loss", 0), Value::Number(0.001));
    assert_eq!(cell(&table, "loss_model", 0), Value::Text("independent"));
    assert_eq!(cell(&table, "flows", 0), Value::Count(3));
    assert_eq!(cell(&table, "completion_time_s", 1), Value::Null);
    let measured = report.runs[0].result.flows[0].completion_time_s.unwrap();
    assert_eq!(cell(&table, "completion_time_s", 0), Value::Number(measured));
}

#[test]
fn every_value_has_the_type_of_its_column_and_only_a_nullable_one_is_null() {
    let table = rows(&report(TWO_GROUPS));
    for (column, values) in table.columns().iter().zip(table.values()) {
        let kind = match values {
            Values::Text(_) => Kind::Text,
            Values::Count(_) => Kind::Count,
            Values::Number(_) => Kind::Number,
            Values::Flag(_) => Kind::Flag,
        };
        assert_eq!(kind, column.kind, "{}", column.name);
        let null = (0..table.len()).any(|row| values.at(row) == Value::Null);
        assert!(column.nullable || !null, "{} is null", column.name);
    }
    // A source whose values are of another type would be null in every row.
    let never = ["completion_time_s", "exit_time_s", "exit_reason", "exit_cwnd_packets", "rtt_s"];
    for name in never {
        assert!((0..table.len()).any(|row| cell(&table, name, row) != Value::Null), "{name}");
    }
}

#[test]
fn csv_and_json_say_the_same_and_give_the_same_doubles_again() {
    let table = rows(&report(TWO_GROUPS));
    let mut csv = Vec::new();
    table.write_csv(&mut csv).unwrap();
    let json: Vec<serde_json::Map<_, _>> = (0..table.len()).map(|row| table.row(row)).collect();
    let mut reader = csv::Reader::from_reader(&*csv);
    let names = reader.headers().unwrap().clone();
    let mut at = 0;
    for (row, record) in reader.records().enumerate() {
        let record = record.unwrap();
        for ((name, text), column) in names.iter().zip(&record).zip(table.columns()) {
            let wanted = cell(&table, name, row);
            let read = match (wanted, column.kind) {
                (Value::Null, _) => Value::Null,
                (_, Kind::Text) => text.into(),
                (_, Kind::Count) => text.parse::<u64>().unwrap().into(),
                (_, Kind::Number) => text.parse::<f64>().unwrap().into(),
                (_, Kind::Flag) => text.parse::<bool>().unwrap().into(),
            };
            assert_eq!(read, wanted, "{name} of row {row}");
            assert_eq!(text.is_empty(), json[row][name].is_null(), "{name} of row {row}");
        }
        at += 1;
    }
    assert_eq!((at, json.len()), (table.len(), table.len()));
}

#[test]
fn series_are_long_and_name_flow_or_link() {
    let report = report(TWO_GROUPS);
    let curves = report.runs.iter().map(|run| Curves {
        run: &run.result,
        flows: &run.flows,
        links: &run.queues,
    });
    let table = series::table(&report.scenario.factors(), curves).unwrap();
    let window = report.runs[0].flows[0].column("cwnd_packets").unwrap().next().unwrap();
    assert_eq!(cell(&table, "variable", 0), Value::Text("cwnd_packets"));
    assert_eq!(cell(&table, "value", 0), window.into());
    let links = (0..table.len()).filter(|row| cell(&table, "link", *row) != Value::Null);
    let mut links = links.peekable();
    assert_eq!(cell(&table, "flow", *links.peek().unwrap()), Value::Null);
    assert!(links.all(|row| cell(&table, "link", row) == Value::Text("bottleneck")));
}

#[test]
fn a_number_that_is_none_is_an_error_that_names_the_column() {
    let mut report = report("controls = ['newreno']\nduration = '1s'");
    report.runs[0].result.jain_index = f64::NAN;
    let failed = flows::table(&report.scenario.factors(), [&report.runs[0].result]).unwrap_err();
    assert!(matches!(failed, TableError::NotFinite { column: "jain_index", .. }), "{failed}");
    assert!(failed.to_string().contains("jain_index of flow 0, newreno, is NaN"), "{failed}");
}

#[test]
fn tables_of_equal_columns_become_one() {
    let report = report("controls = ['newreno']\nduration = '1s'");
    let (mut one, all) = (rows(&report), rows(&report));
    one.append(all.clone()).unwrap();
    assert_eq!(one.len(), 2);
    assert_eq!(one.row(1), all.row(0));
}

#[test]
fn csv_reads_back_as_it_was_written_and_a_damaged_file_is_named() {
    let table = rows(&report(TWO_GROUPS));
    let mut csv = Vec::new();
    table.write_csv(&mut csv).unwrap();
    let mut back = CsvRows::new(&*csv, flows::columns()).unwrap();
    let mut read = back.next(5).unwrap();
    assert_eq!(read.len(), 5);
    read.append(back.next(usize::MAX).unwrap()).unwrap();
    assert_eq!(read, table);
    assert!(back.next(1).unwrap().is_empty());

    let refused = |text: &str| match CsvRows::new(text.as_bytes(), flows::columns()) {
        Ok(mut rows) => rows.next(usize::MAX).unwrap_err().to_string(),
        Err(problem) => problem.to_string(),
    };
    assert!(refused("a,b\n1,2\n").contains("begin with \"a,b\""));
    let text = String::from_utf8(csv).unwrap();
    assert!(refused(&text[..text.len() - 40]).contains("CSV error"), "a line cut short");
    let damaged = text.replacen(",0.14,", ",often,", 1);
    assert!(refused(&damaged).contains("line 3: rtt_s is \"often\"; accepted: number"));
}
