//! Outputs that are exchanged while a run goes on.

use super::exporters::{Exporters, Finished, Named, OutputStatus};
use super::settings::{Origin, OutputConfig};
use super::{RunFacts, places};
use crate::export::ExportError;
use crate::record::FlowRecord;
use crate::run::{Output, wall};
use crate::stats::MeterStats;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Exporters of a run that other threads may exchange.
#[derive(Clone)]
pub struct SharedExporters(Arc<Mutex<Exporters>>);

/// Result of an exchange.
#[derive(Debug, Default)]
pub struct Exchanged {
    /// Names of the outputs that were opened.
    pub opened: Vec<String>,
    /// Outputs that were completed and closed.
    pub closed: Vec<Finished>,
}

impl SharedExporters {
    /// Shares exporters.
    #[must_use]
    pub fn new(exporters: Exporters) -> Self {
        Self(Arc::new(Mutex::new(exporters)))
    }

    fn lock(&self) -> MutexGuard<'_, Exporters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// State of each output.
    #[must_use]
    pub fn status(&self) -> Vec<OutputStatus> {
        self.lock().status()
    }

    /// Completes all outputs: see [`Exporters::finish`].
    #[must_use]
    pub fn finish(&self, now: u64) -> Vec<Finished> {
        // Others may hold this value, but the run has ended.
        let all = self.lock().take_all();
        all.finish(now)
    }

    /// Exchanges the outputs for a new configuration's. An output whose settings are as before stays open,
    /// unless it has failed or its file was moved away; the others are opened, and the old ones are
    /// completed. Waits for the collectors of those, at most five seconds each, while the run goes on.
    ///
    /// # Errors
    /// A new output cannot be opened, or would overwrite a file that is being written; nothing has changed.
    pub fn exchange(
        &self,
        outputs: &[OutputConfig],
        facts: &RunFacts,
        origin: Origin,
    ) -> Result<Exchanged, String> {
        places::check(outputs, &[], origin)?;
        // Only this function adds and removes outputs; one call at a time.
        let stays = self.lock().find(outputs);
        let mut new = Vec::new();
        for (output, stays) in outputs.iter().zip(&stays) {
            if stays.is_none() {
                let is_open = self.lock().writes_to(output);
                if is_open && output.overwrite {
                    return Err(origin.explain_open(output));
                }
                new.push(Named::open(output, facts).map_err(|error| match error {
                    ExportError::Exists(_) if is_open => origin.explain_open(output),
                    error => origin.explain(&error),
                })?);
            }
        }
        let opened = new.iter().map(Named::name).collect();
        let old = self.lock().replace(&stays, new);
        Ok(Exchanged { opened, closed: old.finish(wall()) })
    }
}

impl Output for SharedExporters {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        self.lock().flows(flows, now)
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        self.lock().tick(workers, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{Format, Target};
    use std::path::Path;

    fn csv(folder: &Path, name: &str) -> OutputConfig {
        OutputConfig { format: Format::Csv, to: Target::File(folder.join(name)), ..OutputConfig::default() }
    }

    fn lines(folder: &Path, name: &str) -> usize {
        std::fs::read_to_string(folder.join(name)).unwrap().lines().count()
    }

    #[test]
    fn an_exchange_completes_old_outputs_and_keeps_those_that_are_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let facts = RunFacts::default();
        let opened = Exporters::open(&[csv(folder, "a"), csv(folder, "b")], &facts, |_| {}).unwrap();
        let mut shared = SharedExporters::new(opened);
        let exchange = |outputs: &[OutputConfig]| shared.exchange(outputs, &facts, Origin::File);
        let mut other = shared.clone();
        let mut write = || other.flows(&[FlowRecord::EMPTY], 0).unwrap();
        write();
        let Exchanged { opened, closed } = exchange(&[csv(folder, "b"), csv(folder, "c")]).unwrap();
        assert_eq!(opened, [folder.join("c").display().to_string()]);
        assert!(closed.len() == 1 && closed[0].to_string().contains("a: 1 flow, "), "{closed:?}");
        assert_eq!(lines(folder, "a"), 2);
        write();
        // As logrotate does.
        std::fs::rename(folder.join("b"), folder.join("b.1")).unwrap();
        let Exchanged { opened, closed } = exchange(&[csv(folder, "b"), csv(folder, "c")]).unwrap();
        assert!(opened.len() == 1 && closed.len() == 1 && closed[0].to_string().contains("2 flows"));
        write();
        assert_eq!((lines(folder, "b.1"), lines(folder, "a")), (3, 2));
        let status = shared.status();
        assert_eq!(status.len(), 2);
        assert!(status.iter().all(|output| output.error.is_none()));
        let finished = shared.finish(0);
        assert_eq!((lines(folder, "b"), lines(folder, "c"), finished.len()), (2, 3, 2));
        assert!(shared.tick(&[], 0).is_ok());
    }

    #[test]
    fn an_output_that_cannot_be_opened_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let facts = RunFacts::default();
        let a = csv(folder, "a");
        let mut shared =
            SharedExporters::new(Exporters::open(std::slice::from_ref(&a), &facts, |_| {}).unwrap());
        std::fs::write(folder.join("there"), "kept").unwrap();
        let exchange = |outputs: &[OutputConfig]| shared.exchange(outputs, &facts, Origin::File).unwrap_err();
        let error = exchange(&[csv(folder, "new"), csv(folder, "there")]);
        assert!(error.contains("there exists: ") && error.contains("overwrite = true"), "{error}");
        assert!(!folder.join("new").exists());
        // Another format for a file that is open, also with leave to overwrite it.
        for overwrite in [false, true] {
            let other = OutputConfig { format: Format::Json, overwrite, ..a.clone() };
            let error = exchange(&[other]);
            assert!(error.contains("with other settings; rename the file and reload again, or"), "{error}");
        }
        let numbered = OutputConfig { rotate_mib: 1, overwrite: true, ..a.clone() };
        let error = exchange(&[numbered]);
        assert!(error.ends_with("with other settings; choose another name, or restart"), "{error}");
        assert!(exchange(&[a.clone(), csv(folder, "./a")]).contains("the same file"));
        shared.flows(&[FlowRecord::EMPTY], 0).unwrap();
        assert_eq!(shared.finish(0).len(), 1);
        assert_eq!(lines(folder, "a"), 2);
    }

    #[test]
    fn a_file_stays_open_when_it_may_be_overwritten_and_takes_other_settings_once_it_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let facts = RunFacts::default();
        let old = OutputConfig { to: Target::File(path("a")), ..OutputConfig::default() };
        let opened = Exporters::open(std::slice::from_ref(&old), &facts, |_| {}).unwrap();
        let mut shared = SharedExporters::new(opened);
        let exchange = |output: &OutputConfig| {
            shared.exchange(std::slice::from_ref(output), &facts, Origin::File).map(|all| all.opened.len())
        };
        let overwrite = OutputConfig { overwrite: true, ..old.clone() };
        assert_eq!(exchange(&overwrite), Ok(0));
        let nanoseconds = OutputConfig { nanoseconds: true, ..overwrite };
        assert!(exchange(&nanoseconds).unwrap_err().contains("rename the file and reload again"));
        shared.clone().flows(&[FlowRecord::EMPTY], 0).unwrap();
        std::fs::rename(path("a"), path("a.1")).unwrap();
        assert_eq!(exchange(&nanoseconds), Ok(1));
        shared.flows(&[FlowRecord::EMPTY], 0).unwrap();
        assert_eq!(shared.finish(0).len(), 1);
        for name in ["a", "a.1"] {
            let file = std::fs::File::open(path(name)).unwrap();
            assert_eq!(crate::IpfixReader::new(file).filter(Result::is_ok).count(), 1, "{name}");
        }
    }

    #[test]
    fn an_output_that_has_failed_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let full = OutputConfig {
            format: Format::Json,
            to: Target::File("/dev/full".into()),
            ..OutputConfig::default()
        };
        let outputs = [full, csv(folder.path(), "a")];
        let facts = RunFacts::default();
        let mut shared = SharedExporters::new(Exporters::open(&outputs, &facts, |_| {}).unwrap());
        shared.flows(&vec![FlowRecord::EMPTY; 1000], 0).unwrap();
        shared.tick(&[], 10_000_000_000).unwrap();
        assert!(shared.status()[0].error.as_ref().is_some_and(|error| error.contains("no space left")));
        let Exchanged { opened, closed } = shared.exchange(&outputs, &facts, Origin::File).unwrap();
        assert_eq!(opened, ["/dev/full"]);
        assert!(closed[0].has_failed() && closed[0].to_string().contains("no space left"), "{closed:?}");
        assert!(shared.status()[0].error.is_none());
    }
}
