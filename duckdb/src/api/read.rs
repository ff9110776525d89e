//! Reading chunks: rows of columns that DuckDB passes to a function.

use super::functions::{Handle, functions};
use super::types::{LogicalType, Type};
use std::marker::PhantomData;
use std::{ptr, slice};

/// A chunk of rows, for the time of a call.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    handle: Handle,
    rows: usize,
    call: PhantomData<&'a ()>,
}

impl<'a> Chunk<'a> {
    /// # Safety
    /// `handle` is a chunk of flat vectors that stays as it is during `'a`.
    pub(super) unsafe fn new(handle: Handle) -> Self {
        // SAFETY: the caller's promise.
        let rows = unsafe { (functions().data_chunk_get_size)(handle) };
        Self { handle, rows: rows as usize, call: PhantomData }
    }

    /// Number of rows.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        // SAFETY: the handle is a chunk.
        unsafe { (functions().data_chunk_get_column_count)(self.handle) as usize }
    }

    /// Column `number`, from 0.
    ///
    /// # Errors
    /// The chunk has fewer columns.
    pub(crate) fn column(&self, number: usize) -> Result<Column<'a>, String> {
        if number >= self.columns() {
            return Err(format!("DuckDB has passed {} arguments, expected more", self.columns()));
        }
        let api = functions();
        // SAFETY: the chunk has this column, whose vector lives as long as the chunk.
        unsafe {
            let vector = (api.data_chunk_get_vector)(self.handle, number as u64);
            Ok(Column {
                id: LogicalType::of(vector).id(),
                data: (api.vector_get_data)(vector).cast(),
                validity: (api.vector_get_validity)(vector),
                rows: self.rows,
                call: PhantomData,
            })
        }
    }

    /// All columns.
    ///
    /// # Errors
    /// As [`column`](Self::column).
    pub(crate) fn all(&self) -> Result<Vec<Column<'a>>, String> {
        (0..self.columns()).map(|number| self.column(number)).collect()
    }
}

/// A column of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    id: u32,
    data: *const u8,
    validity: *const u64,
    rows: usize,
    call: PhantomData<&'a ()>,
}

/// `duckdb_string_t`, as two words: 32 bits of a length, then the bytes if there are at most [`INLINE`], or 4
/// of them and a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
struct Text([u64; 2]);

/// Most bytes of a text without a pointer.
const INLINE: usize = 12;

impl<'a> Column<'a> {
    /// Number of rows.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Tests if the column has the type.
    pub(crate) const fn is(&self, of: Type) -> bool {
        self.id == of.id()
    }

    /// Tests if a row is null, or beyond the end.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        if row >= self.rows {
            return true;
        }
        if self.validity.is_null() {
            return false;
        }
        // SAFETY: a mask has a bit for each row of the vector, the lowest of a word first.
        let word = unsafe { *self.validity.add(row / 64) };
        word >> (row % 64) & 1 == 0
    }

    /// Tests if the column may have nulls.
    pub(crate) const fn may_have_nulls(&self) -> bool {
        !self.validity.is_null()
    }

    /// The numbers of a column of integers, doubles or booleans, whatever the nulls; `None` for another type.
    pub(crate) fn numbers<T: Number>(&self) -> Option<&'a [T]> {
        if !self.is(T::TYPE) {
            return None;
        }
        if self.rows == 0 || self.data.is_null() {
            return Some(&[]);
        }
        // SAFETY: a flat vector of this type has a value of `T` for each row, aligned, for the time of the
        // call; every pattern of bits is a `T`.
        Some(unsafe { slice::from_raw_parts(self.data.cast(), self.rows) })
    }

    /// The integer of a row; `None` for a null, or a column of another type.
    pub(crate) fn integer(&self, row: usize) -> Option<i128> {
        macro_rules! by_type {
            ($($number:ty)*) => {
                $(if let Some(numbers) = self.numbers::<$number>() {
                    return numbers.get(row).filter(|_| !self.is_null(row)).map(|number| i128::from(*number));
                })*
            };
        }
        by_type!(i8 i16 i32 i64 u8 u16 u32 u64);
        None
    }

    /// Rows of integers as their bytes, one after another, and their width; `None` for another type. The
    /// bytes of a null are of no meaning.
    pub(crate) fn fixed(&self) -> Option<(&'a [u8], usize)> {
        let integers =
            [Type::TinyInt, Type::SmallInt, Type::Integer, Type::BigInt, Type::UTinyInt, Type::USmallInt];
        let integers = integers.into_iter().chain([Type::UInteger, Type::UBigInt]);
        let width = integers.into_iter().find(|of| self.is(*of)).map(|of| match of {
            Type::TinyInt | Type::UTinyInt => 1,
            Type::SmallInt | Type::USmallInt => 2,
            Type::Integer | Type::UInteger => 4,
            _ => 8,
        })?;
        if self.rows == 0 || self.data.is_null() {
            return Some((&[], width));
        }
        // SAFETY: a flat vector of integers of this width has so many bytes, for the time of the call.
        Some((unsafe { slice::from_raw_parts(self.data, self.rows * width) }, width))
    }

    /// The texts; `None` for another type than VARCHAR and BLOB.
    fn texts(&self) -> Option<&'a [Text]> {
        if !self.is(Type::Varchar) && !self.is(Type::Blob) {
            return None;
        }
        if self.rows == 0 || self.data.is_null() {
            return Some(&[]);
        }
        // SAFETY: a flat vector of this type has a `duckdb_string_t` for each row, aligned, for the time of
        // the call; every pattern of bits is a `Text`.
        Some(unsafe { slice::from_raw_parts(self.data.cast(), self.rows) })
    }

    /// The bytes of a row of VARCHAR or BLOB; `None` for a null, or a column of another type.
    pub(crate) fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        let text = self.texts()?.get(row)?;
        // SAFETY: the row is not null.
        (!self.is_null(row)).then(|| unsafe { text.bytes() })
    }

    /// Replaces `out` with the bytes of all rows of VARCHAR or BLOB; a null gives empty bytes. Returns false
    /// for another type.
    pub(crate) fn gather(&self, out: &mut Vec<&'a [u8]>) -> bool {
        out.clear();
        let Some(texts) = self.texts() else { return false };
        if self.may_have_nulls() {
            out.extend(texts.iter().enumerate().map(|(row, text)| {
                // SAFETY: the row is not null.
                if self.is_null(row) { &[] } else { unsafe { text.bytes() } }
            }));
        } else {
            // SAFETY: no row is null.
            out.extend(texts.iter().map(|text| unsafe { text.bytes() }));
        }
        true
    }

    /// Tests if all rows of a column of VARCHAR or BLOB are one value at one place, as in a constant vector.
    /// A column of equal values at several places need not be.
    pub(crate) fn is_constant(&self) -> bool {
        let Some([first, rest @ ..]) = self.texts() else { return false };
        let has_nulls = self.may_have_nulls() && (0..self.rows).any(|row| self.is_null(row));
        // Without an early exit, for the compiler to compare several rows at once.
        let differ = |part: &[Text]| {
            let bits = |text: &Text| (text.0[0] ^ first.0[0]) | (text.0[1] ^ first.0[1]);
            part.iter().fold(0, |all, text| all | bits(text)) != 0
        };
        !has_nulls && !rest.chunks(128).any(differ)
    }
}

impl Text {
    /// # Safety
    /// The text is a row of a vector that is not null, and the vector stays as it is during the borrow.
    #[inline(always)]
    unsafe fn bytes(&self) -> &[u8] {
        let len = self.0[0] as u32 as usize;
        if len <= INLINE {
            // SAFETY: the bytes stand behind the length of 4 bytes, on a little-endian machine.
            return unsafe { slice::from_raw_parts(ptr::from_ref(self).cast::<u8>().add(4), len) };
        }
        // SAFETY: texts of more than 12 bytes have a pointer to so many bytes, which live as long as the
        // vector.
        unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(self.0[1] as usize), len) }
    }
}

mod sealed {
    pub(crate) trait Sealed {}
}

/// Types of Rust that are the values of a type of DuckDB: any pattern of bits is one.
pub(crate) trait Number: Copy + sealed::Sealed {
    /// The type.
    const TYPE: Type;
}

macro_rules! numbers {
    ($($number:ty: $of:ident;)*) => {
        $(impl sealed::Sealed for $number {}

        impl Number for $number {
            const TYPE: Type = Type::$of;
        })*
    };
}

numbers! {
    i8: TinyInt;
    i16: SmallInt;
    i32: Integer;
    i64: BigInt;
    u8: UTinyInt;
    u16: USmallInt;
    u32: UInteger;
    u64: UBigInt;
    f64: Double;
}
