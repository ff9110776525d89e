//! Waiting for a quiet machine.

use anyhow::Result;
use hashlane_lab::run::{Activity, Noise};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at the machine.
const LOOK: Duration = Duration::from_millis(500);

/// Looks in a row at which the machine must be quiet.
const QUIET_LOOKS: u32 = 4;

/// Waits until the machine has been quiet for two seconds, at most `patience`. Reports its noise to `tell`
/// every ten seconds. Returns `false` if it was never quiet, or `stop` is set.
pub(crate) fn wait(patience: Duration, stop: &AtomicBool, mut tell: impl FnMut(Noise)) -> Result<bool> {
    let end = Instant::now() + patience;
    let (mut quiet, mut looks) = (0, 0);
    let mut last = Activity::now();
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        let now = Activity::now();
        let noise = last.until(&now);
        last = now;
        quiet = if noise.is_quiet() { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            return Ok(true);
        }
        if looks % 20 == 0 && quiet == 0 {
            tell(noise);
        }
        looks += 1;
    }
    Ok(false)
}
