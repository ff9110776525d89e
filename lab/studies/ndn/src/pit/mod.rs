//! Indexes of the pending Interest table: forwarders under load, operations, parts, digests.

mod busy;
mod load;
mod run;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use run::{MODEL, run};
