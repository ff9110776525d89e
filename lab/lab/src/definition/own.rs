//! Tables of a study file that only the study's kind knows.

use serde::Deserialize;

use super::check::Checker;
use super::error::DefinitionError;
use super::file::FIELDS;
use super::parts::Definition;
use super::published::Published;
use crate::layout::Layout;

impl Definition {
    /// Reads the table or array of tables `name` of the study's kind; `None` if the file has none.
    ///
    /// # Errors
    /// The table is not as `T` describes it.
    pub fn table<'de, T: Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, DefinitionError> {
        let Some(value) = self.own.get(name) else { return Ok(None) };
        let error = |error: toml::de::Error| DefinitionError::new(self.origin(), format!("{name}: {error}"));
        value.clone().try_into().map(Some).map_err(error)
    }

    /// Checks that every table of the file is one that all studies have, or one of `own`.
    ///
    /// # Errors
    /// The first unknown table, with the known one most like it.
    pub fn knows_only(&self, own: &[&'static str]) -> Result<(), DefinitionError> {
        unknown_field(&self.own, &self.origin.0, own).map_or(Ok(()), Err)
    }

    /// Checks for the fields of the study's own tables.
    pub fn checker(&self) -> Checker<'_> {
        Checker { origin: &self.origin.0 }
    }

    /// Origin of the file, a path or a slug, for errors.
    pub(crate) fn origin(&self) -> &str {
        &self.origin.0
    }

    /// The published table of that id, if the file has one.
    pub fn published(&self, id: &str) -> Option<&Published> {
        self.published.iter().find(|table| table.id == id)
    }
}

impl DefinitionError {
    /// Error for the first unknown field of a study file; the tables `own` are known.
    pub(crate) fn unknown_field(text: &str, origin: &str, own: &[&'static str]) -> Option<Self> {
        unknown_field(&toml::from_str(text).ok()?, origin, own)
    }
}

fn unknown_field(table: &toml::Table, origin: &str, own: &[&'static str]) -> Option<DefinitionError> {
    let known: Vec<&str> = FIELDS.iter().chain(&Layout::FIELDS).chain(own).copied().collect();
    let field = table.keys().find(|field| !known.contains(&field.as_str()))?;
    Some(DefinitionError::unknown(origin, field, &known))
}
