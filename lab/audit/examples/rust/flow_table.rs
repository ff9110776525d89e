//! A flow table with the functions of `hashlane_audit.h`: chained buckets, doubled as it fills.
//!
//! Its hash is the function `hash` of the crate that contains this file.
#![allow(unsafe_code, reason = "the C ABI of the audit; each use says why it is sound")]

use crate::hash;
use std::ffi::{c_int, c_void};

/// A table of keys.
struct FlowTable {
    seed: [u8; 16],
    buckets: Vec<Vec<Box<[u8]>>>,
    len: usize,
    compared: u64,
}

impl FlowTable {
    fn new(seed: [u8; 16], capacity: usize) -> Self {
        let buckets = capacity.clamp(16, 1 << 24).next_power_of_two();
        Self { seed, buckets: vec![Vec::new(); buckets], len: 0, compared: 0 }
    }

    fn bucket(&mut self, key: &[u8]) -> &mut Vec<Box<[u8]>> {
        let mask = self.buckets.len() - 1;
        &mut self.buckets[hash(key, &self.seed) as usize & mask]
    }

    fn find(&mut self, key: &[u8]) -> bool {
        let bucket = self.bucket(key);
        let place = bucket.iter().position(|other| **other == *key);
        let compared = place.map_or(bucket.len(), |place| place + 1);
        self.compared += compared as u64;
        place.is_some()
    }

    fn insert(&mut self, key: &[u8]) {
        if self.find(key) {
            return;
        }
        if self.len >= self.buckets.len() {
            let larger = vec![Vec::new(); self.buckets.len() * 2];
            for key in std::mem::replace(&mut self.buckets, larger).into_iter().flatten() {
                self.bucket(&key).push(key);
            }
        }
        self.bucket(key).push(key.into());
        self.len += 1;
    }
}

/// The hash, for `hashlane audit --library`.
///
/// # Safety
/// `key` points to `len` bytes, and `seed` to 16.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hash_flow(key: *const u8, len: usize, seed: *const u8) -> u64 {
    let key: &[u8] = match len {
        // The pointer may be null.
        0 => &[],
        // SAFETY: the caller says so.
        len => unsafe { std::slice::from_raw_parts(key, len) },
    };
    // SAFETY: the caller says so.
    hash(key, unsafe { &*seed.cast::<[u8; 16]>() })
}

/// Version of the header.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_audit_abi() -> u32 {
    1
}

/// A new table.
///
/// # Safety
/// `seed` points to 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_init(seed: *const u8, capacity: usize) -> *mut c_void {
    // SAFETY: the caller says so.
    let seed = unsafe { *seed.cast::<[u8; 16]>() };
    Box::into_raw(Box::new(FlowTable::new(seed, capacity))).cast()
}

/// The table and the key of a call.
///
/// # Safety
/// `table` is one of `hashlane_audit_init`, not freed and in no other call; `key` points to `len` bytes.
unsafe fn arguments<'a>(table: *mut c_void, key: *const u8, len: usize) -> (&'a mut FlowTable, &'a [u8]) {
    let key: &[u8] = match len {
        // The pointer may be null.
        0 => &[],
        // SAFETY: the caller says so.
        len => unsafe { std::slice::from_raw_parts(key, len) },
    };
    // SAFETY: the caller says so.
    (unsafe { &mut *table.cast::<FlowTable>() }, key)
}

/// Inserts a key.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_insert(table: *mut c_void, key: *const u8, len: usize) -> c_int {
    // SAFETY: the caller says so.
    let (table, key) = unsafe { arguments(table, key, len) };
    table.insert(key);
    0
}

/// Looks a key up.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_find(table: *mut c_void, key: *const u8, len: usize) -> c_int {
    // SAFETY: the caller says so.
    let (table, key) = unsafe { arguments(table, key, len) };
    c_int::from(table.find(key))
}

/// The number of entries.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_len(table: *mut c_void) -> usize {
    // SAFETY: the caller says so.
    unsafe { arguments(table, std::ptr::null(), 0) }.0.len
}

/// The entries compared.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_compared(table: *mut c_void) -> u64 {
    // SAFETY: the caller says so.
    unsafe { arguments(table, std::ptr::null(), 0) }.0.compared
}

/// Frees a table.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_audit_free(table: *mut c_void) {
    // SAFETY: the caller says that it is a table of `hashlane_audit_init`, which nobody uses any more.
    drop(unsafe { Box::from_raw(table.cast::<FlowTable>()) });
}
