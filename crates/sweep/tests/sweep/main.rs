//! Sweeps from grid file to table.

mod experiment;
mod folder;
mod grid;
mod place;
mod transport;
mod whole;
