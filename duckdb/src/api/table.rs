//! Table functions: rows of files.

use super::functions::{Delete, Handle, SUCCESS, functions};
use super::guard::{guarded, named};
use super::types::{LogicalType, Type, terminated, with_error};
use super::write::Output;
use std::ffi::CStr;
use std::sync::atomic::AtomicUsize;

/// A table function; a value is a call of it, with its arguments.
pub(crate) trait Table: Send + Sync + Sized + 'static {
    /// Name in SQL.
    const NAME: &'static str;

    /// Names of the boolean parameters that a call may have.
    const FLAGS: &'static [&'static str];

    /// Work of one thread.
    type Work: Send + 'static;

    /// The call with these texts as its argument, and these flags, in the order of [`FLAGS`](Self::FLAGS).
    ///
    /// # Errors
    /// The argument is wrong.
    fn bind(argument: &[String], flags: &[Option<bool>]) -> Result<Self, String>;

    /// Names and types of the columns.
    fn columns(&self) -> Vec<(&'static str, Type)>;

    /// About how many rows there are, for the planner.
    fn estimate(&self) -> u64;

    /// Most threads that have work.
    fn threads(&self) -> usize;

    /// The work of a thread.
    fn work(&self) -> Self::Work;

    /// Reads at most `most` rows. No rows are the end of the work. `claimed` counts what the threads of a
    /// query have taken, from 0.
    ///
    /// # Errors
    /// A file cannot be read.
    fn read(&self, claimed: &AtomicUsize, work: &mut Self::Work, most: usize) -> Result<usize, String>;

    /// Writes a column of the rows that were read last.
    ///
    /// # Errors
    /// DuckDB takes no such values.
    fn write(&self, work: &Self::Work, column: usize, output: &mut Output<'_>) -> Result<(), String>;
}

/// State of a query, which its threads share.
struct Query {
    /// Numbers of the columns that it asks for.
    wanted: Vec<u64>,
    claimed: AtomicUsize,
}

/// Registers a table function.
///
/// # Safety
/// `connection` is an open connection.
///
/// # Errors
/// DuckDB refuses the function: another one has its name.
pub(super) unsafe fn register<T: Table>(connection: Handle) -> Result<(), String> {
    let (api, name) = (functions(), terminated(T::NAME));
    // SAFETY: all handles are made here, used once and freed; DuckDB copies names, types and functions.
    unsafe {
        let mut function = (api.create_table_function)();
        (api.table_function_set_name)(function, name.as_ptr());
        // A function has one form: text and lists of texts are told apart when it is called.
        (api.table_function_add_parameter)(function, LogicalType::new(Type::Any).handle());
        for flag in T::FLAGS {
            let of = LogicalType::new(Type::Boolean);
            (api.table_function_add_named_parameter)(function, terminated(flag).as_ptr(), of.handle());
        }
        (api.table_function_supports_projection_pushdown)(function, true);
        (api.table_function_set_bind)(function, bind::<T>);
        (api.table_function_set_init)(function, init::<T>);
        (api.table_function_set_local_init)(function, local::<T>);
        (api.table_function_set_function)(function, fill::<T>);
        let state = (api.register_table_function)(connection, function);
        (api.destroy_table_function)(&mut function);
        if state == SUCCESS { Ok(()) } else { Err(format!("DuckDB refuses the function {}", T::NAME)) }
    }
}

/// Passes a value on to DuckDB, with the function that frees it.
fn kept<T>(value: T) -> (Handle, Option<Delete>) {
    unsafe extern "C" fn delete<T>(value: Handle) {
        let _ = guarded(|| {
            // SAFETY: DuckDB passes the pointer of a `Box` of `T` once.
            drop(unsafe { Box::from_raw(value.cast::<T>()) });
            Ok(())
        });
    }
    (Box::into_raw(Box::new(value)).cast(), Some(delete::<T>))
}

/// The value behind a pointer that [`kept`] has made.
///
/// # Safety
/// The pointer is null or one of a `T`, which lives for the time of the call and nobody changes.
unsafe fn known<'a, T>(value: Handle) -> Result<&'a T, String> {
    // SAFETY: the caller's promise.
    unsafe { value.cast::<T>().as_ref() }.ok_or_else(|| "DuckDB has lost the state of the call".to_owned())
}

unsafe extern "C" fn bind<T: Table>(info: Handle) {
    let api = functions();
    let result = guarded(|| {
        // SAFETY: DuckDB passes the info for the time of this call; the function has one argument.
        let argument = unsafe { texts((api.bind_get_parameter)(info, 0)) }?;
        let flags: Vec<Option<bool>> = T::FLAGS
            .iter()
            // SAFETY: as above; a parameter that is not passed is a null pointer.
            .map(|flag| unsafe { truth((api.bind_get_named_parameter)(info, terminated(flag).as_ptr())) })
            .collect();
        let call = T::bind(&argument, &flags)?;
        for (name, of) in call.columns() {
            let of = LogicalType::new(of);
            // SAFETY: as above; DuckDB copies the name and the type.
            unsafe { (api.bind_add_result_column)(info, terminated(name).as_ptr(), of.handle()) };
        }
        let rows = call.estimate();
        let (call, delete) = kept(call);
        // SAFETY: as above; DuckDB frees the value once.
        unsafe {
            (api.bind_set_bind_data)(info, call, delete);
            (api.bind_set_cardinality)(info, rows, false);
        }
        Ok(())
    });
    if let Err(why) = result {
        with_error(&named(T::NAME, &why), |text| {
            // SAFETY: as above; DuckDB copies the text.
            unsafe { (api.bind_set_error)(info, text.as_ptr()) };
        });
    }
}

/// The texts of a value, which is freed: a text or a list of texts.
///
/// # Safety
/// `value` is null, or a value that the caller owns.
///
/// # Errors
/// The value is null, empty, of another type, or has a null.
unsafe fn texts(mut value: Handle) -> Result<Vec<String>, String> {
    const NULL: &str = "the argument is null; pass the path of a file, a pattern, or a list of them";
    let api = functions();
    // SAFETY: the caller's promise; the type is the value's.
    match unsafe { id_of(value) } {
        Some(of) if of == Type::Varchar.id() => {
            // SAFETY: the caller's promise.
            unsafe { text(value) }.map(|text| vec![text]).ok_or_else(|| NULL.to_owned())
        }
        Some(of) if of == Type::List(&Type::Varchar).id() => {
            // SAFETY: the value is a list; its members are the caller's to free.
            unsafe {
                let count = if (api.is_null_value)(value) { 0 } else { (api.get_list_size)(value) };
                let all: Option<Vec<String>> = (0..count)
                    .map(|place| {
                        let mut member = (api.get_list_child)(value, place);
                        if id_of(member) != Some(Type::Varchar.id()) {
                            (api.destroy_value)(&mut member);
                            return None;
                        }
                        text(member)
                    })
                    .collect();
                (api.destroy_value)(&mut value);
                all.filter(|all| !all.is_empty())
                    .ok_or_else(|| "the list of files is empty, or has members other than texts".to_owned())
            }
        }
        _ => {
            // SAFETY: the caller's promise.
            unsafe {
                let is_null = value.is_null() || (api.is_null_value)(value);
                (api.destroy_value)(&mut value);
                Err(if is_null { NULL } else { "expected a text or a list of texts" }.to_owned())
            }
        }
    }
}

/// Number of the type of a value; `None` for a null pointer.
///
/// # Safety
/// `value` is null or a value.
unsafe fn id_of(value: Handle) -> Option<u32> {
    let api = functions();
    if value.is_null() {
        return None;
    }
    // SAFETY: the caller's promise; the type belongs to the value.
    Some(unsafe { (api.get_type_id)((api.get_value_type)(value)) })
}

/// The text of a value, which is freed; `None` for null.
///
/// # Safety
/// `value` is null, or a value that the caller owns.
unsafe fn text(mut value: Handle) -> Option<String> {
    let api = functions();
    if value.is_null() {
        return None;
    }
    // SAFETY: the caller's promise; the text is ended by a zero byte, and the caller's to free.
    unsafe {
        let mut text = None;
        if !(api.is_null_value)(value) {
            let chars = (api.get_varchar)(value);
            if !chars.is_null() {
                text = Some(CStr::from_ptr(chars).to_string_lossy().into_owned());
                (api.free)(chars.cast());
            }
        }
        (api.destroy_value)(&mut value);
        text
    }
}

/// The truth of a value, which is freed; `None` for null.
///
/// # Safety
/// As [`text`].
unsafe fn truth(mut value: Handle) -> Option<bool> {
    let api = functions();
    if value.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let truth = (!(api.is_null_value)(value)).then(|| (api.get_bool)(value));
        (api.destroy_value)(&mut value);
        truth
    }
}

unsafe extern "C" fn init<T: Table>(info: Handle) {
    let api = functions();
    let result = guarded(|| {
        // SAFETY: DuckDB passes the info for the time of this call; the bind data are ours.
        unsafe {
            let call: &T = known((api.init_get_bind_data)(info))?;
            let count = (api.init_get_column_count)(info);
            let columns = (0..count).map(|number| (api.init_get_column_index)(info, number));
            let query = Query { wanted: columns.collect(), claimed: AtomicUsize::new(0) };
            let (query, delete) = kept(query);
            (api.init_set_init_data)(info, query, delete);
            (api.init_set_max_threads)(info, call.threads().max(1) as u64);
        }
        Ok(())
    });
    report_init::<T>(info, result);
}

unsafe extern "C" fn local<T: Table>(info: Handle) {
    let api = functions();
    let result = guarded(|| {
        // SAFETY: as in `init`; the data are of this thread.
        unsafe {
            let call: &T = known((api.init_get_bind_data)(info))?;
            let (work, delete) = kept(call.work());
            (api.init_set_init_data)(info, work, delete);
        }
        Ok(())
    });
    report_init::<T>(info, result);
}

fn report_init<T: Table>(info: Handle, result: Result<(), String>) {
    if let Err(why) = result {
        with_error(&named(T::NAME, &why), |text| {
            // SAFETY: DuckDB passes the info for the time of a call, and copies the text.
            unsafe { (functions().init_set_error)(info, text.as_ptr()) };
        });
    }
}

unsafe extern "C" fn fill<T: Table>(info: Handle, output: Handle) {
    let api = functions();
    let result = guarded(|| {
        // SAFETY: DuckDB passes the info and the chunk for the time of this call; the data are ours, and the
        // local ones of this thread, which runs one call at a time.
        let (call, query, work) = unsafe {
            let call: &T = known((api.function_get_bind_data)(info))?;
            let query: &Query = known((api.function_get_init_data)(info))?;
            let work = (api.function_get_local_init_data)(info).cast::<T::Work>().as_mut();
            (call, query, work.ok_or("DuckDB has lost the state of the thread")?)
        };
        // SAFETY: the function has no arguments.
        let most = unsafe { (api.vector_size)() } as usize;
        let rows = call.read(&query.claimed, work, most)?.min(most);
        let columns = call.columns().len();
        for (place, column) in (0..).zip(&query.wanted) {
            // Numbers beyond the columns ask for rows only, as `count(*)` does.
            let Some(column) = usize::try_from(*column).ok().filter(|column| *column < columns) else {
                continue;
            };
            // SAFETY: the chunk has a vector for each wanted column, with room for `most` rows.
            let mut vector = unsafe { Output::new((api.data_chunk_get_vector)(output, place), rows) };
            call.write(work, column, &mut vector)?;
        }
        // SAFETY: the chunk has room for `most` rows.
        unsafe { (api.data_chunk_set_size)(output, rows as u64) };
        Ok(())
    });
    if let Err(why) = result {
        with_error(&named(T::NAME, &why), |text| {
            // SAFETY: as above; DuckDB copies the text.
            unsafe { (api.function_set_error)(info, text.as_ptr()) };
        });
    }
}
