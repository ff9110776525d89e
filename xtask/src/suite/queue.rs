//! The test programs that are built and not yet started.

use super::Program;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Programs that take longest, and start first. The others start in the order of their size.
const LONGEST: [&str; 3] = ["bin/hashlane command", "bin/ndn command", "lab/audit"];

/// Programs, to which the build adds and from which the workers take.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    programs: Vec<Program>,
    /// Programs so far, with those that were taken.
    known: usize,
    /// No program will be added.
    is_complete: bool,
}

impl Queue {
    /// Adds a program.
    pub(super) fn push(&self, program: Program) {
        let mut state = self.lock();
        state.programs.push(program);
        state.known += 1;
        self.changed.notify_all();
    }

    /// Ends the waits of workers for further programs.
    pub(super) fn complete(&self) {
        self.lock().is_complete = true;
        self.changed.notify_all();
    }

    /// Programs that were added.
    pub(super) fn known(&self) -> usize {
        self.lock().known
    }

    /// Takes a program, one of the kind that the worker prefers if there is one; waits for it until the queue
    /// is complete. Before, no program is taken that computes: it would slow the build down.
    pub(super) fn next(&self, prefers_waiting: bool) -> Option<Program> {
        let mut state = self.lock();
        loop {
            if let Some(at) = state.choose(prefers_waiting) {
                return Some(state.programs.swap_remove(at));
            }
            if state.is_complete {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Place of the program that a worker takes.
    fn choose(&self, prefers_waiting: bool) -> Option<usize> {
        let rank = |program: &Program| {
            let is_longest = LONGEST.contains(&program.name.as_str());
            (program.is_waiting == prefers_waiting, is_longest, program.size())
        };
        let programs = self.programs.iter().enumerate();
        let ready = programs.filter(|(_, program)| program.is_waiting || self.is_complete);
        ready.max_by_key(|(_, program)| rank(program)).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::thread;

    fn push(queue: &Queue, name: &str, size: usize, is_waiting: bool, folder: &Path) {
        let executable = folder.join(name.replace('/', "-"));
        std::fs::write(&executable, vec![0; size]).unwrap();
        queue.push(Program { name: name.to_owned(), executable, package: folder.to_owned(), is_waiting });
    }

    fn name(queue: &Queue, prefers_waiting: bool) -> Option<String> {
        queue.next(prefers_waiting).map(|program| program.name)
    }

    #[test]
    fn the_longest_programs_of_the_preferred_kind_start_first() {
        let folder = crate::run::target_dir().unwrap().join("test-queue");
        std::fs::create_dir_all(&folder).unwrap();
        let queue = Queue::default();
        for (program, size, is_waiting) in [
            ("small", 1, false),
            ("large", 9, false),
            ("lab/audit", 2, false),
            ("waits", 3, true),
            ("bin/ndn command", 1, true),
            ("waits longer", 5, true),
        ] {
            push(&queue, program, size, is_waiting, &folder);
        }
        // Until all are built, only those that wait.
        assert_eq!(name(&queue, true).as_deref(), Some("bin/ndn command"));
        assert_eq!(name(&queue, false).as_deref(), Some("waits longer"));
        queue.complete();
        assert_eq!(name(&queue, false).as_deref(), Some("lab/audit"));
        assert_eq!(name(&queue, true).as_deref(), Some("waits"));
        assert_eq!(name(&queue, true).as_deref(), Some("large"));
        assert_eq!((name(&queue, false).as_deref(), queue.known()), (Some("small"), 6));
        assert_eq!([name(&queue, true), name(&queue, false)], [None, None]);
    }

    #[test]
    fn a_worker_waits_for_a_program_until_the_queue_is_complete() {
        let folder = crate::run::target_dir().unwrap().join("test-queue");
        std::fs::create_dir_all(&folder).unwrap();
        let queue = Queue::default();
        thread::scope(|scope| {
            let worker = scope.spawn(|| [name(&queue, true), name(&queue, true)]);
            push(&queue, "late", 1, true, &folder);
            queue.complete();
            assert_eq!(worker.join().unwrap(), [Some("late".to_owned()), None]);
        });
    }
}
