//! The table of flows: one row per flow of a run.

use std::iter::repeat_n;

use super::{Factors, FlowFactors, SCHEMA, Table, TableError};
use crate::column::Role::{Factor, Key, Provenance};
use crate::column::{Column, Kind::*, Value};
use crate::measures;
use crate::statistics::seconds;
use crate::{FlowResult, RunResult};

/// The columns, in order.
pub fn columns() -> Vec<Column> {
    let measured = measures::all().map(|measure| measure.column);
    let given = GIVEN.iter().map(|(column, _)| *column);
    given.chain(measured).chain(PROVENANCE.iter().map(|(column, _)| *column)).collect()
}

/// The rows of `runs` of one scenario, in their order.
///
/// # Errors
/// [`TableError::NotFinite`].
pub fn table<'a>(
    factors: &Factors,
    runs: impl IntoIterator<Item = &'a RunResult>,
) -> Result<Table, TableError> {
    let mut table = Table::empty(columns());
    for run in runs {
        let groups = factors.groups.iter();
        let mut owners = groups.flat_map(|group| repeat_n(group, group.count as usize));
        for flow in &run.flows {
            let row = FlowRow { factors, run, flow, group: owners.next() };
            let fault = |(column, found)| TableError::NotFinite {
                column,
                flow: flow.id,
                control: run.alias.clone(),
                found,
            };
            let given = GIVEN.iter().map(|(_, value)| value(&row));
            let measured = measures::all().map(|measure| measure.value(run, flow));
            let provenance = PROVENANCE.iter().map(|(_, value)| value(&row));
            table.push(given.chain(measured).chain(provenance)).map_err(fault)?;
        }
    }
    Ok(table)
}

/// What a row is made of.
struct FlowRow<'a> {
    factors: &'a Factors,
    run: &'a RunResult,
    flow: &'a FlowResult,
    group: Option<&'a FlowFactors>,
}

impl FlowRow<'_> {
    /// What the scenario sets for this flow; null for a flow that it does not have.
    fn set<'a, T: Into<Value<'a>>>(&'a self, of: impl FnOnce(&'a FlowFactors) -> T) -> Value<'a> {
        self.group.map(of).into()
    }
}

/// An empty text is one that nobody gave.
fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

type Get = for<'a> fn(&'a FlowRow<'_>) -> Value<'a>;

/// Declares columns: role, type, name, unit, meaning, value; `or_null` after the type where the
/// value can be missing.
macro_rules! columns {
    ($name:ident, $row:ident: $($role:ident $kind:ident $($null:ident)? $column:literal
        [$unit:literal] $meaning:literal = $value:expr;)+) => {
        const $name: &[(Column, Get)] = &[$((
            Column::new($role, $kind, $column, $unit, $meaning)$(.$null())?,
            |$row| {
                // What comes from the program has no use for the row.
                let _ = $row;
                ($value).into()
            },
        )),+];
    };
}

columns! { GIVEN, row:
    Key Text "point" [""]
        "Hash of the resolved scenario without name, controls and seed: one path and its flows"
        = &*row.factors.point;
    Key Text "control" [""]
        "The flow's control in full"
        = &*row.flow.control;
    Key Text "alias" [""]
        "The run's control as it was named"
        = &*row.run.alias;
    Key Text or_null "preset" [""]
        "The sets of knobs in force"
        = given(&row.run.preset);
    Key Text "transport" [""]
        "What carried it: `sim`, `quic`, `noq`, `linux`"
        = &*row.run.transport;
    Key Text "profile" [""]
        "The endpoints' constants: `linux`, `quic`, `rfc`, `ns2`"
        = &*row.run.profile;
    Key Count "seed" [""]
        "Seed of every random stream of the run"
        = row.run.seed;
    Key Count "flow" [""]
        "The flow's number in the run, from 0"
        = row.flow.id;
    Factor Number "duration_s" ["s"]
        "The run's length"
        = row.run.duration_s;
    Factor Count "flows" [""]
        "Flows in the run"
        = row.run.flows.len() as u64;
    Factor Count or_null "rate_bps" ["bit/s"]
        "What the flow's path lets pass on average over the run"
        = row.set(|g| g.rate_bps);
    Factor Number or_null "rtt_s" ["s"]
        "Two-way propagation of the flow, access links included"
        = row.set(|g| seconds(g.rtt_ns));
    Factor Number or_null "access_delay_s" ["s"]
        "One-way propagation of each access link; a round trip has four"
        = row.set(|g| seconds(g.access_delay_ns));
    Factor Count or_null "bdp_packets" ["packets"]
        "`rate_bps` times two-way propagation of the links, without access links"
        = row.set(|g| g.bdp_packets);
    Factor Count or_null "buffer_packets" ["packets"]
        "Room for waiting packets at the link that lets the least pass; of bytes, whole packets"
        = row.set(|g| g.buffer_packets);
    Factor Number or_null "buffer_over_bdp" [""]
        "`buffer_packets` over `bdp_packets`"
        = row.set(FlowFactors::buffer_over_bdp);
    Factor Number or_null "loss" ["share"]
        "Mean random loss of data over the flow's path, 0 to 1"
        = row.set(|g| g.loss);
    Factor Text or_null "loss_model" [""]
        "`none`, `independent`, or `bursts` (Gilbert and Elliott)"
        = row.set(|g| g.loss_model);
    Factor Count "packet_bytes" ["bytes"]
        "Payload of a packet"
        = row.factors.packet_bytes;
    Factor Count "header_bytes" ["bytes"]
        "Bytes a packet adds on the link"
        = row.factors.header_bytes;
    Factor Count or_null "size_bytes" ["bytes"]
        "What the flow sends; null without an end, and for a source of files"
        = row.set(|g| g.size_bytes);
    Factor Count or_null "delayed_ack" ["packets"]
        "Packets for which the receiver sends one ACK"
        = row.set(|g| g.delayed_ack);
    Factor Flag "pacing" [""]
        "Whether the endpoints pace where the control does not"
        = row.factors.pacing;
    Factor Number "start_s" ["s"]
        "When the flow started, seconds of the run"
        = row.flow.start_s;
}

columns! { PROVENANCE, row:
    Provenance Text "version" [""]
        "Version of the program that measured"
        = env!("CARGO_PKG_VERSION");
    Provenance Text "schema" [""]
        "This schema"
        = SCHEMA;
}
