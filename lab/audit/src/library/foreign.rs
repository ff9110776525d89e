//! Calls of functions in shared objects, and memory that ends before a page that cannot be read.
//!
//! Runs in a separate process: a function that is not of the stated type, or breaks memory, harms no other.
#![allow(unsafe_code, reason = "foreign functions and pages of memory; each use says why it is sound")]

use super::signature::{Parameter, Signature, Width};
use hashlane_hash::scheme::Key;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{self, ManuallyDrop};
use std::path::Path;
use std::ptr;

/// A function whose type is not known yet.
type Untyped = unsafe extern "C" fn();

/// Closes all descriptors beyond standard error: those that the command was started with.
///
/// # Errors
/// The kernel refuses it: it is older than Linux 5.9.
pub(super) fn close_inherited() -> io::Result<()> {
    // SAFETY: the process has just started and owns no descriptor beyond standard error, so that none is
    // closed behind its owner.
    match unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Puts all threads of this process, and those that they start, under a filter of system calls.
///
/// # Errors
/// The kernel has no filters, a thread has another one, or the process may gain privileges.
pub(super) fn set_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    let (mode, all_threads) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: `program` has `len` instructions, which the kernel reads during the call and does not write.
    match unsafe { libc::syscall(libc::SYS_seccomp, mode, all_threads, &raw const program) } {
        0 => Ok(()),
        // The number of a thread that cannot follow.
        1.. => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Opens a shared object. It is never closed: its threads may run until the process ends.
fn open(path: &Path) -> Result<ManuallyDrop<Library>, String> {
    // SAFETY: the constructors of the library run, and may do anything; this process is there for that alone.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    library.map(ManuallyDrop::new).map_err(|error| {
        let error = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        format!("cannot load {}: {error}; build it with -shared -fPIC, for this CPU", path.display())
    })
}

/// The address of `symbol`, if the library exports it.
fn address(library: &Library, symbol: &str) -> Option<Untyped> {
    // SAFETY: `Option` of a function pointer has the size of a pointer and is `None` for null, so that any
    // address makes a valid value. The type is given where the function is called.
    unsafe { library.get::<Option<Untyped>>(symbol.as_bytes()) }.ok().and_then(|symbol| *symbol)
}

fn required(library: &Library, path: &Path, symbol: &str) -> Result<Untyped, String> {
    address(library, symbol).ok_or_else(|| {
        let path = path.display();
        format!("no symbol {symbol:?} in {path}; list the symbols that it exports by `nm -D {path}`")
    })
}

/// The function with its type `F`, which is one of pointers to functions.
///
/// # Safety
/// The function has that type.
unsafe fn typed<F: Copy>(function: Untyped) -> F {
    const { assert!(size_of::<F>() == size_of::<Untyped>()) };
    // SAFETY: pointers to functions have one size, and the caller says that the type is right.
    unsafe { mem::transmute_copy(&function) }
}

/// A hash function of a shared object.
pub(super) struct HashFunction {
    function: Untyped,
    signature: Signature,
}

/// An argument.
#[derive(Clone, Copy)]
enum Argument {
    Pointer(*const u8),
    Bits32(u32),
    Bits64(u64),
}

/// The integer whose bytes are `key`, little-endian; of a longer key, its first eight bytes.
fn integer(key: &[u8]) -> u64 {
    key.iter().take(8).rev().fold(0, |integer, byte| integer << 8 | u64::from(*byte))
}

/// Calls `$function` with the arguments, as a function of the types that they and the result have.
macro_rules! call {
    ($function:expr, $result:ty, [$(($type:ty, $value:expr))*]) => {{
        type Typed = unsafe extern "C" fn($($type),*) -> $result;
        // SAFETY: the user has stated the type of the function. Pointers among the arguments are valid for as
        // many bytes as the function is told, or as the user has stated. A function of another type may end
        // this process, which is there for its calls alone.
        u64::from(unsafe { typed::<Typed>($function)($($value),*) })
    }};
    ($function:expr, $result:ty, [$($done:tt)*], $argument:expr $(, $rest:expr)*) => {
        match $argument {
            Argument::Pointer(value) => call!($function, $result, [$($done)* (*const u8, value)] $(, $rest)*),
            Argument::Bits32(value) => call!($function, $result, [$($done)* (u32, value)] $(, $rest)*),
            Argument::Bits64(value) => call!($function, $result, [$($done)* (u64, value)] $(, $rest)*),
        }
    };
}

/// Lengths are passed as `size_t` of 64 bits.
const _: () = assert!(size_of::<usize>() == 8, "only for CPUs of 64 bits");

impl HashFunction {
    /// Loads a library and finds the function.
    ///
    /// # Errors
    /// The reason, and the next step, in words.
    pub(super) fn load(path: &Path, symbol: &str, signature: Signature) -> Result<Self, String> {
        let library = open(path)?;
        Ok(Self { function: required(&library, path, symbol)?, signature })
    }

    /// The hash of `key` under `seed`: its first 4 or 8 bytes, little-endian, or a pointer to all 16. A key
    /// that is passed by value has as many bytes as its type.
    pub(super) fn hash(&self, seed: &[u8; 16], key: &[u8]) -> u64 {
        let (low, _) = Key::new(*seed).halves();
        let argument = |parameter: &Parameter| match parameter {
            Parameter::Bytes => Argument::Pointer(key.as_ptr()),
            Parameter::Integer(Width::Bits32) => Argument::Bits32(integer(key) as u32),
            Parameter::Integer(Width::Bits64) => Argument::Bits64(integer(key)),
            Parameter::Length(Width::Bits32) => Argument::Bits32(key.len() as u32),
            Parameter::Length(Width::Bits64) => Argument::Bits64(key.len() as u64),
            Parameter::Seed(Width::Bits32) => Argument::Bits32(low as u32),
            Parameter::Seed(Width::Bits64) => Argument::Bits64(low),
            Parameter::SeedPointer => Argument::Pointer(seed.as_ptr()),
        };
        let function = self.function;
        match (self.signature.result, self.signature.parameters.as_slice()) {
            (Width::Bits32, [a]) => call!(function, u32, [], argument(a)),
            (Width::Bits64, [a]) => call!(function, u64, [], argument(a)),
            (Width::Bits32, [a, b]) => call!(function, u32, [], argument(a), argument(b)),
            (Width::Bits64, [a, b]) => call!(function, u64, [], argument(a), argument(b)),
            (Width::Bits32, [a, b, c]) => call!(function, u32, [], argument(a), argument(b), argument(c)),
            (Width::Bits64, [a, b, c]) => call!(function, u64, [], argument(a), argument(b), argument(c)),
            (_, parameters) => {
                debug_assert!(
                    false,
                    "a signature has from one to three parameters, not {}",
                    parameters.len()
                );
                0
            }
        }
    }
}

/// The functions of `hashlane_audit.h` in a shared object.
pub(super) struct TableFunctions {
    init: unsafe extern "C" fn(*const u8, usize) -> *mut c_void,
    insert: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    find: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    len: unsafe extern "C" fn(*mut c_void) -> usize,
    free: unsafe extern "C" fn(*mut c_void),
    compared: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
}

/// Version of the header `hashlane_audit.h`.
const ABI: u32 = 1;

impl TableFunctions {
    /// Loads a library and finds its functions.
    ///
    /// # Errors
    /// The reason, and the next step, in words.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        let library = open(path)?;
        let find = |symbol| {
            required(&library, path, symbol)
                .map_err(|why| format!("{why}; hashlane_audit.h states the functions of a table"))
        };
        let abi = find("hashlane_audit_abi")?;
        // SAFETY: the type is the header's, which the author of the library has included. With another type
        // this process may end, which is there for the library alone.
        let abi = unsafe { typed::<unsafe extern "C" fn() -> u32>(abi)() };
        if abi != ABI {
            let path = path.display();
            return Err(format!("{path} has version {abi} of hashlane_audit.h, not {ABI}; build it anew"));
        }
        let (init, insert) = (find("hashlane_audit_init")?, find("hashlane_audit_insert")?);
        let (found, len) = (find("hashlane_audit_find")?, find("hashlane_audit_len")?);
        let free = find("hashlane_audit_free")?;
        let compared = address(&library, "hashlane_audit_compared");
        // SAFETY: the types are the header's, as above.
        unsafe {
            Ok(Self {
                init: typed(init),
                insert: typed(insert),
                find: typed(found),
                len: typed(len),
                free: typed(free),
                compared: compared.map(|compared| typed(compared)),
            })
        }
    }

    /// A new table. `None` if the library gives none.
    pub(super) fn init(&self, seed: &[u8; 16], capacity: usize) -> Option<ForeignTable<'_>> {
        // SAFETY: the seed has 16 bytes, as the header states.
        let table = unsafe { (self.init)(seed.as_ptr(), capacity) };
        // Not `then_some`, which would make the value, and free NULL when it is dropped.
        (!table.is_null()).then(|| ForeignTable { functions: self, table })
    }
}

/// A table of a shared object, freed when dropped.
pub(super) struct ForeignTable<'a> {
    functions: &'a TableFunctions,
    table: *mut c_void,
}

impl ForeignTable<'_> {
    /// True if the table has taken the key, or had it.
    pub(super) fn insert(&mut self, key: &[u8]) -> bool {
        // SAFETY: the table is one that `init` has returned and that is not freed; the key has `len` bytes.
        unsafe { (self.functions.insert)(self.table, key.as_ptr(), key.len()) == 0 }
    }

    /// True if the table has the key.
    pub(super) fn find(&mut self, key: &[u8]) -> bool {
        // SAFETY: as in `insert`.
        unsafe { (self.functions.find)(self.table, key.as_ptr(), key.len()) != 0 }
    }

    pub(super) fn len(&mut self) -> usize {
        // SAFETY: as in `insert`.
        unsafe { (self.functions.len)(self.table) }
    }

    /// Entries compared since the table was made, if the library counts them.
    pub(super) fn compared(&mut self) -> Option<u64> {
        // SAFETY: as in `insert`.
        self.functions.compared.map(|compared| unsafe { compared(self.table) })
    }
}

impl Drop for ForeignTable<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `insert`; nobody uses the table after this.
        unsafe { (self.functions.free)(self.table) }
    }
}

/// Memory at whose end begins a page that cannot be read. It stays mapped until the process ends.
pub(super) struct Guarded {
    start: *mut u8,
    len: usize,
}

/// Bytes of the guard: no smaller than a page of any system that Linux runs on.
const GUARD: usize = 64 << 10;

impl Guarded {
    /// Room for keys of up to `longest` bytes.
    ///
    /// # Errors
    /// The system has not so much memory.
    pub(super) fn new(longest: usize) -> io::Result<Self> {
        let len = longest.max(1).checked_next_multiple_of(GUARD).ok_or(io::ErrorKind::OutOfMemory)?;
        let all = len.checked_add(GUARD).ok_or(io::ErrorKind::OutOfMemory)?;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the system's choice overlaps no other.
        let start = unsafe { libc::mmap(ptr::null_mut(), all, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start: *mut u8 = start.cast();
        // SAFETY: the last `GUARD` bytes of the mapping, to which no reference exists, begin at a page.
        if unsafe { libc::mprotect(start.add(len).cast(), GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start, len })
    }

    /// A copy of the key that ends where the guard begins. `None` if the key is longer than the room.
    pub(super) fn place(&mut self, key: &[u8]) -> Option<&[u8]> {
        let at = self.len.checked_sub(key.len())?;
        // SAFETY: `at..len` lies in the readable and writable part of the mapping. `&mut self` means that no
        // reference to it exists, and the new one lives no longer.
        unsafe {
            let to = self.start.add(at);
            ptr::copy_nonoverlapping(key.as_ptr(), to, key.len());
            Some(std::slice::from_raw_parts(to, key.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_where_the_guard_begins() {
        let mut guarded = Guarded::new(100_000).unwrap();
        let first = guarded.place(b"abc").map(<[u8]>::as_ptr_range).unwrap();
        let second = guarded.place(&[7; 100_000]).map(<[u8]>::as_ptr_range).unwrap();
        assert_eq!((first.end, first.end as usize % 4096), (second.end, 0));
        assert_eq!(guarded.place(b"xyz"), Some(&b"xyz"[..]));
        assert_eq!(guarded.place(&[0; 200_000]), None);
    }
}
