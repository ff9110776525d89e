//! The compressor: pointers for names in the caller's messages.

use crate::Status;
use crate::input::{allocate, bytes, free, guard, handle, key, name, place};
use hashlane_dns::MAX_MESSAGE_LEN;
use hashlane_dns_compress::{Compressor as _, SuffixTable};
use hashlane_name::dns::Case;
use std::ffi::c_int;

/// `hashlane_dns_compressor` of the header.
pub struct NameCompressor {
    table: SuffixTable,
    /// The end of the last name that was placed and not cut; `None` without a message.
    end: Option<usize>,
}

impl NameCompressor {
    fn new(table: SuffixTable) -> Self {
        Self { table, end: None }
    }
}

/// Makes a compressor under a key of 16 bytes; null if `key_bytes` is null.
///
/// # Safety
/// `key_bytes` is null, or points to 16 bytes with values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_compressor_new(key_bytes: *const u8) -> *mut NameCompressor {
    // SAFETY: the caller promises the same.
    let key = unsafe { key(key_bytes) };
    allocate(|| key.map(|key| NameCompressor::new(SuffixTable::new(&key))))
}

/// Makes a compressor under a random key; null if the operating system provides no random numbers.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_dns_compressor_new_random() -> *mut NameCompressor {
    allocate(|| SuffixTable::with_random_key().ok().map(NameCompressor::new))
}

/// Frees a compressor; null does nothing.
///
/// # Safety
/// `compressor` is null, or a compressor that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_compressor_free(compressor: *mut NameCompressor) {
    // SAFETY: the caller promises that it is a compressor, which `allocate` made, and not used again.
    unsafe { free(compressor) };
}

/// Begins a message.
///
/// # Safety
/// `compressor` is null, or a compressor that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_compressor_start(
    compressor: *mut NameCompressor,
    case_sensitive: c_int,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises the same.
        let compressor = unsafe { handle(compressor) }?;
        let case = if case_sensitive == 0 { Case::Ignored } else { Case::Sensitive };
        compressor.end = None;
        compressor.table.start(case);
        compressor.end = Some(0);
        Ok(())
    })
}

/// Places a name at the end of a message of `offset` bytes.
///
/// # Safety
/// `compressor` is null, or a compressor that was not freed and that no other call uses. `message` and
/// `name_bytes` are null, or point to `offset` and `name_len` bytes with values, which nothing changes during
/// the call. `literal` and `pointer` are null, or point to a variable each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_compressor_compress(
    compressor: *mut NameCompressor,
    message: *const u8,
    offset: usize,
    name_bytes: *const u8,
    name_len: usize,
    literal: *mut usize,
    pointer: *mut u16,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises the same of each.
        let (compressor, literal, pointer) =
            unsafe { (handle(compressor)?, place(literal)?, place(pointer)?) };
        // SAFETY: likewise.
        let (message, name) = unsafe {
            (bytes(message, offset, MAX_MESSAGE_LEN, Status::Argument)?, name(name_bytes, name_len)?)
        };
        let end = compressor.end.ok_or(Status::NotStarted)?;
        if offset < end {
            return Err(Status::Offset);
        }
        // A panic ends the message.
        compressor.end = None;
        let placed = compressor.table.place(message, name);
        compressor.end = Some(offset + placed.literal() + placed.pointer_bytes().map_or(0, |_| 2));
        literal.set(placed.literal());
        pointer.set(placed.pointer_bytes().map_or(0, u16::from_be_bytes));
        Ok(())
    })
}

/// Forgets the names that do not end within the first `len` bytes.
///
/// # Safety
/// `compressor` is null, or a compressor that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_compressor_truncate(
    compressor: *mut NameCompressor,
    len: usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller promises the same.
        let compressor = unsafe { handle(compressor) }?;
        let end = compressor.end.take().ok_or(Status::NotStarted)?;
        compressor.table.truncate(len);
        compressor.end = Some(end.min(len));
        Ok(())
    })
}
