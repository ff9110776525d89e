//! Rules that a study file can break.

use hashlane_stats::nearest::nearest;
use std::fmt::Display;

/// Rule that a study file breaks, with the place in it, such as `claim[1].pairs[0]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{origin}: {fault}")]
pub struct DefinitionError {
    /// Origin of the text: a path or a slug.
    origin: String,
    fault: String,
}

impl DefinitionError {
    pub(crate) fn new(origin: &str, fault: impl Display) -> Self {
        Self { origin: origin.to_owned(), fault: fault.to_string().trim_end().to_owned() }
    }

    /// Error for a field or table that is unknown to this kind of study, with the nearest known one.
    pub(super) fn unknown(origin: &str, field: &str, known: &[&str]) -> Self {
        let hint = match nearest(field, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("a study of this model has {}", known.join(", ")),
        };
        Self::new(origin, format!("unknown field {field:?}: {hint}"))
    }

    /// Error for a scheme or workload that the study does not measure, with the nearest known one.
    pub(super) fn not_in_study(origin: &str, field: &str, id: &str, known: &[String]) -> Self {
        let hint = match nearest(id, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("known:{}", known.iter().map(|name| format!("\n  {name}")).collect::<String>()),
        };
        Self::new(origin, format!("{field}: {id:?} is not in the study; {hint}"))
    }
}
