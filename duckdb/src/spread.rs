//! `spread`: loads of the buckets of a table under a hash.

use crate::api::{Aggregate, Chunk, Output, Type};
use crate::arguments::{number, scheme, scheme_key, word};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::Key;
use hashlane_sketch::Sketch as _;

/// Most buckets: 128 MiB a group.
const MOST: u64 = 1 << 24;

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
    sketch: hashlane_sketch::Spread,
}

#[derive(PartialEq, Eq)]
struct Parameters {
    scheme: &'static str,
    buckets: u64,
    key: Key,
}

impl Parameters {
    fn of(input: &Chunk<'_>, row: usize) -> Result<Self, String> {
        let info = scheme(word("scheme", &input.column(1)?, row)?)?;
        let buckets = number("buckets", &input.column(2)?, row, 1..=MOST)?;
        let key = if input.columns() > 3 { input.column(3)?.bytes(row) } else { None };
        Ok(Self { scheme: info.id, buckets, key: scheme_key(&info, key)? })
    }
}

impl Aggregate for Spread {
    const NAME: &'static str = "spread";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let short = TYPES.iter().map(|of| vec![*of, Type::Varchar, Type::BigInt]);
        let long = TYPES.iter().map(|of| vec![*of, Type::Varchar, Type::BigInt, Type::Blob]);
        short.chain(long).map(|form| (form, RESULT)).collect()
    }

    fn begin(input: &Chunk<'_>, row: usize) -> Result<Self, String> {
        let parameters = Parameters::of(input, row)?;
        let sketch =
            hashlane_sketch::Spread::new(parameters.scheme, &parameters.key, parameters.buckets as usize)
                .map_err(|error| error.to_string())?;
        Ok(Self { parameters, sketch })
    }

    fn add(&mut self, input: &Chunk<'_>, rows: &[usize]) -> Result<(), String> {
        let (schemes, buckets) = (input.column(1)?, input.column(2)?);
        let key = if input.columns() > 3 { Some(input.column(3)?) } else { None };
        let bytes = |row: &usize| {
            let key = key.as_ref().and_then(|key| key.bytes(*row));
            (schemes.bytes(*row), buckets.integer(*row), key)
        };
        let mut last = None;
        for row in rows {
            let now = bytes(row);
            if last != Some(now) && Parameters::of(input, *row)? != self.parameters {
                return Err("one group has several schemes, keys or numbers of buckets".to_owned());
            }
            last = Some(now);
        }
        KeyRows::of(&input.column(0)?)?.with(rows, |keys| self.sketch.update(keys))
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.sketch.merge(&other.sketch).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        let Parameters { scheme, buckets, key } = self.parameters;
        Self { parameters: Parameters { scheme, buckets, key }, sketch: self.sketch.clone() }
    }

    fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
        let Some(state) = state else { return null(output, row, 8) };
        let of = state.sketch.result();
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
