//! No process of a library: the kernel ends the process that tries to start another.
//!
//! A child that has left its group and outlived its parent is found by nobody. So none is started: a filter
//! of system calls lets threads through, and ends the process at any other `clone`, `fork` or `vfork`.

use super::foreign::set_filter;
use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};
use libc::{CLONE_THREAD, ENOSYS, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS};
use std::io;

/// Number of the machine in `seccomp_data`, and calls that start a process, whatever their arguments.
///
/// Source: linux/audit.h, and the tables of system calls of each machine.
#[cfg(target_arch = "x86_64")]
const MACHINE: Option<(u32, &[i64])> = Some((0xc000_003e, &[libc::SYS_fork, libc::SYS_vfork]));
#[cfg(target_arch = "aarch64")]
const MACHINE: Option<(u32, &[i64])> = Some((0xc000_00b7, &[]));
#[cfg(target_arch = "riscv64")]
const MACHINE: Option<(u32, &[i64])> = Some((0xc000_00f3, &[]));
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const MACHINE: Option<(u32, &[i64])> = None;

/// Offset of the number of the call in `seccomp_data`.
const NUMBER: u32 = 0;

/// Offset of the machine.
const ARCH: u32 = 4;

/// Offset of the lower half of the first argument.
const FIRST_ARGUMENT: u32 = 16;

/// Least number of a call of the x32 ABI, which x86-64 has beside its own.
const X32: u32 = 0x4000_0000;

/// Ends this process from now on if it starts another, in any of its threads.
///
/// # Errors
/// The kernel has no filters, or none are known for this machine: processes are then only seen afterwards.
pub(super) fn forbid() -> io::Result<()> {
    let (arch, forks) = MACHINE.ok_or(io::ErrorKind::Unsupported)?;
    set_filter(&filter(arch, forks))
}

fn filter(arch: u32, forks: &[i64]) -> Vec<sock_filter> {
    let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let load = |at| instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0, at);
    let end = |action| instruction(BPF_RET | BPF_K, 0, 0, action);
    // The next instruction is skipped unless the test holds, or if it does.
    let when = |test, value| instruction(BPF_JMP | test | BPF_K, 0, 1, value);
    let unless = |test, value| instruction(BPF_JMP | test | BPF_K, 1, 0, value);
    let mut program = vec![load(ARCH), unless(BPF_JEQ, arch), end(SECCOMP_RET_KILL_PROCESS), load(NUMBER)];
    if cfg!(target_arch = "x86_64") {
        program.extend([when(BPF_JSET, X32), end(SECCOMP_RET_KILL_PROCESS)]);
    }
    for call in forks {
        program.extend([when(BPF_JEQ, *call as u32), end(SECCOMP_RET_KILL_PROCESS)]);
    }
    // Its flags lie in memory, out of reach of a filter; C libraries fall back to `clone`.
    let absent = SECCOMP_RET_ERRNO | ENOSYS as u32;
    program.extend([when(BPF_JEQ, libc::SYS_clone3 as u32), end(absent)]);
    program.extend([unless(BPF_JEQ, libc::SYS_clone as u32), end(SECCOMP_RET_ALLOW)]);
    program.extend([load(FIRST_ARGUMENT), when(BPF_JSET, CLONE_THREAD as u32), end(SECCOMP_RET_ALLOW)]);
    program.push(end(SECCOMP_RET_KILL_PROCESS));
    program
}
