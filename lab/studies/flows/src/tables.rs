//! Tables that only study files of hashes of tuples have: `[spread]` and `[mca]`.

use crate::cost::in_c;
use hashlane_lab::definition::{Definition, DefinitionError};
use serde::Deserialize;

/// Names of the tables.
pub(crate) const TABLES: &[&str] = &["spread", "mca"];

/// Sets of tuples, and the hashes that spread them over buckets: `[spread]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spread {
    /// Sets of tuples.
    pub(crate) sets: Vec<String>,
    /// Hashes, without the manner of calling them.
    pub(crate) schemes: Vec<String>,
    /// Tuples of a set in either size, 1 to 10,000,000.
    pub(crate) tuples: Counts,
    /// Expected counts of the source's bins.
    #[serde(default)]
    pub(crate) bins: Vec<Bins>,
}

/// A count for each size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counts {
    /// Count of a quick run.
    pub(crate) quick: u32,
    /// Count of the source.
    pub(crate) full: u32,
}

/// Counts of the source's tuples in each tenth of 65,535 slots: `[[spread.bins]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bins {
    /// Hash.
    pub(crate) scheme: String,
    /// Counts.
    pub(crate) bins: [u32; 10],
}

/// Hashes whose machine code is simulated: `[mca]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mca {
    /// Hashes; all others are compared with the first.
    pub(crate) schemes: Vec<String>,
    /// Hashes of the source, as the C compiler makes them.
    #[serde(default)]
    pub(crate) in_c: Vec<String>,
}

/// The table `[spread]`, with its braces expanded.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn spread(definition: &Definition) -> Result<Option<Spread>, DefinitionError> {
    let Some(mut spread) = definition.table::<Spread>("spread")? else { return Ok(None) };
    let check = definition.checker();
    check.ids("spread.sets", &spread.sets)?;
    spread.schemes = check.expand("spread.schemes", &spread.schemes)?;
    check.count("spread.tuples.quick", spread.tuples.quick)?;
    check.count("spread.tuples.full", spread.tuples.full)?;
    for (i, bins) in spread.bins.iter().enumerate() {
        check.known(&format!("spread.bins[{i}].scheme"), &bins.scheme, &spread.schemes)?;
    }
    Ok(Some(spread))
}

/// The table `[mca]`, with its braces expanded.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn mca(definition: &Definition) -> Result<Option<Mca>, DefinitionError> {
    let Some(mca) = definition.table::<Mca>("mca")? else { return Ok(None) };
    let check = definition.checker();
    let schemes = check.expand("mca.schemes", &mca.schemes)?;
    let known = in_c::HASHES.map(str::to_owned);
    mca.in_c.iter().try_for_each(|id| check.known("mca.in_c", id, &known))?;
    Ok(Some(Mca { schemes, in_c: mca.in_c }))
}
