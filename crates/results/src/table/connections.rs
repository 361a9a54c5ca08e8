//! The table of the connections that `kernel watch` has recorded on a host: a row for each line of
//! the recording, whose keys are the columns.

use serde_json::Value as Json;

use super::{Table, lines};
use crate::column::Role::{Key, Measure};
use crate::column::{Column, Kind::*};

/// The schema of a line.
pub const LINE: &str = "firstflight/connection@1";

/// The columns, in order.
pub fn columns() -> Vec<Column> {
    COLUMNS.to_vec()
}

/// Appends the connection of a line to a table of [`columns`].
///
/// # Errors
/// What the line has instead of a connection.
pub fn push(table: &mut Table, line: &str) -> Result<(), String> {
    let line: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if line["schema"] != LINE {
        return Err(format!("schema is {}; accepted: \"{LINE}\"", line["schema"]));
    }
    lines::push(table, &COLUMNS, |column| value(&line, column))
}

/// An interval is one key of a line, and two columns.
fn value<'a>(line: &'a Json, column: &str) -> &'a Json {
    match column {
        "end_not_before_s" => &line["end_after_s"][0],
        "end_not_after_s" => &line["end_after_s"][1],
        key => &line[key],
    }
}

const COLUMNS: [Column; 24] = [
    Column::new(Measure, Number, "began_s", "s", "When the handshake ended, since 1970 (UTC)"),
    Column::new(Measure, Number, "duration_s", "s", "From the handshake to the close"),
    Column::new(Key, Text, "local", "", "Address and port of the host that watched"),
    Column::new(Key, Text, "remote", "", "Address and port of the other"),
    Column::new(Key, Flag, "accepted", "", "A listener of this host accepted it"),
    Column::new(Key, Text, "control", "", "The kernel's name of its control at the close"),
    Column::new(Measure, Text, "slow_start_end", "", "Why its first slow start ended, or did not"),
    Column::new(Measure, Flag, "slow_start_ended", "", "Whether it ended before the close"),
    Column::new(Measure, Count, "end_cwnd_packets", "packets", "cwnd at the end, or the longest"),
    Column::new(Measure, Number, "end_not_before_s", "s", "It went on then, since the handshake")
        .or_null(),
    Column::new(Measure, Number, "end_not_after_s", "s", "It was over then, since the handshake")
        .or_null(),
    Column::new(Measure, Count, "end_rate_bps", "bit/s", "Delivery rate at its end").or_null(),
    Column::new(Measure, Number, "end_srtt_s", "s", "Smoothed RTT at its end").or_null(),
    Column::new(Measure, Count, "timeouts", "", "Retransmission timeouts until its end").or_null(),
    Column::new(Measure, Count, "acked_bytes", "bytes", "Acknowledged; SYN and FIN may count"),
    Column::new(Measure, Count, "sent_again_bytes", "bytes", "Sent again"),
    Column::new(Measure, Count, "sent_again_packets", "packets", "Sent again"),
    Column::new(Measure, Count, "lost_packets", "packets", "What the kernel took for lost"),
    Column::new(Measure, Count, "marked_packets", "packets", "Delivered with a mark of ECN"),
    Column::new(Measure, Count, "mss_bytes", "bytes", "Payload of a full packet"),
    Column::new(
        Measure,
        Count,
        "longest_cwnd_packets",
        "packets",
        "The longest cwnd that was seen",
    ),
    Column::new(Measure, Count, "cwnd_packets", "packets", "cwnd at the close"),
    Column::new(Measure, Number, "min_rtt_s", "s", "The least RTT of late"),
    Column::new(Measure, Number, "srtt_s", "s", "The smoothed RTT at the close"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    const CONNECTION: &str = r#"{"schema":"firstflight/connection@1","began_s":1.5,"duration_s":2.0,
        "local":"192.0.2.1:443","remote":"[2001:db8::1]:5000","accepted":true,"control":"cubic",
        "slow_start_end":"loss","slow_start_ended":true,"end_cwnd_packets":294,
        "end_after_s":[0.25,0.296],"end_rate_bps":40000000,"end_srtt_s":0.041,"timeouts":null,
        "acked_bytes":6000000,"sent_again_bytes":9000,"sent_again_packets":7,"lost_packets":6,
        "marked_packets":0,"mss_bytes":1448,"longest_cwnd_packets":300,"cwnd_packets":150,
        "min_rtt_s":0.04,"srtt_s":0.05}"#;

    #[test]
    fn a_line_is_a_row_and_its_interval_two_columns() {
        let mut table = Table::empty(columns());
        push(&mut table, CONNECTION).unwrap();
        push(&mut table, &CONNECTION.replace("[0.25,0.296]", "null")).unwrap();
        assert_eq!(table.column("end_not_after_s"), Some(&Values::Number(vec![Some(0.296), None])));
        assert_eq!(table.column("timeouts"), Some(&Values::Count(vec![None; 2])));
        assert_eq!(table.row(0)["remote"], "[2001:db8::1]:5000");
    }

    #[test]
    fn what_is_no_connection_is_refused_with_key_and_what_is_accepted() {
        let mut table = Table::empty(columns());
        let mut refused = |line: &str| push(&mut table, line).unwrap_err();
        let negative = CONNECTION.replace("\"cwnd_packets\":150", "\"cwnd_packets\":-1");
        assert_eq!(refused(&negative), "cwnd_packets is -1; accepted: integer");
        let nameless = CONNECTION.replace("\"control\":\"cubic\",", "");
        assert_eq!(refused(&nameless), "control is null; accepted: string");
        let other = CONNECTION.replace("connection@1", "connection@2");
        assert!(refused(&other).contains("accepted: \"firstflight/connection@1\""));
        assert!(refused("{").contains("EOF"));
        assert!(table.is_empty());
    }
}
