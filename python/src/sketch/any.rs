//! A sketch of any kind.

use super::groups::{AnyGroups, check_rows};
use super::refused::refused;
use crate::error::value;
use crate::registry::{checked_key, unknown};
use hashlane_hash::scheme::{Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::SipHash13;
use hashlane_sketch::datasketches::{Hll, HllType, Theta};
use hashlane_sketch::{
    Distinct, Function, Grouped, Groups, HeavyHitters, Imbalance, Prefixes, Reduction, Sketch, Spread, hasher,
};
use pyo3::PyResult;

/// A sketch of any kind.
#[derive(Clone)]
pub(super) enum Any {
    Spread(Spread),
    Prefixes(Box<Prefixes>),
    Imbalance(Box<Imbalance>),
    Distinct(Distinct),
    HeavyHitters(HeavyHitters),
    Groups(Box<AnyGroups>),
    Hll(Hll),
    Theta(Theta),
}

/// Ids of the kinds, as the classes are called.
const KINDS: [&str; 6] = ["Spread", "Prefixes", "Imbalance", "Distinct", "HeavyHitters", "Groups"];

/// A key of 16 bytes.
pub(super) fn needed(key: Option<&[u8]>) -> PyResult<Key> {
    checked_key(&SipHash13::INFO, "this sketch", key)
}

fn scheme(id: &str) -> PyResult<SchemeInfo> {
    let known: Vec<&str> = hasher::ids().collect();
    let next = format!("for sketches: {}", known.join(", "));
    hasher::info(id).ok_or_else(|| unknown("scheme", id, known.iter().copied(), &next))
}

impl Any {
    pub(super) fn spread(id: &str, buckets: usize, key: Option<&[u8]>, reduction: &str) -> PyResult<Self> {
        let reduction = match reduction {
            "remainder" => Reduction::Remainder,
            "scaled" => Reduction::Scaled,
            other => {
                return Err(value(format!("reduction must be \"remainder\" or \"scaled\", not {other:?}")));
            }
        };
        let key = checked_key(&scheme(id)?, id, key)?;
        let spread = Spread::new(id, &key, buckets).and_then(|spread| spread.with_reduction(reduction));
        spread.map(Self::Spread).map_err(refused)
    }

    pub(super) fn hll(lg_k: u8, kind: &str) -> PyResult<Self> {
        let kind = match kind {
            "hll_4" => HllType::Hll4,
            "hll_6" => HllType::Hll6,
            "hll_8" => HllType::Hll8,
            other => {
                return Err(value(format!("type must be \"hll_4\", \"hll_6\" or \"hll_8\", not {other:?}")));
            }
        };
        Hll::new(lg_k, kind).map(Self::Hll).map_err(refused)
    }

    pub(super) fn theta(lg_k: u8) -> PyResult<Self> {
        Theta::new(lg_k).map(Self::Theta).map_err(refused)
    }

    pub(super) fn imbalance(
        function: &str,
        queues: usize,
        candidates: usize,
        key: Option<&[u8]>,
        card: &[u8],
    ) -> PyResult<Self> {
        let function = match function {
            "rss" => Function::Rss(card.try_into().map_err(|_| {
                value(format!("rss_key: the key of a card has 40 bytes, got {}", card.len()))
            })?),
            "symmetric-rss" => Function::SymmetricRss,
            "keyed" => Function::Keyed,
            other => {
                let known = ["rss", "symmetric-rss", "keyed"];
                let next = format!("known: {}", known.join(", "));
                return Err(unknown("function", other, known.into_iter(), &next));
            }
        };
        let sketch = Imbalance::new(function, queues, candidates, &needed(key)?).map_err(refused)?;
        Ok(Self::Imbalance(Box::new(sketch)))
    }

    /// The sketch of these bytes, of this kind, with its key if there is one.
    pub(super) fn read(kind: &str, bytes: &[u8], key: Option<&[u8]>) -> PyResult<Self> {
        let damaged = |error| {
            let of = hashlane_sketch::SketchKind::of(bytes)
                .ok()
                .and_then(|of| KINDS.get((of as usize).checked_sub(1)?));
            match of.filter(|of| **of != kind) {
                Some(of) => {
                    value(format!("{kind}: bytes of another sketch: read them with hashlane.{of}.from_bytes"))
                }
                None => value(format!("{kind}: {error}")),
            }
        };
        let given = key.map(|key| needed(Some(key))).transpose()?;
        macro_rules! read {
            ($sketch:ty) => {{
                let sketch = <$sketch>::from_bytes(bytes).map_err(damaged)?;
                match given {
                    Some(key) => sketch.with_key(&key).map_err(refused)?,
                    None => sketch,
                }
            }};
        }
        match kind {
            "Spread" => {
                let mut sketch = Spread::from_bytes(bytes).map_err(damaged)?;
                let info = *sketch.scheme();
                if key.is_some() || info.keying == Keying::None {
                    sketch = sketch.with_key(&checked_key(&info, info.id, key)?).map_err(refused)?;
                }
                Ok(Self::Spread(sketch))
            }
            "Prefixes" => Ok(Self::Prefixes(Box::new(read!(Prefixes)))),
            "Imbalance" => Ok(Self::Imbalance(Box::new(read!(Imbalance)))),
            "Distinct" => Ok(Self::Distinct(read!(Distinct))),
            "HeavyHitters" => {
                let sketch = HeavyHitters::from_bytes(bytes).map_err(damaged)?;
                check_rows(&sketch)?;
                Ok(Self::HeavyHitters(sketch))
            }
            "DataSketchesHll" => Hll::from_bytes(bytes)
                .map(Self::Hll)
                .map_err(|error| value(format!("no HLL sketch of Apache DataSketches: {error}"))),
            "DataSketchesTheta" => Theta::from_bytes(bytes)
                .map(Self::Theta)
                .map_err(|error| value(format!("no Theta sketch of Apache DataSketches: {error}"))),
            "Groups" => match AnyGroups::read(bytes, given)? {
                Ok(groups) => Ok(Self::Groups(Box::new(groups))),
                Err(error) => Err(damaged(error)),
            },
            _ => Err(value(format!("{kind} has no serialized form; there are {}", KINDS.join(", ")))),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Spread(_) => "Spread",
            Self::Prefixes(_) => "Prefixes",
            Self::Imbalance(_) => "Imbalance",
            Self::Distinct(_) => "Distinct",
            Self::HeavyHitters(_) => "HeavyHitters",
            Self::Groups(_) => "Groups",
            Self::Hll(_) => "DataSketchesHll",
            Self::Theta(_) => "DataSketchesTheta",
        }
    }

    /// Groups of sketches like this one, which is empty.
    ///
    /// # Errors
    /// `ValueError` for a sketch with keys, for one that groups do not have, and for a limit out of range.
    pub(super) fn groups(&self, most: usize) -> PyResult<Self> {
        fn of<S: Grouped>(empty: &S, most: usize) -> PyResult<Groups<S>> {
            Groups::new(empty.clone()).and_then(|groups| groups.with_most(most)).map_err(refused)
        }
        let groups = match self {
            Self::Distinct(sketch) => AnyGroups::Distinct(of(sketch, most)?),
            Self::Spread(sketch) => AnyGroups::Spread(of(sketch, most)?),
            Self::Imbalance(sketch) => AnyGroups::Imbalance(of(&**sketch, most)?),
            Self::HeavyHitters(sketch) => AnyGroups::HeavyHitters(of(sketch, most)?),
            other => return Err(value(format!("groups of {} are not supported", other.kind()))),
        };
        Ok(Self::Groups(Box::new(groups)))
    }

    /// The sketch of a group, or the one that groups begin with.
    pub(super) fn of_group(groups: &AnyGroups, name: Option<&[u8]>) -> Option<Self> {
        fn of<S: Grouped>(groups: &Groups<S>, name: Option<&[u8]>) -> Option<S> {
            name.map_or(Some(groups.empty()), |name| groups.get(name)).cloned()
        }
        match groups {
            AnyGroups::Distinct(groups) => of(groups, name).map(Self::Distinct),
            AnyGroups::Spread(groups) => of(groups, name).map(Self::Spread),
            AnyGroups::Imbalance(groups) => of(groups, name).map(|sketch| Self::Imbalance(Box::new(sketch))),
            AnyGroups::HeavyHitters(groups) => of(groups, name).map(Self::HeavyHitters),
        }
    }

    /// Number of columns of a key of `HeavyHitters`; 1 for other sketches.
    pub(super) fn columns(&self) -> usize {
        if let Self::HeavyHitters(sketch) = self { sketch.columns() } else { 1 }
    }

    pub(super) fn merge(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Spread(ours), Self::Spread(theirs)) => ours.merge(theirs),
            (Self::Prefixes(ours), Self::Prefixes(theirs)) => ours.merge(theirs),
            (Self::Imbalance(ours), Self::Imbalance(theirs)) => ours.merge(theirs),
            (Self::Distinct(ours), Self::Distinct(theirs)) => ours.merge(theirs),
            (Self::HeavyHitters(ours), Self::HeavyHitters(theirs)) => ours.merge(theirs),
            (Self::Groups(ours), Self::Groups(theirs)) => return ours.merge(theirs),
            (Self::Hll(ours), Self::Hll(theirs)) => {
                ours.merge(theirs);
                Ok(())
            }
            (Self::Theta(ours), Self::Theta(theirs)) => {
                ours.merge(theirs);
                Ok(())
            }
            (ours, theirs) => {
                return Err(value(format!("{} cannot be merged into {}", theirs.kind(), ours.kind())));
            }
        }
        .map_err(refused)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Spread(sketch) => sketch.to_bytes(),
            Self::Prefixes(sketch) => sketch.to_bytes(),
            Self::Imbalance(sketch) => sketch.to_bytes(),
            Self::Distinct(sketch) => sketch.to_bytes(),
            Self::HeavyHitters(sketch) => sketch.to_bytes(),
            Self::Groups(groups) => groups.to_bytes(),
            Self::Hll(sketch) => sketch.to_bytes(),
            Self::Theta(sketch) => sketch.to_bytes(),
        }
    }

    /// Kind and parameters in words.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Spread(sketch) => format!(
                "Spread: {}, {} buckets, {}",
                sketch.scheme().id,
                sketch.counts().len(),
                sketch.reduction()
            ),
            Self::Prefixes(sketch) => {
                format!("Prefixes: {}, precision {}", sketch.encoding(), sketch.precision())
            }
            Self::Imbalance(sketch) => format!(
                "Imbalance: {}, {} queues, {} candidates",
                sketch.function(),
                sketch.queues(),
                sketch.candidates()
            ),
            Self::Distinct(sketch) => format!("Distinct: precision {}", sketch.precision()),
            Self::HeavyHitters(sketch) => match sketch.columns() {
                1 => format!("HeavyHitters: {} counters", sketch.counters()),
                columns => format!("HeavyHitters: {} counters, {columns} columns", sketch.counters()),
            },
            Self::Hll(sketch) => {
                let bits = 4 + 2 * sketch.kind() as u8;
                format!("DataSketchesHll: lg_k {}, hll_{bits}", sketch.lg_k())
            }
            Self::Theta(sketch) => format!("DataSketchesTheta: lg_k {}", sketch.lg_k()),
            Self::Groups(groups) => {
                let of = Self::of_group(groups, None).map(|empty| empty.description());
                format!("Groups: {} of {}", groups.len(), of.unwrap_or_default())
            }
        }
    }
}
