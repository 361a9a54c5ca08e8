//! qlog, the log format of QUIC connections: a writer of version 0.3, a reader of what QUIC stacks
//! write, and what such a log says about a connection's start-up.
//!
//! - [`Writer`] writes JSON text sequences (`.sqlog`) of version 0.3, the newest that qvis opens.
//! - [`Completing`] passes on what quinn writes and adds what qvis needs and quinn leaves out.
//! - [`Log::read`] reads `.sqlog` and `.qlog` of versions from draft-00 to draft-14, and what is
//!   complete of a log that breaks off.
//! - [`Connection::summary`] says when and why start-up ended, and what it cost;
//!   [`Connection::limits`] what else than the window limited the sender.
//!
//! Version 0.3 is that of draft-ietf-quic-qlog-main-schema-02 to -08, with the events of
//! draft-ietf-quic-qlog-quic-events-02 to -07. Own code: the crate `qlog` 0.15 holds
//! times in 32 bits (4 us apart after a minute, where these are exact to the nanosecond), writes
//! the trigger `ecn` where 0.3 has `ECN`, has no place in a state's data for other reasons, nor for
//! other causes of a loss than its three, and would take no fewer lines.
//!
//! ```
//! use firstflight_qlog::{Event, Header, Log, Metrics, Vantage, What, Writer};
//!
//! let header = Header { title: "example".into(), vantage: Vantage::Client, ..Header::default() };
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! let metrics = Metrics { congestion_window: Some(14_720), ..Metrics::default() };
//! writer.event(&Event { at_ms: 0.0, what: What::Metrics(metrics) })?;
//! let log = Log::of_bytes("example.sqlog", &writer.finish()?, None)?;
//! assert_eq!(log.connection.summary.initial_cwnd_bytes, Some(14_720));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod complete;
mod connection;
mod curves;
mod encode;
mod error;
mod event;
mod exit;
mod fields;
mod frame;
mod head;
mod lengths;
mod limit_detector;
mod limits;
mod read;
mod record;
mod summary;
mod survey;
mod tap;
mod translate;
mod unit;
mod write;

pub use complete::{Completing, Probe};
pub use connection::{Connection, Watch};
pub use curves::{Curve, Curves};
pub use error::QlogError;
pub use event::{Event, FlowControl, Lost, Metrics, Packet, PacketType, State, What};
pub use limits::{Limit, Limited, Limits};
pub use read::{Listed, Log, Skipped};
pub use summary::{Evidence, Exit, Summary};
pub use tap::{Tap, startup_probe};
pub use write::{Header, Vantage, Writer};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
