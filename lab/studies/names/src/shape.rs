//! Generated names: how many components, and how long each.

use super::packed::{Names, PackError};
use hashlane_name::component::Component;
use rand_distr::{Distribution, Gamma, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::str::FromStr;

/// The shape of generated names. Values are bytes drawn evenly; only counts and lengths follow the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// `12Bx5`: 5 components of 12 bytes each.
    Fixed {
        /// Bytes in a component, 1 to 255.
        bytes: u8,
        /// Components in a name, 1 to 255.
        components: u8,
    },
    /// `N(7.3,var=11.7)Bx8`, `N(7.3,sd=11.7)Bx8`: lengths from a normal distribution, rounded, and drawn anew
    /// where less than 1 or more than 255.
    Normal {
        /// Mean before the cut, in bytes.
        mean: f64,
        /// Standard deviation before the cut.
        deviation: f64,
        /// Components in a name, 1 to 255.
        components: u8,
    },
    /// `ircache`: web proxy URLs taken for names, by the published figures of 10,000 of them (chris-wood/
    /// pit-performance): the histogram of component counts, mean 6.28, and 7.87 bytes a component. The
    /// deviation of the component lengths, 4.9, makes the names' lengths deviate by the published 21.2.
    Ircache,
    /// `domain`: web domains taken for names, by the published figures of 100,000 of them (chavoosh/
    /// TrieGranularity): the histogram of component counts, mean 3.22; 10.5 bytes in the first component,
    /// 3.07 in the second, and in the others as many as make the mean 6.56.
    Domain,
}

/// Of 10,000 names, how many have 1, 2, … components. Published for 1 to 12 and for 18; the 51 in between are
/// spread.
const IRCACHE: [u16; 18] = [240, 55, 230, 690, 1930, 2590, 2350, 930, 480, 220, 170, 64, 14, 11, 9, 7, 5, 5];

/// Of 10,000 names, how many have 1, 2, … components. Published for 2 to 6; the 310 left are spread over 7
/// to 9.
const DOMAIN: [u16; 9] = [0, 4670, 1960, 1510, 790, 760, 170, 90, 50];

impl Shape {
    /// Generates `count` names, the same for the same `seed` on every machine.
    ///
    /// # Errors
    /// [`PackError::Full`] if a workload cannot hold this many names.
    pub(crate) fn generate(&self, count: usize, seed: u64) -> Result<Names, PackError> {
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut names = Names::default();
        let mut lengths = Vec::new();
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for _ in 0..count {
            lengths.clear();
            self.draw(rng, &mut lengths);
            bytes.resize(lengths.iter().sum(), 0);
            rng.fill_bytes(&mut bytes);
            ends.clear();
            ends.extend(lengths.iter().scan(0, |end, length| {
                *end += length;
                Some((*end - length, *end))
            }));
            names.push(ends.iter().map(|&(from, to)| Component::generic(&bytes[from..to])))?;
        }
        Ok(names)
    }

    /// Draws the lengths of one name's components.
    fn draw(&self, rng: &mut Xoshiro256PlusPlus, lengths: &mut Vec<usize>) {
        match *self {
            Self::Fixed { bytes, components } => {
                lengths.resize(usize::from(components), usize::from(bytes));
            }
            Self::Normal { mean, deviation, components } => {
                if let Ok(normal) = Normal::new(mean, deviation) {
                    lengths.extend((0..components).map(|_| length(&normal, rng)));
                }
            }
            Self::Ircache => {
                let count = from_histogram(&IRCACHE, rng);
                lengths.extend((0..count).map(|_| gamma(7.87, 4.9, rng)));
            }
            Self::Domain => {
                let count = from_histogram(&DOMAIN, rng);
                lengths.extend((0..count).map(|depth| match depth {
                    0 => gamma(10.5, 4.9, rng),
                    1 => gamma(3.07, 1.0, rng),
                    _ => gamma(6.2, 4.7, rng),
                }));
            }
        }
    }
}

/// A length of `distribution`, rounded, and drawn again until it is within 1 to 255.
fn length(distribution: &impl Distribution<f64>, rng: &mut Xoshiro256PlusPlus) -> usize {
    loop {
        let length = distribution.sample(rng).round();
        if (1.0..=255.0).contains(&length) {
            return length as usize;
        }
    }
}

/// A count of the normal distribution of that mean and deviation, rounded, and drawn again until it is within
/// the range.
pub(crate) fn normal_count(
    mean: f64,
    deviation: f64,
    within: std::ops::RangeInclusive<usize>,
    rng: &mut Xoshiro256PlusPlus,
) -> usize {
    let Ok(normal) = Normal::new(mean, deviation) else { return *within.start() };
    loop {
        let count = length(&normal, rng);
        if within.contains(&count) {
            return count;
        }
    }
}

/// A length of the gamma distribution of that mean and deviation: positive and skewed, as lengths of words
/// are.
pub(crate) fn gamma(mean: f64, deviation: f64, rng: &mut Xoshiro256PlusPlus) -> usize {
    let scale = deviation * deviation / mean;
    Gamma::new(mean / scale, scale).map_or(1, |gamma| length(&gamma, rng))
}

/// A count drawn from a histogram whose first entry stands for the count 1.
fn from_histogram(histogram: &[u16], rng: &mut Xoshiro256PlusPlus) -> usize {
    let total: u32 = histogram.iter().map(|&names| u32::from(names)).sum();
    // The bias of this reduction of 64 bits to 10,000 values is 1 in 10¹⁵.
    let mut drawn = (rng.next_u64() % u64::from(total.max(1))) as u32;
    for (at, &names) in histogram.iter().enumerate() {
        match drawn.checked_sub(u32::from(names)) {
            Some(rest) => drawn = rest,
            None => return at + 1,
        }
    }
    histogram.len()
}

/// Error: not the name of a workload. Its text lists the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no workload {0:?}: there are <octets>Bx<components> such as 12Bx5, \
     N(<mean>,var=<variance>)Bx<components> and N(<mean>,sd=<deviation>)Bx<components> such as \
     N(7.3,var=11.7)Bx8, ircache, and domain"
)]
pub(crate) struct UnknownShape(String);

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(text: &str) -> Result<Self, UnknownShape> {
        let parsed = match text {
            "ircache" => Some(Self::Ircache),
            "domain" => Some(Self::Domain),
            _ => text.rsplit_once("Bx").and_then(|(lengths, components)| {
                let components = components.parse().ok().filter(|&n| n > 0)?;
                match lengths.strip_prefix("N(").and_then(|rest| rest.strip_suffix(')')) {
                    Some(parameters) => normal(parameters, components),
                    None => {
                        let bytes = lengths.parse().ok().filter(|&n| n > 0)?;
                        Some(Self::Fixed { bytes, components })
                    }
                }
            }),
        };
        parsed.ok_or_else(|| UnknownShape(text.into()))
    }
}

fn normal(parameters: &str, components: u8) -> Option<Shape> {
    let (mean, spread) = parameters.split_once(',')?;
    let (kind, value) = spread.split_once('=')?;
    // Within these bounds drawing anew soon ends.
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| (0.0..=10_000.0).contains(x));
    let mean = number(mean).filter(|mean| (1.0..=255.0).contains(mean))?;
    let deviation = match kind {
        "var" => number(value)?.sqrt(),
        "sd" => number(value).filter(|sd| *sd <= 255.0)?,
        _ => return None,
    };
    Some(Shape::Normal { mean, deviation, components })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    /// Means and deviations of component counts, component lengths and lengths of names with a separator a
    /// component.
    fn figures(shape: &str) -> [(f64, f64); 3] {
        let shape: Shape = shape.parse().unwrap();
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut counts, mut all, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let mut lengths = Vec::new();
            shape.draw(rng, &mut lengths);
            counts.push(lengths.len() as f64);
            names.push(lengths.iter().map(|length| *length as f64 + 1.0).sum());
            all.extend(lengths.iter().map(|length| *length as f64));
        }
        [moments(&counts), moments(&all), moments(&names)]
    }

    /// Means, deviations and how far they may be off. Normal distributions have the moments after a cut below
    /// 1/2 (Johnson, Kotz and Balakrishnan 1994, §13.10.1), the others those that are published.
    #[test]
    #[expect(clippy::approx_constant, reason = "the published mean has nothing to do with a circle")]
    fn shapes_have_their_moments() {
        const ANY: (f64, f64) = (0.0, f64::INFINITY);
        for (shape, expected) in [
            ("12Bx5", [(5.0, 0.0), (0.0, 0.0), (12.0, 0.0), (0.0, 0.0), (65.0, 0.0), (0.0, 0.0)]),
            ("N(7.3,var=11.7)Bx8", [ANY, ANY, (7.49, 0.05), (3.23, 0.05), ANY, ANY]),
            ("N(7.3,sd=11.7)Bx8", [ANY, ANY, (12.78, 0.1), (8.35, 0.1), ANY, ANY]),
            ("ircache", [(6.28, 0.1), (1.95, 0.15), (7.87, 0.1), ANY, (54.9, 1.5), (21.2, 1.5)]),
            ("domain", [(3.22, 0.05), (1.52, 0.05), (6.56, 0.1), (5.16, 0.3), (25.1, 1.0), (12.4, 1.0)]),
        ] {
            let found = figures(shape).map(|(mean, deviation)| [mean, deviation]);
            for (found, (value, within)) in found.as_flattened().iter().zip(expected) {
                assert!((found - value).abs() <= within, "{shape}: {found} is not {value} ± {within}");
            }
        }
    }

    #[test]
    fn one_seed_gives_one_set_of_names() {
        let shape: Shape = "ircache".parse().unwrap();
        let (a, b) = (shape.generate(100, 7).unwrap(), shape.generate(200, 7).unwrap());
        assert!((0..100).all(|i| a.ndn.name(i) == b.ndn.name(i)));
        assert_ne!(a.ndn.name(0), shape.generate(1, 8).unwrap().ndn.name(0));
    }

    #[test]
    fn unknown_shapes_are_refused() {
        for text in [
            "",
            "x",
            "0Bx5",
            "12Bx0",
            "12Bx256",
            "300Bx2",
            "N(7.3,11.7)Bx8",
            "N(0,var=1)Bx8",
            "N(7.3,sd=nan)Bx8",
            "N(7.3,sd=1e9)Bx8",
            "N(7.3,var=-1)Bx8",
            "Bx",
            "12Bx-1",
        ] {
            assert_eq!(text.parse::<Shape>(), Err(UnknownShape(text.into())));
        }
    }
}
