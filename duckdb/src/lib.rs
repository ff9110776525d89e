//! DuckDB extension `hashlane`: one file for each group of functions.
//!
//! [`api`] is DuckDB's side. [`arguments`], [`ends`] and [`keys`] read rows; [`files`] finds files and shares
//! them among threads. Results equal the results of the Python package of the same name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "the C API of DuckDB, and nothing else")]
mod api;
mod arguments;
mod distinct;
mod dns;
mod ends;
mod files;
mod flow;
mod hash;
mod imbalance;
mod ipfix;
mod keys;
mod names;
mod pcap;
mod spread;

use api::Function;

/// All functions of the extension.
fn functions() -> Vec<Function> {
    vec![
        Function::scalar::<hash::SipHash13>(),
        Function::scalar::<flow::Rss>(),
        Function::scalar::<flow::Ehash>(),
        Function::scalar::<names::NamePrefixes>(),
        Function::scalar::<distinct::Estimate>(),
        Function::aggregate::<distinct::Keys>(),
        Function::aggregate::<distinct::Sketch>(),
        Function::aggregate::<distinct::Merge>(),
        Function::aggregate::<spread::Spread>(),
        Function::aggregate::<imbalance::Imbalance>(),
        Function::table::<files::Files<pcap::Tuples>>(),
        Function::table::<files::Files<ipfix::Flows>>(),
        Function::table::<files::Files<dns::Messages>>(),
    ]
}
