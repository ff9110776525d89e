//! Busy loops beside a measurement.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Threads that keep processors busy until this is dropped. They end with the process, too, whatever ends it.
pub(super) struct Busy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts so many loops.
    pub(super) fn start(count: usize) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut busy = Self { stop: stop.clone(), threads: Vec::new() };
        for _ in 0..count {
            let stop = stop.clone();
            busy.threads.push(thread::Builder::new().spawn(move || {
                let mut number = 1_u64;
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..10_000 {
                        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
                    }
                }
            })?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic leaves no broken state here.
            let _ = thread.join();
        }
    }
}
