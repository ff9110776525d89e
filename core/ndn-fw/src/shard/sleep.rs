//! Sleep of a thread that others hand packets over to, so that they wake it only while it sleeps.

use core::sync::atomic::Ordering::SeqCst;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicBool, fence};
#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, fence};

/// Flag of a thread that sleeps, or is about to.
///
/// The thread [announces](Self::announce) its sleep, then looks at its queue once more, and sleeps if that is
/// empty. Another thread adds to the queue, then asks [`take`](Self::take) if it has to wake the thread. Of
/// the two at least one sees what the other has stored before its fence: the sleeper what was added, or the
/// other thread the sleep. So nothing that was added waits while the thread sleeps.
#[derive(Debug)]
pub struct SleepFlag(AtomicBool);

impl Default for SleepFlag {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl SleepFlag {
    /// Announces that the thread is about to sleep. It looks at its queue once more afterwards.
    pub fn announce(&self) {
        self.0.store(true, SeqCst);
        fence(SeqCst);
    }

    /// Notes that the thread is awake.
    pub fn end(&self) {
        self.0.store(false, SeqCst);
    }

    /// True if the caller, who has added to the queue, has to wake the thread. One caller of several at once
    /// gets true.
    pub fn take(&self) -> bool {
        fence(SeqCst);
        self.0.load(SeqCst) && self.0.swap(false, SeqCst)
    }
}

#[cfg(all(test, loom))]
mod models {
    //! Every order in which the threads' steps can meet: `cargo xtask nightly --only loom`

    use super::*;
    use alloc::vec::Vec;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::sync::atomic::Ordering::Relaxed;
    use loom::thread;

    /// A thread with its queue, and the number of times that it was woken.
    #[derive(Default)]
    struct Sleeper {
        flag: SleepFlag,
        queue: AtomicUsize,
        woken: AtomicUsize,
    }

    /// Adds to the queue of a thread, and wakes it if it has to.
    fn hand_over(sleeper: &Sleeper) {
        sleeper.queue.fetch_add(1, Relaxed);
        if sleeper.flag.take() {
            sleeper.woken.fetch_add(1, SeqCst);
        }
    }

    /// `senders` threads hand over while one goes to sleep: if it sleeps, somebody wakes it, once.
    fn check(senders: usize) {
        loom::model(move || {
            let sleeper = Arc::new(Sleeper::default());
            let senders: Vec<_> = (0..senders)
                .map(|_| {
                    let sleeper = Arc::clone(&sleeper);
                    thread::spawn(move || hand_over(&sleeper))
                })
                .collect();
            sleeper.flag.announce();
            let sleeps = sleeper.queue.load(Relaxed) == 0;
            if !sleeps {
                sleeper.flag.end();
            }
            senders.into_iter().for_each(|sender| sender.join().expect("a sender"));
            let woken = sleeper.woken.load(SeqCst);
            assert!(!sleeps || woken == 1, "a thread sleeps before its queue");
            assert!(woken <= 1);
        });
    }

    #[test]
    fn a_thread_never_sleeps_before_a_queue_that_has_something() {
        check(1);
    }

    #[test]
    fn one_of_two_senders_wakes_a_thread() {
        check(2);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_woken_once_and_only_while_it_sleeps() {
        let flag = SleepFlag::default();
        assert!(!flag.take());
        flag.announce();
        assert!(flag.take() && !flag.take());
        flag.announce();
        flag.end();
        assert!(!flag.take());
    }
}
