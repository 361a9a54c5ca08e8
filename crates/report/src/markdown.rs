//! Text and tables for Markdown pages.

use crate::table::{Align, Table};

/// Text that does not end a table's cell and is not taken for HTML or emphasis.
pub fn cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in line(text).chars() {
        if matches!(c, '|' | '<' | '>' | '*' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A paragraph on one line.
pub fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A table, without its title.
pub fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = row(table.columns.iter().map(|column| cell(&column.label())).collect());
    let aligned = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "--:".to_owned(),
    });
    text.push_str(&row(aligned.collect()));
    for cells in &table.rows {
        text.push_str(&row(cells.iter().map(|it| cell(&it.to_string())).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column};

    #[test]
    fn what_would_break_a_table_is_escaped() {
        assert_eq!(cell("a | b <\nc [1]"), r"a \| b \< c \[1\]");
    }

    #[test]
    fn a_table_has_its_head_its_sides_and_a_line_for_each_row() {
        let mut one = Table::new("t", "title", [Column::text("a|b"), Column::number("c", "s")]);
        one.push(["x".into(), Cell::number(1.0, 2)]);
        assert_eq!(table(&one), "| a\\|b | c (s) |\n| --- | --: |\n| x | 1.00 |\n");
    }
}
