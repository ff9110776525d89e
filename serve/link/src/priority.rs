//! Scheduling priority of threads.

use crate::sys;
use std::io;

/// Nice value of a thread that works in the background.
const BACKGROUND: i32 = 10;

/// Lowers the scheduling priority of the calling thread and of the threads that it starts, so that they take
/// little time from the others (nice value 10, setpriority(2)).
///
/// # Errors
///
/// The process has a lower priority already, and may not raise it (`RLIMIT_NICE`).
pub fn lower() -> io::Result<()> {
    sys::lower_priority(BACKGROUND)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_the_calling_thread_gets_a_lower_priority() {
        let nice = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("a file of every thread");
            let fields = stat.rsplit_once(')').expect("the end of the name").1;
            fields.split_whitespace().nth(16).expect("proc(5): field 19").parse::<i32>().expect("a number")
        };
        let before = nice();
        let lowered = std::thread::spawn(move || {
            super::lower().expect("every process may lower its priority");
            nice()
        });
        assert_eq!((lowered.join().expect("no panic"), nice()), (super::BACKGROUND, before));
    }
}
