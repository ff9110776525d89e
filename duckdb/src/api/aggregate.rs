//! Aggregate functions.

use super::functions::{Handle, SUCCESS, functions};
use super::group::Groups;
use super::guard::{guarded, named};
use super::read::Chunk;
use super::states::{RowStates, Slot, seal};
use super::types::{LogicalType, Type, terminated, with_error};
use super::write::Output;
use std::slice;

/// An aggregate function; a value is the state of one group.
pub(crate) trait Aggregate: Sized + Send + 'static {
    /// Name in SQL.
    const NAME: &'static str;

    /// Types of the arguments and of the result, for each form.
    fn forms() -> Vec<(Vec<Type>, Type)>;

    /// Rows of a chunk, read once for all of its groups.
    type Rows<'a>;

    /// Reads the rows of a chunk.
    ///
    /// # Errors
    /// An argument has a type that the function does not take.
    fn rows<'a>(input: &Chunk<'a>) -> Result<Self::Rows<'a>, String>;

    /// The state of a group whose first row is `row`, not taken yet.
    ///
    /// # Errors
    /// An argument is wrong.
    fn begin(input: &Self::Rows<'_>, row: usize) -> Result<Self, String>;

    /// Takes rows; none of them has a null.
    ///
    /// # Errors
    /// An argument is wrong, or other than in rows before.
    fn add(&mut self, input: &Self::Rows<'_>, rows: &[usize]) -> Result<(), String>;

    /// Takes the rows of another state.
    ///
    /// # Errors
    /// The states have other arguments.
    fn merge(&mut self, other: &Self) -> Result<(), String>;

    /// A copy.
    fn fork(&self) -> Self;

    /// Writes the result of a group, `None` for one without rows.
    ///
    /// # Errors
    /// DuckDB takes no such result.
    fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String>;
}

/// Registers an aggregate function.
///
/// # Safety
/// `connection` is an open connection.
///
/// # Errors
/// DuckDB refuses the function: another one has its name.
pub(super) unsafe fn register<A: Aggregate>(connection: Handle) -> Result<(), String> {
    let (api, name) = (functions(), terminated(A::NAME));
    // SAFETY: all handles are made here, used once and freed; DuckDB copies names, types and functions.
    unsafe {
        let mut set = (api.create_aggregate_function_set)(name.as_ptr());
        for (arguments, result) in A::forms() {
            let mut function = (api.create_aggregate_function)();
            (api.aggregate_function_set_name)(function, name.as_ptr());
            for argument in arguments {
                (api.aggregate_function_add_parameter)(function, LogicalType::new(argument).handle());
            }
            (api.aggregate_function_set_return_type)(function, LogicalType::new(result).handle());
            (api.aggregate_function_set_functions)(
                function,
                size::<A>,
                begin::<A>,
                update::<A>,
                combine::<A>,
                finish::<A>,
            );
            (api.aggregate_function_set_destructor)(function, destroy::<A>);
            (api.aggregate_function_set_special_handling)(function);
            (api.add_aggregate_function_to_set)(set, function);
            (api.destroy_aggregate_function)(&mut function);
        }
        let state = (api.register_aggregate_function_set)(connection, set);
        (api.destroy_aggregate_function_set)(&mut set);
        if state == SUCCESS { Ok(()) } else { Err(format!("DuckDB refuses the function {}", A::NAME)) }
    }
}

fn report(info: Handle, name: &str, result: Result<(), String>) {
    if let Err(why) = result {
        with_error(&named(name, &why), |text| {
            // SAFETY: DuckDB passes the info for the time of a call, and copies the text.
            unsafe { (functions().aggregate_function_set_error)(info, text.as_ptr()) };
        });
    }
}

unsafe extern "C" fn size<A>(_info: Handle) -> u64 {
    size_of::<Slot<A>>() as u64
}

unsafe extern "C" fn begin<A: Aggregate>(_info: Handle, state: Handle) {
    // SAFETY: DuckDB has allocated a state of this size; it need not be aligned.
    unsafe { state.cast::<Slot<A>>().write_unaligned(Slot::empty(const { seal(A::NAME) })) };
}

/// The states of a call.
///
/// # Safety
/// `states` has `count` members, which point to states.
unsafe fn slots<'a, A>(states: *mut Handle, count: usize) -> &'a [*mut Slot<A>] {
    if count == 0 || states.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(states.cast(), count) }
}

unsafe extern "C" fn update<A: Aggregate>(info: Handle, input: Handle, states: *mut Handle) {
    let result = guarded(|| {
        // SAFETY: DuckDB passes a flat chunk for the time of this call.
        let input = unsafe { Chunk::new(input) };
        // SAFETY: DuckDB passes a state for each row, or one for all.
        let states = unsafe { RowStates::<A>::of(states, input.rows(), const { seal(A::NAME) }) };
        let columns = input.all()?;
        let whole = |row: &usize| columns.iter().all(|column| !column.is_null(*row));
        let has_state = |row: &usize| !states.slot(*row).is_null();
        let rows: Vec<usize> = (0..input.rows()).filter(has_state).filter(whole).collect();
        let input = A::rows(&input)?;
        let groups = Groups::of(rows, |row| states.slot(row).addr());
        for group in groups.iter() {
            let Some(first) = group.first() else { continue };
            let place = states.slot(*first);
            // SAFETY: the place is a slot that `begin` has written, and nobody else uses in this call.
            let mut slot = unsafe { place.read_unaligned() };
            if slot.state.is_null() {
                slot.state = Box::into_raw(Box::new(A::begin(&input, *first)?));
                // SAFETY: as above.
                unsafe { place.write_unaligned(slot) };
            }
            // SAFETY: the pointer is that of a `Box` of ours, which nobody else uses in this call.
            unsafe { &mut *slot.state }.add(&input, group)?;
        }
        Ok(())
    });
    report(info, A::NAME, result);
}

unsafe extern "C" fn combine<A: Aggregate>(
    info: Handle,
    sources: *mut Handle,
    targets: *mut Handle,
    count: u64,
) {
    let result = guarded(|| {
        // SAFETY: DuckDB passes so many states in both.
        let (sources, targets) =
            unsafe { (slots::<A>(sources, count as usize), slots::<A>(targets, count as usize)) };
        for (source, target) in sources.iter().zip(targets) {
            // SAFETY: the slots are states that `begin` has written. A source may be combined again, so that
            // it stays as it is; a target is no source.
            unsafe {
                let Some(source) = source.read_unaligned().state.as_ref() else { continue };
                let mut slot = target.read_unaligned();
                match slot.state.as_mut() {
                    Some(target) => target.merge(source)?,
                    None => {
                        slot.state = Box::into_raw(Box::new(source.fork()));
                        target.write_unaligned(slot);
                    }
                }
            }
        }
        Ok(())
    });
    report(info, A::NAME, result);
}

unsafe extern "C" fn finish<A: Aggregate>(
    info: Handle,
    states: *mut Handle,
    output: Handle,
    count: u64,
    offset: u64,
) {
    let result = guarded(|| {
        let (count, offset) = (count as usize, offset as usize);
        // SAFETY: DuckDB passes so many states, and a vector with room for their results after `offset`.
        let (slots, mut output) =
            unsafe { (slots::<A>(states, count), Output::new(output, offset.saturating_add(count))) };
        for (row, slot) in (offset..).zip(slots) {
            // SAFETY: the slot is a state that `begin` has written.
            let state = unsafe { slot.read_unaligned().state.as_ref() };
            A::finish(state, &mut output, row)?;
        }
        Ok(())
    });
    report(info, A::NAME, result);
}

unsafe extern "C" fn destroy<A: Aggregate>(states: *mut Handle, count: u64) {
    let _ = guarded(|| {
        // SAFETY: DuckDB passes so many states that it will not use again.
        for slot in unsafe { slots::<A>(states, count as usize) } {
            // SAFETY: the slot is a state that `begin` has written; the pointer comes from a `Box`, and is
            // null after it is freed.
            unsafe {
                let state = slot.read_unaligned().state;
                slot.write_unaligned(Slot::empty(0));
                if !state.is_null() {
                    drop(Box::from_raw(state));
                }
            }
        }
        Ok(())
    });
}
