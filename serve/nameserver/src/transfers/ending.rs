//! The end of a thread that asks primaries, which is reported also after a panic.

use super::event::{Done, Event};
use super::fetch::Job;
use hashlane_name::dns::NameBuf;
use std::sync::mpsc::Sender;

/// Reports the outcome of a thread when it is dropped.
pub(super) struct Ending {
    apex: NameBuf,
    done: Option<Box<Done>>,
    events: Sender<Event>,
}

impl Ending {
    /// The end of a thread that has no outcome yet.
    pub(super) fn new(job: &Job, events: Sender<Event>) -> Self {
        let outcome = Err("the thread of the transfer has panicked; report this defect".to_owned());
        let done = Done { watched: job.watched.clone(), outcome, kept: job.kept.clone(), missed: None };
        Self { apex: job.apex, done: Some(Box::new(done)), events }
    }

    /// Sets the outcome.
    pub(super) fn set(&mut self, done: Done) {
        self.done = Some(Box::new(done));
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            // The server ends.
            let _ = self.events.send(Event::Done(self.apex, done));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use crate::transfers::fetch::Limits;
    use crate::transfers::kept::Kept;
    use hashlane_hash::scheme::Key;
    use hashlane_name::dns::text;
    use std::path::PathBuf;
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Weak};
    use std::time::Duration;

    #[test]
    fn a_thread_that_panics_is_a_failure_of_its_zone() {
        let job = Job {
            apex: text::parse(b"example.com").unwrap(),
            primaries: Vec::new(),
            current: None,
            kept: Kept::nothing(PathBuf::new()),
            is_forced: false,
            told: None,
            missed: None,
            key: Key::new([1; 16]),
            limits: Limits { bytes: 0, time: Duration::ZERO },
            pool: Arc::default(),
            watched: Weak::new(),
        };
        let (events, reported) = channel();
        let ending = Ending::new(&job, events);
        let panicking = std::thread::spawn(move || {
            let _ending = ending;
            panic!("as by a defect");
        });
        assert!(panicking.join().is_err());
        let Ok(Event::Done(apex, done)) = reported.recv() else { panic!("no end") };
        assert_eq!(apex, job.apex);
        assert!(done.outcome.is_err_and(|error| error.contains("has panicked")));
        assert!(reported.recv().is_err(), "reported once");
    }
}
