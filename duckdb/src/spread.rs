//! `spread`: loads of the buckets of a table under a hash.

use crate::api::{Aggregate, Chunk, Column, Output, Type};
use crate::arguments::{Parameter, check_equal, check_given, number, scheme, scheme_key, word};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::Key;
use hashlane_sketch::SpreadResult;
use hashlane_sketch::hasher::Hasher;
use std::cell::RefCell;

/// Most buckets: 128 MiB a group.
const MOST: u64 = 1 << 24;

const DIFFER: &str = "one group has several schemes, keys or numbers of buckets";

const PARAMETERS: [Parameter; 3] =
    [(1, Type::Varchar, "scheme"), (2, Type::BigInt, "buckets"), (3, Type::Blob, "the key")];

const RESULT: Type = Type::Struct(&[
    ("keys", Type::UBigInt),
    ("buckets", Type::UBigInt),
    ("chi_squared", Type::Double),
    ("degrees", Type::UBigInt),
    ("p_value", Type::Double),
    ("longest", Type::UBigInt),
    ("longest_median", Type::UBigInt),
    ("longest_limit", Type::UBigInt),
]);

/// `spread(x, scheme, buckets [, key])`: χ², p-value and fullest bucket of a table of keys.
pub(crate) struct Spread {
    parameters: Parameters,
    hasher: Hasher,
    loads: Loads,
}

/// Keys of each bucket. Takes 8 bytes a key at most, and 8 bytes a bucket at most: a group may have few keys.
#[derive(Clone)]
enum Loads {
    /// The bucket of each key.
    Few(Vec<u32>),
    /// The keys of each bucket.
    Counts(Vec<u64>),
}

impl Loads {
    /// Adds keys by their buckets, which are below `buckets`.
    fn extend(&mut self, keys: impl ExactSizeIterator<Item = u32>, buckets: u64) {
        let count = |counts: &mut Vec<u64>, bucket: u32| {
            if let Some(count) = counts.get_mut(bucket as usize) {
                *count += 1;
            }
        };
        if let Self::Few(few) = self {
            if ((few.len() + keys.len()) as u64) < buckets / 2 {
                few.extend(keys);
                return;
            }
            let mut counts = vec![0; buckets as usize];
            few.iter().for_each(|bucket| count(&mut counts, *bucket));
            *self = Self::Counts(counts);
        }
        if let Self::Counts(counts) = self {
            keys.for_each(|bucket| count(counts, bucket));
        }
    }

    /// Adds the keys of other loads of as many buckets.
    fn merge(&mut self, other: &Self, buckets: u64) {
        match (&mut *self, other) {
            (_, Self::Few(few)) => self.extend(few.iter().copied(), buckets),
            (Self::Counts(counts), Self::Counts(more)) => {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
            (Self::Few(few), Self::Counts(counts)) => {
                let mut merged = Self::Counts(counts.clone());
                merged.extend(few.iter().copied(), buckets);
                *self = merged;
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Parameters {
    scheme: &'static str,
    buckets: u64,
    key: Key,
}

/// Rows of a chunk.
pub(crate) struct Rows<'a> {
    x: KeyRows<'a>,
    scheme: Column<'a>,
    buckets: Column<'a>,
    key: Option<Column<'a>>,
    /// The hash of the last new group: making one may take longer than a group.
    hasher: RefCell<Option<(Parameters, Hasher)>>,
}

impl Rows<'_> {
    fn parameters(&self, row: usize) -> Result<Parameters, String> {
        let info = scheme(word("scheme", &self.scheme, row)?)?;
        let buckets = number("buckets", &self.buckets, row, 1..=MOST)?;
        let key = self.key.as_ref().and_then(|key| key.bytes(row));
        Ok(Parameters { scheme: info.id, buckets, key: scheme_key(&info, key)? })
    }
}

impl Aggregate for Spread {
    const NAME: &'static str = "spread";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let short = TYPES.iter().map(|of| vec![*of, Type::Varchar, Type::BigInt]);
        let long = TYPES.iter().map(|of| vec![*of, Type::Varchar, Type::BigInt, Type::Blob]);
        short.chain(long).map(|form| (form, RESULT)).collect()
    }

    type Rows<'a> = Rows<'a>;

    fn rows<'a>(input: &Chunk<'a>) -> Result<Rows<'a>, String> {
        check_given(input, &PARAMETERS)?;
        Ok(Rows {
            x: KeyRows::of(&input.column(0)?)?,
            scheme: input.column(1)?,
            buckets: input.column(2)?,
            key: if input.columns() > 3 { Some(input.column(3)?) } else { None },
            hasher: RefCell::new(None),
        })
    }

    fn begin(input: &Rows<'_>, row: usize) -> Result<Self, String> {
        let parameters = input.parameters(row)?;
        let mut last = input.hasher.borrow_mut();
        let hasher = match &*last {
            Some((of, hasher)) if *of == parameters => hasher.clone(),
            _ => {
                let hasher = Hasher::new(parameters.scheme, &parameters.key);
                let hasher = hasher.map_err(|error| error.to_string())?;
                last.insert((parameters, hasher)).1.clone()
            }
        };
        Ok(Self { parameters, hasher, loads: Loads::Few(Vec::new()) })
    }

    fn add(&mut self, input: &Rows<'_>, rows: &[usize]) -> Result<(), String> {
        let key = |row| input.key.as_ref().and_then(|key| key.bytes(row));
        let bytes = |row| (input.scheme.bytes(row), input.buckets.integer(row), key(row));
        let has = |row| Ok(input.parameters(row)? == self.parameters);
        check_equal(rows, bytes, has, DIFFER)?;
        let mut hashes = vec![0; rows.len()];
        input.x.with(rows, |keys| {
            self.hasher.hash(keys, &mut hashes);
            Ok(())
        })?;
        let buckets = self.parameters.buckets;
        if buckets.is_power_of_two() {
            self.loads.extend(hashes.iter().map(|hash| (hash & (buckets - 1)) as u32), buckets);
        } else {
            self.loads.extend(hashes.iter().map(|hash| (hash % buckets) as u32), buckets);
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        if self.parameters != other.parameters {
            return Err(DIFFER.to_owned());
        }
        self.loads.merge(&other.loads, self.parameters.buckets);
        Ok(())
    }

    fn fork(&self) -> Self {
        Self { parameters: self.parameters, hasher: self.hasher.clone(), loads: self.loads.clone() }
    }

    fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
        let Some(state) = state else { return null(output, row, 8) };
        let of = match &state.loads {
            Loads::Few(few) => SpreadResult::from_buckets(few, state.parameters.buckets as usize),
            Loads::Counts(counts) => SpreadResult::from_counts(counts),
        };
        let of = of.map_err(|error| error.to_string())?;
        let whole = [
            (0, of.keys),
            (1, of.buckets),
            (3, of.degrees),
            (5, of.longest),
            (6, of.longest_median),
            (7, of.longest_limit),
        ];
        for (field, number) in whole {
            set(output, field, row, number)?;
        }
        set(output, 2, row, of.chi_squared)?;
        set(output, 4, row, of.p_value)
    }
}

/// Writes a number to a field of a struct.
///
/// # Errors
/// The field has another type.
pub(crate) fn set<T: crate::api::Number>(
    output: &mut Output<'_>,
    field: usize,
    row: usize,
    number: T,
) -> Result<(), String> {
    if let Some(place) = output.field(field)?.numbers::<T>()?.get_mut(row) {
        *place = number;
    }
    Ok(())
}

/// Writes a null of a struct of so many fields.
///
/// # Errors
/// The result is no struct.
pub(crate) fn null(output: &mut Output<'_>, row: usize, fields: usize) -> Result<(), String> {
    output.set_null(row);
    (0..fields).try_for_each(|field| {
        output.field(field)?.set_null(row);
        Ok(())
    })
}
