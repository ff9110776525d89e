//! Memory of the caller, and panics on their way to it.

use crate::Status;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{MAX_NAME_LEN, Name};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

/// Runs the body of a function. Whoever calls it may be C, into which no panic may unwind: a panic is
/// [`Status::Internal`].
///
/// After a panic the caller must reset whatever `body` changes.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::Internal,
    }
}

/// Moves the value that `make` returns to memory that [`free`] gives back; null if `make` returns no value,
/// or after a panic.
pub(crate) fn allocate<T>(make: impl FnOnce() -> Option<T>) -> *mut T {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(Some(value)) => Box::into_raw(Box::new(value)),
        _ => ptr::null_mut(),
    }
}

/// Drops a value and gives its memory back.
///
/// # Safety
/// `value` is null, or was made by [`allocate`] and is not used again.
pub(crate) unsafe fn free<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: it is the pointer of a box, as the caller promises, which nobody uses again.
        let value = unsafe { Box::from_raw(value) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// The caller's handle as a reference.
///
/// # Safety
/// `handle` is null, or was made by [`allocate`], is not freed, and nothing else uses it for `'a`.
pub(crate) unsafe fn handle<'a, T>(handle: *mut T) -> Result<&'a mut T, Status> {
    // SAFETY: it is null or points to a value that nothing else uses, as the caller promises.
    unsafe { handle.as_mut() }.ok_or(Status::Null)
}

/// The caller's place for a result.
///
/// # Safety
/// `place` is null, or points to a value that may be written and that nothing else uses for `'a`.
pub(crate) unsafe fn place<'a, T: Copy>(place: *mut T) -> Result<Place<'a, T>, Status> {
    match place.is_null() {
        true => Err(Status::Null),
        false => Ok(Place { place, life: core::marker::PhantomData }),
    }
}

/// Writes a result. No reference to it is made, as the caller's variable may be without a value.
pub(crate) struct Place<'a, T> {
    place: *mut T,
    life: core::marker::PhantomData<&'a mut T>,
}

impl<T: Copy> Place<'_, T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: `place` promises that the pointer can be written.
        unsafe { self.place.write(value) };
    }
}

/// The key of 16 bytes.
///
/// # Safety
/// `key` is null, or points to 16 bytes with values.
pub(crate) unsafe fn key(key: *const u8) -> Option<Key> {
    // SAFETY: any 16 bytes are an array, and an array of bytes is aligned everywhere.
    unsafe { key.cast::<[u8; 16]>().as_ref() }.map(|bytes| Key::new(*bytes))
}

/// The caller's bytes; a null pointer is no bytes if `len` is 0.
///
/// # Errors
/// The pointer is null and `len` is not 0; `too_long` if there are more than `limit` bytes; no byte is read
/// then.
///
/// # Safety
/// `bytes` is null, or points to `len` bytes with values, which nothing changes for `'a`.
pub(crate) unsafe fn bytes<'a>(
    bytes: *const u8,
    len: usize,
    limit: usize,
    too_long: Status,
) -> Result<&'a [u8], Status> {
    if len == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() {
        return Err(Status::Null);
    }
    if len > limit {
        return Err(too_long);
    }
    // SAFETY: the pointer is not null, and as the caller promises, the bytes have values and do not change.
    Ok(unsafe { slice::from_raw_parts(bytes, len) })
}

/// The caller's name.
///
/// # Errors
/// The pointer is null, or its bytes are no name.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn name<'a>(name: *const u8, len: usize) -> Result<Name<'a>, Status> {
    if name.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: the caller promises the same.
    let bytes = unsafe { bytes(name, len, MAX_NAME_LEN, Status::Name) }?;
    Name::parse(bytes).map_err(|_| Status::Name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status() {
        assert_eq!(guard(|| Ok(())), Status::Ok);
        assert_eq!(guard(|| Err(Status::Full)), Status::Full);
        assert_eq!(guard(|| panic!("a defect")), Status::Internal);
        assert!(allocate::<u8>(|| panic!("a defect")).is_null());
    }

    #[test]
    fn lengths_are_checked_before_a_byte_is_read() {
        let one = [0_u8];
        // SAFETY: one byte is there, and longer lengths are refused.
        unsafe {
            assert_eq!(bytes(one.as_ptr(), usize::MAX, 255, Status::Name), Err(Status::Name));
            assert_eq!(bytes(one.as_ptr(), 1, 255, Status::Name), Ok(&one[..]));
            assert_eq!(bytes(ptr::null(), 0, 255, Status::Name), Ok(&[][..]));
            assert_eq!(bytes(ptr::null(), 1, 255, Status::Name), Err(Status::Null));
            assert_eq!(name(one.as_ptr(), 1), Ok(Name::ROOT));
            assert_eq!(name(one.as_ptr(), 256), Err(Status::Name));
            assert_eq!(name(one.as_ptr(), 0), Err(Status::Name));
            assert_eq!(name(ptr::null(), 0), Err(Status::Null));
        }
    }
}
