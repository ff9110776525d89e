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

macro_rules! studies {
    ($($slug:literal $in_all:literal),*) => {
        /// All of them.
        pub const STUDIES: &[Embedded] = &[$(Embedded {
            slug: $slug,
            text: include_str!(concat!("../../../../studies/", $slug, "/study.toml")),
            in_all: $in_all,
        }),*];
    };
}
studies!(
    "name-encodings" true,
    "flow-hash" true,
    "flow-flood" true,
    "flow-table" true,
    // Builds kernels.
    "flow-kernel" false,
    "dns-render" true,
    "ndn-forwarder" true,
    "pit-index" true
);

/// The study of that slug.
pub fn find(slug: &str) -> Option<&'static Embedded> {
    STUDIES.iter().find(|study| study.slug == slug)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ENOUGH_SAMPLES;
    use crate::study::definition::Definition;
    use crate::study::run::{Settings, run};
    use hashlane_hash::scheme::Key;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_study_has_rounds_enough_for_bounds_at_95_percent() {
        for study in STUDIES {
            let size = Definition::parse(study.text, study.slug).unwrap().size;
            for (name, size) in [("quick", size.quick), ("full", size.full)] {
                let rounds = u64::from(size.repetitions);
                assert!(rounds >= ENOUGH_SAMPLES, "{}: {rounds} rounds in size.{name}", study.slug);
            }
        }
    }

    /// A run that is stopped before it has begun looks everything up that the study names, and measures nothing.
    #[test]
    fn every_study_can_be_run() {
        for study in STUDIES {
            let definition = Definition::parse(study.text, study.slug).unwrap();
            assert_eq!(definition.slug, study.slug);
            let size = definition.size.quick;
            let settings = Settings {
                size,
                full: false,
                seed: 1,
                key: Key::VECTOR,
                names: None,
                tuples: None,
                messages: None,
                command: "hashlane".into(),
                linux_source: None,
            };
            let outcome = run(&definition, &settings, &AtomicBool::new(true), &mut |_| ());
            assert!(outcome.failed.is_none(), "{}: {:?}", study.slug, outcome.failed);
            assert!(outcome.stopped && outcome.records.is_empty(), "{}", study.slug);
        }
    }
}
