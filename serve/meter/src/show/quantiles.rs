//! Quantiles of many numbers, in bounded memory.

/// Bits of a number that its class keeps: a class is at most 1/64 wide of its numbers.
const BITS: u32 = 6;

/// Classes: each number below 128, then 64 of each power of two.
const CLASSES: usize = 128 + 64 * (64 - 7);

/// Counts of numbers in classes.
#[derive(Clone, Debug)]
pub struct Quantiles {
    classes: Vec<u64>,
    count: u64,
    most: u64,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self { classes: vec![0; CLASSES], count: 0, most: 0 }
    }
}

/// The class of a number.
const fn class(number: u64) -> usize {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (number >> shift) as usize
}

/// The lowest and the highest number of a class.
const fn range(class: usize) -> (u64, u64) {
    let shift = (class >> BITS).saturating_sub(1);
    let lowest = ((class - (shift << BITS)) as u64) << shift;
    (lowest, lowest + ((1 << shift) - 1))
}

impl Quantiles {
    /// Counts a number.
    pub fn add(&mut self, number: u64) {
        if let Some(count) = self.classes.get_mut(class(number)) {
            *count += 1;
        }
        self.count += 1;
        self.most = self.most.max(number);
    }

    /// The number that this share of all is not above, up to 1/64 too high. `None` without numbers.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut sum = 0;
        let found = self.classes.iter().position(|count| {
            sum += count;
            sum >= rank
        });
        found.map(|class| range(class).1.min(self.most))
    }

    /// The highest number; 0 without any.
    #[must_use]
    pub const fn most(&self) -> u64 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_narrow_and_cover_all_numbers() {
        let mut numbers: Vec<u64> = (0..5000).collect();
        numbers.extend((0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, (1 << bit) + 1]));
        numbers.push(u64::MAX);
        for number in numbers {
            let (low, high) = range(class(number));
            assert!((low..=high).contains(&number) && high - low <= number / 64, "{number}: {low}, {high}");
            assert!(class(number) < CLASSES);
        }
    }

    #[test]
    fn quantiles_have_their_rank() {
        let mut all = Quantiles::default();
        assert_eq!(all.quantile(0.5), None);
        (1..=100).for_each(|number| all.add(number));
        assert_eq!(
            [0.0, 0.5, 0.9, 0.99, 1.0].map(|share| all.quantile(share)),
            [1, 50, 90, 99, 100].map(Some)
        );
        assert_eq!(all.most(), 100);
    }
}
