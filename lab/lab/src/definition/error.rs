//! Rules that a study file can break.

use super::braces::BraceError;
use hashlane_stats::nearest::nearest;

/// Rule that a study file breaks. `field` is the place in it, such as `claim[1].pairs[0]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The text is too long.
    #[error("{origin}: the study file is longer than {most} bytes")]
    TooLong {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// Most bytes.
        most: usize,
    },
    /// A field or table is unknown to this kind of study.
    #[error("{origin}: unknown field {field:?}: {}", hint(.field, .known))]
    UnknownField {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// Known fields.
        known: Vec<&'static str>,
    },
    /// The text is not TOML, lacks a field, or a field has the wrong type.
    #[error("{origin}: {}", .message.trim_end())]
    Toml {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The parser's words, with the line.
        message: String,
    },
    /// A sentence, table or chart cannot be drawn.
    #[error("{origin}: line {line}: {part}.{fault}")]
    Layout {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// Line on which the part begins, from 1.
        line: usize,
        /// The part, such as `table`.
        part: &'static str,
        /// The field of the part, and what is wrong with it.
        fault: String,
    },
    /// A field has a value outside its range.
    #[error("{origin}: {field}: takes {takes}")]
    OutOfRange {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// Values that the field takes.
        takes: &'static str,
    },
    /// A list names the same thing twice.
    #[error("{origin}: {field}: {id:?} is repeated")]
    Duplicate {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// The repeated value.
        id: String,
    },
    /// Braces in a scheme do not expand.
    #[error("{origin}: {field}: {error}")]
    Braces {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// The rule that the braces break.
        error: BraceError,
    },
    /// A field names a scheme or workload that the study does not measure.
    #[error("{origin}: {field}: {id:?} is not in the study; {}", listed(.id, .known))]
    Unknown {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// The name.
        id: String,
        /// Known names.
        known: Vec<String>,
    },
}

/// The nearest known field, or all of them.
fn hint(field: &str, known: &[&str]) -> String {
    match nearest(field, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("a study of this model has {}", known.join(", ")),
    }
}

/// The nearest known name, or all of them, each on a line.
fn listed(id: &str, known: &[String]) -> String {
    match nearest(id, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known:{}", known.iter().map(|name| format!("\n  {name}")).collect::<String>()),
    }
}
