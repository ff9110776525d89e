//! HLL sketches.

mod bytes;

use super::{SEED, murmur};
use crate::error::{Error, within};
use crate::keys::Keys;
use crate::registers::likeliest_mean;
use core::f64::consts::LN_2;
use std::collections::HashSet;

/// Form of the registers in the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HllType {
    /// 4 bits a register, and exceptions: the least bytes.
    #[default]
    Hll4 = 0,
    /// 6 bits a register.
    Hll6 = 1,
    /// 8 bits a register.
    Hll8 = 2,
}

/// Number of distinct keys, as the HLL sketch of Apache DataSketches: their bytes, their hash, their errors.
///
/// Not keyed: see the [module](super). Few keys are kept as coupons of 4 bytes (up to 3/32 of 2^`lg_k`), more
/// as 2^`lg_k` registers. The estimate of one stream of keys has a standard error of 0.833 / √(2^`lg_k`), by
/// the martingale estimator (HIP) that their sketches have, too; a merge loses it, and the error is then
/// 1.04 / √(2^`lg_k`).
///
/// ```
/// use hashlane_sketch::Keys;
/// use hashlane_sketch::datasketches::{Hll, HllType};
///
/// let mut users = Hll::new(12, HllType::Hll4)?;
/// users.update(&Keys::slices(&[b"ada", b"grace", b"ada"]));
/// assert_eq!(users.result().keys.round(), 2.0);
/// let theirs = Hll::from_bytes(&users.to_bytes())?;
/// users.merge(&theirs);
/// assert_eq!(users.result().keys.round(), 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Sources: Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog" (AofA 2007); Ting, "Streamed approximate
/// counting of distinct elements" (KDD 2014), for the martingale estimator; Ertl, "New cardinality estimation
/// algorithms for HyperLogLog sketches" (2017), for maximum likelihood after a merge.
#[derive(Clone, Debug)]
pub struct Hll {
    lg_k: u8,
    kind: HllType,
    state: State,
}

/// Estimate of a number of distinct keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HllResult {
    /// Number of distinct keys.
    pub keys: f64,
    /// Standard error, relative to the number.
    pub standard_error: f64,
}

#[derive(Clone, Debug)]
enum State {
    /// `value << 26 | address`, at most [`most_coupons`].
    Coupons(HashSet<u32>),
    Dense(Dense),
}

/// Registers, and the martingale estimator.
#[derive(Clone, Debug)]
struct Dense {
    /// Of each address below 2^`lg_k` the largest value: 0, and 1 to [`MOST_VALUE`].
    values: Box<[u8]>,
    /// Estimate that the stream has led to; nothing after a merge.
    hip: Option<f64>,
    /// Σ 2^−value over values below 32, and over the others: apart, both are exact.
    sums: [f64; 2],
}

/// Bits of the address in a coupon.
const ADDRESS: u32 = 26;

/// Largest value of a register.
const MOST_VALUE: u8 = 63;

/// Standard error of the number of coupons, at most.
const COUPON_ERROR: f64 = 0.409 / 8192.0;

/// Coupons that are kept, at most. Their list has 8 places and is left when it is full, their set has
/// 2^(`lg_k` − 3) and is left when it is more than 3/4 full.
fn most_coupons(lg_k: u8) -> usize {
    if lg_k < 8 { 7 } else { 3 << (lg_k - 5) }
}

/// 2^−value.
fn inverse(value: u8) -> f64 {
    (-f64::from(value)).exp2()
}

impl Hll {
    /// Range of `lg_k`.
    pub const LG_K: core::ops::RangeInclusive<u8> = 4..=21;

    /// No keys, in 2^`lg_k` registers; valid: 4 to 21.
    ///
    /// # Errors
    /// `lg_k` is out of range.
    pub fn new(lg_k: u8, kind: HllType) -> Result<Self, Error> {
        within("lg_k", lg_k.into(), (*Self::LG_K.start()).into(), (*Self::LG_K.end()).into())?;
        Ok(Self { lg_k, kind, state: State::Coupons(HashSet::new()) })
    }

    /// Number of registers, as a power of two.
    pub fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Form of the registers in the bytes.
    pub fn kind(&self) -> HllType {
        self.kind
    }

    /// The same sketch with registers of another form in its bytes.
    #[must_use]
    pub fn with_kind(self, kind: HllType) -> Self {
        Self { kind, ..self }
    }

    /// Takes the keys of a batch, integers as 8 bytes. Empty keys are ignored.
    pub fn update(&mut self, keys: &Keys<'_>) {
        for key in keys.iter().filter(|key| !key.is_empty()) {
            let [address, zeros] = murmur::hash(key, SEED);
            let value = zeros.leading_zeros().min(62) + 1;
            self.add(value << ADDRESS | address as u32 & ((1 << ADDRESS) - 1));
        }
    }

    fn add(&mut self, coupon: u32) {
        match &mut self.state {
            State::Dense(dense) => dense.add(coupon),
            State::Coupons(coupons) => {
                if coupons.insert(coupon) && coupons.len() > most_coupons(self.lg_k) {
                    self.spill();
                }
            }
        }
    }

    /// Turns coupons into registers.
    fn spill(&mut self) {
        if let State::Coupons(coupons) = &self.state {
            let mut dense = Dense::new(self.lg_k);
            coupons.iter().for_each(|coupon| dense.add(*coupon));
            // The number of coupons is better known than the registers tell, whatever the order.
            dense.hip = Some(distinct_of_coupons(coupons.len()));
            self.state = State::Dense(dense);
        }
    }

    /// Adds the keys of another sketch. If the other one has fewer registers, this one will have as few.
    pub fn merge(&mut self, other: &Self) {
        if matches!(&other.state, State::Coupons(coupons) if coupons.is_empty()) {
            return;
        }
        if other.lg_k < self.lg_k {
            self.lg_k = other.lg_k;
            match &mut self.state {
                State::Dense(dense) => *dense = dense.folded(other.lg_k),
                State::Coupons(coupons) if coupons.len() > most_coupons(other.lg_k) => self.spill(),
                State::Coupons(_) => {}
            }
        }
        match (&mut self.state, &other.state) {
            (_, State::Coupons(coupons)) => coupons.iter().for_each(|coupon| self.add(*coupon)),
            (State::Dense(ours), State::Dense(theirs)) => ours.merge(&theirs.folded(self.lg_k)),
            (State::Coupons(_), State::Dense(theirs)) => {
                let folded = State::Dense(theirs.folded(self.lg_k));
                if let State::Coupons(ours) = core::mem::replace(&mut self.state, folded) {
                    ours.iter().for_each(|coupon| self.add(*coupon));
                }
            }
        }
        // The order of the keys is lost.
        if let State::Dense(dense) = &mut self.state {
            dense.hip = None;
        }
    }

    /// The estimate.
    pub fn result(&self) -> HllResult {
        let registers = f64::from(1_u32 << self.lg_k);
        match &self.state {
            State::Coupons(coupons) => {
                let keys = distinct_of_coupons(coupons.len());
                HllResult { keys, standard_error: if keys > 0.0 { COUPON_ERROR } else { 0.0 } }
            }
            State::Dense(Dense { hip: Some(keys), .. }) => {
                HllResult { keys: *keys, standard_error: (LN_2 / registers).sqrt() }
            }
            State::Dense(dense) => {
                let standard_error = ((3.0 * LN_2 - 1.0) / registers).sqrt();
                HllResult { keys: dense.likeliest(), standard_error }
            }
        }
    }
}

/// Number of distinct keys that have so many coupons. Two keys have one coupon with probability 2⁻²⁶ / 3.
fn distinct_of_coupons(coupons: usize) -> f64 {
    let coupons = coupons as f64;
    coupons + coupons * coupons / (6.0 * f64::from(1 << ADDRESS))
}

impl Dense {
    fn new(lg_k: u8) -> Self {
        let registers = 1_usize << lg_k;
        Self { values: vec![0; registers].into_boxed_slice(), hip: Some(0.0), sums: [registers as f64, 0.0] }
    }

    /// Registers of these values, without the estimate of a stream.
    fn of(values: Box<[u8]>) -> Self {
        let mut sums = [0.0; 2];
        for value in &values {
            let [low, high] = &mut sums;
            *(if *value < 32 { low } else { high }) += inverse(*value);
        }
        Self { values, hip: None, sums }
    }

    fn add(&mut self, coupon: u32) {
        let registers = self.values.len();
        let place = coupon as usize & (registers - 1);
        let value = (coupon >> ADDRESS) as u8;
        let [low, high] = &mut self.sums;
        let Some(held) = self.values.get_mut(place).filter(|held| **held < value) else { return };
        if let Some(hip) = &mut self.hip {
            // The chance of a new key to change the registers was Σ 2^−value / registers.
            *hip += registers as f64 / (*low + *high);
        }
        *(if *held < 32 { &mut *low } else { &mut *high }) -= inverse(*held);
        *(if value < 32 { low } else { high }) += inverse(value);
        *held = value;
    }

    fn merge(&mut self, other: &Self) {
        let larger = self.values.iter().zip(&other.values).map(|(ours, theirs)| *ours.max(theirs));
        *self = Self::of(larger.collect());
    }

    /// The registers of the lower `lg_k` bits of the addresses. Equal if there are no fewer of them.
    fn folded(&self, lg_k: u8) -> Self {
        let registers = 1 << lg_k;
        if registers >= self.values.len() {
            return self.clone();
        }
        let mut values = vec![0; registers];
        for part in self.values.chunks(registers) {
            values.iter_mut().zip(part).for_each(|(value, more)| *value = (*value).max(*more));
        }
        Self::of(values.into_boxed_slice())
    }

    fn likeliest(&self) -> f64 {
        let chance = |level: u32| (-f64::from(level.min(62))).exp2();
        let (mut present, mut absent) = ([0.0; 64], 0.0);
        for value in &self.values {
            if let Some(count) = present.get_mut(usize::from(*value)).filter(|_| *value > 0) {
                *count += 1.0;
            }
            if *value < MOST_VALUE {
                absent += inverse(*value);
            }
        }
        let registers = self.values.len() as f64;
        likeliest_mean(&present, absent.max(inverse(62)), chance) * registers
    }
}

#[cfg(test)]
mod tests;
