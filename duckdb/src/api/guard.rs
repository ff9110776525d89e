//! Panics, which must not reach DuckDB.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic becomes an error.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic leaves half done is not used again: DuckDB ends the query.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // The value of a panic may itself panic when dropped.
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        std::mem::forget(panic);
        Err(format!("internal error, please report it: {}", text.unwrap_or_default()))
    })
}

/// An error after the name of its function.
pub(super) fn named(function: &str, why: &str) -> String {
    format!("{function}: {why}")
}
