//! Loads of queues, and their imbalance.

use crate::error::Error;
use crate::wire::{grown, total};

/// Load of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Imbalance under one key: the largest load over the mean. 1 is even, and the value without load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyImbalance {
    /// Number of the key; 0 is the one in use.
    pub number: u64,
    /// Imbalance in packets.
    pub packets: f64,
    /// Imbalance in bytes.
    pub bytes: f64,
}

impl KeyImbalance {
    /// Imbalance of queues whose loads someone else has counted, as `ethtool -S` does; its number is 0.
    ///
    /// ```
    /// # use hashlane_sketch::{KeyImbalance, Load};
    /// let loads = [3, 1].map(|packets| Load { packets, bytes: 100 });
    /// let imbalance = KeyImbalance::from_loads(&loads);
    /// assert_eq!((imbalance.packets, imbalance.bytes), (1.5, 1.0));
    /// ```
    pub fn from_loads(loads: &[Load]) -> Self {
        Self {
            number: 0,
            packets: busiest(loads.iter().map(|load| load.packets)),
            bytes: busiest(loads.iter().map(|load| load.bytes)),
        }
    }
}

/// Imbalance under the key in use and the candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct ImbalanceResult {
    /// Packets and bytes of all queues.
    pub total: Load,
    /// Under the key in use.
    pub current: KeyImbalance,
    /// The least in packets, and in bytes among equal ones, of all keys; the lowest number of equal ones.
    pub best: KeyImbalance,
    /// Median of the candidates' imbalances in packets: what a key has without a search. Without candidates,
    /// the imbalance of the key in use.
    pub median: f64,
    /// Under each key, the one in use first.
    pub keys: Vec<KeyImbalance>,
}

impl Load {
    #[inline(always)]
    pub(super) fn add(&mut self, by: Self) {
        self.packets += by.packets;
        self.bytes += by.bytes;
    }

    /// The load after an addition, or an error above 2⁶³ − 1.
    pub(super) fn grown(self, by: Self) -> Result<Self, Error> {
        Ok(Self { packets: grown(self.packets, by.packets)?, bytes: grown(self.bytes, by.bytes)? })
    }

    /// The sum of loads.
    pub(super) fn sum(loads: &[Self]) -> Self {
        Self {
            packets: total(loads.iter().map(|load| load.packets)),
            bytes: total(loads.iter().map(|load| load.bytes)),
        }
    }
}

/// The largest load over the mean.
fn busiest(loads: impl Iterator<Item = u64>) -> f64 {
    let (mut most, mut all, mut number) = (0, 0_u128, 0_u64);
    for load in loads {
        (most, all, number) = (most.max(load), all + u128::from(load), number + 1);
    }
    if all == 0 { 1.0 } else { most as f64 * number as f64 / all as f64 }
}
