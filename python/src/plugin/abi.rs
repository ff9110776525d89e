//! Polars' interface for plugins, version 0.1: columns by Arrow's C data interface, and exported functions
//! that Polars finds by their names.
//!
//! Facts of the interface, from `polars-ffi` and the callers in `polars-plan` (tested with Polars 1.36 and
//! 2.1):
//!
//! - `_polars_plugin_get_version` returns `major << 16 | minor`. Polars refuses other majors than 0.
//! - `_polars_plugin_NAME` gets an array of [`SeriesExport`], which the callee takes over, the arguments as
//!   bytes, and the place of the result. A result without `private_data` is an error, whose text
//!   `_polars_plugin_get_last_error_message` returns on the same thread.
//! - `_polars_plugin_field_NAME` gets the fields of the columns, which stay the caller's, and returns one
//!   field.
//! - The receiver of a series moves each `ArrowArray` out of its box, then calls `release`, which frees the
//!   boxes and the schema, and no array.

use super::{Function, Input, functions, text};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::{Array, ArrayRef, NullArray, make_array};
use arrow_schema::{DataType, Field};
use pyo3::PyErr;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// Version 0.1.
const VERSION: u32 = 1;

/// A series on its way.
#[repr(C)]
pub(super) struct SeriesExport {
    field: *mut FFI_ArrowSchema,
    arrays: *mut *mut FFI_ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    private_data: *mut c_void,
}

/// Memory of a series that this library exports.
struct Exported {
    field: Box<FFI_ArrowSchema>,
    arrays: Box<[*mut FFI_ArrowArray]>,
}

/// A series that was taken over; its memory is released at the end.
struct Taken(SeriesExport);

impl Drop for Taken {
    #[allow(unsafe_code, reason = "the interface of Polars' plugins")]
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: the series was taken over, so that nobody else releases it; its arrays were moved out.
            unsafe { release(&raw mut self.0) }
        }
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

fn set_error(text: &str) {
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    LAST_ERROR.with(|last| *last.borrow_mut() = text);
}

/// Name of the first column, and the columns.
type Inputs = (String, Vec<Input>);

/// Takes over the `count` series at `inputs`.
///
/// # Safety
/// `inputs` points to `count` series of Polars, which nobody else uses.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
unsafe fn take_all(inputs: *const SeriesExport, count: usize) -> Result<Inputs, String> {
    // All are taken over before one may fail.
    let mut taken = Vec::with_capacity(count);
    for place in 0..count {
        // SAFETY: there are `count` series, and each is read once.
        taken.push(Taken(unsafe { ptr::read(inputs.add(place)) }));
    }
    let mut all = Vec::with_capacity(count);
    for series in &taken {
        let mut arrays = Vec::with_capacity(series.0.len);
        for place in 0..series.0.len {
            // SAFETY: `arrays` points to `len` pointers to arrays, and each array is moved out once:
            // `release` frees their boxes alone.
            arrays.push(unsafe { ptr::read(*series.0.arrays.add(place)) });
        }
        all.push(arrays);
    }
    let (mut name, mut columns) = (None, Vec::with_capacity(count));
    for (series, arrays) in taken.iter().zip(all) {
        // SAFETY: `field` points to the schema of the series, which lives as long as `taken`.
        let field = field(unsafe { &*series.0.field })?;
        name.get_or_insert_with(|| field.name().clone());
        let kind = field.data_type();
        let mut chunks: Vec<ArrayRef> = Vec::with_capacity(arrays.len());
        for array in arrays {
            // Polars exports nulls with a buffer, which Arrow's specification forbids.
            if *kind == DataType::Null {
                chunks.push(Arc::new(NullArray::new(array.len())));
                continue;
            }
            // SAFETY: Polars exports arrays of the schema's type by Arrow's interface, and this library is
            // their only owner. Their offsets and views are checked by `Column`.
            let data = unsafe { from_ffi_and_data_type(array, kind.clone()) };
            let mut data = data.map_err(|why| format!("column {:?}: {why}; cast it first", field.name()))?;
            data.align_buffers();
            chunks.push(make_array(data));
        }
        columns.push(Input { kind: kind.clone(), chunks });
    }
    Ok((name.unwrap_or_default(), columns))
}

/// Name and type of a column.
fn field(schema: &FFI_ArrowSchema) -> Result<Field, String> {
    let refused =
        |what: &str| format!("column {:?}: {what}; cast it first", schema.name().unwrap_or_default());
    let field = Field::try_from(schema).map_err(|why| refused(&why.to_string()))?;
    // Addresses of Python objects in memory.
    // Polars has no other type of this layout.
    match field.data_type() {
        DataType::FixedSizeBinary(_) => {
            Err(refused("Python objects (Object), passed as addresses in memory"))
        }
        kind if kind.is_nested() && holds_null(kind) => Err(refused(
            "values of type Null within a struct or a list, which Polars does not pass as Arrow has them",
        )),
        _ => Ok(field),
    }
}

/// True if values of this type have parts of type Null.
fn holds_null(kind: &DataType) -> bool {
    match kind {
        DataType::Null => true,
        DataType::List(values) | DataType::LargeList(values) | DataType::FixedSizeList(values, _) => {
            holds_null(values.data_type())
        }
        DataType::Struct(fields) => fields.iter().any(|field| holds_null(field.data_type())),
        _ => false,
    }
}

/// A series of these chunks.
fn export(name: &str, kind: &DataType, chunks: &[ArrayRef]) -> Result<SeriesExport, String> {
    let field =
        FFI_ArrowSchema::try_from(&Field::new(name, kind.clone(), true)).map_err(|why| why.to_string())?;
    let arrays = chunks.iter().map(|chunk| Box::into_raw(Box::new(FFI_ArrowArray::new(&chunk.to_data()))));
    let mut exported = Box::new(Exported { field: Box::new(field), arrays: arrays.collect() });
    Ok(SeriesExport {
        field: &raw mut *exported.field,
        arrays: exported.arrays.as_mut_ptr(),
        len: exported.arrays.len(),
        release: Some(release),
        private_data: Box::into_raw(exported).cast(),
    })
}

/// Frees what [`export`] allocated, except for the arrays, which the receiver has moved out.
///
/// # Safety
/// `series` is null or points to a series of [`export`] that was not released.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
unsafe extern "C" fn release(series: *mut SeriesExport) {
    // SAFETY: the caller's promise.
    let Some(series) = (unsafe { series.as_mut() }) else { return };
    if series.release.take().is_none() {
        return;
    }
    // SAFETY: `export` made the pointer from this box, and `release` is called once.
    let exported = unsafe { Box::from_raw(series.private_data.cast::<Exported>()) };
    for array in &exported.arrays {
        // SAFETY: `export` made each pointer from a box of this layout.
        drop(unsafe { Box::from_raw(array.cast::<ManuallyDrop<FFI_ArrowArray>>()) });
    }
}

/// Bytes of the caller.
///
/// # Safety
/// `start` is null or points to `len` bytes, which live and do not change during the call.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
unsafe fn bytes<'a>(start: *const u8, len: usize) -> &'a [u8] {
    if start.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, len) }
}

/// Runs `work` and keeps its error for [`_polars_plugin_get_last_error_message`]. No panic leaves it.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => return Some(result),
        Ok(Err(why)) => set_error(&why),
        Err(panic) => {
            let why = panic.downcast_ref::<String>().map(String::as_str);
            let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
            set_error(&format!("a fault of hashlane, please report it: {why}"));
        }
    }
    None
}

/// # Safety
/// The arguments come from Polars' call of a function.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
unsafe fn call(
    function: &Function,
    inputs: *const SeriesExport,
    count: usize,
    arguments: (*const u8, usize),
    result: *mut SeriesExport,
) {
    let done = guarded(|| {
        // SAFETY: Polars passes `count` series, and forgets them after the call.
        let (name, inputs) = unsafe { take_all(inputs, count) }?;
        // SAFETY: the arguments belong to the plan, which lives during the call.
        let arguments = unsafe { bytes(arguments.0, arguments.1) };
        let named = |error: &PyErr| match count {
            1 => format!("column {name:?}: {}", text(error)),
            _ => text(error),
        };
        let (kind, chunks) = function.call(inputs, arguments).map_err(|error| named(&error))?;
        export(&name, &kind, &chunks)
    });
    if let Some(series) = done {
        // SAFETY: `result` points to an empty series of the caller.
        unsafe { ptr::write(result, series) };
    }
}

/// # Safety
/// The arguments come from Polars' call for the type of a result.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
unsafe fn result_field(
    function: &Function,
    fields: *const FFI_ArrowSchema,
    count: usize,
    result: *mut FFI_ArrowSchema,
    arguments: (*const u8, usize),
) {
    let done = guarded(|| {
        if count == 0 {
            return Err("no columns".to_owned());
        }
        // SAFETY: there are `count` fields, which stay the caller's.
        let first = unsafe { &*fields };
        let name = first.name().unwrap_or_default();
        // SAFETY: as in `call`.
        let arguments = unsafe { bytes(arguments.0, arguments.1) };
        let kind = function.kind(arguments).map_err(|error| text(&error))?;
        FFI_ArrowSchema::try_from(&Field::new(name, kind, true)).map_err(|why| why.to_string())
    });
    if let Some(field) = done {
        // SAFETY: `result` points to an empty schema of the caller.
        unsafe { ptr::write(result, field) };
    }
}

/// Version of the interface that this library has.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
#[unsafe(no_mangle)]
pub(super) extern "C" fn _polars_plugin_get_version() -> u32 {
    VERSION
}

/// Text of the last error of this thread, valid until the next one.
#[allow(unsafe_code, reason = "the interface of Polars' plugins")]
#[unsafe(no_mangle)]
pub(super) extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

macro_rules! export_functions {
    ($($call:ident, $field:ident, $function:ident;)*) => {$(
        /// # Safety
        /// Polars calls it.
        #[allow(unsafe_code, reason = "the interface of Polars' plugins")]
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $call(
            inputs: *const SeriesExport,
            count: usize,
            arguments: *const u8,
            len: usize,
            result: *mut SeriesExport,
            _context: *const c_void,
        ) {
            // SAFETY: the arguments are passed on as they are.
            unsafe { call(&functions::$function, inputs, count, (arguments, len), result) }
        }

        /// # Safety
        /// Polars calls it.
        #[allow(unsafe_code, reason = "the interface of Polars' plugins")]
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $field(
            fields: *const FFI_ArrowSchema,
            count: usize,
            result: *mut FFI_ArrowSchema,
            arguments: *const u8,
            len: usize,
        ) {
            // SAFETY: the arguments are passed on as they are.
            unsafe { result_field(&functions::$function, fields, count, result, (arguments, len)) }
        }
    )*};
}

export_functions! {
    _polars_plugin_hashlane_hash, _polars_plugin_field_hashlane_hash, HASH;
    _polars_plugin_hashlane_flow_hash, _polars_plugin_field_hashlane_flow_hash, FLOW_HASH;
    _polars_plugin_hashlane_rss, _polars_plugin_field_hashlane_rss, RSS;
    _polars_plugin_hashlane_ehash, _polars_plugin_field_hashlane_ehash, EHASH;
    _polars_plugin_hashlane_prefix_hashes, _polars_plugin_field_hashlane_prefix_hashes, PREFIX_HASHES;
    _polars_plugin_hashlane_name_match, _polars_plugin_field_hashlane_name_match, NAME_MATCH;
    _polars_plugin_hashlane_distinct, _polars_plugin_field_hashlane_distinct, DISTINCT;
    _polars_plugin_hashlane_spread, _polars_plugin_field_hashlane_spread, SPREAD;
    _polars_plugin_hashlane_heavy, _polars_plugin_field_hashlane_heavy, HEAVY;
}
