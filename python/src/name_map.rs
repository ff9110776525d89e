//! `NameMap`: the rules of lists that domain names match.

use crate::column::Column;
use crate::error::{at_row, value};
use crate::interrupt::Interrupt;
use crate::parsed::{Errors, each_row};
use crate::rows::Rows;
use crate::texts::Texts;
use arrow_array::types::LargeUtf8Type;
use arrow_array::{Array, ArrayRef, StructArray, UInt64Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use hashlane_hash::scheme::Key;
use hashlane_name_lists::{
    CompiledList, Format, ListReader, Options, query_name, read_compiled, write_compiled,
};
use hashlane_name_map::{Builder, Burst, MAX_LISTS, Match, Reversed, Rules, Target};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of a file that are read at once.
const PIECE: usize = 1 << 20;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NameMap>()?;
    module.add_function(wrap_pyfunction!(name_map_build, module)?)?;
    module.add_function(wrap_pyfunction!(name_map_read, module)?)
}

/// Rules, which do not change.
#[pyclass(frozen)]
pub(crate) struct NameMap {
    rules: Rules,
    lists: Vec<CompiledList>,
}

/// The rules of a list: a file, or a column with a line of a list in each row.
enum Source {
    File(PathBuf),
    Lines(Column),
}

impl Source {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(path) => Ok(Self::File(path)),
            Err(_) => Column::of("lists", object).map(Self::Lines),
        }
    }

    /// Passes the bytes of the list on in pieces.
    fn read(&self, mut each: impl FnMut(&[u8]) -> PyResult<()>) -> PyResult<()> {
        let mut interrupt = Interrupt::default();
        match self {
            Self::File(path) => {
                let failed = |error: io::Error| {
                    let why = (error.raw_os_error(), error.to_string(), path.display().to_string());
                    PyOSError::new_err(why)
                };
                let (mut file, mut piece) = (File::open(path).map_err(failed)?, vec![0; PIECE]);
                loop {
                    let len = match file.read(&mut piece) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        read => read.map_err(failed)?,
                    };
                    let Some(piece) = piece.get(..len).filter(|piece| !piece.is_empty()) else { break };
                    interrupt.record(0, 16 * piece.len())?;
                    each(piece)?;
                }
            }
            Self::Lines(column) => {
                for chunk in column.chunks() {
                    let (rows, nulls) = (Rows::of_strings(column.name(), chunk)?, chunk.logical_nulls());
                    for row in (0..chunk.len()).filter(|row| is_valid(nulls.as_ref(), *row)) {
                        let line = rows.row(row);
                        interrupt.record(10, line.len())?;
                        each(line)?;
                        each(b"\n")?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_valid(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_none_or(|nulls| nulls.is_valid(row))
}

#[pyfunction]
fn name_map_build(
    py: Python<'_>,
    lists: Vec<(String, Bound<'_, PyAny>)>,
    format: Option<&str>,
    plain: &str,
) -> PyResult<NameMap> {
    let known = Format::ALL.map(Format::id).join(", ");
    let unknown = |id: &str| value(format!("format: {id:?} is unknown; known: {known}"));
    let format = format.map(|id| id.parse::<Format>().map_err(|_| unknown(id))).transpose()?;
    let plain = match plain {
        "exact" => Target::Exact,
        "subtree" => Target::Subtree,
        other => return Err(value(format!("plain must be \"exact\" or \"subtree\", not {other:?}"))),
    };
    if lists.len() > MAX_LISTS {
        return Err(value(format!("lists: {}, at most {MAX_LISTS}; join lists of one format", lists.len())));
    }
    let sources = lists.into_iter().map(|(name, object)| Ok((name, Source::of(&object)?)));
    let sources = sources.collect::<PyResult<Vec<_>>>()?;
    py.detach(|| {
        let key = Key::random().map_err(|error| value(format!("cannot draw a key: {error}")))?;
        let (mut builder, mut lists) = (Builder::new(&key), Vec::new());
        for (number, (name, source)) in sources.into_iter().enumerate() {
            let mut reader = ListReader::new(number, Options { format, plain });
            let failed = |error| value(format!("lists: {name:?}: {error}"));
            source.read(|piece| reader.push(piece, &mut builder).map_err(failed))?;
            let report = reader.finish(&mut builder).map_err(failed)?;
            lists.push(CompiledList::new(name, &report));
        }
        Ok(NameMap { rules: builder.build().map_err(value)?, lists })
    })
}

#[pyfunction]
fn name_map_read(py: Python<'_>, data: &[u8]) -> PyResult<NameMap> {
    py.detach(|| NameMap::read(data))
}

impl NameMap {
    /// The rules of these bytes.
    ///
    /// # Errors
    /// `ValueError` for bytes that [`write_compiled`] does not write.
    pub(crate) fn read(data: &[u8]) -> PyResult<Self> {
        let (rules, lists) = read_compiled(data).map_err(value)?;
        Ok(Self { rules, lists })
    }

    /// The lists that each name of a chunk matches, a bit for each; `first` is the number of its first row.
    ///
    /// # Errors
    /// `ValueError` about the first row that is no name.
    pub(crate) fn lists_of(
        &self,
        column: &Column,
        errors: Errors,
        first: usize,
        array: &ArrayRef,
    ) -> PyResult<ArrayRef> {
        let mut lookup = Lookup::new(&self.rules, array.len());
        let (rows, nulls) = (Rows::of_strings(column.name(), array)?, array.logical_nulls());
        let mut interrupt = Interrupt::default();
        for row in 0..array.len() {
            if !is_valid(nulls.as_ref(), row) {
                lookup.refuse(row);
                continue;
            }
            let name = rows.row(row);
            interrupt.record(1, name.len())?;
            match (lookup.add(row, name), errors) {
                (Ok(()), _) => {}
                (Err(_), Errors::Null) => lookup.refuse(row),
                (Err(why), Errors::Raise) => return Err(at_row(first + row, why)),
            }
        }
        Ok(lookup.finish())
    }
}

/// A name of a query in ASCII.
fn query(name: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    query_name(name).map_err(|reason| format!("no name: {}", reason.text()))
}

/// Fields of the rule that a name matches.
fn rule_fields() -> Fields {
    let field = |name| Field::new(name, DataType::LargeUtf8, false);
    ["list", "rule", "target"].map(field).into_iter().collect()
}

#[pymethods]
impl NameMap {
    fn __len__(&self) -> usize {
        self.rules.len()
    }

    /// Bytes of memory of the table.
    fn memory(&self) -> usize {
        self.rules.memory()
    }

    /// Name, format, rules, exceptions and refused entries of each list.
    fn lists(&self) -> Vec<(String, &'static str, u64, u64, u64)> {
        let list = |list: &CompiledList| {
            (list.name.clone(), list.format.id(), list.rules, list.exceptions, list.refused)
        };
        self.lists.iter().map(list).collect()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| write_compiled(&self.rules, &self.lists));
        PyBytes::new(py, &bytes)
    }

    /// The lists that each name matches, a bit for each.
    #[pyo3(name = "match")]
    fn matched<'py>(
        &self,
        py: Python<'py>,
        names: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (errors, column) = (Errors::of(errors)?, Column::of("names", names)?);
        column.map(py, DataType::UInt64, |first, array| self.lists_of(&column, errors, first, array))
    }

    /// The longest rule that each name matches, of the first list that has it.
    fn longest<'py>(
        &self,
        py: Python<'py>,
        names: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (errors, column) = (Errors::of(errors)?, Column::of("names", names)?);
        column.map(py, DataType::Struct(rule_fields()), |first, array| {
            let mut name = Reversed::new();
            let look_up = |text: &[u8]| {
                name.set(&query(text)?).map_err(|error| error.to_string())?;
                let mut longest = None;
                self.rules.matches(&name, |rule| {
                    longest.get_or_insert(rule);
                });
                let text = |rule: Match| name.suffix(rule.depth).iter().rev().copied().collect::<Vec<u8>>();
                Ok(longest.map(|rule| (rule, text(rule))))
            };
            let [mut lists, mut rules, mut targets] = [(); 3].map(|()| Texts::with_rows(array.len()));
            let mut is_valid = Vec::with_capacity(array.len());
            each_row(&column, first, array, errors, look_up, |row| {
                let row = row.flatten();
                is_valid.push(row.is_some());
                // A null among the structs has an empty text in its fields.
                let (rule, name) = row.unzip();
                let list = rule.and_then(|rule| self.lists.get(rule.list));
                lists.push(Some(list.map_or("", |list| &list.name)));
                rules.push(Some(name.as_deref().map(String::from_utf8_lossy).unwrap_or_default().as_bytes()));
                targets.push(Some(rule.map_or("", |rule| word(rule.target))));
            })?;
            let columns = [lists, rules, targets].map(Texts::finish::<LargeUtf8Type>);
            let columns = columns.into_iter().collect::<PyResult<Vec<_>>>()?;
            let structs = StructArray::try_new(rule_fields(), columns, Some(is_valid.into()));
            Ok(Arc::new(structs.map_err(value)?))
        })
    }
}

/// A target as the command prints it.
const fn word(target: Target) -> &'static str {
    match target {
        Target::Exact => "exact",
        Target::Below => "below",
        Target::OneBelow => "one-below",
        _ => "subtree",
    }
}

/// Rows of a column, looked up in bursts.
struct Lookup<'a> {
    rules: &'a Rules,
    burst: Burst,
    /// Rows of the names of the burst.
    rows: [usize; Burst::NAMES],
    lists: Vec<u64>,
    is_valid: Vec<bool>,
}

impl<'a> Lookup<'a> {
    fn new(rules: &'a Rules, rows: usize) -> Self {
        let (burst, lists, is_valid) = (Burst::new(), vec![0; rows], vec![true; rows]);
        Self { rules, burst, rows: [0; Burst::NAMES], lists, is_valid }
    }

    /// Leaves a null in a row.
    fn refuse(&mut self, row: usize) {
        if let Some(is_valid) = self.is_valid.get_mut(row) {
            *is_valid = false;
        }
    }

    fn add(&mut self, row: usize, name: &[u8]) -> Result<(), String> {
        if let Some(place) = self.rows.get_mut(self.burst.len()) {
            *place = row;
        }
        self.burst.push(&query(name)?).map_err(|error| error.to_string())?;
        if self.burst.is_full() {
            self.look_up();
        }
        Ok(())
    }

    fn look_up(&mut self) {
        for (row, verdict) in self.rows.iter().zip(self.rules.verdicts(&mut self.burst)) {
            if let Some(lists) = self.lists.get_mut(*row) {
                *lists = verdict.lists();
            }
        }
        self.burst.clear();
    }

    fn finish(mut self) -> ArrayRef {
        self.look_up();
        let nulls = Some(NullBuffer::from(self.is_valid)).filter(|nulls| nulls.null_count() > 0);
        Arc::new(UInt64Array::new(ScalarBuffer::from(self.lists), nulls))
    }
}
