//! Choice of schemes and workloads, and the study file of a launch.

use core::fmt;

use crate::definition::{Definition, Only};

/// Schemes and workloads to launch; all if a list is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Ids of schemes.
    pub schemes: Vec<String>,
    /// Ids of workloads.
    pub workloads: Vec<String>,
}

/// Reasons for which a selection cannot be launched.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SelectionError {
    /// No study has this scheme or workload.
    Unknown {
        /// `scheme` or `workload`.
        kind: &'static str,
        /// The id.
        id: String,
        /// The known id that is most like it.
        near: Option<String>,
    },
    /// A study has none of the schemes, or none of the workloads.
    Nothing {
        /// The study.
        study: String,
    },
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, id, near: Some(near) } => {
                write!(f, "no {kind} {id:?} in these studies: did you mean {near:?}?")
            }
            Self::Unknown { kind, id, near: None } => write!(f, "no {kind} {id:?} in these studies"),
            Self::Nothing { study } => {
                write!(f, "study {study} has none of these schemes and workloads: leave it out, or add some")
            }
        }
    }
}

impl core::error::Error for SelectionError {}

impl Selection {
    /// Checks that each id is in one of the studies.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self, studies: &[Definition]) -> Result<(), SelectionError> {
        known("scheme", &self.schemes, studies.iter().flat_map(|study| &study.schemes))?;
        known("workload", &self.workloads, studies.iter().flat_map(|study| &study.workloads))
    }

    /// The study, reduced to the selection and to the fields that time something: no claims, charts, criteria
    /// and tables of its kind, such as the simulation of machine code.
    ///
    /// # Errors
    /// Nothing of it is left.
    pub fn reduce(&self, study: &Definition) -> Result<Reduced, SelectionError> {
        let is_in = |chosen: &[String], id: &String| chosen.is_empty() || chosen.contains(id);
        let mut schemes = study.schemes.clone();
        schemes.retain(|id| is_in(&self.schemes, id));
        let only: Vec<Only> = study
            .only
            .iter()
            .map(|Only { workload, schemes: of }| Only {
                workload: workload.clone(),
                schemes: of.iter().filter(|id| schemes.contains(id)).cloned().collect(),
            })
            .collect();
        let empty = |id: &String| only.iter().any(|only| only.workload == *id && only.schemes.is_empty());
        let mut workloads = study.workloads.clone();
        workloads.retain(|id| is_in(&self.workloads, id) && !empty(id));
        if schemes.is_empty() || workloads.is_empty() {
            return Err(SelectionError::Nothing { study: study.slug.clone() });
        }
        let only = only.into_iter().filter(|only| workloads.contains(&only.workload)).collect();
        Ok(Reduced { study: study.clone(), schemes, workloads, only })
    }
}

fn known<'a>(
    kind: &'static str,
    ids: &[String],
    there: impl Iterator<Item = &'a String> + Clone,
) -> Result<(), SelectionError> {
    let Some(id) = ids.iter().find(|id| !there.clone().any(|known| known == *id)) else { return Ok(()) };
    let like = |known: &String| strsim::jaro_winkler(known, id);
    let near = there.max_by(|a, b| like(a).total_cmp(&like(b))).filter(|near| like(near) > 0.8);
    Err(SelectionError::Unknown { kind, id: id.clone(), near: near.cloned() })
}

/// A study with fewer schemes and workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The whole study.
    pub study: Definition,
    schemes: Vec<String>,
    workloads: Vec<String>,
    only: Vec<Only>,
}

impl Reduced {
    /// Takes out a scheme that one of the builds does not know. `false` if it is not in, or is the last one.
    pub fn remove(&mut self, scheme: &str) -> bool {
        let before = self.schemes.len();
        if before > 1 {
            self.schemes.retain(|id| id != scheme);
            self.only.iter_mut().for_each(|only| only.schemes.retain(|id| id != scheme));
        }
        self.schemes.len() < before
    }

    /// Text of the study file for a launch of so many repetitions.
    pub fn file(&self, repetitions: u32) -> String {
        let Self { study, schemes, workloads, only } = self;
        let reference = match schemes.contains(&study.reference) {
            true => &study.reference,
            false => schemes.first().unwrap_or(&study.reference),
        };
        let size = |items: u32| {
            let mut size = toml::Table::new();
            size.insert("items".into(), i64::from(items).into());
            size.insert("repetitions".into(), i64::from(repetitions).into());
            size
        };
        let sizes: toml::Table = [("quick", study.size.quick.items), ("full", study.size.full.items)]
            .map(|(name, items)| (name.to_owned(), size(items).into()))
            .into_iter()
            .collect();
        let mut file = toml::Table::new();
        for (field, text) in [
            ("slug", &study.slug),
            ("model", &study.model),
            ("title", &study.title),
            ("question", &study.question),
            ("source", &study.source),
            ("metric", &study.metric),
            ("per", &study.per),
            ("reference", reference),
        ] {
            file.insert(field.into(), text.clone().into());
        }
        file.insert("schemes".into(), schemes.clone().into());
        file.insert("workloads".into(), workloads.clone().into());
        file.insert("size".into(), sizes.into());
        let only = only.iter().map(|Only { workload, schemes }| {
            let mut table = toml::Table::new();
            table.insert("workload".into(), workload.clone().into());
            table.insert("schemes".into(), schemes.clone().into());
            toml::Value::from(table)
        });
        file.insert("only".into(), only.collect::<Vec<_>>().into());
        file.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn selection(schemes: &[&str], workloads: &[&str]) -> Selection {
        let owned = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect();
        Selection { schemes: owned(schemes), workloads: owned(workloads) }
    }

    #[test]
    fn a_reduced_study_is_one_that_can_be_read() {
        let study = sample::definition();
        let all = Definition::parse(&Selection::default().reduce(&study).unwrap().file(7), "f").unwrap();
        assert_eq!(
            (&all.schemes, &all.workloads, &all.reference),
            (&study.schemes, &study.workloads, &study.reference)
        );
        assert_eq!((all.size.quick.items, all.size.quick.repetitions), (1024, 7));
        assert!(all.claims.is_empty() && all.charts.is_empty());

        let mut few = selection(&["quux/batch/summed", "foo/idle"], &["6Bx10"]).reduce(&study).unwrap();
        let read = Definition::parse(&few.file(2), "f").unwrap();
        assert_eq!((read.schemes.len(), read.workloads.as_slice()), (2, &["6Bx10".to_owned()][..]));
        assert_eq!(read.reference, "quux/batch/summed");
        assert!(few.remove("foo/idle") && !few.remove("foo/idle") && !few.remove("quux/batch/summed"));
        assert_eq!(Definition::parse(&few.file(2), "f").unwrap().schemes, ["quux/batch/summed"]);
    }

    #[test]
    fn unknown_ids_are_refused_with_the_most_like() {
        let studies = [sample::definition()];
        let error = selection(&["foo/idel"], &[]).check(&studies).unwrap_err().to_string();
        assert_eq!(error, "no scheme \"foo/idel\" in these studies: did you mean \"foo/idle\"?");
        let error = selection(&[], &["zzz"]).check(&studies).unwrap_err().to_string();
        assert_eq!(error, "no workload \"zzz\" in these studies");
        assert_eq!(selection(&["foo/idle"], &["12Bx5"]).check(&studies), Ok(()));
    }

    #[test]
    fn workloads_without_a_scheme_are_left_out() {
        let mut study = sample::definition();
        study.only.push(Only { workload: "12Bx5".into(), schemes: vec!["foo/idle".into()] });
        let reduced = selection(&["foo/batch/summed"], &[]).reduce(&study).unwrap();
        assert_eq!(Definition::parse(&reduced.file(2), "f").unwrap().workloads, ["6Bx10"]);
        let error = selection(&["foo/batch/summed"], &["12Bx5"]).reduce(&study).unwrap_err();
        assert_eq!(error, SelectionError::Nothing { study: "sample".into() });
    }
}
