//! The table of the connections of a trial (`kernel trial --record`): a row for each line of its
//! recording but the first, whose keys are the columns.

use serde_json::Value as Json;

use super::{Table, lines};
use crate::column::Role::{Key, Measure};
use crate::column::{Column, Kind::*};

/// The columns, in order.
pub fn columns() -> Vec<Column> {
    COLUMNS.to_vec()
}

/// Appends the connection of a line to a table of [`columns`].
///
/// # Errors
/// What the line has instead of a connection.
pub fn push(table: &mut Table, line: &[u8]) -> Result<(), String> {
    let line: Json = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    lines::push(table, &COLUMNS, |column| &line[column])
}

const COLUMNS: [Column; 14] = [
    Column::new(Measure, Number, "after_s", "s", "When it was reported, since the trial began"),
    Column::new(Key, Count, "minute", "min", "In which it began, since the machine was started"),
    Column::new(Key, Text, "local", "", "Address and port of the host of the trial"),
    Column::new(Key, Text, "remote", "", "Address and port of the other"),
    Column::new(Key, Flag, "tried", "", "It was dealt the control that is tried"),
    Column::new(Key, Text, "control", "", "The kernel's name of its control when it was reported"),
    Column::new(Measure, Flag, "refused", "", "The kernel refused the control that was dealt"),
    Column::new(Measure, Number, "time_to_bytes_s", "s", "Until --bytes were acknowledged")
        .or_null(),
    Column::new(Measure, Number, "bytes_at_age", "bytes", "Acknowledged at --age, or at the close"),
    Column::new(Measure, Number, "srtt_s", "s", "The smoothed RTT then"),
    Column::new(Measure, Count, "acked_bytes", "bytes", "Acknowledged; SYN and FIN may count"),
    Column::new(Measure, Count, "sent_again_bytes", "bytes", "Sent again"),
    Column::new(Measure, Count, "timeouts", "", "Retransmission timeouts"),
    Column::new(Measure, Flag, "broken_off", "", "It closed before both sides had finished"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn a_line_is_a_row() {
        let line = r#"{"after_s":1.5,"minute":7,"local":"192.0.2.1:443","remote":"192.0.2.9:5000",
            "tried":true,"control":"ff_scout","refused":false,"time_to_bytes_s":null,
            "bytes_at_age":120000.5,"srtt_s":0.04,"acked_bytes":150000,"sent_again_bytes":50,
            "timeouts":1,"broken_off":false}"#;
        let mut table = Table::empty(columns());
        push(&mut table, line.as_bytes()).unwrap();
        assert_eq!(table.column("time_to_bytes_s"), Some(&Values::Number(vec![None])));
        assert_eq!(table.row(0)["acked_bytes"], 150_000);
        let wrong = line.replace("\"tried\":true", "\"tried\":1");
        let problem = push(&mut table, wrong.as_bytes()).unwrap_err();
        assert_eq!(problem, "tried is 1; accepted: boolean");
    }
}
