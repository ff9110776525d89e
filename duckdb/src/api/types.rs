//! Types of columns, parameters and results.

use super::functions::{Handle, functions};
use std::ffi::{CStr, CString, c_char};

/// A type of DuckDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Boolean,
    TinyInt,
    SmallInt,
    Integer,
    BigInt,
    UTinyInt,
    USmallInt,
    UInteger,
    UBigInt,
    Double,
    Varchar,
    Blob,
    /// Nanoseconds since 1970, without a time zone.
    TimestampNs,
    /// Any type, of parameters only.
    Any,
    List(&'static Type),
    Struct(&'static [(&'static str, Type)]),
}

impl Type {
    /// Number of the type in the C API (`duckdb_type`).
    pub(super) const fn id(self) -> u32 {
        match self {
            Self::Boolean => 1,
            Self::TinyInt => 2,
            Self::SmallInt => 3,
            Self::Integer => 4,
            Self::BigInt => 5,
            Self::UTinyInt => 6,
            Self::USmallInt => 7,
            Self::UInteger => 8,
            Self::UBigInt => 9,
            Self::Double => 11,
            Self::Varchar => 17,
            Self::Blob => 18,
            Self::TimestampNs => 22,
            Self::List(_) => 24,
            Self::Struct(_) => 25,
            Self::Any => 34,
        }
    }
}

/// A type that DuckDB keeps; freed when dropped.
pub(super) struct LogicalType(Handle);

impl LogicalType {
    pub(super) fn new(of: Type) -> Self {
        let api = functions();
        match of {
            Type::List(item) => {
                let item = Self::new(*item);
                // SAFETY: `item` is a type, which the call copies.
                Self(unsafe { (api.create_list_type)(item.0) })
            }
            Type::Struct(fields) => {
                let types: Vec<Self> = fields.iter().map(|(_, of)| Self::new(*of)).collect();
                let mut handles: Vec<Handle> = types.iter().map(|of| of.0).collect();
                let names: Vec<CString> = fields.iter().map(|(name, _)| terminated(name)).collect();
                let mut pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
                let count = fields.len() as u64;
                // SAFETY: both arrays have `count` members that outlive the call, which copies them.
                Self(unsafe { (api.create_struct_type)(handles.as_mut_ptr(), pointers.as_mut_ptr(), count) })
            }
            // SAFETY: the number is one of `duckdb_type` that needs no parameters.
            of => Self(unsafe { (api.create_logical_type)(of.id()) }),
        }
    }

    /// The type of a vector.
    ///
    /// # Safety
    /// `vector` is a valid vector.
    pub(super) unsafe fn of(vector: Handle) -> Self {
        // SAFETY: the caller's promise; the result is a copy that is freed with `self`.
        Self(unsafe { (functions().vector_get_column_type)(vector) })
    }

    pub(super) const fn handle(&self) -> Handle {
        self.0
    }

    /// Number of the type in the C API.
    pub(super) fn id(&self) -> u32 {
        // SAFETY: the handle is a type.
        unsafe { (functions().get_type_id)(self.0) }
    }
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: the handle is a type of ours that nobody else frees.
        unsafe { (functions().destroy_logical_type)(&mut self.0) }
    }
}

/// A text for C, up to its first zero byte.
pub(super) fn terminated(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// Passes a text to a function of DuckDB that copies it.
pub(super) fn with_error(text: &str, set: impl FnOnce(&CStr)) {
    set(&terminated(text));
}
