//! `imbalance`: load of queues under the key in use and under many candidates.

use crate::api::{Aggregate, Chunk, Column, Output, Type};
use crate::arguments::{Parameter, card, check_equal, check_given, number, secret, word};
use crate::ends::{ADDRESSES, Ends, types};
use crate::spread::{null, set};
use hashlane_baseline::rss::PUBLISHED_KEY;
use hashlane_flow::rss::{CardKey, ENTRIES};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_sketch::{Function, Keys, Sketch as _};

/// Most candidates: a chunk of 2,048 packets is then some 10 million hashes between two checks for an
/// interrupt.
const MOST_CANDIDATES: u64 = 4096;

/// Most queues of the function `keyed`.
const MOST_QUEUES: u64 = 1 << 16;

const PARAMETERS: [Parameter; 5] = [
    (4, Type::Varchar, "function"),
    (5, Type::BigInt, "n"),
    (6, Type::BigInt, "candidates"),
    (7, Type::Blob, "the key"),
    (8, Type::Blob, "card_key"),
];

const RESULT: Type = Type::Struct(&[
    ("packets", Type::UBigInt),
    ("bytes", Type::UBigInt),
    ("current", Type::Double),
    ("current_bytes", Type::Double),
    ("best", Type::Double),
    ("best_bytes", Type::Double),
    ("median", Type::Double),
    ("best_number", Type::UBigInt),
    ("best_key", Type::Blob),
]);

/// `imbalance(src, sport, dst, dport, function, n, candidates, key [, rss_key] [, packets, bytes])`: the
/// largest load over the mean, in packets and in bytes, and the key that is best.
pub(crate) struct Imbalance {
    parameters: Parameters,
    sketch: hashlane_sketch::Imbalance,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Parameters {
    function: Function,
    queues: usize,
    candidates: usize,
    key: Key,
}

/// Columns after the ends.
pub(crate) struct Rest<'a> {
    columns: Vec<Column<'a>>,
}

impl<'a> Rest<'a> {
    fn of(input: &Chunk<'a>) -> Result<Self, String> {
        Ok(Self { columns: input.all()?.split_off(4) })
    }

    fn at(&self, place: usize) -> Result<&Column<'a>, String> {
        self.columns.get(place).ok_or_else(|| "too few arguments".to_owned())
    }

    /// The key of the card, if the form has one.
    fn card(&self) -> Option<&Column<'a>> {
        self.columns.get(4).filter(|column| column.is(Type::Blob))
    }

    /// Packets and bytes, if the form has them.
    fn loads(&self) -> Option<[&Column<'a>; 2]> {
        match self.columns.as_slice() {
            [_, _, _, _, packets, bytes] | [_, _, _, _, _, packets, bytes] => Some([packets, bytes]),
            _ => None,
        }
    }

    fn parameters(&self, row: usize) -> Result<Parameters, String> {
        let rss_key: &CardKey = match self.card() {
            Some(column) => card(column.bytes(row).unwrap_or_default())?,
            None => &PUBLISHED_KEY,
        };
        let function = match word("function", self.at(0)?, row)? {
            "rss" => Function::Rss(*rss_key),
            "symmetric-rss" => Function::SymmetricRss,
            "keyed" => Function::Keyed,
            other => {
                return Err(format!("unknown function {other:?}; known: rss, symmetric-rss, keyed"));
            }
        };
        let most = match function {
            Function::Keyed => MOST_QUEUES,
            // Entries of the indirection table of a card.
            _ => ENTRIES as u64,
        };
        Ok(Parameters {
            function,
            queues: number("n", self.at(1)?, row, 1..=most)? as usize,
            candidates: number("candidates", self.at(2)?, row, 0..=MOST_CANDIDATES)? as usize,
            key: secret(self.at(3)?.bytes(row).unwrap_or_default())?,
        })
    }

    /// The arguments of a row that must be equal within a group.
    fn fixed(&self, row: usize) -> [Option<&'a [u8]>; 3] {
        let bytes = |column: Option<&Column<'a>>| column.and_then(|column| column.bytes(row));
        [bytes(self.columns.first()), bytes(self.columns.get(3)), bytes(self.card())]
    }

    fn sizes(&self, row: usize) -> [Option<i128>; 2] {
        [1, 2].map(|place| self.columns.get(place).and_then(|column| column.integer(row)))
    }
}

impl Aggregate for Imbalance {
    const NAME: &'static str = "imbalance";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let fixed = [Type::Varchar, Type::BigInt, Type::BigInt, Type::Blob];
        let loads = [Type::BigInt, Type::BigInt];
        let forms = ADDRESSES.iter().flat_map(|address| {
            [&[][..], &[Type::Blob], &loads, &[Type::Blob, Type::BigInt, Type::BigInt]]
                .map(|rest| [&types(*address)[..], &fixed, rest].concat())
        });
        forms.map(|form| (form, RESULT)).collect()
    }

    type Rows<'a> = (Ends<'a>, Rest<'a>);

    fn rows<'a>(input: &Chunk<'a>) -> Result<(Ends<'a>, Rest<'a>), String> {
        check_given(input, &PARAMETERS)?;
        Ok((Ends::of(input)?, Rest::of(input)?))
    }

    fn begin((_, rest): &(Ends<'_>, Rest<'_>), row: usize) -> Result<Self, String> {
        let parameters = rest.parameters(row)?;
        let Parameters { function, queues, candidates, key } = parameters;
        let sketch = hashlane_sketch::Imbalance::new(function, queues, candidates, &key)
            .map_err(|error| error.to_string())?;
        Ok(Self { parameters, sketch })
    }

    fn add(&mut self, (ends, rest): &(Ends<'_>, Rest<'_>), rows: &[usize]) -> Result<(), String> {
        let has = |row| Ok(rest.parameters(row)? == self.parameters);
        let bytes = |row| (rest.fixed(row), rest.sizes(row));
        check_equal(rows, bytes, has, "one group has several functions, sizes or keys")?;
        let mut tuples = Vec::with_capacity(rows.len() * Tuple::LEN);
        let mut loads = [Vec::new(), Vec::new()];
        for row in rows {
            let Some((source, destination)) = ends.at(*row)? else { continue };
            let sent = Tuple::new(source.0, source.1, destination.0, destination.1);
            tuples.extend_from_slice(sent.as_bytes());
            if let Some(columns) = rest.loads() {
                let names = ["packets", "bytes"];
                for ((out, column), name) in loads.iter_mut().zip(columns).zip(names) {
                    out.push(number(name, column, *row, 0..=i64::MAX as u64)?);
                }
            }
        }
        let keys = Keys::rows(&tuples, Tuple::LEN).map_err(|error| error.to_string())?;
        let [packets, bytes] = match rest.loads() {
            Some(_) => loads.each_ref().map(|numbers| Some(numbers.as_slice())),
            None => [None, None],
        };
        self.sketch.update(&keys, packets, bytes).map_err(|error| error.to_string())
    }

    fn merge(&mut self, other: &Self) -> Result<(), String> {
        self.sketch.merge(&other.sketch).map_err(|error| error.to_string())
    }

    fn fork(&self) -> Self {
        Self { parameters: self.parameters, sketch: self.sketch.clone() }
    }

    fn finish(state: Option<&Self>, output: &mut Output<'_>, row: usize) -> Result<(), String> {
        let Some(state) = state else { return null(output, row, 9) };
        let of = state.sketch.result();
        for (field, number) in [(0, of.total.packets), (1, of.total.bytes), (7, of.best.number)] {
            set(output, field, row, number)?;
        }
        let ratios = [of.current.packets, of.current.bytes, of.best.packets, of.best.bytes, of.median];
        for (field, ratio) in (2..).zip(ratios) {
            set(output, field, row, ratio)?;
        }
        let mut best = output.field(8)?;
        if state.parameters.function == Function::Keyed {
            let key = state.sketch.hash_key(of.best.number).map_err(|error| error.to_string())?;
            best.blob(row, &key.to_bytes())
        } else {
            let key = state.sketch.card_key(of.best.number).map_err(|error| error.to_string())?;
            best.blob(row, &key)
        }
    }
}
