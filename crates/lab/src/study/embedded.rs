//! The studies that come with the command.

/// One embedded study.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Its slug, the name of its folder under `studies/`.
    pub slug: &'static str,
    /// Its `study.toml`.
    pub text: &'static str,
    /// Whether `study run all` runs it; those that need packages, root or an hour are run by name only.
    pub in_all: bool,
}

/// All of them.
pub const STUDIES: &[Embedded] = &[Embedded {
    slug: "name-encodings",
    text: include_str!("../../../../studies/name-encodings/study.toml"),
    in_all: true,
}];

/// The study of that slug.
pub fn find(slug: &str) -> Option<&'static Embedded> {
    STUDIES.iter().find(|study| study.slug == slug)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::study::definition::Definition;
    use crate::workload::shape::Shape;
    use hash::scheme::Key;

    #[test]
    fn every_study_can_be_run() {
        for study in STUDIES {
            let definition = Definition::parse(study.text, study.slug).unwrap();
            assert_eq!(definition.slug, study.slug);
            for workload in &definition.workloads {
                workload.parse::<Shape>().unwrap();
            }
            for scheme in &definition.schemes {
                assert!(registry::names(scheme, &Key::VECTOR).is_some(), "{scheme}");
            }
        }
    }
}
