//! The rules of all lists, and what is known of each list.

use hashlane_name_lists::{CompiledList, Counts};
use hashlane_name_map::Rules;
use std::time::Duration;

/// A list that was read.
pub(crate) struct List {
    /// Its path as it was given, its format and its rules.
    pub(crate) about: CompiledList,
    /// Its lines; unknown of a list that was compiled.
    pub(crate) counts: Option<Counts>,
}

/// All lists.
pub(crate) struct Loaded {
    pub(crate) lists: Vec<List>,
    pub(crate) rules: Rules,
    /// Time to read the lists and build the table.
    pub(crate) time: Duration,
}
