//! `send` and `recv` over loopback: what arrives, and how they end when something is wrong.

#[path = "transfer/ends.rs"]
mod ends;
#[path = "transfer/full_disk.rs"]
mod full_disk;
#[path = "transfer/lossy.rs"]
mod lossy;
#[path = "transfer/measure.rs"]
mod measure;
#[path = "transfer/remembered.rs"]
mod remembered;
#[path = "transfer/secrets.rs"]
mod secrets;
#[path = "transfer/welcome.rs"]
mod welcome;
#[path = "transfer/whole.rs"]
mod whole;

#[path = "transfer/pair.rs"]
mod pair;
#[path = "cli/process.rs"]
mod process;
#[path = "../../qlog/tests/schema/rules.rs"]
mod qlog_rules;
