//! Rules that a study file can break.

use core::fmt;

use super::braces::BraceError;
use hashlane_stats::nearest::nearest;

/// Rule that a study file breaks. `field` is the place in it, such as `claim[1].pairs[0]`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The text is too long.
    TooLong {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// Most bytes.
        most: usize,
    },
    /// A field or table is unknown to this kind of study.
    UnknownField {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// Known fields.
        known: Vec<&'static str>,
    },
    /// The text is not TOML, lacks a field, or a field has the wrong type.
    Toml {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The parser's words, with the line.
        message: String,
    },
    /// A field has a value outside its range.
    OutOfRange {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// Values that the field takes.
        takes: &'static str,
    },
    /// A list names the same thing twice.
    Duplicate {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// The repeated value.
        id: String,
    },
    /// Braces in a scheme do not expand.
    Braces {
        /// Origin of the text: a path or a slug.
        origin: String,
        /// The field.
        field: String,
        /// The rule that the braces break.
        error: BraceError,
    },
    /// A field names a scheme or workload that the study does not measure.
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

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { origin, most } => {
                write!(f, "{origin}: the study file is longer than {most} bytes")
            }
            Self::UnknownField { origin, field, known } => {
                write!(f, "{origin}: unknown field {field:?}")?;
                match nearest(field, known.iter().copied()) {
                    Some(near) => write!(f, ": did you mean {near:?}?"),
                    None => write!(f, ": a study of this model has {}", known.join(", ")),
                }
            }
            Self::Toml { origin, message } => write!(f, "{origin}: {}", message.trim_end()),
            Self::OutOfRange { origin, field, takes } => write!(f, "{origin}: {field}: takes {takes}"),
            Self::Duplicate { origin, field, id } => write!(f, "{origin}: {field}: {id:?} is repeated"),
            Self::Braces { origin, field, error } => write!(f, "{origin}: {field}: {error}"),
            Self::Unknown { origin, field, id, known } => {
                write!(f, "{origin}: {field}: {id:?} is not in the study; ")?;
                match nearest(id, known.iter().map(String::as_str)) {
                    Some(near) => write!(f, "did you mean {near:?}?"),
                    None => {
                        write!(f, "known:")?;
                        known.iter().try_for_each(|k| write!(f, "\n  {k}"))
                    }
                }
            }
        }
    }
}

impl core::error::Error for DefinitionError {}
