//! The studies of a run: their definitions and durations, `studies.toml` beside the records.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use hashlane_records::write_atomically;

/// The studies of a run, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStudies {
    /// Studies.
    #[serde(default)]
    pub study: Vec<RunStudy>,
}

/// A study of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStudy {
    /// Slug.
    pub slug: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Timed samples.
    pub samples: u64,
    /// Samples far from the median of their figure; see [`Fact`](crate::study::Fact).
    pub outliers: u64,
    /// Text of the study file.
    pub definition: String,
}

impl RunStudies {
    /// The study with this slug.
    pub fn find(&self, slug: &str) -> Option<&RunStudy> {
        self.study.iter().find(|study| study.slug == slug)
    }

    /// Reads the file `path`; no studies if there is no such file, as results of earlier versions have none.
    ///
    /// # Errors
    /// The file cannot be read, or does not describe studies.
    pub fn read(path: &Path) -> io::Result<Self> {
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the file `path`, whole or not at all.
    ///
    /// # Errors
    /// Whatever keeps the file from being written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_atomically(path, toml::to_string(self).map_err(io::Error::other)?.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_survive_the_file() {
        let definition = "slug = \"a\"\nwords = '''“x”'''\n".to_owned();
        let study = RunStudy { slug: "a".into(), seconds: 1.5, samples: 7, outliers: 1, definition };
        let studies = RunStudies { study: vec![study] };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("studies.toml");
        assert_eq!(RunStudies::read(&path).unwrap(), RunStudies::default());
        studies.write(&path).unwrap();
        assert_eq!(RunStudies::read(&path).unwrap(), studies);
        std::fs::write(&path, "[[study]]\ncolour = 1\n").unwrap();
        assert!(RunStudies::read(&path).is_err());
    }
}
