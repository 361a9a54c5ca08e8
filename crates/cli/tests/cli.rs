//! The real binary, typed at as a newcomer would: exit codes, streams and files.

#[path = "cli/advise.rs"]
mod advise;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/captures.rs"]
mod captures;
#[path = "cli/catalogue.rs"]
mod catalogue;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/contract.rs"]
mod contract;
#[path = "cli/documented.rs"]
mod documented;
#[path = "cli/foreign_words.rs"]
mod foreign_words;
#[path = "cli/kernel.rs"]
mod kernel;
#[path = "cli/lab.rs"]
mod lab;
#[path = "cli/manual.rs"]
mod manual;
#[path = "cli/named.rs"]
mod named;
#[path = "cli/noq.rs"]
mod noq;
#[path = "cli/outputs.rs"]
mod outputs;
#[cfg(feature = "kernel")]
#[path = "cli/pins.rs"]
mod pins;
#[path = "cli/predict.rs"]
mod predict;
#[path = "cli/process.rs"]
mod process;
#[path = "cli/programs.rs"]
mod programs;
#[path = "../../qlog/tests/schema/rules.rs"]
mod qlog_rules;
#[path = "cli/reproduce.rs"]
mod reproduce;
#[path = "cli/self_check.rs"]
mod self_check;
#[path = "cli/show.rs"]
mod show;
#[path = "cli/small_disk.rs"]
mod small_disk;
#[path = "cli/sweep.rs"]
mod sweep;
#[cfg(feature = "kernel")]
#[path = "cli/trial.rs"]
mod trial;
#[path = "cli/user_files.rs"]
mod user_files;
#[path = "cli/virtual_time.rs"]
mod virtual_time;
