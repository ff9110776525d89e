//! Groups of sketches: updates by columns of groups, and results as tables.

use super::batch;
use super::group_columns::group_columns;
use super::refused::refused;
use super::update::Batch;
use crate::checked::check_text;
use crate::column::Column;
use crate::composite::{self, Value};
use crate::error::value;
use arrow_array::{Array, ArrayRef, Float64Array, LargeBinaryArray, RecordBatch, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema};
use arrow_select::take::take;
use hashlane_hash::scheme::Key;
use hashlane_sketch::{
    self as sketches, Distinct, Grouped, Groups, HeavyHitters, Imbalance, Keys, ReadError, Sketch, Spread,
};
use pyo3::PyResult;
use std::sync::Arc;

/// Groups of sketches of one kind.
#[derive(Clone)]
pub(in crate::sketch) enum AnyGroups {
    Distinct(Groups<Distinct>),
    Spread(Groups<Spread>),
    Imbalance(Groups<Imbalance>),
    HeavyHitters(Groups<HeavyHitters>),
}

/// Calls `$body` with the groups.
macro_rules! each {
    ($any:expr, $groups:ident => $body:expr) => {
        match $any {
            AnyGroups::Distinct($groups) => $body,
            AnyGroups::Spread($groups) => $body,
            AnyGroups::Imbalance($groups) => $body,
            AnyGroups::HeavyHitters($groups) => $body,
        }
    };
}

impl AnyGroups {
    /// The groups of these bytes, with their key if there is one.
    ///
    /// # Errors
    /// `ValueError` for another key, and for names and keys that are no rows of columns.
    pub(super) fn read(bytes: &[u8], key: Option<Key>) -> PyResult<Result<Self, ReadError>> {
        fn of<S: Grouped>(bytes: &[u8], key: Option<Key>) -> PyResult<Result<Groups<S>, ReadError>> {
            let groups = match Groups::<S>::from_bytes(bytes) {
                Ok(groups) => groups,
                Err(error) => return Ok(Err(error)),
            };
            groups.iter().try_for_each(|(name, _)| composite::decode(name).map(drop))?;
            Ok(Ok(match key {
                Some(key) => groups.with_key(&key).map_err(refused)?,
                None => groups,
            }))
        }
        // The empty sketch, which comes first, has the kind of all: the others refuse it.
        macro_rules! read {
            ($kind:ident) => {
                match of(bytes, key)? {
                    Ok(groups) => return Ok(Ok(Self::$kind(groups))),
                    Err(ReadError::SketchKind { .. }) => {}
                    Err(error) => return Ok(Err(error)),
                }
            };
        }
        read!(Distinct);
        read!(Spread);
        read!(Imbalance);
        let groups = match of::<HeavyHitters>(bytes, key)? {
            Ok(groups) => groups,
            Err(error) => return Ok(Err(error)),
        };
        groups.iter().try_for_each(|(_, sketch)| check_rows(sketch))?;
        Ok(Ok(Self::HeavyHitters(groups)))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Distinct(_) => "Distinct",
            Self::Spread(_) => "Spread",
            Self::Imbalance(_) => "Imbalance",
            Self::HeavyHitters(_) => "HeavyHitters",
        }
    }

    pub(super) fn len(&self) -> usize {
        each!(self, groups => groups.len())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        each!(self, groups => groups.to_bytes())
    }

    /// Number of columns of a key.
    pub(super) fn columns(&self) -> usize {
        if let Self::HeavyHitters(groups) = self { groups.empty().columns() } else { 1 }
    }

    pub(super) fn merge(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Distinct(ours), Self::Distinct(theirs)) => ours.merge(theirs),
            (Self::Spread(ours), Self::Spread(theirs)) => ours.merge(theirs),
            (Self::Imbalance(ours), Self::Imbalance(theirs)) => ours.merge(theirs),
            (Self::HeavyHitters(ours), Self::HeavyHitters(theirs)) => ours.merge(theirs),
            (ours, theirs) => {
                let (ours, theirs) = (ours.kind(), theirs.kind());
                return Err(value(format!("groups of {theirs} cannot be merged into groups of {ours}")));
            }
        }
        .map_err(refused)
    }

    /// Adds each row of a batch to the sketch of its group in the columns `by`. `begun` is set before the
    /// first change.
    ///
    /// # Errors
    /// As [`Batch::add`]; `ValueError` for too many groups.
    pub(super) fn update(&mut self, by: &[Column], batch: &Batch, begun: &mut bool) -> PyResult<()> {
        let work = match self {
            Self::Imbalance(groups) => groups.empty().candidates() + 1,
            _ => 1,
        };
        each!(self, groups => {
            groups.check_room(batch.totals()).map_err(refused)?;
            let before = groups.len();
            let places = places(groups, by, batch).inspect_err(|_| groups.truncate(before))?;
            let mut places = places.as_slice();
            batch.for_each(work, |keys, weights, bytes| {
                let (part, rest) = places.split_at(keys.len().min(places.len()));
                places = rest;
                let batch = sketches::Batch::new(*keys).with_weights(weights).with_bytes(bytes);
                if let Err(error) = groups.update_places(part, &batch) {
                    // Nothing was added yet, as all parts of the batch are alike.
                    if !*begun {
                        groups.truncate(before);
                    }
                    return Err(refused(error));
                }
                *begun = true;
                Ok(())
            })
        })
    }

    /// The results of all groups: columns of the groups, then of the results.
    ///
    /// # Errors
    /// `ValueError` for groups with values of several types.
    pub(super) fn result(&self, names: &[String]) -> PyResult<RecordBatch> {
        let groups: Vec<Vec<Value>> = each!(self, groups => {
            groups.iter().map(|(group, _)| composite::decode(group)).collect::<PyResult<_>>()?
        });
        let mut columns = group_columns(names, &groups)?;
        if let Self::HeavyHitters(groups) = self {
            // A row for each key.
            let places = (0_u64..).zip(groups.iter());
            let rows = places.flat_map(|(at, (_, sketch))| vec![at; sketch.result().hitters.len()]);
            let rows = UInt64Array::from_iter_values(rows);
            for (_, column) in &mut columns {
                *column = take(column, &rows, None).map_err(value)?;
            }
        }
        columns.extend(match self {
            Self::Distinct(groups) => {
                let results: Vec<_> = groups.iter().map(|(_, sketch)| sketch.result()).collect();
                vec![
                    floats("keys", results.iter().map(|of| of.keys)),
                    floats("standard_error", results.iter().map(|of| of.standard_error)),
                ]
            }
            Self::Spread(groups) => {
                let results: Vec<_> = groups.iter().map(|(_, sketch)| sketch.result()).collect();
                vec![
                    counts("keys", results.iter().map(|of| of.keys)),
                    floats("chi_squared", results.iter().map(|of| of.chi_squared)),
                    floats("p_value", results.iter().map(|of| of.p_value)),
                    counts("longest", results.iter().map(|of| of.longest)),
                    counts("longest_median", results.iter().map(|of| of.longest_median)),
                    counts("longest_limit", results.iter().map(|of| of.longest_limit)),
                ]
            }
            Self::Imbalance(groups) => {
                let results: Vec<_> = groups.iter().map(|(_, sketch)| sketch.result()).collect();
                vec![
                    counts("packets", results.iter().map(|of| of.total.packets)),
                    counts("bytes", results.iter().map(|of| of.total.bytes)),
                    floats("imbalance", results.iter().map(|of| of.current.packets)),
                    floats("imbalance_bytes", results.iter().map(|of| of.current.bytes)),
                    counts("best", results.iter().map(|of| of.best.number)),
                    floats("best_imbalance", results.iter().map(|of| of.best.packets)),
                ]
            }
            Self::HeavyHitters(groups) => {
                let results: Vec<_> = groups.iter().map(|(_, sketch)| sketch.result()).collect();
                let hitters =
                    || results.iter().flat_map(|of| of.hitters.iter().map(move |hitter| (of, hitter)));
                let keys: Vec<&[u8]> = hitters().map(|(_, hitter)| &*hitter.key).collect();
                let keys = match groups.empty().columns() {
                    1 => vec![column("key", Arc::new(LargeBinaryArray::from_iter_values(keys)))],
                    _ => {
                        let rows = keys.into_iter().map(composite::decode).collect::<PyResult<Vec<_>>>()?;
                        group_columns(&[String::from("key")], &rows)?
                    }
                };
                let least = counts("least", hitters().map(|(_, hitter)| hitter.least));
                let error = counts("error", hitters().map(|(of, _)| of.error));
                let total = counts("total", hitters().map(|(of, _)| of.total));
                keys.into_iter().chain([least, error, total]).collect()
            }
        });
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(value)
    }
}

/// Checks that the keys of a sketch are rows of its columns.
///
/// # Errors
/// `ValueError` for a key that is not.
pub(super) fn check_rows(sketch: &HeavyHitters) -> PyResult<()> {
    if sketch.columns() == 1 {
        return Ok(());
    }
    sketch.result().hitters.iter().try_for_each(|hitter| match composite::decode(&hitter.key)?.len() {
        columns if columns == sketch.columns() => Ok(()),
        columns => Err(value(format!("a key of {columns} columns in a sketch of {}", sketch.columns()))),
    })
}

/// Places of the groups of the rows that are not null in the keys; groups that are new begin.
fn places<S: Grouped>(groups: &mut Groups<S>, by: &[Column], batch: &Batch) -> PyResult<Vec<u32>> {
    let mut places = Vec::new();
    let all: Vec<&Column> = by.iter().chain(batch.columns()).collect();
    let of_by = by.len();
    batch::for_each(&all, |first, arrays| {
        let (by, keys) = arrays.split_at(of_by.min(arrays.len()));
        by.iter().try_for_each(|array| check_text("by", first, array))?;
        let encoded = composite::encode_nested("by", by)?;
        // A row is left out if its key is null. Rows of several columns are keys whatever they have.
        let mut nulls: Option<NullBuffer> = None;
        for key in keys.iter().filter(|_| !batch.is_composite()) {
            nulls = NullBuffer::union(nulls.as_ref(), key.logical_nulls().as_ref());
        }
        let rows = Keys::offsets64(&encoded.offsets, &encoded.bytes).map_err(value)?;
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => groups.find_places(&rows, &mut places).map_err(refused),
            Some(nulls) => {
                let rows: Vec<&[u8]> = nulls.valid_indices().filter_map(|row| rows.get(row)).collect();
                groups.find_places(&Keys::slices(&rows), &mut places).map_err(refused)
            }
        }
    })?;
    Ok(places)
}

fn column(name: &str, array: ArrayRef) -> (String, ArrayRef) {
    (name.to_owned(), array)
}

fn floats(name: &str, values: impl Iterator<Item = f64>) -> (String, ArrayRef) {
    column(name, Arc::new(Float64Array::from_iter_values(values)))
}

fn counts(name: &str, values: impl Iterator<Item = u64>) -> (String, ArrayRef) {
    column(name, Arc::new(UInt64Array::from_iter_values(values)))
}
