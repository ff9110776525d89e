//! `distinct_keys`, and sketches of distinct keys that are merged later.

use crate::api::{Aggregate, Chunk, Column, Output, Scalar, Type};
use crate::arguments::{Parameter, check_equal, check_given, number, secret};
use crate::keys::{KeyRows, TYPES};
use hashlane_hash::scheme::Key;
use hashlane_sketch::{Distinct, Sketch as _};
use std::cell::RefCell;

/// Precision without an argument: a standard error below 1 %.
const USUAL: u8 = 14;

const PARAMETERS: [Parameter; 2] = [(1, Type::Blob, "the key"), (2, Type::BigInt, "precision")];

/// Key and number of registers of a sketch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Parameters {
    key: Key,
    precision: u8,
}

/// Rows of a chunk.
pub(crate) struct Rows<'a> {
    x: KeyRows<'a>,
    key: Column<'a>,
    precision: Option<Column<'a>>,
    /// One key at one place, without a precision.
    is_constant: bool,
    /// The empty sketch of the last new group: making one takes longer than copying it.
    empty: RefCell<Option<(Parameters, Distinct)>>,
}

impl<'a> Rows<'a> {
    fn of(input: &Chunk<'a>) -> Result<Self, String> {
        check_given(input, &PARAMETERS)?;
        let key = input.column(1)?;
        let precision = if input.columns() > 2 { Some(input.column(2)?) } else { None };
        Ok(Self {
            x: KeyRows::of(&input.column(0)?)?,
            is_constant: precision.is_none() && key.is_constant(),
            key,
            precision,
            empty: RefCell::new(None),
        })
    }

    fn parameters(&self, row: usize) -> Result<Parameters, String> {
        let key = secret(self.key.bytes(row).unwrap_or_default())?;
        let most = u64::from(Distinct::MOST_PRECISION);
        let precision = match &self.precision {
            Some(precision) => number("precision", precision, row, 4..=most)? as u8,
            None => USUAL,
        };
        Ok(Parameters { key, precision })
    }

    fn begin(&self, row: usize) -> Result<State, String> {
        let parameters = self.parameters(row)?;
        let mut empty = self.empty.borrow_mut();
        let sketch = match &*empty {
            Some((of, sketch)) if *of == parameters => sketch.clone(),
            _ => {
                let sketch = Distinct::new(parameters.precision, &parameters.key);
                let sketch = sketch.map_err(|error| error.to_string())?;
                empty.insert((parameters, sketch)).1.clone()
            }
        };
        Ok(State { parameters, sketch })
    }
}

/// State of a group.
struct State {
    parameters: Parameters,
    sketch: Distinct,
}

fn forms(result: Type) -> Vec<(Vec<Type>, Type)> {
    let short = TYPES.iter().map(|of| vec![*of, Type::Blob]);
    let long = TYPES.iter().map(|of| vec![*of, Type::Blob, Type::BigInt]);
    short.chain(long).map(|form| (form, result)).collect()
}

impl State {
    fn add(&mut self, input: &Rows<'_>, rows: &[usize]) -> Result<(), String> {
        let precision = |row| input.precision.as_ref().and_then(|precision| precision.integer(row));
        let bytes = |row| (input.key.bytes(row), precision(row));
        let has = |row| Ok(input.parameters(row)? == self.parameters);
        let checked = if input.is_constant { rows.get(..1).unwrap_or_default() } else { rows };
        check_equal(checked, bytes, has, "one group has several keys or precisions")?;
        input.x.with(rows, |keys| self.sketch.update(keys))
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.sketch.merge(&other.sketch).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        Self { parameters: self.parameters, sketch: self.sketch.clone() }
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

            type Rows<'a> = Rows<'a>;

            fn rows<'a>(input: &Chunk<'a>) -> Result<Rows<'a>, String> {
                Rows::of(input)
            }

            fn begin(input: &Rows<'_>, row: usize) -> Result<Self, String> {
                input.begin(row).map(Self)
            }

            fn add(&mut self, input: &Rows<'_>, rows: &[usize]) -> Result<(), String> {
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

    type Rows<'a> = Column<'a>;

    fn rows<'a>(input: &Chunk<'a>) -> Result<Column<'a>, String> {
        input.column(0)
    }

    fn begin(input: &Column<'_>, row: usize) -> Result<Self, String> {
        read(input, row).map(Self)
    }

    fn add(&mut self, input: &Column<'_>, rows: &[usize]) -> Result<(), String> {
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

fn read(sketches: &Column<'_>, row: usize) -> Result<Distinct, String> {
    let bytes = sketches.bytes(row).unwrap_or_default();
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
                write_keys(Some(&read(&sketches, row)?), output, row)?;
            }
        }
        Ok(())
    }
}
