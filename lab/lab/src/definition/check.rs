//! Checks of the fields of a study file.

use std::collections::HashSet;

use super::braces::{self, MAX_EXPANSION};
use super::error::DefinitionError;

/// Largest count that a study file may state.
const MAX_COUNT: u32 = 10_000_000;

/// Checks fields, and names the file and the field in errors.
#[derive(Clone, Copy, Debug)]
pub struct Checker<'a> {
    pub(super) origin: &'a str,
}

impl Checker<'_> {
    /// Checks that both schemes of a ratio are measured, and that they are two.
    pub(super) fn pair(
        &self,
        field: &str,
        of: &str,
        to: &str,
        schemes: &[String],
    ) -> Result<(), DefinitionError> {
        self.known(field, of, schemes)?;
        self.known(field, to, schemes)?;
        self.range(field, of != to, "two different schemes")
    }

    /// Expands the braces of scheme ids.
    ///
    /// # Errors
    /// Braces that do not expand, more than 4,096 ids, a repeated id, or no id at all.
    pub fn expand(&self, field: &str, texts: &[String]) -> Result<Vec<String>, DefinitionError> {
        let mut all = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            all.extend(braces::expand(text).map_err(|why| self.error(format!("{field}[{i}]: {why}")))?);
            self.range(field, all.len() <= MAX_EXPANSION, "at most 4096 schemes")?;
        }
        self.ids(field, &all)?;
        Ok(all)
    }

    /// Checks a list of ids.
    ///
    /// # Errors
    /// The list is empty, an id is empty, or an id is repeated.
    pub fn ids(&self, field: &str, ids: &[String]) -> Result<(), DefinitionError> {
        self.range(field, !ids.is_empty(), "one id or more")?;
        let mut seen = HashSet::new();
        for id in ids {
            self.range(field, !id.trim().is_empty(), "ids that are not empty")?;
            if !seen.insert(id) {
                return Err(self.duplicate(field, id));
            }
        }
        Ok(())
    }

    /// Checks that `id` is among `known`.
    ///
    /// # Errors
    /// It is not.
    pub fn known(&self, field: &str, id: &str, known: &[String]) -> Result<(), DefinitionError> {
        if known.iter().any(|k| k == id) {
            return Ok(());
        }
        Err(DefinitionError::not_in_study(self.origin, field, id, known))
    }

    /// Checks a count: 1 to 10,000,000.
    ///
    /// # Errors
    /// It is outside that range.
    pub fn count(&self, field: &str, count: u32) -> Result<(), DefinitionError> {
        self.range(field, (1..=MAX_COUNT).contains(&count), "a number from 1 to 10000000")
    }

    /// Checks a finite number above 0.
    ///
    /// # Errors
    /// It is neither.
    pub fn positive(&self, field: &str, value: f64) -> Result<(), DefinitionError> {
        self.range(field, value > 0.0 && value.is_finite(), "a finite number above 0")
    }

    /// Checks a rule that `holds` or not; `takes` describes the values of the field.
    ///
    /// # Errors
    /// It does not hold.
    pub fn range(&self, field: &str, holds: bool, takes: &'static str) -> Result<(), DefinitionError> {
        if holds { Ok(()) } else { Err(self.error(format!("{field}: takes {takes}"))) }
    }

    /// Error for a repeated id.
    pub fn duplicate(&self, field: &str, id: &str) -> DefinitionError {
        self.error(format!("{field}: {id:?} is repeated"))
    }

    fn error(&self, fault: String) -> DefinitionError {
        DefinitionError::new(self.origin, fault)
    }
}
