//! The C functions of the adapters in `cpp/`. All `unsafe` code of the crate is here.
#![allow(unsafe_code, reason = "calls of C++ code")]

use super::Key;
use std::ffi::c_void;
use std::ptr::NonNull;

/// The functions of one kind of table: `hashlane::Functions` in cpp/table.h. Pointers to tables are those
/// that `new` returned and `free` did not take; keys are as many as the length states.
#[derive(Debug)]
#[repr(C)]
struct Functions {
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
        fn $find(id: &str) -> Option<&'static $functions> {
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

/// A table from keys to numbers.
#[derive(Debug)]
pub struct Table {
    table: NonNull<c_void>,
    functions: &'static Functions,
}

// SAFETY of the following: the table is from `new` of the same functions and not freed; the keys are a slice;
// a table is not `Sync`, so that no other thread uses it meanwhile, and `&mut` where it changes.

impl Table {
    /// An empty table with room for `room` keys, hashed under `key` if the hash takes one. `None` if the id
    /// is unknown, the library [`missing`](crate::missing), or memory short.
    pub fn new(id: &str, (k0, k1): (u64, u64), room: usize) -> Option<Self> {
        let functions = functions(id)?;
        // SAFETY: the function takes any numbers, and returns a table or null.
        let table = NonNull::new(unsafe { (functions.new)(room, k0, k1) })?;
        Some(Self { table, functions })
    }

    /// Inserts keys, numbered from `first` on, or changes their numbers. A DPDK table has a fixed capacity,
    /// an eighth above its room, and leaves out keys beyond it.
    pub fn insert(&mut self, keys: &[Key], first: u32) {
        // SAFETY: see above.
        unsafe { (self.functions.insert)(self.table.as_ptr(), keys.as_ptr(), keys.len(), first) }
    }

    /// Looks keys up; returns how many are there and the sum of their numbers.
    pub fn find(&self, keys: &[Key]) -> (u64, u64) {
        let mut sum = 0;
        // SAFETY: see above; `sum` is a place for a number.
        let found =
            unsafe { (self.functions.find)(self.table.as_ptr(), keys.as_ptr(), keys.len(), &mut sum) };
        (found, sum)
    }

    /// Removes keys; returns how many were there.
    pub fn remove(&mut self, keys: &[Key]) -> u64 {
        // SAFETY: see above.
        unsafe { (self.functions.remove)(self.table.as_ptr(), keys.as_ptr(), keys.len()) }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        // SAFETY: see above.
        unsafe { (self.functions.len)(self.table.as_ptr()) }
    }

    /// Returns true if the table has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: see above; it is not used again.
        unsafe { (self.functions.free)(self.table.as_ptr()) }
    }
}

/// The functions of one DNS renderer: `struct hashlane_renderer` in c/renderer.h. Pointers to renderers are
/// those that `new` returned and `free` did not take; bytes are as many as the length states.
#[derive(Debug)]
#[repr(C)]
struct RendererFunctions {
    new: unsafe extern "C" fn() -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    add: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32,
    render: unsafe extern "C" fn(*mut c_void, usize, *mut *const u8) -> usize,
}

adapters! { RendererFunctions, renderer_functions:
    has_knot hashlane_knot "knot/packet";
    has_ldns hashlane_ldns "ldns";
    has_bind9 hashlane_bind9 "bind9/libdns";
    has_bind9_message hashlane_bind9_message "bind9/message";
}

/// A DNS renderer of a C library, and its inputs in its own types.
///
/// `knot/packet`, `ldns` and `bind9/message` take messages and render one of them: by libknot's packets
/// without hints, by ldns, and by BIND's libdns. `bind9/libdns` takes names and renders all of them, after a
/// header of zeros, as one message.
#[derive(Debug)]
pub struct Renderer {
    renderer: NonNull<c_void>,
    functions: &'static RendererFunctions,
}

// SAFETY of the following: the renderer is from `new` of the same functions and not freed, and `&mut`, so
// that nothing else uses it meanwhile.

impl Renderer {
    /// A renderer without inputs. `None` if the id is unknown, the library [`missing`](crate::missing), or
    /// memory short.
    pub fn new(id: &str) -> Option<Self> {
        let functions = renderer_functions(id)?;
        // SAFETY: the function returns a renderer or null.
        let renderer = NonNull::new(unsafe { (functions.new)() })?;
        Some(Self { renderer, functions })
    }

    /// Adds a message or a name in wire form, without compression; false if the library does not take it.
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        // SAFETY: see above; the bytes are a slice, which the adapter copies.
        unsafe { (self.functions.add)(self.renderer.as_ptr(), bytes.as_ptr(), bytes.len()) == 0 }
    }

    /// Renders an input, counted from 0; `None` if the library does not.
    pub fn render(&mut self, number: usize) -> Option<&[u8]> {
        let mut out = std::ptr::null();
        // SAFETY: see above; `out` is a place for a pointer.
        let len = unsafe { (self.functions.render)(self.renderer.as_ptr(), number, &mut out) };
        // SAFETY: with a length above 0 the pointer is to that many bytes of the renderer, which keeps them
        // until its next call; that takes the borrow of the result to end.
        (len > 0).then(|| unsafe { std::slice::from_raw_parts(out, len) })
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // SAFETY: see above; it is not used again.
        unsafe { (self.functions.free)(self.renderer.as_ptr()) }
    }
}

/// The function of one DNS reader: `struct hashlane_reader` in c/renderer.h.
#[derive(Debug)]
#[repr(C)]
struct ReaderFunctions {
    read: unsafe extern "C" fn(*const u8, usize) -> i64,
}

adapters! { ReaderFunctions, reader_functions:
    has_knot hashlane_knot_reader "knot/packet";
    has_ldns hashlane_ldns_reader "ldns";
    has_bind9_message hashlane_bind9_message_reader "bind9/message";
    has_cares hashlane_cares_reader "c-ares";
}

/// A DNS reader of a C library: `knot/packet`, `ldns`, `bind9/message` or `c-ares`.
#[derive(Clone, Copy, Debug)]
pub struct Reader(&'static ReaderFunctions);

impl Reader {
    /// The reader of that id. `None` if it is unknown or the library [`missing`](crate::missing).
    pub fn new(id: &str) -> Option<Self> {
        reader_functions(id).map(Self)
    }

    /// Reads a message with all its names whole, and returns the number of its records; `None` if the library
    /// refuses the message.
    pub fn read(self, bytes: &[u8]) -> Option<usize> {
        // SAFETY: the bytes are a slice, which the adapter only reads, and keeps nothing of; it may be called
        // by several threads.
        let count = unsafe { (self.0.read)(bytes.as_ptr(), bytes.len()) };
        usize::try_from(count).ok()
    }
}
