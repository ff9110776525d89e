//! DuckDB's C extension API, version 1.2.0, as safe traits and types: the only place with `unsafe`.
//!
//! DuckDB passes a struct of pointers to functions to the entry point ([`functions`], in the [`order`] of its
//! header), and calls back with chunks of rows. [`Scalar`], [`Aggregate`] and [`Table`] are the functions of
//! SQL; they read a [`Chunk`] and write an [`Output`], which check types and bounds. An error or a panic
//! becomes an error of the query ([`guard`]).

mod aggregate;
mod functions;
mod group;
mod guard;
mod order;
mod read;
mod scalar;
mod states;
mod table;
mod types;
mod write;

pub(crate) use aggregate::Aggregate;
pub(crate) use read::{Chunk, Column, Number};
pub(crate) use scalar::Scalar;
pub(crate) use table::Table;
pub(crate) use types::Type;
pub(crate) use write::Output;

use functions::{Handle, SUCCESS, functions};
use std::ffi::{c_char, c_void};
use std::ptr;

/// Oldest version of the API, and the one in the extension's metadata.
const VERSION: &std::ffi::CStr = c"v1.2.0";

/// Texts and pointers are read as they lie in memory on these machines.
const _: () = assert!(size_of::<usize>() == 8 && cfg!(target_endian = "little"));

/// A function to register.
#[derive(Debug)]
pub(crate) struct Function(unsafe fn(Handle) -> Result<(), String>);

impl Function {
    pub(crate) fn scalar<S: Scalar>() -> Self {
        Self(scalar::register::<S>)
    }

    pub(crate) fn aggregate<A: Aggregate>() -> Self {
        Self(aggregate::register::<A>)
    }

    pub(crate) fn table<T: Table>() -> Self {
        Self(table::register::<T>)
    }
}

/// `struct duckdb_extension_access`.
#[repr(C)]
struct Access {
    set_error: unsafe extern "C" fn(Handle, *const c_char),
    get_database: unsafe extern "C" fn(Handle) -> *mut Handle,
    get_api: unsafe extern "C" fn(Handle, *const c_char) -> *const c_void,
}

/// Entry point, which DuckDB calls after it has loaded the extension. Returns true if its functions are
/// registered.
///
/// # Safety
/// DuckDB passes both pointers for the time of the call.
// SAFETY: no other function of the process has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn hashlane_init_c_api(info: Handle, access: *const c_void) -> bool {
    // SAFETY: DuckDB's promise.
    let Some(access) = (unsafe { access.cast::<Access>().as_ref() }) else { return false };
    let result = guard::guarded(|| {
        // SAFETY: DuckDB's promise; the struct of version 1.2.0 has all functions in `order`.
        unsafe {
            let api = (access.get_api)(info, VERSION.as_ptr());
            if api.is_null() {
                // DuckDB has set the error.
                return Ok(false);
            }
            if !functions::load(api) {
                return Err("a function of DuckDB's C extension API 1.2.0 is missing".to_owned());
            }
            let database = (access.get_database)(info);
            let mut connection = ptr::null_mut();
            if database.is_null() || (functions().connect)(*database, &mut connection) != SUCCESS {
                return Err("cannot connect to the database".to_owned());
            }
            let registered = crate::functions().iter().try_for_each(|function| (function.0)(connection));
            (functions().disconnect)(&mut connection);
            registered.map(|()| true)
        }
    });
    match result {
        Ok(loaded) => loaded,
        Err(why) => {
            types::with_error(&guard::named("hashlane", &why), |text| {
                // SAFETY: DuckDB's promise; it copies the text.
                unsafe { (access.set_error)(info, text.as_ptr()) };
            });
            false
        }
    }
}
