//! The C functions of the adapters in `cpp/`. All `unsafe` code of the crate is here.
#![allow(unsafe_code, reason = "calls of C++ code")]

use super::{Key, Table};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The functions of one kind of table: `hashlane::Functions` in cpp/table.h. Pointers to tables are those
/// that `new` returned and `free` did not take; keys are as many as the length states.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Functions {
    new: unsafe extern "C" fn(usize, u64, u64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    insert: unsafe extern "C" fn(*mut c_void, *const Key, usize, u32),
    find: unsafe extern "C" fn(*mut c_void, *const Key, usize, *mut u64) -> u64,
    remove: unsafe extern "C" fn(*mut c_void, *const Key, usize) -> u64,
    len: unsafe extern "C" fn(*mut c_void) -> usize,
}

/// Declares what the adapters export, and the function that finds it by id.
macro_rules! adapters {
    ($functions:ty, $find:ident: $($library:ident $symbol:ident $id:literal;)*) => {
        // SAFETY: adapters define constants of this type, by the macros of their headers.
        #[allow(non_upper_case_globals, reason = "the names of the adapters")]
        unsafe extern "C" {
            $(#[cfg($library)] safe static $symbol: $functions;)*
        }

        /// The functions of that id, if they are built in.
        pub(super) fn $find(id: &str) -> Option<&'static $functions> {
            match id {
                $(#[cfg($library)] $id => Some(&$symbol),)*
                _ => None,
            }
        }
    };
}

adapters! { Functions, functions:
    has_boost hashlane_boost_siphash13 "boost/siphash-1-3";
    has_boost hashlane_boost_crc32c "boost/crc32c";
    has_absl hashlane_absl_siphash13 "absl/siphash-1-3";
    has_absl hashlane_absl_absl "absl/absl";
    has_dpdk hashlane_dpdk_siphash13 "dpdk/siphash-1-3";
    has_dpdk hashlane_dpdk_crc32c "dpdk/crc32c";
}

pub(super) fn make(functions: &Functions, room: usize, (k0, k1): (u64, u64)) -> Option<NonNull<c_void>> {
    // SAFETY: the function takes any numbers, and returns a table or null.
    NonNull::new(unsafe { (functions.new)(room, k0, k1) })
}

pub(super) fn free(table: &mut Table) {
    // SAFETY: the table is from `new` of the same functions, and is not used again.
    unsafe { (table.functions.free)(table.table.as_ptr()) }
}

// SAFETY of the following: the table is from `new` of the same functions and not freed; the keys are a slice;
// a table is not `Sync`, so that no other thread uses it meanwhile, and `&mut` where it changes.

pub(super) fn insert(table: &mut Table, keys: &[Key], first: u32) {
    // SAFETY: see above.
    unsafe { (table.functions.insert)(table.table.as_ptr(), keys.as_ptr(), keys.len(), first) }
}

pub(super) fn find(table: &Table, keys: &[Key]) -> (u64, u64) {
    let mut sum = 0;
    // SAFETY: see above; `sum` is a place for a number.
    let found = unsafe { (table.functions.find)(table.table.as_ptr(), keys.as_ptr(), keys.len(), &mut sum) };
    (found, sum)
}

pub(super) fn remove(table: &mut Table, keys: &[Key]) -> u64 {
    // SAFETY: see above.
    unsafe { (table.functions.remove)(table.table.as_ptr(), keys.as_ptr(), keys.len()) }
}

pub(super) fn len(table: &Table) -> usize {
    // SAFETY: see above.
    unsafe { (table.functions.len)(table.table.as_ptr()) }
}

/// The functions of one DNS renderer: `struct hashlane_renderer` in c/renderer.h. Pointers to renderers are
/// those that `new` returned and `free` did not take; bytes are as many as the length states.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RendererFunctions {
    new: unsafe extern "C" fn() -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    add: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32,
    render: unsafe extern "C" fn(*mut c_void, usize, *mut *const u8) -> usize,
}

adapters! { RendererFunctions, renderer_functions:
    has_knot hashlane_knot "knot/packet";
    has_bind9 hashlane_bind9 "bind9/libdns";
}

/// A renderer of a library, with the functions that made it.
#[derive(Debug)]
pub(super) struct RawRenderer {
    renderer: NonNull<c_void>,
    functions: &'static RendererFunctions,
}

// SAFETY of the following: the renderer is from `new` of the same functions and not freed, and `&mut`, so
// that nothing else uses it meanwhile.

impl RawRenderer {
    /// A renderer without inputs; `None` if it is not built in, or memory is short.
    pub(super) fn new(id: &str) -> Option<Self> {
        let functions = renderer_functions(id)?;
        // SAFETY: the function returns a renderer or null.
        let renderer = NonNull::new(unsafe { (functions.new)() })?;
        Some(Self { renderer, functions })
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> bool {
        // SAFETY: see above; the bytes are a slice, which the adapter copies.
        unsafe { (self.functions.add)(self.renderer.as_ptr(), bytes.as_ptr(), bytes.len()) == 0 }
    }

    pub(super) fn render(&mut self, number: usize) -> Option<&[u8]> {
        let mut out = std::ptr::null();
        // SAFETY: see above; `out` is a place for a pointer.
        let len = unsafe { (self.functions.render)(self.renderer.as_ptr(), number, &mut out) };
        // SAFETY: with a length above 0 the pointer is to that many bytes of the renderer, which keeps them
        // until its next call; that takes the borrow of the result to end.
        (len > 0).then(|| unsafe { std::slice::from_raw_parts(out, len) })
    }
}

impl Drop for RawRenderer {
    fn drop(&mut self) {
        // SAFETY: see above; it is not used again.
        unsafe { (self.functions.free)(self.renderer.as_ptr()) }
    }
}
