//! Imbalance of places (queues, paths) between which flows are divided: the busiest over the mean.

use super::flows::Flow;

/// Load of the busiest place over the mean of all. 1 is even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// In packets.
    pub packets: f64,
    /// In flows.
    pub flows: f64,
}

impl Imbalance {
    /// Divides `flows` between `places` places, at least one; `place` is taken modulo their number.
    pub fn of(flows: &[Flow], places: usize, mut place: impl FnMut(&Flow) -> usize) -> Self {
        let mut loads = Loads::new(places);
        flows.iter().for_each(|flow| loads.add(place(flow) % places, flow));
        loads.imbalance()
    }
}

/// Loads of places.
pub struct Loads {
    packets: Vec<u64>,
    flows: Vec<u64>,
}

impl Loads {
    /// No load on any of `places` places.
    pub fn new(places: usize) -> Self {
        Self { packets: vec![0; places], flows: vec![0; places] }
    }

    /// Adds a flow to a place, which is less than their number.
    pub fn add(&mut self, place: usize, flow: &Flow) {
        debug_assert!(place < self.flows.len());
        if let (Some(packets), Some(flows)) = (self.packets.get_mut(place), self.flows.get_mut(place)) {
            *packets += flow.packets;
            *flows += 1;
        }
    }

    /// The busiest place over the mean.
    pub fn imbalance(&self) -> Imbalance {
        Imbalance { packets: busiest(&self.packets), flows: busiest(&self.flows) }
    }
}

/// The largest load over the mean; 1 without loads.
pub fn busiest(loads: &[u64]) -> f64 {
    let (most, all) = (loads.iter().max().copied().unwrap_or(0), loads.iter().sum::<u64>());
    if all == 0 { 1.0 } else { most as f64 * loads.len() as f64 / all as f64 }
}

/// Result of a trial of random keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial<K> {
    /// Keys tried.
    pub tried: u32,
    /// The key with the least imbalance in packets; in flows, among equal ones.
    pub key: K,
    /// Its imbalance.
    pub best: Imbalance,
    /// Median imbalance of all keys in packets: what a key has without a trial.
    pub median: f64,
}

impl<K> Trial<K> {
    /// Tries as many keys as asked for; `None` if that is 0.
    pub fn of(keys: u32, mut attempt: impl FnMut(u32) -> (K, Imbalance)) -> Option<Self> {
        let mut best: Option<(K, Imbalance)> = None;
        let mut all = Vec::new();
        for number in 0..keys {
            let (key, found) = attempt(number);
            all.push(found.packets);
            let better = |best: &Imbalance| (found.packets, found.flows) < (best.packets, best.flows);
            if best.as_ref().is_none_or(|(_, best)| better(best)) {
                best = Some((key, found));
            }
        }
        all.sort_unstable_by(f64::total_cmp);
        let median = all.get(all.len() / 2).copied()?;
        let (key, best) = best?;
        Some(Self { tried: keys, key, best, median })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_flow::tuple::Tuple;

    fn flow(packets: u64) -> Flow {
        Flow { tuple: Tuple::CHECK, protocol: 6, packets }
    }

    #[test]
    fn packets_and_flows_are_weighed_apart() {
        let flows = [flow(7), flow(1), flow(1), flow(1)];
        let even = Imbalance::of(&flows, 2, |flow| usize::from(flow.packets == 7));
        assert_eq!(even, Imbalance { packets: 1.4, flows: 1.5 });
        assert_eq!(Imbalance::of(&[], 8, |_| 0), Imbalance { packets: 1.0, flows: 1.0 });
    }

    #[test]
    fn the_best_key_is_kept_with_the_median_of_all() {
        let attempt = |number: u32| {
            let packets = f64::from([4, 2, 9][number as usize]);
            (number, Imbalance { packets, flows: 1.0 })
        };
        let trial = Trial::of(3, attempt).unwrap();
        assert_eq!((trial.key, trial.best.packets, trial.median), (1, 2.0, 4.0));
        assert_eq!(Trial::of(0, attempt), None);
    }
}
