//! `spread`: loads of the buckets of a table under a hash.

use crate::api::{Aggregate, Chunk, Column, Output, Type};
use crate::arguments::{Parameter, check_equal, check_given, number, scheme, scheme_key, word};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::Key;
use hashlane_sketch::Sketch as _;

/// Most buckets: 128 MiB a group.
const MOST: u64 = 1 << 24;

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
    sketch: hashlane_sketch::Spread,
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
        })
    }

    fn begin(input: &Rows<'_>, row: usize) -> Result<Self, String> {
        let parameters = input.parameters(row)?;
        let Parameters { scheme, buckets, key } = parameters;
        let sketch = hashlane_sketch::Spread::new(scheme, &key, buckets as usize);
        Ok(Self { parameters, sketch: sketch.map_err(|error| error.to_string())? })
    }

    fn add(&mut self, input: &Rows<'_>, rows: &[usize]) -> Result<(), String> {
        let key = |row| input.key.as_ref().and_then(|key| key.bytes(row));
        let bytes = |row| (input.scheme.bytes(row), input.buckets.integer(row), key(row));
        let has = |row| Ok(input.parameters(row)? == self.parameters);
        check_equal(rows, bytes, has, "one group has several schemes, keys or numbers of buckets")?;
        input.x.with(rows, |keys| self.sketch.update(keys))
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.sketch.merge(&other.sketch).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        Self { parameters: self.parameters, sketch: self.sketch.clone() }
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
