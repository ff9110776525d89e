//! Tables that only study files of renderers have: `[[octets]]`.

use hashlane_lab::definition::{Definition, DefinitionError};
use serde::Deserialize;

/// Names of the tables.
pub(crate) const TABLES: &[&str] = &["octets"];

/// Expected size of a workload's messages: `[[octets]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Octets {
    /// Workload.
    pub(crate) workload: String,
    /// Schemes that render messages of this size, if they are measured.
    pub(crate) schemes: Vec<String>,
    /// Bytes of all of the workload's messages, headers included.
    pub(crate) octets: u32,
}

/// Expected sizes of a study, with their braces expanded.
///
/// # Errors
/// The first rule that an entry breaks.
pub(crate) fn octets(definition: &Definition) -> Result<Vec<Octets>, DefinitionError> {
    let mut all: Vec<Octets> = definition.table("octets")?.unwrap_or_default();
    let check = definition.checker();
    for (i, octets) in all.iter_mut().enumerate() {
        octets.schemes = check.expand(&format!("octets[{i}].schemes"), &octets.schemes)?;
    }
    Ok(all)
}

/// Checks that the study measures the workloads and schemes of its expected sizes. A selection from it may
/// not.
///
/// # Errors
/// The first rule that an entry breaks.
pub(crate) fn check(definition: &Definition) -> Result<(), DefinitionError> {
    let check = definition.checker();
    for (i, octets) in octets(definition)?.iter().enumerate() {
        check.known(&format!("octets[{i}].workload"), &octets.workload, &definition.workloads)?;
        let field = format!("octets[{i}].schemes");
        octets.schemes.iter().try_for_each(|scheme| check.known(&field, scheme, &definition.schemes))?;
    }
    Ok(())
}
