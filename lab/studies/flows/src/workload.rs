//! Generated workloads of tuples.

use crate::tuples::TupleSet;
use hashlane_flow::tuple::Tuple;
use hashlane_lab::run::machine;
use hashlane_lab::study::{RunError, Session};

/// The tuples of a set, as long as they fit into the memory that is free.
pub(crate) fn generate(set: TupleSet, count: usize, session: &Session<'_>) -> Result<Vec<Tuple>, RunError> {
    let budget = machine::available_memory().unwrap_or(u64::MAX);
    set.generate(count, session.settings.seed, budget)
        .map_err(|error| RunError::Generate(set.to_string(), error.to_string()))
}

/// The set of tuples of that id.
pub(crate) fn set(id: &str) -> Result<TupleSet, RunError> {
    id.parse().map_err(|error| RunError::UnknownWorkload(format!("{error}")))
}
