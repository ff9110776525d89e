//! Tables that only study files of names have: `[[expect]]` and `[repeatability]`.

use std::collections::{BTreeMap, HashSet};

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::hex;
use serde::Deserialize;

/// Names of the tables.
pub(crate) const TABLES: &[&str] = &["expect", "repeatability"];

/// Expected results over the first names of a workload under the run's standard seed: `[[expect]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Workload.
    pub(crate) workload: String,
    /// Names, from the first: 1 to 10,000,000.
    pub(crate) names: u32,
    /// Components in those names.
    pub(crate) components: u64,
    /// Checksum over all prefix hashes, by the encoding's id.
    pub(crate) checksum: BTreeMap<String, Checksum>,
}

/// A checksum, `0x…` in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Checksum(#[serde(deserialize_with = "hex::deserialize")] pub(crate) u64);

/// Standard deviation that the source states for its repetitions: `[repeatability]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeatability {
    /// Metric that is compared with it.
    pub(crate) metric: String,
    /// The source's figure, below which its deviations lie, in the metric's unit and above 0.
    pub(crate) below: f64,
    /// The source's words.
    pub(crate) words: String,
}

/// Expected results of a study.
///
/// # Errors
/// An entry is not as [`Expect`] describes it.
pub(crate) fn expects(definition: &Definition) -> Result<Vec<Expect>, DefinitionError> {
    Ok(definition.table("expect")?.unwrap_or_default())
}

/// Checks the tables: expected results of known workloads, one entry a workload at most, and a
/// deviation above 0.
///
/// # Errors
/// The first rule that a table breaks.
pub(crate) fn check(definition: &Definition) -> Result<(), DefinitionError> {
    let check = definition.checker();
    let mut seen = HashSet::new();
    for (i, expect) in expects(definition)?.iter().enumerate() {
        let field = format!("expect[{i}].workload");
        check.known(&field, &expect.workload, &definition.workloads)?;
        if !seen.insert(expect.workload.clone()) {
            return Err(check.duplicate(&field, &expect.workload));
        }
        check.count(&format!("expect[{i}].names"), expect.names)?;
    }
    repeatability(definition)?;
    Ok(())
}

/// Standard deviation that the source states, if it does.
///
/// # Errors
/// The figure is not above 0.
pub(crate) fn repeatability(definition: &Definition) -> Result<Option<Repeatability>, DefinitionError> {
    let table: Option<Repeatability> = definition.table("repeatability")?;
    if let Some(table) = &table {
        definition.checker().positive("repeatability.below", table.below)?;
    }
    Ok(table)
}
