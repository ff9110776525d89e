//! CPU time of the calling thread.

use nix::time::ClockId;

/// Nanoseconds for which the calling thread has had a processor. Time in which other threads had it does not
/// count, so a long turn is no slower than a short one on a busy machine. NaN if the system has no such
/// clock: figures made of it are not recorded.
pub fn cpu_ns() -> f64 {
    let now = ClockId::CLOCK_THREAD_CPUTIME_ID.now();
    now.map_or(f64::NAN, |time| time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn does_not_count_the_time_of_others() {
        let before = cpu_ns();
        std::thread::sleep(Duration::from_millis(300));
        let slept = cpu_ns() - before;
        assert!((0.0..200e6).contains(&slept), "{slept}");
        while cpu_ns() - before < 1e6 {}
    }
}
