//! Sizes of the workloads.

use hashlane_lab::study::Settings;

/// Packets and flows of a workload, by the items of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Items: packets of the mix.
    pub(crate) items: u32,
    /// `true` with `--full`.
    pub(crate) full: bool,
}

impl Sizes {
    /// Sizes of a run.
    pub(crate) fn of(settings: &Settings<'_>) -> Self {
        Self { items: settings.size.items, full: settings.full }
    }

    /// Turns of workloads whose figures are counts and memory. The worst turn counts.
    pub(crate) fn turns(self) -> usize {
        if self.full { 3 } else { 1 }
    }

    /// Flows of the mix: 350,000 of 2,000,000 packets.
    pub(crate) fn mix_flows(self) -> u32 {
        (u64::from(self.items) * 7 / 40).max(1) as u32
    }

    /// Flows of the memory: 10,000,000 in both sizes of the study.
    pub(crate) fn memory_flows(self) -> u32 {
        self.items.saturating_mul(if self.full { 5 } else { 25 })
    }

    /// SYNs of a flood: 10,000,000 with 2,000,000 items.
    pub(crate) fn flows(self) -> u32 {
        self.items.saturating_mul(5)
    }

    /// Limit of the table under a flood: 1 Mi, and at most half of the SYNs.
    pub(crate) fn limit(self) -> u32 {
        (self.flows() / 2).clamp(256, 1 << 20)
    }

    /// Limit of a smaller table, with which the buffers beside the table are the same.
    pub(crate) fn quarter(self) -> u32 {
        self.limit() / 4
    }

    /// Established flows under a flood.
    pub(crate) fn established(self) -> u32 {
        (self.limit() / 64).clamp(1, 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_sizes_are_those_of_the_criteria() {
        let full = Sizes { items: 2_000_000, full: true };
        assert_eq!((full.mix_flows(), full.flows(), full.limit()), (350_000, 10_000_000, 1 << 20));
        assert_eq!((full.established(), full.memory_flows()), (1_000, 10_000_000));
        assert_eq!(Sizes { items: 400_000, full: false }.memory_flows(), 10_000_000);
        let small = Sizes { items: 100, full: false };
        assert_eq!((small.mix_flows(), small.flows(), small.limit(), small.established()), (17, 500, 256, 4));
        let none = Sizes { items: 1, full: false };
        assert!(none.mix_flows() == 1 && none.quarter() >= 64 && none.established() == 4);
    }
}
