//! The CPU's time-stamp counter, read with barriers so that exactly the code between two reads is timed.
//!
//! On x86-64 the first read waits for everything before it, and the code after it waits for the read
//! (`LFENCE`, `RDTSC`, `LFENCE`); the second waits for the timed code and holds back the code after it
//! (`RDTSCP`, `LFENCE`). Intel's paper on benchmarking (324264-001, 2010) has `CPUID` in place of `LFENCE`;
//! in a virtual machine `CPUID` leaves the guest for a thousand cycles and more, and `LFENCE` waits for the
//! same things ("LFENCE does not execute until all prior instructions have completed locally", Intel SDM vol.
//! 2A).
#![allow(
    unsafe_code,
    reason = "the counter is read by intrinsics and instructions; each use states its safety"
)]

/// Name and unit of the counter, for the machine's facts.
pub const NAME: &str = if cfg!(target_arch = "x86_64") {
    "time-stamp counter, LFENCE RDTSC LFENCE … RDTSCP LFENCE"
} else if cfg!(target_arch = "aarch64") {
    "virtual counter, ISB MRS CNTVCT_EL0 ISB"
} else {
    "monotonic clock of the operating system, nanoseconds"
};

/// The counter before the timed code.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn start() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 CPU has SSE2 and the counter; neither instruction touches memory.
    unsafe {
        _mm_lfence();
        let count = _rdtsc();
        _mm_lfence();
        count
    }
}

/// The counter after the timed code.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn stop() -> u64 {
    use core::arch::x86_64::{__rdtscp, _mm_lfence};
    let mut processor = 0;
    // SAFETY: `RDTSCP` is on every x86-64 CPU since 2008; it writes the processor's number to the local
    // variable.
    unsafe {
        let count = __rdtscp(&raw mut processor);
        _mm_lfence();
        count
    }
}

/// The counter, read without a barrier: the surrounding code may overlap the read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn now() -> u64 {
    // SAFETY: every x86-64 CPU has the counter; the instruction touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Barrier: the code after it begins only once everything before it has ended.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn fence() {
    // SAFETY: every x86-64 CPU has SSE2; the instruction touches no memory.
    unsafe { core::arch::x86_64::_mm_lfence() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn read() -> u64 {
    let count: u64;
    // SAFETY: reads a counter that user space may read on every operating system that Rust's std supports; no
    // memory is touched.
    unsafe { core::arch::asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) count, options(nostack)) };
    count
}

/// The counter, read without a barrier: the surrounding code may overlap the read.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn now() -> u64 {
    let count: u64;
    // SAFETY: as in `read`.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nostack, nomem)) };
    count
}

/// The counter before the timed code.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn start() -> u64 {
    read()
}

/// The counter after the timed code.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn stop() -> u64 {
    read()
}

/// Barrier: the code after it begins only once everything before it has ended.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn fence() {
    // SAFETY: the barrier touches neither memory nor registers.
    unsafe { core::arch::asm!("isb", options(nostack)) };
}

/// Nothing: the system's clock is read without barriers, too.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn fence() {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn read() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The counter, read without waiting for anything.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn now() -> u64 {
    read()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_forward() {
        let first = super::start();
        let second = super::stop();
        assert!(second >= first);
    }
}
