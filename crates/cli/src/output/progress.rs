//! The progress bar of a run.

use indicatif::{ProgressBar, ProgressStyle};
use lab::study::run::Step;
use std::time::Duration;

/// A bar on standard error, where that is a terminal; else nothing.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(study: &str) -> Self {
        let bar = ProgressBar::new(1);
        let style = "{prefix} [{bar:30}] {percent:>3} %  {elapsed} of about {duration}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(study.to_owned());
        bar.enable_steady_tick(Duration::from_secs(1));
        Self(bar)
    }

    pub(crate) fn show(&self, step: Step<'_>) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.done as u64);
        self.0.set_message(format!("{}: {}", step.workload, step.what));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
