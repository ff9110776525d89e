//! A selection from studies: some of their schemes and workloads.

use super::control::{add_to, again};
use super::error::DefinitionError;
use super::parts::{CriterionFigure, Definition};
use std::collections::HashSet;

/// Selection from a study: empty lists select everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Ids of schemes.
    pub schemes: Vec<String>,
    /// Ids of workloads.
    pub workloads: Vec<String>,
    /// Repetitions, 2 to 1,000.
    pub repetitions: Option<u32>,
}

impl Selection {
    /// Checks that each id is in one of the studies at least.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self, studies: &[Definition]) -> Result<(), DefinitionError> {
        let known = |field: &str, ids: &[String], of: fn(&Definition) -> &[String]| {
            let known: Vec<String> = studies.iter().flat_map(of).cloned().collect();
            let Some(id) = ids.iter().find(|id| !known.contains(id)) else { return Ok(()) };
            let origins: Vec<&str> = studies.iter().map(Definition::origin).collect();
            Err(DefinitionError::not_in_study(&origins.join(", "), field, id, &known))
        };
        known("--scheme", &self.schemes, |study| &study.schemes)?;
        known("--workload", &self.workloads, |study| &study.workloads)
    }

    /// The part of the selection that a study has; `None` if it has none of the schemes, or none of the
    /// workloads.
    pub fn within(&self, study: &Definition) -> Option<Self> {
        let part = |ids: &[String], known: &[String]| {
            let part: Vec<String> = ids.iter().filter(|id| known.contains(id)).cloned().collect();
            (ids.is_empty() || !part.is_empty()).then_some(part)
        };
        let schemes = part(&self.schemes, &study.schemes)?;
        let workloads = part(&self.workloads, &study.workloads)?;
        Some(Self { schemes, workloads, repetitions: self.repetitions })
    }
}

impl Definition {
    /// The rows that a reader sees first: on the workload of the first criterion, or the first one, the
    /// reference and the schemes of criteria, claims and pairs; all schemes if there are none of these.
    pub fn headline(&self) -> Selection {
        let ratios = self.criteria.iter().flat_map(|criterion| match &criterion.figure {
            CriterionFigure::Ratio(to) | CriterionFigure::Difference(to) => vec![&criterion.of, to],
            _ => vec![&criterion.of],
        });
        let pairs = self.pairs.iter().chain(self.claims.iter().flat_map(|claim| &claim.pairs));
        let named: HashSet<&String> =
            [&self.reference].into_iter().chain(ratios).chain(pairs.flat_map(|(of, to)| [of, to])).collect();
        let workload = self.criteria.first().map(|criterion| &criterion.workload);
        let workload = workload.filter(|id| self.workloads.contains(id)).or(self.workloads.first());
        let is_in = |id: &&String| named.len() == 1 || named.contains(id);
        Selection {
            schemes: self.schemes.iter().filter(is_in).cloned().collect(),
            workloads: workload.cloned().into_iter().collect(),
            repetitions: None,
        }
    }

    /// Restricts the study to the selection, and to the workloads on which a selected scheme is measured. If
    /// the control's scheme is not selected, the first selected scheme becomes the control's.
    ///
    /// # Errors
    /// The study has no such scheme or workload, none of the schemes is measured on the workloads, or the
    /// repetitions are out of range.
    pub fn select(&mut self, selection: &Selection) -> Result<(), DefinitionError> {
        selection.check(std::slice::from_ref(self))?;
        let Selection { schemes, workloads, repetitions } = selection;
        if let Some(repetitions) = *repetitions {
            let takes = "a number from 2 to 1000";
            self.checker().range("--repetitions", (2..=1000).contains(&repetitions), takes)?;
            self.size.quick.repetitions = repetitions;
            self.size.full.repetitions = repetitions;
        }
        self.selected |= !schemes.is_empty() || !workloads.is_empty();
        if !workloads.is_empty() {
            self.workloads.retain(|id| workloads.contains(id));
        }
        if !schemes.is_empty() {
            self.schemes.retain(|id| schemes.contains(id));
            let generic = self.control.as_ref().is_some_and(|(of, to)| *of == again(to));
            if generic && let Some(first) = self.schemes.first() {
                let kept = self.control.take().filter(|(_, to)| self.schemes.contains(to));
                self.control = Some(kept.unwrap_or_else(|| (again(first), first.clone())));
            }
            self.measured = self.schemes.clone();
            add_to(&mut self.measured, self.control.as_ref());
            for only in &mut self.only {
                only.schemes.retain(|id| self.measured.contains(id));
                add_to(&mut only.schemes, self.control.as_ref());
            }
            let only = &self.only;
            let is_bare =
                |id: &String| only.iter().any(|only| only.workload == *id && only.schemes.is_empty());
            self.workloads.retain(|id| !is_bare(id));
        }
        let takes = "a scheme that is measured on the workloads";
        self.checker().range("--scheme", !self.workloads.is_empty(), takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Only;
    use crate::report::sample;

    fn selection(schemes: &[&str], workloads: &[&str]) -> Selection {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Selection { schemes: ids(schemes), workloads: ids(workloads), repetitions: Some(7) }
    }

    fn select(schemes: &[&str], workloads: &[&str]) -> Result<Definition, DefinitionError> {
        let mut definition = sample::definition();
        definition.select(&selection(schemes, workloads)).map(|()| definition)
    }

    #[test]
    fn a_selection_keeps_a_control() {
        let definition = select(&["foo/idle"], &["6Bx10"]).unwrap();
        assert_eq!(definition.schemes_on("6Bx10"), ["foo/idle", "foo/idle/again"]);
        assert_eq!((definition.workloads.len(), definition.position("6Bx10")), (1, 1));
        assert_eq!(definition.size.quick.repetitions, 7);
        assert!(definition.is_selection());
    }

    #[test]
    fn rejects_selections_of_unknown_ids() {
        let error = select(&["foo/idel"], &[]).unwrap_err().to_string();
        assert_eq!(error, "sample: --scheme: \"foo/idel\" is not in the study; did you mean \"foo/idle\"?");
        assert!(select(&[], &["elsewhere"]).is_err());
        assert!(selection(&["foo/idle"], &["12Bx5"]).check(&[sample::definition()]).is_ok());
    }

    #[test]
    fn takes_the_part_that_a_study_has() {
        let study = sample::definition();
        let part = selection(&["elsewhere", "foo/idle"], &[]).within(&study).unwrap();
        assert_eq!((part.schemes.as_slice(), part.workloads.len()), (&["foo/idle".to_owned()][..], 0));
        assert_eq!(selection(&["elsewhere"], &[]).within(&study), None);
        assert_eq!(selection(&[], &["elsewhere"]).within(&study), None);
    }

    #[test]
    fn workloads_without_a_selected_scheme_are_left_out() {
        let mut study = sample::definition();
        study.only.push(Only { workload: "12Bx5".into(), schemes: vec!["foo/idle".into()] });
        let mut left = study.clone();
        left.select(&selection(&["foo/batch/summed"], &[])).unwrap();
        assert_eq!(left.workloads, ["6Bx10"]);
        assert!(study.select(&selection(&["foo/batch/summed"], &["12Bx5"])).is_err());
    }
}
