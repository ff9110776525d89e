//! `distinct_keys`, and sketches of distinct keys that are merged later.

use crate::api::{Aggregate, Chunk, Output, Scalar, Type};
use crate::arguments::{number, secret};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::Key;
use hashlane_sketch::{Distinct, Sketch as _};

/// Precision without an argument: a standard error below 1 %.
const USUAL: u8 = 14;

/// Rows of keys with their key and precision.
struct State {
    key: Key,
    precision: u8,
    sketch: Distinct,
}

fn forms(result: Type) -> Vec<(Vec<Type>, Type)> {
    let short = TYPES.iter().map(|of| vec![*of, Type::Blob]);
    let long = TYPES.iter().map(|of| vec![*of, Type::Blob, Type::BigInt]);
    short.chain(long).map(|form| (form, result)).collect()
}

impl State {
    fn parameters(input: &Chunk<'_>, row: usize) -> Result<(Key, u8), String> {
        let key = secret(input.column(1)?.bytes(row).unwrap_or_default())?;
        if input.columns() < 3 {
            return Ok((key, USUAL));
        }
        let most = u64::from(Distinct::MOST_PRECISION);
        Ok((key, number("precision", &input.column(2)?, row, 4..=most)? as u8))
    }

    fn begin(input: &Chunk<'_>, row: usize) -> Result<Self, String> {
        let (key, precision) = Self::parameters(input, row)?;
        let sketch = Distinct::new(precision, &key).map_err(|error| error.to_string())?;
        Ok(Self { key, precision, sketch })
    }

    fn add(&mut self, input: &Chunk<'_>, rows: &[usize]) -> Result<(), String> {
        let key = input.column(1)?;
        let precision = if input.columns() > 2 { Some(input.column(2)?) } else { None };
        let mut last = None;
        for row in rows {
            let now = (key.bytes(*row), precision.as_ref().and_then(|precision| precision.integer(*row)));
            if last != Some(now) && Self::parameters(input, *row)? != (self.key, self.precision) {
                return Err("one group has several keys or precisions".to_owned());
            }
            last = Some(now);
            if precision.is_none() && key.is_constant() {
                break;
            }
        }
        KeyRows::of(&input.column(0)?)?.with(rows, |keys| self.sketch.update(keys))
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.sketch.merge(&other.sketch).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        Self { key: self.key, precision: self.precision, sketch: self.sketch.clone() }
    }
}

/// `distinct_keys(x, key [, precision])`: number of distinct keys, estimated.
pub(crate) struct Keys(State);

/// `distinct_sketch(x, key [, precision])`: the sketch as bytes.
pub(crate) struct Sketch(State);

macro_rules! aggregate {
    ($of:ident, $name:literal, $result:expr, $finish:expr) => {
        impl Aggregate for $of {
            const NAME: &'static str = $name;

            fn forms() -> Vec<(Vec<Type>, Type)> {
                forms($result)
            }

            fn begin(input: &Chunk<'_>, row: usize) -> Result<Self, String> {
                State::begin(input, row).map(Self)
            }

            fn add(&mut self, input: &Chunk<'_>, rows: &[usize]) -> Result<(), String> {
                self.0.add(input, rows)
            }

            fn merge(&mut self, other: &Self) -> Result<(), String> {
                self.0.merge(&other.0)
            }

            fn fork(&self) -> Self {
                Self(self.0.fork())
            }

            fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
                $finish(state.map(|state| &state.0.sketch), output, row)
            }
        }
    };
}

aggregate!(Keys, "distinct_keys", Type::Double, write_keys);
aggregate!(Sketch, "distinct_sketch", Type::Blob, write_sketch);

/// Writes the number of keys: 0 without rows.
fn write_keys(sketch: Option<&Distinct>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
    if let Some(place) = output.numbers::<f64>()?.get_mut(row) {
        *place = sketch.map_or(0.0, |sketch| sketch.result().keys);
    }
    Ok(())
}

/// Writes the bytes of a sketch: null without rows.
fn write_sketch(sketch: Option<&Distinct>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
    match sketch {
        Some(sketch) => output.blob(row, &sketch.to_bytes()),
        None => {
            output.set_null(row);
            Ok(())
        }
    }
}

/// `distinct_merge(sketch)`: one sketch of many, as bytes.
pub(crate) struct Merge(Distinct);

impl Aggregate for Merge {
    const NAME: &'static str = "distinct_merge";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        vec![(vec![Type::Blob], Type::Blob)]
    }

    fn begin(input: &Chunk<'_>, row: usize) -> Result<Self, String> {
        read(input, row).map(Self)
    }

    fn add(&mut self, input: &Chunk<'_>, rows: &[usize]) -> Result<(), String> {
        // The first row may be in the state: merging it again changes nothing.
        rows.iter().try_for_each(|row| {
            let other = read(input, *row)?;
            self.0.merge(&other).map_err(|error| error.to_string())
        })
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.0.merge(&other.0).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        Self(self.0.clone())
    }

    fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
        write_sketch(state.map(|state| &state.0), output, row)
    }
}

fn read(input: &Chunk<'_>, row: usize) -> Result<Distinct, String> {
    let bytes = input.column(0)?.bytes(row).unwrap_or_default();
    Distinct::from_bytes(bytes).map_err(|error| error.to_string())
}

/// `distinct_estimate(sketch)`: number of distinct keys of a sketch.
pub(crate) struct Estimate;

impl Scalar for Estimate {
    const NAME: &'static str = "distinct_estimate";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        vec![(vec![Type::Blob], Type::Double)]
    }

    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String> {
        let sketches = input.column(0)?;
        for row in 0..input.rows() {
            if sketches.is_null(row) {
                output.set_null(row);
            } else {
                write_keys(Some(&read(input, row)?), output, row)?;
            }
        }
        Ok(())
    }
}
