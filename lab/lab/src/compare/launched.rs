//! The study file of a launch.

use crate::definition::{Definition, Only};
use serde_json::json;

/// A selected study without the schemes that a build does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// The study, as it was selected.
    pub study: Definition,
    /// Schemes that are left out.
    without: Vec<String>,
}

impl Launched {
    /// All schemes of a study.
    pub fn new(study: Definition) -> Self {
        Self { study, without: Vec::new() }
    }

    /// Leaves a scheme out. `false` if it is not in, or is the last one.
    pub fn remove(&mut self, scheme: &str) -> bool {
        let left = self.study.schemes.iter().filter(|id| self.has(id)).count();
        let removes = left > 1 && self.has(scheme);
        if removes {
            self.without.push(scheme.to_owned());
        }
        removes
    }

    /// Tests if a scheme is launched. Controls are not: a build is compared with itself instead.
    fn has(&self, scheme: &str) -> bool {
        self.study.schemes.iter().any(|id| id == scheme) && !self.without.iter().any(|id| id == scheme)
    }

    /// The schemes of a workload that are launched.
    fn only(&self, Only { workload, schemes }: &Only) -> Only {
        let schemes = schemes.iter().filter(|id| self.has(id)).cloned().collect();
        Only { workload: workload.clone(), schemes }
    }

    /// Text of the study file for a launch of so many items and repetitions: the fields that time something,
    /// so no claims, criteria and tables of its kind, such as the simulation of machine code.
    pub fn file(&self, items: u32, repetitions: u32) -> String {
        let study = &self.study;
        let schemes: Vec<String> = study.schemes.iter().filter(|id| self.has(id)).cloned().collect();
        let only: Vec<Only> = study.only.iter().map(|only| self.only(only)).collect();
        let is_bare = |id: &&String| only.iter().any(|only| only.workload == **id && only.schemes.is_empty());
        let workloads: Vec<String> = study.workloads.iter().filter(|id| !is_bare(id)).cloned().collect();
        let kept = Some(&study.reference).filter(|reference| schemes.contains(reference));
        let reference = kept.or(schemes.first()).unwrap_or(&study.reference);
        let size = json!({ "items": items, "repetitions": repetitions });
        let only = only.iter().filter(|only| workloads.contains(&only.workload));
        let only = only.map(|Only { workload, schemes }| json!({ "workload": workload, "schemes": schemes }));
        let file = json!({
            "slug": study.slug,
            "model": study.model,
            "title": study.title,
            "question": study.question,
            "source": study.source,
            "metric": study.metric,
            "per": study.per,
            "reference": reference,
            "schemes": schemes,
            "size": { "quick": size, "full": size },
            "only": only.collect::<Vec<_>>(),
            "workloads": workloads,
        });
        // Text and whole numbers have a form in TOML.
        toml::to_string(&file).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Selection;
    use crate::report::sample;

    #[test]
    fn a_study_file_of_a_launch_can_be_read() {
        let study = sample::definition();
        let all = Definition::parse(&Launched::new(study.clone()).file(512, 7), "f").unwrap();
        assert_eq!(
            (&all.schemes, &all.workloads, &all.reference),
            (&study.schemes, &study.workloads, &study.reference)
        );
        assert_eq!((all.size.quick.items, all.size.quick.repetitions), (512, 7));
        assert!(all.claims.is_empty() && all.control.is_none());

        let mut few = study;
        let schemes = ["quux/batch/summed", "foo/idle"].map(str::to_owned).to_vec();
        let workloads = vec!["6Bx10".to_owned()];
        few.select(&Selection { schemes, workloads, repetitions: None }).unwrap();
        let mut few = Launched::new(few);
        let read = Definition::parse(&few.file(1024, 2), "f").unwrap();
        assert_eq!((read.schemes.len(), read.workloads.as_slice()), (2, &["6Bx10".to_owned()][..]));
        assert_eq!(read.reference, "quux/batch/summed");
        assert!(few.remove("foo/idle") && !few.remove("foo/idle") && !few.remove("quux/batch/summed"));
        assert_eq!(Definition::parse(&few.file(1024, 2), "f").unwrap().schemes, ["quux/batch/summed"]);
    }

    #[test]
    fn a_workload_goes_with_its_last_scheme() {
        let mut study = sample::definition();
        study.only.push(Only { workload: "12Bx5".into(), schemes: vec!["foo/idle".into()] });
        let mut launched = Launched::new(study);
        assert!(launched.remove("foo/idle"));
        assert_eq!(Definition::parse(&launched.file(1024, 2), "f").unwrap().workloads, ["6Bx10"]);
    }
}
