//! The A/A control of a study: one scheme that is timed twice in every round, under two ids.

use super::error::DefinitionError;
use super::parts::Definition;

/// Suffix of the control's id, after the id of its scheme.
const AGAIN: &str = "/again";

/// Id of the control of a scheme.
pub(super) fn again(scheme: &str) -> String {
    format!("{scheme}{AGAIN}")
}

/// Id of the scheme that implements `id`: the same but for an A/A control.
pub fn subject(id: &str) -> &str {
    id.strip_suffix(AGAIN).unwrap_or(id)
}

/// Adds the control to schemes that have its counterpart, and lack the control.
pub(super) fn add_to(schemes: &mut Vec<String>, control: Option<&(String, String)>) {
    if let Some((of, to)) = control
        && schemes.contains(to)
        && !schemes.contains(of)
    {
        schemes.push(of.clone());
    }
}

/// Selection from a study: empty lists select everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids of schemes.
    pub schemes: Vec<String>,
    /// Ids of workloads.
    pub workloads: Vec<String>,
    /// Repetitions, 2 to 1,000.
    pub repetitions: Option<u32>,
}

impl Definition {
    /// Restricts the study to the selection. If the control's scheme is not selected, the first selected
    /// scheme becomes the control's.
    ///
    /// # Errors
    /// The study has no such scheme or workload, or the repetitions are out of range.
    pub fn select(&mut self, selection: &Selection) -> Result<(), DefinitionError> {
        let Selection { schemes, workloads, repetitions } = selection;
        let checker = self.checker();
        schemes.iter().try_for_each(|id| checker.known("--scheme", id, &self.schemes))?;
        workloads.iter().try_for_each(|id| checker.known("--workload", id, &self.workloads))?;
        if let Some(repetitions) = *repetitions {
            checker.range("--repetitions", (2..=1000).contains(&repetitions), "a number from 2 to 1000")?;
            self.size.quick.repetitions = repetitions;
            self.size.full.repetitions = repetitions;
        }
        if !workloads.is_empty() {
            self.workloads.retain(|id| workloads.contains(id));
            self.selected = true;
        }
        if !schemes.is_empty() {
            self.schemes.retain(|id| schemes.contains(id));
            self.selected = true;
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
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn select(schemes: &[&str], workloads: &[&str]) -> Result<Definition, DefinitionError> {
        let mut definition = sample::definition();
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let selection = Selection { schemes: ids(schemes), workloads: ids(workloads), repetitions: Some(7) };
        definition.select(&selection).map(|()| definition)
    }

    #[test]
    fn the_control_is_measured_and_not_listed() {
        let definition = sample::definition();
        let control = "foo/by-element/summed/again";
        assert_eq!(definition.measured_schemes().last().map(String::as_str), Some(control));
        assert!(definition.is_control(control) && !definition.schemes.iter().any(|id| id == control));
        assert!(definition.ratio_pairs().contains(&(control, "foo/by-element/summed")));
        assert_eq!(subject(control), "foo/by-element/summed");
    }

    #[test]
    fn a_selection_keeps_a_control() {
        let definition = select(&["foo/idle"], &["6Bx10"]).unwrap();
        assert_eq!(definition.schemes_on("6Bx10"), ["foo/idle", "foo/idle/again"]);
        assert_eq!((definition.workloads.len(), definition.position("6Bx10")), (1, 1));
        assert_eq!(definition.size.quick.repetitions, 7);
        assert!(definition.is_selection() && definition.names_workloads());
        assert!(!select(&["foo/idle"], &[]).unwrap().names_workloads());
    }

    #[test]
    fn rejects_selections_of_unknown_ids() {
        assert!(select(&["foo/idel"], &[]).unwrap_err().to_string().contains("foo/idle"));
        assert!(select(&[], &["elsewhere"]).is_err());
    }
}
