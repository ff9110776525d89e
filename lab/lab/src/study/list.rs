//! The kinds of studies that a command has.

use super::kind::{Study, StudyFile};
use crate::definition::{Definition, DefinitionError};
use crate::layout::{self, Drawer, Layout};
use crate::report::{Answer, Section};
use hashlane_records::RecordSet;

/// The kinds of studies that a command has, in the order of its lists.
#[derive(Clone, Copy)]
pub struct Studies(pub &'static [&'static dyn Study]);

/// Reason why there is no such study.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The study file breaks a rule.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// No kind of study has the model that the file names.
    #[error("{origin}: unknown model {model:?}; known models: {}", .known.join(", "))]
    UnknownModel {
        /// Origin of the study file: a path or a slug.
        origin: String,
        /// The model.
        model: String,
        /// Known models.
        known: Vec<&'static str>,
    },
}

impl Studies {
    /// All study files that come with the command.
    pub fn files(self) -> impl Iterator<Item = &'static StudyFile> {
        self.0.iter().flat_map(|study| study.files())
    }

    /// The kind of study of a model.
    pub fn kind(self, model: &str) -> Option<&'static dyn Study> {
        self.0.iter().copied().find(|study| study.model() == model)
    }

    /// Reads a study file with the tables of its kind; `origin`, a path or a slug, is named in errors.
    ///
    /// # Errors
    /// The file breaks a rule, or names an unknown model.
    pub fn parse(self, text: &str, origin: &str) -> Result<Definition, FindError> {
        let tables: Vec<&str> = self.0.iter().flat_map(|study| study.tables()).copied().collect();
        // A misspelt field is also a missing one: the former is the better error.
        let definition = Definition::parse(text, origin)
            .map_err(|error| DefinitionError::unknown_field(text, origin, &tables).unwrap_or(error))?;
        let Some(kind) = self.kind(&definition.model) else {
            return Err(FindError::UnknownModel {
                origin: origin.to_owned(),
                model: definition.model,
                known: self.0.iter().map(|study| study.model()).collect(),
            });
        };
        definition.knows_only(kind.tables())?;
        kind.check(&definition)?;
        layout::check(&definition, &kind.values(&definition, &RecordSet::new()))?;
        Ok(definition)
    }

    /// Sections of a study's report, by its kind; empty for an unknown kind.
    pub fn sections(self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        let kind = self.kind(&definition.model);
        kind.map_or(Vec::new(), |kind| draw(kind, definition, records, |drawer| drawer.sections()))
    }

    /// Answer of a study; `None` of an unknown kind.
    pub fn answer(self, definition: &Definition, records: &RecordSet) -> Option<Answer> {
        let kind = self.kind(&definition.model)?;
        Some(draw(kind, definition, records, |drawer| drawer.answer()))
    }
}

/// Draws by the study's layout, or by its kind's: a file that was stored with its records may have none.
fn draw<T>(
    kind: &dyn Study,
    definition: &Definition,
    records: &RecordSet,
    what: impl FnOnce(Drawer<'_>) -> T,
) -> T {
    let values = kind.values(definition, records);
    let files = kind.files();
    let file = files.iter().find(|file| file.slug == definition.slug).or(files.first());
    let of_kind = match file {
        Some(file) if definition.layout.is_empty() => {
            Some(Layout::parse(file.text, file.slug).unwrap_or_default())
        }
        _ => None,
    };
    let layout = of_kind.as_ref().unwrap_or(&definition.layout);
    what(Drawer::new(layout, definition, records, &values))
}
