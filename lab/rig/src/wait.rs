//! Waits with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// Calls `ready` every `pause`, at least once, until it returns a value. `None` after `limit`.
///
/// # Errors
/// The first error of `ready`.
pub fn try_until<T, E>(
    limit: Duration,
    pause: Duration,
    mut ready: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let begun = Instant::now();
    loop {
        match ready()? {
            None if begun.elapsed() < limit => thread::sleep(pause),
            value => return Ok(value),
        }
    }
}

/// Waits until `holds`, which is called every 5 ms. Returns false after `limit`.
pub fn until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let holds = || Ok::<_, ()>(holds().then_some(()));
    matches!(try_until(limit, Duration::from_millis(5), holds), Ok(Some(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_a_value_an_error_or_the_limit() {
        let mut calls = 0;
        let mut third = || {
            calls += 1;
            (calls == 3).then_some(calls)
        };
        let long = Duration::from_secs(60);
        assert_eq!(try_until(long, Duration::ZERO, || Ok::<_, ()>(third())), Ok(Some(3)));
        assert_eq!(try_until(long, Duration::ZERO, || Err::<Option<()>, _>("broken")), Err("broken"));
        assert!(until(Duration::ZERO, || true) && !until(Duration::ZERO, || false));
    }
}
