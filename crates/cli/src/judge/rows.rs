//! A judgement as a tidy table: a row per scenario and control.

use firstflight_judge::{Judgement, MEASURES, Measured};
use firstflight_results::{Column, Kind, Role, Table, TableError, Values};
use firstflight_scenario::Rule;

/// The rows, the control under judgement first.
///
/// # Errors
/// As the table's.
pub(super) fn table(judgement: &Judgement) -> Result<Table, TableError> {
    let mut names: [Vec<Option<String>>; 3] = Default::default();
    let mut judged = Vec::new();
    let mut seeds = Vec::new();
    let mut measured: Vec<Vec<Option<f64>>> = vec![Vec::new(); MEASURES.len()];
    let mut verdicts: Vec<Vec<Option<String>>> = vec![Vec::new(); Rule::ALL.len()];
    for scenario in &judgement.scenarios {
        let mut push = |control: &str, is_judged: bool, values: &Measured| {
            let texts = [scenario.name, control, &judgement.on];
            for (column, text) in names.iter_mut().zip(texts) {
                column.push(Some(text.to_owned()));
            }
            judged.push(Some(is_judged));
            seeds.push(Some(scenario.seeds));
            for (column, value) in measured.iter_mut().zip(values.values()) {
                column.push(value);
            }
            for (column, rule) in verdicts.iter_mut().zip(Rule::ALL) {
                let verdict = scenario.verdicts.get(rule.name()).filter(|_| is_judged);
                column.push(verdict.map(|verdict| verdict.name().to_owned()));
            }
        };
        push(&judgement.control, true, &scenario.measured);
        for (name, values) in &scenario.references {
            push(name, false, values);
        }
    }
    let [scenarios, controls, transports] = names.map(Values::Text);
    let given = [scenarios, controls, transports, Values::Flag(judged), Values::Count(seeds)];
    let values = given.into_iter().chain(measured.into_iter().map(Values::Number));
    Table::of(columns(), values.chain(verdicts.into_iter().map(Values::Text)).collect())
}

fn columns() -> Vec<Column> {
    let measures = MEASURES.iter().map(|(name, unit, meaning)| {
        Column::new(Role::Measure, Kind::Number, name, unit, meaning).or_null()
    });
    let rules = Rule::ALL.iter().map(|rule| {
        let meaning = "The verdict, of the control under judgement";
        Column::new(Role::Measure, Kind::Text, rule.name(), "", meaning).or_null()
    });
    GIVEN.into_iter().chain(measures).chain(rules).collect()
}

const GIVEN: [Column; 5] = [
    Column::new(Role::Key, Kind::Text, "scenario", "", "The scenario's name in the catalogue"),
    Column::new(Role::Key, Kind::Text, "control", "", "The control"),
    Column::new(Role::Key, Kind::Text, "transport", "", "The transport"),
    Column::new(Role::Key, Kind::Flag, "judged", "", "Under judgement, and no reference"),
    Column::new(Role::Key, Kind::Count, "seeds", "", "Seeds over which measures are means"),
];
