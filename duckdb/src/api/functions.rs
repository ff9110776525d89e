//! Functions of DuckDB's C extension API that this extension calls.

use super::order::place;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// A handle or a pointer of DuckDB.
pub(super) type Handle = *mut c_void;
/// Destructor of a value that DuckDB keeps.
pub(super) type Delete = unsafe extern "C" fn(*mut c_void);
/// A callback that receives a handle of what it is for, and a chunk.
pub(super) type Fill = unsafe extern "C" fn(Handle, Handle);
/// A callback that receives a handle of what it is for.
pub(super) type Begin = unsafe extern "C" fn(Handle);
/// The function of a scalar: its info, the input chunk, the output vector.
pub(super) type Call = unsafe extern "C" fn(Handle, Handle, Handle);
/// Size of an aggregate's state.
pub(super) type StateSize = unsafe extern "C" fn(Handle) -> u64;
/// Info, chunk, one state for each row.
pub(super) type Update = unsafe extern "C" fn(Handle, Handle, *mut Handle);
/// Info, source states, target states, their number.
pub(super) type Combine = unsafe extern "C" fn(Handle, *mut Handle, *mut Handle, u64);
/// Info, states, result vector, number of states, first row of the result.
pub(super) type Finish = unsafe extern "C" fn(Handle, *mut Handle, Handle, u64, u64);
/// States and their number.
pub(super) type Destroy = unsafe extern "C" fn(*mut Handle, u64);

/// `DuckDBSuccess`.
pub(super) const SUCCESS: u32 = 0;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, named as in the header without `duckdb_`.
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Reads the functions out of DuckDB's struct. `None` if one is missing.
            ///
            /// # Safety
            /// `table` points to a `duckdb_ext_api_v1` of version 1.2.0 or later.
            unsafe fn read(table: *const *const c_void) -> Option<Self> {
                Some(Self {
                    $($name: {
                        const PLACE: usize = place(stringify!($name));
                        // SAFETY: the struct has at least `order::COUNT` pointers, and PLACE is below that.
                        let function = unsafe { *table.add(PLACE) };
                        if function.is_null() {
                            return None;
                        }
                        // SAFETY: the pointer is not null, and the header declares the function at this place
                        // with these types; pointers to functions have the size of other pointers here.
                        unsafe {
                            std::mem::transmute::<
                                *const c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(function)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    connect(Handle, *mut Handle) -> u32;
    disconnect(*mut Handle);
    free(Handle);
    vector_size() -> u64;

    get_value_type(Handle) -> Handle;
    get_varchar(Handle) -> *mut c_char;
    get_bool(Handle) -> bool;
    is_null_value(Handle) -> bool;
    get_list_size(Handle) -> u64;
    get_list_child(Handle, u64) -> Handle;
    destroy_value(*mut Handle);

    create_logical_type(u32) -> Handle;
    create_list_type(Handle) -> Handle;
    create_struct_type(*mut Handle, *mut *const c_char, u64) -> Handle;
    get_type_id(Handle) -> u32;
    destroy_logical_type(*mut Handle);

    data_chunk_get_column_count(Handle) -> u64;
    data_chunk_get_vector(Handle, u64) -> Handle;
    data_chunk_get_size(Handle) -> u64;
    data_chunk_set_size(Handle, u64);
    vector_get_column_type(Handle) -> Handle;
    vector_get_data(Handle) -> Handle;
    vector_get_validity(Handle) -> *mut u64;
    vector_ensure_validity_writable(Handle);
    vector_assign_string_element_len(Handle, u64, *const c_char, u64);
    list_vector_get_child(Handle) -> Handle;
    list_vector_get_size(Handle) -> u64;
    list_vector_set_size(Handle, u64) -> u32;
    list_vector_reserve(Handle, u64) -> u32;
    struct_vector_get_child(Handle, u64) -> Handle;

    create_scalar_function() -> Handle;
    destroy_scalar_function(*mut Handle);
    scalar_function_set_name(Handle, *const c_char);
    scalar_function_set_special_handling(Handle);
    scalar_function_add_parameter(Handle, Handle);
    scalar_function_set_return_type(Handle, Handle);
    scalar_function_set_function(Handle, Call);
    scalar_function_set_error(Handle, *const c_char);
    create_scalar_function_set(*const c_char) -> Handle;
    destroy_scalar_function_set(*mut Handle);
    add_scalar_function_to_set(Handle, Handle) -> u32;
    register_scalar_function_set(Handle, Handle) -> u32;

    create_aggregate_function() -> Handle;
    destroy_aggregate_function(*mut Handle);
    aggregate_function_set_name(Handle, *const c_char);
    aggregate_function_add_parameter(Handle, Handle);
    aggregate_function_set_return_type(Handle, Handle);
    aggregate_function_set_functions(Handle, StateSize, Fill, Update, Combine, Finish);
    aggregate_function_set_destructor(Handle, Destroy);
    aggregate_function_set_special_handling(Handle);
    aggregate_function_set_error(Handle, *const c_char);
    create_aggregate_function_set(*const c_char) -> Handle;
    destroy_aggregate_function_set(*mut Handle);
    add_aggregate_function_to_set(Handle, Handle) -> u32;
    register_aggregate_function_set(Handle, Handle) -> u32;

    create_table_function() -> Handle;
    destroy_table_function(*mut Handle);
    table_function_set_name(Handle, *const c_char);
    table_function_add_parameter(Handle, Handle);
    table_function_add_named_parameter(Handle, *const c_char, Handle);
    table_function_set_bind(Handle, Begin);
    table_function_set_init(Handle, Begin);
    table_function_set_local_init(Handle, Begin);
    table_function_set_function(Handle, Fill);
    table_function_supports_projection_pushdown(Handle, bool);
    register_table_function(Handle, Handle) -> u32;
    bind_add_result_column(Handle, *const c_char, Handle);
    bind_get_parameter(Handle, u64) -> Handle;
    bind_get_named_parameter(Handle, *const c_char) -> Handle;
    bind_set_bind_data(Handle, Handle, Option<Delete>);
    bind_set_cardinality(Handle, u64, bool);
    bind_set_error(Handle, *const c_char);
    init_get_bind_data(Handle) -> Handle;
    init_set_init_data(Handle, Handle, Option<Delete>);
    init_get_column_count(Handle) -> u64;
    init_get_column_index(Handle, u64) -> u64;
    init_set_max_threads(Handle, u64);
    init_set_error(Handle, *const c_char);
    function_get_bind_data(Handle) -> Handle;
    function_get_init_data(Handle) -> Handle;
    function_get_local_init_data(Handle) -> Handle;
    function_set_error(Handle, *const c_char);
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Reads the functions that [`functions`] returns from now on. Returns false if one is missing.
///
/// # Safety
/// `table` points to a `duckdb_ext_api_v1` of version 1.2.0 or later. The functions stay loaded.
pub(super) unsafe fn load(table: *const c_void) -> bool {
    if FUNCTIONS.get().is_none() {
        // SAFETY: the caller's promise.
        let Some(read) = (unsafe { Functions::read(table.cast()) }) else { return false };
        // Another thread read the same functions first.
        let _ = FUNCTIONS.set(read);
    }
    true
}

/// The functions of the process's DuckDB.
///
/// # Panics
/// [`load`] was not called. It is the first act of the extension, before DuckDB knows a callback.
pub(super) fn functions() -> &'static Functions {
    FUNCTIONS.get().expect("the entry point reads the functions before anything else")
}
