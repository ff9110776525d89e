//! Writing vectors: rows of results.

use super::functions::{Handle, SUCCESS, functions};
use super::read::Number;
use super::types::{LogicalType, Type};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

/// A vector that a function fills, for the time of a call.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    handle: Handle,
    id: u32,
    rows: usize,
    call: PhantomData<&'a mut ()>,
}

impl Output<'_> {
    /// # Safety
    /// `handle` is a flat vector with room for `rows` rows, that nobody else uses during `'a`.
    pub(super) unsafe fn new(handle: Handle, rows: usize) -> Self {
        // SAFETY: the caller's promise.
        let id = unsafe { LogicalType::of(handle) }.id();
        Self { handle, id, rows, call: PhantomData }
    }

    /// Tests if the vector has the type.
    pub(crate) const fn is(&self, of: Type) -> bool {
        self.id == of.id()
    }

    fn check(&self, of: Type) -> Result<(), String> {
        if self.is(of) {
            return Ok(());
        }
        Err(format!("DuckDB expects a result of type {}, got {of:?}", self.id))
    }

    /// The numbers of all rows.
    ///
    /// # Errors
    /// The vector has another type.
    pub(crate) fn numbers<T: Number>(&mut self) -> Result<&mut [T], String> {
        self.check(T::TYPE)?;
        // SAFETY: the vector has this type.
        Ok(unsafe { self.values() })
    }

    /// Times, in nanoseconds since 1970.
    ///
    /// # Errors
    /// The vector has another type.
    pub(crate) fn times(&mut self) -> Result<&mut [i64], String> {
        self.check(Type::TimestampNs)?;
        // SAFETY: the values of this type are nanoseconds in 64 bits.
        Ok(unsafe { self.values() })
    }

    /// # Safety
    /// The values of the vector's type are such as `T`, for which any pattern of bits is valid.
    unsafe fn values<T>(&mut self) -> &mut [T] {
        // SAFETY: the handle is a vector.
        let data: *mut T = unsafe { (functions().vector_get_data)(self.handle) }.cast();
        if self.rows == 0 || data.is_null() {
            return &mut [];
        }
        // SAFETY: the vector has room for so many values, aligned, and nobody else uses it. DuckDB allocates
        // it as a whole; values that were never written have unspecified bits.
        unsafe { slice::from_raw_parts_mut(data, self.rows) }
    }

    /// Sets a row null.
    pub(crate) fn set_null(&mut self, row: usize) {
        if row >= self.rows {
            return;
        }
        let api = functions();
        // SAFETY: after the first call the vector has a mask with a bit for each row.
        unsafe {
            (api.vector_ensure_validity_writable)(self.handle);
            let mask = (api.vector_get_validity)(self.handle);
            if !mask.is_null() {
                *mask.add(row / 64) &= !(1 << (row % 64));
            }
        }
    }

    /// Writes the text of a row of VARCHAR.
    ///
    /// # Errors
    /// The vector has another type, or no such row.
    pub(crate) fn text(&mut self, row: usize, text: &str) -> Result<(), String> {
        self.check(Type::Varchar)?;
        self.assign(row, text.as_bytes())
    }

    /// Writes the bytes of a row of BLOB.
    ///
    /// # Errors
    /// The vector has another type, or no such row.
    pub(crate) fn blob(&mut self, row: usize, bytes: &[u8]) -> Result<(), String> {
        self.check(Type::Blob)?;
        self.assign(row, bytes)
    }

    fn assign(&mut self, row: usize, bytes: &[u8]) -> Result<(), String> {
        if row >= self.rows {
            return Err(format!("row {row} is beyond the {} rows of a result", self.rows));
        }
        let len = bytes.len() as u64;
        // SAFETY: the vector has texts, and this row; the call copies the bytes.
        unsafe {
            (functions().vector_assign_string_element_len)(
                self.handle,
                row as u64,
                bytes.as_ptr().cast(),
                len,
            );
        }
        Ok(())
    }

    /// Field `number` of a vector of structs.
    ///
    /// # Errors
    /// The vector has another type.
    pub(crate) fn field(&mut self, number: usize) -> Result<Output<'_>, String> {
        self.check(Type::Struct(&[]))?;
        // SAFETY: the vector has structs; the vector of a field has as many rows, and lives as long. The
        // borrow keeps it from being used twice.
        unsafe {
            let field = (functions().struct_vector_get_child)(self.handle, number as u64);
            if field.is_null() {
                return Err(format!("the result has no field {number}"));
            }
            Ok(Output::new(field, self.rows))
        }
    }

    /// Writes lists of these lengths to rows from `first` on. Returns the vector of their items, and the rows
    /// of it that are to be filled.
    ///
    /// # Errors
    /// The vector has another type, or DuckDB has no memory.
    pub(crate) fn lists(
        &mut self,
        first: usize,
        lengths: impl Iterator<Item = usize>,
    ) -> Result<(Output<'_>, Range<usize>), String> {
        const NONE: Type = Type::List(&Type::UBigInt);
        self.check(NONE)?;
        let api = functions();
        // SAFETY: the vector has lists.
        let from = unsafe { (api.list_vector_get_size)(self.handle) };
        let mut to = from;
        {
            // SAFETY: the value of a list is its offset and its length, 64 bits each.
            let entries: &mut [[u64; 2]] = unsafe { self.values() };
            for (entry, length) in entries.iter_mut().skip(first).zip(lengths) {
                *entry = [to, length as u64];
                to = to.saturating_add(length as u64);
            }
        }
        // SAFETY: the vector has lists; the child is read after the last change of its size, with room for
        // `to` rows.
        unsafe {
            if (api.list_vector_reserve)(self.handle, to) != SUCCESS
                || (api.list_vector_set_size)(self.handle, to) != SUCCESS
            {
                return Err(format!("DuckDB has no room for {to} items of lists"));
            }
            let items = Output::new((api.list_vector_get_child)(self.handle), to as usize);
            Ok((items, from as usize..to as usize))
        }
    }
}
