//! Scalar functions.

use super::functions::{Handle, SUCCESS, functions};
use super::guard::{guarded, named};
use super::read::Chunk;
use super::types::{LogicalType, Type, terminated, with_error};
use super::write::Output;

/// A scalar function.
pub(crate) trait Scalar: 'static {
    /// Name in SQL.
    const NAME: &'static str;

    /// Types of the arguments and of the result, for each form.
    fn forms() -> Vec<(Vec<Type>, Type)>;

    /// Writes the result of each row.
    ///
    /// # Errors
    /// An argument is wrong.
    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String>;
}

/// Registers a scalar function.
///
/// # Safety
/// `connection` is an open connection.
///
/// # Errors
/// DuckDB refuses the function: another one has its name.
pub(super) unsafe fn register<S: Scalar>(connection: Handle) -> Result<(), String> {
    let (api, name) = (functions(), terminated(S::NAME));
    // SAFETY: all handles are made here, used once and freed; DuckDB copies names, types and functions.
    unsafe {
        let mut set = (api.create_scalar_function_set)(name.as_ptr());
        for (arguments, result) in S::forms() {
            let mut function = (api.create_scalar_function)();
            (api.scalar_function_set_name)(function, name.as_ptr());
            for argument in arguments {
                (api.scalar_function_add_parameter)(function, LogicalType::new(argument).handle());
            }
            (api.scalar_function_set_return_type)(function, LogicalType::new(result).handle());
            // Nulls are passed on: an argument may be null in some rows only.
            (api.scalar_function_set_special_handling)(function);
            (api.scalar_function_set_function)(function, call::<S>);
            (api.add_scalar_function_to_set)(set, function);
            (api.destroy_scalar_function)(&mut function);
        }
        let state = (api.register_scalar_function_set)(connection, set);
        (api.destroy_scalar_function_set)(&mut set);
        if state == SUCCESS { Ok(()) } else { Err(format!("DuckDB refuses the function {}", S::NAME)) }
    }
}

unsafe extern "C" fn call<S: Scalar>(info: Handle, input: Handle, output: Handle) {
    let result = guarded(|| {
        // SAFETY: DuckDB passes a flat chunk and a vector for its rows, for the time of this call.
        let input = unsafe { Chunk::new(input) };
        // SAFETY: as above.
        let mut output = unsafe { Output::new(output, input.rows()) };
        S::call(&input, &mut output)
    });
    if let Err(why) = result {
        with_error(&named(S::NAME, &why), |text| {
            // SAFETY: DuckDB passes the info for the time of this call, and copies the text.
            unsafe { (functions().scalar_function_set_error)(info, text.as_ptr()) };
        });
    }
}
