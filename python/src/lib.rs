//! Native part of the Python package `hashlane`: one file for each group of functions.
//!
//! Columns come in by the Arrow PyCapsule interface ([`column`]) and are read as rows of bytes ([`rows`]).
//! Work on them runs without Python's lock and stops at Ctrl-C ([`interrupt`]). Results have the chunks and
//! the nulls of the first column.
#![deny(unsafe_code)]

mod arguments;
mod audit;
mod checked;
mod column;
mod composite;
mod dictionary;
mod dns;
mod error;
mod flow;
mod hash;
mod interrupt;
mod name_map;
mod names;
mod ndn;
mod numpy;
mod objects;
mod operators;
mod parsed;
mod pcap;
mod pickle;
mod plugin;
mod polars;
mod records;
mod registry;
mod rows;
mod sketch;
mod texts;
mod views;

use pyo3::prelude::*;

/// Native part of `hashlane`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    for register in [
        column::register,
        operators::register,
        pickle::register,
        hash::register,
        flow::register,
        names::register,
        name_map::register,
        dns::register,
        ndn::register,
        pcap::register,
        audit::register,
        records::register,
        sketch::register,
    ] {
        register(module)?;
    }
    Ok(())
}
