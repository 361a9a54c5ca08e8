//! Sweeps from grid file to table.

mod folder;
mod grid;
mod place;
mod whole;
