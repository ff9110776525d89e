//! Forwarders under load: CPU time per exchange, the parts of ours, and the memory of its tables.

mod run;
#[cfg(test)]
mod tests;

pub(crate) use run::{MODEL, run};
