//! Tables of a forwarder that are filled before a load is measured.

/// Most bytes of the content store for each packet of a load: several times its need, so that the limit on
/// packets is reached first.
const BYTES_PER_PACKET: usize = 2048;

/// Sizes of tables that are filled before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Entries of the FIB, shared out among the producers.
    pub prefixes: usize,
    /// Packets in the content store, which is then full.
    pub packets: usize,
}

impl Tables {
    /// Number of prefixes that lead to the producer of pair `pair`, from 0, of `pairs`.
    pub fn share(self, pair: usize, pairs: usize) -> usize {
        let pairs = pairs.max(1);
        self.prefixes / pairs + usize::from(pair < self.prefixes % pairs)
    }

    /// The section of our forwarder's configuration that sets the limits of the content store.
    pub(super) fn config(self) -> String {
        let bytes = self.packets.saturating_mul(BYTES_PER_PACKET);
        format!("[cs]\npackets = {}\noctets = {bytes}\n", self.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_pairs_add_up() {
        for prefixes in [16, 1000, 1_000_000] {
            let tables = Tables { prefixes, packets: 1 };
            let shares: Vec<usize> = (0..16).map(|pair| tables.share(pair, 16)).collect();
            assert_eq!(shares.iter().sum::<usize>(), prefixes);
            assert!(shares.iter().all(|share| (prefixes / 16..=prefixes / 16 + 1).contains(share)));
        }
    }
}
