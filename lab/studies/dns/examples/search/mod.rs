//! Search for the message that costs most: its arguments, its random numbers, and the plans that it keeps.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

/// Largest cost that is accepted, as a ratio to the ordinary answer.
const CRITERION: f64 = 4.0;

/// Arguments of a search.
pub(crate) struct Arguments {
    pub(crate) messages: u64,
    pub(crate) seed: u64,
    pub(crate) out: Option<PathBuf>,
}

impl Arguments {
    /// Reads the arguments of the command. `None` if they ask for `help`, which is printed.
    ///
    /// # Errors
    /// An unknown argument, or one without its value.
    pub(crate) fn parse(help: &str) -> Result<Option<Self>, Box<dyn Error>> {
        let mut parsed = Self { messages: 100_000, seed: 1, out: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value; see --help"));
            match argument.as_str() {
                "--messages" => parsed.messages = value()?.parse()?,
                "--seed" => parsed.seed = value()?.parse()?,
                "--out" => parsed.out = Some(value()?.into()),
                "--help" | "-h" => {
                    println!("{help}");
                    return Ok(None);
                }
                _ => return Err(format!("unknown argument {argument:?}; see --help").into()),
            }
        }
        Ok(Some(parsed))
    }
}

/// Random numbers.
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() >> 32) as usize % limit.max(1)
    }
}

/// The plans of messages of each size that cost most, which are mutated.
pub(crate) struct Kept<P> {
    /// Sizes in bytes, and how many of a thousand messages have each.
    sizes: &'static [(usize, usize)],
    /// Plans of each size.
    most: usize,
    plans: Vec<Vec<(f64, P)>>,
    start: Instant,
    told: Instant,
}

impl<P: Clone> Kept<P> {
    pub(crate) fn new(sizes: &'static [(usize, usize)], most: usize) -> Self {
        let now = Instant::now();
        Self { sizes, most, plans: vec![Vec::new(); sizes.len()], start: now, told: now }
    }

    /// Draws the number of a size.
    pub(crate) fn draw_size(&self, draw: &mut Draw) -> usize {
        let mut left = draw.below(1000);
        let is_it = |(_, weight): &(usize, usize)| {
            let is_it = left < *weight;
            left = left.saturating_sub(*weight);
            is_it
        };
        self.sizes.iter().position(is_it).unwrap_or(0)
    }

    /// The bytes of a size.
    pub(crate) fn limit(&self, size: usize) -> usize {
        self.sizes[size].0
    }

    /// A plan to mutate for a message of this size; `None` if one is to be drawn.
    pub(crate) fn draw_parent(&self, size: usize, draw: &mut Draw) -> Option<P> {
        // A size takes over from the next smaller one.
        let from = if size > 0 && draw.below(16) == 0 { size - 1 } else { size };
        let plans = &self.plans[from];
        let is_drawn = plans.len() < self.most || draw.below(16) == 0;
        (!is_drawn).then(|| plans[draw.below(self.most)].1.clone())
    }

    /// The cost above which a plan of this size is kept.
    pub(crate) fn least(&self, size: usize) -> f64 {
        let plans = &self.plans[size];
        if plans.len() < self.most { 0.0 } else { plans.last().map_or(0.0, |(cost, _)| *cost) }
    }

    /// Keeps a plan, if it costs more than the others.
    pub(crate) fn add(&mut self, size: usize, cost: f64, plan: P) {
        if cost > self.least(size) {
            let plans = &mut self.plans[size];
            plans.push((cost, plan));
            plans.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            plans.truncate(self.most);
        }
    }

    /// Reports the progress every ten seconds.
    pub(crate) fn report(&mut self, number: u64, messages: u64) {
        if self.told.elapsed().as_secs() < 10 {
            return;
        }
        self.told = Instant::now();
        let worst = self.sizes.iter().zip(&self.plans).filter_map(|((limit, _), plans)| {
            plans.first().map(|(cost, _)| format!("{cost:.2} in {limit} bytes"))
        });
        let (worst, seconds) = (worst.collect::<Vec<_>>().join(", "), self.start.elapsed().as_secs());
        eprintln!("{number} of {messages} messages, {seconds} s: the worst cost {worst}");
    }

    /// All plans, with the bytes of their size.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &P)> {
        let sizes = self.sizes.iter().zip(&self.plans);
        sizes.flat_map(|((limit, _), plans)| plans.iter().map(|(_, plan)| (*limit, plan)))
    }
}

/// The end of a search whose worst message has this cost.
///
/// # Errors
/// The cost exceeds the criterion.
pub(crate) fn judge(worst: Option<f64>) -> Result<(), Box<dyn Error>> {
    match worst {
        Some(cost) if cost > CRITERION => Err(format!(
            "a message costs {cost:.2} times the ordinary answer per byte; the criterion is {CRITERION}"
        )
        .into()),
        _ => Ok(()),
    }
}
