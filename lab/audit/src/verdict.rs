//! Verdict on a function and a table.

use crate::attack::{Knowledge, Unhashed};
use crate::epsilon::Proved;
use crate::flood::Flood;
use crate::library::behaviour::Behaviour;
use crate::subject::Fault;
use core::fmt;
use hashlane_stats::format::count;

/// Proved bound from which a scheme counts as safe, as a binary logarithm.
const SAFE: f64 = -60.0;

/// Contract that a function does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It has failed.
    Fault(Fault),
    /// It treats its arguments wrongly.
    Behaviour(Behaviour),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::Behaviour(behaviour) => behaviour.fmt(f),
        }
    }
}

/// Outcome of an audit.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The function fails, or breaks its contract.
    Faulty(Flaw),
    /// Bits of the key are not hashed; the flood varies them.
    Partial(Unhashed, Box<Flood>),
    /// Random keys flood the table.
    Crowded(Box<Flood>),
    /// Two keys collide under every seed that was tried, and no flood is known.
    PairAlways,
    /// An attack floods the table without the seed; it needs to know this much.
    Floodable(Knowledge, &'static str, Box<Flood>),
    /// An attack floods the table once the seed has leaked.
    IfSeedLeaks(&'static str, Box<Flood>),
    /// A bound of the share of seeds is proved, and no attack works.
    Proved(Proved),
    /// No attack works, but one pair collides for more seeds than it should; the binary logarithm of the
    /// share.
    WeakPair(f64),
    /// No attack works.
    NoneKnown,
}

impl Verdict {
    /// True if the table can be flooded by someone without its seed, or if two keys collide under every seed.
    pub fn is_floodable(&self) -> bool {
        matches!(self, Self::Crowded(_) | Self::PairAlways | Self::Partial(..) | Self::Floodable(..))
    }

    /// True if the function fails or breaks its contract.
    pub fn is_faulty(&self) -> bool {
        matches!(self, Self::Faulty(_))
    }

    /// Keys that flood the table.
    pub fn flood(&self) -> Option<&Flood> {
        match self {
            Self::Crowded(flood)
            | Self::Partial(_, flood)
            | Self::Floodable(_, _, flood)
            | Self::IfSeedLeaks(_, flood) => Some(flood),
            Self::Faulty(_) | Self::PairAlways | Self::Proved(_) | Self::WeakPair(_) | Self::NoneKnown => {
                None
            }
        }
    }

    /// Attack that makes these keys.
    pub fn attack(&self) -> Option<&'static str> {
        match self {
            Self::Crowded(_) => Some("random keys"),
            Self::Partial(..) => Some("unhashed"),
            Self::Floodable(_, attack, _) | Self::IfSeedLeaks(attack, _) => Some(attack),
            Self::Faulty(_) | Self::PairAlways | Self::Proved(_) | Self::WeakPair(_) | Self::NoneKnown => {
                None
            }
        }
    }

    /// One or two words.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Faulty(_) => "faulty",
            Self::Partial(..) => "partial",
            Self::Crowded(_) | Self::PairAlways | Self::Floodable(..) => "floodable",
            Self::IfSeedLeaks(..) => "if the seed leaks",
            Self::Proved(proved) if proved.log2 <= SAFE => "safe",
            Self::Proved(_) => "proved",
            Self::WeakPair(_) => "weak pair",
            Self::NoneKnown => "no attack known",
        }
    }
}

/// The verdict in one sentence.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faulty(flaw) => write!(f, "faulty: {flaw}"),
            Self::Partial(unhashed, flood) => {
                write!(f, "partial: {unhashed} {} not hashed; ", unhashed.verb())?;
                write_flood(f, flood)
            }
            Self::Crowded(flood) => {
                let all = if flood.deepest == flood.keys.len() { "all" } else { "random" };
                write!(f, "floodable: {all} keys collide: ")?;
                write_flood(f, flood)
            }
            Self::PairAlways => f.write_str("floodable: two fixed keys collide for 100 % of all seeds"),
            Self::Floodable(knowledge, attack, flood) => {
                f.write_str("floodable")?;
                if *knowledge == Knowledge::Results {
                    f.write_str(" by whoever learns results")?;
                }
                write!(f, " ({attack}): ")?;
                write_flood(f, flood)
            }
            Self::IfSeedLeaks(attack, flood) => {
                write!(
                    f,
                    "no flood without the seed is known to this audit; floodable if it leaks ({attack}): "
                )?;
                write_flood(f, flood)
            }
            Self::Proved(proved) => {
                let safe = if proved.log2 <= SAFE { "safe" } else { "no attack known to this audit" };
                write!(f, "{safe} (proved ≤ {} a pair)", power_of_two(proved.log2))
            }
            Self::WeakPair(log2) => write!(
                f,
                "no attack known to this audit, but a fixed pair collides for {} of all seeds",
                power_of_two(*log2)
            ),
            Self::NoneKnown => f.write_str("no attack known to this audit"),
        }
    }
}

fn write_flood(f: &mut fmt::Formatter<'_>, flood: &Flood) -> fmt::Result {
    let keys = flood.keys.len();
    write!(f, "{} keys → ", count(keys as f64))?;
    match flood.deepest {
        all if all == keys => f.write_str("one bucket")?,
        deepest => write!(f, "{} of them in one bucket", count(deepest as f64))?,
    }
    if flood.seeds < flood.tried {
        write!(f, " under {} of {} seeds", flood.seeds, flood.tried)?;
    }
    let (work, operation) = match flood.slows_insertions_alone() {
        true => (flood.inserted(), "an insertion"),
        false => (flood.compared(), "a lookup"),
    };
    let [hostile, random] = work.map(rounded);
    write!(f, ", {hostile} entries compared by {operation} instead of {random}")?;
    if let Some(time) = flood.time.filter(|_| operation == "a lookup") {
        let [value, low, high] = [time.value, time.low, time.high].map(rounded);
        write!(f, ", lookups {value} × slower [{low}, {high}]")?;
    }
    write!(f, ", {}", flood.tables())
}

/// A number of three significant digits, with separators.
pub fn rounded(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return "0".to_owned();
    }
    let digits = 2 - value.log10().floor() as i32;
    if digits > 0 {
        return format!("{value:.*}", digits.min(3) as usize);
    }
    let unit = 10f64.powi(-digits);
    count((value / unit).round() * unit)
}

/// A share as a power of two, or in percent from 1 % on.
pub fn power_of_two(log2: f64) -> String {
    match log2 {
        all if all >= 0.0 => "100 %".to_owned(),
        many if many > -6.6 => format!("{} %", rounded(100.0 * many.exp2())),
        whole if whole.fract() == 0.0 => format!("2^{whole}"),
        few => format!("2^{few:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let of = [0.0, 1.0, 2.345, 45.67, 456.7, 3_456.7, 1_234_567.0].map(rounded);
        assert_eq!(of, ["0", "1.00", "2.35", "45.7", "457", "3,460", "1,230,000"]);
        let of = [0.0, -0.135, -10.47, -32.0].map(power_of_two);
        assert_eq!(of, ["100 %", "91.1 %", "2^-10.5", "2^-32"]);
    }

    #[test]
    fn flaws_are_verdicts_of_their_own() {
        let of = |flaw| Verdict::Faulty(flaw).to_string();
        assert!(
            of(Flaw::Fault(Fault::Hung(5))).starts_with("faulty: the function has not returned within 5 s")
        );
        assert!(of(Flaw::Behaviour(Behaviour::IgnoresSeed)).contains("ignores its seed"));
        let proved = |log2| Verdict::Proved(Proved { log2, source: "" }).to_string();
        assert_eq!(proved(-61.0), "safe (proved ≤ 2^-61 a pair)");
        assert_eq!(proved(-32.0), "no attack known to this audit (proved ≤ 2^-32 a pair)");
    }
}
