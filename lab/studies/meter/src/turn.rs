//! Turns of a program: the folder of its outputs, and its failure.

use crate::error::MeterError;
use hashlane_lab::study::RunError;
use std::fs;
use std::path::Path;

/// Makes an empty folder for the outputs of a turn.
pub(crate) fn empty(folder: &Path) -> Result<(), MeterError> {
    let failed = "cannot make a folder for outputs";
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(MeterError::io(failed))?;
    }
    fs::create_dir(folder).map_err(MeterError::io(failed))
}

/// The failure of our meter on a workload; `Ok` of a run that was stopped.
pub(crate) fn failure(workload: &str, scheme: &str, error: MeterError) -> Result<(), RunError> {
    match error {
        MeterError::Stopped => Ok(()),
        error => Err(RunError::Subject {
            workload: workload.to_owned(),
            scheme: scheme.to_owned(),
            why: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turn");
        empty(&path).unwrap();
        fs::write(path.join("rest"), "x").unwrap();
        empty(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn a_stopped_run_is_no_failure() {
        assert!(failure("memory", "ours", MeterError::Stopped).is_ok());
        let error = failure("memory", "ours", MeterError::Program("it ended early".into())).unwrap_err();
        assert_eq!(error.to_string(), "workload memory, ours: it ended early");
    }
}
