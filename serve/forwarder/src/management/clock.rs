//! Time, as management gets it.

/// One moment on two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Milliseconds of a clock that never goes back.
    pub monotonic: u64,
    /// Milliseconds since 1970.
    pub unix: u64,
}
