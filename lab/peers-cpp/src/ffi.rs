//! The C functions of the adapters in `cpp/`. All `unsafe` code of the crate is here.
#![allow(unsafe_code, reason = "calls of C++ code")]

use super::{Key, Table};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The functions of one kind of table. Pointers to tables are those that `new` returned and `free` did not
/// take; keys are as many as the length states.
#[derive(Debug)]
pub(super) struct Functions {
    new: unsafe extern "C" fn(usize, u64, u64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    insert: unsafe extern "C" fn(*mut c_void, *const Key, usize, u32),
    find: unsafe extern "C" fn(*mut c_void, *const Key, usize, *mut u64) -> u64,
    remove: unsafe extern "C" fn(*mut c_void, *const Key, usize) -> u64,
    len: unsafe extern "C" fn(*mut c_void) -> usize,
}

macro_rules! tables {
    ($($library:ident $module:ident $id:literal:
        $new:ident $free:ident $insert:ident $find:ident $remove:ident $len:ident;)*) => {
        $(
            #[cfg($library)]
            mod $module {
                use super::{Functions, Key, c_void};

                // SAFETY: these are the declarations of `HASHLANE_TABLE` in cpp/table.h.
                unsafe extern "C" {
                    fn $new(room: usize, k0: u64, k1: u64) -> *mut c_void;
                    fn $free(table: *mut c_void);
                    fn $insert(table: *mut c_void, keys: *const Key, count: usize, first: u32);
                    fn $find(table: *mut c_void, keys: *const Key, count: usize, sum: *mut u64) -> u64;
                    fn $remove(table: *mut c_void, keys: *const Key, count: usize) -> u64;
                    fn $len(table: *mut c_void) -> usize;
                }

                pub(super) static FUNCTIONS: Functions = Functions {
                    new: $new, free: $free, insert: $insert, find: $find, remove: $remove, len: $len,
                };
            }
        )*

        /// The functions of the table of that id, if it is built in.
        pub(super) fn functions(id: &str) -> Option<&'static Functions> {
            match id {
                $(
                    #[cfg($library)]
                    $id => Some(&$module::FUNCTIONS),
                )*
                _ => None,
            }
        }
    };
}

tables! {
    has_boost boost_siphash13 "boost/siphash-1-3":
        hashlane_boost_siphash13_new hashlane_boost_siphash13_free hashlane_boost_siphash13_insert
        hashlane_boost_siphash13_find hashlane_boost_siphash13_remove hashlane_boost_siphash13_len;
    has_boost boost_crc32c "boost/crc32c":
        hashlane_boost_crc32c_new hashlane_boost_crc32c_free hashlane_boost_crc32c_insert
        hashlane_boost_crc32c_find hashlane_boost_crc32c_remove hashlane_boost_crc32c_len;
    has_absl absl_siphash13 "absl/siphash-1-3":
        hashlane_absl_siphash13_new hashlane_absl_siphash13_free hashlane_absl_siphash13_insert
        hashlane_absl_siphash13_find hashlane_absl_siphash13_remove hashlane_absl_siphash13_len;
    has_absl absl_absl "absl/absl":
        hashlane_absl_absl_new hashlane_absl_absl_free hashlane_absl_absl_insert
        hashlane_absl_absl_find hashlane_absl_absl_remove hashlane_absl_absl_len;
    has_dpdk dpdk_siphash13 "dpdk/siphash-1-3":
        hashlane_dpdk_siphash13_new hashlane_dpdk_siphash13_free hashlane_dpdk_siphash13_insert
        hashlane_dpdk_siphash13_find hashlane_dpdk_siphash13_remove hashlane_dpdk_siphash13_len;
    has_dpdk dpdk_crc32c "dpdk/crc32c":
        hashlane_dpdk_crc32c_new hashlane_dpdk_crc32c_free hashlane_dpdk_crc32c_insert
        hashlane_dpdk_crc32c_find hashlane_dpdk_crc32c_remove hashlane_dpdk_crc32c_len;
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

/// The functions of one DNS renderer. Pointers to renderers are those that `new` returned and `free` did not
/// take; bytes are as many as the length states.
#[derive(Debug)]
struct RendererFunctions {
    new: unsafe extern "C" fn() -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    add: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32,
    render: unsafe extern "C" fn(*mut c_void, usize, *mut *const u8) -> usize,
}

macro_rules! renderers {
    ($($library:ident $module:ident $id:literal: $new:ident $free:ident $add:ident $render:ident;)*) => {
        $(
            #[cfg($library)]
            mod $module {
                use super::{RendererFunctions, c_void};

                // SAFETY: these are the declarations of `HASHLANE_RENDERER` in c/renderer.h.
                unsafe extern "C" {
                    fn $new() -> *mut c_void;
                    fn $free(renderer: *mut c_void);
                    fn $add(renderer: *mut c_void, bytes: *const u8, len: usize) -> i32;
                    fn $render(renderer: *mut c_void, number: usize, out: *mut *const u8) -> usize;
                }

                pub(super) static FUNCTIONS: RendererFunctions =
                    RendererFunctions { new: $new, free: $free, add: $add, render: $render };
            }
        )*

        /// The functions of the renderer of that id, if it is built in.
        fn renderer_functions(id: &str) -> Option<&'static RendererFunctions> {
            match id {
                $(
                    #[cfg($library)]
                    $id => Some(&$module::FUNCTIONS),
                )*
                _ => None,
            }
        }
    };
}

renderers! {
    has_knot knot "knot/packet":
        hashlane_knot_new hashlane_knot_free hashlane_knot_add hashlane_knot_render;
    has_bind9 bind9 "bind9/libdns":
        hashlane_bind9_new hashlane_bind9_free hashlane_bind9_add hashlane_bind9_render;
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
