//! bpf(2): maps, programs and links, each a file descriptor that the kernel closes with the process.
#![allow(unsafe_code, reason = "system calls; each use says why it is sound")]

use super::program::Instruction;
use libc::{c_int, c_long};
use nix::errno::Errno;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

// Numbers of `linux/bpf.h`.
const MAP_CREATE: c_int = 0;
const MAP_UPDATE_ELEM: c_int = 2;
const PROG_LOAD: c_int = 5;
const LINK_CREATE: c_int = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;

/// Arguments of `BPF_MAP_CREATE`.
#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}

/// Arguments of `BPF_MAP_UPDATE_ELEM`.
#[repr(C, align(8))]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Arguments of `BPF_PROG_LOAD`.
#[repr(C, align(8))]
struct ProgramLoad {
    program_type: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

/// Arguments of `BPF_LINK_CREATE`.
#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Calls bpf(2).
///
/// # Safety
/// `arguments` are the structure of the command, and all addresses in them point to memory that lives longer
/// than the call, of the stated length.
unsafe fn call<T>(command: c_int, arguments: &mut T) -> Result<c_int, Errno> {
    // SAFETY: the kernel reads the structure, whose size is given; the caller answers for addresses in it.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(arguments), size_of::<T>()) };
    Errno::result::<c_long>(result).map(|result| result as c_int)
}

/// Address of a value, for the kernel.
fn address<T: ?Sized>(value: &T) -> u64 {
    std::ptr::from_ref(value).cast::<u8>().expose_provenance() as u64
}

fn number(fd: BorrowedFd<'_>) -> u32 {
    // Descriptors that are open are not negative.
    fd.as_raw_fd() as u32
}

/// A map from receive queues to sockets (XSKMAP).
pub(super) fn create_map(queues: u32) -> Result<OwnedFd, Errno> {
    let mut arguments = MapCreate {
        map_type: MAP_TYPE_XSKMAP,
        key_size: 4,
        value_size: 4,
        max_entries: queues,
        map_flags: 0,
    };
    // SAFETY: no addresses; the new descriptor is owned by nobody else.
    unsafe { call(MAP_CREATE, &mut arguments).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Enters the socket of a queue into a map.
pub(super) fn enter(map: BorrowedFd<'_>, queue: u32, socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let value = number(socket);
    let mut arguments =
        MapUpdate { map: number(map), padding: 0, key: address(&queue), value: address(&value), flags: 0 };
    // SAFETY: the kernel reads 4 bytes at either address, as the map was created.
    unsafe { call(MAP_UPDATE_ELEM, &mut arguments).map(drop) }
}

/// Loads a program for XDP, which the kernel verifies and shows by this name.
pub(super) fn load(code: &[Instruction], name: [u8; 16]) -> Result<OwnedFd, Errno> {
    let license = c"MIT OR Apache-2.0";
    let mut arguments = ProgramLoad {
        program_type: PROG_TYPE_XDP,
        instructions: u32::try_from(code.len()).map_err(|_| Errno::E2BIG)?,
        code: address(code),
        license: address(license.to_bytes_with_nul()),
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
        name,
        interface: 0,
        attach_type: ATTACH_XDP,
    };
    // SAFETY: the kernel reads this number of instructions, and the license to its end; the new descriptor is
    // owned by nobody else.
    unsafe { call(PROG_LOAD, &mut arguments).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Attaches a program to an interface until the last copy of the returned descriptor is closed.
pub(super) fn attach(program: BorrowedFd<'_>, interface: u32, flags: u32) -> Result<OwnedFd, Errno> {
    let mut arguments = LinkCreate { program: number(program), interface, attach_type: ATTACH_XDP, flags };
    // SAFETY: no addresses; the new descriptor is owned by nobody else.
    unsafe { call(LINK_CREATE, &mut arguments).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Runs a program on a frame, as if queue 0 of the loopback interface had received it. Returns its verdict.
#[cfg(test)]
pub(super) fn run(program: BorrowedFd<'_>, frame: &[u8]) -> Result<u32, Errno> {
    const PROG_TEST_RUN: c_int = 10;
    #[repr(C, align(8))]
    struct TestRun {
        program: u32,
        result: u32,
        data_size_in: u32,
        data_size_out: u32,
        data_in: u64,
        data_out: u64,
        repeat: u32,
        duration: u32,
    }
    let mut arguments = TestRun {
        program: number(program),
        result: 0,
        data_size_in: frame.len() as u32,
        data_size_out: 0,
        data_in: address(frame),
        data_out: 0,
        repeat: 1,
        duration: 0,
    };
    // SAFETY: the kernel reads the frame, and writes numbers in the structure alone.
    unsafe { call(PROG_TEST_RUN, &mut arguments)? };
    Ok(arguments.result)
}
